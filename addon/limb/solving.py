"""From a rig as Blender evaluated it to the rotations of its limbs: gather, and solve all at once by arrays.

A `Table` holds what does not change while limbs move. What does is read of an evaluated rig: `frames_now` (where each
limb's frame G is, with the first bone's own location), `places` (targets and poles), `sliders` and `own_turns` (the
bones' FK pose). `solve` takes these, or the same for many frames, stacked in front: frames x limbs is one call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import nan
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Depsgraph, PoseBone

from ..blender.rotation import get_turn, read_matrices
from ..blender.types import ArmatureObject
from ..solver.limb import IN_ONE_PLANE, ORIGIN, Plane, Pose, Poses, Settings, joints_of, pose_limb, pose_limbs
from ..solver.matrices import applied, inverted, inverted_all
from ..solver.ops import ARRAYS as FORMULAS
from ..solver.ops import Array, Column, Matrices, Points, Quaternions
from . import follow, spec, tolerances
from .features import FEATURES
from .features.stretch import scales_for
from .rest_geometry import IDENTITY, RestGeometry, squared
from .settings import BonesPerSegment, every_slider
from .storage import bones_of_limb, chain_bones, has_slider, value_in
from .table import ABSENT, Batch, LimbEntry, Table, table_of
from .tips import rest_matrix
from .transforms import own_location, unposed


class Solution(NamedTuple):
    """How n limbs are posed, in one frame or in many."""

    turns: Array  # (..., n, segments, 4), w first: local rotations; identity past the last segment of a limb
    stretch: Array  # (..., n): factor on the bones' lengths
    reach: Array  # (..., n): `Reach`
    shortfall: Array  # (..., n): from tip to target, in the armature's unit
    root: Array | None = None  # (..., n, 3): where first joints go in G; None where none does


def frames_now(table: Table, poses: Matrices, locations: Points | None) -> Matrices:
    """Where the frame G of each limb is in its armature now, (n, 4, 4). ``poses`` are the matrices of all bones of
    the table's rigs, ``locations`` those that the channels of first bones say, (n, 3)."""
    parents = poses[table.parents].astype(float)
    parents[table.parents == ABSENT] = np.eye(4)
    return frames_below(table, parents, locations)


def frames_below(table: Table, parents: Matrices, locations: Points | None) -> Matrices:
    """Where the frame G of each limb is in its armature, (..., n, 4, 4), by the poses of the first bones' parents.
    These are (..., n, 4, 4), the identity for no parent; first bones may have locations (..., n, 3)."""
    frames: Array = parents @ table.to_parent
    if locations is not None:
        frames[..., :3, 3] += (frames[..., :3, :3] @ table.axes @ locations[..., None])[..., 0]
    for row in table.not_plain:
        geometry = table.limbs[row].geometry
        first = table.rigs[table.rig[row]].data.bones[geometry.names[0]]
        location = None if locations is None else locations[..., row, :]
        carried = unposed(first, parents[..., row, :, :], location)
        frames[..., row, :, :] = carried @ inverted(geometry.rest[0]) @ geometry.frame
    return frames


def carry_of(first: PoseBone) -> Matrices:
    """What moved the first bone of a limb from its rest, but for its own rotation and scale: (4, 4), in the
    armature."""
    above = np.array(first.parent.matrix, float) if first.parent else None
    carry: Array = unposed(first.bone, above, own_location(first)) @ inverted(squared(rest_matrix(first.bone)))
    return carry


def frame_now(evaluated: ArmatureObject, geometry: RestGeometry) -> Matrices:
    """Where the frame G of one limb is in the armature now (4, 4)."""
    frame: Array = carry_of(evaluated.pose.bones[geometry.names[0]]) @ geometry.frame
    return frame


