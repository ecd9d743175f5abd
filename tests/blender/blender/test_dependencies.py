"""What moves with what: asked of Blender too, by moving it."""

import bpy
import pytest

from tests.blender.rigs import drive, empty, stack


def follow(owner, kind, target, bone=""):
    """Let an object or a bone move with another, in one of the ways."""
    if kind == "armature":
        constraint = owner.constraints.new("ARMATURE")
        part = constraint.targets.new()
        part.target, part.subtarget = target, bone
    elif kind == "constraint":
        constraint = owner.constraints.new("COPY_TRANSFORMS")
        constraint.target, constraint.subtarget = target, bone
    elif kind == "driver":
        path = f'pose.bones["{bone}"].location[0]' if bone else "location[0]"
        drive(owner, "location", target, path, 0)
    elif kind == "transform driver":
        curve = drive(owner, "location", target, "location.x", 0)
        variable = curve.driver.variables[0]
        variable.type = "TRANSFORMS"
        variable.targets[0].id, variable.targets[0].bone_target = target, bone
        variable.targets[0].transform_space = "WORLD_SPACE"
    else:
        owner.parent, owner.parent_type, owner.parent_bone = target, "BONE", bone


@pytest.mark.parametrize("through", [False, True])
@pytest.mark.parametrize("kind", ["armature", "constraint", "driver", "transform driver", "parent"])
def test_what_would_close_a_circle_is_known(addon, kind, through):
    ob = stack("thigh", "shin", "-free")
    target = middle = empty("Target")
    if through:
        target = empty("Below", parent=middle)
    follow(middle, kind, ob, "shin")
    graph = addon("blender.dependencies").Dependencies()
    assert graph.moves_with((target, ""), ob, ["thigh", "shin"])
    assert graph.moves_with((ob, "shin"), ob, ["thigh"])
    assert not graph.moves_with((ob, "free"), ob, ["thigh", "shin"])
    assert not graph.moves_with((empty("Else"), ""), ob, ["thigh", "shin"])
    ob.pose.bones["shin"].location = (3.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert abs(target.matrix_world.translation.x - 3.0) < 1e-5


def test_a_bone_may_follow_bones_that_only_share_its_rig(addon):
    ob = stack("thigh", "shin", "-control", "-slider")
    drive(ob, 'pose.bones["control"].location', ob, 'pose.bones["shin"]["IK Flip"]', 0)
    ob.pose.bones["shin"]["IK Flip"] = 1.0
    graph = addon("blender.dependencies").Dependencies()
    assert not graph.moves_with((ob, "control"), ob, ["thigh", "shin"])
    drive(ob, 'pose.bones["slider"].location', ob, 'pose.bones["shin"].location.x', 0)
    assert addon("blender.dependencies").Dependencies().moves_with((ob, "slider"), ob, ["shin"])


def test_the_bone_of_a_custom_space_is_followed_too(addon):
    ob, other = stack("thigh", "shin", "-control"), empty("Other")
    constraint = ob.pose.bones["control"].constraints.new("LIMIT_LOCATION")
    constraint.owner_space = "CUSTOM"
    constraint.space_object, constraint.space_subtarget = ob, "shin"
    graph = addon("blender.dependencies").Dependencies()
    assert graph.moves_with((ob, "control"), ob, ["thigh", "shin"])
    constraint.space_object = other
    assert not addon("blender.dependencies").Dependencies().moves_with((ob, "control"), ob, ["thigh", "shin"])


def test_a_limb_follows_its_target_muted_or_not(addon):
    ob, target, pole = stack("thigh", "shin", "foot"), empty("Target"), empty("Pole")
    constraint = ob.pose.bones["shin"].constraints.new("IK")
    constraint.target, constraint.pole_target, constraint.chain_count, constraint.mute = target, pole, 2, True
    graph = addon("blender.dependencies").Dependencies()
    assert {(target, ""), (pole, "")} <= graph.dependencies_of((ob, "thigh"))
    assert [each for _, each in graph.solvers(ob, "thigh")] == [constraint]
    assert not graph.constraints_and_drivers(ob.pose.bones["thigh"])
    constraint.mute = False
    assert addon("blender.dependencies").Dependencies().constraints_and_drivers(ob.pose.bones["thigh"]) == [constraint]


def test_what_else_moves_a_bone_is_told_and_python_too(addon):
    dependencies = addon("blender.dependencies")
    ob, other = stack("a", "b"), empty("Other")
    bone = ob.pose.bones["b"]
    bone["Own"] = 1.0
    drive(ob, 'pose.bones["b"]["Own"]', other, "location.x")
    copy = bone.constraints.new("COPY_ROTATION")
    copy.target = other
    copy.influence = 0.0
    assert not dependencies.Dependencies().constraints_and_drivers(bone)
    copy.influence = 0.5
    curve = drive(ob, 'pose.bones["b"].rotation_quaternion', other, "location.x", 1)
    assert dependencies.Dependencies().constraints_and_drivers(bone) == [copy, curve]
    assert not dependencies.is_python(curve)
    curve.driver.expression = "value ** 2"
    assert dependencies.is_python(curve)
