"""Helper bones are called by the limb that they are of, with its side."""

from __future__ import annotations

import bpy
import pytest

from tests.blender import legs, rigs


def helpers(ob):
    """The helper bones of a rig, by name."""
    return {bone.name for bone in ob.data.bones if bone.planar_ik_part and bone.name.startswith("MCH-")}


def leg(names):
    """A leg of three bones with these names, below a body, and another bone that hangs beside it."""
    places = ((0, 0, 1), (0, -0.05, 0.55), (0, 0, 0.1), (0, -0.15, 0))
    bones = {"body": ((0, 0, 1.3), (0, 0, 1), "")}
    for name, head, tail, above in zip(names, places, places[1:], ("body", *names), strict=False):
        bones[name] = (head, tail, above)
    return rigs.rig(bones)


def reaches(ob, last, foot):
    """The tip is on its target, wherever that is put in the plane of the flat rig."""
    target = ob.pose.bones[last].planar_ik
    for place in ((0, -0.1, 0.3), (0, 0.2, 0.25)):
        rigs.put(ob.pose.bones[target.subtarget], ob.matrix_world @ rigs.Vector(place))
        bpy.context.view_layer.update()
        assert (rigs.place(ob, foot) - ob.matrix_world @ rigs.Vector(place)).length < 1e-5


def test_each_side_has_the_other_sides_names(add):
    ob = rigs.biped()
    add(ob, "shin.L", "shin.R", mode="RIG", foot_roll=True)
    left, right = ({name for name in helpers(ob) if name.endswith(side)} for side in (".L", ".R"))
    assert "MCH-SHIN-turn1.L" in left
    assert {bpy.utils.flip_name(name) for name in left} == right
    assert left | right == helpers(ob)


@pytest.mark.parametrize(
    "names",
    [
        ("thigh", "shin", "foot"),
        ("Bone.001", "Bone.002", "Bone.003"),
        (f"{'upper' * 11}.L", f"{'lower' * 11}.L", f"{'foot' * 14}.L"),
        ("左もも", "左すね", "左足"),
        ("A", "SHIN", "T"),
        ("LeftUpLeg", "LeftLeg", "LeftFoot"),
    ],
    ids=["plain", "numbers", "long", "no capitals", "one in another", "words"],
)
def test_any_name(add, names):
    """As Blender takes names; none has in it what another bone is called, for then joining would lose drivers."""
    ob = leg(names)
    add(ob, names[1], mode="RIG")
    assert helpers(ob)
    assert not [name for name in helpers(ob) for bone in (*names, "body") if bone in name.rpartition("-")[0]]
    assert all(len(name.encode()) < 64 for name in helpers(ob))
    reaches(ob, names[1], names[2])


def test_copies_that_are_joined(add, addon):
    """Blender gives all bones of one of the two new names."""
    ob = leg(("thigh", "shin", "foot"))
    add(ob, "shin", mode="RIG")
    rigs.activate(ob, "OBJECT")
    bpy.ops.object.duplicate()
    ob.select_set(True)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.join()
    rigs.activate(ob)
    for last, foot in (("shin", "foot"), ("shin.001", "foot.001")):
        assert legs.problem(addon, ob.pose.bones[last]) == ""
        reaches(ob, last, foot)
