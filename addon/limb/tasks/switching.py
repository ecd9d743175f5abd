"""Switching limbs between FK and IK in this frame, without a jump of the pose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bpy.types import Context, PoseBone

from ...blender.animation import curves_of, is_animated
from ...blender.changes import Change, key_changes_from
from ...blender.editing import unkeyed_kept
from ...blender.fcurves import hold_from
from ...blender.keying import autokey
from ...blender.types import scene_of, tag, view_layer_of
from ..follow import follow_of
from ..home import bones_of_limb
from ..settings import SLIDER
from ..words import Refused
from .snapping import Snap, check_snap, to_fk, to_target


class Switched(NamedTuple):
    """What limbs were switched to, what of them to pose next, as objects and names of bones, and what to tell."""

    to: str
    select: list[tuple[Any, str]]
    warnings: list[Refused]


def switch(context: Context, lasts: Sequence[PoseBone], to: str | None = None, insert_keys: bool = False) -> Switched:
    """Switch limbs to ``FK`` or ``IK``, by default to the other than the first one has, and keep their pose. With
    autokey or ``insert_keys``, keys hold the old state up to the frame before. Raises `Refused`."""
    if to is None:
        to = "FK" if lasts and lasts[0].planar_ik.influence > 0.5 else "IK"  # type: ignore[attr-defined]
    snap: Snap = to_fk if to == "FK" else to_target
    check_snap(context, lasts, snap)
    switched = [Change.of(last.id_data, last.name, f'["{SLIDER["influence"].key}"]') for last in lasts]
    changes, warnings = snap(context, lasts)
    for last in lasts:
        last.planar_ik.influence = 0.0 if to == "FK" else 1.0  # type: ignore[attr-defined]
        tag(last)
    changes = [*switched, *changes]
    is_keyed = insert_keys or autokey(context)
    with unkeyed_kept(context, dict.fromkeys(change.object for change in changes)):
        key_changes_from(context, [each for each in changes if is_keyed or is_animated(each.object, each.path)])
        for change in switched:
            for curve in curves_of(change.object):
                if curve.data_path == change.path:
                    hold_from(curve, scene_of(context).frame_current)
    view_layer_of(context).update()
    return Switched(to, _to_pose(lasts, to), warnings)


def _to_pose(lasts: Sequence[PoseBone], to: str) -> list[tuple[Any, str]]:
    """The bones of limbs in FK, their targets in IK."""
    if to == "FK":
        return [(last.id_data, bone.name) for last in lasts for bone in bones_of_limb(last)]
    return [follow_of(last)[:2] for last in lasts]
