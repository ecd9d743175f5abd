"""Limbs that are nearly straight when a chain is added: no bone turns about its length, and the bend is kept as well as
single precision can say it."""

from __future__ import annotations

import math
import random
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from tests.blender.rigs import Bone, joints, make_rig, select, update

TWIST = 1e-4
"""Radians by which a bone may turn about its length. Of 400 limbs each at most 3.1e-5 live; on the rig too, but for one
by 1.1e-4."""

SQUARE = 2e-5
"""By how much the square of the knee's angle may change. A bend by an angle brings the tip nearer by some eighth of its
square, in lengths of the limb; a target whose place is rounded to 1e-6 of these, as it may be after some products some
way from the origin, leaves this much of the square open. A bend by 1e-4 may so become one by 1e-3."""


def any_direction(chosen: random.Random) -> Vector:
    return Vector([chosen.gauss(0.0, 1.0) for _ in range(3)]).normalized()


def leg(chosen: random.Random) -> Any:
    """A limb anywhere that is bent by 1e-5 to 0.1, as it is at rest or posed from a larger bend; shin selected."""
    bend, is_posed = 10.0 ** chosen.uniform(-5.0, -1.0), chosen.random() < 0.5
    along, root = any_direction(chosen), 2.0 * chosen.random() * any_direction(chosen)
    upper, lower = chosen.uniform(0.5, 1.5), chosen.uniform(0.5, 1.5)
    across = along.cross(any_direction(chosen)).normalized()
    at_rest = 0.3 if is_posed else bend
    knee = root + upper * along
    tip = knee + lower * (math.cos(at_rest) * along + math.sin(at_rest) * across)
    roll = chosen.uniform(-3.0, 3.0)
    hip = Bone("hip", root - 0.5 * any_direction(chosen), root)
    thigh = Bone("thigh", root, knee, "hip", roll=roll)
    ob = make_rig((hip, thigh, Bone("shin", knee, tip, "thigh", connected=True, roll=-roll)))
    if is_posed:
        bones, shin = ob.data.bones, ob.pose.bones["shin"]
        line = bones["shin"].matrix_local.to_3x3().inverted() @ bones["thigh"].matrix_local.to_3x3().col[1]
        ob.pose.bones["thigh"].rotation_quaternion = Quaternion(any_direction(chosen), chosen.random())
        aside = line.cross(any_direction(chosen)).normalized()
        bent = math.cos(bend) * line + math.sin(bend) * aside
        twist = Quaternion((0.0, 1.0, 0.0), chosen.uniform(-1.0, 1.0))
        shin.rotation_quaternion = Vector((0.0, 1.0, 0.0)).rotation_difference(bent) @ twist
    select(ob, "shin")
    update()
    return ob


def orientations(ob: Any) -> list[Matrix]:
    bones = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return [bones[name].matrix.to_3x3().normalized() for name in ("thigh", "shin")]


def bend_of(ob: Any) -> float:
    root, knee, tip = joints(ob)
    upper, lower = knee - root, tip - knee
    return math.atan2(float(np.linalg.norm(np.cross(upper, lower))), float(upper @ lower))


def twist_between(one: Matrix, other: Matrix) -> float:
    turn = one.transposed() @ other
    return abs(turn[0][2] - turn[2][0]) / 2.0


@pytest.mark.parametrize("runs_on", ["EXTENSION", "RIG"])
@pytest.mark.parametrize("seed", range(20))
def test_adding_keeps_it(runs_on: str, seed: int) -> None:
    ob = leg(random.Random(seed))
    before, bend = orientations(ob), bend_of(ob)
    bpy.ops.pose.planar_ik_add(runs_on=runs_on)
    update()
    assert ob.pose.bones["shin"].planar_ik.reach == "REACHED"
    assert max(map(twist_between, before, orientations(ob))) <= TWIST
    assert abs(bend_of(ob) ** 2 - bend**2) <= SQUARE
