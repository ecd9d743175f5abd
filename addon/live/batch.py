"""Chains of one object posed together by arrays, which from some dozens on costs less than one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rig.stretching import Stretching, besides_inherited
from ..solver.compiled import bind_rows, constants_of
from ..solver.lengthening import Lengthening, lengthened
from ..solver.ops import ARRAYS
from .chain import ROUNDING, Chain
from .channels import Channels
from .frame import Frame
from .parts import Part
from .places import Places

ENOUGH = 28
"""Chains from which on a batch is worth its while."""

CHANNEL = "rotation_quaternion"

NONE = Stretching((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), None, "")

NUMBERS = ("along", "lower_axes", "own")
"""What of a `Lengthening` differs from limb to limb."""


def batches_of(chains: list[Chain]) -> list[Batch]:
    """Those of the chains that can be posed together, in batches of the same features."""
    alike: dict[Any, list[Chain]] = {}
    for chain in chains:
        if chain.posing and chain.is_regular:
            alike.setdefault(chain.posing.features, []).append(chain)
    return [Batch(members) for members in alike.values() if len(members) >= ENOUGH]


class Batch:
    """Regular chains with the same features."""

    def __init__(self, chains: list[Chain]) -> None:
        self.chains = chains
        self.carried = [chain for chain in chains if chain.is_carried]
        posings: list[Any] = [chain.posing for chain in chains]  # which regular chains have
        features = posings[0].features
        constants = [constants_of(each.body.limb, each.settings, ROUNDING) for each in posings]
        self._places = Places(chains)
        self._solve = bind_rows(constants, features)
        own: NDArray[Any] = np.array([(*each.own.upper, *each.own.lower) for each in posings]).T
        self._given = [own] if features.blended else []
        self._rotations = [rotation for chain in chains for rotation in chain.rotations]
        self._bones = np.array([rotation.slot.index for rotation in self._rotations])
        self._animators = np.array([rotation.own for rotation in self._rotations])
        self._written = _shared(self._rotations)
        self._lengthening = _Lengthening(chains)
        self._reaches = np.full(len(chains), np.nan)
        self._troubled = [chain for chain in chains if chain.problem]

    def pose(self, frame: Frame, channels: Channels) -> None:
        """Solve the chains for where their targets are now: to the last bit what `Chain.pose` does for each."""
        solved = self._solve(np.concatenate([self._places.read(frame), *self._given]))
        is_number = solved[0] == solved[0]
        rotations = self._lengthening.write(solved[:8], solved[8], channels)
        self._turn(rotations.T.reshape(-1, 4), is_number, frame, channels)
        self._tell_reach(solved[9])
        self._pose_troubled(~is_number, frame, channels)

    def _turn(self, rotations: NDArray[Any], is_number: NDArray[Any], frame: Frame, channels: Channels) -> None:
        """`parts.Rotation.overwrite` for all bones, upper and lower in turn."""
        rows = channels.rows(CHANNEL)
        near = self._animators if frame.has_changed else self._written
        w, x, y, z = (rotations * near).T
        turned = np.where((w + x + y + z < 0.0)[:, None], -rotations, rotations)
        if not is_number.all():
            turned = np.where(np.repeat(is_number, 2)[:, None], turned, rows[self._bones])
        rows[self._bones] = self._written[:] = turned

    def _tell_reach(self, reaches: NDArray[Any]) -> None:
        for i in np.flatnonzero(reaches != self._reaches).tolist():
            self.chains[i].reach = reaches[i].item()
        self._reaches[:] = reaches

    def _pose_troubled(self, are_troubled: NDArray[Any], frame: Frame, channels: Channels) -> None:
        """Give those limbs back that have no solution."""
        if not self._troubled and not are_troubled.any():
            return
        for chain in self._troubled:
            chain.problem = ""
        self._troubled = [self.chains[i] for i in np.flatnonzero(are_troubled)]
        for chain in self._troubled:
            chain.pose(frame, channels)
        self._written = _shared(self._rotations)
        self._lengthening.share()


class _Lengthening:
    """What it takes for chains to stretch: scales, and turns that make up for where these move a joint aside."""

    def __init__(self, chains: list[Chain]) -> None:
        stretchings = [chain.stretching or NONE for chain in chains]
        members = [(i, role, scale) for i, chain in enumerate(chains) for role, scale in enumerate(chain.stretched)]
        self._scales = [scale for _, _, scale in members]
        self._chain, self._role = [i for i, _, _ in members], [role for _, role, _ in members]
        self._bones = [scale.slot.index for scale in self._scales]
        self._animators = np.array([scale.own for scale in self._scales])
        self._powers = np.array([each[:2] for each in stretchings])
        self._made_up = _alike(stretchings)
        self.share()

    def share(self) -> None:
        """Let the scales know what is written from now on."""
        self._written = _shared(self._scales)

    def write(self, rotations: NDArray[Any], factors: NDArray[Any], channels: Channels) -> NDArray[Any]:
        """`Stretching.turn_and_scale` for all chains, whose rotations ``(8, chains)`` it returns; a chain's factor is 1
        where it has no solution."""
        if not self._scales:
            return rotations
        factors = np.where(factors == factors, factors, 1.0)
        sizes = factors[:, None, None] ** self._powers
        rotations = rotations.copy()
        for which, how, inherited in self._made_up:
            is_long = (factors[which] != 1.0) | ~(np.array(how.own) == 1.0).all(axis=0)
            rows = rotations[:, which]
            upper, lower, grown, wanted = lengthened(tuple(rows[:4]), tuple(rows[4:]), factors[which], how, ARRAYS)
            rotations[:, which] = np.where(is_long, [*upper, *lower], rows)
            both = [grown, besides_inherited(wanted, grown, inherited)]
            made_up = np.array([np.broadcast_arrays(*each) for each in both]).transpose(2, 0, 1)
            sizes[which] = np.where(is_long[:, None, None], made_up, sizes[which])
        channels.rows("scale")[self._bones] = self._written[:] = self._animators * sizes[self._chain, self._role]
        return rotations


def _alike(stretchings: list[Stretching]) -> list[tuple[list[int], Lengthening, str]]:
    """Which chains make up for more than scales, those that do it alike together: the numbers of many as arrays."""
    alike: dict[Any, list[int]] = {}
    for i, (_, _, how, inherited) in enumerate(stretchings):
        if how:
            alike.setdefault((how.turns_along, how.is_passed_on, how.volume, inherited), []).append(i)
    found = []
    for (turns_along, is_passed_on, volume, inherited), which in alike.items():
        along, axes, own = (_columns([getattr(stretchings[i].how, name) for i in which]) for name in NUMBERS)
        found.append((which, Lengthening(along, axes, turns_along, is_passed_on, volume, own), inherited))
    return found


def _columns(numbers: Any) -> Any:
    """Tuples of numbers, nested or not, as one with the numbers of all as arrays."""
    return tuple(map(_columns, zip(*numbers, strict=True))) if isinstance(numbers[0], tuple) else np.array(numbers)


def _shared(parts: Sequence[Part]) -> NDArray[Any]:
    """What was last written to channels, as rows that the parts from now on hold a view of each."""
    written = np.array([part.written for part in parts])
    for part, row in zip(parts, written, strict=True):
        part.written = row
    return written
