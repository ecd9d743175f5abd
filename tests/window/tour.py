"""The rest of the thirty tasks that a release is tried by, one function each, as in scenarios.py."""

from __future__ import annotations

from collections.abc import Iterator
from math import radians
from typing import Any

import bpy
from hand import Hand
from leg import away, limb, new_file, open_file, open_leg, open_limb, rig, select
from mathutils import Matrix, Vector

from scripts import installed
from tests.blender import rigs


def open_panels() -> None:
    """Have Tools, Setup and All Limbs be open where they are drawn for the first time."""
    for cls in installed.addon("ui.sections").CLASSES[:3]:
        bpy.utils.unregister_class(cls)
        cls.bl_options = set()
        bpy.utils.register_class(cls)


def pictured(hand: Hand, name: str) -> Iterator[None]:
    """A picture of what there is once all is drawn."""
    hand.sidebar()[1].tag_redraw()
    yield
    yield
    hand.picture(name)


def scroll(hand: Hand) -> Iterator[None]:
    """Have the sidebar show its end."""
    region = hand.sidebar()[1]
    yield from hand.move((region.x + 50, region.y + 50))
    yield from hand.keys(*20 * ["WHEELDOWNMOUSE"])
    yield


def save_and_open(hand: Hand, name: str) -> Iterator[None]:
    """Have a file of what was made, with an undo step of its own, seen from the right."""
    path = str(hand.pictures / f"{name}.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    yield from open_file(hand, path)


def misses(ob: Any) -> dict[str, float]:
    """How far the tips of a rig's limbs are from their targets."""
    now, rows = rigs.evaluated(ob).pose.bones, {}
    for last in [bone for bone in ob.pose.bones if bone.planar_ik.enabled]:
        end = installed.addon("limb.tips").foot_of(last)
        tip = now[end.name].head if end else now[last.name].tail
        rows[last.name] = (tip - now[last.planar_ik.subtarget].head).length
    return rows


def sets_knees(hand: Hand) -> Iterator[Any]:
    """The leg's panel with all of its parts open, at Free, Pole and Hinge; limits of its knee."""
    open_panels()
    yield from open_limb(hand, "RIG", plane="POLE")
    yield from hand.open_sidebar()
    answers: dict[str, Any] = {}
    for plane in ("FREE", "HINGE", "POLE"):
        bpy.ops.pose.planar_ik_set(plane=plane)
        bpy.ops.ed.undo_push(message=plane)
        yield from pictured(hand, plane.lower())
        yield from scroll(hand)
        answers[plane] = [limb().plane, limb().reach, max(misses(rig()).values())]
    limb().max_angle = radians(120.0)
    bpy.context.view_layer.update()
    yield from pictured(hand, "limits")
    answers["limited"] = limb().reach
    return answers


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
    for name in ("stretch", "softness"):
        yield from hand.hover_button(f"bpy.ops.pose.planar_ik_set({name}=False)", 0.3 if name == "softness" else 0.7)
        yield from hand.key("LEFTMOUSE")
        yield
    yield from pictured(hand, "without")
    answers["left"] = [name for name in ("IK Softness", "IK Stretch") if name in rig().pose.bones["shin.L"]]
    return answers


def rolls_a_foot(hand: Hand) -> Iterator[Any]:
    """Foot roll and bank; then a pivot moved in Edit Mode, and Rebuild from the panel."""
    open_panels()
    yield from open_limb(hand, "RIG", plane="POLE")
    bpy.ops.pose.planar_ik_set(foot_roll=True)
    select("shin.L")
    yield from hand.open_sidebar()
    answers: dict[str, Any] = {}
    for angle in (-20.0, 30.0):
        limb().roll = radians(angle)
        bpy.context.view_layer.update()
        now = rigs.evaluated(rig()).pose.bones["foot.L"]
        answers[str(angle)] = [*now.head, *now.tail]
        yield from pictured(hand, f"roll{angle:.0f}")
    limb().roll, limb().bank = 0.0, radians(15.0)
    bpy.context.view_layer.update()
    yield from pictured(hand, "bank")
    limb().bank = 0.0
    helpers = installed.addon("limb.follow").helpers_of(rig().pose.bones["shin.L"])
    heel = helpers[installed.addon("limb.features.roll").HEEL_PIVOT].name
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig().data.edit_bones[heel]
    bone.head.y += 0.05
    bone.tail.y += 0.05
    bpy.ops.object.mode_set(mode="POSE")
    select("shin.L")
    bpy.context.view_layer.update()
    yield from pictured(hand, "moved")
    answers["said"] = limb().message
    bpy.ops.pose.planar_ik_rebuild()
    limb().roll = radians(-20.0)
    bpy.context.view_layer.update()
    yield from pictured(hand, "rebuilt")
    now = rigs.evaluated(rig()).pose.bones["foot.L"]
    answers["rebuilt"] = [*now.head, *now.tail]
    return answers


def turns_a_foot(hand: Hand) -> Iterator[Any]:
    """The knee of a leg whose foot is turned by 40 degrees, with Pole Follow where Add leaves it, at 0 and at 1."""
    yield from open_leg(hand)
    select("shin.L")
    bpy.ops.pose.planar_ik_add(plane="POLE")
    target = rig().pose.bones["foot_ik.L"]
    target.location = target.location + target.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, 0.1))
    bpy.context.view_layer.update()
    before = knee_turn()
    target.matrix = (
        target.matrix
        @ target.matrix.to_3x3().inverted().to_4x4()
        @ Matrix.Rotation(radians(40.0), 4, "Z")
        @ target.matrix.to_3x3().to_4x4()
    )
    answers: dict[str, Any] = {}
    yield from hand.open_sidebar()
    for name in ("foot_ik.L", "shin.L"):
        select(name)
        bpy.context.view_layer.update()
        yield from pictured(hand, name)
    answers["half"] = knee_turn() - before
    answers["slider"] = rig().pose.bones["shin.L"].get("IK Pole Follow")
    for share in (0.0, 1.0):
        rig().pose.bones["shin.L"]["IK Pole Follow"] = share
        rig().update_tag(refresh={"DATA"})
        bpy.context.view_layer.update()
        answers[f"slider {share:.0f}"] = knee_turn() - before
    yield from pictured(hand, "followed")
    return answers


