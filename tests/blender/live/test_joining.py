"""Live limbs whose armature, or that of the bones they follow, is joined to another follow these, as constraints do."""

from __future__ import annotations

import bpy
import pytest

from tests.blender.rigs import FREE, HIP, LEG, Bone, activate, assert_on_target, make_chain, make_rig, update

OTHER = Bone("other", HIP.head, HIP.tail)


def join(ob, other):
    """Join the armature of one object to that of another, which stays."""
    activate(other)
    ob.select_set(True)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.join()
    update()
    bpy.ops.ed.undo_push(message="joined")


def assert_follows(ob, name):
    """A limb follows this bone of its own rig."""
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.target, chain.subtarget) == (ob, name)
    ob.pose.bones[name].location = (0.05, 0.1, 0.1)
    update()
    assert_on_target(ob, ob, bone=name)


@pytest.mark.parametrize("place", [(0, 0, 0), (0.1, 0, 0.1)], ids=["in place", "elsewhere"])
def test_a_rig_with_all_that_its_limb_follows(place):
    other, ob = make_rig([OTHER], "other"), make_rig((*LEG, FREE))
    make_chain(ob, ob, subtarget="free", plane="SWING")
    ob.location = place
    update()
    join(ob, other)
    assert_follows(other, "free")


@pytest.mark.parametrize("name", ["free", "shin"])
def test_bones_that_are_followed(name):
    ob, goals = make_rig(), make_rig([FREE._replace(name=name)], "goals")
    make_chain(ob, goals, subtarget=name, plane="SWING")
    join(goals, ob)
    assert_follows(ob, "free" if name == "free" else "shin.001")


def test_they_are_after_undo_and_redo():
    ob, goals = make_rig(), make_rig([FREE], "goals")
    make_chain(ob, goals, subtarget="free", plane="SWING")
    join(goals, ob)
    bpy.ops.ed.undo()
    update()
    ob, goals = bpy.data.objects["rig"], bpy.data.objects["goals"]
    assert_on_target(ob, goals, bone="free")
    bpy.ops.ed.redo()
    update()
    assert_follows(bpy.data.objects["rig"], "free")
