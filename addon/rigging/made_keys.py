"""The keys that control bones are given as they are made, told from those that people set: they go with the bones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from zlib import crc32

from ..blender.animation import actions_besides, all_curve_lists, curves_everywhere, remove_animation
from ..blender.announcing import announce
from ..blender.dependencies import BoneRef
from ..blender.types import ArmatureObject, is_armature, split_path
from ..limb.follow import follow_of
from ..limb.settings import MADE_KEYS

PATHS = ("pose.bones[",)
"""How the data paths of what bones have begin."""


def mark_keys(descriptions: Mapping[tuple[ArmatureObject, str], Any]) -> None:
    """Note that the keys of controls just made for limbs are ours, not the user's."""
    for (rig, limb), description in descriptions.items():
        pairs = zip(follow_of(rig.pose.bones[limb]).pairs, (description.target, description.pole), strict=True)
        for ob, bone in [pair for pair, ref in pairs if hasattr(ref, "kind")]:
            if ob and bone:
                _mark(ob, bone)


def _mark(ob: Any, bone: str) -> None:
    announce(ob)
    marks = [_fingerprint(curves) for curves in _curves_by_action(ob, bone)]
    ob.data.bones[bone][MADE_KEYS] = marks[0] if len(marks) == 1 else 0


@contextmanager
def keeping_marks(refs: Iterable[tuple[Any, str]]) -> Iterator[None]:
    """Keys of controls that were ours before stay marked as ours after what is done within."""
    ours = []
    for ob, bone in refs:
        as_made = made_curves([(ob, bone)]) if is_armature(ob) else set()
        if as_made and as_made == own_curves(ob, bone):
            ours.append((ob, bone))
    yield
    for ob, bone in ours:
        _mark(ob, bone)


def made_curves(refs: Iterable[BoneRef]) -> set[Any]:
    """The F-curves of controls that nobody edited since we made them, in any action."""
    as_made: set[Any] = set()
    for ob, bone in refs:
        data: Any = ob.data
        mark = data.bones[bone].get(MADE_KEYS)
        if mark:
            as_made.update(*(curves for curves in _curves_by_action(ob, bone) if _fingerprint(curves) == mark))
    return as_made


def own_curves(ob: ArmatureObject, bone: str) -> set[Any]:
    """All F-curves of a bone, in any action."""
    return {curve for curves in _curves_by_action(ob, bone) for curve in curves}


def remove_keys(ob: ArmatureObject, bones: Iterable[str]) -> None:
    """Remove the F-curves of bones from the actions that act on a rig; actions that nothing uses stay as they are."""
    names = {*bones}
    paths = {curve.data_path for curve in curves_everywhere(ob)}
    remove_animation(ob, {path for path in paths if split_path(path)[0] in names})


def _curves_by_action(ob: Any, bone: str) -> list[list[Any]]:
    """The F-curves of a bone, by each action that acts on its rig, or that nothing uses now."""
    spare = [curve for action in actions_besides(ob, PATHS) for curves in all_curve_lists(action) for curve in curves]
    by_action: dict[Any, list[Any]] = {}
    for curve in dict.fromkeys([*curves_everywhere(ob), *spare]):
        if split_path(curve.data_path)[0] == bone:
            by_action.setdefault(curve.id_data, []).append(curve)
    return [*by_action.values()]


def _fingerprint(curves: list[Any]) -> int:
    """A number above 0 that is another where what is keyed of a bone, a frame or a value is."""
    keys = sorted(
        (split_path(curve.data_path)[1], curve.array_index, *(tuple(key.co) for key in curve.keyframe_points))
        for curve in curves
    )
    return 1 + (crc32(repr(keys).encode()) >> 2)
