"""What of limbs does not change while they move: their geometry at rest, what they follow, and all of it as
arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone

from ..blender.dependencies import BoneRef
from ..blender.types import ArmatureObject
from ..solver import matrices, rotation
from ..solver.groups import range_of
from ..solver.limb import MOVES_ROOT, Plane, Settings
from ..solver.ops import ARRAYS, Array, row_of
from ..solver.reference import Reference, reference
from .features import FEATURES
from .features.feature import Slider
from .follow import Follow, solver_follow
from .rest_geometry import IDENTITY, RestGeometry, rest_geometry_of
from .settings import every_slider
from .storage import bones_of_limb, choices_of, has_slider, outward_sign
from .tips import rest_matrix

ABSENT = -1
"""The index of a bone, a target or a pole that a limb does not have."""

NOTHING = (None, "")
"""No object, and so no bone of it."""


class LimbEntry(NamedTuple):
    """One limb of a table: its name, the first bone of each segment, its rest geometry, and the target and pole that
    its solver uses."""

    name: str
    bones: tuple[str, ...]
    geometry: RestGeometry
    follow: Follow
    plane: str
    choices: dict[str, Any]
    is_plain: bool  # whether its first bone inherits all of its parent's transform
    to_parent: Array  # (4, 4): takes G to the pose of the parent, if it does
    axes: Array  # (3, 3): those of the first bone at rest, in G, by columns
    is_connected: bool  # whether its first bone begins where its parent ends, so that it has no location of its own
    outward: float  # the sign of its swivel and twist

    @property
    def is_poled(self) -> bool:
        """Whether it has a pole, and the plane is its."""
        return self.plane == "POLE" and self.follow.pole is not None


class Batch(NamedTuple):
    """Those limbs of a table that have as many bones, keep together the same ones and bend in one kind of plane, as the
    solver takes them."""

    plane: Plane
    rows: Any  # theirs in the table: an array of indices, or where these are all of them a slice, which copies nothing
    reference: Reference
    settings: Settings  # those that do not animate
    is_limited: bool  # whether some knee has a limit
    is_poled: Array
    outwards: Array  # signs of their swivels


class SingleLimb(NamedTuple):
    """One limb as the solver takes it, in floats."""

    plane: Plane
    reference: Reference
    settings: Settings  # those that do not animate


@dataclass(frozen=True, eq=False)
class Table:
    """What of n limbs of one rig, or of several, does not change while they move. Arrays and tuples have a row for each
    limb, where nothing else is said. Bones are counted through the poses of all rigs, one after the other; `ABSENT` is
    that of none."""

    limbs: tuple[LimbEntry, ...]
    rigs: tuple[ArmatureObject, ...]
    ends: tuple[int, ...]  # for each rig, how many bones it and those before have
    rig: Array  # (n,): the limbs' rigs, by their places
    parents: Array  # (n,): the bones that carry them
    carriers: Array  # (carriers, 2): those bones with their rigs, each once
    carrier: Array  # (n,): indices in ``carriers``
    bones: Array  # (n, segments): the segments' first bones; as many as the limb with most has
    last_bones: Array  # (n,)
    to_parent: Array  # (n, 4, 4): takes G to the pose of the parent, in a limb that inherits plainly
    from_parent: Array  # (n, 4, 4): and back
    not_plain: tuple[int, ...]  # the rows of limbs that inherit in another way
    axes: Array  # (n, 3, 3): those of the first bones at rest, in G, by columns
    loose: Array  # the rows of limbs whose first bones may have a location of their own
    batches: tuple[Batch, ...]
    is_poled: Array  # (n,): whether there is a pole, and the plane is its
    moved_roots: tuple[int, ...]  # the rows of limbs whose first joint IK moves
    sliders: tuple[Slider, ...]  # those that some limb has
    followed: tuple[BoneRef, ...]  # all targets and poles, each once
    follows: Array  # (2, n): indices in ``followed`` of the limbs' targets, and of their poles

    @cached_property
    def singles(self) -> tuple[SingleLimb, ...]:
        """Each limb as the solver takes it alone."""
        return tuple(_single(row, self.batches) for row in range(len(self.limbs)))


def entry_of(limb: PoseBone) -> LimbEntry:
    """The table entry of one limb."""
    geometry = rest_geometry_of(limb)
    bones = bones_of_limb(limb)
    first = bones[0]
    parent, choices = first.parent, choices_of(limb)
    to_parent = rest_matrix(first.bone) @ matrices.inverted(geometry.rest[0]) @ geometry.frame
    if parent is not None:
        to_parent = matrices.inverted(rest_matrix(parent.bone)) @ to_parent
    plain = first.bone.use_inherit_rotation and first.bone.inherit_scale == "FULL" and first.bone.use_local_location
    return LimbEntry(
        name=limb.name,
        bones=geometry.names,
        geometry=geometry,
        follow=solver_follow(limb),
        plane=choices["plane"],
        choices=choices,
        is_plain=bool(plain or parent is None),
        to_parent=to_parent,
        axes=geometry.frame[:3, :3].T @ geometry.rest[0][:3, :3],
        is_connected=bool(first.bone.use_connect and parent),
        outward=outward_sign(limb),
    )


def table_of(limbs: Sequence[PoseBone], rigs: Iterable[ArmatureObject] = ()) -> Table:
    """The table of limbs by their last bones, of original or of evaluated rigs; ``rigs`` are counted first, and may
    have none of them."""
    entries = tuple(entry_of(limb) for limb in limbs)
    refs = [(limb.id_data, entry) for limb, entry in zip(limbs, entries, strict=True)]
    places = {ob: place for place, ob in enumerate(dict.fromkeys((*rigs, *(ob for ob, _ in refs))))}
    index = {ref: i for i, ref in enumerate((ob, bone.name) for ob in places for bone in ob.pose.bones)}
    above = [(ob, ob.pose.bones[entry.bones[0]].parent) for ob, entry in refs]
    parents = [(index[ob, parent.name] if parent else ABSENT, places[ob]) for ob, parent in above]
    carriers = {carrier: number for number, carrier in enumerate(dict.fromkeys(parents))}
    pairs = [(entry.follow.pairs[0], entry.follow.pairs[1] if entry.plane == "POLE" else NOTHING) for entry in entries]
    followed = dict.fromkeys(pair for both in pairs for pair in both if pair[0])
    numbers = {pair: number for number, pair in enumerate(followed)}
    most = max((len(entry.bones) for entry in entries), default=2)
    bones = [[*(index[ob, name] for name in one.bones), *[ABSENT] * (most - len(one.bones))] for ob, one in refs]
    return Table(
        limbs=entries,
        rigs=(*places,),
        ends=(*accumulate(len(ob.pose.bones) for ob in places),),
        rig=np.array([places[ob] for ob, _ in refs], int),
        parents=np.array([parent for parent, _ in parents], int),
        carriers=np.array([*carriers], int).reshape(-1, 2),
        carrier=np.array([carriers[parent] for parent in parents], int),
        bones=np.array(bones, int).reshape(-1, most),
        last_bones=np.array([index[ob, entry.name] for ob, entry in refs], int),
        to_parent=np.array([entry.to_parent for entry in entries]).reshape(-1, 4, 4),
        from_parent=np.array([matrices.inverted(entry.to_parent) for entry in entries]).reshape(-1, 4, 4),
        not_plain=tuple(row for row, entry in enumerate(entries) if not entry.is_plain),
        axes=np.array([entry.axes for entry in entries]).reshape(-1, 3, 3),
        loose=np.flatnonzero([not entry.is_connected for entry in entries]),
        batches=tuple(_batches(entries)),
        is_poled=np.array([entry.is_poled for entry in entries], bool),
        moved_roots=tuple(row for row, entry in enumerate(entries) if entry.plane in MOVES_ROOT),
        sliders=tuple(slider for slider in every_slider() if any(has_slider(limb, slider.name) for limb in limbs)),
        followed=tuple(followed),  # type: ignore[arg-type]
        follows=np.array([[numbers.get(pair, ABSENT) for pair in both] for both in pairs], int).reshape(-1, 2).T,
    )


def _batches(limbs: Sequence[LimbEntry]) -> Iterator[Batch]:
    """Limbs by plane, number of bones, and which of these keep together."""
    kinds = [(limb.plane, len(limb.bones), limb.geometry.is_zigzag) for limb in limbs]
    for kind in dict.fromkeys(kinds):
        rows: Any = [row for row, other_kind in enumerate(kinds) if other_kind == kind]
        members = [limbs[row] for row in rows]
        rows = slice(None) if len(rows) == len(limbs) else np.array(rows)
        ranges = [
            range_of(limb.geometry.lengths, limb.geometry.angles, limb.choices["min_angle"], limb.choices["max_angle"])
            for limb in members
        ]
        settings = Settings(
            softness=None,
            nearest=np.array([nearest for nearest, _ in ranges]),
            farthest=np.array([farthest for _, farthest in ranges]),
        )
        for feature in FEATURES:
            settings = settings._replace(**feature.still(members))
        yield Batch(
            plane=Plane(members[0].plane),
            rows=rows,
            reference=reference_of([limb.geometry for limb in members]),
            settings=settings,
            is_limited=any(nearest > 0.0 or farthest < inf for nearest, farthest in ranges),
            is_poled=np.array([limb.is_poled for limb in members], bool),
            outwards=np.array([limb.outward for limb in members]),
        )


def _single(row: int, batches: Sequence[Batch]) -> SingleLimb:
    """The limb of a row of the table."""
    batch = next(batch for batch in batches if isinstance(batch.rows, slice) or row in batch.rows)
    row_in_batch = row if isinstance(batch.rows, slice) else batch.rows.tolist().index(row)
    return SingleLimb(batch.plane, row_of(batch.reference, row_in_batch), row_of(batch.settings, row_in_batch))


def reference_of(geometries: Sequence[RestGeometry]) -> Reference:
    """The geometry of limbs of one kind, with as many bones, as the solver takes it: a row for each."""

    def rows(values: Any) -> Any:
        return tuple(np.asarray(values, float).reshape(len(geometries), -1).T)

    segments = range(len(geometries[0].lengths))
    own_rotations = [[geometry.reference_rotations[k] for geometry in geometries] for k in segments]
    first_axes = [(geometry.frame[:3, :3].T @ geometry.reference[0][:3, :3]).T for geometry in geometries]
    return reference(
        lengths=rows([geometry.lengths for geometry in geometries]),
        half_angles=[rows([rotation.half_of(geometry.angles[k]) for geometry in geometries]) for k in segments],
        first_axes=tuple(rows([axes[i] for axes in first_axes]) for i in range(3)),
        normals=[rows([geometry.normals[k] for geometry in geometries]) for k in segments[1:]],
        reference_rotations=[IDENTITY if set(turns) == {IDENTITY} else rows(turns) for turns in own_rotations],
        ops=ARRAYS,
        bone_directions=[rows([geometry.bone_directions[k] for geometry in geometries]) for k in segments[1:]],
        plane_offsets=rows([geometry.plane_offsets for geometry in geometries]),
        is_zigzag=geometries[0].is_zigzag,
    )
