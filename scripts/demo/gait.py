"""Where a creature's body and feet are in each frame. Knows nothing of Blender.

One half of the feet stands while the other half steps, each to where it will stand best half a step later.
Distances are in metres of the scene, time in frames.
"""

from __future__ import annotations

from collections.abc import Callable
from math import atan, atan2, cos, pi, sin
from typing import NamedTuple

import numpy as np

PERIOD = 22.0
"""Frames in which every foot steps once."""

SWING = 0.44
"""Part of the period that a foot is off the ground; under a half, so that all of them stand for a moment."""

SPEED = 0.052
"""Metres per frame."""

LIFT = 0.24
"""Least height of a step."""

PUSH = 0.15
"""Part of the period in which a foot rolls on its ball before it is off the ground."""

ROLL = 0.65
"""How far it rolls, in radians."""

STIFF = 0.4
"""How much a body keeps level, beside how much feet so many metres off its middle tilt it."""

BESIDE = (1.25, 1.3)
"""How far ahead and aside of the first creature the second one walks."""

Point = tuple[float, float, float]
Ground = Callable[[float, float], float]


class Leg(NamedTuple):
    """Where a leg's foot stands at rest in the plane of the body, and when in the period it begins to step."""

    name: str
    x: float
    y: float
    phase: float


class Walk:
    """The walk of these legs over this ground, the body so high above it and so far ahead and aside of the track."""

    def __init__(self, legs: list[Leg], ground: Ground, ride: float, ahead: float = 0.0, aside: float = 0.0) -> None:
        self.legs, self.ground, self.ride = legs, ground, ride
        self.ahead, self.aside = ahead, aside

    def track(self, frame: float) -> Point:
        """The way that this body takes."""
        x, y, yaw = track(frame + self.ahead / SPEED)
        return x, y + self.aside, yaw

    def foot(self, leg: Leg, frame: float) -> tuple[Point, float]:
        """Where a foot is in a frame, and the height of the ground that carries it."""
        cycle, phase = divmod(frame / PERIOD + leg.phase, 1.0)
        stand = self.foothold(leg, cycle)
        if phase >= SWING:
            return stand, stand[2]
        share = phase / SWING
        start = self.foothold(leg, cycle - 1.0)
        x, y, base = between(start, stand, ease(share))
        path = [between(start, stand, i / 8) for i in range(1, 8)]
        lift = max(LIFT, *(self.ground(east, north) - height + 0.14 for east, north, height in path))
        return (x, y, base + lift * sin(pi * share)), base

    def tread(self, leg: Leg, frame: float) -> Point:
        """The pitch, roll and yaw of a foot: as the ground slopes, but that toes hang in a step."""
        cycle, phase = divmod(frame / PERIOD + leg.phase, 1.0)
        share = min(phase / SWING, 1.0)
        pitch, roll, yaw = between(self._slope(leg, cycle - 1.0), self._slope(leg, cycle), ease(share))
        return pitch - 0.7 * sin(pi * share) * (1.0 - share), roll, yaw

    def roll(self, leg: Leg, frame: float) -> float:
        """How far a foot rolls on its ball: as it pushes off, and back in the first half of its step."""
        phase = (frame / PERIOD + leg.phase) % 1.0
        share = 1.0 - 2.0 * phase / SWING if phase < SWING else 1.0 - (1.0 - phase) / PUSH
        return ROLL * ease(max(share, 0.0))

    def _slope(self, leg: Leg, cycle: float) -> Point:
        x, y, z = self.foothold(leg, cycle)
        yaw = self.track((cycle + (SWING + 1.0) / 2 - leg.phase) * PERIOD)[2]
        east, north = 0.1 * cos(yaw), 0.1 * sin(yaw)
        ahead, aside = self.ground(x + east, y + north) - z, self.ground(x - north, y + east) - z
        return atan(ahead / 0.1), atan(aside / 0.1), yaw

    def foothold(self, leg: Leg, cycle: float) -> Point:
        """Where a foot stands in one period: under its place at rest, halfway through its stand."""
        x, y, yaw = self.track((cycle + (SWING + 1.0) / 2 - leg.phase) * PERIOD)
        x, y = x + leg.x * cos(yaw) - leg.y * sin(yaw), y + leg.x * sin(yaw) + leg.y * cos(yaw)
        return x, y, self.ground(x, y)

    def body(self, frame: float) -> tuple[Point, Point]:
        """The body's place, on the plane through its feet, and its roll, pitch and yaw: it bobs and sways."""
        x, y, yaw = self.track(frame)
        feet = [self.foot(leg, frame) for leg in self.legs]
        rows = [(1.0, place[0] - x, place[1] - y) for place, _ in feet]
        rows, bases = [*rows, (0.0, STIFF, 0.0), (0.0, 0.0, STIFF)], [*[base for _, base in feet], 0.0, 0.0]
        height, east, north = np.linalg.lstsq(np.array(rows), np.array(bases), rcond=None)[0]
        ahead, aside = east * cos(yaw) + north * sin(yaw), north * cos(yaw) - east * sin(yaw)
        turn = 2.0 * pi * frame / PERIOD
        place = (x, y, float(height) + self.ride + 0.028 * cos(2.0 * turn + 0.6))
        return place, (atan(aside) + 0.04 * sin(turn), 0.02 * sin(2.0 * turn) - atan(ahead), yaw + 0.03 * sin(turn))


def track(frame: float) -> tuple[float, float, float]:
    """The way that the body takes: its place on the map and its heading."""
    x = SPEED * frame
    return x, 0.45 * sin(0.55 * x), atan2(0.45 * 0.55 * cos(0.55 * x), 1.0)


def between(start: Point, end: Point, share: float) -> Point:
    """The point so far on the way from one to the other."""
    x, y, z = (here + (there - here) * share for here, there in zip(start, end, strict=True))
    return x, y, z


def ease(share: float) -> float:
    """Slow at both ends."""
    return share * share * share * (share * (share * 6.0 - 15.0) + 10.0)
