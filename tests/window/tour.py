"""The rest of the thirty tasks that a release is tried by, one function each, as in scenarios.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
from hand import ROW, Hand
from labels import measured, press
from leg import (
    away,
    done,
    joints,
    limb,
    misses,
    new_file,
    open_leg,
    open_limb,
    open_panels,
    pictured,
    rig,
    save_and_open,
    scroll,
    select,
    selected,
)
from mathutils import Vector

from scripts import installed
from tests.blender import rigs


def sets_knees(hand: Hand) -> Iterator[Any]:
    """Free, Hinge and Pole pressed on a leg; then the limits of its knee, asked for by Setup's button."""
    open_panels()
    yield from open_limb(hand, "RIG", plane="POLE")
    yield from hand.open_sidebar()
    answers: dict[str, Any] = {}
    before = joints()
    for label in ("Free", "Hinge", "Pole"):
        yield from press(hand, label, label == "Pole")  # the first of these selects the pole
        yield from pictured(hand, label.lower())
        answers[label] = [limb().plane, limb().reach, max(misses(rig()).values()), away(before, joints())]
    yield from scroll(hand)
    yield from press(hand, "0° - 180°")
    yield
    hand.picture("limits")
    yield from hand.click((hand.mouse[0] - 2 * ROW, hand.mouse[1] - 3 * ROW // 2))  # the dialog's second field
    yield from hand.key("A", ctrl=True)
    yield from hand.write("70")
    yield
    hand.picture("typed")
    yield from hand.keys("RET", "RET")
    yield
    answers["limited"] = [limb().max_angle, knee_angle()]
    return answers


def knee_angle() -> float:
    """The inner angle of the knee, in radians."""
    hip, knee, tip = map(Vector, joints())
    return float((hip - knee).angle(tip - knee))


def softens_and_stretches(hand: Hand) -> Iterator[Any]:
    """Softness and stretch dragged from 0, the target past the reach, and both taken away by their buttons."""
    open_panels()
    yield from open_limb(hand, "RIG", plane="POLE")
    yield from hand.open_sidebar()
    answers: dict[str, Any] = {}
    for name in ("softness", "stretch"):
        yield from hand.hover(name)
        yield from hand.drag(80)
        yield
        yield
        answers[name] = rig().pose.bones["shin.L"].get(f"IK {name.title()}", 0.0)
    target = rig().pose.bones["foot_ik.L"]
    target.location += target.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, -0.1, -0.5))
    bpy.context.view_layer.update()
    yield from pictured(hand, "past")
    answers["reach"], answers["missed"] = limb().reach, max(misses(rig()).values())
    yield from scroll(hand)
    for label in ("Remove Stretch", "Remove Softness"):
        yield from press(hand, label)
    yield from pictured(hand, "without")
    answers["left"] = [name for name in ("IK Softness", "IK Stretch") if name in rig().pose.bones["shin.L"]]
    return answers


def rolls_a_foot(hand: Hand) -> Iterator[Any]:
    """Foot Roll by its button, both ways; then the heel's pivot moved in Edit Mode, and Rebuild pressed."""
    open_panels()
    yield from open_limb(hand, "RIG", plane="POLE")
    yield from hand.open_sidebar()
    yield from scroll(hand)
    yield from press(hand, "Foot Roll")
    yield from hand.keys(*20 * ["WHEELUPMOUSE"])
    answers: dict[str, Any] = {"rest": foot()}
    for name, by in (("IK Roll", -40), ("IK Roll", 120), ("IK Roll", -80), ("IK Bank", 40), ("IK Bank", -40)):
        yield from hand.hover(name, 0.3)
        yield from hand.drag(by)
        yield
        yield from pictured(hand, f"{name[3:]}{by}")
        answers[f"{name[3:]}{by}"] = foot()
    helpers = installed.addon("limb.follow").helpers_of(rig().pose.bones["shin.L"])
    heel = helpers[installed.addon("limb.features.roll").HEEL_PIVOT].name
    yield from hand.to_the_middle()
    yield from hand.key("TAB")
    for end in ("head", "tail"):
        getattr(rig().data.edit_bones[heel], end).y += 0.05
    yield from hand.key("TAB")
    select("shin.L")
    yield from scroll(hand)
    yield from press(hand, "Rebuild")
    yield from hand.keys(*20 * ["WHEELUPMOUSE"])
    yield from hand.hover("IK Roll", 0.3)
    yield from hand.drag(-40)
    yield
    yield from pictured(hand, "rebuilt")
    return answers | {"moved": foot()}


