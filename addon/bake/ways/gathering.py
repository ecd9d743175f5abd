"""What of steady chains changes over the frames, as ways 1 and 2 gather it, each from a source of its own."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from bpy.types import Object
from numpy.typing import NDArray

from ...live.frame import SAME_SIZE
from ...rig.anatomy import EVEN
from .steady import Own, Steady


class Course(NamedTuple):
    """What changes of one chain: ``space`` ``(frames, 4, 4)`` takes the parent's pose to the world, the same array for
    chains of the same parent; ``target`` and ``pole`` ``(frames, 3)`` are in the world, the pole None in the plane at
    rest; ``settings`` ``(frames,)`` are those that are animated; ``upper`` and ``lower`` ``(frames, numbers)`` are the
    bones' own rotation channels, or one row for all frames."""

    space: NDArray[Any]
    target: NDArray[Any]
    pole: NDArray[Any] | None
    settings: dict[str, NDArray[Any]]
    upper: NDArray[Any]
    lower: NDArray[Any]


class Source(Protocol):
    """Where things are and what they are set to, frame by frame."""

    def world(self, ob: Object) -> NDArray[Any]:
        """What takes an object to the world, ``(frames, 4, 4)``."""

    def pose(self, ob: Object, bone: str) -> NDArray[Any]:
        """What takes a bone to its armature, ``(frames, 4, 4)``."""

    def origin(self, ob: Object) -> NDArray[Any]:
        """An object's place in the world, ``(frames, 3)``."""

    def setting(self, ob: Object, lower: str, name: str) -> NDArray[Any]:
        """An animated setting of a chain, ``(frames,)``."""

    def rotation(self, ob: Object, bone: str) -> NDArray[Any]:
        """The animated rotation channel of a bone, ``(frames, numbers)``."""


def gather(chains: list[Steady], source: Source) -> list[Course] | None:
    """The chains over the frames; None if a limb does not keep its shape after all."""

    def place(goal: Any) -> NDArray[Any]:
        if not goal.bone:
            return source.origin(goal.object)
        heads: NDArray[Any] = source.world(goal.object) @ source.pose(goal.object, goal.bone)[:, :, 3, None]
        return heads[:, :3, 0]

    @cache
    def space(ob: Object, bone: str) -> NDArray[Any]:
        return source.world(ob) @ source.pose(ob, bone) if bone else source.world(ob)

    def rotation(ob: Object, own: Own) -> NDArray[Any]:
        return source.rotation(ob, own.name) if own.is_animated else np.array([own.rotation])

    courses = []
    for steady in chains:
        chain = steady.chain
        if steady.size is not None and not _keeps_size(source.pose(chain.object, steady.parent), steady.size):
            return None
        pole = place(chain.pole) if chain.pole else None
        settings = {name: source.setting(chain.object, chain.lower, name) for name in steady.animated}
        own = (rotation(chain.object, bone) for bone in (steady.upper, steady.lower))
        courses.append(Course(space(chain.object, steady.parent), place(chain.target), pole, settings, *own))
    return courses


def _keeps_size(poses: NDArray[Any], size: float) -> bool:
    """`Frame.has_size` for all frames."""
    axes = poses[:, :3, :3]
    lengths = np.linalg.norm(axes, axis=1)
    leaning = np.abs(np.einsum("fij,fik->fjk", axes, axes)[:, [0, 1, 2], [1, 2, 0]])
    largest = lengths.max(axis=1, keepdims=True)
    is_even = (largest - lengths <= EVEN * largest).all() and (leaning <= EVEN * largest * largest).all()
    return bool(is_even and (np.abs(lengths[:, 0] - size) <= SAME_SIZE * size).all())
