"""From a rig as Blender evaluated it to the rotations of its limbs: gather, and solve all at once by arrays.

A `Table` holds what does not change while limbs move. What does is read of an evaluated rig: `frames_now` (where each
limb's frame G is), `places` (targets and poles), `sliders` and `own_turns` (the bones' FK pose). `solve` takes these,
or the same for many frames, stacked in front: frames x limbs is one call."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Depsgraph, PoseBone
from mathutils import Matrix as BlenderMatrix
from numpy.typing import NDArray

from ..blender.rotation import to_quaternion
from ..blender.types import ArmatureObject
from ..solver.limb import Plane, Reference, Settings, pose_limbs, reference
from ..solver.ops import ARRAYS
from .follow import Follow, follow_of, place_of
from .home import bones_of_limb, choices_of
from .settings import SLIDERS, UNLIMITED
from .shape import Shape, half, shape_of

Array = NDArray[Any]


class Limb(NamedTuple):
    """One limb of a table: the names of its links' first bones and of its last bone, its shape and what it follows."""

    last: str
    bones: tuple[str, ...]
    shape: Shape
    follow: Follow
    plane: str
    choices: dict[str, Any]
    is_plain: bool
    to_parent: Array


class Table(NamedTuple):
    """What of some limbs of a rig does not change while they move; arrays have a row for each limb."""

    limbs: tuple[Limb, ...]
    parents: Array  # index of the bone that carries the limb, or -1
    firsts: Array  # index of the limb's first bone
    to_parent: Array  # (n, 4, 4): takes G to the pose of that bone, in a limb that inherits plainly
    is_plain: Array  # whether it does
    reference: Reference
    groups: tuple[tuple[Plane, Array], ...]  # each plane, and the rows of the limbs in it
    is_poled: Array


class Found(NamedTuple):
    """What came of limbs: local rotations (..., n, 2, 4), w first; stretch, `Reach` and the shortfall (..., n)."""

    turns: Array
    stretch: Array
    reach: Array
    shortfall: Array


def limb_of(last: PoseBone) -> Limb:
    """The limb of a last bone, of the rig as it is now."""
    shape = shape_of(last)
    bones = bones_of_limb(last)
    first = bones[0]
    parent, choices = first.parent, choices_of(last)
    to_parent = shape.frame
    if parent is not None:
        to_parent = np.linalg.inv(np.array(parent.bone.matrix_local, float)) @ shape.frame
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
    planes = [Plane(limb.plane) for limb in limbs]
    return Table(
        limbs,
        np.array([index[parent.name] if parent else -1 for parent in parents], int),
        np.array([index[limb.bones[0]] for limb in limbs], int),
        np.array([limb.to_parent for limb in limbs]).reshape(-1, 4, 4),
        np.array([limb.is_plain for limb in limbs], bool),
        reference_of([limb.shape for limb in limbs]),
        tuple((plane, np.flatnonzero([each == plane for each in planes])) for plane in dict.fromkeys(planes)),
        np.array([limb.plane == "POLE" and limb.follow.pole is not None for limb in limbs], bool),
    )


def reference_of(shapes: Sequence[Shape]) -> Reference:
    """The shapes of limbs as the solver takes them, a row for each."""

    def rows(values: Any) -> Any:
        return tuple(np.asarray(values, float).reshape(len(shapes), -1).T)

    axes = [(shape.frame[:3, :3].T @ shape.reference[0][:3, :3]).T for shape in shapes]
    return reference(
        rows([shape.lengths for shape in shapes]),
        rows([half(shape.alpha) for shape in shapes]),
        rows([half(shape.kappa) for shape in shapes]),
        tuple(rows([axis[i] for axis in axes]) for i in range(3)),
        rows([shape.normals[1] for shape in shapes]),
        tuple(rows([shape.stills[i] for shape in shapes]) for i in range(2)),
        ARRAYS,
        rows([shape.along for shape in shapes]),
    )


def pose_matrices(evaluated: ArmatureObject) -> Array:
    """The matrices of all bones of an evaluated pose, (bones, 4, 4), in the armature."""
    flat = np.empty(16 * len(evaluated.pose.bones), np.float32)
    evaluated.pose.bones.foreach_get("matrix", flat)
    return flat.reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)


def frames_now(table: Table, evaluated: ArmatureObject, poses: Array) -> Array:
    """Where the frame G of each limb is in the armature now, (n, 4, 4). ``poses`` is `pose_matrices` of it."""
    parents = np.where((table.parents < 0)[:, None, None], np.eye(4), poses[table.parents])
    frames: Array = parents @ table.to_parent
    for row in np.flatnonzero(~table.is_plain):
        frames[row] = carried(evaluated, table.limbs[row].shape)
    return frames


def carried(evaluated: ArmatureObject, shape: Shape) -> Array:
    """G now of a limb whose first bone may inherit less than all from its parent: Blender's own function says what."""
    bone = evaluated.pose.bones[shape.names[0]]
    parent: dict[str, Any] = {}
    if bone.parent:
        parent = {"parent_matrix": bone.parent.matrix, "parent_matrix_local": bone.parent.bone.matrix_local}
    unturned = bone.bone.convert_local_to_pose(BlenderMatrix(), bone.bone.matrix_local, **parent)
    moved: Array = np.array(unturned, float) @ np.linalg.inv(shape.rest[0]) @ shape.frame
    return moved


