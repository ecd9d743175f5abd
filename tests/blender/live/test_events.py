"""Whatever happens, live limbs are shown where geometry puts them, and their channels hold the animator's own pose."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender import legs, libraries, oracle, rigs

POSE = [tuple(round(x, 5) for x in turn) for turn in legs.FK.values()]


def last_now(name="rig", bone="lower"):
    return bpy.data.objects[name].pose.bones[bone]


def is_right(last, pose=POSE, depsgraph=None):
    assert legs.off(last, depsgraph) < 1e-5
    assert legs.own(last) == pose


# Each does something to the limb, and may say which bones it is of then.


def move_target(last):
    last.planar_ik.target.location = (0.1, -0.5, 0.3)


def move_rig(last):
    last.id_data.location = (1, 2, 3)
    last.id_data.scale = (1.5, 1.5, 1.5)


def turn_parent(last):
    last.parent.parent.rotation_quaternion = (0.9, 0.3, 0.1, -0.2)


def slide(last):
    last["IK Swivel"] = 1.5
    last.id_data.update_tag()


def set_everything(last):
    for name, value in {
        "flip": True, "swivel": -2.0, "plane": "POLE", "pole_target": rigs.empty("pole", (0, 9, 1)), "softness": 0.2,
        "stretch": 0.5, "stretch_volume": "VOLUME", "stretch_max": 1.3, "min_angle": 0.8, "max_angle": 2.9,
    }.items():  # fmt: skip
        setattr(last.planar_ik, name, value)


def choose_in_the_file(last):
    oracle.keep(last, max_angle=2.0)
    last.id_data.update_tag()


def follow_another(last):
    last.constraints["Planar IK"].target = rigs.empty("another", (0.4, 0.6, 0.2))


def follow_a_bone(last):
    constraint = last.constraints["Planar IK"]
    constraint.target, constraint.subtarget = last.id_data, "tail"


def drive(last):
    driver = last.id_data.driver_add('pose.bones["lower"]["IK Influence"]').driver
    variable = driver.variables.new()
    variable.type, driver.expression = "TRANSFORMS", "var"
    variable.targets[0].id = ruler = rigs.empty("ruler", (0.2, 0, 0))
    bpy.context.view_layer.update()
    ruler.location.x = 0.6


def edit_rest(last):
    rigs.activate(last.id_data, "EDIT")
    last.id_data.data.edit_bones["lower"].head += Vector((0.1, 0.2, 0.1))
    last.id_data.data.edit_bones["upper"].tail = last.id_data.data.edit_bones["lower"].head
    bpy.ops.object.mode_set(mode="POSE")


def reparent(last):
    rigs.activate(last.id_data, "EDIT")
    last.id_data.data.edit_bones["upper"].parent = last.id_data.data.edit_bones["tail"]
    bpy.ops.object.mode_set(mode="POSE")
    bpy.context.view_layer.update()
    last_now().id_data.pose.bones["tail"].rotation_quaternion = (0.9, 0.3, 0.1, -0.2)


def inherit_nothing(last):
    last.parent.bone.use_inherit_rotation = False
    turn_parent(last)


def stretch_by_keys(last):
    last.planar_ik.target.location = (0, 0, -3)
    last.planar_ik.stretch_max = 3.0
    last.planar_ik.stretch = 0.0
    legs.key(last, '["IK Stretch"]', 0.0, 1.0)
    bpy.context.scene.frame_set(9)
    bpy.context.scene.frame_set(3)


def play(last):
    legs.key(last.planar_ik.target, "location", (0, 0.3, 0.2), (0.5, -0.4, 0.9))
    for frame in range(1, 8):
        bpy.context.scene.frame_set(frame)


def play_influence(last):
    legs.key(last, '["IK Influence"]', 0.0, 1.0)
    for frame in (1, 2, 11, 3):
        bpy.context.scene.frame_set(frame)


def insert_key_of_a_limb(last):
    for bone in (last, last.parent):
        bone.keyframe_insert("rotation_quaternion", frame=1)
    bpy.context.scene.frame_set(4)


def save_and_open(last):
    path = bpy.app.tempdir + "saved.blend"
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)


def undo(last):
    bpy.ops.ed.undo_push(message="before")
    turn_parent(last)
    move_target(last)
    last.rotation_quaternion = (1, 0, 0, 0)
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()


def undo_and_redo(last):
    bpy.ops.ed.undo_push(message="before")
    turn_parent(last)
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    bpy.ops.ed.redo()


def rename(last):
    last.name = last.parent.name + " renamed"
    return "rig", "upper renamed"


def duplicate(last):
    rigs.activate(last.id_data, "OBJECT")
    bpy.ops.object.duplicate()
    bpy.data.objects["rig.001"].rotation_euler.z = 1.0
    return "rig.001", "lower"


def copy_by_hand(last):
    """As Blender's own operators do: a constraint, and custom properties, of all bones of another limb."""
    bones = {name + "2": (*ends[:2], ends[2] and ends[2] + "2") for name, ends in legs.LEG.items()}
    ob = rigs.rig(bones, name="other")
    copied = ob.pose.bones["lower2"]
    copied.constraints.copy(last.constraints[0])
    for bone in ("upper", "lower", "foot"):
        of, to = last.id_data.pose.bones[bone], ob.pose.bones[f"{bone}2"]
        for name in [*of.keys()]:
            to[name] = of[name]
        for name in ("planar_ik_limb", "planar_ik_segment", "planar_ik_tip"):
            setattr(to, name, getattr(of, name))
    for bone, turn in legs.FK.items():
        ob.pose.bones[bone + "2"].rotation_quaternion = turn
    return "other", "lower2"


