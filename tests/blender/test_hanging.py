"""A target or pole that hangs on the chain itself, in whatever way, is refused with a sentence."""

from __future__ import annotations

import bpy
import pytest

from tests.blender.rigs import (
    LEG,
    NEAR,
    NEXT,
    Bone,
    assert_on_target,
    assert_refused,
    hooked_path,
    in_scene,
    make_chain,
    make_empty,
    make_rig,
    plane_chain,
    put,
)

FOOT = Bone("foot", LEG[2].tail, (0.1, 0.4, -2), "shin")


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


def read_setting(ob, target, name, path):
    """Let a setting of a bone drive a target."""
    variable = target.driver_add("location", 0).driver.variables.new()
    variable.targets[0].id = ob
    variable.targets[0].data_path = f'pose.bones["{name}"]{path}'


def hang_by_a_driven_setting(ob, target):
    """The property of another bone, which the limb drives by way of a constraint's influence."""
    hip, driven = ob.pose.bones["hip"], ob.pose.bones["hip"].constraints.new("LIMIT_SCALE")
    hip["reach"] = 0.5
    for owner, path in ((driven, "influence"), (hip, '["reach"]')):
        owner.driver_add(path).driver.variables.new()
    by_limb, by_influence = (curve.driver.variables[0] for curve in ob.animation_data.drivers)
    by_limb.type = "TRANSFORMS"
    by_limb.targets[0].id, by_limb.targets[0].bone_target = ob, "shin"
    by_influence.targets[0].id = ob
    by_influence.targets[0].data_path = f'pose.bones["hip"].constraints["{driven.name}"].influence'
    read_setting(ob, target, "hip", '["reach"]')


def deformed_mesh(ob):
    mesh = bpy.data.meshes.new("skin")
    mesh.from_pydata([(0, 0, -1.5)], [], [])
    skin = in_scene("skin", mesh)
    skin.modifiers.new("Armature", "ARMATURE").object = ob
    skin.vertex_groups.new(name="shin").add([0], 1, "REPLACE")
    return skin


def hang_by_vertex_parent(ob, target):
    target.parent, target.parent_type = deformed_mesh(ob), "VERTEX"


def hang_by_vertex_group(ob, target):
    constraint = target.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = deformed_mesh(ob), "shin"


def hang_on_a_hooked_path(ob, target):
    target.constraints.new("FOLLOW_PATH").target = hooked_path(ob)


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
    hang_by_a_driven_setting,
    hang_by_vertex_parent,
    hang_by_vertex_group,
    hang_on_a_hooked_path,
    hang_by_custom_space,
)


@pytest.mark.parametrize("hang", HANGING)
def test_a_target_that_hangs_on_the_chain(hang):
    ob, target = make_rig(), make_empty("target", NEAR)
    hang(ob, target)
    assert_refused(make_chain(ob, target), "hangs on the chain")


@pytest.mark.parametrize("hang", HANGING)
def test_a_pole_that_hangs_on_the_chain(hang):
    ob, pole = make_rig(), make_empty("pole", NEAR)
    hang(ob, pole)
    assert_refused(make_chain(ob, make_empty("target", NEXT), plane="POLE", pole_target=pole), "hangs on the chain")


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
    put(chain, bend=1)
    assert_refused(chain, "hangs on the chain")
    target.constraints.clear()
    put(chain, bend=1)
    assert chain.message == ""


@pytest.mark.parametrize("bone", ["thigh", "shin", "foot"])
def test_a_bone_of_the_chain_or_below_it(bone):
    ob = make_rig((*LEG, FOOT))
    assert_refused(make_chain(ob, ob, subtarget=bone), "hangs on the chain")


def test_a_target_that_hangs_on_the_chains_parent_is_fine():
    ob, target = make_rig(), make_empty("target", NEAR)
    target.parent, target.parent_type, target.parent_bone = ob, "BONE", "hip"
    plane_chain(ob, target)
    assert_on_target(ob, target)


@pytest.mark.parametrize("path", ['["reach"]', '.constraints["Limit Scale"].influence'])
def test_a_target_that_reads_a_setting_of_a_bone_below_is_fine(path):
    """As in Rigify's rigs of 2.93: what a limb follows is driven by a property of a bone that hangs on the limb."""
    ob, target = make_rig((*LEG, FOOT)), make_empty("target", NEAR)
    foot = ob.pose.bones["foot"]
    foot["reach"] = foot.constraints.new("LIMIT_SCALE").influence = 0.1
    read_setting(ob, target, "foot", path)
    plane_chain(ob, target)
    assert_on_target(ob, target)


def test_the_armature_object_itself_as_target():
    ob = make_rig()
    chain = make_chain(ob, ob)
    assert chain.message == ""
