"""Live limbs that Symmetrize copies in Edit Mode follow their own side, as Blender's constraints do."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from tests.blender.rigs import HIP, LEG, Bone, assert_on_target, editing, make_chain, make_empty, make_rig, update

LEFT = (HIP, LEG[1]._replace(name="thigh.L"), LEG[2]._replace(name="shin.L", parent="thigh.L"))
GOALS = (Bone("foot.L", (0.1, 0, -1.7), (0.1, -0.3, -1.7)), Bone("knee.L", (0.1, 2, -1), (0.1, 2.2, -1)))


def symmetrize(ob: Any) -> None:
    with editing(ob) as bones:
        for bone in bones:
            bone.select = bone.select_head = bone.select_tail = bone.name.endswith(".L")
        bpy.ops.armature.symmetrize()
        update()
    update()


def left_leg() -> Any:
    ob = make_rig((*LEFT, *GOALS))
    chain = make_chain(ob, ob, "shin.L", subtarget="foot.L", plane="POLE", pole_target=ob, pole_subtarget="knee.L")
    chain.hinge_angle, chain.pole_angle = 0.3, 0.4
    update()
    bpy.ops.ed.undo_push(message="left leg")
    return ob


def goals_of(ob: Any, lower: str) -> tuple[str, str]:
    chain = ob.pose.bones[lower].planar_ik
    return chain.subtarget, chain.pole_subtarget


def assert_follows_its_own_side(ob: Any) -> None:
    assert goals_of(ob, "shin.L") == ("foot.L", "knee.L")
    assert goals_of(ob, "shin.R") == ("foot.R", "knee.R")
    copy = ob.pose.bones["shin.R"].planar_ik
    assert (copy.hinge_angle, copy.pole_angle) == pytest.approx((-0.3, -0.4))
    for side in "LR":
        ob.pose.bones[f"foot.{side}"].location = (0.1, 0.2, 0.05)
    update()
    for side in "LR":
        assert_on_target(ob, ob, f"shin.{side}", bone=f"foot.{side}")


def test_a_copied_limb_follows_its_own_side() -> None:
    ob = left_leg()
    symmetrize(ob)
    assert_follows_its_own_side(ob)


def test_it_still_does_after_undo_and_redo() -> None:
    name = left_leg().name
    symmetrize(bpy.data.objects[name])
    bpy.ops.ed.undo_push(message="symmetrize")
    bpy.ops.ed.undo()
    assert "shin.R" not in bpy.data.objects[name].pose.bones
    bpy.ops.ed.redo()
    update()
    assert_follows_its_own_side(bpy.data.objects[name])


def test_what_is_set_afterwards_stays() -> None:
    ob = left_leg()
    symmetrize(ob)
    ob.pose.bones["shin.R"].planar_ik.subtarget = "foot.L"
    update()
    with editing(ob) as bones:
        bones["hip"].roll = 0.1
    update()
    assert goals_of(ob, "shin.R") == ("foot.L", "knee.R")


def test_a_limb_that_is_set_to_the_other_sides_target_stays() -> None:
    ob = left_leg()
    symmetrize(ob)
    right = ob.pose.bones["shin.R"].planar_ik
    right.enabled, right.target = False, None
    update()
    right.target, right.subtarget, right.pole_subtarget, right.enabled = ob, "foot.L", "knee.L", True
    update()
    assert goals_of(ob, "shin.R") == ("foot.L", "knee.L")


def test_an_object_is_followed_by_both() -> None:
    ob = make_rig(LEFT)
    target = make_empty("target.L", (0.2, 0.3, -1.6))
    make_chain(ob, target, "shin.L", plane="SWING")
    update()
    symmetrize(ob)
    assert ob.pose.bones["shin.R"].planar_ik.target == target
