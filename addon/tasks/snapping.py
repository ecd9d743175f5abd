"""Carrying a pose over between a limb's own bones (FK) and what it follows (IK), so that switching shows no jump."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bpy.types import Context, PoseBone

from ..blender.changes import Change, key_changes, key_changes_from
from ..blender.editing import unkeyed_kept
from ..blender.rotation import rotation_channel, set_turn
from ..blender.types import tag, view_layer_of
from ..limb.follow import follow_of
from ..limb.moving import check_movable, check_undriven, rig_slider
from ..limb.settings import SLIDER
from ..limb.solving import limbs_now, scaled_bones, scales_of, solve
from ..limb.storage import bones_of_limb, by_rig, read_slider, write_slider
from ..limb.whole import wholly
from ..limb.words import Message, Refused
from ..poses.keeping import fit_ik_to_fk
from ..poses.keyed_parts import part_of_fk
from ..poses.matching import Matched, match, stances_by_fk
from ..poses.over_frames import fit_over_frames
from ..poses.reading import Progress
from ..rigging import feet
from ..rigging.rolling import level
from .status import check_posable

Snap = Callable[[Context, Sequence[PoseBone]], Matched]


@wholly
def snap_target(
    context: Context,
    lasts: Sequence[PoseBone],
    frames: Sequence[float] | None = None,
    progress: Progress | None = None,
    tolerance: float = 0.0,
) -> list[Message]:
    """Move targets and poles, and set flip and swivel, so that IK shows the bones' own pose: here and now, or in each
    of these frames with keys. ``tolerance`` is how far joints may be off for the sake of fewer keys, in lengths of the
    limb. Returns warnings."""
    check_snap(lasts, to_target)
    if frames is not None:
        return fit_ik_to_fk(context, lasts, frames, tolerance, progress)
    leveled = level(lasts)  # else each snap would turn toes by the roll again, as they are shown in IK
    changes, warnings = to_target(context, lasts)
    return _snapped_here(context, Matched([*leveled, *changes], warnings))


@wholly
def snap_fk(
    context: Context,
    lasts: Sequence[PoseBone],
    frames: Sequence[float] | None = None,
    progress: Progress | None = None,
    tolerance: float = 0.0,
) -> list[Message]:
    """Give the limbs' bones, and the feet that turn with their targets, what IK shows, as their own. Returns
    warnings."""
    check_snap(lasts, to_fk)
    if frames is None:
        return _snapped_here(context, to_fk(context, lasts))
    names = [(last.id_data, last.name) for last in lasts]
    step: Any = lambda _: to_fk(context, [ob.pose.bones[name] for ob, name in names])  # noqa: E731
    return fit_over_frames(context, frames, [part_of_fk(last) for last in lasts], step, tolerance, progress)


def _snapped_here(context: Context, matched: Matched) -> list[Message]:
    key_changes(context, matched.changes)
    return matched.warnings


def check_snap(lasts: Sequence[PoseBone], snap: Snap) -> None:
    """Refuse what can't be snapped."""
    for last in lasts:
        if slider := rig_slider(last):
            raise Refused(
                "Use the rig's own slider '{slider}' of '{bone}' for this limb", slider=slider[1], bone=slider[0]
            )
        check_posable(last)
        check_undriven(last, "influence")
        if snap is to_target:
            follow = follow_of(last)
            check_movable(last, follow.target, follow.subtarget)  # type: ignore[arg-type]  # `check_posable` found it there


# from FK to IK


def to_target(context: Context, lasts: Sequence[PoseBone]) -> Matched:
    """Snap targets, poles, flip, swivel and ankle to the bones' own pose in this frame, without keys."""
    return match(context, lasts, stances_by_fk(context, lasts))


# from IK to FK


def to_fk(context: Context, lasts: Sequence[PoseBone]) -> Matched:
    """Give the bones, and the feet that turn with targets, the solved rotations as their own in this frame, without
    keys."""
    snapped = Matched([], [])
    foot_turns = feet.turns_of_feet(context, lasts)
    for ob, limbs in by_rig(lasts).items():
        now = limbs_now(ob, limbs, context.evaluated_depsgraph_get(), is_whole=True)
        solution = solve(now.table, now.target, now.pole, now.sliders, now.own)
        for row, last in enumerate(limbs):
            for bone in scaled_bones(last):
                snapped.changes.append(Change.of_property(ob, bone.name, "scale"))
                bone.scale = scales_of(now.table.limbs[row], float(solution.stretch[row]))
            for k, bone in enumerate(bones_of_limb(last)):
                _set_rotation(snapped, bone, tuple(solution.turns[row, k]))
    for foot, turn in foot_turns:
        _set_rotation(snapped, foot, turn)
    view_layer_of(context).update()
    return snapped


def _set_rotation(snapped: Matched, bone: PoseBone, turn: Any) -> None:
    snapped.changes.append(Change.of_property(bone.id_data, bone.name, rotation_channel(bone.rotation_mode)))
    set_turn(bone, turn)
    tag(bone)


# from one to the other


class Switched(NamedTuple):
    """Limbs as they are switched."""

    to: str  # ``FK`` or ``IK``
    select: list[tuple[Any, str]]  # what of them one poses next: objects and names of bones
    warnings: list[Message]


@wholly
def switch(context: Context, lasts: Sequence[PoseBone], to: str | None = None, insert_keys: bool = False) -> Switched:
    """Switch limbs to ``FK`` or ``IK``, by default to the other than the first one has, and keep their pose. With
    autokey or ``insert_keys``, keys hold the old state up to the frame before. Raises `Refused`."""
    if to is None:
        to = "FK" if lasts and read_slider(lasts[0], "influence") > 0.5 else "IK"
    snap: Snap = to_fk if to == "FK" else to_target
    check_snap(lasts, snap)
    switched = [Change.of_property(last.id_data, last.name, f'["{SLIDER["influence"].key}"]') for last in lasts]
    leveled = level(lasts) if to == "IK" else []
    changes, warnings = snap(context, lasts)
    changes = [*leveled, *changes]
    for last in lasts:
        write_slider(last, "influence", to == "IK")
    with unkeyed_kept(context, dict.fromkeys(change.object for change in (*switched, *changes))):
        key_changes_from(context, switched, insert_keys, holds=True)
        key_changes_from(context, changes, insert_keys)
    view_layer_of(context).update()
    return Switched(to, _to_pose(lasts, to), warnings)


def _to_pose(lasts: Sequence[PoseBone], to: str) -> list[tuple[Any, str]]:
    """The bones of limbs in FK, their targets in IK."""
    if to == "FK":
        return [(last.id_data, bone.name) for last in lasts for bone in bones_of_limb(last)]
    return [follow_of(last)[:2] for last in lasts]
