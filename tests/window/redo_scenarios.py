"""What a person changes among the settings of the last operator, as the panel Adjust Last Operation has them."""

from __future__ import annotations

import math

import bpy
from hand import Hand
from mathutils import Quaternion, Vector
from scenarios import in_view, open_limb, rig, select

ADDED = {
    "plane": "POLE", "flip": True, "controls": "BONE", "keep_rotation": True, "runs_on": "EXTENSION",
    "go_to_target": False,
}  # fmt: skip
"""Settings of Add, each with what it is changed to."""

TURN = Quaternion((1.0, 0.0, 0.0), math.radians(30.0))


def adjusts_adding(hand: Hand):
    """Add a limb from the menu and change each setting, then undo it."""
    found = {}
    for name, value in ADDED.items():
        yield from open_with_foot(hand)
        found[name] = yield from call_and_adjust(hand, "Add Planar IK", name, value)
    return found


def adjusts_switching(hand: Hand):
    """Switch to FK, and have it switch to IK instead; snap, and have it snap a range instead."""
    found = {}
    for entry, name, value in (
        ("Switch FK/IK", "to", "IK"), ("Snap FK to IK", "use_range", True), ("Snap IK to FK", "use_range", True),
    ):  # fmt: skip
        yield from open_with_foot(hand)
        bpy.ops.pose.planar_ik_add(keep_rotation=True)
        rig().pose.bones["upper"].rotation_quaternion = TURN
        chain().target.location += Vector((0.0, 0.2, 0.3))
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 3, 6
        bpy.ops.ed.undo_push(message="Pose")
        yield
        found[entry] = yield from call_and_adjust(hand, entry, name, value)
    return found


def call_and_adjust(hand: Hand, entry: str, name: str, value: object):
    """Call an entry of the menus, change one of its settings, and undo it: what is there after each."""
    steps = {"before": state()}
    yield from hand.choose(entry)
    steps["done"] = state()
    adjust(hand, name, value)
    steps["adjusted"] = state()
    yield from hand.to_the_middle()
    yield from hand.key("Z", ctrl=True)
    steps["undone"] = state()
    return steps


def open_with_foot(hand: Hand):
    """A limb with a foot, its lower bone selected."""
    yield from open_limb(hand)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig().data.edit_bones
    foot = bones.new("foot")
    foot.head, foot.parent, foot.use_connect = bones["lower"].tail, bones["lower"], True
    foot.tail = foot.head + Vector((0.0, -0.2, 0.0))
    bpy.ops.object.mode_set(mode="POSE")
    select("lower")
    bpy.ops.ed.undo_push(message="Foot")
    yield


def adjust(hand: Hand, name: str, value: object) -> None:
    """Change a setting of the last operator, and let Blender do it again."""
    last = bpy.context.window_manager.operators[-1]
    setattr(last.properties, name, value)
    with bpy.context.temp_override(**in_view(hand)):
        bpy.ops.ed.undo_redo("EXEC_DEFAULT", True)


def chain():
    return rig().pose.bones["lower"].planar_ik


def state() -> dict:
    """What a person would see of the limb, and of what was made for it."""
    bpy.context.view_layer.update()
    evaluated = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
    bones = [evaluated.pose.bones[name] for name in ("upper", "lower", "foot")]
    own, data = chain(), rig().animation_data
    return {
        "mode": bpy.context.mode,
        "plane": own.plane if own.enabled else "",
        "bend": own.bend,
        "runs_on": own.runs_on if own.enabled else "",
        "influence": own.influence,
        "empties": sorted(ob.name for ob in bpy.data.objects if ob.type == "EMPTY"),
        "controls": sorted(bone.name for bone in rig().data.bones if bone.name.startswith(("target", "pole"))),
        "turned": len(rig().pose.bones["foot"].constraints),
        "keyed": bool(data and data.action),
        "matrices": [number for bone in bones for row in bone.matrix for number in row],
    }
