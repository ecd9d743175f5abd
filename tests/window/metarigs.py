"""What is done with a whole character, one function each, as in scenarios.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
from hand import Hand
from leg import done, limbs, misses, new_file, pictured, rig, save_and_open, select
from mathutils import Vector

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


def adds_fingers(hand: Hand) -> Iterator[Any]:
    """IK on an arm by a click and the panel; then, by a click each, on a finger below its hand from the panel, and on a
    second one from the menu's search."""
    yield from open_metarig(hand)
    ob = rig()
    for bone in ("forearm.L", "f_index.02.L", "f_ring.02.L"):
        yield from shown_from_above(hand, ob, bone)
        now = ob.pose.bones[bone]
        yield from hand.click(hand.on_screen(ob.matrix_world @ now.head.lerp(now.tail, 0.5)))
        clicked = bpy.context.active_pose_bone.name
        if clicked != bone:
            return {"clicked": clicked, "limbs": limbs()}
        if bone == "f_ring.02.L":
            yield from hand.choose("Add Planar IK")
            continue
        yield from hand.open_sidebar()
        yield from hand.hover_button("bpy.ops.pose.planar_ik_add()", 0.5)
        yield from hand.key("LEFTMOUSE")
        yield
    yield from pictured(hand, "fingers")
    return {"limbs": limbs(), "missed": misses(ob)}


def shown_from_above(hand: Hand, ob: Any, bone: str) -> Iterator[None]:
    """Have the view show a bone from above, large, and nothing that hides it."""
    select(bone)
    yield from hand.to_the_middle()
    yield from hand.keys("NUMPAD_7", "NUMPAD_PERIOD")
    for other in ob.data.bones:
        other.hide = False
    yield


def closes_a_lift(hand: Hand) -> Iterator[Any]:
    """The scissor lift of four stages, each loop by a click on one of its bars and Add from the search; then the drive
    is turned."""
    from scripts import machines

    yield from new_file(hand)
    ob = rigs.rig(
        {
            name: ((head.real, 0.0, head.imag), (tail.real, 0.0, tail.imag), above)
            for name, (head, tail, above) in machines.SCISSOR.bones.items()
        }
    )
    ob.pose.bones["roller"].lock_rotation = (True, True, True)
    yield from save_and_open(hand, "lift")
    yield from hand.keys("NUMPAD_1", "HOME")
    ob, clicked = rig(), []
    for last in ("cross bar", "cross bar 2", "cross bar 3", "cross bar 4"):
        bone = ob.data.bones[last]
        yield from hand.click(hand.on_screen(ob.matrix_world @ bone.head_local.lerp(bone.tail_local, 0.6)))
        clicked.append(bpy.context.active_pose_bone.name)
        yield from hand.choose("Add Planar IK")
    drive = ob.pose.bones["bar"]
    drive.rotation_mode = "AXIS_ANGLE"
    depth = drive.bone.matrix_local.to_3x3().inverted().col[1]
    parted = []
    for angle in (0.0, 0.2, -0.3):
        drive.rotation_axis_angle = (angle, *depth)
        now = rigs.evaluated(ob).pose.bones
        parted += [(now[last].tail - now[ob.pose.bones[last].planar_ik.subtarget].head).length for last in limbs()]
    yield from pictured(hand, "lift")
    return {"clicked": clicked, "limbs": limbs(), "parted": max(parted), "lifted": now["cross bar top 4"].tail.z}


def closes_machines(hand: Hand) -> Iterator[Any]:
    """Each machine drawn: the halves of cylinders clicked for Add Cylinder, then A and Add; how far its joints are off
    where two circles meet, over a turn of the crank."""
    from tests.blender import linkages

    found: dict[str, Any] = {}
    for name, machine in linkages.MACHINES.items():
        yield from new_file(hand)
        linkages.drawn(machine)
        for part in machine.parts:
            if isinstance(part, linkages.Dyad) and part.slides:
                rig().pose.bones[f"{part.name} first"].lock_rotation = (True, True, True)
        yield from save_and_open(hand, "machine")
        yield from hand.keys("NUMPAD_1", "HOME")
        ob = rig()
        for part in machine.parts:
            if isinstance(part, linkages.Cylinder):
                for bone in ob.pose.bones:  # what lies over them
                    bone.hide = not bone.name.startswith(f"{part.name} ")
                yield
                for half, held in (("housing", False), ("rod", True)):
                    now = ob.pose.bones[f"{part.name} {half}"]
                    yield from hand.move(hand.on_screen(ob.matrix_world @ now.head.lerp(now.tail, 0.6)))
                    yield from hand.key("LEFTMOUSE", shift=held)
                yield from hand.choose("Add Cylinder")
                for bone in ob.pose.bones:
                    bone.hide = False
        yield from hand.to_the_middle()
        yield from hand.key("A")
        yield from hand.choose("Add Planar IK")
        yield from done(hand)
        found[name] = [len(limbs()), linkages.worst(machine, rig())]
        hand.picture(name.replace(" ", "-"))
    found["robot arm with turntable"] = yield from turns_a_robot(hand)
    return found


ROBOT = {
    "table": ((0, 0, 0), (0, 0, 0.3), ""),
    "upper": ((0, 0, 0.3), (0, -0.5, 1.1), "table"),
    "lower": ((0, -0.5, 1.1), (0, -1.1, 0.8), "upper"),
    "grip": ((0, -1.1, 0.8), (0, -1.3, 0.8), "table"),
}


def turns_a_robot(hand: Hand) -> Iterator[Any]:
    """An arm and its target on a table: A and Add, the table turned and the target lowered by keys; how many limbs
    there are, and how far the elbow is off where two circles meet in the plane that turns with the table."""
    from tests.blender.linkages import meet

    yield from new_file(hand)
    rigs.rig(ROBOT)
    yield from save_and_open(hand, "robot")
    yield from hand.key("A")
    yield from hand.choose("Add Planar IK")
    yield from done(hand)
    for bone, key, by in (("table", "R", "40"), ("grip", "G", "-.2")):
        select(bone)
        yield from hand.to_the_middle()
        yield from hand.keys(key, "Z")
        yield from hand.write(by)
        yield from hand.key("RET")
    yield
    hand.picture("robot")
    now = rigs.evaluated(rig()).pose.bones
    at_rest = now["table"].bone.matrix_local @ now["table"].matrix.inverted()
    root, elbow, grip, tip = (
        at_rest @ place for place in (*(now[name].head for name in [*ROBOT][1:]), now["lower"].tail)
    )
    flat = [complex(place.y, place.z) for place in (root, elbow, grip)]
    bones = rig().data.bones
    right = meet(flat[0], bones["upper"].length, flat[2], bones["lower"].length, -1.0)
    turned = now["table"].matrix.to_quaternion().rotation_difference(bones["table"].matrix_local.to_quaternion()).angle
    moved = min(turned, (grip - bones["grip"].head_local).length)
    return [len(limbs()) if moved > 0.1 else 0, max(abs(flat[1] - right), abs(elbow.x), (tip - grip).length)]
