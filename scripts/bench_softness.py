"""How fast the knee turns while the target passes full reach: what softness is for."""

from __future__ import annotations

from itertools import pairwise
from math import degrees

from mathutils import Vector

from .bench_rigs import bent_limb

STEPS = range(850, 1101)
"""Distances of the target, in thousandths of the limb's length."""


def main() -> None:
    print("Largest turn of the knee while the target goes on by 0.1 % of the limb's length, from 85 % to 110 % of it")
    for softness in (0.0, 0.05, 0.1):
        turn, where, short = sweep(softness)
        print(
            f"softness {softness:4.2f}: {turn:5.2f} degrees, at {where:.1f} %; short of a target at 99 % by {short:.2%}"
        )


def sweep(softness: float) -> tuple[float, float, float]:
    limbs = bent_limb(0.3)
    limbs.pose_by_chains(softness=softness)
    angles, short = [], 0.0
    for step in STEPS:
        place = Vector((0.0, 0.0, 2.0 * step / 1000))
        knee, tip = limbs.reach_for(place)
        angles.append(degrees(knee.angle(tip - knee, 0.0)))
        short = (place - tip).length / 2.0 if step == 990 else short
    turn, where = max((abs(b - a), i) for i, (a, b) in enumerate(pairwise(angles)))
    return turn, STEPS[where] / 10, short
