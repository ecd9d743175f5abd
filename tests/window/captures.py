"""What is done with a capture, one function each, as in scenarios.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
from hand import Hand
from labels import press
from leg import (
    done,
    everything,
    goes_on,
    limbs,
    new_file,
    open_panels,
    pictured,
    rig,
    save_and_open,
    scroll,
    select,
    selected,
)

from tests.blender import rigs, walk


def timeline_pictured(hand: Hand, name: str) -> Iterator[None]:
    """A picture of the markers, in a dope sheet in place of the view."""
    area, _ = hand.view()
    area.ui_type = "DOPESHEET"
    space = area.spaces.active
    space.show_region_ui = space.show_region_channels = False
    yield
    yield
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 12, 30  # a stride, so near that whole words stand between the markers
    with bpy.context.temp_override(window=hand.window, area=area, region=area.regions[-1]):
        bpy.ops.anim.scene_range_frame()
    scene.frame_start, scene.frame_end = 1, walk.FRAMES
    yield
    yield
    hand.picture(name)
    area.ui_type = "VIEW_3D"
    yield


def open_capture(hand: Hand) -> Iterator[None]:
    """A capture in FK, whose feet drift, with all bones selected."""
    yield from new_file(hand)
    walk.spoil(walk.build())
    bpy.data.objects["Walker"].name = "rig"
    yield from save_and_open(hand, "capture")
    yield from hand.to_the_middle()
    yield from hand.key("A")
    yield from hand.open_sidebar()


def slid() -> float:
    """How far a foot that stands is from where it stood in another frame, at most, two frames off the walk's steps."""
    shown, heads = bpy.context.scene.frame_current, {}
    for frame in range(1, walk.FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        now = rigs.evaluated(rig()).pose.bones
        heads[frame] = {side: now[f"foot{side}"].head.copy() for side in walk.BEGINS}
    bpy.context.scene.frame_set(shown)
    stands = [(side, range(first + 2, last - 1)) for side in walk.BEGINS for first, last in walk.contacts(side)]
    return max((heads[a][side] - heads[b][side]).length for side, frames in stands for a in frames for b in frames)


def plants_a_capture(hand: Hand) -> Iterator[Any]:
    """A capture: A, Plant Feet from the search; undone in one step."""
    yield from open_capture(hand)
    answers: dict[str, Any] = {"slid": [slid()]}
    yield from hand.to_the_middle()
    yield from hand.choose("Plant Feet")
    yield from done(hand)
    answers["slid"].append(slid())
    bpy.context.scene.frame_set(20)
    yield from pictured(hand, "planted")
    markers = bpy.context.scene.timeline_markers
    answers |= {"limbs": limbs(), "markers": len(markers), "selected": selected()}
    yield from hand.to_the_middle()
    yield from hand.key("Z", ctrl=True)
    yield
    answers["slid"].append(slid())
    return answers | {"undone": [len(bpy.context.scene.timeline_markers), limbs()]}


def holds_in_contacts(hand: Hand) -> Iterator[Any]:
    """A capture: Add, Find Contacts, a marker moved, Hold in Contacts from the panel."""
    open_panels()
    yield from open_capture(hand)
    select("shin.L", "shin.R")
    for name in ("Add Planar IK", "Find Contacts"):
        yield from hand.to_the_middle()
        yield from hand.choose(name)
        yield from done(hand)
    yield from timeline_pictured(hand, "found")
    ups = [marker for marker in bpy.context.scene.timeline_markers if marker.name.endswith(" up") and marker.frame > 30]
    ups[0].frame -= 2
    select("shin.L", "shin.R")
    yield from scroll(hand)
    before = slid()
    yield from press(hand, "Hold in Contacts")
    yield from done(hand)
    yield from pictured(hand, "held")
    frames = [key.co.x for curve in rigs.curves(rig()) for key in curve.keyframe_points]
    return {"first": min(frames), "last": max(frames), "slid": [before, slid()]}


def stops_long_work(hand: Hand) -> Iterator[Any]:
    """A capture of minutes: Plant Feet, then Add, each stopped by Esc in the middle."""
    yield from open_capture(hand)
    for curve in rigs.curves(rig()):
        curve.modifiers.new("NOISE").strength = 0.001
    bpy.context.scene.frame_end = 40_000
    bpy.ops.ed.undo_push(message="Long")
    before, found = everything(), {}
    for name, operator in (("Plant Feet", "plant"), ("Add Planar IK", "add")):
        yield from hand.to_the_middle()
        yield from hand.key("A")
        yield from hand.choose(name)
        ran = goes_on(hand, operator)
        yield from hand.key("ESC")
        yield from done(hand)
        found[operator] = [ran, everything() == before, limbs()]
    return found
