"""What a person changes among the settings of the last operator, as the panel Adjust Last Operation has them."""

from __future__ import annotations

import math

import bpy
from hand import Hand
from mathutils import Quaternion, Vector
from scenarios import in_view, open_armature, open_limb, rig, select, until

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


CONVERTED = {"chains": "SELECTED", "runs_on": "EXTENSION", "most_change": 0.05}
"""Settings of Convert, each with what it is changed to."""

BAKED = {
    "preview": {"range": "PREVIEW"}, "action's keys": {"range": "ACTION"},
    "start": {"range": "GIVEN", "frame_start": 4.0}, "end": {"range": "GIVEN", "frame_end": 8.0},
    "step": {"step": 2.0}, "chains": {"chains": "ALL"}, "action": {"action": "NEW"}, "keep": {"keep": True},
    "tolerance": {"tolerance": 0.05},
}  # fmt: skip
"""Settings of Bake, by what is found out, with what they are changed to."""


def adjusts_converting(hand: Hand):
    """Convert three limbs, of which one is stretched, and change each setting, then undo it."""
    yield from open_limbs(hand, "abc")
    for side in "abc":
        solver = rig().pose.bones[f"lower_{side}"].constraints.new("IK")
        solver.target, solver.chain_count, solver.iterations = new_target(side), 2, 500
    solver.target.location.z -= 0.7
    for role in ("upper", "lower"):
        rig().pose.bones[f"{role}_c"].ik_stretch = 0.1
    select("lower_a")
    bpy.ops.ed.undo_push(message="Constraints")
    yield
    found = {"before": limbs()}
    yield from hand.choose("Convert IK Constraints")
    found["done"] = limbs()
    yield from adjust_each(hand, {name: {name: value} for name, value in CONVERTED.items()}, limbs, found)
    return found


def adjusts_baking(hand: Hand):
    """Bake one of two limbs from the dialog and change each setting, then undo it."""
    yield from open_limbs(hand, "ab")
    select("lower_a", "lower_b")
    bpy.ops.pose.planar_ik_add()
    for side in "ab":
        target = rig().pose.bones[f"lower_{side}"].planar_ik.target
        for frame, height in ((3, 0.2), (8, 0.6), (15, 0.3)):
            target.location.z = height
            target.keyframe_insert("location", frame=frame)
    rig().keyframe_insert("location", frame=3)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.use_preview_range = 1, 20, True
    scene.frame_preview_end, scene.frame_preview_start = 10, 5  # the end first: no start comes after it
    select("lower_a")
    bpy.ops.ed.undo_push(message="Keys")
    yield
    found = {"before": keys()}
    yield from hand.choose("Bake Planar IK")
    yield from hand.key("RET")
    yield from until(lambda: keys()["a"])
    found["done"] = keys()
    yield from adjust_each(hand, BAKED, keys, found)
    return found


def open_limbs(hand: Hand, sides: str):
    """An armature of limbs beside each other, which these letters tell apart."""
    joints = [Vector((0, 0, 1.8)), Vector((0, -0.3, 1)), Vector((0, 0, 0.2))]
    places = {side: [joint + Vector((i, 0, 0)) for joint in joints] for i, side in enumerate(sides)}
    yield from open_armature(hand, places)


def new_target(side: str):
    """An empty for a limb, within its reach."""
    empty = bpy.data.objects.new(f"goal_{side}", None)
    empty.location = rig().data.bones[f"lower_{side}"].tail_local + Vector((0, 0.1, 0.2))
    bpy.context.scene.collection.objects.link(empty)
    return empty


def adjust_each(hand: Hand, changes: dict[str, dict[str, object]], look, found: dict):
    """Change these settings of the last operator and look, each time from what they were, then undo it."""
    was = {name: getattr(last().properties, name) for values in changes.values() for name in values}
    for what, values in (*changes.items(), ("back", {})):
        for name, value in (was | values).items():
            setattr(last().properties, name, value)
        redo(hand)
        found[what] = look()
        yield
    yield from hand.to_the_middle()
    yield from hand.key("Z", ctrl=True)
    yield
    found["undone"] = look()


def limbs() -> dict:
    """What each limb runs on, if it is a chain; else nothing."""
    bones = {bone.name[-1]: bone.planar_ik for bone in rig().pose.bones if bone.name.startswith("lower")}
    return {side: own.runs_on if own.enabled else "" for side, own in sorted(bones.items()) if len(side) == 1}


def keys() -> dict:
    """The frames on which each limb has keys, the name of their action, and whether the first is a chain."""
    data = rig().animation_data
    bags = [bag for layer in data.action.layers for strip in layer.strips for bag in strip.channelbags]
    curves = [curve for bag in bags for curve in bag.fcurves]
    found: dict = {
        side: sorted(
            {key.co.x for curve in curves if f"lower_{side}" in curve.data_path for key in curve.keyframe_points}
        )
        for side in "ab"
    }
    return found | {"action": data.action.name, "chain": rig().pose.bones["lower_a"].planar_ik.enabled}


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
    setattr(last().properties, name, value)
    redo(hand)


def last():
    """The last operator, with its settings."""
    return bpy.context.window_manager.operators[-1]


def redo(hand: Hand) -> None:
    """Let Blender do the last operator again, as it is set now."""
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