def knee_turn() -> float:
    """Which way the knee is off the line from hip to foot, seen from above, in degrees."""
    now = rigs.evaluated(rig()).pose.bones
    hip, knee, tip = (now[name].head for name in ("thigh.L", "shin.L", "foot.L"))
    line = (tip - hip).normalized()
    off = (knee - hip) - (knee - hip).project(line)
    return float(Vector((0.0, -1.0)).angle_signed(off.xy, 0.0) * 180.0 / 3.141592653589793)


def limbs() -> list[str]:
    """The last bones of the rig's limbs."""
    return sorted(bone.name for bone in rig().pose.bones if bone.planar_ik.enabled)


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
    yield from hand.hover_button("bpy.ops.pose.planar_ik_mirror()", 0.3)
    yield from hand.key("LEFTMOUSE")
    yield
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
    before = [[*rigs.evaluated(rig()).pose.bones[name].head] for name in ("thigh.L", "shin.L", "foot.L")]
    select("hips")
    yield from hand.to_the_middle()
    yield from hand.choose("Solve Exactly")
    yield
    searched = limb().enabled
    yield from hand.key("Z", ctrl=True)
    select("shin.L")
    yield from hand.open_sidebar()
    yield from pictured(hand, "offer")
    yield from hand.hover_button("bpy.ops.pose.planar_ik_convert(which='SELECTED')", 0.5)
    yield from hand.key("LEFTMOUSE")
    yield
    yield from pictured(hand, "solved")

    def joints() -> list[list[float]]:
        return [[*rigs.evaluated(rig()).pose.bones[name].head] for name in ("thigh.L", "shin.L", "foot.L")]

    answers: dict[str, Any] = {"searched": searched, "solved": [limb().enabled, away(before, joints())]}
    yield from scroll(hand)
    yield from hand.hover_button("bpy.ops.pose.planar_ik_unconvert()", 0.5)
    yield from hand.key("LEFTMOUSE")
    yield
    yield from pictured(hand, "back")
    constraint = rig().pose.bones["shin.L"].constraints[0]
    answers["back"] = [limb().enabled, constraint.mute, away(before, joints())]
    return answers


def searches(hand: Hand) -> Iterator[Any]:
    """F3, then "planar": on a limb, and on a bone without IK."""
    yield from open_limb(hand, "RIG", plane="POLE")
    for name in ("shin.L", "hips"):
        select(name)
        yield from hand.to_the_middle()
        yield from hand.key("F3")
        yield from hand.write("planar")
        yield
        hand.picture(name)
        yield from hand.keys("ESC", "ESC")
    return {}


def removes(hand: Hand) -> Iterator[Any]:
    """Remove from the panel: the leg stands in FK, and nothing is left."""
    open_panels()
    yield from open_leg(hand)
    had = sorted(rig().pose.bones.keys())
    select("shin.L")
    bpy.ops.pose.planar_ik_add(plane="POLE")
    select("shin.L")
    bpy.ops.ed.undo_push(message="Add")
    yield from hand.open_sidebar()
    yield from scroll(hand)
    yield from pictured(hand, "there")
    yield from hand.hover_button("bpy.ops.pose.planar_ik_remove()", 0.5)
    yield from hand.key("LEFTMOUSE")
    yield
    yield from pictured(hand, "removed")
    bones = sorted(rig().pose.bones.keys())
    return {
        "left": sorted({*bones} - {*had}),
        "properties": [*rig().pose.bones["shin.L"].keys()],
        "constraints": len(rig().pose.bones["shin.L"].constraints),
    }
