"""Many random limbs on the rig: by how much they move on Add, and where their tips are with targets near and far.

`scripts/many.py` measures hundreds."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import pi
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from tests.blender import oracle, rigs

PARENTS = ("PLAIN", "SCALED", "MIRRORED", "SHEARED")
NEAR, FAR = (0.2, 0.5, 0.8, 0.95, 0.999), (1.05, 2.0, 10.0, 100.0, 1000.0)
"""How far targets are, in lengths of the limb."""


class Measured(NamedTuple):
    """How far joints moved on Add, and how far tips were from targets in reach, at most and in lengths of the limb; and
    the distances at which the limb said that something is wrong."""

    moved: float
    tips: float
    invalid: list[float]

    @property
    def is_well(self) -> bool:
        """Whether it is as exact as is promised."""
        return self.moved <= 1e-4 and self.tips <= 3e-5 and not self.invalid


def measured(addon: Callable[[str], Any], seed: int, near_y: bool = False) -> Measured:
    """Make a limb of two to four bones, posed, in a file that is empty, and put it on the rig."""
    rng, parents = random.Random(f"limb {seed}"), PARENTS[seed % 4]
    count, plane = rng.choice((2, 2, 3, 4)), rng.choice(("AUTO", "HINGE", "POLE"))
    is_straight, has_twist = rng.random() < 0.25, count == 2 and rng.random() < 0.2
    ob = rigs.random_limb(rng, is_straight, parents, has_twist, count, near_y=near_y)
    segments = (2, 1) if has_twist else (1,) * count
    for name in ("upper", "lower")[: 1 + (count == 2)]:  # of more than two, they stay in one plane
        ob.pose.bones[name].rotation_quaternion = rigs.turn(rng)
    before = oracle.seen_of(rigs.evaluated(ob), "lower", segments)[0]
    size = np.linalg.norm(np.diff(before, axis=0), axis=1).sum()
    adding, is_object = addon("tasks.adding"), rng.choice((False, True))
    target = (rigs.empty("goal", before[-1]), "") if is_object else None
    request = adding.LimbRequest(ob.pose.bones["lower"], segments, target, plane=plane)
    addon("tasks.modes").to_rig(bpy.context, adding.add(bpy.context, [request], foot=False).limbs)
    last = ob.pose.bones["lower"]
    now = oracle.seen_of(rigs.evaluated(ob), "lower", segments)[0]
    limb, tips, invalid = last.planar_ik, [], []
    owner = limb.target.pose.bones[limb.subtarget] if limb.subtarget else limb.target
    for part in (*NEAR, *FAR):
        rigs.put(owner, Vector(now[0]) + rigs.turn(rng, pi) @ Vector((0, 0, 1)) * size * part)
        bpy.context.view_layer.update()
        want, tip = oracle.expected(last), oracle.seen(last)[0][-1]
        if want.reach == "REACHED":
            tips.append(float(np.linalg.norm(tip - want.target) / size))
        if limb.reach == "INVALID":
            invalid.append(part)
    return Measured(float(np.linalg.norm(now - before, axis=1).max() / size), max(tips, default=0.0), invalid)
