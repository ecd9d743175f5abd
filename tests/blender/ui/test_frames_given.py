"""A frame that a script gives is meant, without a word that says so."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from scripts.installed import addon

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
