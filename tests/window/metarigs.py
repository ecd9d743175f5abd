"""What is done with a whole character, one function each, as in scenarios.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
from hand import Hand
from leg import new_file, rig, select
from mathutils import Vector
from tour import limbs, misses, pictured, save_and_open

from tests.blender import rigs


def poses_a_metarig(hand: Hand) -> Iterator[Any]:
    """A human metarig: A, Add from the panel; then each control dragged by G and turned by R."""
    yield from open_metarig(hand)
    yield from hand.open_sidebar()
    yield from pictured(hand, "offer")
    yield from hand.hover_button("bpy.ops.pose.planar_ik_add()", 0.5)
    yield from hand.key("LEFTMOUSE")
    yield
    ob = rig()
    yield from pictured(hand, "added")
    lasts = limbs()
    answers: dict[str, Any] = {"limbs": lasts, "missed": {}}
    for name in lasts:
        for control in filter(
            None, (ob.pose.bones[name].planar_ik.subtarget, ob.pose.bones[name].planar_ik.pole_subtarget)
        ):
            for key in ("G", "R"):
                select(control)
                yield from hand.to_the_middle()
                x, y = hand.mouse
                yield from hand.key(key)
                yield from hand.move((x + 15, y + 20))
                yield from hand.key("LEFTMOUSE")
                yield
                answers["missed"][f"{control} {key}"] = max(misses(ob).values())
    yield from pictured(hand, "posed")
    return answers


def open_metarig(hand: Hand) -> Iterator[None]:
    """A human metarig of Rigify's, all of it selected, from the right."""
    yield from new_file(hand)
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_human_metarig_add()
    bpy.context.object.name = "rig"
    bpy.ops.object.mode_set(mode="POSE")
    yield from save_and_open(hand, "metarig")
    yield from hand.to_the_middle()
    yield from hand.key("A")


STRIDE, METRES = 20, 3.0


def walks(hand: Hand) -> Iterator[Any]:
    """A metarig with IK walks three metres by keys of its hips and feet alone."""
    yield from open_metarig(hand)
    yield from hand.choose("Add Planar IK")
    ob, frames = rig(), 4 * STRIDE
    for name, lag in (("spine", 0), ("foot_ik.L", 0), ("foot_ik.R", STRIDE // 2)):
        bone = ob.pose.bones[name]
        into = bone.bone.matrix_local.to_3x3().inverted()
        for frame in range(1, frames + 2):
            strides, share = divmod((frame - 1 + lag) / STRIDE, 1.0)
            steps = (strides + min(2.0 * share, 1.0) - lag / STRIDE) if name != "spine" else (frame - 1) / STRIDE
            lift = 0.1 * max(0.0, 0.25 - abs(share - 0.25)) * 4.0 if name != "spine" else -0.06
            bone.location = into @ Vector((0.0, -METRES * steps / 4.0, lift))
            bone.keyframe_insert("location", frame=frame)
    ahead = []
    for frame in range(1, frames + 2):
        bpy.context.scene.frame_set(frame)
        now = rigs.evaluated(ob).pose.bones
        for side in "LR":
            hip, knee, tip = (now[f"{name}.{side}"].head for name in ("thigh", "shin", "foot"))
            off = (knee - hip) - (knee - hip).project(tip - hip)
            ahead.append(-off.y)
    yield from hand.to_the_middle()
    yield from hand.key("HOME")
    yield from pictured(hand, "walked")
    return {"ahead": min(ahead), "gone": -rigs.evaluated(ob).pose.bones["spine"].head.y}
