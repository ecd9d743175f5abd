"""Keeping the knees of limbs that are nearly straight where they were, as a target of their own is made or read in
another way.

What the distance from root to tip is off by as Blender rounds, such a knee is off by fifty times as much and more.
Their targets go along the line by as little, so that the knees are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from ..blender.animation import is_animated
from ..blender.types import ArmatureObject, bones_of, path_to_bone, tag, view_layer_of
from ..limb.follow import follow_of
from ..limb.measuring import joints_shown, measure
from ..limb.solving import LimbsNow, joints_in, limbs_now, solve
from ..limb.storage import by_rig, is_control, segments_of
from ..limb.tips import tip_of
from ..solver.matrices import applied

Array = NDArray[Any]

CLOSE = 2e-6
"""How far off, in lengths of the limb, knees are near enough."""

MOST = 1e-5
"""By how much of the limb's length a target may be moved for that."""

STEP = 1e-9
"""By what part of its distance a target is moved, to see what the knees do."""

STEEP = 3.0
"""How much farther than the target knees have to go, for them to be off for want of its distance."""

PASSES = 4


class KneePlaces(NamedTuple):
    """Where the knees of a limb are to be: its rig, its last bone's name, and the places (knees, 3) in the world."""

    ob: ArmatureObject
    name: str
    knees: Array


def solved(context: Context, lasts: Sequence[PoseBone]) -> list[KneePlaces]:
    """Where the solver has the knees of limbs now."""
    stands = []
    for ob, limbs in by_rig(lasts).items():
        joints = measure(limbs_now(ob, limbs, context.evaluated_depsgraph_get())).joints
        stands += [
            KneePlaces(ob, last.name, joints[row, : len(segments_of(last)) - 1]) for row, last in enumerate(limbs)
        ]
    return stands


def shown(context: Context, last: PoseBone, segments: tuple[int, ...]) -> KneePlaces:
    """Where the knees of a limb that may be none yet are seen now, whatever poses it."""
    evaluated: Any = last.id_data.evaluated_get(context.evaluated_depsgraph_get())
    joints = joints_shown(evaluated, last.name, segments, tip_of(last))
    world = np.array(evaluated.matrix_world, float)
    return KneePlaces(last.id_data, last.name, applied(world[None], joints[:-1]))


def settle(context: Context, stands: Sequence[KneePlaces], is_shown: bool = False) -> None:
    """Move the targets of limbs that were made for them, for the knees to stand so: as the solver has them, or as they
    are shown."""
    for _ in range(PASSES):
        nudges = [nudge for nudge in _nudges_to(context, stands, is_shown) if nudge.error > CLOSE]
        if not nudges:
            return
        for nudge in nudges:
            _put_at(nudge.owner, nudge.was + nudge.by)
        view_layer_of(context).update()
        errors = {nudge.owner: nudge.error for nudge in _nudges_to(context, stands, is_shown)}
        worse = [nudge for nudge in nudges if errors.get(nudge.owner, 0.0) >= nudge.error]
        for nudge in worse:
            _put_at(nudge.owner, nudge.was)
        view_layer_of(context).update()
        stands = [stand for stand in stands if stand[:2] not in {stand.limb for stand in worse}]


class _Nudge(NamedTuple):
    """How a limb's target may be moved for its knees to be nearer to their places."""

    limb: tuple[Any, str]  # rig and last bone
    error: float  # how far knees are off at most, in lengths of the limb
    owner: Any  # the target: an object or a bone
    was: Vector  # its location
    by: Vector  # by how much to change that


def _nudges_to(context: Context, stands: Sequence[KneePlaces], is_shown: bool) -> Iterator[_Nudge]:
    knees_of = {stand[:2]: stand.knees for stand in stands}
    for ob, limbs in by_rig([stand.ob.pose.bones[stand.name] for stand in stands]).items():
        now = limbs_now(ob, limbs, context.evaluated_depsgraph_get())
        measured, slopes = measure(now), _knee_slopes(now)
        for row, last in enumerate(limbs):
            owner, knees = _own_target(last), knees_of[ob, last.name]
            knees_now = measured.joints[row, : len(knees)]
            if is_shown:
                knees_now = (now.world @ now.poses[now.table.bones[row, 1 : len(knees) + 1]])[:, :3, 3]
            slope = slopes[row, : len(knees)]
            off, steep = knees - knees_now, float((slope * slope).sum())
            if owner is None or not steep > STEEP * STEEP:
                continue
            by = float((slope * off).sum()) / steep * now.target[row]
            error = float(np.linalg.norm(off, axis=1).max() / measured.sizes[row])
            if np.linalg.norm(by) <= MOST * measured.sizes[row]:
                to_own = _to_own(context, last).to_3x3() @ Matrix(now.frames[row, :3, :3].tolist())
                yield _Nudge((ob, last.name), error, owner, owner.location.copy(), to_own @ Vector(by.tolist()))


def _knee_slopes(now: LimbsNow) -> Array:
    """By how much knees move, for each length of the target's distance that it goes on: (n, segments, 3), in the
    world."""
    sides = [now.target, now.target * (1.0 + STEP)]
    joints = [joints_in(now.table, solve(now.table, target, now.pole, now.sliders, now.own)) for target in sides]
    moved = np.einsum("nij,nkj->nki", now.frames[:, :3, :3], joints[1] - joints[0]) / STEP
    return np.where(np.isfinite(moved), moved, 0.0)


def _own_target(last: PoseBone) -> Any:
    """The target of a limb that was made for it, and that nothing else moves; or None."""
    follow = follow_of(last)
    if follow.target is None or not is_control(follow.target, follow.subtarget):
        return None
    owner: Any = bones_of(follow.target)[follow.subtarget] if follow.subtarget else follow.target
    path = f"{path_to_bone(follow.subtarget)}.location" if follow.subtarget else "location"
    is_free = not owner.constraints and (bool(follow.subtarget) or owner.parent is None)
    return owner if is_free and not is_animated(follow.target, path) else None


def _to_own(context: Context, last: PoseBone) -> Matrix:
    """What takes directions in the world to the location of a limb's target."""
    target, bone = follow_of(last)[:2]
    evaluated: Any = target.evaluated_get(context.evaluated_depsgraph_get())  # type: ignore[union-attr]
    if not bone:
        return Matrix()
    posed = evaluated.pose.bones[bone]
    unposed: Matrix = posed.matrix.to_3x3() @ posed.matrix_basis.to_3x3().inverted_safe()
    unposed = evaluated.matrix_world.to_3x3() @ unposed
    return unposed.inverted_safe().to_4x4()


def _put_at(owner: Any, place: Vector) -> None:
    owner.location = place
    tag(owner)
