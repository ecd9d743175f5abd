"""Mirror gives the other side a limb whose joints are the mirror image, and touches nothing that it did not make."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from tests.blender import rigs

ACROSS = np.diag([-1.0, 1.0, 1.0])
LEG = ("thigh", "shin", "foot")


def joints(ob, side, names=LEG):
    return rigs.matrices(ob, [f"{name}.{side}" for name in names])[:, :3, 3]


def off(ob, names=LEG):
    return np.abs(joints(ob, "L", names) @ ACROSS - joints(ob, "R", names)).max()


def shown(solved, ob, names=("shin.L", "shin.R")):
    solved([ob.pose.bones[name] for name in names])


@pytest.fixture
def mirror(addon):
    return lambda *lasts: addon("tasks.mirroring").mirror(bpy.context, lasts)


def pose(ob, bone, rng):
    ob.pose.bones[bone].location = rigs.turn(rng).axis * 0.2
    ob.pose.bones[bone].rotation_quaternion = rigs.turn(rng)


@pytest.mark.parametrize("knee", ["FREE", "POLE", "HINGE"])
@pytest.mark.parametrize("follows", ["BONE", "OBJECT"])
@pytest.mark.parametrize("bend", ["REST", "POSED"])
def test_the_other_side_is_the_mirror_image(add, mirror, solved, knee, follows, bend):
    rng = random.Random(f"{knee}{follows}{bend}")
    ob = rigs.biped()
    ob.matrix_world = Matrix.LocRotScale(Vector((1, 2, 3)), rigs.turn(rng, 3.0), None)
    if bend == "POSED":  # which the rest shape can't show: the reference is this pose
        ob.pose.bones["shin.L"].rotation_quaternion = rigs.turn(rng)
    target = (rigs.empty("goal", rigs.place(ob, "foot.L")), "") if follows == "OBJECT" else None
    add(ob, "shin.L", knee=knee, target=target, foot=False)
    follow = ob.pose.bones["shin.L"].constraints["Planar IK"]
    limb = ob.pose.bones["shin.L"].planar_ik
    limb.flip, limb.softness = True, 0.05
    limb.swivel = 0.7 if knee != "HINGE" else 0.0
    for target, bone in ((follow.target, follow.subtarget), (follow.pole_target, follow.pole_subtarget)):
        if bone:
            pose(ob, bone, rng)
        elif target:
            target.location += rigs.turn(rng).axis * 0.2
    for _ in range(2):  # the second time, there is one that follows what was made the first time
        ((_, last, other),) = mirror(ob.pose.bones["shin.L"]).pairs
        assert (last, other) == ("shin.L", "shin.R")
        mirrored = ob.pose.bones["shin.R"].planar_ik
        assert (mirrored.flip, round(mirrored.softness, 6), mirrored.plane) == (True, 0.05, limb.plane)
        shown(solved, ob)
        assert off(ob) < 2e-5
        names = {each.name for each in bpy.data.objects} | {each.name for each in ob.data.bones}
        if follows == "BONE":
            pose(ob, "foot_ik.L", rng)
        else:
            follow.target.location.z += 0.1
    assert names == {each.name for each in bpy.data.objects} | {each.name for each in ob.data.bones}


def test_straight_limbs_bend_to_the_mirrored_side(add, mirror, solved):
    ob = rigs.rig(
        {
            "body": ((0, 0, 1), (0, 0, 1.5), ""),
            "arm.L": ((0.2, 0, 1), (0.5, 0, 1), "body"),
            "fore.L": ((0.5, 0, 1), (0.8, 0, 1), "arm.L"),
            "arm.R": ((-0.2, 0, 1), (-0.5, 0, 1), "body"),
            "fore.R": ((-0.5, 0, 1), (-0.8, 0, 1), "arm.R"),
        },
        {"arm.L": 0.4, "fore.L": 0.4, "arm.R": 1.1, "fore.R": -0.4},
    )
    add(ob, "fore.L", foot=False)
    ob.pose.bones["fore_ik.L"].location = (0.1, 0.15, 0.1)
    mirror(ob.pose.bones["fore.L"])
    shown(solved, ob, ("fore.L", "fore.R"))
    assert off(ob, ("arm", "fore")) < 2e-5


@pytest.mark.parametrize("flip", [False, True])
def test_pistons_on_both_sides_go_with_their_cranks(mirror, solved, flip):
    bones = {"base": ((0, 0, -0.3), (0, 0, -0.5), "")}
    for side, x in ((".L", 1), (".R", -1)):
        bones |= {
            f"crank{side}": ((0.2 * x, 0, 0), (0.5 * x, 0, 0.2), "base"),
            f"pin{side}": ((0.5 * x, 0, 0.2), (0.5 * x, 0, 0.4), f"crank{side}"),
            f"piston{side}": ((1.2 * x, 0, 0.1), (1.6 * x, 0, 0.1), "base"),
            f"rod{side}": ((1.6 * x, 0, 0.1), (0.5 * x, 0, 0.2), f"piston{side}"),
        }
    ob = rigs.rig(bones)
    rigs.click(ob, "pin.L", "piston.L", "rod.L")
    assert bpy.ops.pose.planar_ik_add(plane="SLIDE", tip="TAIL", foot_follows=False) == {"FINISHED"}
    assert [bone.name for bone in ob.pose.bones if bone.planar_ik.enabled] == ["rod.L"]
    ob.pose.bones["rod.L"].planar_ik.flip = flip
    for side, x in ((".L", 1), (".R", -1)):
        crank = ob.pose.bones[f"crank{side}"]
        crank.rotation_mode = "AXIS_ANGLE"
        crank.rotation_axis_angle = (0.8 * x, *crank.bone.matrix_local.to_3x3().inverted().col[1])
    mirror(ob.pose.bones["rod.L"])
    limb = ob.pose.bones["rod.R"].planar_ik
    assert (limb.plane, limb.subtarget, limb.flip) == ("SLIDE", "pin.R", flip)
    shown(solved, ob, ("rod.L", "rod.R"))
    assert off(ob, ("piston", "rod", "pin")) < 2e-5
    assert limb.message == "On target"


def test_objects_that_merely_have_the_name_are_left(add, mirror, solved):
    ob = rigs.biped()
    mine = bpy.data.objects.new("hold.L", None)
    other = bpy.data.objects.new("hold.R", bpy.data.meshes.new("ball"))
    for each in (mine, other):
        bpy.context.collection.objects.link(each)
    mine.location = (0.15, -0.2, 0.3)
    add(ob, "shin.L", target=(mine, ""), foot=False)
    mirror(ob.pose.bones["shin.L"])
    follow = ob.pose.bones["shin.R"].constraints["Planar IK"]
    assert follow.target not in (mine, other)
    assert other.location.length == 0.0
    shown(solved, ob)
    assert off(ob) < 2e-5


def test_the_rig_own_controls_are_taken(add, mirror, solved):
    ob = rigs.biped()
    rigs.activate(ob, "EDIT")
    for side, x in ((".L", 1), (".R", -1)):
        bone = ob.data.edit_bones.new(f"foot_ik{side}")
        bone.head, bone.tail = (0.1 * x, 0.02, 0.1), (0.1 * x, -0.12, 0.02)
    bpy.ops.object.mode_set(mode="POSE")
    add(ob, "shin.L", target=(ob, "foot_ik.L"), foot=False)
    pose(ob, "foot_ik.L", random.Random(5))
    mirror(ob.pose.bones["shin.L"])
    assert ob.pose.bones["shin.R"].planar_ik.subtarget == "foot_ik.R"
    shown(solved, ob)
    assert off(ob) < 2e-5
    left, right = rigs.matrices(ob, ["foot_ik.L", "foot_ik.R"])[:, :3, 1]
    assert np.abs(ACROSS @ left - right).max() < 1e-5


def test_refusals(add, mirror, addon):
    refused = addon("blender.types").Refused
    ob = rigs.random_limb(random.Random(1))
    with pytest.raises(refused):  # no side in its name
        mirror(*add(ob, "lower"))
    ob = rigs.biped()
    add(ob, "shin.L", foot=False)
    ob.pose.bones["shin.R"].name = "calf.R"
    before = rigs.snapshot()
    with pytest.raises(refused):  # nothing on the other side
        mirror(ob.pose.bones["shin.L"])
    assert rigs.snapshot() == before


def test_controls_are_drawn_as_on_the_other_side(addon, add):
    """A sole that points outwards, with its outline offset from the ankle, in a rig that is scaled."""
    ob = rigs.biped()
    ob.scale = (2.0, 2.0, 2.0)
    rigs.activate(ob, "EDIT")
    for name in ("foot.L", "foot.R"):
        bone = ob.data.edit_bones[name]
        bone.tail = bone.tail + Vector((0.08 if name.endswith("L") else -0.08, 0.0, 0.0))
    bpy.ops.object.mode_set(mode="POSE")
    (last,) = add(ob, "shin.L", knee="POLE")
    addon("tasks.mirroring").mirror(bpy.context, [last])
    bpy.context.view_layer.update()
    corners = [outlines(ob.pose.bones[f"shin.{side}"].planar_ik) for side in "LR"]
    for left, right in zip(*corners, strict=True):
        distances = np.linalg.norm((left @ ACROSS)[:, None] - right, axis=2)
        assert max(distances.min(axis=0).max(), distances.min(axis=1).max()) < 1e-4


def outlines(limb):
    """The corners of what a limb's target and pole are drawn as, in the world."""
    for owner, name in ((limb.target, limb.subtarget), (limb.pole_target, limb.pole_subtarget)):
        bone = owner.pose.bones[name]
        turn = bone.custom_shape_rotation_euler.to_quaternion()
        place, scale = bone.custom_shape_translation, bone.custom_shape_scale_xyz
        matrix = owner.matrix_world @ bone.matrix @ Matrix.LocRotScale(place, turn, scale)
        mesh = bone.custom_shape.data
        yield np.array([(matrix @ vertex.co)[:] for vertex in mesh.vertices])


def test_what_is_no_image_is_told(add, mirror):
    """Something else turns the other foot; a body that leans has no image to be told of."""
    ob = rigs.biped()
    add(ob, "shin.L", mode="RIG")
    assert not mirror(ob.pose.bones["shin.L"]).warnings
    turned = ob.pose.bones["shin.R"].parent.constraints.new("LIMIT_SCALE")
    turned.owner_space, turned.use_max_y, turned.max_y = "LOCAL", True, 0.8
    (said,) = mirror(ob.pose.bones["shin.L"]).warnings
    assert said.values["frame"] == bpy.context.scene.frame_current
    assert said.values["bone"] in ("thigh.R", "shin.R", "foot.R")
    ob.pose.bones["hips" if "hips" in ob.pose.bones else ob.pose.bones[0].name].rotation_quaternion = (
        0.9,
        0.1,
        0.3,
        0.2,
    )
    assert not mirror(ob.pose.bones["shin.L"]).warnings
