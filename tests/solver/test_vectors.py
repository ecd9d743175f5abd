"""The tables of vectors.json, copied, so that the tests run anywhere."""

import math

import numpy as np
import pytest

from addon.solver import Plane, Reach, Settings, pose_limb, solve_two_bone
from addon.solver.ops import FLOATS
from tests.solver.oracles import unit
from tests.solver.shapes import RestGeometry

KNEES = [
    (1, 1, (1, 1), (0, 1), (1, 0)),
    (5, 5, (5, 0), (2.5, 4.330127), (2.5, -4.330127)),
    (3, 4, (3, 4), (-0.84, 2.88), (3, 0)),
    (3, 2, (2, 0), (2.25, 1.984313), (2.25, -1.984313)),
    (1, 0.6, (1.2, 0.5), (0.656548, 0.754284), (0.99789, -0.064935)),
]
BENT = (0, 0), (0, 1), (1, 1)
STRAIGHT = (0, 0), (1, 0), (2, 0)
# Sources: the article 'Simple IK' (Quilez), ozz-animation's ik_two_bone_job_tests.cc, Spine's softness, Unreal's IK.
CORRECTIONS = [
    (BENT, (1, 1), 0, 0, True),
    (BENT, (1, -1), -90, 0, True),
    (BENT, (-1, 1), 90, 0, True),
    (BENT, (2, 0), -90, 90, True),
    (BENT, (0, 0), -45, -90, True),  # ozz leaves the first bone as it is; here such a target is on the line at rest
    (STRAIGHT, (2, 0), 0, 0, True),
    (STRAIGHT, (3, 0), 0, 0, False),
]
SOFTNESS = [(1.8, 1.8), (1.9, 1.8875), (2.0, 1.95), (2.2, 2.0)]
STRAIGHT_LIMB = RestGeometry((1.0, 1.0), 0.0, (np.eye(3), np.eye(3)), ((1.0, 0.0, 0.0, 0.0),) * 2)


@pytest.mark.parametrize(("r1", "r2", "target", "one_side", "other_side"), KNEES)
def test_knees(r1, r2, target, one_side, other_side):
    assert solve_two_bone(target, r1, r2, 1).knee == pytest.approx(one_side, abs=6e-7)
    assert solve_two_bone(target, r1, r2, -1).knee == pytest.approx(other_side, abs=6e-7)


@pytest.mark.parametrize(("rest_joints", "target", "start", "mid", "reached"), CORRECTIONS)
def test_corrections(rest_joints, target, start, mid, reached):
    """In G, the line from root to tip is up and the knee to the left, which mirrors ozz's limb."""
    _, knee, tip = (np.array([*joint, 0.0]) for joint in rest_joints)
    y = unit(tip)
    x = np.array([y[1], -y[0], 0.0])
    to_frame = np.array([x, y, np.cross(x, y)])
    limb = STRAIGHT_LIMB._replace(kappa=math.pi / 2 if np.cross(knee, tip - knee).any() else 0.0)
    assert to_frame @ knee == pytest.approx(limb.ways[0])
    pose = pose_limb(tuple(to_frame @ [*target, 0.0]), limb.reference, Settings(), Plane.HINGE, FLOATS)
    first, second = limb.turned(pose.turns)
    assert degrees_about_z(first) == pytest.approx(start)
    assert degrees_about_z(second) == pytest.approx(mid)
    assert (pose.reach == Reach.REACHED) is reached


@pytest.mark.parametrize(("distance", "gone"), SOFTNESS)
def test_softness(distance, gone):
    stretch, tip = pose_towards(distance, softness=0.1)
    assert tip == pytest.approx(gone)
    assert stretch == 1.0


# Unreal's ramp runs straight from 0.75 to 1.25 of the limb's length, whether the limb needs it or not, so its tip
# leaves the target on the way. Ours stretches by what the softened limb lacks, k = d / f, which keeps the tip on the
# target. A softness of 0.25 begins and ends where the ramp does: there and past it the two agree, between they can't.
@pytest.mark.parametrize(("distance", "factor"), [(1.5, 1.0), (2.5, 1.25), (3.0, 1.25)])
def test_ends_of_the_stretch_ramp(distance, factor):
    stretch, tip = pose_towards(distance, softness=0.25, stretch=1.0, stretch_max=1.25)
    assert stretch == pytest.approx(factor)
    assert tip == pytest.approx(min(distance, 2.5))


@pytest.mark.parametrize("distance", [1.75, 2.0, 2.25])
def test_the_tip_stays_on_the_target_within_the_stretch_ramp(distance):
    stretch, tip = pose_towards(distance, softness=0.25, stretch=1.0, stretch_max=1.25)
    assert tip == pytest.approx(distance)
    assert stretch == pytest.approx(distance / (distance - (distance - 1.5) ** 2 / 2.0))


def pose_towards(distance, **settings):
    """The stretch, and how far the tip is from the root, by forward kinematics."""
    target = (0.0, 0.6 * distance, 0.8 * distance)
    pose = pose_limb(target, STRAIGHT_LIMB.reference, Settings(**settings), Plane.FREE, FLOATS)
    return pose.stretch, np.linalg.norm(STRAIGHT_LIMB.joints(pose.turns, pose.stretch)[1])


def degrees_about_z(rotation):
    assert rotation @ [0.0, 0.0, 1.0] == pytest.approx([0.0, 0.0, 1.0])
    return math.degrees(math.atan2(rotation[1, 0], rotation[0, 0]))