def places(table: Table, depsgraph: Depsgraph) -> Points:
    """Where targets and poles are in the world, (2, n, 3); a limb without one has NaN there."""
    evaluated_one: Any = depsgraph.id_eval_get
    found: list[Any] = [
        follow.place_of(ob, bone, depsgraph) if bone else evaluated_one(ob).matrix_world.translation
        for ob, bone in table.followed
    ]
    numbers = np.fromiter(chain.from_iterable(NOWHERE if place is None else place for place in (*found, None)), float)
    return numbers.reshape(-1, 3)[table.follows]


NOWHERE = (nan, nan, nan)


def sliders_of(table: Table, rigs: Sequence[Any]) -> dict[str, Array]:
    """The sliders of limbs of evaluated rigs, by name, (n) each. A feature that a limb lacks is at its default, as
    are those of a rig that is None."""
    shown = [None if ob is None else ob.pose.bones for ob in rigs]
    owners = [shown[place] for place in table.rig.tolist()]
    rows = [{} if bones is None else bones[limb.name] for bones, limb in zip(owners, table.limbs, strict=True)]
    values: dict[str, Array] = {}
    absent: dict[float, Array] = {}  # what is at the same default shares its numbers
    for slider in every_slider():
        key = slider.key
        if slider not in table.sliders:
            if slider.default not in absent:
                absent[slider.default] = np.full(len(rows), slider.default, float)
            values[slider.name] = absent[slider.default]
            continue
        if slider.bone != spec.ALL:
            values[slider.name] = np.array([value_in(bone, slider) for bone in rows], float)
            continue
        try:
            values[slider.name] = np.array([bone[key] for bone in rows], float)  # `get` takes twice as long
        except KeyError:
            values[slider.name] = np.array([bone.get(key, slider.default) for bone in rows], float)
    return values


def at_rest(shape: Sequence[int]) -> Quaternions:
    """No turns, (..., n, segments, 4) for a shape (..., n, segments), which some limbs have fewer of."""
    return np.tile(np.array(IDENTITY), (*shape, 1))


class LimbsNow(NamedTuple):
    """The n limbs of a table as they are evaluated."""

    table: Table
    poses: Array  # (bones, 4, 4): of all bones of the rig, in the armature
    world: Array  # (4, 4): of the rig
    frames: Array  # (n, 4, 4): G, in the world
    sliders: dict[str, Array]  # by name, (n)
    own: Array  # (n, segments, 4), w first: the bones' FK rotations
    own_length: Array  # (n): how many times as long limbs that stretch are by their own scale
    target: Array  # (n, 3), in G; not a number where a limb has none
    pole: Array  # the same


def limbs_now(
    ob: ArmatureObject,
    limbs: Sequence[PoseBone],
    depsgraph: Depsgraph,
    is_whole: bool = False,
    table: Table | None = None,
) -> LimbsNow:
    """Read limbs of a rig by their last bones; with ``is_whole``, as if all influence was 1. Who knows their ``table``
    saves the time to make it."""
    evaluated: Any = ob.evaluated_get(depsgraph)
    table, bones = table or table_of(limbs), ob.pose.bones
    poses, world = read_matrices([evaluated], table.ends).astype(float), np.array(evaluated.matrix_world, float)
    locations, own = np.zeros((len(limbs), 3)), at_rest(table.bones.shape)
    for row, limb in enumerate(table.limbs):  # of the original rig: live limbs have the solution in the evaluated one
        own[row, : len(limb.bones)] = [get_turn(bones[name]) for name in limb.bones]
        if not limb.is_connected:
            locations[row] = bones[limb.bones[0]].location
    frames = world @ frames_now(table, poses, locations)
    target, pole = into_frames(frames, places(table, depsgraph))
    sliders = sliders_of(table, [evaluated])
    if is_whole:
        sliders["influence"] = np.ones(len(limbs))
    return LimbsNow(
        table=table,
        poses=poses,
        world=world,
        frames=frames,
        sliders=sliders,
        own=own,
        own_length=own_lengths(ob, limbs),
        target=target,
        pole=pole,
    )


