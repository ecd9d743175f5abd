"""From a rig as Blender evaluated it to the rotations of its limbs: gather, and solve all at once by arrays.

A `Table` holds what does not change while limbs move. What does is read of an evaluated rig: `frames_now` (where each
limb's frame G is), `places` (targets and poles), `sliders` and `own_turns` (the bones' FK pose). `solve` takes these,
or the same for many frames, stacked in front: frames x limbs is one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import cos, nan
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Depsgraph, PoseBone
from mathutils import Matrix as BlenderMatrix
from numpy.typing import NDArray

from ..blender.channels import read_matrices
from ..blender.dependencies import Carrier
from ..blender.rotation import get_turn
from ..blender.types import ArmatureObject
from ..solver.arrays import mapped
from ..solver.limb import Plane, Poses, Reference, Settings, pose_limbs, reference
from ..solver.ops import ARRAYS
from .follow import Follow, follow_of, place_of
from .home import bones_of_limb, choices_of
from .settings import SLIDERS, UNLIMITED, Slider
from .shape import IDENTITY, Shape, half, shape_of

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


class Part(NamedTuple):
    """Those limbs of a table that bend in one kind of plane, as the solver takes them."""

    plane: Plane
    rows: Any  # theirs in the table: indices, or a slice of all
    reference: Reference
    settings: Settings  # those that do not animate
    is_limited: bool  # whether some knee has a limit
    is_poled: Array


class Table(NamedTuple):
    """What of some limbs of a rig does not change while they move; arrays have a row for each limb."""

    limbs: tuple[Limb, ...]
    parents: Array  # index of the bone that carries the limb, or -1
    bones: Array  # (n, 2): indices of the links' first bones
    to_parent: Array  # (n, 4, 4): takes G to the pose of the parent, in a limb that inherits plainly
    otherwise: tuple[int, ...]  # the rows of those that do not
    reference: Reference
    parts: tuple[Part, ...]
    is_poled: Array
    sliders: tuple[Slider, ...]  # those that some limb has
    followed: tuple[Carrier, ...]  # all targets and poles
    follows: Array  # (2, n): which of these is each limb's target, and its pole, or -1


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
    of_all = reference_of([limb.shape for limb in limbs])
    pairs = [(limb.follow.pairs[0], limb.follow.pairs[1] if limb.plane == "POLE" else NOTHING) for limb in limbs]
    followed = dict.fromkeys(pair for each in pairs for pair in each if pair[0])
    numbers = {pair: number for number, pair in enumerate(followed)}
    is_poled = np.array([limb.plane == "POLE" and limb.follow.pole is not None for limb in limbs], bool)
    return Table(
        limbs,
        np.array([index[parent.name] if parent else -1 for parent in parents], int),
        np.array([[index[name] for name in limb.bones] for limb in limbs], int).reshape(-1, 2),
        np.array([limb.to_parent for limb in limbs]).reshape(-1, 4, 4),
        tuple(row for row, limb in enumerate(limbs) if not limb.is_plain),
        of_all,
        tuple(_parts(limbs, of_all, is_poled)),
        is_poled,
        tuple(slider for slider in SLIDERS if any(slider.key in last for last in lasts)),  # type: ignore[operator]
        tuple(followed),  # type: ignore[arg-type]
        np.array([[numbers.get(pair, -1) for pair in each] for each in pairs], int).reshape(-1, 2).T,
    )


NOTHING = (None, "")


def _parts(limbs: Sequence[Limb], of_all: Reference, is_poled: Array) -> Iterator[Part]:
    for name in dict.fromkeys(limb.plane for limb in limbs):
        members = [limb for limb in limbs if limb.plane == name]
        rows: Any = [row for row, limb in enumerate(limbs) if limb.plane == name]
        rows = slice(None) if len(rows) == len(limbs) else np.array(rows)
        largest = np.array([limb.choices["max_angle"] for limb in members], float)
        settings = Settings(
            softness=None,
            stretch_max=np.array([limb.choices["stretch_max"] for limb in members], float),
            min_cos2=np.array([cos(limb.choices["min_angle"] / 2.0) ** 2 for limb in members], float),
            max_cos2=np.cos(largest / 2.0) ** 2 * (largest < UNLIMITED),
        )
        reference = mapped(partial(_rows, rows), of_all)
        is_limited = bool((settings.min_cos2 < 1.0).any() or (settings.max_cos2 > 0.0).any())
        yield Part(Plane(name), rows, reference, settings, is_limited, is_poled[rows])


def _rows(rows: Any, number: Any) -> Any:
    return number[rows] if isinstance(number, np.ndarray) else number


def reference_of(shapes: Sequence[Shape]) -> Reference:
    """The shapes of limbs as the solver takes them, a row for each."""

    def rows(values: Any) -> Any:
        return tuple(np.asarray(values, float).reshape(len(shapes), -1).T)

    stills = [[shape.stills[i] for shape in shapes] for i in range(2)]
    axes = [(shape.frame[:3, :3].T @ shape.reference[0][:3, :3]).T for shape in shapes]
    return reference(
        rows([shape.lengths for shape in shapes]),
        rows([half(shape.alpha) for shape in shapes]),
        rows([half(shape.kappa) for shape in shapes]),
        tuple(rows([axis[i] for axis in axes]) for i in range(3)),
        rows([shape.normals[1] for shape in shapes]),
        (*(IDENTITY if set(turns) == {IDENTITY} else rows(turns) for turns in stills),),  # type: ignore[arg-type]
        ARRAYS,
        rows([shape.along for shape in shapes]),
    )


def pose_matrices(evaluated: ArmatureObject) -> Array:
    """The matrices of all bones of an evaluated pose, (bones, 4, 4), in the armature."""
    return read_matrices(evaluated).astype(float)


def frames_now(table: Table, evaluated: ArmatureObject, poses: Array) -> Array:
    """Where the frame G of each limb is in the armature now, (n, 4, 4). ``poses`` is `pose_matrices` of it."""
    parents = np.concatenate([poses, np.eye(4)[None]])[table.parents]
    frames: Array = parents @ table.to_parent
    for row in table.otherwise:
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
    found: list[Any] = [
        place_of(ob, bone, depsgraph) if bone else ob.evaluated_get(depsgraph).matrix_world.translation
        for ob, bone in table.followed
    ]
    numbers = np.array([NOWHERE if place is None else place[:] for place in (*found, None)])
    from_world = np.array(evaluated.matrix_world.inverted_safe(), float)
    target, pole = (numbers @ from_world[:3, :3].T + from_world[:3, 3])[table.follows]
    return target, pole


NOWHERE = (nan, nan, nan)


def sliders_of(table: Table, evaluated: ArmatureObject) -> dict[str, Array]:
    """The sliders of limbs by name, (n) each; a feature that a limb lacks is at its default."""
    bones = evaluated.pose.bones
    getters: list[Any] = [bones[limb.last].get for limb in table.limbs]
    found = {slider.name: np.full(len(getters), slider.default, float) for slider in SLIDERS}
    for slider in table.sliders:
        found[slider.name][:] = [get(slider.key, slider.default) for get in getters]
    return found


def own_turns(table: Table, rig: ArmatureObject) -> Array:
    """The bones' own (FK) rotations as their channels say, (n, 2, 4), w first. Live limbs have them in the original
    rig's channels; in those of the evaluated one is the solution."""
    bones = rig.pose.bones
    return np.array([[get_turn(bones[name]) for name in limb.bones] for limb in table.limbs]).reshape(-1, 2, 4)


