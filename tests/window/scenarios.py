"""What a person does to set up and pose a limb, one function each. They run inside Blender and return what a test can
judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
from hand import Hand
from leg import (
    away,
    done,
    in_view,
    joints,
    keys,
    limb,
    missed,
    on_bone,
    open_leg,
    open_limb,
    rig,
    select,
    selected,
    until,
    value,
)
from mathutils import Vector

from scripts import installed
from tests.blender import rigs


def adds_and_drags(hand: Hand) -> Iterator[Any]:
    """Click a shin, add IK from the menu, drag its target with G, undo and redo it all, flip it from the search."""
    yield from open_leg(hand)
    yield from hand.click(on_bone(hand, "shin.L"))
    found: dict[str, Any] = {"clicked": bpy.context.active_pose_bone.name, "before": joints()}
    with bpy.context.temp_override(**in_view(hand)):
        bpy.ops.wm.call_menu(name="VIEW3D_MT_pose_ik")
    yield
    yield from hand.keys("HOME", "DOWN_ARROW", "DOWN_ARROW", "RIGHT_ARROW")  # after Blender's two comes our submenu
    yield
    hand.picture("menu")
    yield from hand.key("RET")
    yield from until(lambda: limb().enabled)
    yield from done(hand)
    found |= {"added": joints(), "mode": bpy.context.mode, "selected": selected(), "message": limb().message}
    yield from hand.move(on_bone(hand, "foot_ik.L"))
    misses = []
    x, y = hand.mouse
    yield from hand.key("G")
    for step in range(1, 9):
        yield from hand.move((x - 12 * step, y + 9 * step))
        misses.append(missed())
    hand.picture("dragged")
    yield from hand.key("LEFTMOUSE")
    found |= {"misses": misses, "dragged": joints()}
    yield from hand.key("Z", ctrl=True)
    found["undone"] = joints()
    yield from hand.key("Z", ctrl=True)
    found |= {"removed": joints(), "bones": sorted(rig().pose.bones.keys())}
    for _ in range(2):
        yield from hand.key("Z", ctrl=True, shift=True)
    found["redone"] = joints()
    yield from hand.to_the_middle()
    yield from hand.choose("Flip Knee")
    found["flipped"] = joints()
    return found


def adjusts_the_last_operation(hand: Hand) -> Iterator[Any]:
    """Add, and change the settings that are shown bottom left: to the other side, another plane, and live."""
    yield from open_leg(hand)
    yield from hand.click(on_bone(hand, "shin.L"))
    yield from hand.choose("Add Planar IK")
    found: dict[str, Any] = {"before": joints()}
    for name, chosen in (("bends", "OTHER"), ("plane", "FREE"), ("mode", "LIVE")):
        yield from hand.adjust(name, chosen)
        of = limb()
        found[name] = [of.flip, of.plane, of.mode, of.reach, joints()]
    yield from hand.adjust("ends_at", "2")
    again = bpy.context.window_manager.operators[-1].properties
    found["refused"] = [again.ends_at, bool(again.why), limb("foot.L").mode, limb("foot.L").reach, joints()]
    hand.picture("refused")
    yield from hand.to_the_middle()
    yield from hand.key("Z", ctrl=True)
    found["undone"] = sorted(rig().pose.bones.keys())
    yield from hand.click(on_bone(hand, "shin.L"))
    yield from hand.choose("Add Planar IK")
    again = bpy.context.window_manager.operators[-1].properties
    found["again"] = [again.bends, again.plane, limb().plane]
    return found


def begins_as_preferred(hand: Hand) -> Iterator[Any]:
    """Set Free in the preferences; then Add from the search."""
    yield from open_leg(hand)
    yield from hand.click(on_bone(hand, "shin.L"))
    preferences = bpy.context.preferences.addons[installed.MODULE].preferences
    preferences.plane = "FREE"
    try:
        yield from hand.choose("Add Planar IK")
    finally:
        preferences.property_unset("plane")
    of = limb()
    keys = bpy.context.window_manager.keyconfigs.user.keymaps["Pose"].keymap_items
    found = {"added": [of.plane, of.reach]}
    found["key"] = [item.type for item in keys if item.idname == "pose.planar_ik_pie"]
    with bpy.context.temp_override(window=hand.window):
        bpy.ops.screen.userpref_show(section="ADDONS")
    yield
    bpy.ops.preferences.addon_show(module=installed.MODULE)
    for _ in range(4):
        yield
    hand.picture("preferences")
    other = bpy.context.window_manager.windows[-1]
    if other != hand.window:
        with bpy.context.temp_override(window=other):
            bpy.ops.wm.window_close()
    yield
    return found


def keeps_an_unkeyed_pose(hand: Hand) -> Iterator[Any]:
    """A leg with keys is posed without a key: adding, changing the mode and removing leave that as it is."""
    yield from open_leg(hand)
    thigh = rig().pose.bones["thigh.L"]
    thigh.keyframe_insert("rotation_quaternion", frame=1)
    thigh.rotation_quaternion = (0.97, 0.24, 0.0, 0.0)
    bpy.ops.ed.undo_push(message="Pose")
    yield from hand.click(on_bone(hand, "shin.L"))
    found = {"before": joints()}
    for name in ("Add Planar IK", "Make Live", "Put on the Rig", "Rebuild", "Remove Planar IK"):
        yield from hand.to_the_middle()
        yield from hand.choose(name)
        yield
        found[name] = joints()
    return found


def drags_the_sliders(hand: Hand, mode: str) -> Iterator[Any]:
    """Drag every slider in the panel; then I over Influence, a drag with Auto Keying on another frame, and undo."""
    yield from open_limb(hand, mode, features=True)
    yield from hand.open_sidebar()
    found: dict[str, Any] = {}
    for name, by in (("IK Influence", -40), ("IK Swivel", 40), ("IK Softness", 120)):
        before = value(name), joints()
        yield from hand.hover(name)
        yield from hand.drag(by)
        yield
        found[name] = {"values": [before[0], value(name)], "moved": away(before[1], joints())}
        yield from hand.key("Z", ctrl=True)
        yield
        found[name] |= {"undone": value(name), "back": away(before[1], joints())}
    yield from hand.hover("IK Influence")
    yield from hand.key("I")
    found["keyed"] = keys("IK Influence")
    hand.picture("keyed")
    bpy.context.scene.frame_set(20)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    yield from hand.hover("IK Influence")
    yield from hand.drag(-40)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    found["autokeyed"] = keys("IK Influence")
    bpy.context.scene.frame_set(1)
    found["at_1"] = value("IK Influence")
    bpy.context.scene.frame_set(20)
    yield from hand.hover("IK Swivel")
    yield from hand.click((hand.sidebar()[1].x + DOT, hand.mouse[1]))
    found["dotted"] = keys("IK Swivel")
    yield from hand.hover("IK Influence")
    yield from hand.key("C", shift=True, ctrl=True, alt=True)
    found["path"] = bpy.context.window_manager.clipboard
    yield from hand.hover("IK Softness")
    yield from hand.key("D", ctrl=True)
    yield
    hand.picture("driver")
    yield from hand.key("ESC")
    found["driven"] = [curve.data_path for curve in rig().animation_data.drivers if "Softness" in curve.data_path]
    return found


DOT = 172
"""Pixels from the sidebar's edge to the dot of Swivel."""