def foot() -> list[list[float]]:
    """Where the foot's ends are."""
    now = rigs.evaluated(rig()).pose.bones["foot.L"]
    return [[*now.head], [*now.tail]]


def turns_a_foot(hand: Hand) -> Iterator[Any]:
    """A foot's control turned by R; then Pole Follow dragged from a half, where Add leaves it, to 0 and 1."""
    open_panels()
    yield from open_limb(hand, "RIG", plane="POLE")
    yield from hand.open_sidebar()
    answers: dict[str, Any] = {"before": knee_turn()}
    select("foot_ik.L")
    yield from hand.to_the_middle()
    yield from hand.keys("R", "Z")
    yield from hand.write("40")
    yield from hand.key("RET")
    yield from pictured(hand, "turned")
    answers["half"] = knee_turn()
    select("shin.L")
    for share, by in (("0", -300), ("1", 600)):
        yield from hand.hover("IK Pole Follow", 0.3)
        yield from hand.drag(by)
        yield
        answers[share] = knee_turn()
    yield from pictured(hand, "left")
    return answers


def knee_turn() -> float:
    """Which way the knee is off the line from hip to foot, seen from above, in degrees."""
    now = rigs.evaluated(rig()).pose.bones
    hip, knee, tip = (now[name].head for name in ("thigh.L", "shin.L", "foot.L"))
    line = (tip - hip).normalized()
    off = (knee - hip) - (knee - hip).project(line)
    return float(Vector((0.0, -1.0)).angle_signed(off.xy, 0.0) * 180.0 / 3.141592653589793)


def mirrors(hand: Hand) -> Iterator[Any]:
    """Both legs of a biped: Mirror from the panel, and Paste Pose Flipped."""
    open_panels()
    yield from new_file(hand)
    rigs.biped()
    yield from save_and_open(hand, "biped")
    yield from hand.to_the_middle()
    yield from hand.key("A")
    yield from hand.choose("Add Planar IK")
    control = rig().pose.bones["foot_ik.L"]
    control.location += control.bone.matrix_local.to_3x3().inverted() @ Vector((0.1, -0.2, 0.2))
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="Pose")
    select("foot_ik.L")
    yield from hand.open_sidebar()
    yield from scroll(hand)
    yield from press(hand, "Mirror")
    yield from pictured(hand, "mirrored")
    answers = {"mirrored": apart()}
    yield from hand.key("Z", ctrl=True)
    yield
    left = [*rigs.evaluated(rig()).pose.bones["foot.L"].head]
    bpy.ops.pose.select_all(action="SELECT")
    with bpy.context.temp_override(window=hand.window, area=hand.view()[0], region=hand.view()[1]):
        bpy.ops.pose.copy()
        bpy.ops.pose.paste(flipped=True)
    bpy.context.view_layer.update()
    yield from pictured(hand, "flipped")
    x, y, z = rigs.evaluated(rig()).pose.bones["foot.R"].head
    answers["flipped"] = away([left], [[-x, y, z]])
    return answers


def apart() -> float:
    """How far the right leg is from the mirror image of the left one."""
    now = rigs.evaluated(rig()).pose.bones
    return away(
        *(
            [[x * side, y, z] for x, y, z in (now[f"{name}{end}"].head for name in ("thigh", "shin", "foot"))]
            for side, end in ((1.0, ".L"), (-1.0, ".R"))
        )
    )


def solves_a_constraint(hand: Hand) -> Iterator[Any]:
    """Solve Exactly on Blender's own IK from the search on another bone, undone; from the panel, and back."""
    open_panels()
    yield from open_leg(hand)
    target = rigs.empty("goal", (0.1, -0.1, 0.25))
    shin = rig().pose.bones["shin.L"]
    constraint = shin.constraints.new("IK")
    constraint.target, constraint.chain_count = target, 2
    rigs.activate(rig())
    select("shin.L")
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="Constraint")
    before = joints()
    select("hips")
    yield from hand.to_the_middle()
    yield from hand.choose("Solve Exactly")
    yield
    searched = limb().enabled
    yield from hand.key("Z", ctrl=True)
    select("shin.L")
    yield from hand.open_sidebar()
    yield from pictured(hand, "offer")
    yield from press(hand, "Solve Exactly")
    yield from pictured(hand, "solved")

    answers: dict[str, Any] = {"searched": searched, "solved": [limb().enabled, away(before, joints())]}
    yield from scroll(hand)
    yield from press(hand, "Back to Blender's IK")
    yield from pictured(hand, "back")
    constraint = rig().pose.bones["shin.L"].constraints[0]
    answers["back"] = [limb().enabled, constraint.mute, away(before, joints())]
    return answers


