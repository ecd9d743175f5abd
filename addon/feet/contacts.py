"""When a foot stands on the ground, on its heel, its sole or its toe, by the paths of these; how far it slides there.
Knows nothing of Blender.

Lengths count in lengths of the limb, and times in paces: what the limb's sole needs for one of these at its fastest,
about a quarter of a second of a walk. So a mouse and a giant stand by the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..solver.ops import Array, Indices, Mask

HEIGHT = 0.05
"""How high above its floor what of a sole is lowest still stands, in lengths of its limb."""

SPEED = 0.15
"""How fast it may go there, as a part of the fastest that the sole goes shortly before or after."""

TIGHT = 0.5
"""The part of both below which a contact has to get somewhere, to count as far as these."""

SOLE_FLAT = 0.02
"""How high heel or toe may be where both are down, in lengths of the limb."""

LEAST = 1.0
"""The slowest that the fastest counts as, in lengths of the limb in a second, of a limb that takes no step."""

STEPS = 98.0
"""The per cent of frames that are not the fastest: fewer jump, as captures do."""

NEAR, SPREAD, SHORTEST, BESIDE = 3.0, 0.17, 0.4, 0.5
"""In paces: how far away the fastest is looked for, over how much speeds are taken, the shortest contact, and for how
long before and after it nothing is lower than a floor."""

STILL = 1e-6
"""How far a foot moves that does, in lengths of the limb: frames in which it does not count once."""

LOW = 10.0
"""The per cent of frames in which something is at its floor or below it."""

HEEL, SOLE, TOE = "heel", "sole", "toe"
"""What a foot stands on: the phases of a contact. What has no foot stands on its sole."""


class FrameRange(NamedTuple):
    """A range of whole frames, both ends included."""

    first: int
    last: int


class Phase(NamedTuple):
    """What a foot stands on, from a frame on."""

    first: int
    on: str


class Contact(NamedTuple):
    """A contact of a foot with the ground: one or more phases in order, and its last frame, included."""

    phases: tuple[Phase, ...]
    last: int

    @property
    def frames(self) -> FrameRange:
        """All of its frames."""
        return FrameRange(self.phases[0].first, self.last)

    @property
    def on(self) -> list[str]:
        """What the foot is on in each of its frames: ``heel``, ``sole`` or ``toe``."""
        ends = [*(phase.first for phase in self.phases[1:]), self.last + 1]
        return [phase.on for phase, end in zip(self.phases, ends, strict=True) for _ in range(phase.first, end)]

    def within(self, frames: FrameRange) -> list[Contact]:
        """The part of it that lies in a range of frames, if any."""
        last = min(self.last, frames.last)
        if max(self.frames.first, frames.first) > last:
            return []
        starts = {max(phase.first, frames.first): phase.on for phase in self.phases if phase.first <= last}
        return [Contact(tuple(Phase(first, on) for first, on in starts.items()), last)]

    def ranges_on(self, *kinds: str) -> list[FrameRange]:
        """The frames of each phase of these kinds."""
        ends = [*(phase.first - 1 for phase in self.phases[1:]), self.last]
        return [FrameRange(phase.first, end) for phase, end in zip(self.phases, ends, strict=True) if phase.on in kinds]


class Path(NamedTuple):
    """Where the tip of a limb is in the world in each frame, (frames, 3), and the points of its sole, (points, frames,
    3): heel, ball and toe; what has no foot stands on one point. ``size`` is the limb's length there."""

    tip: Array
    sole: Array
    size: float


def floor_of(paths: Sequence[Path]) -> float:
    """The height that limbs of one rig stand at."""
    return min(float(np.percentile(path.sole[:, :, 2].min(axis=0), LOW)) for path in paths)


def contacts_of(
    path: Path, frames: Sequence[float], rate: float, floor: float, height: float = HEIGHT, speed: float = SPEED
) -> list[Contact]:
    """The contacts of a sole with the ground: when any point of its ``path`` is low and slow. Low is less than
    ``height`` limb lengths above the ground that it came down to, or that the rig stands on; slow is below ``speed``, a
    part of how fast it goes at most shortly before or after. ``frames`` are in order and evenly apart, ``rate`` of them
    a second; ``floor`` is what the rig stands on, from `floor_of`."""
    if len(frames) < 3 or not path.size > 0.0:
        return []
    sole = path.sole / path.size
    tempo = _tempo_of(sole, rate * (len(frames) - 1) / (frames[-1] - frames[0]))
    pace, spread = tempo.pace, tempo.spread
    slow, slowest = (_slow(sole, tempo, share * speed) for share in (1.0, TIGHT))
    contacts = []
    for start, end in _runs(_closed(slow.any(axis=0), spread)):
        here = slice(start, end + 1)
        heights, lowest = sole[:, here, 2], sole[:, :, 2].min(axis=0)
        grounds = np.where(slow[:, here], heights, np.inf).min(axis=1, keepdims=True)
        is_on_floor = grounds.min() <= floor / path.size + height
        if not is_on_floor and not _is_contact(lowest, start, end, grounds.min() - height / 2.0, round(BESIDE * pace)):
            continue
        grounds = np.minimum(grounds, grounds.min() + height)  # each has its own, as on a slope
        in_contact = slow[:, here] & (heights < grounds + height)
        surely = (slowest[:, here] & (heights < grounds + height * TIGHT)).any(axis=0)
        for first, last in _runs(_closed(in_contact.any(axis=0), spread)):
            is_cut = start + first == 0 or start + last == len(frames) - 1
            is_long = last - first + 1 >= max(2.0, 0.0 if is_cut else SHORTEST * pace)
            if is_long and surely[first : last + 1].any():
                of_contact = slice(start + first, start + last + 1)
                phases = _phases(slow[:, of_contact] & (sole[:, of_contact, 2] < grounds + SOLE_FLAT), spread)
                starts = [Phase(round(frames[start + first + place]), kind) for place, kind in phases]
                contacts.append(Contact(tuple(starts), round(frames[start + last])))
    return contacts


