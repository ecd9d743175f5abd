"""A frame that a script gives is meant, without a word that says so."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from scripts.installed import addon
from tests.blender import rigs

from .conftest import call, select


def keyed(ob: Any, bone: str) -> list[int]:
    """The frames in which a bone has keys."""
    curves = addon("blender.animation").curves_of(ob)
    of_bone = [curve for curve in curves if f'"{bone}"' in curve.data_path and "IK " not in curve.data_path]
    return sorted({round(key.co.x) for curve in of_bone for key in curve.keyframe_points})


SAID: dict[str, tuple[str, str, dict[str, Any], list[int]]] = {
    "bake": ("bake", "thigh.L", {"frame_start": 3, "frame_end": 5}, [3, 4, 5, 6]),
    "bake to": ("bake", "thigh.L", {"frame_end": 3}, [1, 2, 3, 4]),
    "bake of the scene": ("bake", "thigh.L", {"frame_start": 3, "range": "SCENE"}, [1, 2, 3, 4, 5, 6]),
    "snap FK": ("snap_fk", "thigh.L", {"frame_start": 3, "frame_end": 5}, [2, 3, 4, 5, 6]),
    "snap FK from": ("snap_fk", "thigh.L", {"frame_start": 5}, [4, 5, 6]),
    "snap IK": ("snap_target", "foot_ik.L", {"frame_start": 3, "frame_end": 5}, [2, 3, 4, 5, 6]),
    "hold": ("hold", "foot_ik.L", {"frame_start": 3, "frame_end": 5, "ease": 0}, [1, 2, 3, 5, 6]),
}
"""What is called, the bone that gets keys, the arguments, and the frames: those beside keep what was there."""


@pytest.mark.parametrize("case", SAID)
def test_frames_are_those_given(biped: Any, case: str) -> None:
    name, bone, options, frames = SAID[case]
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 6
    assert not call("add")
    moved, channel = ("thigh.L", "rotation_euler") if name == "snap_target" else ("foot_ik.L", "location")
    for frame in (1, 6):
        getattr(biped.pose.bones[moved], channel).x += 0.02
        biped.pose.bones[moved].keyframe_insert(channel, frame=frame)
    select("shin.L")
    assert not call(name, **options)
    assert keyed(biped, bone) == frames


@pytest.mark.parametrize(
    ("moves", "frames"),
    [("keys", (5, 48)), ("cycles", (1, 250)), ("preview", (7, 9)), ("one key", (1, 250)), ("strip", (1, 250))],
)
def test_dialogs_begin_with_what_is_animated(biped: Any, moves: str, frames: tuple[int, int]) -> None:
    scene, control = bpy.context.scene, rigs.empty("goal")
    scene.frame_start, scene.frame_end = 1, 250
    assert not call("add")
    biped.pose.bones["shin.L"].planar_ik.target = control
    biped.pose.bones["hips"].keyframe_insert("location", frame=5)
    if moves != "one key":
        control.keyframe_insert("location", frame=48)
    if moves == "cycles":
        addon("blender.animation").curves_of(control)[0].modifiers.new("CYCLES")
    if moves == "strip":
        data = biped.animation_data
        data.nla_tracks.new().strips.new("strip", 300, data.action)
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = moves == "preview", 7, 9
    found = addon("tasks.selection").range_animated(bpy.context, [biped.pose.bones["shin.L"]])
    assert tuple(found) == frames
