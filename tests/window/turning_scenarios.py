"""The animator's own pose under the hand: R and G with Enter and Esc, with and without Auto Keying, undo and redo.

Limbs stand beside each other in one armature, live at several influences and on the rig, and are transformed together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import bpy
from hand import Hand
from mathutils import Quaternion, Vector
from scenarios import curves, open_armature, rig, select

OWN = math.radians(20.0)
"""How far the bones of every limb are turned about their x axis, which is the world's, before each trial."""

TURN = math.radians(1.0)
LIFT = Vector((0.0, 0.0, -0.1))


class Limb(NamedTuple):
    """A limb by the end of its bones' names, and how it is posed."""

    name: str
    influence: float
    mode: str = "XYZ"
    is_on_rig: bool = False


LIMBS = (
    Limb("off", 0.0),
    Limb("half", 0.5),
    Limb("full", 1.0),
    Limb("quaternion", 0.5, "QUATERNION"),
    Limb("rig_half", 0.5, is_on_rig=True),
    Limb("rig_full", 1.0, is_on_rig=True),
)


def leaves_the_own_pose(hand: Hand):
    """Turn upper bones, lower bones, and move limbs, end it each way, and say what the bones were at each step."""
    yield from open_limbs(hand)
    trials = []
    for auto in (False, True):
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = auto
        if auto:
            key_all()
        bpy.ops.ed.undo_push(message="Prepare")
        for role, key, change in (("upper", "R", turn), ("lower", "R", turn), ("upper", "G", lift)):
            select(*bones_of(role))
            trial = {"auto": auto, "role": role, "key": key, "before": state(), "expected": by_script(role, change)}
            yield from transform(hand, key, "-.1" if key == "G" else "1", trial)
            trials.append(trial)
    return {"trials": trials}


def clears_and_undoes(hand: Hand):
    """Clear the rotation with Alt R, move the targets, and take both back one by one."""
    yield from open_limbs(hand)
    found = {"posed": state()}
    select(*bones_of("upper"))
    yield from hand.key("R", alt=True)
    found["cleared"] = state()
    for limb in LIMBS:
        goal(limb).location.z += 0.1
    bpy.ops.ed.undo_push(message="Move the targets")
    yield
    found["moved"] = state()
    for name in ("moved_undone", "cleared_undone"):
        yield from hand.key("Z", ctrl=True)
        found[name] = state()
    for name in ("cleared_redone", "moved_redone"):
        yield from hand.key("Z", ctrl=True, shift=True)
        found[name] = state()
    return found


def open_limbs(hand: Hand):
    """Open a file with the limbs in Pose Mode, seen from the right, each with its chain and turned by hand."""
    joints = (Vector((0, 0, 1.8)), Vector((0, -0.2, 1)), Vector((0, 0, 0.2)))
    bones = {limb.name: [joint + Vector((0, 0.8 * i, 0)) for joint in joints] for i, limb in enumerate(LIMBS)}
    yield from open_armature(hand, bones)
    yield from hand.make_room()
    bpy.context.scene.tool_settings.transform_pivot_point = "INDIVIDUAL_ORIGINS"
    ob = rig()
    for limb in LIMBS:
        target = bpy.data.objects.new(f"goal_{limb.name}", None)
        bpy.context.scene.collection.objects.link(target)
        target.location, target.empty_display_size = bones[limb.name][2] + Vector((0, 0.2, 0.3)), 0.1
        for role in ("upper", "lower"):
            bone = ob.pose.bones[f"{role}_{limb.name}"]
            bone.rotation_mode = limb.mode
            set_turn(bone, OWN)
        chain = ob.pose.bones[f"lower_{limb.name}"].planar_ik
        chain.target, chain.influence, chain.enabled = target, limb.influence, True
    bpy.context.view_layer.update()
    select(*(f"lower_{limb.name}" for limb in LIMBS if limb.is_on_rig))
    bpy.ops.pose.planar_ik_make_portable()
    bpy.ops.ed.undo_push(message="Add chains")
    yield


