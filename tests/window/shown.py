"""What the panel shows and offers, one function each, as in scenarios.py."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import bpy
from hand import Hand
from leg import (
    animate,
    away,
    done,
    keyed,
    limb,
    misses,
    motion,
    new_file,
    on_bone,
    open_file,
    open_limb,
    rig,
    select,
    selected,
)
from mathutils import Vector

from scripts import installed
from tests.blender import rigs

BOOM = {
    "Bone": ((0, 0, 0), (0, -0.6, 0.8), ""),
    "Bone.001": ((0, -0.6, 0.8), (0, -1.4, 0.6), "Bone"),
    "Bone.002": ((0, -1.4, 0.6), (0, -1.7, 0.1), "Bone.001"),
}
"""An excavator's, as somebody extrudes it from the cursor."""


def offers_all_limbs(hand: Hand) -> Iterator[Any]:
    """Select all bones of a biped with A, press what the panel offers; then look at one limb of each kind."""
    yield from new_file(hand)
    rigs.biped()
    path = str(hand.pictures / "biped.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    yield from open_file(hand, path)
    yield from hand.to_the_middle()
    yield from hand.key("A")
    yield from hand.open_sidebar()
    before = {bone.name: bone.matrix.copy() for bone in rigs.evaluated(rig()).pose.bones}
    yield from hand.hover_button("bpy.ops.pose.planar_ik_add()", 0.5)
    hand.picture("offer")
    yield from hand.key("LEFTMOUSE")
    yield from done(hand)
    now = rigs.evaluated(rig()).pose.bones
    found: dict[str, Any] = {"moved": max(rigs.apart(before[name], now[name].matrix) for name in before)}
    found["selected"] = selected()
    shown = installed.addon("ui.finding").limbs_active_first
    found["shown"] = sorted(last.name for last in shown(bpy.context))
    hand.picture("several")
    titles = installed.addon("ui.state")
    found["joints"] = {}
    for name in ("hand_ik.L", "foot_ik.L"):
        select(name)
        yield
        hand.picture(name)
        found["joints"][name] = titles.joint_label(shown(bpy.context)[0])
    return found


def shows_a_hidden_target(hand: Hand) -> Iterator[Any]:
    """Press Target where the collection of controls is hidden."""
    yield from open_limb(hand, "RIG", plane="POLE")
    yield from hand.open_sidebar()
    rig().data.collections_all["IK Controls"].is_visible = False
    select("shin.L")
    yield
    yield from hand.hover_button("bpy.ops.pose.planar_ik_select(role='TARGET')", 0.2)
    yield from hand.key("LEFTMOUSE")
    yield
    yield
    hand.picture("target")
    return {"selected": selected(), "visible": rig().data.collections_all["IK Controls"].is_visible}


def asks_for_a_range(hand: Hand) -> Iterator[Any]:
    """Hold where nothing says a range: a dialog, which Esc closes; then with a preview range."""
    yield from open_limb(hand, "RIG", plane="POLE")
    animate()
    yield from hand.to_the_middle()
    before = keyed()
    yield from hand.choose("Hold")
    yield
    hand.picture("dialog")
    found = {"asked": keyed() == before}
    yield from hand.key("ESC")
    found["cancelled"] = keyed() == before
    scene = bpy.context.scene
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 5, 9
    yield from hand.to_the_middle()
    yield from hand.choose("Hold")
    yield
    found["held"] = keyed() != before
    tips = [frame[2] for frame in motion()]
    found["away"] = [away([one], [tips[6]]) for one in tips]
    return found


def adds_to_a_boom(hand: Hand) -> Iterator[Any]:
    """An excavator's three extruded bones: click the last but one, add from the search, drag the target."""
    yield from new_file(hand)
    rigs.rig(BOOM)
    path = str(hand.pictures / "boom.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    yield from open_file(hand, path)
    yield from hand.click(on_bone(hand, "Bone.001"))
    before = [rigs.evaluated(rig()).pose.bones[name].head.copy() for name in BOOM]
    yield from hand.choose("Add Planar IK")
    yield
    hand.picture("added")
    now = [rigs.evaluated(rig()).pose.bones[name].head.copy() for name in BOOM]
    of = limb("Bone.001")
    target = rig().pose.bones[of.subtarget]
    found = {"moved": away(before, now), "selected": selected(), "parent": target.parent and target.parent.name}
    yield from hand.move(on_bone(hand, of.subtarget))
    x, y = hand.mouse
    yield from hand.key("G")
    yield from hand.move((x + 40, y + 20))
    yield from hand.key("LEFTMOUSE")
    yield
    posed = rigs.evaluated(rig()).pose.bones
    found["missed"] = (posed["Bone.002"].head - posed[of.subtarget].head).length
    found["dragged"] = (posed["Bone.002"].head - Vector(now[2])).length
    return found


def greys_what_the_library_has(hand: Hand) -> Iterator[Any]:
    """A biped's rig linked and overridden: what changes it is grey; a foot is moved by G, keyed by I and mirrored."""
    yield from new_file(hand)
    rigs.biped()
    select("shin.L", "shin.R")
    bpy.ops.pose.planar_ik_add(plane="POLE")
    from tests.blender import libraries  # of this file's folder only while it runs in Blender

    path = libraries.saved(rig(), hand.pictures)
    (ob,) = libraries.overridden(path)
    yield
    rigs.activate(ob)
    shot = str(hand.pictures / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    yield from open_file(hand, shot)
    select("foot_ik.L")
    yield from hand.open_sidebar()
    yield
    hand.picture("override")
    can = {name: getattr(bpy.ops.pose, f"planar_ik_{name}").poll() for name in ("remove", "set", "switch", "mirror")}
    before = rigs.evaluated(rig()).pose.bones["foot.L"].head.copy()
    yield from hand.to_the_middle()
    yield from hand.key("G")
    yield from hand.move((hand.mouse[0] - 20, hand.mouse[1] + 30))
    yield from hand.key("LEFTMOUSE")
    yield from hand.key("I")
    yield from hand.choose("Mirror Planar IK")
    yield
    ends = [rigs.evaluated(rig()).pose.bones[f"foot.{side}"].head for side in "LR"]
    answers = {"can": can, "posed": (ends[0] - before).length, "keyed": len(keyed()) > 0}
    return answers | {"mirrored": (ends[0] - ends[1] * Vector((-1, 1, 1))).length, "missed": misses(rig())}


def asks_for_help(hand: Hand) -> Iterator[Any]:
    """Press F1 over a slider and over a button: the addresses that go to the browser, and whether they are there."""
    yield from open_limb(hand, "RIG")
    yield from hand.open_sidebar()
    asked: list[str] = []
    browser, webbrowser.open = webbrowser.open, asked.append
    try:
        yield from hand.hover("IK Influence")
        yield from hand.key("F1")
        yield from hand.hover_button("bpy.ops.pose.planar_ik_switch()")
        yield from hand.key("F1")
        yield
    finally:
        webbrowser.open = browser
    pages = [Path(url2pathname(urlsplit(address).path)) for address in asked]
    return {"asked": [address.rpartition("/")[2] for address in asked], "there": [page.is_file() for page in pages]}
