"""What was decided when a limb was made is kept on its bones, whatever Blender or people do to the rig since."""

from __future__ import annotations

import random

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


def test_all_bones_renamed(leg):
    for i, bone in enumerate([*leg.data.bones]):
        side = bone.name[-2:] if bone.name.endswith((".L", ".R")) else ""  # which says what Swivel means
        bone.name = f"foot {i}" if bone.name == "toe.L" else f"x{i}{side}"
    last = next(bone for bone in leg.pose.bones if bone.planar_ik.enabled)
    foot = next(child for child in last.children if child.children)
    is_well(leg, last.name, foot.name)


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


def test_other_objects_that_are_joined(leg):
    name, other = leg.name, rigs.biped()
    rigs.activate(bpy.data.objects[name], "OBJECT")
    other.select_set(True)
    bpy.ops.object.join()
    rigs.activate(bpy.data.objects[name])
    is_well(bpy.data.objects[name])


def test_the_other_side_by_symmetrize(leg):
    leg.data.bones["Fuss"].name = "Fuss.L"
    rigs.activate(leg, "EDIT")
    for bone in leg.data.edit_bones:
        is_left = bone.name in ("thigh.L", "shin.L", "Fuss.L", "toe.L", "Fuss_ik.L")
        bone.select = bone.select_head = bone.select_tail = is_left
    for name in ("thigh.R", "shin.R", "foot.R", "toe.R"):
        leg.data.edit_bones.remove(leg.data.edit_bones[name])
    bpy.ops.armature.symmetrize()
    grown(leg, {"foot armour.R": ((-0.1, -0.1, 0.4), (-0.1, -0.2, 0.4), "shin.R")})
    other = leg.pose.bones["shin.R"].planar_ik
    assert (other.enabled, other.chain_count, other.subtarget) == (True, 2, "Fuss_ik.R")
    assert leg.data.bones["Fuss_ik.R"]["planar_ik.part"] == "target"
    assert [bone.name for bone in leg.pose.bones["shin.R"].children if "planar_ik_tip" in bone] == ["Fuss.R"]


def test_the_other_side_by_mirror(leg, addon):
    """The foot is the image of the foot, whatever else hangs there."""
    leg.data.bones["Fuss"].name, leg.data.bones["foot.R"].name = "Fuss.L", "Fuss.R"
    armour = {f"foot armour {i}.R": ((-0.1, -0.2, 0.3), (-0.1, -0.3, 0.3), f"foot armour {i - 1}.R") for i in (1, 2)}
    grown(leg, {"foot armour 0.R": ((-0.1, -0.1, 0.4), (-0.1, -0.2, 0.4), "shin.R"), **armour})
    addon("tasks.mirroring").mirror(bpy.context, [leg.pose.bones["shin.L"]])
    bpy.context.view_layer.update()
    is_well(leg, "shin.R", "Fuss.R")


def test_appended(leg, tmp_path):
    path, name = str(tmp_path / "rig.blend"), leg.name
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path) as (_, data):
        data.objects = [name]
    bpy.context.collection.objects.link(data.objects[0])
    rigs.activate(bpy.data.objects[name])
    is_well(bpy.data.objects[name])


def test_a_foot_that_is_gone(leg, addon):
    """The limb says so and stays as it is, until it is rebuilt."""
    before = rigs.matrices(leg, LEG[:2])
    removed(leg, "Fuss", "toe.L")
    last = leg.pose.bones["shin.L"]
    assert last.planar_ik.message == "The foot or hand below 'shin.L' is gone: rebuild the limb"
    assert addon("tasks.repairing").repairs_for(last) == ["REBUILD"]
    assert np.abs(rigs.matrices(leg, LEG[:2]) - before).max() < 1e-5
    for bone in leg.pose.bones:
        rigs.select(bone, bone.name == "shin.L")
    leg.data.bones.active = leg.data.bones["shin.L"]
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


@pytest.mark.parametrize("leg", ["LIVE", pytest.param("RIG", marks=pytest.mark.makes_a_cycle)], indirect=True)
@pytest.mark.parametrize("names", [("thigh.L",), ("thigh.L", "hips")])
def test_a_thigh_that_is_gone(leg, names):
    """The hips do not become one."""
    removed(leg, *names)
    last = leg.pose.bones["shin.L"]
    assert last.planar_ik.reach == "INVALID"
    assert last.planar_ik.message == (
        "The bone above 'shin.L' is missing: parent 'shin.L' to it again, or remove the limb of 'shin.L'"
    )
    for bone in leg.pose.bones:
        rigs.select(bone, bone.name == "shin.L")
    leg.data.bones.active = leg.data.bones["shin.L"]
    bpy.ops.pose.planar_ik_remove()
    assert not leg.pose.bones["shin.L"].planar_ik.enabled
    assert not [*leg.pose.bones["shin.L"].constraints]
    assert not [key for bone in leg.pose.bones for key in [*bone.keys()] if key.startswith("planar_ik")]


def removed(ob, *names):
    rigs.activate(ob, "EDIT")
    for name in names:
        ob.data.edit_bones.remove(ob.data.edit_bones[name])
    rigs.activate(ob)


def test_the_same_chain_count_changes_nothing(add):
    ob = rigs.random_limb(random.Random(3), twist=True)
    (last,) = add(ob, "lower", segments=(2, 1))
    before, marks = rigs.matrices(ob, ob.pose.bones.keys()), last["planar_ik"].to_dict()
    last.planar_ik.chain_count = last.planar_ik.chain_count
    assert last["planar_ik"].to_dict() == marks
    assert np.abs(rigs.matrices(ob, ob.pose.bones.keys()) - before).max() < 1e-6


def test_removing_takes_the_marks_away(add, addon):
    ob = rigs.biped()
    before = rigs.snapshot()
    addon("tasks.removing").remove(bpy.context, add(ob, "shin.L", "forearm.R"))
    assert rigs.snapshot() == before