def own_lengths(ob: ArmatureObject, limbs: Sequence[PoseBone]) -> Column:
    """How many times as long limbs that stretch are by the scale of their first bones, (n)."""
    bones = [ob.pose.bones[limb.name] for limb in limbs]
    lengths = [bones_of_limb(limb)[0].scale[1] if has_slider(limb, "stretch") else 1.0 for limb in bones]
    return np.array(lengths, float)


def into_frames(frames: Matrices, points: Points) -> Points:
    """Points (..., n, 3) as seen in each limb's frame G, which is at ``frames`` (..., n, 4, 4). Not finite where
    something is scaled to nothing."""
    return applied(inverted_all(frames), points)


def into_limbs(table: Table, rigs: Sequence[Any], locations: Points | None) -> Matrices:
    """What takes points of the world into each limb's frame G now, (n, 4, 4), of evaluated rigs. Not a number for
    one that is None. As a rule, a few bones carry all limbs of a rig."""
    poses = read_matrices(rigs, table.ends)
    worlds: Array = np.array([UNSHOWN if ob is None else [row[:] for row in ob.matrix_world] for ob in rigs])
    if table.not_plain:
        frames: Array = worlds[table.rig] @ frames_now(table, poses, locations)
        return inverted_all(frames)
    bones, places_of_rigs = table.carriers.T
    carriers = poses[bones].astype(float)
    carriers[bones == ABSENT] = np.eye(4)
    into: Array = table.from_parent @ inverted_all(worlds[places_of_rigs] @ carriers)[table.carrier]
    if locations is not None:
        into[:, :3, 3] -= (table.axes @ locations[..., None])[..., 0]
    return into


UNSHOWN = [[nan] * 4] * 4


Sliders = dict[str, Array]


def solve(
    table: Table,
    target: Points,
    pole: Points,
    sliders: Sliders,
    own: Quaternions | None,
    tolerance: float | None = tolerances.ON_TARGET,
) -> Solution:
    """Pose limbs by targets and poles (..., n, 3) in G, sliders (..., n) and own turns (..., n, segments, 4). Own turns
    are not needed where all targets are there and every influence is 1.

    A limb without a target keeps its own pose and is `Reach.INVALID`. Without ``tolerance``, nobody asks for the reach.
    """
    shape, segments = target.shape[:-1], table.bones.shape[1]
    turns = np.empty((*shape, segments, 4)) if len(table.batches) == 1 else at_rest((*shape, segments))
    root = np.zeros((*shape, 3)) if table.moved_roots else None
    solution = Solution(turns, np.empty(shape), np.empty(shape, np.int8), np.empty(shape), root)
    for batch in table.batches:
        rows = batch.rows
        batch_own = None if own is None else own[..., rows, :, :]
        poses = _pose_batch(batch, target[..., rows, :], pole[..., rows, :], sliders, batch_own, tolerance)
        for k, turn in enumerate(poses.turns):
            solution.turns[..., rows, k, :] = turn
        solution.stretch[..., rows] = poses.stretch
        solution.reach[..., rows] = poses.reach
        solution.shortfall[..., rows] = poses.shortfall
        if root is not None:
            root[..., rows, :] = poses.root
    if own is not None:
        is_set = np.isfinite(target).all(axis=-1)
        if not is_set.all():
            np.copyto(solution.turns, own, where=~is_set[..., None, None])
    return solution


def joints_in(table: Table, solution: Solution) -> Points:
    """Where a solution puts knees and tips, in each limb's G: (..., n, segments, 3). The tip is the last one, also
    of limbs that have fewer."""
    turns = solution.turns
    places = np.empty((*turns.shape[:-1], 3))
    for batch in table.batches:
        rows, count = batch.rows, len(batch.reference.lengths)
        components: Any = [tuple(np.moveaxis(turns[..., rows, k, :], -1, 0)) for k in range(count)]
        root: Any = ORIGIN if solution.root is None else tuple(np.moveaxis(solution.root[..., rows, :], -1, 0))
        for k, joint in enumerate(joints_of(components, batch.reference, solution.stretch[..., rows], root)):
            places[..., rows, k, :] = np.stack(np.broadcast_arrays(*joint), axis=-1)
        places[..., rows, count:, :] = places[..., rows, count - 1 : count, :]
    return places


