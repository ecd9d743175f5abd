"""Where the creature's body and feet are in each frame. Knows nothing of Blender.

A tripod gait: three feet stand while the other three step, each to where it will stand best half a step later.
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
"""Part of the period that a foot is off the ground; under a half, so that all six stand for a moment."""

SPEED = 0.052
"""Metres per frame."""

RIDE = 0.60
"""Height of the body over the ground."""

LIFT = 0.24
"""Least height of a step."""

Point = tuple[float, float, float]
Ground = Callable[[float, float], float]


class Leg(NamedTuple):
    """A leg: where its foot stands at rest in the plane of the body, and when in the period it begins to step."""

    name: str
    x: float
    y: float
    phase: float


class Foot(NamedTuple):
    """A foot in one frame: where it is, the height of the ground that carries it, and whether it stands there."""

    place: Point
    base: float
    is_planted: bool


class Body(NamedTuple):
    """The body in one frame: its place, and its yaw, pitch (nose down) and roll in radians."""

    place: Point
    yaw: float
    pitch: float
    roll: float


class Walk:
    """The walk of these legs over this ground."""

    def __init__(self, legs: list[Leg], ground: Ground) -> None:
        self.legs = legs
        self.ground = ground

    def foot(self, leg: Leg, frame: float) -> Foot:
        """A foot in a frame."""
        cycle, phase = divmod(frame / PERIOD + leg.phase, 1.0)
        stand = self.foothold(leg, cycle)
        if phase >= SWING:
            return Foot(stand, stand[2], True)
        share = phase / SWING
        start = self.foothold(leg, cycle - 1.0)
        x, y, base = _between(start, stand, _ease(share))
        return Foot((x, y, base + self._lift(start, stand) * sin(pi * share)), base, False)

    def foothold(self, leg: Leg, cycle: float) -> Point:
        """Where a foot stands in one period: under its place at rest, halfway through its stand."""
        x, y, yaw = track((cycle + (SWING + 1.0) / 2 - leg.phase) * PERIOD)
        x, y = x + leg.x * cos(yaw) - leg.y * sin(yaw), y + leg.x * sin(yaw) + leg.y * cos(yaw)
        return x, y, self.ground(x, y)

    def body(self, frame: float) -> Body:
        """The body, on the plane through its feet, with the bob and sway of a walk."""
        x, y, yaw = track(frame)
        feet = [self.foot(leg, frame) for leg in self.legs]
        rows = [(1.0, foot.place[0] - x, foot.place[1] - y) for foot in feet]
        height, east, north = np.linalg.lstsq(np.array(rows), np.array([foot.base for foot in feet]), rcond=None)[0]
        ahead, aside = east * cos(yaw) + north * sin(yaw), north * cos(yaw) - east * sin(yaw)
        turn = 2.0 * pi * frame / PERIOD
        place = (x, y, float(height) + RIDE + 0.028 * cos(2.0 * turn + 0.6))
        return Body(place, yaw + 0.03 * sin(turn), 0.02 * sin(2.0 * turn) - atan(ahead), atan(aside) + 0.04 * sin(turn))

    def _lift(self, start: Point, end: Point) -> float:
        """How high a step must go to clear the ground below it."""
        way = [_between(start, end, i / 8) for i in range(1, 8)]
        return max(LIFT, *(self.ground(x, y) - base + 0.14 for x, y, base in way))


def track(frame: float) -> tuple[float, float, float]:
    """The way that the body takes: its place on the map and its heading."""
    x = SPEED * frame
    return x, 0.45 * sin(0.55 * x), atan2(0.45 * 0.55 * cos(0.55 * x), 1.0)


def _between(start: Point, end: Point, share: float) -> Point:
    x, y, z = (a + (b - a) * share for a, b in zip(start, end, strict=True))
    return x, y, z


def _ease(share: float) -> float:
    return share * share * share * (share * (share * 6.0 - 15.0) + 10.0)
