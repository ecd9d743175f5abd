"""What a person does with limbs that are there, one function each, as in scenarios.py."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import bpy
from hand import Hand
from leg import (
    animate,
    away,
    curves,
    done,
    everything,
    goes_on,
    in_view,
    joints,
    keyed,
    limb,
    missed,
    motion,
    open_file,
    open_leg,
    open_limb,
    pixels,
    rig,
    select,
    selected,
    until,
    value,
)

from scripts import installed
from tests.blender import rigs


def picks_by_the_search(hand: Hand) -> Iterator[Any]:
    """Take the target away, press Make a Target in the panel; then pick an object in the search."""
    yield from open_limb(hand, "RIG")
    yield from hand.open_sidebar()
    other = bpy.data.objects.new("somewhere", None)
    other.location = (0.1, -0.1, 0.25)
    bpy.context.scene.collection.objects.link(other)
    before = joints()
    limb().target = None
    bpy.ops.ed.undo_push(message="Unset the target")
    select("shin.L")
    yield
    hand.picture("no-target")
    found: dict[str, Any] = {"without": limb().reach}
    yield from hand.hover_button("bpy.ops.pose.planar_ik_repair(repair='TARGET')", 0.5)
    yield from hand.key("LEFTMOUSE")
    yield
    found["made"] = [limb().reach, limb().subtarget]
    select("shin.L")
    limb().target = None
    bpy.ops.ed.undo_push(message="Unset the target")
    yield
    yield from hand.hover_button("bpy.ops.pose.planar_ik_pick(role='TARGET')", 0.5)
    yield from hand.key("LEFTMOUSE")
    yield from hand.write("somew")
    yield
    hand.picture("search")
    yield from hand.key("RET")
    yield
    yield
    found["picked"] = [limb().reach, limb().target.name if limb().target else "", missed()]
    yield from hand.key("Z", ctrl=True)
    found["undone"] = limb().target is None
    found["moved"] = away(before, joints())
    return found


def switches_with_keys(hand: Hand) -> Iterator[Any]:
    """Switch to FK from the search with Auto Keying on a later frame, and undo it."""
    yield from open_limb(hand, "RIG")
    bpy.context.scene.frame_set(10)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    yield from hand.to_the_middle()
    before = joints()
    yield from hand.choose("Switch FK/IK")
    yield
    found: dict[str, Any] = {
        "moved": away(before, joints()),
        "influence": value("IK Influence"),
        "selected": selected(),
    }
    for frame in (9, 10, 30):
        bpy.context.scene.frame_set(frame)
        found[str(frame)] = [value("IK Influence"), away(before, joints())]
    bpy.context.scene.frame_set(10)
    yield from hand.key("Z", ctrl=True)
    yield
    found["undone"] = [value("IK Influence"), away(before, joints())]
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    return found


def switches_between_keys(hand: Hand) -> Iterator[Any]:
    """With Auto Keying, switch a leg to FK and some frames later back to IK, between keys that its target has."""
    yield from open_limb(hand, "RIG")
    animate()
    before = motion()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    for frame in (10, 15):
        bpy.context.scene.frame_set(frame)
        yield from hand.to_the_middle()
        yield from hand.choose("Switch FK/IK")
        yield
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    hand.picture("back")
    after = motion()
    return {
        "kept": max(away(before[i], after[i]) for i in (*range(10), *range(19, 40))),
        "steps": [max(away(*pair) for pair in pairwise(frames)) for frames in (before, after)],
        "influence": [value_at(frame) for frame in (9, 10, 14, 15, 30)],
    }


def value_at(frame: int) -> Any:
    """The influence in a frame."""
    bpy.context.scene.frame_set(frame)
    return value("IK Influence")


def lives_without_the_extension(hand: Hand) -> Iterator[Any]:
    """Save a leg on the rig, open it without the extension, key IK Influence there, save; open it with it again."""
    yield from open_limb(hand, "RIG")
    path = str(hand.pictures / "leg.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    before = joints()
    installed.disable()
    yield
    found: dict[str, Any] = {}
    try:
        yield from open_file(hand, path)
        found["without"] = away(before, joints())
        select("foot_ik.L")
        yield from hand.open_sidebar()
        yield
        hand.picture("without")
        rig().pose.bones["shin.L"].keyframe_insert('["IK Influence"]', frame=1)
        rig().pose.bones["shin.L"]["IK Influence"] = 0.0
        rig().pose.bones["shin.L"].keyframe_insert('["IK Influence"]', frame=11)
        bpy.context.scene.frame_set(11)
        fk = joints()
        target = rig().pose.bones["foot_ik.L"]
        bpy.context.scene.frame_set(1)
        target.location.y += 0.05
        bpy.context.view_layer.update()
        found |= {"fk": away(before, fk), "dragged": away(before, joints())}
        bpy.ops.wm.save_as_mainfile(filepath=path)
    finally:
        installed.enable()
        yield
    yield from open_file(hand, path)
    found["back"] = [limb().reach, missed()]
    yield from hand.open_sidebar()
    yield
    hand.picture("with")
    return found


def enables_the_extension_again(hand: Hand) -> Iterator[Any]:
    """Switch the extension off and on again while a live limb is bent; how far its tip is from the target each time."""
    yield from open_limb(hand, "LIVE")
    target = rigs.evaluated(rig()).pose.bones["foot_ik.L"].head.copy()
    misses = []
    for step in (lambda: None, installed.disable, installed.enable):
        step()
        for _ in range(4):
            yield
        misses.append((rigs.evaluated(rig()).pose.bones["foot.L"].head - target).length)
    return {"misses": misses}


def bakes_from_the_dialog(hand: Hand) -> Iterator[Any]:
    """Bake from the search and the dialog that opens; undo and redo."""
    yield from open_limb(hand, "RIG")
    animate()
    bpy.ops.ed.undo_push(message="Animate")
    before, had = motion(), sorted(keyed())
    yield from hand.to_the_middle()
    yield from hand.choose("Bake Planar IK")
    yield
    hand.picture("dialog")
    found: dict[str, Any] = {"asking": sorted(keyed()) == had}
    yield from hand.key("RET")
    yield from until(lambda: value("IK Influence") == 0.0)
    yield
    hand.picture("baked")
    found |= {"moved": max(map(away, before, motion())), "keyed": keyed()}
    found["last"] = max(curve.keyframe_points[-1].co.x for curve in curves())
    yield from hand.key("Z", ctrl=True)
    yield
    found |= {"undone": sorted(keyed()) == had, "influence": value("IK Influence")}
    yield from hand.key("Z", ctrl=True, shift=True)
    yield
    found["redone"] = max(map(away, before, motion()))
    return found


def cancels_a_bake(hand: Hand) -> Iterator[Any]:
    """Press Esc in the dialog; then bake so much that it takes long, and press Esc in the middle of it."""
    yield from open_limb(hand, "LIVE")
    animate()
    rig().pose.bones["foot_ik.L"].keyframe_insert("location", frame=200_000)
    bpy.context.scene.frame_set(7)
    bpy.ops.ed.undo_push(message="Animate")
    before = everything()
    yield from hand.to_the_middle()
    yield from hand.choose("Bake Planar IK")
    yield from hand.key("ESC")
    found: dict[str, Any] = {"after_the_dialog": everything() == before}
    yield from hand.to_the_middle()
    yield from hand.choose("Bake Planar IK")
    yield from hand.key("RET")
    for _ in range(6):
        yield
    hand.picture("progress")
    found["ran"] = goes_on(hand, "bake")
    yield from hand.key("ESC")
    yield from until(lambda: not goes_on(hand, "bake"))
    yield
    found["after"] = everything() == before
    return found


def cancels_a_snap(hand: Hand) -> Iterator[Any]:
    """Snap so many frames that it takes long, and press Esc in the middle of it."""
    yield from open_limb(hand, "RIG")
    animate()
    bpy.context.scene.frame_set(7)
    bpy.ops.ed.undo_push(message="Animate")
    before = everything()
    yield from hand.to_the_middle()
    with bpy.context.temp_override(**in_view(hand)):
        bpy.ops.pose.planar_ik_snap_target("INVOKE_DEFAULT", use_range=True, frame_start=1, frame_end=200_000)
    yield from hand.key("RET")
    for _ in range(6):
        yield
    hand.picture("snapping")
    found = {"ran": goes_on(hand, "snap_target")}
    yield from hand.key("ESC")
    yield from until(lambda: not goes_on(hand, "snap_target"))
    yield
    found["after"] = everything() == before
    return found


def shows_the_panel_last(hand: Hand) -> Iterator[Any]:
    """With a rig that Rigify generated: nothing on its bones; the panel of a plain one offers limbs or says why not."""
    bpy.ops.preferences.addon_enable(module="rigify")
    yield from open_leg(hand)
    yield from hand.open_sidebar()
    shown, offer = bpy.types.VIEW3D_PT_planar_ik.poll, installed.addon("ui.panel").offer_of
    found: dict[str, Any] = {}
    for name in ("root", "hips", "thigh.L", "shin.L", "foot.L"):
        select(name)
        found[name] = [shown(bpy.context), offer(bpy.context)]
        yield
        yield
        hand.picture(name)
    bpy.ops.pose.planar_ik_add()
    select("shin.L")
    yield from hand.move((hand.sidebar()[1].x + 50, hand.sidebar()[1].y + 50))
    yield from hand.keys(*8 * ["WHEELDOWNMOUSE"])
    yield
    hand.picture("added")
    bpy.ops.object.mode_set(mode="OBJECT")
    return found | (yield from solves_rigify(hand))


def solves_rigify(hand: Hand) -> Iterator[Any]:
    """On which bones of a rig that Rigify generated the panel is; Add there, which offers Solve Exactly; then a foot of
    its is lifted."""
    shown, found = bpy.types.VIEW3D_PT_planar_ik.poll, dict[str, Any]()
    bpy.ops.object.armature_basic_human_metarig_add()
    bpy.ops.pose.rigify_generate()
    generated = bpy.context.object
    rigs.activate(generated)
    found["generated"] = []
    bpy.ops.pose.select_all(action="DESELECT")
    for bone in generated.pose.bones:
        rigs.select(bone)
        generated.data.bones.active = bone.bone
        found["generated"] += [bone.name] if shown(bpy.context) else []
        rigs.select(bone, False)
    yield
    hand.picture("generated")
    bpy.ops.pose.select_all(action="DESELECT")
    rigs.select(generated.pose.bones["shin_fk.L"])
    generated.data.bones.active = generated.data.bones["shin_fk.L"]
    deforming = [bone.name for bone in generated.pose.bones if bone.bone.use_deform]
    before = {name: rigs.evaluated(generated).pose.bones[name].matrix.copy() for name in deforming}
    yield from hand.choose("Add Planar IK")
    hand.picture("asks")
    found["asked"] = not generated.pose.bones["shin_fk.L"].planar_ik.enabled
    yield from hand.key("RET")
    yield from until(lambda: any(bone.planar_ik.enabled for bone in generated.pose.bones))
    yield from done(hand)
    found["solved"] = [bone.name for bone in generated.pose.bones if bone.planar_ik.enabled]
    now = rigs.evaluated(generated).pose.bones
    found["moved"] = max(rigs.apart(before[name], now[name].matrix) for name in deforming)
    foot = generated.pose.bones["foot_ik.L"]
    foot.location.z += 0.1
    bpy.context.view_layer.update()
    heads = [rigs.evaluated(generated).pose.bones[f"{part}foot.L"].head for part in ("DEF-", "ORG-")]
    found["shown"] = max(abs((head - before["DEF-foot.L"].translation).length - 0.1) for head in heads)
    return found


def shows_the_overlay(hand: Hand) -> Iterator[Any]:
    """What the picture shows with the overlay and without it, on target and out of reach."""
    yield from open_limb(hand, "RIG")
    select("foot_ik.L")
    found = {}
    for name, by in (("near", 0.0), ("far", 0.9)):
        rig().pose.bones["foot_ik.L"].location.y += by
        bpy.context.view_layer.update()
        pictures = []
        for is_on in (True, False):
            bpy.context.scene.planar_ik_overlay.shows_limbs = is_on
            hand.view()[0].tag_redraw()
            yield
            yield
            pictures.append(pixels(str(hand.picture(f"{name}-{is_on}", hand.place_of_view()))))
        found[name] = int((abs(pictures[0] - pictures[1]) > 0.05).sum())
    bpy.context.scene.planar_ik_overlay.shows_limbs = True
    return found


def opens_the_pie(hand: Hand) -> Iterator[Any]:
    """The pie menu by a key that the preferences give it, and Switch, which is below the mouse there; twice."""
    yield from open_limb(hand, "RIG")
    keys = bpy.context.window_manager.keyconfigs.user.keymaps["Pose"].keymap_items
    (item,) = (item for item in keys if item.idname == "pose.planar_ik_pie")
    item.type, before, found = "F7", joints(), []
    try:
        for _ in range(2):
            yield from hand.to_the_middle()
            yield from hand.key("F7")
            yield
            yield from hand.move((hand.mouse[0], hand.mouse[1] - 90))
            hand.picture("pie")
            yield from hand.key("LEFTMOUSE")
            yield from done(hand)
            found.append([value("IK Influence"), away(before, joints())])
    finally:
        item.type = "NONE"
    return {"switched": found}
