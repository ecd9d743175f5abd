"""Blender's Copy and Paste Pose take a chain's settings along, but lose what they point to: chains get that back."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender.rigs import (
    NEAR,
    NEXT,
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
