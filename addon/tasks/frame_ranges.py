"""Which frames a person means: the preview range, those of selected keys, or those from the current one on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import bpy
from bpy.types import Context, PoseBone

from ..blender import animation, dependencies, stepping
from ..blender.types import scene_of, split_path
from ..blender.words import Refused
from ..feet.contacts import FrameRange
from ..limb import follow, storage, tips
from .contact_markers import frame_range, marker_names, names_marked


def range_to_hold(context: Context, limbs: Sequence[PoseBone], source: str) -> FrameRange:
    """The ``PREVIEW`` range, the range of selected ``KEYS``, or from the ``CURRENT`` frame to the last one played.
    Raises `Refused`."""
    scene = scene_of(context)
    if source == "PREVIEW" and not scene.use_preview_range:
        raise Refused("The scene has no preview range: set one in the timeline, or choose Scene")
    if source == "PREVIEW":
        return FrameRange(scene.frame_preview_start, scene.frame_preview_end)
    if source == "KEYS":
        selected, _ = selected_frames(_animated_refs(limbs))
        if len(selected) < 2:
            raise Refused("Select keys of the limbs or their controls at both ends of the range")
        return FrameRange(min(selected), max(selected))
    current, last = scene.frame_current, frame_range(scene)[-1]
    if current >= last:
        raise Refused("No frames are played after frame {frame}: go to where the hold begins", frame=current)
    return FrameRange(current, last)


def range_animated(context: Context, bones: Sequence[PoseBone]) -> FrameRange:
    """The preview range if it is on; else from the first to the last key of the rigs of bones and of what limbs among
    them follow, where nothing but keys moves these; else the scene's range."""
    scene, frames = scene_of(context), frame_range(scene_of(context))
    things: set[Any] = {bone.id_data for bone in bones}
    things |= {ob for limb in filter(storage.is_limb, bones) for ob, _ in follow.follow_of(limb).pairs if ob}
    curves = [curve for ob in things for curve in animation.curves_of(ob)]
    is_plain = all(curve.keyframe_points and not curve.modifiers for curve in curves)
    has_strips = any(True for ob in things for _ in animation.strips_of(ob))
    if scene.use_preview_range or not curves or not is_plain or has_strips:
        return FrameRange(frames[0], frames[-1])
    stretched = float(stepping.times_of(scene, [1.0])[0])
    ends = [round(curve.keyframe_points[i].co.x / stretched) for curve in curves for i in (0, -1)]
    return FrameRange(min(ends), max(ends)) if min(ends) < max(ends) else FrameRange(frames[0], frames[-1])


def range_source(context: Context, limbs: Sequence[PoseBone]) -> str:
    """What clearly sets a range to hold: ``PREVIEW`` range, selected ``KEYS``, or marked ``CONTACTS``; "" if none of
    these is there. Keys do not if all are selected, as after an import."""
    if scene_of(context).use_preview_range:
        return "PREVIEW"
    selected, is_all = selected_frames(_animated_refs(limbs))
    if len(selected) > 1 and not is_all:
        return "KEYS"
    names = {name for limb in limbs for name in marker_names(limb).values()}
    return "CONTACTS" if any(name in names for _, name in names_marked(scene_of(context))) else ""


def selected_frames(refs: Iterable[dependencies.BoneRef]) -> tuple[set[int], bool]:
    """The frames, rounded, of selected keys of objects and bones, and whether all of their keys are selected."""
    names: dict[object, set[str]] = {}
    for ob, bone in refs:
        names.setdefault(ob, set()).add(bone)
    keys = [
        key
        for ob, of_object in names.items()
        for curve in animation.curves_of(ob)
        if split_path(curve.data_path)[0] in of_object
        for key in curve.keyframe_points
    ]
    selected = [key for key in keys if key.select_control_point]
    stretched = float(stepping.times_of(scene_of(bpy.context), [1.0])[0])
    return {round(key.co.x / stretched) for key in selected}, len(selected) == len(keys)


def _animated_refs(limbs: Sequence[PoseBone]) -> list[dependencies.BoneRef]:
    """What of limbs may have keys: their bones, feet, targets and poles."""
    refs: list[dependencies.BoneRef] = []
    for limb in limbs:
        bones = [*storage.chain_bones(limb), *filter(None, [tips.foot_of(limb)])]
        refs += [(limb.id_data, bone.name) for bone in bones]
        refs += [(ob, bone) for ob, bone in follow.follow_of(limb).pairs if ob is not None]
    return refs
