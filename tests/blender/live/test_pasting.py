"""Blender's Copy and Paste Pose take a chain's settings along, but lose what they point to: chains get that back."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender.natives import make_portable
from tests.blender.rigs import (
    HIP,
    NEAR,
    NEXT,
    SHIN,
    THIGH,
    Bone,
    assert_on_target,
    joints,
    make_chain,
    make_empty,
    make_rig,
    place_of,
    put,
    select,
    update,
)


def posed_rig(name="rig"):
    """A leg with a chain to a target of its own, in Pose Mode with the limb selected; the first step of undo."""
    ob, target = make_rig(name=name), make_empty(f"target of {name}", NEAR)
    make_chain(ob, target, plane="POLE", pole_target=make_empty(f"pole of {name}", (0.3, 5, -0.5)))
    select(ob, "thigh", "shin")
    bpy.ops.ed.undo_push(message="posed")
    return ob, target


def paste(ob):
    bpy.ops.pose.copy()
    bpy.context.scene.frame_set(5)
    bpy.ops.pose.paste()
    update()
    bpy.ops.ed.undo_push(message="pasted")


def chain_of(ob):
    return ob.pose.bones["shin"].planar_ik


@pytest.mark.parametrize("is_on", [True, False])
def test_a_pasted_pose_leaves_a_chain_its_target_and_pole(is_on, caplog):
    ob, target = posed_rig()
    chain = chain_of(ob)
    put(chain, enabled=is_on)
    paste(ob)
    assert caplog.messages == []
    chain.enabled = True
    target.location = NEXT
    update()
    assert_on_target(ob, target)
    assert joints(ob).knee[1] > 0.3


def test_it_does_after_undo():
    ob, _ = posed_rig()
    chain_of(ob).property_unset("target")  # as pasting does; the window stores the step before it evaluates the scene
    bpy.ops.ed.undo_push(message="pasted")
    update()
    for influence in (0.5, 1.0):
        put(chain_of(ob), influence=influence)
        bpy.ops.ed.undo_push(message="influence")
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    update()
    ob, target = bpy.data.objects["rig"], bpy.data.objects["target of rig"]
    put(target, location=NEXT)
    assert_on_target(ob, target)


def test_a_pose_pasted_on_another_rig_leaves_it_its_own_target():
    ob, target = posed_rig("one")
    bpy.ops.pose.copy()
    other, its = posed_rig("other")
    put(its, location=NEXT)
    bpy.ops.pose.paste()
    update()
    assert_on_target(other, its)
    assert_on_target(ob, target)


def test_what_is_cleared_stays_cleared():
    ob, target = posed_rig()
    chain = chain_of(ob)
    put(chain, target=None)
    update()
    assert chain.message == "'shin' has no target"
    put(chain, target=target)
    bpy.ops.pose.planar_ik_remove()
    update()
    assert (chain.target, chain.enabled) == (None, False)
    chain.target, chain.enabled = target, True
    update()
    bpy.data.objects.remove(target)
    update()
    assert chain.message == "'shin' has no target"


def test_undo_before_a_target_was_set_leaves_none():
    ob, target = posed_rig()
    put(chain_of(ob), target=None)
    bpy.ops.ed.undo_push(message="cleared")
    put(chain_of(ob), target=target)
    bpy.ops.ed.undo_push(message="set")
    bpy.ops.ed.undo()
    update()
    assert chain_of(bpy.data.objects["rig"]).target is None
    bpy.ops.ed.redo()
    update()
    ob = bpy.data.objects["rig"]
    assert np.allclose(joints(ob).tip, place_of(chain_of(ob).target), atol=1e-5)


def both_legs(is_by_bones):
    """Legs that are each other's mirror image, with chains to targets of their own; the left one is posed."""
    left = (THIGH, SHIN._replace(parent="thigh"), Bone("foot", (0.1, 0, -1.7), (0.1, -0.3, -1.7)))
    ob = make_rig((HIP, *(across(bone, "L", 1) for bone in left), *(across(bone, "R", -1) for bone in left)))
    for side, x in ("L", 1), ("R", -1):
        goal = {"target": ob, "subtarget": f"foot.{side}"}
        if not is_by_bones:
            goal = {"target": make_empty(f"target.{side}", (0.1 * x, 0.2, -1.5))}
        make_chain(ob, goal.pop("target"), f"shin.{side}", plane="SWING", hinge_angle=0.3 * x, **goal)
    ob.pose.bones["foot.L"].location = (0.05, 0.2, 0.1)
    update()
    return ob


def across(bone, side, x):
    """A bone of one side of the rig."""
    ends = {name: (x * place[0], *place[1:]) for name, place in (("head", bone.head), ("tail", bone.tail))}
    parent = {"thigh": "hip", "shin": "thigh.{side}"}.get(bone.name, "")
    return bone._replace(name=f"{bone.name}.{side}", parent=parent.format(side=side), **ends)


def paste_flipped(ob):
    select(ob, "thigh.L", "shin.L", "foot.L")
    bpy.ops.ed.undo_push(message="posed")
    bpy.ops.pose.copy()
    bpy.ops.pose.paste(flipped=True)
    update()
    bpy.ops.ed.undo_push(message="pasted")


@pytest.mark.parametrize("is_on_rig", [False, True])
@pytest.mark.parametrize("is_by_bones", [True, False])
def test_a_pose_pasted_flipped_leaves_the_other_limb_its_own_bones_and_shape(is_by_bones, is_on_rig):
    ob = both_legs(is_by_bones)
    if is_on_rig:
        make_portable(ob, "shin.L", "shin.R")
    paste_flipped(ob)
    left, right = (joints(ob, f"shin.{side}") for side in "LR")
    np.testing.assert_allclose(right, np.array(left) * (-1, 1, 1), atol=1e-5)
    chain = ob.pose.bones["shin.R"].planar_ik
    assert (chain.reach, chain.message) == ("REACHED", "")
    assert chain.hinge_angle == pytest.approx(-0.3)


def test_it_does_after_undo_and_redo():
    name = both_legs(is_by_bones=True).name
    paste_flipped(bpy.data.objects[name])
    bpy.ops.ed.undo()
    bpy.ops.ed.redo()
    ob = bpy.data.objects[name]
    assert_on_target(ob, ob, "shin.R", bone="foot.R")
    assert ob.pose.bones["shin.R"].planar_ik.hinge_angle == pytest.approx(-0.3)