def transform(hand: Hand, key: str, amount: str, trial: dict):
    """Drag and cancel, then drag and type an amount along the axis, undo, redo, and undo again."""
    x, y = hand.mouse
    yield from hand.key(key)
    yield from hand.move((x + 60, y + 40))
    trial["dragged"] = state()
    yield from hand.key("ESC")
    trial["cancelled"] = state()
    yield from hand.key(key)
    yield from hand.move((x, y))
    yield from hand.write(("x" if key == "R" else "z") + amount)
    yield from hand.key("RET")
    trial["done"] = state()
    for name, shift in (("undone", False), ("redone", True), ("undone_again", False)):
        yield from hand.key("Z", ctrl=True, shift=shift)
        trial[name] = state()


def by_script(role: str, change) -> dict:
    """What becomes of it if a script does the same to the channels, and nothing was done."""
    bones = [rig().pose.bones[name] for name in bones_of(role)]
    action = rig().animation_data and rig().animation_data.action
    if action:
        rig().animation_data.action = None
    before = [(bone.location[:], bone.rotation_euler[:], bone.rotation_quaternion[:]) for bone in bones]
    for bone in bones:
        change(bone)
    bpy.context.view_layer.update()
    found = state()
    for bone, channels in zip(bones, before, strict=True):
        bone.location, bone.rotation_euler, bone.rotation_quaternion = channels
    if action:
        rig().animation_data.action = action
    bpy.context.view_layer.update()
    return found


def turn(bone) -> None:
    set_turn(bone, OWN + TURN)


def lift(bone) -> None:
    bone.location = bone.bone.matrix_local.to_3x3().inverted() @ LIFT


def set_turn(bone, angle: float) -> None:
    """Turn a bone about its x axis."""
    bone.rotation_euler = (angle, 0, 0)
    bone.rotation_quaternion = Quaternion((1, 0, 0), angle)


def key_all() -> None:
    """Key every limb as it is."""
    for limb in LIMBS:
        for role in ("upper", "lower"):
            bone = rig().pose.bones[f"{role}_{limb.name}"]
            bone.keyframe_insert("rotation_quaternion" if limb.mode == "QUATERNION" else "rotation_euler")
            bone.keyframe_insert("location")


def bones_of(role: str) -> list[str]:
    """The names of the upper or the lower bones."""
    return [f"{role}_{limb.name}" for limb in LIMBS]


def state() -> dict:
    """Of every limb its channels, what is keyed of them, and as evaluated its joints and what misses its target."""
    ob = rig()
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    found = {}
    for limb in LIMBS:
        upper, lower = (ob.pose.bones[f"{role}_{limb.name}"] for role in ("upper", "lower"))
        posed = [evaluated.pose.bones[bone.name] for bone in (upper, lower)]
        found[limb.name] = {
            "channels": [number for bone in (upper, lower) for number in channels_of(bone)],
            "keys": keys_of(upper) + keys_of(lower),
            "joints": [number for bone in posed for number in (*bone.head, *bone.tail)],
            "miss": (goal(limb).matrix_world.translation - posed[1].tail).length,
        }
    return found


def channels_of(bone) -> list[float]:
    """Location and rotation, in the numbers that F-curves hold."""
    turned = bone.rotation_quaternion if bone.rotation_mode == "QUATERNION" else bone.rotation_euler
    return [*bone.location, *turned]


def keys_of(bone) -> list[float]:
    """What the F-curves of location and rotation say for the current frame, if all are there."""
    frame, path = bpy.context.scene.frame_current, bone.path_from_id()
    rotation = "rotation_quaternion" if bone.rotation_mode == "QUATERNION" else "rotation_euler"
    found = {(curve.data_path, curve.array_index): curve for curve in curves()}
    wanted = [(f"{path}.{name}", i) for name, i in indices(rotation)]
    return [found[each].evaluate(frame) for each in wanted if each in found]


def indices(rotation: str):
    yield from (("location", i) for i in range(3))
    yield from ((rotation, i) for i in range(4 if rotation == "rotation_quaternion" else 3))


def goal(limb: Limb):
    return bpy.data.objects[f"goal_{limb.name}"]