def counting(table: Table, frames: Matrices, targets: Points, tips: Points) -> Points:
    """The targets of a table's n limbs as they count: a hinge's, moved along its axis to the depth of the tip. Targets
    and tips are (..., n, 3) and the limbs' frames G (..., n, 4, 4), all in the world or all in the armature."""
    rows = [row for row, limb in enumerate(table.limbs) if limb.plane in IN_ONE_PLANE]
    if not rows:
        return targets
    inside, of_tips = (into_frames(frames[..., rows, :, :], places[..., rows, :]) for places in (targets, tips))
    inside[..., 2] = of_tips[..., 2]
    targets = targets.copy()
    targets[..., rows, :] = applied(frames[..., rows, :, :], inside)
    return targets


def _pose_batch(
    batch: Batch, target: Points, pole: Points, sliders: Sliders, own: Quaternions | None, tolerance: float | None
) -> Poses:
    """`solve` for the limbs of one batch."""
    if not isinstance(batch.rows, slice):
        sliders = {name: values[..., batch.rows] for name, values in sliders.items()}
    settings, pole_taken = _settings_and_pole(batch, target, pole, sliders)
    if own is not None:
        settings = settings._replace(influence=sliders["influence"].clip(0.0, 1.0))
    return pose_limbs(
        target,
        batch.reference,
        settings,
        batch.plane,
        pole_taken,
        None if own is None else tuple(own[..., k, :] for k in range(len(batch.reference.lengths))),
        tolerance,
    )


def solve_rows(table: Table, target: Points, pole: Points, sliders: Sliders) -> Pose:
    """Pose the only limb of a table in IK, for rows of targets and poles in G (rows, 3) and of sliders (rows). What
    is asked for often, of few rows."""
    batch, single = table.batches[0], table.singles[0]
    settings, pole_taken = _settings_and_pole(batch, target, pole, sliders)
    components = None if pole_taken is None else tuple(pole_taken.T)
    with np.errstate(all="ignore"):
        return pose_limb(tuple(target.T), single.reference, settings, single.plane, FORMULAS, components, None, None)


def _settings_and_pole(batch: Batch, target: Points, pole: Points, sliders: Sliders) -> tuple[Settings, Array | None]:
    """How the limbs of a batch behave as their sliders say, and where poles are, if any is followed."""
    settings = batch.settings
    if sliders["flip"].any():
        settings = settings._replace(side=1.0 - 2.0 * (sliders["flip"] > 0.5))
    if sliders["swivel"].any():
        swivel = sliders["swivel"] * batch.outwards / 2.0
        settings = settings._replace(swivel=(np.cos(swivel), np.sin(swivel)))
    for feature in FEATURES:
        settings = feature.settings(settings, sliders, batch)
    is_poled = (batch.is_poled & (sliders["pole"] > 0.5))[..., None] if batch.plane is Plane.POLE else np.zeros(1, bool)
    return settings, np.where(is_poled, pole, target) if is_poled.any() else None  # in line: as without one


def scaled_bones(limb: PoseBone) -> list[PoseBone]:
    """The bones of a limb that its stretch scales; the others inherit their scale."""
    if not has_slider(limb, "stretch"):
        return []
    chain = chain_bones(limb)
    return [bone for bone in chain if bone == chain[0] or bone.bone.inherit_scale in ("NONE", "NONE_LEGACY")]


def own_size(scale: Any, influence: Any) -> Any:
    """How much of a bone's own scale is left at an influence: none at 1, where stretch says the sizes."""
    return 1.0 + (scale - 1.0) * (1.0 - influence)


