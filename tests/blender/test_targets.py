"""Whatever a target is and whatever moves it, the tip follows in the same evaluation, or the chain says why not."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from tests.blender.rigs import (
    HIP,
    LEG,
    Bone,
    activate,
    assert_on_target,
    hooked_path,
    joints,
    key_location,
    make_chain,
    make_empty,
    make_rig,
    update,
)

NEAR = (0.2, 0.4, -1.2)
NEXT = (0.1, -0.5, -1.0)
FREE = Bone("free", NEAR, (0.2, 0.6, -1.2))


def plane_chain(ob, target, subtarget="", lower="shin"):
    """A chain whose tip can go to its target anywhere within reach."""
    pole = make_empty("pole", (0.3, 5, -0.5))
    return make_chain(ob, target, lower, subtarget=subtarget, plane="POLE", pole_target=pole)


def test_an_object_that_is_moved():
    ob, target = make_rig(), make_empty("target", NEAR)
    plane_chain(ob, target)
    for place in (NEAR, NEXT):
        target.location = place
        update()
        assert_on_target(ob, target)


def test_an_object_parented_to_a_moving_scaled_object():
    ob, target = make_rig(), make_empty("target", (0.1, 0.2, -0.3))
    target.parent = make_empty("carrier", NEAR)
    target.parent.scale = (-1, 0.5, 2)
    plane_chain(ob, target)
    assert_on_target(ob, target)
    target.parent.location = NEXT
    target.parent.rotation_euler = (0.1, 0.2, 0.3)
    update()
    assert_on_target(ob, target)


def test_a_constrained_object():
    ob, target, leader = make_rig(), make_empty("target"), make_empty("leader", NEAR)
    constraint = target.constraints.new("COPY_LOCATION")
    constraint.target = leader
    plane_chain(ob, target)
    assert_on_target(ob, target)
    leader.location = NEXT
    update()
    assert_on_target(ob, target)


def test_an_animated_object_with_delta_transforms():
    ob, target = make_rig(), make_empty("target")
    target.delta_location = (0, 0, 0.2)
    key_location(target, [NEAR, NEXT], 1, 10)
    plane_chain(ob, target)
    for frame in (1, 11, 5, 8, 1):
        bpy.context.scene.frame_set(frame)
        assert_on_target(ob, target)


def test_a_driven_object():
    ob, target, leader = make_rig(), make_empty("target", NEAR), make_empty("leader")
    driver = target.driver_add("location", 2).driver
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id = leader
    variable.targets[0].transform_type = "LOC_X"
    driver.expression = "var - 1.2"
    plane_chain(ob, target)
    leader.location.x = 0.4
    update()
    assert_on_target(ob, target)


@pytest.mark.parametrize("kind", ["MESH", "CURVE", "LATTICE", "CAMERA"])
def test_an_object_of_any_kind(kind):
    data = {
        "MESH": lambda: bpy.data.meshes.new("m"),
        "CURVE": lambda: bpy.data.curves.new("c", "CURVE"),
        "LATTICE": lambda: bpy.data.lattices.new("l"),
        "CAMERA": lambda: bpy.data.cameras.new("c"),
    }[kind]()
    target = bpy.data.objects.new("target", data)
    bpy.context.scene.collection.objects.link(target)
    target.location = NEAR
    ob = make_rig()
    chain = plane_chain(ob, target, "a bone's name left over")
    assert chain.message == ""
    assert_on_target(ob, target)


def test_a_bone_of_the_same_armature():
    ob = make_rig((*LEG, FREE))
    plane_chain(ob, ob, "free")
    assert_on_target(ob, ob, bone="free")
    ob.pose.bones["free"].location = (0.2, 0.1, 0.1)
    update()
    assert_on_target(ob, ob, bone="free")
    ob.matrix_basis = Matrix.LocRotScale(Vector((1, 2, 0)), None, Vector((1, 2, -1)))
    update()
    assert_on_target(ob, ob, bone="free")


def test_a_bone_of_another_armature_with_another_transform():
    other = make_rig((HIP, FREE), "other")
    other.matrix_basis = Matrix.LocRotScale(Vector((0.1, 0, 0)), None, Vector((1, 1, 0.9)))
    ob = make_rig()
    plane_chain(ob, other, "free")
    assert_on_target(ob, other, bone="free")
    other.pose.bones["free"].location = (0.2, 0.1, 0.1)
    update()
    assert_on_target(ob, other, bone="free")


def test_an_armature_without_a_bones_name_is_an_object():
    other, ob = make_rig((HIP,), "other"), make_rig()
    other.location = NEAR
    plane_chain(ob, other)
    assert_on_target(ob, other)


def test_a_bone_that_other_bones_and_constraints_move():
    bones = [*LEG, Bone("arm", (0, 0, -1), (0, 0.2, -1)), FREE._replace(parent="arm")]
    ob = make_rig(bones)
    ob.pose.bones["arm"].constraints.new("COPY_LOCATION").target = make_empty("leader", (0.1, 0.1, -1.2))
    plane_chain(ob, ob, "free")
    assert_on_target(ob, ob, bone="free")
    bpy.data.objects["leader"].location = (0, 0.4, -1)
    update()
    assert_on_target(ob, ob, bone="free")


def refused(chain, word):
    """The chain is invalid and says so in a sentence with this word, and its bones are as they were."""
    assert chain.reach == "INVALID"
    assert word in chain.message
    assert all(tuple(bone.rotation_quaternion) == (1, 0, 0, 0) for bone in chain.id_data.pose.bones)


def hang_as_child(ob, target):
    target.parent = ob
    target.parent_type, target.parent_bone = "BONE", "shin"


def hang_as_grandchild(ob, target):
    between = make_empty("between")
    hang_as_child(ob, between)
    target.parent = between


def hang_by_constraint(ob, target):
    constraint = target.constraints.new("COPY_TRANSFORMS")
    constraint.target, constraint.subtarget = ob, "thigh"


def hang_by_armature_constraint(ob, target):
    constraint = target.constraints.new("ARMATURE").targets.new()
    constraint.target, constraint.subtarget = ob, "shin"


def hang_by_driver(ob, target):
    variable = target.driver_add("location", 0).driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = ob, "shin"


def hang_by_property_driver(ob, target):
    variable = target.driver_add("location", 0).driver.variables.new()
    variable.targets[0].id = ob
    variable.targets[0].data_path = 'pose.bones["shin"].rotation_quaternion[0]'


def deformed_mesh(ob):
    mesh = bpy.data.meshes.new("skin")
    mesh.from_pydata([(0, 0, -1.5)], [], [])
    skin = bpy.data.objects.new("skin", mesh)
    bpy.context.scene.collection.objects.link(skin)
    skin.modifiers.new("Armature", "ARMATURE").object = ob
    skin.vertex_groups.new(name="shin").add([0], 1, "REPLACE")
    return skin


def hang_by_vertex_parent(ob, target):
    target.parent, target.parent_type = deformed_mesh(ob), "VERTEX"


def hang_by_vertex_group(ob, target):
    constraint = target.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = deformed_mesh(ob), "shin"


def hang_on_a_hooked_path(ob, target):
    target.constraints.new("FOLLOW_PATH").target = hooked_path(ob, "shin")


def hang_by_custom_space(ob, target):
    constraint = target.constraints.new("COPY_LOCATION")
    constraint.target, constraint.target_space = make_empty("other"), "CUSTOM"
    constraint.space_object, constraint.space_subtarget = ob, "shin"


HANGING = (
    hang_as_child,
    hang_as_grandchild,
    hang_by_constraint,
    hang_by_armature_constraint,
    hang_by_driver,
    hang_by_property_driver,
    hang_by_vertex_parent,
    hang_by_vertex_group,
    hang_on_a_hooked_path,
    hang_by_custom_space,
)


@pytest.mark.parametrize("hang", HANGING)
def test_a_target_that_hangs_on_the_chain(hang):
    ob, target = make_rig(), make_empty("target", NEAR)
    hang(ob, target)
    refused(make_chain(ob, target), "hangs on the chain")


@pytest.mark.parametrize("hang", HANGING)
def test_a_pole_that_hangs_on_the_chain(hang):
    ob, pole = make_rig(), make_empty("pole", NEAR)
    hang(ob, pole)
    refused(make_chain(ob, make_empty("target", NEXT), plane="POLE", pole_target=pole), "hangs on the chain")


def test_a_mesh_that_the_chain_deforms_stays_where_it_is():
    ob = make_rig()
    skin = deformed_mesh(ob)
    skin.location = NEAR
    plane_chain(ob, skin)
    assert_on_target(ob, skin)


def test_a_target_that_comes_to_hang_on_a_working_chain():
    ob, target = make_rig(), make_empty("target", NEAR)
    chain = make_chain(ob, target)
    hang_by_constraint(ob, target)
    ob.update_tag()
    chain.bend = 1
    update()
    refused(chain, "hangs on the chain")
    target.constraints.clear()
    chain.bend = 1
    update()
    assert chain.message == ""


@pytest.mark.parametrize("bone", ["thigh", "shin", "foot"])
def test_a_bone_of_the_chain_or_below_it(bone):
    foot = Bone("foot", LEG[2].tail, (0.1, 0.4, -2), "shin")
    ob = make_rig((*LEG, foot))
    refused(make_chain(ob, ob, subtarget=bone), "hangs on the chain")


def test_a_target_that_hangs_on_the_chains_parent_is_fine():
    ob, target = make_rig(), make_empty("target", NEAR)
    target.parent, target.parent_type, target.parent_bone = ob, "BONE", "hip"
    plane_chain(ob, target)
    assert_on_target(ob, target)


def test_the_armature_object_itself_as_target():
    ob = make_rig()
    chain = make_chain(ob, ob)
    assert chain.message == ""


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"target": None}, "no target"),
        ({"subtarget": "nobody"}, "no bone 'nobody'"),
        ({"plane": "POLE"}, "no pole"),
        ({"bend": float("nan")}, "Bend is not a number"),
        ({"influence": float("nan")}, "Influence is not a number"),
    ],
)
def test_what_is_missing_or_wrong_is_named(settings, word):
    ob, other = make_rig(), make_rig((HIP,), "other")
    refused(make_chain(ob, settings.pop("target", other), **settings), word)


def test_a_target_at_no_number_leaves_the_limb_alone(capfd):
    ob, target = make_rig(), make_empty("target", NEAR)
    chain = make_chain(ob, target)
    target.location.x = float("nan")
    update()
    refused(chain, "not a number")
    target.location.x = 0.2
    update()
    assert chain.reach == "REACHED"
    ob.location.x = float("nan")
    update()
    refused(chain, "what carries the limb")
    ob.location.x = 0
    update()
    assert chain.reach == "REACHED"
    assert "Traceback" not in capfd.readouterr().err


def test_overlapping_chains_are_both_refused():
    foot = Bone("foot", LEG[2].tail, (0.1, 0.4, -2), "shin")
    ob = make_rig((*LEG, foot))
    first = make_chain(ob, make_empty("target", NEAR))
    second = make_chain(ob, first.target, "foot")
    refused(first, "foot")
    refused(second, "shin")
    second.enabled = False
    update()
    assert first.message == ""


def test_a_bone_without_a_parent():
    ob = make_rig((HIP,))
    refused(make_chain(ob, make_empty("target", NEAR), "hip"), "no parent")


def test_a_renamed_target_bone_is_named_until_it_is_set_again():
    ob = make_rig((*LEG, FREE))
    chain = plane_chain(ob, ob, "free")
    ob.data.bones["free"].name = "control"
    update()
    if chain.message:
        assert "no bone 'free'" in chain.message
    chain.subtarget = "control"
    update()
    assert_on_target(ob, ob, bone="control")


@pytest.mark.parametrize("names", [("shin", "calf"), ("thigh", "femur"), ("hip", "pelvis")])
def test_a_renamed_bone_keeps_its_chain(names, capfd):
    ob, target = make_rig(), make_empty("target", NEAR)
    plane_chain(ob, target)
    ob.data.bones[names[0]].name = names[1]
    lower = names[1] if names[0] == "shin" else "shin"
    for place in (NEXT, NEAR):
        target.location = place
        update()
        assert_on_target(ob, target, lower)
    assert "Traceback" not in capfd.readouterr().err


def test_bones_that_swap_their_names():
    legs = [
        bone._replace(name=f"{bone.name}{i}", parent=bone.parent and f"{bone.parent}{i}") for i in "12" for bone in LEG
    ]
    ob = make_rig(legs)
    near, far = make_empty("near", NEAR), make_empty("far", NEXT)
    plane_chain(ob, near, lower="shin1")
    plane_chain(ob, far, lower="shin2")
    for old, new in (("shin1", "x"), ("shin2", "shin1"), ("x", "shin2")):
        ob.data.bones[old].name = new
    near.location.z -= 0.1
    far.location.z -= 0.1
    update()
    assert_on_target(ob, near, "shin2")
    assert_on_target(ob, far, "shin1")


@pytest.mark.parametrize("name", ["target", "pole"])
def test_a_deleted_target_or_pole(name, capfd):
    ob = make_rig()
    chain = plane_chain(ob, make_empty("target", NEAR))
    bpy.data.objects.remove(bpy.data.objects[name])
    update()
    refused(chain, name)
    bpy.context.scene.frame_set(3)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("name", ["shin", "thigh", "hip", "free"])
def test_a_deleted_bone(name, capfd):
    ob = make_rig((*LEG, FREE))
    plane_chain(ob, ob, "free")
    activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones.remove(ob.data.edit_bones[name])
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    bpy.context.scene.frame_set(3)
    if name == "free":
        assert "no bone 'free'" in ob.pose.bones["shin"].planar_ik.message
    elif name != "shin":  # without the thigh, the limb is hip and shin
        assert_on_target(ob, ob, bone="free")
    assert "Traceback" not in capfd.readouterr().err


def test_a_deleted_rig_and_a_deleted_scene_object(capfd):
    ob, target = make_rig(), make_empty("target", NEAR)
    other = make_rig(name="other")
    plane_chain(ob, target)
    plane_chain(other, target)
    bpy.data.objects.remove(ob)
    target.location = NEXT
    update()
    assert_on_target(other, target)
    bpy.context.scene.collection.objects.unlink(other)
    update()
    bpy.context.scene.frame_set(4)
    assert "Traceback" not in capfd.readouterr().err


def test_bones_edited_in_edit_mode():
    ob, target = make_rig(), make_empty("target", NEAR)
    plane_chain(ob, target)
    activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones["shin"].tail = (0.2, 0, -2.2)
    target.location = NEXT
    update()
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    assert_on_target(ob, target)


def test_bones_renamed_in_edit_mode(capfd, caplog):
    ob, target = make_rig(), make_empty("target", NEAR)
    plane_chain(ob, target)
    activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones["shin"].name = "calf"
    update()
    bpy.context.scene.frame_set(7)
    bpy.ops.object.mode_set(mode="OBJECT")
    target.location = NEXT
    update()
    assert_on_target(ob, target, "calf")
    assert caplog.messages == []
    assert "Traceback" not in capfd.readouterr().err


def test_an_armature_that_was_never_evaluated(capfd):
    ob, target = make_rig(), make_empty("target", NEAR)
    chain = plane_chain(ob, target)
    new = bpy.data.objects.new("new", bpy.data.armatures.new("new"))
    assert new.pose is None
    target.location = NEXT
    update()
    assert_on_target(ob, target)
    chain.target, chain.subtarget = new, "hip"
    update()
    refused(chain, "'new' has no bone 'hip'")
    assert "Traceback" not in capfd.readouterr().err


def test_a_hidden_rig_or_target_still_counts():
    ob, target = make_rig(), make_empty("target", NEAR)
    plane_chain(ob, target)
    target.hide_viewport = True
    target.location = NEXT
    update()
    assert np.isfinite(joints(ob).tip).all()
    target.hide_viewport = False
    update()
    assert_on_target(ob, target)


def hidden(way):
    """A chain, its animated target, and the target hidden in one of Blender's ways."""
    ob, target = make_rig(), make_empty("target")
    key_location(target, [NEAR, NEXT], 1, 10)
    plane_chain(ob, target)
    controls = bpy.data.collections.new("controls")
    bpy.context.scene.collection.children.link(controls)
    controls.objects.link(target)
    bpy.context.scene.collection.objects.unlink(target)
    if way == "eye":
        target.hide_set(True)
    elif way == "screen":
        target.hide_viewport = True
    else:
        bpy.context.view_layer.layer_collection.children["controls"].exclude = True
    update()
    return ob, target


@pytest.mark.parametrize("way", ["eye", "needed"])
def test_a_hidden_target_that_blender_moves_all_the_same(way):
    ob, target = hidden(way)
    if way == "needed":
        ob.pose.bones["hip"].constraints.new("COPY_ROTATION").target = target
        update()
    for frame in (1, 11, 5, 1):
        bpy.context.scene.frame_set(frame)
        assert_on_target(ob, target)


@pytest.mark.parametrize("way", ["screen", "exclude"])
def test_a_hidden_target_that_blender_leaves_behind(way):
    ob, target = hidden(way)
    chain = ob.pose.bones["shin"].planar_ik
    bpy.context.scene.frame_set(6)
    refused(chain, "hide it by its eye")
    target.hide_viewport = False
    bpy.context.view_layer.layer_collection.children["controls"].exclude = False
    update()
    assert_on_target(ob, target)
    target.animation_data_clear()
    target.hide_viewport = True
    update()
    assert chain.message == ""