ANGLES = ("IK Swivel", "IK Roll", "IK Bank")


def drags_angles(hand: Hand) -> Iterator[Any]:
    """Drag a rotation of Blender's own, then each angle of the panel, as far."""
    yield from open_limb(hand, "RIG", plane="POLE")
    bpy.ops.pose.planar_ik_set(foot_roll=True)
    select("shin.L")
    shin = rig().pose.bones["shin.L"]
    shin.rotation_mode = "XYZ"
    yield from hand.open_sidebar()
    found = {}
    for name in ("rotation_euler", *ANGLES):
        yield from hand.hover(name, 0.3 if name != "IK Bank" else 0.7)
        before = angle_of(shin, name)
        yield from hand.drag(60)
        yield
        found[name] = angle_of(shin, name) - before
    hand.picture("angles")
    return found


def angle_of(bone: Any, name: str) -> float:
    """A rotation about whichever axis was dragged, or a custom property."""
    return sum(bone.rotation_euler) if name == "rotation_euler" else bone[name]


def drags_sliders_of_the_rig(hand: Hand) -> Iterator[Any]:
    """With a mechanism."""
    return drags_the_sliders(hand, "RIG")


def drags_sliders_of_live(hand: Hand) -> Iterator[Any]:
    """Without one."""
    return drags_the_sliders(hand, "LIVE")


