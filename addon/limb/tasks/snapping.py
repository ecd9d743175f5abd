"""Carrying a pose over between a limb's own bones (FK) and what it follows (IK), so that switching shows no jump."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import cos, hypot, remainder, sin, sqrt, tau
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from mathutils import Vector
from numpy.typing import NDArray

from ...blender.animation import curves_of, is_animated
from ...blender.changes import Change, key_changes, key_changes_from, over_frames
from ...blender.editing import unkeyed_kept
from ...blender.fcurves import hold_from
from ...blender.keying import autokey
from ...blender.rotation import rotation_channel, set_turn
from ...blender.types import scene_of, tag, view_layer_of
from ...solver.limb import joints_of, line_to, roll_to
from ...solver.ops import FLOATS
from ...solver.rotation import conjugate, rotate
from ..follow import follow_of
from ..home import bones_of_limb, by_rig, has_slider
from ..moving import Move, check_movable, check_undriven, move, rig_slider
from ..settings import SLIDER
from ..sides import outwards
from ..solving import LimbsNow, limbs_now, solve
from ..status import check
from ..words import Refused
from . import feet
from .fitting import PAST_STRAIGHT, Posture, angle_of, hold

Array = NDArray[Any]
Progress = Callable[[float], None]

NEAR = 1e-4
"""How far joints may be from where they were, in lengths of the limb, and still count as there."""

STILL = 1e-5
"""How much of a swivel, in radians, is none: what is less is left as it was."""


class Snapped(NamedTuple):
    """What was changed to show a pose in another way, and what to tell the person."""

    changes: list[Change]
    warnings: list[Refused]


Snap = Callable[[Context, Sequence[PoseBone]], Snapped]


def snap_target(
    context: Context, lasts: Sequence[PoseBone], frames: Iterable[int] | None = None, progress: Progress | None = None
) -> list[Refused]:
    """Move targets and poles, and set flip and swivel, so that IK shows the bones' own pose: here and now, or in each
    of these frames with keys. Returns warnings."""
    return _snap(context, lasts, to_target, frames, progress)


def snap_fk(
    context: Context, lasts: Sequence[PoseBone], frames: Iterable[int] | None = None, progress: Progress | None = None
) -> list[Refused]:
    """Give the limbs' bones, and the feet that turn with their targets, the rotations that IK has, as their own. Scale
    stays as it is. Returns warnings."""
    return _snap(context, lasts, to_fk, frames, progress)


def _snap(
    context: Context, lasts: Sequence[PoseBone], snap: Snap, frames: Iterable[int] | None, progress: Progress | None
) -> list[Refused]:
    check_snap(context, lasts, snap)
    names = [(last.id_data, last.name) for last in lasts]
    warnings: dict[str, Refused] = {}

    def step() -> list[Change]:
        snapped = snap(context, [ob.pose.bones[name] for ob, name in names])
        warnings.update({str(each): each for each in snapped.warnings})
        return snapped.changes

    if frames is None:
        key_changes(context, step())
    else:
        over_frames(context, frames, step, progress)
    return [*warnings.values()]


def check_snap(context: Context, lasts: Sequence[PoseBone], snap: Snap) -> None:
    """Refuse what can't be snapped."""
    for last in lasts:
        if slider := rig_slider(last):
            raise Refused(
                "Use the rig's own slider '{slider}' of '{bone}' for this limb", slider=slider[1], bone=slider[0]
            )
        check(last)
        check_undriven(last, "influence")
        if snap is to_target:
            follow = follow_of(last)
            check_movable(last, follow.target, follow.subtarget)  # type: ignore[arg-type]  # `check` found it there


# from FK to IK


def to_target(context: Context, lasts: Sequence[PoseBone]) -> Snapped:
    """Snap targets, poles, flip, swivel and ankle to the bones' own pose in this frame, without keys."""
    for last in lasts:
        _check_own(last)
    turned = feet.turns_of_targets(context, lasts)
    snapped = Snapped([], [])
    moves: list[Move] = []
    for ob, limbs in by_rig(lasts).items():
        now = limbs_now(ob, limbs, context.evaluated_depsgraph_get(), is_whole=True)
        for row, last in enumerate(limbs):
            moves += _match(now, row, last, snapped)
    moves = [each._replace(turned=turned.get((each.object, each.bone))) for each in moves]
    snapped.changes.extend(move(context, moves))
    return snapped


def _check_own(last: PoseBone) -> None:
    for bone in bones_of_limb(last):
        moved = 0.0 if bone.bone.use_connect else bone.location.length
        if max(abs(number - 1.0) for number in bone.scale[:]) > NEAR or moved > NEAR * bone.length:
            raise Refused(
                "'{bone}' is moved or scaled by itself: clear its location and scale, then snap", bone=bone.name
            )


