"""Where the soles of feet are, by how these move: what a foot does in frames in which it is low and slow says how it
lies on the floor, whatever its rest pose is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from bpy.types import Object, PoseBone
from mathutils import Matrix, Vector

from ..limb import names, tips, transforms
from ..limb.features.roll import BALL_PIVOT, HEEL_PIVOT, TOE_PIVOT
from ..limb.rest_geometry import RestGeometry, rest_geometry_of
from ..motion.reading import Recording, matrices_of, poses_of, worlds_of
from ..rigging.feet import Lying, pivots_found, pivots_of, toes_of
from ..solver.matrices import applied, inverted_all, unit_array
from ..solver.ops import Array
from . import contacts, planting

NEAR_FLAT = 0.97
"""The cosine up to which a foot is turned as when it lies flat."""


class SolePoint(NamedTuple):
    """A point of a sole: the bone that it is on, and where it is in that."""

    bone: str
    place: Vector


def paths_of(recording: Recording, limb: PoseBone, sole: list[SolePoint]) -> contacts.Path:
    """The path of a limb over the frames of a recording that has its bones."""
    ob, geometry = limb.id_data, rest_geometry_of(limb)
    size = sum(geometry.lengths) * ob.matrix_world.median_scale
    return contacts.Path(
        _over(recording, ob, limb.name, geometry.tip),
        np.array([_over(recording, ob, bone, place) for bone, place in sole]),
        size,
    )


def _over(recording: Recording, ob: Object, bone: str, point: Any) -> Array:
    """Where a point of a bone is in the world, (frames, 3)."""
    return applied(matrices_of(recording, (ob, bone)), np.array(point, float))


def sole_of(recording: Recording, limb: PoseBone, rate: float) -> list[SolePoint]:
    """The points of a limb's sole as it is seen to lie; ``rate`` is how many frames of a recording a second has."""
    return sole_lying(limb, lying_of(recording, limb, rest_geometry_of(limb), rate))


def sole_lying(limb: PoseBone, lying: Lying | None) -> list[SolePoint]:
    """The points of a limb's sole, each in the space of its bone: heel, ball and toe, as a foot roll has them. Of a
    hand its tip and its end, of what has neither the tip."""
    foot, geometry = tips.foot_of(limb), rest_geometry_of(limb)
    if foot is None or names.has_word(foot.name, names.HANDS):
        end = [SolePoint(foot.name, Vector((0.0, foot.bone.length, 0.0)))] if foot else []
        return [SolePoint(limb.name, Vector(geometry.tip.tolist())), *end]
    pivots, toe = pivots_of(limb) or pivots_found(limb, geometry, lying), next(iter(toes_of(foot)), foot)
    moved = lying.toes.get(toe.name, Matrix()) if lying else Matrix()
    return [
        SolePoint(bone.name, (by @ bone.bone.matrix_local).inverted() @ pivots[role].translation)
        for role, bone, by in ((HEEL_PIVOT, foot, Matrix()), (BALL_PIVOT, foot, Matrix()), (TOE_PIVOT, toe, moved))
    ]


def lying_of(recording: Recording, limb: PoseBone, geometry: RestGeometry, rate: float) -> Lying | None:
    """How a foot lies flat on the floor in a recording, in the armature as it rests; None where it never does. Of a
    limb, or of what is to be one."""
    ob, foot = limb.id_data, tips.foot_of(limb)
    whole = np.flatnonzero(np.equal(np.mod(recording.at or [0.5], 1.0), 0.0))
    if foot is None or len(whole) < 3:
        return None
    times = np.array(recording.at)[whole]
    toes, rest, worlds = toes_of(foot), np.array(foot.bone.matrix_local, float), worlds_of(recording, ob)[whole]
    feet = poses_of(recording, ob, foot.name)[whole]
    ball = np.mean([np.array(toe.bone.head_local) for toe in toes] or [np.array(foot.bone.tail_local)], axis=0)
    at_ball, seen = np.linalg.solve(rest, [*ball, 1.0])[:3], worlds @ feet
    size = sum(geometry.lengths) * ob.matrix_world.median_scale
    ankles, grounds = seen[:, :3, 3], worlds[:, 2, 3]
    rows = contacts.flat_rows(
        ankles / size, applied(seen, at_ball) / size, grounds / size, rate * (len(times) - 1) / np.ptp(times)
    )
    if not len(rows):
        return None
    ups = transforms.rigid(seen[rows])[0][:, 2, :3]  # in the foot's axes
    up = unit_array(planting.middle_of(ups, 1e-3), ups[0])
    rows, up = rows[ups @ up >= min(NEAR_FLAT, (ups @ up).max())], rest[:3, :3] @ up
    height = float(np.median(ankles[rows, 2] - grounds[rows])) * sum(geometry.lengths) / size
    return Lying(
        up, float(up @ rest[:3, 3]) - height, {toe.name: _lain(recording, foot, toe, whole[rows]) for toe in toes}
    )


def _lain(recording: Recording, foot: PoseBone, toe: PoseBone, rows: Array) -> Matrix:
    """What takes a toe from where it rests to where it lies in these rows, with its foot at rest."""
    ob = foot.id_data
    feet, toes = (poses_of(recording, ob, bone.name)[rows] for bone in (foot, toe))
    off = inverted_all(feet) @ toes
    lain = np.eye(4)
    lain[:3, :3], lain[:3, 3] = planting.mean_of(transforms.rigid(off)[0][:, :3, :3]), np.median(off[:, :3, 3], axis=0)
    return foot.bone.matrix_local @ Matrix(lain.tolist()) @ toe.bone.matrix_local.inverted()