def nothing(last):
    pass


EVENTS = (
    nothing, move_target, move_rig, turn_parent, slide, set_everything, choose_in_the_file, follow_another,
    follow_a_bone, drive, edit_rest, reparent, inherit_nothing, stretch_by_keys, play, play_influence,
    insert_key_of_a_limb, save_and_open, undo, undo_and_redo, rename, duplicate, copy_by_hand,
)  # fmt: skip


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
def test_after(event, capfd):
    last = legs.live_leg()
    where = event(last) or ("rig", "lower")
    bpy.context.view_layer.update()
    is_right(last_now(*where))
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    is_right(last_now(*where))
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("mode", ["XYZ", "ZYX", "AXIS_ANGLE"])
def test_rotation_mode(mode):
    last = legs.live_leg()
    for bone in (last.parent, last):
        bone.rotation_mode = mode
    before = [(*bone.rotation_euler, *bone.rotation_axis_angle) for bone in (last.parent, last)]
    move_target(last)
    bpy.context.view_layer.update()
    assert legs.off(last) < 1e-5
    assert before == [(*bone.rotation_euler, *bone.rotation_axis_angle) for bone in (last.parent, last)]


def test_own_pose_is_turned_and_keyed():
    last = legs.live_leg()
    last.rotation_quaternion = (0.5, 0.5, 0.5, -0.5)
    bpy.context.view_layer.update()
    turned = [POSE[0], (0.5, 0.5, 0.5, -0.5)]
    is_right(last, turned)
    last.keyframe_insert("rotation_quaternion", frame=1)
    bpy.context.scene.frame_set(3)
    is_right(last, turned)


def test_a_frame_that_the_timeline_goes_to():
    """Blender is told of the frame, and evaluates animation in the place of what was written for it."""
    last = legs.live_leg()
    for frame, turn in ((1, (1, 0, 0, 0)), (10, (0.8, 0.6, 0, 0))):
        last.rotation_quaternion = turn
        last.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_current = 7
    bpy.context.view_layer.update()
    assert legs.off(last) < 1e-5


def test_live_off_shows_the_own_pose(addon):
    last = legs.live_leg()
    bpy.context.scene.planar_ik.live = False
    move_target(last)
    bpy.context.view_layer.update()
    live = addon("live")
    own = last.matrix.copy()
    tip = last.id_data.matrix_world @ last.matrix @ Vector(oracle.tip_of(last))
    assert last.planar_ik.message == "In FK, because Live is off in this scene"
    assert last.planar_ik.status.is_fk
    assert abs(last.planar_ik.residual - (tip - last.planar_ik.target.location).length) < 1e-5
    last.planar_ik.influence = 0.0
    bpy.context.view_layer.update()
    is_right(last)
    last.planar_ik.influence = 0.7
    live.refresh(bpy.context)
    assert np.allclose(last.matrix, own, atol=1e-6)
    bpy.context.scene.planar_ik.live = True
    bpy.context.view_layer.update()
    is_right(last)


def test_linked_rigs(tmp_path):
    play(legs.live_leg())
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    for is_override in (False, True):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (there, here):
            here.objects = there.objects
        for ob in here.objects:
            bpy.context.scene.collection.objects.link(ob)
        rig = bpy.data.objects["rig"]
        if is_override:
            rig = libraries.override(rig)
        for frame in (3, 9):
            bpy.context.scene.frame_set(frame)
            is_right(rig.pose.bones["lower"])
