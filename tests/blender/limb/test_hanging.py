"""Where controls hang: on what moves the whole rig, never on what the limb moves or what carries it alone."""

from __future__ import annotations

from math import cos, pi, sin

import pytest
from mathutils import Vector

from tests.blender import rigs

MODES = ["RIG", "LIVE"]


def off_target(ob, last):
    """How far the tip of a limb of two is from its target."""
    now = rigs.evaluated(ob).pose.bones
    return (now[last].tail - now[ob.pose.bones[last].planar_ik.subtarget].head).length


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("knee", ["FREE", "POLE"])
def test_two_bones_extruded_from_the_cursor(add, mode, knee):
    ob = rigs.rig({"Bone": ((0, 0, 0), (0, 0, 1), ""), "Bone.001": ((0, 0, 1), (0, 0.1, 2), "Bone")})
    add(ob, "Bone.001", knee=knee, mode=mode)
    limb = ob.pose.bones["Bone.001"].planar_ik
    control = ob.pose.bones[limb.subtarget]
    rigs.put(control, Vector((0.6, -0.2, 1.3)))
    assert off_target(ob, "Bone.001") < 1e-5 * 2
    assert (rigs.place(ob, control.name) - control.bone.head_local).length > 0.5  # it is where it was put
    assert not [name for name in (limb.subtarget, limb.pole_subtarget) if name and ob.data.bones[name].parent]


def spider(coxae):
    """A body that begins at the origin, and eight legs of two bones, on coxae of their own or not."""
    bones = {"Bone": ((0, 0, 0), (0, 0.4, 0), "")}
    for leg in range(8):
        x, y = cos(pi / 4 * leg), sin(pi / 4 * leg)
        names = [f"Bone.{3 * leg + k:03d}" for k in (1, 2, 3)]
        if coxae:
            bones[names[0]] = ((0.1 * x, 0.1 * y, 0), (0.3 * x, 0.3 * y, 0), "Bone")
        bones[names[1]] = ((0.3 * x, 0.3 * y, 0), (0.8 * x, 0.8 * y, 0.4), names[0] if coxae else "Bone")
        bones[names[2]] = ((0.8 * x, 0.8 * y, 0.4), (1.2 * x, 1.2 * y, -0.3), names[1])
    return rigs.rig(bones)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("coxae", [False, True])
def test_feet_stay_where_a_body_at_the_origin_moves(add, mode, coxae):
    ob = spider(coxae)
    lasts = [f"Bone.{3 * leg + 3:03d}" for leg in range(8)]
    add(ob, *lasts, mode=mode)
    before = [rigs.evaluated(ob).pose.bones[last].tail.copy() for last in lasts]
    ob.pose.bones["Bone"].location = (0.05, 0.02, -0.08)
    for last, place in zip(lasts, before, strict=True):
        assert (rigs.evaluated(ob).pose.bones[last].tail - place).length < 1e-5
        assert off_target(ob, last) < 1e-5


@pytest.mark.parametrize("root", ["root", "Bone.009"])
def test_controls_go_along_with_what_moves_all(add, root):
    """Called so, or at the origin with a body between it and its limbs."""
    ob = rigs.rig(
        {
            root: ((0, 0, 0), (0, 0.3, 0), ""),
            "Bone": ((0, 0, 1), (0, 0, 1.3), root),
            "Bone.001": ((0, 0, 1), (0, -0.1, 0.5), "Bone"),
            "Bone.002": ((0, -0.1, 0.5), (0, 0, 0), "Bone.001"),
            "Bone.003": ((0, 0, 1.3), (0, 0, 1.6), "Bone"),
        }
    )
    add(ob, "Bone.002", knee="POLE")
    limb = ob.pose.bones["Bone.002"].planar_ik
    assert {ob.data.bones[name].parent.name for name in (limb.subtarget, limb.pole_subtarget)} == {root}
