"""What of a rig's limbs does not change while they move: their shapes, what they follow, and all of it as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import cos, inf, sin
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..blender.dependencies import BoneRef
from ..blender.types import ArmatureObject
from ..solver.arrays import row_of
from ..solver.groups import limited_range as range_of_groups
from ..solver.limb import Plane, Settings, joints_of
from ..solver.matrices import inverted
from ..solver.ops import ARRAYS, FLOATS
from ..solver.reference import Reference, reference
from ..solver.triangle import bones_of_lengths, limited_range
from .follow import Follow, follow_of
from .rest_geometry import IDENTITY, RestGeometry, is_zigzag, rest_geometry_of
from .settings import SLIDERS, UNLIMITED, Slider
from .sides import outwards
from .storage import bones_of_limb, choices_of, has_slider
from .tips import matrix_of

Array = NDArray[Any]


class Limb(NamedTuple):
    """One limb of a table: the names of its links' first bones and of its last bone, its shape and what it follows."""

    last: str
    bones: tuple[str, ...]
    geometry: RestGeometry
    follow: Follow
    plane: str
    choices: dict[str, Any]
    is_plain: bool
    to_parent: Array


class Part(NamedTuple):
    """Those limbs of a table that have as many bones, keep together the same ones and bend in one kind of plane, as the
    solver takes them."""

    plane: Plane
    rows: Any  # theirs in the table: indices, or a slice of all
    reference: Reference
    settings: Settings  # those that do not animate
    is_limited: bool  # whether some knee has a limit
    is_poled: Array
    outwards: Array  # signs of their swivels


class Table(NamedTuple):
    """What of some limbs of a rig does not change while they move; arrays have a row for each limb."""

    limbs: tuple[Limb, ...]
    parents: Array  # index of the bone that carries the limb, or -1
    carriers: tuple[int, ...]  # the parents, each once
    carried: Array  # which of these carries each limb
    bones: Array  # (n, links): indices of the links' first bones, -1 where a limb has fewer
    lasts: Array  # indices of the last bones
    to_parent: Array  # (n, 4, 4): takes G to the pose of the parent, in a limb that inherits plainly
    from_parent: Array  # and back
    otherwise: tuple[int, ...]  # the rows of those that do not
    parts: tuple[Part, ...]
    singles: tuple[tuple[Plane, Reference, Settings], ...]  # the same limb by limb, in floats
    is_poled: Array
    sliders: tuple[Slider, ...]  # those that some limb has
    followed: tuple[BoneRef, ...]  # all targets and poles
    follows: Array  # (2, n): which of these is each limb's target, and its pole, or -1


def limb_of(last: PoseBone) -> Limb:
    """The limb of a last bone, of the rig as it is now."""
    shape = rest_geometry_of(last)
    bones = bones_of_limb(last)
    first = bones[0]
    parent, choices = first.parent, choices_of(last)
    to_parent = matrix_of(first.bone) @ inverted(shape.rest[0]) @ shape.frame
    if parent is not None:
        to_parent = inverted(matrix_of(parent.bone)) @ to_parent
    plain = first.bone.use_inherit_rotation and first.bone.inherit_scale == "FULL" and first.bone.use_local_location
    follow = follow_of(last)
    return Limb(
        last.name, shape.names, shape, follow, choices["plane"], choices, bool(plain or parent is None), to_parent
    )


def table_of(ob: ArmatureObject, lasts: Sequence[PoseBone]) -> Table:
    """The table of limbs of one rig. Bones are read of ``ob``, original or evaluated."""
    limbs = tuple(limb_of(last) for last in lasts)
    index = {name: i for i, name in enumerate(ob.pose.bones.keys())}
    parents = [ob.pose.bones[limb.bones[0]].parent for limb in limbs]
    places = [index[parent.name] if parent else -1 for parent in parents]
    carriers = (*dict.fromkeys(places),)
    pairs = [(limb.follow.pairs[0], limb.follow.pairs[1] if limb.plane == "POLE" else NOTHING) for limb in limbs]
    followed = dict.fromkeys(pair for each in pairs for pair in each if pair[0])
    numbers = {pair: number for number, pair in enumerate(followed)}
    is_poled = np.array([limb.plane == "POLE" and limb.follow.pole is not None for limb in limbs], bool)
    parts = tuple(_parts(limbs, is_poled))
    most = max((len(limb.bones) for limb in limbs), default=2)
    bones = [[*(index[name] for name in limb.bones), -1, -1][:most] for limb in limbs]
    return Table(
        limbs,
        np.array(places, int),
        carriers,
        np.array([carriers.index(place) for place in places], int),
        np.array(bones, int).reshape(-1, most),
        np.array([index[limb.last] for limb in limbs], int),
        np.array([limb.to_parent for limb in limbs]).reshape(-1, 4, 4),
        np.array([inverted(limb.to_parent) for limb in limbs]).reshape(-1, 4, 4),
        tuple(row for row, limb in enumerate(limbs) if not limb.is_plain),
        parts,
        tuple(_single(row, parts) for row in range(len(limbs))),
        is_poled,
        tuple(slider for slider in SLIDERS if any(has_slider(last, slider.name) for last in lasts)),
        tuple(followed),  # type: ignore[arg-type]
        np.array([[numbers.get(pair, -1) for pair in each] for each in pairs], int).reshape(-1, 2).T,
    )