def searches(hand: Hand) -> Iterator[Any]:
    """F3, then "planar": on a limb, and on a bone without IK; what the menus say that it looks through."""
    yield from open_limb(hand, "RIG", plane="POLE")
    drawn: list[str] = []
    with measured([bpy.types.VIEW3D_MT_planar_ik], lambda layout: drawn.extend([*layout.drawn(), ""])):
        for name in ("shin.L", "hips"):
            select(name)
            yield from hand.to_the_middle()
            yield from hand.key("F3")
            yield from hand.write("planar")
            yield
            hand.picture(name)
            yield from hand.keys("ESC", "ESC")
    drawings = [words.split("|") for words in "|".join(drawn).rstrip("|").split("||")]
    return {"twice": [words for words in drawings if len({*words}) < len(words)], "drawings": drawings}


def removes(hand: Hand) -> Iterator[Any]:
    """Remove from the panel: the leg stands in FK, and nothing is left."""
    open_panels()
    yield from open_leg(hand)
    had, before = sorted(rig().pose.bones.keys()), joints()
    select("shin.L")
    bpy.ops.pose.planar_ik_add(plane="POLE")
    target = rig().pose.bones["foot_ik.L"]
    target.location.z += 0.1
    select("shin.L")
    bpy.ops.ed.undo_push(message="Add")
    yield from hand.open_sidebar()
    yield from scroll(hand)
    yield from pictured(hand, "there")
    moved = away(before, joints())
    yield from press(hand, "Remove")
    yield from pictured(hand, "removed")
    bones = sorted(rig().pose.bones.keys())
    return {
        "moved": moved,
        "fk": away(before, joints()),
        "left": sorted({*bones} - {*had}),
        "properties": [*rig().pose.bones["shin.L"].keys()],
        "constraints": len(rig().pose.bones["shin.L"].constraints),
    }


def presses_the_rest(hand: Hand) -> Iterator[Any]:
    """What else the panel has: Live, Rig and Twist on a leg; FK Bones; Parent Control of its control."""
    open_panels()
    yield from open_limb(hand, "RIG", plane="POLE")
    yield from hand.open_sidebar()
    yield from scroll(hand)
    found: dict[str, Any] = {"kept": []}
    before = joints()
    for label in ("Live", "Rig", "Twist"):
        yield from press(hand, label)
        yield from done(hand)
        found["kept"].append([limb().mode, away(before, joints())])
    yield from hand.keys(*20 * ["WHEELUPMOUSE"])
    yield from press(hand, "FK Bones")
    found["bones"] = selected()
    select("foot_ik.L")
    yield from scroll(hand)
    yield from press(hand, "Parent Control…")
    yield
    hand.picture("parent")
    yield from hand.key("RET")
    yield from done(hand)
    hung = [one for one in rig().pose.bones["foot_ik.L"].constraints if one.type == "CHILD_OF"]
    found["kept"].append(["hung" if hung else "", away(before, joints())])
    return found


def slides_by_the_panel(hand: Hand) -> Iterator[Any]:
    """Slide pressed for two bones that are not connected: they stay."""
    yield from new_file(hand)
    rigs.rig({"a": ((0, 0, 0), (0, -1, 0), ""), "b": ((0, -1, 0), (0, -1.5, 0.8), "a")})
    bpy.ops.object.mode_set(mode="EDIT")
    rig().data.edit_bones["b"].use_connect = False
    bpy.ops.object.mode_set(mode="POSE")
    yield from save_and_open(hand, "slide")
    yield from hand.key("A")
    yield from hand.choose("Add Planar IK")
    yield from done(hand)
    ends = [rigs.evaluated(rig()).pose.bones[name].tail.copy() for name in "ab"]
    select("b")
    yield from hand.open_sidebar()
    yield from press(hand, "Slide")
    yield
    hand.picture("slide")
    now = [rigs.evaluated(rig()).pose.bones[name].tail for name in "ab"]
    return [limb("b").plane, away(ends, now)]
