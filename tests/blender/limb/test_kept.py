"""What was decided when a limb was made is kept on its bones, whatever Blender or people do to the rig since."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import oracle, rigs
from tests.blender.characters import grown

LEG = ("thigh.L", "shin.L", "foot.L")


@pytest.fixture(params=["LIVE", "RIG"])
def leg(addon, add, request):
    """A biped whose left leg has IK, with a foot that is called as no word here says, and begins at no tail."""
    ob = rigs.biped()
    rigs.activate(ob, "EDIT")
    for side in "LR":
        ob.data.edit_bones[f"foot.{side}"].use_connect = False
    rigs.activate(ob)
    ob.data.bones["foot.L"].name = "Fuss"
    add(ob, "shin.L")
    if request.param == "RIG":
        addon("tasks.modes").to_rig(bpy.context, [ob.pose.bones["shin.L"]])
    rigs.put(ob.pose.bones["Fuss_ik.L"], rigs.place(ob, "Fuss") + rigs.Vector((0.05, -0.1, 0.2)))
    is_well(ob)
    return ob


def is_well(ob, last="shin.L", foot="Fuss"):
    """The limb's foot is on its target, and it says so."""
    limb = ob.pose.bones[last].planar_ik
    assert (rigs.place(ob, foot) - rigs.place(ob, limb.subtarget)).length < 1e-5
    assert limb.message == "On target"


def test_bones_that_are_added_below_the_shin(leg):
    before = rigs.matrices(leg, ("thigh.L", "shin.L", "Fuss"))
    armour = {f"armour {i}": ((0.1, -0.2, 0.3), (0.1, -0.3, 0.3), f"armour {i - 1}") for i in (1, 2)}
    leg = grown(leg, {"armour 0": ((0.1, -0.1, 0.4), (0.1, -0.2, 0.4), "shin.L"), **armour})
    assert np.abs(rigs.matrices(leg, ("thigh.L", "shin.L", "Fuss")) - before).max() < 1e-5
    is_well(leg)


def test_a_thigh_that_is_cut_in_two(leg):
    """A bone that Subdivide makes is a part of the segment that it was."""
    rigs.activate(leg, "EDIT")
    for bone in leg.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name == "thigh.L"
    bpy.ops.armature.subdivide()
    rigs.activate(leg)
    assert leg.pose.bones["shin.L"].parent.name == "thigh.L.001"
    limb = leg.pose.bones["shin.L"].planar_ik
    assert limb.chain_count == 3
    is_well(leg)


def test_a_foot_that_is_gone(leg, addon):
    """The limb says so and stays as it is, until it is rebuilt."""
    before = rigs.matrices(leg, LEG[:2])
    removed(leg, "Fuss", "toe.L")
    last = leg.pose.bones["shin.L"]
    assert last.planar_ik.message == "The foot or hand below 'shin.L' is gone: rebuild the limb"
    assert addon("tasks.modes").repairs_for(last) == ["REBUILD"]
    assert np.abs(rigs.matrices(leg, LEG[:2]) - before).max() < 1e-5
    rigs.click(leg, "shin.L")
    bpy.ops.pose.planar_ik_repair(repair="REBUILD")
    bpy.context.view_layer.update()
    last = leg.pose.bones["shin.L"]
    assert last.planar_ik.message == "On target"
    want = oracle.expected(last)
    assert np.abs(oracle.seen(last)[0] - want.joints).max() < 1e-5 * want.length


def test_a_foot_that_is_gone_below_a_tail(add):
    """A limb that ends at a tail needs none."""
    ob = rigs.biped()
    add(ob, "shin.L", tip="TAIL")
    before = rigs.matrices(ob, LEG[:2])
    removed(ob, "foot.L")
    assert np.abs(rigs.matrices(ob, LEG[:2]) - before).max() < 1e-5
    assert ob.pose.bones["shin.L"].planar_ik.message == "On target"


@pytest.mark.names_nothing  # the hips, which the pole goes with
@pytest.mark.makes_a_cycle(perhaps=True)
@pytest.mark.parametrize("leg", ["LIVE", "RIG"], indirect=True)
@pytest.mark.parametrize("names", [("thigh.L",), ("thigh.L", "hips")])
def test_a_thigh_that_is_gone(leg, names):
    """The hips do not become one."""
    removed(leg, *names)
    last = leg.pose.bones["shin.L"]
    assert last.planar_ik.reach == "INVALID"
    assert last.planar_ik.message == (
        "The bone above 'shin.L' is missing: parent 'shin.L' to it again, or remove the limb of 'shin.L'"
    )
    rigs.click(leg, "shin.L")
    bpy.ops.pose.planar_ik_remove()
    assert not leg.pose.bones["shin.L"].planar_ik.enabled
    assert not [*leg.pose.bones["shin.L"].constraints]
    marks = ("planar_ik_limb", "planar_ik_segment", "planar_ik_tip")
    assert not [mark for bone in leg.pose.bones for mark in marks if bone.is_property_set(mark)]


def removed(ob, *names):
    rigs.activate(ob, "EDIT")
    for name in names:
        ob.data.edit_bones.remove(ob.data.edit_bones[name])
    rigs.activate(ob)
