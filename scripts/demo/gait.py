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
    """Where a leg's foot stands at rest in the plane of the body, and when in the period it begins to step."""

    name: str
    x: float
    y: float
    phase: float


class Walk:
    """The walk of these legs over this ground."""

    def __init__(self, legs: list[Leg], ground: Ground) -> None:
        self.legs = legs
        self.ground = ground

    def foot(self, leg: Leg, frame: float) -> tuple[Point, float]:
        """Where a foot is in a frame, and the height of the ground that carries it."""
        cycle, phase = divmod(frame / PERIOD + leg.phase, 1.0)
        stand = self.foothold(leg, cycle)
        if phase >= SWING:
            return stand, stand[2]
        share = phase / SWING
        start = self.foothold(leg, cycle - 1.0)
        x, y, base = between(start, stand, ease(share))
        way = [between(start, stand, i / 8) for i in range(1, 8)]
        lift = max(LIFT, *(self.ground(east, north) - height + 0.14 for east, north, height in way))
        return (x, y, base + lift * sin(pi * share)), base

    def foothold(self, leg: Leg, cycle: float) -> Point:
        """Where a foot stands in one period: under its place at rest, halfway through its stand."""
        x, y, yaw = track((cycle + (SWING + 1.0) / 2 - leg.phase) * PERIOD)
        x, y = x + leg.x * cos(yaw) - leg.y * sin(yaw), y + leg.x * sin(yaw) + leg.y * cos(yaw)
        return x, y, self.ground(x, y)

    def body(self, frame: float) -> tuple[Point, Point]:
        """The body's place, on the plane through its feet, and its roll, pitch and yaw: it bobs and sways."""
        x, y, yaw = track(frame)
        feet = [self.foot(leg, frame) for leg in self.legs]
        rows = [(1.0, place[0] - x, place[1] - y) for place, _ in feet]
        height, east, north = np.linalg.lstsq(np.array(rows), np.array([base for _, base in feet]), rcond=None)[0]
        ahead, aside = east * cos(yaw) + north * sin(yaw), north * cos(yaw) - east * sin(yaw)
        turn = 2.0 * pi * frame / PERIOD
        place = (x, y, float(height) + RIDE + 0.028 * cos(2.0 * turn + 0.6))
        return place, (atan(aside) + 0.04 * sin(turn), 0.02 * sin(2.0 * turn) - atan(ahead), yaw + 0.03 * sin(turn))


def track(frame: float) -> tuple[float, float, float]:
    """The way that the body takes: its place on the map and its heading."""
    x = SPEED * frame
    return x, 0.45 * sin(0.55 * x), atan2(0.45 * 0.55 * cos(0.55 * x), 1.0)


def between(start: Point, end: Point, share: float) -> Point:
    """The point so far on the way from one to the other."""
    x, y, z = (a + (b - a) * share for a, b in zip(start, end, strict=True))
    return x, y, z


def ease(share: float) -> float:
    """Slow at both ends."""
    return share * share * share * (share * (share * 6.0 - 15.0) + 10.0)