def tells_while_dragging(hand: Hand) -> Iterator[Any]:
    """Drag a target out of reach and back with the sidebar open and the mouse in the view: what the panel says."""
    found: dict[str, Any] = {}
    panel, said = installed.addon("ui.panel"), []
    given = panel.draw_state

    def draw_state(layout: Any, context: Any, last: Any, status: Any) -> None:
        said.append(status.reach.name)
        given(layout, context, last, status)

    panel.draw_state = draw_state
    try:
        for mode in ("RIG", "LIVE"):
            yield from open_limb(hand, mode)
            yield from hand.open_sidebar()
            select(limb().subtarget)
            yield from hand.move(on_bone(hand, limb().subtarget))
            x, y = hand.mouse
            yield from hand.key("G")
            states = found[mode] = []
            for by in (-10, -450, -20):
                said.clear()
                yield from hand.move((x + by, y))
                yield
                states.append([said[-1] if said else "", limb().reach])
            hand.picture(mode)
            yield from hand.key("ESC")
    finally:
        panel.draw_state = given
    return found


def renames_and_symmetrizes(hand: Hand) -> Iterator[Any]:
    """Rename the target, and symmetrize the leg with all that is on it, undo and redo what was rebuilt; then move both
    targets."""
    yield from open_limb(hand, "RIG", plane="POLE")
    found: dict[str, Any] = {"before": joints()}
    rig().data.bones[limb().subtarget].name = "IK foot.L"
    rig().data.bones[limb().pole_subtarget].name = "IK knee.L"
    bpy.context.view_layer.update()
    found |= {"renamed": [limb().subtarget, limb().pole_subtarget, limb().reach], "after": joints()}
    yield from hand.keys("TAB", "A")
    yield from hand.choose("Symmetrize")
    yield from hand.to_the_middle()
    yield from hand.key("TAB")
    found["without"] = []
    for held in ({}, {"shift": True}):
        yield from hand.key("Z", ctrl=True, **held)
        found["without"].append(limb("shin.R").reach)
    other = limb("shin.R")
    found["other"] = [other.enabled, other.subtarget, other.pole_subtarget, other.mode, other.reach]
    select("shin.R")
    yield from hand.open_sidebar()
    hand.picture("symmetrized")
    for name in ("IK foot", "IK knee"):
        one, other = (rig().pose.bones[f"{name}.{side}"] for side in "LR")
        one.location.y += 0.05
        other.location = one.location * Vector((-1, 1, 1))
    bpy.context.view_layer.update()
    yield
    found["reach"] = [limb(name).reach for name in ("shin.L", "shin.R")]
    now = rigs.evaluated(rig()).pose.bones
    found["mirrored"] = (now["shin.L"].head - Vector((-1, 1, 1)) * now["shin.R"].head).length
    return found


def edits_bones_and_rebuilds(hand: Hand) -> Iterator[Any]:
    """Move the knee in Edit Mode, and leave that."""
    yield from open_limb(hand, "RIG")
    yield from hand.open_sidebar()
    found: dict[str, Any] = {}
    yield from hand.to_the_middle()
    yield from hand.key("TAB")
    rig().data.edit_bones["shin.L"].head.y -= 0.1
    yield from hand.key("TAB")
    yield
    found["left"] = [limb().reach, missed()]
    hand.picture("edited")
    return found
