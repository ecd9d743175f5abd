"""What of a rig's limbs does not change while they move: their shapes, what they follow, and all of it as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import cos, sin
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..blender.dependencies import Carrier
from ..blender.types import ArmatureObject
from ..solver.arrays import mapped, row_of
from ..solver.limb import Plane, Reference, Settings, reference
from ..solver.matrices import inverted
from ..solver.ops import ARRAYS
from .follow import Follow, follow_of
from .home import bones_of_limb, choices_of, has_slider
from .settings import SLIDERS, UNLIMITED, Slider
from .shape import IDENTITY, Shape, matrix_of, shape_of

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
    carriers: tuple[int, ...]  # the parents, each once
    carried: Array  # which of these carries each limb
    bones: Array  # (n, 2): indices of the links' first bones
    lasts: Array  # indices of the last bones
    to_parent: Array  # (n, 4, 4): takes G to the pose of the parent, in a limb that inherits plainly
    from_parent: Array  # and back
    otherwise: tuple[int, ...]  # the rows of those that do not
    reference: Reference
    parts: tuple[Part, ...]
    singles: tuple[tuple[Plane, Reference, Settings], ...]  # the same limb by limb, in floats
    is_poled: Array
    sliders: tuple[Slider, ...]  # those that some limb has
    followed: tuple[Carrier, ...]  # all targets and poles
    follows: Array  # (2, n): which of these is each limb's target, and its pole, or -1


def limb_of(last: PoseBone) -> Limb:
    """The limb of a last bone, of the rig as it is now."""
    shape = shape_of(last)
    bones = bones_of_limb(last)
    first = bones[0]
    parent, choices = first.parent, choices_of(last)
    to_parent = shape.frame
    if parent is not None:
        to_parent = inverted(matrix_of(parent.bone)) @ shape.frame
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
    of_all = reference_of([limb.shape for limb in limbs])
    pairs = [(limb.follow.pairs[0], limb.follow.pairs[1] if limb.plane == "POLE" else NOTHING) for limb in limbs]
    followed = dict.fromkeys(pair for each in pairs for pair in each if pair[0])
    numbers = {pair: number for number, pair in enumerate(followed)}
    is_poled = np.array([limb.plane == "POLE" and limb.follow.pole is not None for limb in limbs], bool)
    parts = tuple(_parts(limbs, of_all, is_poled))
    return Table(
        limbs,
        np.array(places, int),
        carriers,
        np.array([carriers.index(place) for place in places], int),
        np.array([[index[name] for name in limb.bones] for limb in limbs], int).reshape(-1, 2),
        np.array([index[limb.last] for limb in limbs], int),
        np.array([limb.to_parent for limb in limbs]).reshape(-1, 4, 4),
        np.array([inverted(limb.to_parent) for limb in limbs]).reshape(-1, 4, 4),
        tuple(row for row, limb in enumerate(limbs) if not limb.is_plain),
        of_all,
        parts,
        tuple(_single(row, parts, of_all) for row in range(len(limbs))),
        is_poled,
        tuple(slider for slider in SLIDERS if any(has_slider(last, slider.name) for last in lasts)),
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


def _single(row: int, parts: Sequence[Part], of_all: Reference) -> tuple[Plane, Reference, Settings]:
    part = next(part for part in parts if isinstance(part.rows, slice) or row in part.rows)
    within = row if isinstance(part.rows, slice) else part.rows.tolist().index(row)
    return part.plane, row_of(of_all, row), row_of(part.settings, within)


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
        rows([_half(shape.alpha) for shape in shapes]),
        rows([_half(shape.kappa) for shape in shapes]),
        tuple(rows([axis[i] for axis in axes]) for i in range(3)),
        rows([shape.normals[1] for shape in shapes]),
        (*(IDENTITY if set(turns) == {IDENTITY} else rows(turns) for turns in stills),),  # type: ignore[arg-type]
        ARRAYS,
        rows([shape.along for shape in shapes]),
    )


def _half(angle: float) -> tuple[float, float]:
    """An angle as a half angle: cosine and sine of half of it."""
    return cos(angle / 2.0), sin(angle / 2.0)