class Tempo(NamedTuple):
    """How many frames a second has; how fast a sole goes at its fastest, in lengths of the limb in a second; in frames,
    a pace, and over how many speeds are taken."""

    per_second: float
    fastest: float
    pace: float
    spread: int


def _tempo_of(sole: Array, per_second: float) -> Tempo:
    """The tempo of points (points, frames, 3), in lengths of the limb."""
    velocity = np.linalg.norm(np.diff(sole, axis=1), axis=2).max(axis=0) * per_second
    fastest = float(np.percentile(velocity, STEPS))
    pace = per_second / max(fastest, LEAST)
    return Tempo(per_second, fastest, pace, max(1, round(SPREAD * pace)))


def flat_rows(ankle: Array, ball: Array, grounds: Array, per_second: float) -> Indices:
    """The rows in which a foot lies flat: low and slow from the ankle to the ball, if it ever is. Places are
    (frames, 3), in lengths of the limb. One that takes no step is low only where the ball is at the ``grounds``
    (frames)."""
    if len(ball) < 3:
        return np.zeros(0, int)
    tempo = _tempo_of(np.stack((ankle, ball)), per_second)
    slow = _slow(np.stack((ankle, ball)), tempo, SPEED * TIGHT).all(axis=0)
    low = ball[:, 2] <= np.percentile(ball[:, 2], LOW) + HEIGHT
    if tempo.fastest < LEAST:
        low &= np.abs(ball[:, 2] - grounds) < 2.0 * HEIGHT
    moved = np.linalg.norm(np.diff(ball - ankle, axis=0, prepend=np.inf), axis=1) + np.linalg.norm(
        np.diff(ball, axis=0, prepend=np.inf), axis=1
    )
    return np.flatnonzero(slow & low & (moved > STILL))


def _slow(sole: Array, tempo: Tempo, speed: float) -> Array:
    """Which points (points, frames) are in some frames, as many as speeds are taken over, in which they are slower than
    a part of the fastest nearby. Such frames begin and end with those in which a point stands; a mean around each would
    blur that."""
    _, _, pace, spread = tempo
    if sole.shape[1] <= spread:  # too few frames for anything to stand in
        return np.zeros(sole.shape[:2], bool)
    steps = np.linalg.norm(sole[:, spread:] - sole[:, :-spread], axis=2) * (tempo.per_second / spread)
    reach = max(1, round(NEAR * pace))
    fastest = sliding_window_view(np.pad(steps.max(axis=0), reach), 2 * reach + 1).max(axis=1)
    slow = steps < speed * np.maximum(fastest, LEAST)
    flags = np.zeros(sole.shape[:2], bool)
    for shift in range(spread + 1):
        flags[:, shift : shift + slow.shape[1]] |= slow
    return flags


def _is_contact(lowest: Array, start: int, end: int, ground: float, beside: int) -> bool:
    """Whether a sole, which is at its lowest so high (frames), came from above to the ground that it has from a start
    to an end, and left it upwards; a foot that is held in the air comes from below."""
    before, after = lowest[max(start - beside, 0) : start], lowest[end + 1 : end + 1 + beside]
    there = np.concatenate((before, after))
    return bool(len(there) and there.min() >= ground)


def _phases(down: Mask, shortest: int) -> list[tuple[int, str]]:
    """Where phases of a contact begin, and which they are, by which points of its sole are down (points, frames); none
    is shorter than ``shortest`` frames unless it is the only one."""
    if len(down) == 1:
        return [(0, SOLE)]
    heel, front = down[0], down[1:].any(axis=0)
    kinds = np.where(heel & front, SOLE, np.where(heel, HEEL, np.where(front, TOE, "")))
    runs: list[tuple[int, str]] = []
    places = [0, *(np.flatnonzero(kinds[1:] != kinds[:-1]) + 1), len(kinds)]
    for first, end in pairwise(places):
        kind = str(kinds[first])
        if kind and end - first >= shortest and (not runs or runs[-1][1] != kind):
            runs.append((int(first), kind))
    runs = runs or [(0, SOLE)]
    return [(0, runs[0][1]), *runs[1:]]


def slip_of(path: Path, frames: Sequence[float], within: FrameRange) -> float:
    """How far a sole slides over the floor in a range of frames, in the unit of the path: what of it is lowest. What
    has no sole slides in any direction."""
    times = np.asarray(frames)
    points = path.sole[:, (times >= within.first) & (times <= within.last)]
    if points.shape[1] < 2:
        return 0.0
    steps = np.linalg.norm(np.diff(points[..., : 2 if len(points) > 1 else 3], axis=1), axis=2)
    lowest = points[:, :-1, 2].argmin(axis=0)
    return float(steps[lowest, np.arange(steps.shape[1])].sum())


def _closed(flags: Mask, most: int) -> Array:
    """Flags (frames) with gaps of at most ``most`` frames between those that are set filled in."""
    closed = flags.copy()
    for start, end in _runs(~flags):
        if start > 0 and end < len(flags) - 1 and end - start + 1 <= most:
            closed[start : end + 1] = True
    return closed


def _runs(flags: Mask) -> list[tuple[int, int]]:
    """The first and the last index of each run of flags that are set."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(int)))
    return [(int(start), int(end) - 1) for start, end in edges.reshape(-1, 2)]
