"""Chains of one object posed together by arrays, which from some dozens on costs less than one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rig.data.rotation import ARRAYS as ANGLES
from ..rig.data.rotation import to_quaternion
from ..rig.problems import NOT_A_PLACE
from ..rig.stretching import Stretching, besides_inherited
from ..solver.compiled import bind_rows, constants_of
from ..solver.lengthening import Lengthening, lengthened
from ..solver.ops import ARRAYS
from .chain import ROUNDING, Chain
from .channels import Channels
from .frame import Frame
from .places import Places

ENOUGH = 28
"""Chains from which on a batch is worth its while."""

CHANNEL = "rotation_quaternion"

NONE = Stretching((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), None, "")

NUMBERS = ("along", "lower_axes", "own")
"""What of a `Lengthening` differs from limb to limb."""


def batches_of(chains: list[Chain]) -> list[Batch]:
    """Batches of chains that can be posed together, as they have the same features."""
    alike: dict[Any, list[Chain]] = {}
    for chain in chains:
        if chain.posing and chain.is_regular:
            alike.setdefault(chain.posing.features, []).append(chain)
    return [Batch(members) for members in alike.values() if len(members) >= ENOUGH]


class Batch:
    """Regular chains with the same features."""

    def __init__(self, chains: list[Chain]) -> None:
        self.chains = chains
        self.parents = {chain.parent for chain in chains}
        self.carried = [chain for chain in chains if chain.is_carried]
        posings: list[Any] = [chain.posing for chain in chains]  # which regular chains have
        self._features = posings[0].features
        constants = [constants_of(each.body.limb, each.settings, ROUNDING) for each in posings]
        self._places = Places(chains)
        self._solve = bind_rows(constants, self._features)
        self._bones = np.array([bone.slot.index for each in posings for bone in (each.upper, each.lower)])
        self._lengthening = _Lengthening(posings)
        self._reaches = np.full(len(chains), np.nan)
        self._troubled = [chain for chain in chains if chain.problem]

    def pose(self, frame: Frame, channels: Channels) -> None:
        """Solve the chains for where their targets are now: to the last bit what `chain.pose` does for each."""
        rotations = channels.rows(CHANNEL)
        animators = rotations[self._bones].astype(float)
        given = [self._places.read(frame)]
        if self._features.blended:
            given.append(_turns(animators))
        solved = self._solve(np.concatenate(given))
        is_number = solved[0] == solved[0]
        turns = self._lengthening.write(solved[:8], solved[8], channels)
        rotations[self._bones] = _turned(turns.T.reshape(-1, 4), animators, np.repeat(is_number, 2))
        self._tell_reach(solved[9])
        self._tell_trouble(~is_number)

    def _tell_reach(self, reaches: NDArray[Any]) -> None:
        if reaches.tobytes() == self._reaches.tobytes():
            return
        for i in np.flatnonzero(reaches != self._reaches).tolist():
            self.chains[i].reach = reaches[i].item()
        self._reaches[:] = reaches

    def _tell_trouble(self, are_troubled: NDArray[Any]) -> None:
        if self._troubled or are_troubled.any():
            for chain in self._troubled:
                chain.problem = ""
            self._troubled = [self.chains[i] for i in np.flatnonzero(are_troubled)]
            for chain in self._troubled:
                chain.problem = NOT_A_PLACE


def _turns(animators: NDArray[Any]) -> NDArray[Any]:
    """The animators' rotations as columns, for each limb first the upper bone's numbers, then the lower one's."""
    unit = np.array(to_quaternion("QUATERNION", tuple(animators.T), ANGLES))
    return np.concatenate([unit[:, 0::2], unit[:, 1::2]])


def _turned(rotations: NDArray[Any], animators: NDArray[Any], is_number: NDArray[Any]) -> NDArray[Any]:
    """The solver's rotations, written the way that is closest to the animators'; where there is none, theirs."""
    w, x, y, z = (rotations * animators).T
    turned = np.where((w + x + y + z < 0.0)[:, None], -rotations, rotations)
    return turned if is_number.all() else np.where(is_number[:, None], turned, animators)


class _Lengthening:
    """What it takes for chains to stretch: scales, and turns that make up for where these move a joint aside."""

    def __init__(self, posings: list[Any]) -> None:
        stretchings = [each.stretching or NONE for each in posings]
        members = [(i, role, slot) for i, each in enumerate(posings) for role, slot in enumerate(each.lengthened)]
        self._chain, self._role = [i for i, _, _ in members], [role for _, role, _ in members]
        self._bones = [slot.index for _, _, slot in members]
        self._powers = np.array([each[:2] for each in stretchings])
        self._made_up = _alike(stretchings)

    def write(self, rotations: NDArray[Any], factors: NDArray[Any], channels: Channels) -> NDArray[Any]:
        """`Stretching.turn_and_scale` for all chains, whose rotations ``(8, chains)`` it returns; a chain's factor is 1
        where it has no solution."""
        if not self._bones:
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
        rows = channels.rows("scale")
        rows[self._bones] = rows[self._bones].astype(float) * sizes[self._chain, self._role]
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