def into_frames(frames: Array, points: Array) -> Array:
    """Points (..., n, 3) of the armature in each limb's frame G (..., n, 4, 4); not finite where something is scaled to
    nothing."""
    turned = frames[..., :3, :3]
    # LAPACK's inverse of as many small matrices takes ten times as long.
    cofactors = turned[..., NEXT, NEXT.T] * turned[..., AFTER, AFTER.T]
    cofactors -= turned[..., NEXT, AFTER.T] * turned[..., AFTER, NEXT.T]
    with np.errstate(all="ignore"):
        size = (turned[..., :1, :] * cofactors[..., :1, :]).sum(-1)
        local: Array = ((points - frames[..., :3, 3])[..., None] * cofactors).sum(-2) / size
    return local


NEXT, AFTER = np.array([[1], [2], [0]]), np.array([[2], [0], [1]])


def solve(table: Table, target: Array, pole: Array, sliders: dict[str, Array], own: Array | None) -> Found:
    """Pose limbs whose targets and poles are at these places of G, (..., n, 3); sliders (..., n), own (..., n, 2, 4),
    not needed where all targets are there and every influence is 1.

    A limb without a target keeps its own pose and is `Reach.INVALID`.
    """
    shape = target.shape[:-1]
    found = Found(np.empty((*shape, 2, 4)), np.empty(shape), np.empty(shape, np.int8), np.empty(shape))
    for part in table.parts:
        rows = part.rows
        mine = None if own is None else own[..., rows, :, :]
        poses = _pose_part(part, target[..., rows, :], pole[..., rows, :], sliders, mine)
        found.turns[..., rows, 0, :], found.turns[..., rows, 1, :] = poses.turns
        found.stretch[..., rows], found.reach[..., rows], found.shortfall[..., rows] = poses[1:]
    if own is not None:
        is_set = np.isfinite(target).all(axis=-1)
        if not is_set.all():
            np.copyto(found.turns, own, where=~is_set[..., None, None])
    return found


def _pose_part(part: Part, target: Array, pole: Array, sliders: dict[str, Array], own: Array | None) -> Poses:
    """`solve` for the limbs of one plane."""
    given = {name: values[..., part.rows] for name, values in sliders.items()}
    swivel = given["swivel"] / 2.0
    settings = part.settings._replace(side=1.0 - 2.0 * (given["flip"] > 0.5), swivel=(np.cos(swivel), np.sin(swivel)))
    if part.is_limited or given["softness"].any() or given["stretch"].any():
        softness, stretch = given["softness"].clip(0.0, 1.0), given["stretch"].clip(0.0, 1.0)
        settings = settings._replace(softness=softness, stretch=stretch)
    if own is not None:
        settings = settings._replace(influence=given["influence"].clip(0.0, 1.0))
    is_poled = (part.is_poled & (given["pole"] > 0.5))[..., None] if part.plane is Plane.POLE else np.zeros(1, bool)
    return pose_limbs(
        target,
        part.reference,
        settings,
        part.plane,
        np.where(is_poled, pole, target) if is_poled.any() else None,  # in line: as without one
        None if own is None else (own[..., 0, :], own[..., 1, :]),
        TOLERANCE,
    )


TOLERANCE = 1e-5
"""The shortfall, as a fraction of the limb's length, that still counts as reached: poses are in single precision."""


def scales_of(limb: Limb, stretch: float) -> tuple[float, float, float]:
    """The factors on a bone's scale with which it is so many times as long."""
    if limb.choices["stretch_volume"] == "UNIFORM" or not all(limb.shape.points):
        return (stretch, stretch, stretch)
    width = stretch**-0.5 if limb.choices["stretch_volume"] == "VOLUME" else 1.0
    return (width, stretch, width)
