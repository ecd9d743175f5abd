"""Whatever a target is and whatever moves it, the tip follows in the same evaluation, or the chain says why not."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from tests.blender.rigs import (
    FREE,
    HIP,
    LEG,
    NEAR,
    NEXT,
    Bone,
    assert_on_target,
    assert_refused,
    curves,
    in_scene,
    joints,
    key_location,
    make_empty,
    make_rig,
    plane_chain,
    put,
    update,
)


def test_an_object_that_is_moved():
    ob, target = make_rig(), make_empty("target", NEAR)
    plane_chain(ob, target)
    for place in (NEAR, NEXT):
        put(target, location=place)
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
    put(leader, location=NEXT)
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
    put(leader.location, x=0.4)
    assert_on_target(ob, target)


@pytest.mark.parametrize("kind", ["MESH", "CURVE", "LATTICE", "CAMERA"])
def test_an_object_of_any_kind(kind):
    data = {
        "MESH": lambda: bpy.data.meshes.new("m"),
        "CURVE": lambda: bpy.data.curves.new("c", "CURVE"),
        "LATTICE": lambda: bpy.data.lattices.new("l"),
        "CAMERA": lambda: bpy.data.cameras.new("c"),
    }[kind]()
    target = in_scene("target", data)
    target.location = NEAR
    ob = make_rig()
    chain = plane_chain(ob, target, "a bone's name left over")
    assert chain.message == ""
    assert_on_target(ob, target)


def test_a_bone_of_the_same_armature():
    ob = make_rig((*LEG, FREE))
    plane_chain(ob, ob, "free")
    assert_on_target(ob, ob, bone="free")
    put(ob.pose.bones["free"], location=(0.2, 0.1, 0.1))
    assert_on_target(ob, ob, bone="free")
    put(ob, matrix_basis=Matrix.LocRotScale(Vector((1, 2, 0)), None, Vector((1, 2, -1))))
    assert_on_target(ob, ob, bone="free")


SHOWN = {
    "collection": lambda ob: (ob.data.collections.new("controls"), "is_visible"),
    "object": lambda ob: (ob, "show_in_front"),
    "bone": lambda ob: (ob.data.bones["free"], "hide_select"),
}


@pytest.mark.parametrize("shown", SHOWN)
def test_a_bone_of_a_rig_of_which_a_bone_on_the_limb_says_what_is_shown(shown):
    """As by the properties of a foot that show the controls of its leg."""
    ob = make_rig((*LEG, Bone("foot", LEG[-1].tail, (0.1, 0.4, -2), "shin"), FREE))
    ob.pose.bones["foot"]["shows"] = 1.0
    owner, path = SHOWN[shown](ob)
    variable = owner.driver_add(path).driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = ob, 'pose.bones["foot"]["shows"]'
    chain = plane_chain(ob, ob, "free")
    for place in ((0, 0, 0), (0.2, 0.1, 0.1)):
        put(ob.pose.bones["free"], location=place)
        assert (chain.reach, chain.message) == ("REACHED", "")
        assert_on_target(ob, ob, bone="free")


def test_a_bone_of_another_armature_with_another_transform():
    other = make_rig((HIP, FREE), "other")
    other.matrix_basis = Matrix.LocRotScale(Vector((0.1, 0, 0)), None, Vector((1, 1, 0.9)))
    ob = make_rig()
    plane_chain(ob, other, "free")
    assert_on_target(ob, other, bone="free")
    put(other.pose.bones["free"], location=(0.2, 0.1, 0.1))
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
    put(bpy.data.objects["leader"], location=(0, 0.4, -1))
    assert_on_target(ob, ob, bone="free")


def test_a_hidden_rig_or_target_still_counts():
    ob, target = make_rig(), make_empty("target", NEAR)
    plane_chain(ob, target)
    target.hide_viewport = True
    target.location = NEXT
    update()
    assert np.isfinite(joints(ob).tip).all()
    put(target, hide_viewport=False)
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
    assert_refused(chain, "hide it by its eye")
    target.hide_viewport = False
    bpy.context.view_layer.layer_collection.children["controls"].exclude = False
    update()
    assert_on_target(ob, target)
    target.animation_data_clear()
    put(target, hide_viewport=True)
    assert chain.message == ""


def test_a_hidden_target_that_strips_move_too_is_where_it_is():
    """Its action alone does not say where that is: here it is added to a strip."""
    ob, target = make_rig(), make_empty("target")
    key_location(target, [NEAR])
    data = target.animation_data
    data.nla_tracks.new().strips.new("still", 1, data.action)
    data.action = None
    key_location(target, [(0, 0, 0)])
    target.animation_data.action_blend_type = "ADD"
    plane_chain(ob, target)
    bpy.context.scene.frame_set(1)
    assert_on_target(ob, target)
    put(target, hide_viewport=True)
    assert_on_target(ob, target)


def test_a_hidden_target_whose_curves_are_muted_stands_still():
    """Blender leaves it behind, and its curves say nothing of where it is."""
    ob, target = hidden("screen")
    for curve in curves(target).values():
        curve.mute = True
    bpy.context.scene.frame_set(6)
    assert ob.pose.bones["shin"].planar_ik.message == ""