NOTHING = (None, "")


def _parts(limbs: Sequence[Limb], is_poled: Array) -> Iterator[Part]:
    kinds = [(limb.plane, len(limb.bones), limb.geometry.is_zigzag) for limb in limbs]
    for kind in dict.fromkeys(kinds):
        rows: Any = [row for row, each in enumerate(kinds) if each == kind]
        members = [limbs[row] for row in rows]
        rows = slice(None) if len(rows) == len(limbs) else np.array(rows)
        reaches = [
            range_of(limb.geometry.lengths, limb.geometry.angles, limb.choices["min_angle"], limb.choices["max_angle"])
            for limb in members
        ]
        settings = Settings(
            softness=None,
            stretch_max=np.array([limb.choices["stretch_max"] for limb in members], float),
            nearest=np.array([near for near, _ in reaches]),
            farthest=np.array([far for _, far in reaches]),
        )
        is_limited = any(near > 0.0 or far < inf for near, far in reaches)
        reference = reference_of([limb.geometry for limb in members])
        signs = np.array([outwards(limb.last) for limb in members])
        yield Part(Plane(kind[0]), rows, reference, settings, is_limited, is_poled[rows], signs)


def range_of(lengths: Sequence[float], angles: Sequence[float], least: float, most: float) -> tuple[float, float]:
    """Between which distances from root to tip a limb's knees are within their limits, inner angles in radians; 0 and
    infinity where they have none. Of more than two bones, with the ankle at 0."""
    cosines = cos(least / 2.0) ** 2, cos(most / 2.0) ** 2 if most < UNLIMITED else 0.0
    if cosines == (1.0, 0.0):
        return 0.0, inf
    if len(lengths) == 2:
        near, far = limited_range(bones_of_lengths(lengths[0], lengths[1], FLOATS), *cosines, FLOATS)
    else:
        kind = is_zigzag(angles)
        near, far = range_of_groups(lengths, [half_of(angle) for angle in angles], kind, *cosines)
    return near if cosines[0] < 1.0 else 0.0, far if cosines[1] > 0.0 else inf


def _single(row: int, parts: Sequence[Part]) -> tuple[Plane, Reference, Settings]:
    part = next(part for part in parts if isinstance(part.rows, slice) or row in part.rows)
    within = row if isinstance(part.rows, slice) else part.rows.tolist().index(row)
    return part.plane, row_of(part.reference, within), row_of(part.settings, within)


def joints_in(table: Table, turns: Array, stretch: Array) -> Array:
    """Where turns (..., n, links, 4) and stretch (..., n) put knees and tips, in each limb's G, (..., n, links, 3): the
    tip is the last one, also of limbs that have fewer."""
    places = np.empty((*turns.shape[:-1], 3))
    for part in table.parts:
        rows, count = part.rows, len(part.reference.lengths)
        each: Any = [tuple(np.moveaxis(turns[..., rows, k, :], -1, 0)) for k in range(count)]
        for k, joint in enumerate(joints_of(each, part.reference, stretch[..., rows])):
            places[..., rows, k, :] = np.stack(np.broadcast_arrays(*joint), axis=-1)
        places[..., rows, count:, :] = places[..., rows, count - 1 : count, :]
    return places


def reference_of(shapes: Sequence[RestGeometry]) -> Reference:
    """The shapes of limbs of one kind and of as many bones as the solver takes them, a row for each."""

    def rows(values: Any) -> Any:
        return tuple(np.asarray(values, float).reshape(len(shapes), -1).T)

    each = range(len(shapes[0].lengths))
    reference_rotations = [[shape.reference_rotations[k] for shape in shapes] for k in each]
    axes = [(shape.frame[:3, :3].T @ shape.reference[0][:3, :3]).T for shape in shapes]
    return reference(
        rows([shape.lengths for shape in shapes]),
        [rows([half_of(shape.angles[k]) for shape in shapes]) for k in each],
        tuple(rows([axis[i] for axis in axes]) for i in range(3)),
        [rows([shape.normals[k] for shape in shapes]) for k in each[1:]],
        [IDENTITY if set(turns) == {IDENTITY} else rows(turns) for turns in reference_rotations],
        ARRAYS,
        [rows([shape.bone_directions[k] for shape in shapes]) for k in each[1:]],
        rows([shape.plane_offsets for shape in shapes]),
        shapes[0].is_zigzag,
    )


def half_of(angle: float) -> tuple[float, float]:
    """An angle as a half angle: cosine and sine of half of it."""
    return cos(angle / 2.0), sin(angle / 2.0)