def places(table: Table, evaluated: ArmatureObject, depsgraph: Depsgraph) -> tuple[Array, Array]:
    """Where targets and poles are in the rig's armature, (n, 3) each; a limb without one has NaN there."""
    from_world = np.linalg.inv(np.array(evaluated.matrix_world, float))
    found = np.full((2, len(table.limbs), 4), np.nan)
    for row, limb in enumerate(table.limbs):
        for k, (ob, bone) in enumerate(limb.follow.pairs):
            if ob is not None and (k == 0 or table.is_poled[row]):
                place = place_of(ob, bone, depsgraph)
                if place is not None:
                    found[k, row] = (*place, 1.0)
    local = found @ from_world.T
    return local[0, :, :3], local[1, :, :3]


def sliders_of(table: Table, evaluated: ArmatureObject) -> dict[str, Array]:
    """The sliders of limbs by name, (n) each; a feature that a limb lacks is at its default."""
    bones = evaluated.pose.bones
    rows = [bones[limb.last] for limb in table.limbs]
    return {slider.name: np.array([bone.get(slider.key, slider.default) for bone in rows], float) for slider in SLIDERS}


def own_turns(table: Table, evaluated: ArmatureObject) -> Array:
    """The bones' own (FK) rotations as their channels say, (n, 2, 4), w first."""
    found = np.empty((len(table.limbs), 2, 4))
    bones = evaluated.pose.bones
    for row, limb in enumerate(table.limbs):
        for k, name in enumerate(limb.bones):
            found[row, k] = own_turn(bones[name])
    return found


def own_turn(bone: PoseBone) -> Any:
    """A bone's own rotation, as its channels say."""
    mode = bone.rotation_mode
    if mode == "QUATERNION":
        return to_quaternion(mode, bone.rotation_quaternion[:])
    if mode == "AXIS_ANGLE":
        return to_quaternion(mode, bone.rotation_axis_angle[:])
    return to_quaternion(mode, bone.rotation_euler[:])


def into_frames(frames: Array, points: Array) -> Array:
    """Points (..., n, 3) of the armature in each limb's frame G (..., n, 4, 4)."""
    padded = np.concatenate([points, np.ones((*points.shape[:-1], 1))], axis=-1)
    with np.errstate(all="ignore"):
        try:
            inverse = np.linalg.inv(frames)
        except np.linalg.LinAlgError:  # something is scaled to nothing
            inverse = np.linalg.pinv(np.nan_to_num(frames))
        local: Array = (inverse @ padded[..., None])[..., :3, 0]
    return local


def solve(table: Table, target: Array, pole: Array, sliders: dict[str, Array], own: Array) -> Found:
    """Pose limbs whose targets and poles are at these places of G, (..., n, 3); sliders (..., n), own (..., n, 2, 4).

    A limb without a target keeps its own pose and is `Reach.INVALID`.
    """
    shape = target.shape[:-1]
    found = Found(np.empty((*shape, 2, 4)), np.ones(shape), np.empty(shape, np.int8), np.zeros(shape))
    for plane, rows in table.groups:
        turns, stretch, reach, shortfall = _pose_rows(table, plane, rows, target, pole, sliders, own)
        found.turns[..., rows, :, :] = turns
        found.stretch[..., rows], found.reach[..., rows], found.shortfall[..., rows] = stretch, reach, shortfall
    return found


def _pose_rows(
    table: Table, plane: Plane, rows: Array, target: Array, pole: Array, sliders: dict[str, Array], own: Array
) -> list[Array]:
    """`solve` for the limbs of one plane."""
    settings = settings_of(table, rows, {name: values[..., rows] for name, values in sliders.items()})
    mine = own[..., rows, :, :]
    poled = np.where(table.is_poled[rows][:, None], pole[..., rows, :], target[..., rows, :])  # in line: as without one
    is_set = np.isfinite(target[..., rows, :]).all(axis=-1)
    poses = pose_limbs(
        target[..., rows, :],
        _rows(table.reference, rows),
        settings,
        plane,
        poled if plane is Plane.POLE else None,
        (mine[..., 0, :], mine[..., 1, :]),
        TOLERANCE,
    )
    turns = np.stack(np.broadcast_arrays(*poses.turns), axis=-2)
    turns = np.where(is_set[..., None, None], turns, mine)
    return [turns, poses.stretch, poses.reach, poses.shortfall]


TOLERANCE = 1e-5
"""The shortfall, as a fraction of the limb's length, that still counts as reached: poses are in single precision."""


def settings_of(table: Table, rows: Array, sliders: dict[str, Array]) -> Settings:
    """What the solver takes, of some limbs of a table."""
    choices = [table.limbs[row].choices for row in rows]
    largest = np.array([choice["max_angle"] for choice in choices], float)
    smallest = [cos(choice["min_angle"] / 2.0) ** 2 for choice in choices]
    swivel = sliders["swivel"] / 2.0
    return Settings(
        1.0 - 2.0 * (sliders["flip"] > 0.5),
        (np.cos(swivel), np.sin(swivel)),
        np.clip(sliders["softness"], 0.0, 1.0),
        np.clip(sliders["stretch"], 0.0, 1.0),
        np.array([choice["stretch_max"] for choice in choices], float),
        np.array(smallest, float),
        np.cos(largest / 2.0) ** 2 * (largest < UNLIMITED),
        np.clip(sliders["influence"], 0.0, 1.0),
    )


def _rows(tree: Any, rows: Array) -> Any:
    """Nested tuples of arrays (n) with these rows of each."""
    if isinstance(tree, tuple):
        parts = [_rows(branch, rows) for branch in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    return tree[rows] if isinstance(tree, np.ndarray) and tree.ndim else tree


def scales_of(limb: Limb, stretch: float) -> tuple[float, float, float]:
    """The factors on a bone's scale with which it is so many times as long."""
    if limb.choices["stretch_volume"] == "UNIFORM" or not all(limb.shape.points):
        return (stretch, stretch, stretch)
    width = stretch**-0.5 if limb.choices["stretch_volume"] == "VOLUME" else 1.0
    return (width, stretch, width)