def scales_of(limb: LimbEntry, stretch: float) -> tuple[float, float, float]:
    """The factors (x, y, z) on a bone's scale that make it ``stretch`` times as long."""
    return scales_for(limb.choices, limb.geometry.points, stretch)


# where limbs are, beside where they should be


SIZELESS = "'{bone}', or what carries it, is scaled to nothing or not a number"

BONE_MOVED = "'{bone}' is moved by its own location: clear that"
"""Of a limb, only the first bone may be."""

BONE_SCALED = "'{bone}' is scaled by itself: clear its scale, and delete the keys of that"


UNEVEN = "'{object}' is scaled unevenly, and '{bone}' can't be as it is for that: apply the object's scale first"

SCALED_APART = "'{bone}' is scaled differently from its parent: set its Inherit Scale to Full"


def evaluated_joints(evaluated: ArmatureObject, last_bone: str, segments: BonesPerSegment, tip: Any) -> Points:
    """Where an evaluated rig has the knees and the tip of a limb, whatever poses it: (segments, 3), in the armature.
    Of bones that are none yet, too. ``tip`` is where that is in the last bone's own space."""
    bone: Any = evaluated.pose.bones[last_bone]
    knees = [below.head[:] for below in bones_of_limb(bone, segments)[1:]]
    joints: Array = np.array([*knees, (np.array(bone.matrix, float) @ [*tip, 1.0])[:3]])
    return joints


class Measured(NamedTuple):
    """Limbs as evaluated, and as the solver expects them: a row for each limb, in world space."""

    solution: Solution
    tips: Array  # (n, 3), evaluated
    joints: Array  # (n, segments, 3), expected: knees, then the tip
    knee_errors: Array  # (n): how far evaluated knees are from there at most
    targets: Array  # (n, 3); of hinges, where that is in the plane of their tip
    poles: Array  # (n, 3)
    influence: Array  # (n)
    lengths: Array  # (n): the lengths of the limbs, in the armature
    sizes: Array  # (n): in the world
    is_uneven: bool  # whether the rig itself is scaled unevenly in the world


def measure(now: LimbsNow) -> Measured:
    """Measure where knees and tips of limbs are, and where they should be."""
    table = now.table
    solution = solve(table, now.target, now.pole, now.sliders, now.own)
    turns = solution.turns / np.linalg.norm(solution.turns, axis=-1, keepdims=True)  # as Blender takes them
    stretch = solution.stretch * own_size(now.own_length, now.sliders["influence"])
    joints = applied(now.frames[:, None], joints_in(table, solution._replace(turns=turns, stretch=stretch)))
    tips = applied(now.world @ now.poses[table.last_bones], np.array([limb.geometry.tip for limb in table.limbs]))
    targets = counting(table, now.frames, applied(now.frames, now.target), tips)
    knees = (now.world @ now.poses[table.bones[:, 1:]])[..., :3, 3]
    knee_errors = np.linalg.norm(knees - joints[:, :-1], axis=-1)
    knee_errors[table.bones[:, 1:] == ABSENT] = 0.0
    lengths = np.array([sum(limb.geometry.lengths) for limb in table.limbs])
    sizes = lengths * np.linalg.norm(now.frames[:, :3, 1], axis=-1)
    return Measured(
        solution=solution,
        tips=tips,
        joints=joints,
        knee_errors=knee_errors.max(axis=1),
        targets=targets,
        poles=applied(now.frames, now.pole),
        influence=now.sliders["influence"],
        lengths=lengths,
        sizes=sizes,
        is_uneven=is_uneven(now.world),
    )


def is_uneven(world: Matrices) -> bool:
    """Whether axes of a matrix (4, 4) are of several lengths, or not square to each other."""
    axes = world[:3, :3].T @ world[:3, :3]
    return bool(abs(axes - np.eye(3) * axes[0, 0]).max() > tolerances.UNSEEN * abs(axes[0, 0]))
