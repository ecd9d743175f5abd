"""What a chain does, frame by frame: the numbers that become keys, and what tells how well they fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..rig import status
from ..rig.data.access import ArmatureObject
from ..solver import Reach
from ..solver.rotation import Vector, dot

OFF = -1
"""Stands for `Reach` in frames in which a chain is switched off."""


@dataclass
class Track:
    """One channel of one bone: ``values`` is ``(frames, numbers)`` in single precision, as Blender keeps it.

    ``mode`` is the bone's rotation mode if the channel holds its rotation, and empty if it does not.
    """

    bone: str
    channel: str
    mode: str
    values: NDArray[Any]


@dataclass
class Joints:
    """Knee and tip in the world, ``(frames, 3)`` in scene units."""

    knee: NDArray[Any]
    tip: NDArray[Any]

    def farthest(self, other: Joints) -> float:
        """The largest distance between the joints of two bakes of the same frames."""
        gaps = [
            np.linalg.norm(a - b, axis=1).max(initial=0.0) for a, b in ((self.knee, other.knee), (self.tip, other.tip))
        ]
        return float(max(gaps))


@dataclass
class Sampled:
    """One chain over the frames of a bake.

    ``reach`` is ``(frames,)``; ``gap`` ``(frames, 3)`` leads from the target to the tip, in scene units, 0 where the
    chain is off; ``influence`` is ``(frames,)``, and says nothing there; ``is_stretched`` says that the bones may
    lengthen in some frame; ``way`` is how the chain was sampled. ``ends`` are the rotations of feet or hands that turn
    with the target.
    """

    object: ArmatureObject
    lower: str
    upper: str
    joints: Joints
    reach: NDArray[Any]
    gap: NDArray[Any]
    influence: NDArray[Any]
    tracks: list[Track] = field(default_factory=list)
    ends: list[Track] = field(default_factory=list)
    problem: str = ""
    is_stretched: bool = False
    way: str = "stepped"

    @property
    def is_posed(self) -> bool:
        """Whether the chain can be posed in any frame."""
        return bool(((self.reach != Reach.INVALID) & (self.reach != OFF)).any())

    @property
    def is_blended(self) -> bool:
        """Whether in some frame the pose is neither all the chain's nor all the bones' own."""
        return bool(((self.reach != OFF) & (self.influence > 0.0) & (self.influence < 1.0)).any())

    @property
    def misses(self) -> NDArray[Any]:
        """Where the tip does not come to its target, ``(frames,)``. In FK nobody asks it to."""
        missed: NDArray[Any] = (self.reach != Reach.REACHED) & (self.reach != OFF) & (self.influence != 0.0)
        return missed

    @property
    def unreached(self) -> int:
        """The number of frames in which the tip does not come to its target."""
        return self.unreached_beyond(0.0)

    def unreached_beyond(self, distance: float) -> int:
        """The number of these in which the tip stays farther away than that, or the chain could not be posed."""
        is_near = (self.residual <= distance) & (self.reach != Reach.INVALID)
        return int((self.misses & ~is_near).sum())

    @property
    def residual(self) -> NDArray[Any]:
        """How far the tip is from its target, ``(frames,)`` in scene units, 0 where the chain is off."""
        distances: NDArray[Any] = np.linalg.norm(self.gap, axis=1)
        return distances

    def worst_residual(self, tip: NDArray[Any] | None = None) -> float:
        """The largest distance from tip to target while the chain is on and its target is somewhere; of another
        ``tip`` ``(frames, 3)`` instead of its own, where one is given."""
        moved = 0.0 if tip is None else np.where((self.reach != OFF)[:, None], tip - self.joints.tip, 0.0)
        return float(np.nanmax(np.linalg.norm(self.gap + moved, axis=1), initial=0.0))


def empty_sample(lower: PoseBone, count: int) -> Sampled:
    """Room for a chain over ``count`` frames."""
    joints = Joints(np.zeros((count, 3), np.float32), np.zeros((count, 3), np.float32))
    reach = np.full(count, OFF, np.int8)
    upper = lower.parent.name if lower.parent else ""
    gap, influence = np.zeros((count, 3), np.float32), np.ones(count, np.float32)
    return Sampled(lower.id_data, lower.name, upper, joints, reach, gap, influence)


def is_off(root: Vector, knee: Vector, tip: Vector, target: Vector, far: Any) -> Any:
    """Whether a tip counts as off its target, by the rule of the status; all are arrays for each number, ``far`` how
    far from the origin these are, which were rounded."""
    length = _distance(root, knee) + _distance(knee, tip)
    return _distance(tip, target) > status.allowed(length, far)


def _distance(one: Vector, other: Vector) -> Any:
    apart = (one[0] - other[0], one[1] - other[1], one[2] - other[2])
    return np.sqrt(dot(apart, apart))
