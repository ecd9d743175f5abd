"""Limbs on the rig that are copied, joined and appended: each is posed by its own mechanism, or says what to press."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender.natives import make_live, make_portable, matrices, rebuild
from tests.blender.rigs import (
    LEG,
    activate,
    copied,
    editing,
    frame_of,
    joints,
    length,
    make_chain,
    make_empty,
    make_rig,
    place_of,
    put,
    update,
)

SAME = 1e-5


def one_leg(name="rig", x=0.0, **settings):
    ob = make_rig(name=name)
    ob.location.x = x
    pole = make_empty(f"pole {name}", (x + 1, 4, 0))
    goal = make_empty(f"target {name}", frame_of(ob).target(0.6, 0.4))
    chain = make_chain(ob, goal, **{"plane": "SWING", "pole_target": pole} | settings)
    activate(ob)
    make_portable(ob)
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob, chain


def assert_own(ob, lower="shin"):
    """A chain is on its target, and follows where it goes."""
    chain = ob.pose.bones[lower].planar_ik
    for move in (0.0, 0.1):
        chain.target.location.z += move
        update()
        assert (chain.runs_on, chain.message, chain.reach) == ("RIG", "", "REACHED")
        assert np.linalg.norm(joints(ob, lower).tip - place_of(chain.target)) <= SAME * length(ob, lower)


def mend(ob, lower="shin"):
    """Press what the message names."""
    assert "pose.planar_ik_rebuild" in ob.pose.bones[lower].planar_ik.message
    rebuild(ob, lower)
    bpy.ops.object.mode_set(mode="OBJECT")
    update()


@pytest.mark.parametrize("shares_data", [False, True])
def test_a_copy_by_a_script(shares_data):
    ob, _ = one_leg()
    copy = copied(ob, shares_data)
    put(copy.location, x=0.3)
    if copy.pose.bones["shin"].planar_ik.message:  # Blender may leave its drivers with the original
        mend(copy)
    copy.pose.bones["shin"].planar_ik.target = make_empty("other", frame_of(copy).target(0.5, 0.9))
    before = matrices(ob)
    assert_own(copy)
    assert np.array_equal(matrices(ob), before)
    assert_own(ob)


@pytest.mark.parametrize("linked", [False, True])
def test_a_duplicate_by_the_operator(linked):
    ob, _ = one_leg()
    activate(ob)
    bpy.ops.object.duplicate(linked=linked)
    copy = bpy.context.object
    copy.location.x = 0.2
    copy.pose.bones["shin"].planar_ik.target = make_empty("other", (0.4, 0.4, -1.2))
    update()
    assert_own(copy)
    assert_own(ob)
    make_live(ob)
    assert_own(copy)


def test_bones_that_are_duplicated():
    ob, _ = one_leg()
    before = matrices(ob)
    with editing(ob) as bones:
        for bone in bones:
            bone.select = bone.select_head = bone.select_tail = bone.name in {"thigh", "shin"}
        bpy.ops.armature.duplicate()
    assert np.allclose(matrices(ob), before, atol=1e-6)
    mend(ob, "shin.001")
    ob.pose.bones["shin.001"].planar_ik.target = make_empty("other", (0.1, -0.4, -1.2))
    assert_own(ob, "shin.001")
    assert_own(ob)


def join(ob, *others):
    activate(ob)
    for other in others:
        other.select_set(True)
    bpy.ops.object.join()
    update()


@pytest.mark.parametrize("plane", ["SWING", "POLE"])
def test_two_rigs_joined_with_the_same_names(plane):
    """Blender renames bones then, but leaves some drivers on those of the name before."""
    join(one_leg(plane=plane)[0], one_leg("other", 3.0, plane=plane)[0], one_leg("third", 6.0, plane=plane)[0])
    bpy.ops.ed.undo_push(message="joined")
    for _ in range(2):
        for lower in ("shin", "shin.001", "shin.002"):
            assert_own(bpy.data.objects["rig"], lower)
        bpy.ops.ed.undo_push(message="moved")
        bpy.ops.ed.undo()
        update()


def test_two_rigs_of_two_limbs_joined_with_the_same_names():
    rigs = []
    for x in (0.0, 3.0):
        bones = [b._replace(name=b.name + side, parent=b.parent and "thigh" + side) for side in "LR" for b in LEG[1:]]
        ob = make_rig([b._replace(parent="") if b.name.startswith("thigh") else b for b in bones], f"rig {x}")
        ob.location.x = x
        for side in "LR":
            make_chain(ob, lower=f"shin{side}", plane="SWING")
        make_portable(ob, "shinL", "shinR")
        rigs.append(ob)
    join(*rigs)
    for lower in ("shinL", "shinR", "shinL.001", "shinR.001"):
        assert_own(rigs[0], lower)


def test_joined_rigs_whose_drivers_are_not_told_apart_say_what_to_press():
    """As where these read nothing but what others work out."""
    ob, _ = one_leg(softness=0.1)
    join(ob, one_leg("other", 3.0, softness=0.1)[0])
    for lower in ("shin", "shin.001"):
        assert "pose.planar_ik_rebuild" in ob.pose.bones[lower].planar_ik.message
    for lower in ("shin", "shin.001"):
        if ob.pose.bones[lower].planar_ik.message:  # to rebuild one may have mended both
            mend(ob, lower)
    assert_own(ob)
    assert_own(ob, "shin.001")


def test_a_rig_that_is_appended_twice(tmp_path):
    one_leg()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    rigs = []
    for _ in range(2):
        with bpy.data.libraries.load(str(tmp_path / "rig.blend")) as (_, here):
            here.objects = ["rig", "target rig"]
        for ob in here.objects:
            bpy.context.scene.collection.objects.link(ob)
        rigs.append(here.objects[0])
    update()
    rigs[1].pose.bones["shin"].planar_ik.target.location.z += 0.1
    for ob in rigs:
        assert_own(ob)
    assert not np.allclose(matrices(rigs[0]), matrices(rigs[1]), atol=1e-3)
