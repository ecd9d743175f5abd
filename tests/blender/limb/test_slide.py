"""A first bone that slides along its own line: where a circle meets that, whatever is done to the limb."""

from __future__ import annotations

from contextlib import suppress
from math import sqrt, tau

import bpy
import numpy as np
import pytest

from tests.blender import rigs
from tests.blender.snapshots import differences, snapshot

ROD = abs(complex(1.1, -0.1))
FRAMES = range(1, 26, 3)


def engine(piston: float = 1.0):
    """A crank that turns all round, and a piston at its height, from which a rod leads to the crank's pin."""
    ob = rigs.rig(
        {
            "crank": ((0, 0, 0), (0.3, 0, 0.2), ""),
            "pin": ((0.3, 0, 0.2), (0.3, 0, 0.4), "crank"),
            "piston": ((piston, 0, 0.1), (1.4, 0, 0.1), ""),
            "rod": ((1.4, 0, 0.1), (0.3, 0, 0.2), "piston"),
        }
    )
    rigs.turn_crank(ob, {frame: tau * (frame - 1) / 24 for frame in FRAMES})
    return ob


def added(mode, **options):
    ob = engine()
    rigs.click(ob, "pin", "piston", "rod")
    assert bpy.ops.pose.planar_ik_add(
        mode=mode, tip="TAIL", foot_follows=False, plane="SLIDE", **options
    ) == {"FINISHED"}  # fmt: skip
    rigs.click(ob, "rod")
    return ob, ob.pose.bones["rod"].planar_ik


def worst(ob, side=1.0):
    """How far joints are off at most, in lengths of the rod."""
    off = 0.0
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        bones = rigs.evaluated(ob).pose.bones
        pin = bones["pin"].head
        want = (pin.x + side * sqrt(ROD**2 - (pin.z - 0.1) ** 2), 0.0, 0.1)
        off = max(off, (bones["rod"].head - pin.__class__(want)).length, (bones["rod"].tail - pin).length)
    return off / ROD


def shown(ob):
    return rigs.matrices(ob, ["piston", "rod"])


def test_no_arc_is_drawn_of_what_slides(addon):
    ob, _ = added("LIVE")
    figure = addon("tasks.status")
    view = figure.Viewpoint(is_dragging=True, has_reach=True)
    assert figure.figure(ob.pose.bones["rod"], bpy.context.evaluated_depsgraph_get(), view) == []


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_a_piston(mode):
    ob, limb = added(mode)
    assert (limb.plane, limb.message) == ("SLIDE", "On target")
    assert worst(ob) < 1e-5
    bpy.context.scene.frame_set(5)
    before = shown(ob)
    for to in ("FK", "IK"):
        assert bpy.ops.pose.planar_ik_switch(to=to) == {"FINISHED"}
        np.testing.assert_allclose(shown(ob), before, atol=1e-5)
    for plane in ("HINGE", "SLIDE"):
        assert bpy.ops.pose.planar_ik_set(plane=plane) == {"FINISHED"}
        np.testing.assert_allclose(shown(ob), before, atol=1e-5)
    assert worst(ob) < 1e-5
    limb.flip = True
    assert worst(ob, -1.0) < 1e-5
    ob.pose.bones["crank"].scale = (4.0, 4.0, 4.0)  # its pin passes too high for the rod
    bpy.context.scene.frame_set(4)
    assert limb.reach == "TOO_FAR"
    assert "too far" in limb.message


def test_add_keeps_a_piston_that_is_keyed(add):
    ob = engine()
    piston, rod = ob.pose.bones["piston"], ob.pose.bones["rod"]
    for frame, place, turn in ((1, 0.0, 0.0), (13, -0.3, 0.5), (25, 0.0, 0.0)):
        piston.location.y, rod.rotation_mode = place, "AXIS_ANGLE"
        rod.rotation_axis_angle = (turn, *rod.bone.matrix_local.to_3x3().inverted().col[1])
        piston.keyframe_insert("location", frame=frame)
        rod.keyframe_insert("rotation_axis_angle", frame=frame)
    before = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        before.append(shown(ob))
    add(ob, "rod", plane="SLIDE", tip="TAIL")
    for frame, pose in zip(FRAMES, before, strict=True):
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose(shown(ob), pose, atol=2e-3)


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_solve_exactly_takes_over_pistons_that_stretch(mode):
    ob = engine(piston=2.4)
    piston, rod = ob.pose.bones["piston"], ob.pose.bones["rod"]
    piston.lock_ik_x = piston.lock_ik_y = piston.lock_ik_z = True
    piston.ik_stretch = 0.9
    constraint = rod.constraints.new("IK")
    constraint.target, constraint.subtarget, constraint.chain_count = ob, "pin", 2
    bpy.context.scene.frame_set(5)
    rigs.click(ob, "rod")
    assert bpy.ops.pose.planar_ik_convert(mode=mode) == {"FINISHED"}
    limb = ob.pose.bones["rod"].planar_ik
    assert (limb.plane, limb.message) == ("SLIDE", "On target")
    assert worst(ob) < 1e-5
    assert bpy.ops.pose.planar_ik_unconvert() == {"FINISHED"}
    assert worst(ob) < 1e-3


def test_what_a_slide_goes_without():
    ob, limb = added("RIG")
    for name, value in (("softness", 0.1), ("stretch", 1.0), ("min_angle", 0.4)):
        with pytest.raises(RuntimeError, match="goes without"):
            setattr(limb, name, value)
    assert worst(ob) < 1e-5


def test_another_plane_that_fails_leaves_it_where_it_slid(addon):
    ob, _ = added("RIG")
    bpy.context.scene.frame_set(10)
    before = snapshot()
    with suppress(KeyError), addon("blender.transaction").all_or_nothing(bpy.context):
        addon("tasks.following").set_plane(bpy.context, [ob.pose.bones["rod"]], "HINGE")
        raise KeyError
    assert not differences(before, snapshot())
