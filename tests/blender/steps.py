"""What animators and scripts do to limbs: `STEPS` is the table."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import pi
from typing import Any, NamedTuple

import bpy
from mathutils import Vector

from tests.blender import rigs
from tests.blender.session import EVERYTHING, LAST, Failed, Session, channels, curves

Moved = Any
"""The chains that a step may move: a set of them, or `EVERYTHING`."""


def is_still(last: Any, what: str) -> bool:
    """Whether a limb is one that must not move where only what poses it changes."""
    status, limb = last.planar_ik.status, last.planar_ik
    if what == "set LIVE" and not bpy.context.scene.planar_ik.live:
        return False
    if what in ("switch", "snap_fk") and (limb.stretch > 0.0 or limb.min_angle > 0.0 or limb.max_angle < 3.0):
        return False  # neither can show every pose of the other then
    return (status.reach.name == "REACHED" and status.is_ik) or (status.template == "FK" and what != "snap_fk")


def add(session: Session) -> Moved:
    rng, found = session.rng, session.chain()
    if not found:
        return set()
    key, names = found
    if not session.select(key[0], [names[rng.randrange(2)]]):
        return set()
    session.call(
        "add",
        plane=rng.choice(("AUTO", "FREE", "POLE", "HINGE")),
        mode=rng.choice(("RIG", "LIVE")),
        foot_follows=rng.random() < 0.5,
    )
    return set()


def operator(name: str, moves: bool, **choices: Any) -> Callable[[Session], Moved]:
    """The step that calls an operator on one limb. It may move that if ``moves``, or if it was not in reach."""

    def step(session: Session) -> Moved:
        found = session.limb()
        if not found:
            return set()
        key, last = found
        options = {each: session.rng.choice(values) for each, values in choices.items()}
        is_kept = not moves and is_still(last, f"{name} {options.get('mode', '')}".strip())
        session.note = f"{key}, {last.planar_ik.mode}, {last.planar_ik.status}, {options}"
        session.call(name, **options)
        return {(f"not {key[0]}", key[1])} if is_kept else {key}

    return step


def bake(session: Session) -> Moved:
    found = session.limb()
    if not found or "IK Stretch" in found[1]:  # whose bones' scale is keyed, which holds beside the range
        return set()
    start = session.rng.choice((1, 3))
    session.call("bake", range="GIVEN", frame_start=start, frame_end=start + 4, remove=session.rng.random() < 0.5)
    return {found[0]}


def mirror(session: Session) -> Moved:
    found = session.limb()
    if not found:
        return set()
    session.note = str(found[0])
    session.call("mirror")
    return {(found[0][0], f"{found[0][1][:-1]}{side}") for side in "LR"}


OPT_IN = {"roll": "IK Roll", "pole_follow": "IK Pole Follow"}
"""The sliders that a limb has only where somebody asked for them, by their attributes."""


def slide(session: Session) -> Moved:
    rng, found = session.rng, session.limb()
    if not found:
        return set()
    name, low, high = rng.choice((
        ("influence", 0.0, 1.0), ("influence", 1.0, 1.0), ("influence", 0.0, 0.0), ("swivel", -pi, pi),
        ("softness", 0.0, 0.3), ("stretch", 0.0, 1.0), ("flip", 0.0, 1.0), ("roll", -0.6, 0.9),
        ("pole_follow", 0.0, 1.0),
    ))  # fmt: skip
    if name in OPT_IN and OPT_IN[name] not in found[1]:
        return set()
    setattr(found[1].planar_ik, name, round(rng.uniform(low, high)) if name == "flip" else rng.uniform(low, high))
    return {found[0]}


def choose(session: Session) -> Moved:
    rng, found = session.rng, session.limb()
    if not found:
        return set()
    name, value = rng.choice((
        ("plane", "FREE"), ("plane", "HINGE"), ("plane", "POLE"), ("max_angle", 2.5), ("max_angle", pi),
        ("min_angle", 0.5), ("min_angle", 0.0), ("stretch_max", 1.5), ("stretch_volume", "VOLUME"),
        ("stretch_volume", "UNIFORM"),
    ))  # fmt: skip
    session.note = f"{found[0]} {name} {value}"
    setattr(found[1].planar_ik, name, value)
    return {found[0]}


def followed(last: Any, rng: random.Random) -> Any:
    """What a limb follows, as its target or its pole: the object or the bone."""
    limb = last.planar_ik
    ob, name = rng.choice(((limb.target, limb.subtarget), (limb.pole_target, limb.pole_subtarget)))
    return None if ob is None else ob.pose.bones.get(name) if name else ob


def move_control(session: Session) -> Moved:
    found = session.limb()
    owner = followed(found[1], session.rng) if found else None
    if owner is None:
        return set()
    owner.location = [number + session.rng.uniform(-0.2, 0.2) for number in owner.location]
    if session.rng.random() < 0.3:
        owner.rotation_mode = "XYZ"
        owner.rotation_euler = [session.rng.uniform(-1.0, 1.0) for _ in range(3)]
    return EVERYTHING


def pose(session: Session) -> Moved:
    rng, found = session.rng, session.chain()
    if not found:
        return set()
    bone = bpy.data.objects[found[0][0]].pose.bones[rng.choice(found[1])]
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = rigs.turn(rng, 0.6)
    else:
        bone.rotation_euler = [rng.uniform(-0.4, 0.4) for _ in range(3)]
    return {found[0]}


def pose_body(session: Session) -> Moved:
    ob = session.rng.choice(session.rigs() or [None])
    if ob is None or "hips" not in ob.pose.bones:
        return set()
    ob.pose.bones["hips"].location = [session.rng.uniform(-0.1, 0.1) for _ in range(3)]
    ob.pose.bones["spine" if "spine" in ob.pose.bones else "hips"].rotation_quaternion = rigs.turn(session.rng, 0.3)
    return EVERYTHING


def frame(session: Session) -> Moved:
    before = channels()
    bpy.context.scene.frame_set(session.rng.randint(1, 12))
    changed = [path for path, values in channels().items() if path in before and values != before[path]]
    animated = set(curves())
    if others := [path for path in changed if path not in animated]:
        raise Failed(f"channels that are not animated changed with the frame: {others}")
    return EVERYTHING


def key(session: Session) -> Moved:
    found = session.limb() or session.chain()
    if not found:
        return set()
    ob, at = bpy.data.objects[found[0][0]], bpy.context.scene.frame_current
    names = session.chains()[found[0]]
    owner = followed(ob.pose.bones[names[LAST]], session.rng)
    if owner is not None and session.rng.random() < 0.5:
        owner.keyframe_insert("location", frame=at)
    elif session.rng.random() < 0.5 and "IK Influence" in ob.pose.bones[names[LAST]]:
        name = session.rng.choice(("IK Influence", "IK Swivel"))
        ob.pose.bones[names[LAST]].keyframe_insert(f'["{name}"]', frame=at)
    else:
        bone = ob.pose.bones[session.rng.choice(names)]
        bone.keyframe_insert(
            "rotation_quaternion" if bone.rotation_mode == "QUATERNION" else "rotation_euler", frame=at
        )
    return set()


def edit(session: Session) -> Moved:
    """Edit Mode: a joint is moved, a bone is turned or made."""
    rng, found = session.rng, session.chain()
    if not found:
        return set()
    ob = bpy.data.objects[found[0][0]]
    if not session.activate(ob, "EDIT"):
        return set()
    bones = ob.data.edit_bones
    how = rng.randrange(3)
    if how == 0:
        bones[found[1][1]].head.y += rng.uniform(-0.05, 0.05)
        bones[found[1][0]].tail = bones[found[1][1]].head
    elif how == 1:
        bones[found[1][rng.randrange(2)]].roll += rng.uniform(-1.0, 1.0)
    else:
        made = bones.new("more")
        made.head, made.tail = (0.0, 0.0, 2.0), (0.0, rng.random(), 2.5)
    bpy.ops.object.mode_set(mode="POSE")
    return EVERYTHING  # what is animated and was changed without a key is as its keys say


def rename(session: Session) -> Moved:
    found = session.chain()
    if found:
        bone = bpy.data.objects[found[0][0]].data.bones[session.rng.choice(found[1])]
        side = bone.name[-2:]
        bone.name = f"{bone['chain'].split()[0][:3]}{session.rng.randrange(100)}{side}"
    return EVERYTHING if curves() else set()  # Blender has curves renamed, and what is animated as these say


def delete(session: Session) -> Moved:
    found = session.chain()
    if not found or session.rng.random() < 0.7:
        return set()
    ob = bpy.data.objects[found[0][0]]
    if not session.activate(ob, "EDIT"):
        return set()
    ob.data.edit_bones.remove(ob.data.edit_bones[session.rng.choice(found[1])])
    bpy.ops.object.mode_set(mode="POSE")
    return EVERYTHING


def delete_control(session: Session) -> Moved:
    found = session.limb()
    owner = followed(found[1], session.rng) if found else None
    if isinstance(owner, bpy.types.Object) and owner.type != "ARMATURE" and session.rng.random() < 0.3:
        bpy.data.objects.remove(owner)
        return EVERYTHING
    return set()


def hide(session: Session) -> Moved:
    obs = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    ob = session.rng.choice(obs)
    if session.rng.random() < 0.5:
        ob.hide_viewport = not ob.hide_viewport
    elif ob.name in bpy.context.view_layer.objects:
        ob.hide_set(not ob.hide_get())
    return set()


def show(session: Session) -> Moved:
    for ob in bpy.data.objects:
        ob.hide_viewport = False
        if ob.name in bpy.context.view_layer.objects:
            ob.hide_set(False)
    return set()


def duplicate(session: Session) -> Moved:
    obs = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    if len(obs) > 2:
        return set()
    ob = session.rng.choice(obs)
    if session.activate(ob, "OBJECT"):
        bpy.ops.object.duplicate(linked=not ob.animation_data and session.rng.random() < 0.5)
    return set()


def live(session: Session) -> Moved:
    settings = bpy.context.scene.planar_ik
    settings.live = not settings.live or session.rng.random() < 0.5
    return EVERYTHING


def convert(session: Session) -> Moved:
    found = session.chain()
    if not found:
        return set()
    key, names = found
    ob = bpy.data.objects[key[0]]
    last = ob.pose.bones[names[LAST]]
    if last.planar_ik.enabled or any(each.type == "IK" for each in last.constraints):
        return set()
    made: Any = last.constraints.new("IK")
    made.target, made.chain_count = bpy.data.objects.new(f"ik of {key[1]}", None), 2
    bpy.context.scene.collection.objects.link(made.target)
    made.target.location = rigs.place(ob, names[2]) + Vector((0.0, -0.05, 0.05))
    bpy.context.view_layer.update()
    if not session.select(key[0], [names[LAST]]) or not session.call("convert", which="SELECTED"):
        last.constraints.remove(made)
    return {key}


def undo(session: Session) -> Moved:
    for _ in range(session.rng.randint(1, 3)):
        if session.at > 0:
            bpy.ops.ed.undo()
            session.at -= 1
    return None


def redo(session: Session) -> Moved:
    if session.at + 1 < len(session.history):
        bpy.ops.ed.redo()
        session.at += 1
    return None


class Step(NamedTuple):
    """Something that is done: how often, next to others, and by what."""

    weight: int
    act: Callable[[Session], Moved]


STEPS = {
    "add": Step(6, add),
    "remove": Step(1, operator("remove", True)),
    "mode": Step(8, operator("set", False, mode=["RIG", "LIVE"])),
    "rebuild": Step(2, operator("rebuild", True)),
    "plane": Step(3, operator("set", False, plane=["FREE", "POLE", "HINGE"])),
    "limits": Step(1, operator("set", True, max_angle=[2.0, pi], min_angle=[0.0, 0.4])),
    "drop": Step(2, operator("set", True, softness=[True, False], stretch=[True, False])),
    "foot follows": Step(1, operator("set", True, foot_follows=[True, False])),
    "foot roll": Step(2, operator("set", True, foot_roll=[True, False])),
    "pole follows": Step(2, operator("set", True, pole_follows=[True, False])),
    "flip": Step(2, operator("set", True, flip=[True, False])),
    "pick": Step(1, operator("pick", False, role=["TARGET", "POLE"], followed=["\n"])),
    "repair": Step(2, operator("repair", True, repair=["TARGET", "MUTE", "REBUILD"])),
    "switch": Step(5, operator("switch", False, insert_keys=[False, False, True])),
    "snap target": Step(3, operator("snap_target", True)),
    "snap FK": Step(3, operator("snap_fk", False)),
    "mirror": Step(2, mirror),
    "bake": Step(1, bake),
    "unconvert": Step(1, operator("unconvert", True)),
    "slide": Step(6, slide),
    "choose": Step(3, choose),
    "move control": Step(8, move_control),
    "pose": Step(5, pose),
    "pose body": Step(3, pose_body),
    "frame": Step(6, frame),
    "key": Step(6, key),
    "edit": Step(2, edit),
    "rename": Step(2, rename),
    "delete": Step(1, delete),
    "delete control": Step(1, delete_control),
    "hide": Step(2, hide),
    "show": Step(2, show),
    "duplicate": Step(1, duplicate),
    "live": Step(1, live),
    "convert": Step(2, convert),
    "undo": Step(5, undo),
    "redo": Step(3, redo),
}
"""What a session is made of."""