def _match(now: LimbsNow, row: int, last: PoseBone, snapped: Snapped) -> list[Move]:
    """Set flip and swivel of a limb, and say where its target and pole are to be."""
    limb, flip = now.table.limbs[row], bool(now.sliders["flip"][row] > 0.5)
    turns: Any = tuple(map(tuple, now.own[row, : len(limb.bones)]))
    joints = joints_of(turns, now.table.singles[row][1])
    posture, tip = Posture(turns, joints, None), joints[-1]
    plane = "HINGE" if limb.plane == "HINGE" else "FREE"
    ways = [hold(limb.shape, posture, plane, -1.0 if side else 1.0) for side in (flip, not flip)]
    held = ways[0] if ways[0].error <= max(1.0, ways[1].error) else ways[1]
    size, length = sum(limb.shape.lengths), sqrt(sum(number * number for number in tip))
    if plane == "HINGE" and abs(tip[2]) > NEAR * size:
        raise Refused("'{bone}' is posed out of its hinge's plane: set its plane to Free, then snap", bone=last.name)
    if held.error > 1.0:
        snapped.warnings.append(Refused("'{bone}' is turned off its hinge: IK turns it back", bone=last.name))
    far, is_limited = _far(now, row, length)
    if is_limited:
        snapped.warnings.append(Refused("The knee limits of '{bone}' keep it from its pose", bone=last.name))
    if length > size * (1.0 - PAST_STRAIGHT):
        far = max(far, 1.0 + PAST_STRAIGHT)
    target = (tip[0] * far, tip[1] * far, tip[2] * far)
    moves = [Move(limb.follow.target, limb.follow.subtarget, _in_world(now, row, target))]  # type: ignore[arg-type]
    _set(snapped, last, "flip", held.side < 0.0)
    if has_slider(last, "ankle"):
        _set(snapped, last, "ankle", held.ankle)
    if plane == "FREE":
        moves += _roll(now, row, last, snapped, held.swivel, target, size)
    return moves


def _roll(
    now: LimbsNow, row: int, last: PoseBone, snapped: Snapped, roll: float, target: Any, size: float
) -> list[Move]:
    """Turn the knee about the line to the target: by the pole, if that can be moved, else by the swivel."""
    follow, sign = now.table.limbs[row].follow, outwards(last.name)
    swivel = sign * float(now.sliders["swivel"][row])
    length = float(np.linalg.norm(target))
    line = line_to(target, length, FLOATS)
    by_pole = 0.0
    if now.table.is_poled[row] and now.sliders["pole"][row] > 0.5:
        pole = tuple(float(number) for number in now.pole[row])
        by_pole = angle_of(roll_to(line, pole, FLOATS))  # type: ignore[arg-type]
        if abs(remainder(roll - swivel - by_pole, tau)) <= STILL:
            return []
        if _is_movable(last, follow.pole, follow.pole_subtarget):
            x, y, z = rotate(conjugate(line), pole)  # type: ignore[arg-type]
            away, angle = hypot(x, z), roll - swivel
            away = away if away > 0.1 * size else size
            place = rotate(line, (-away * cos(angle), y if abs(y) < 10.0 * size else 0.5 * length, away * sin(angle)))
            return [Move(follow.pole, follow.pole_subtarget, _in_world(now, row, place))]  # type: ignore[arg-type]
    by = remainder(roll - by_pole - swivel, tau)
    if abs(by) > STILL:
        _set(snapped, last, "swivel", sign * (swivel + by))
    return []


def _is_movable(last: PoseBone, ob: Any, bone: str) -> bool:
    try:
        check_movable(last, ob, bone)
    except Refused:
        return False
    return True


def _set(snapped: Snapped, last: PoseBone, name: str, value: Any) -> None:
    if getattr(last.planar_ik, name) != value:  # type: ignore[attr-defined]
        check_undriven(last, name)
    snapped.changes.append(Change.of(last.id_data, last.name, f'["{SLIDER[name].key}"]'))
    setattr(last.planar_ik, name, value)  # type: ignore[attr-defined]


def _in_world(now: LimbsNow, row: int, place: Any) -> Vector:
    return Vector((now.frames[row] @ [*place, 1.0])[:3])


def _far(now: LimbsNow, row: int, length: float) -> tuple[float, bool]:
    """How many times as far as the tip the target is, for softness to leave the tip there, which is `extend_shaped`
    back; and whether the knee's limits keep the tip from there."""
    _, of, settings = now.table.singles[row]
    nearest = max(settings.nearest, of.bones.nearest if of.groups is None else 0.0)
    farthest = min(settings.farthest, of.bones.total)
    softness, slack = float(now.sliders["softness"][row]) * of.bones.total, NEAR * of.bones.total
    if not nearest - slack <= length <= farthest + slack:
        return 1.0, True
    gap = max(farthest - length, 0.0)
    if now.sliders["stretch"][row] > 0.0 or gap >= softness or length <= 0.0:
        return 1.0, False
    return (farthest + softness - sqrt(4.0 * softness * gap)) / length, False


# from IK to FK


def to_fk(context: Context, lasts: Sequence[PoseBone]) -> Snapped:
    """Give the bones, and the feet that turn with targets, the solved rotations as their own in this frame, without
    keys."""
    snapped = Snapped([], [])
    turned = feet.turns_of_feet(context, lasts)
    for ob, limbs in by_rig(lasts).items():
        now = limbs_now(ob, limbs, context.evaluated_depsgraph_get(), is_whole=True)
        found = solve(now.table, now.target, now.pole, now.sliders, now.own)
        for row, last in enumerate(limbs):
            if found.stretch[row] > 1.0 + NEAR:
                snapped.warnings.append(Refused("'{bone}' is stretched, which FK is not", bone=last.name))
            for k, bone in enumerate(bones_of_limb(last)):
                _turn(snapped, bone, tuple(found.turns[row, k]))
    for foot, turn in turned:
        _turn(snapped, foot, turn)
    view_layer_of(context).update()
    return snapped


def _turn(snapped: Snapped, bone: PoseBone, turn: Any) -> None:
    snapped.changes.append(Change.of(bone.id_data, bone.name, rotation_channel(bone.rotation_mode)))
    set_turn(bone, turn)
    tag(bone)


# from one to the other


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
