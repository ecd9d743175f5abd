"""`pose_limb` by forward kinematics: joints and the bend plane's normal where matrices and cosines say they belong."""

import math
import random

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from addon.solver import Plane, Reach, Settings, pose_limb
from addon.solver.limb import joints_of, line_to, turn_about_line
from addon.solver.ops import FLOATS
from tests.solver.oracles import ROUNDING, X, Y, Z, frame_of, is_slerp, knee_in_plane, matrix, reached, turn, unit
from tests.solver.shapes import (
    TURNING,
    Case,
    RestGeometry,
    cases,
    fractions,
    half,
    planes,
    quaternion,
    seeds,
    shapes,
    vector,
)

ROOM = 4 * ROUNDING
"""`ROUNDING` over the half a dozen matrices that are multiplied here."""

UPRIGHT = RestGeometry((1.0, 0.7), 0.8, (np.eye(3), np.eye(3)), ((1.0, 0.0, 0.0, 0.0),) * 2)


def posed(case: Case, own=None, influence=1.0, tolerance=1e-12):
    target, pole = tuple(case.target.tolist()), tuple(case.pole.tolist())
    to = case.settings._replace(influence=influence)
    return pose_limb(target, case.shape.reference, to, case.plane, FLOATS, pole, own, tolerance)


def distance_of(case: Case) -> float:
    return float(np.linalg.norm(case.target[:2] if case.plane == Plane.HINGE else case.target))


def knee_error(gone: float, lengths) -> float:
    """How far the knee may be off by rounding: near its limits it moves with the root of the distance's error."""
    here = knee_in_plane(gone, *lengths)
    rounding = 3e-15 * gone + 3e-16 * sum(lengths)
    there = [knee_in_plane(gone + step, *lengths) for step in (-rounding, rounding)]
    return max(float(math.hypot(a[0] - here[0], a[1] - here[1])) for a in there)


@settings(max_examples=200)
@given(cases())
def test_joints_and_plane(case):
    """Every plane, side, swivel, softness, stretch and limit."""
    shape, frame = case.shape, frame_of(case.target, case.plane, case.pole, case.swivel)
    pose = posed(case)
    knee, tip = shape.joints(pose.turns, pose.stretch)
    gone, factor = reached(distance_of(case), shape.lengths, **case.features, limits=case.limits)
    size = shape.total * factor
    is_narrow = case.limits[0] > 0.0 or case.limits[1] < math.pi or case.features["softness"] > 0.0
    off = (10.0 if is_narrow else 1.0) * knee_error(gone, shape.lengths) * factor + ROOM * size
    # The plane near straight opposite: the axis of the shortest turn is a small difference.
    lean = ROOM / max(math.hypot(frame.line[0], frame.line[2]), 1e-3) + 1e-15 * abs(case.swivel)
    if case.plane == Plane.POLE:
        lean = ROOM * np.linalg.norm(case.pole) / np.linalg.norm(np.cross(case.pole, frame.line))
    along, aside = (float(number) * factor for number in knee_in_plane(gone, *shape.lengths))
    assert pose.stretch == pytest.approx(factor, rel=1e-12)
    assert tip == pytest.approx(gone * factor * frame.line, abs=ROOM * size)
    assert knee == pytest.approx(along * frame.line + case.side * aside * frame.side, abs=off + lean * size)
    first, second = shape.turned(pose.turns)
    for normal in (first @ Z, first @ second @ Z):
        assert normal == pytest.approx(frame.normal, abs=ROOM + lean)
    for own in pose.turns:
        assert math.hypot(*own) == pytest.approx(1.0, abs=ROUNDING)


@given(cases(), st.sampled_from([1e-12, 1e-6]))
def test_reach_and_shortfall_are_true(case, tolerance):
    pose = posed(case, tolerance=tolerance)
    off = case.target - case.shape.joints(pose.turns, pose.stretch)[1]
    short = np.linalg.norm(off[:2] if case.plane == Plane.HINGE else off)
    assert pose.shortfall == pytest.approx(short, abs=ROOM * (case.shape.total + short))
    slack = tolerance * case.shape.total
    is_limited = case.limits[0] > 0.0, case.limits[1] < math.pi
    gone, factor = reached(distance_of(case), case.shape.lengths, **case.features, limits=case.limits)
    past = distance_of(case) - gone * factor
    beyond = max(distance_of(case) - reached(math.inf, case.shape.lengths, limits=case.limits)[0], 0.0)
    if past > beyond:  # what softness keeps it from is no miss
        past, short = beyond, math.hypot(beyond, case.target[2] if case.plane == Plane.HINGE else 0.0)
    if abs(short - slack) > 0.5 * slack:
        assert (pose.reach is Reach.REACHED) == (short < slack)
    if past > 2 * slack:
        assert pose.reach is (Reach.LIMITED if is_limited[1] else Reach.TOO_FAR)
    elif past < -2 * slack:
        assert pose.reach is (Reach.LIMITED if is_limited[0] else Reach.TOO_NEAR)


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("past", [0.5, 2.0])
def test_the_tolerance_is_a_fraction_of_the_length(size, past):
    shape = UPRIGHT._replace(lengths=(size, 0.7 * size))
    tolerance = 1e-3
    off = past * tolerance * shape.total
    targets = {
        Reach.TOO_FAR: (0.0, shape.total + off, 0.0),
        Reach.TOO_NEAR: (0.0, 0.3 * size - off, 0.0),
    }
    for reach, target in targets.items():
        pose = pose_limb(target, shape.reference, Settings(), Plane.HINGE, FLOATS, tolerance=tolerance)
        assert pose.reach is (reach if past > 1.0 else Reach.REACHED)


@given(cases(), seeds, fractions)
@example(Case(UPRIGHT, 3.0 * Y, X, Plane.FREE, 1.0, 0.0, {"stretch": 1.0, "stretch_max": 2.0}, (0.0, math.pi)), 1, 0.0)
def test_influence_leads_each_bone_the_shortest_way(case, seed, influence):
    rng = random.Random(seed)
    own = quaternion(rng), quaternion(rng)
    full, part = posed(case), posed(case, own, influence)
    for found, a, b in zip(part.turns, own, full.turns, strict=True):
        assert is_slerp(found, a, b, influence)
    assert part.stretch == pytest.approx(1.0 + influence * (full.stretch - 1.0))
    assert part[2:] == full[2:]


@given(shapes(), planes, st.sampled_from([1.0, -1.0]))
def test_the_reference_is_its_own_pose(shape, plane, side):
    """Flipped, it is the mirror image about the line."""
    assume(shape.distance > 1e-3 * shape.total)
    pole = tuple((shape.distance * Y - shape.total * X).tolist())
    pose = pose_limb((0.0, shape.distance, 0.0), shape.reference, Settings(side), plane, FLOATS, pole)
    knee = shape.ways[0] * shape.lengths[0] * [side, 1.0, 1.0]
    error = knee_error(shape.distance, shape.lengths) + ROOM * shape.total
    assert shape.joints(pose.turns)[0] == pytest.approx(knee, abs=error)
    assert pose.reach is Reach.REACHED
    if side > 0.0:
        off = error / min(shape.lengths)
        for own, still in zip(pose.turns, shape.reference_rotations, strict=True):
            assert own == pytest.approx(still, abs=off)


@given(shapes(), seeds, st.floats(1.0, 2.0))
def test_forward_kinematics(shape, seed, stretch):
    """Of any rotations, not only those in the plane."""
    rng = random.Random(seed)
    turns = quaternion(rng), quaternion(rng)
    found, wanted = joints_of(turns, shape.reference, stretch), shape.joints(turns, stretch)
    for place, joint in zip(found, wanted, strict=True):
        assert place == pytest.approx(joint, abs=ROOM * shape.total * stretch)


@given(cases(), fractions)
def test_the_swivel_of_a_posed_knee_is_found_again(case, fraction):
    """What a snap does: the roll about the line to where the knee is."""
    shape = case.shape
    target = unit(case.target if case.target.any() else X) * shape.distance
    assume(shape.distance > 0.01 * shape.total)
    knee = shape.ways[0][0] * shape.lengths[0]
    assume(abs(knee) > 0.01 * shape.total and target[1] > -0.999 * shape.distance)
    swivel = math.pi * (1.9 * fraction - 0.95)
    target = tuple(target.tolist())
    to = Settings(case.side, half(swivel))
    pose = pose_limb(target, shape.reference, to, Plane.FREE, FLOATS)
    cosine, sine = turn_about_line(
        line_to(target, shape.distance, FLOATS), joints_of(pose.turns, shape.reference)[0], FLOATS
    )
    found = 2.0 * math.atan2(sine, cosine) + (0.0 if case.side > 0.0 else math.pi)
    assert math.remainder(found - swivel, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("swivel", [0.0, 2.0])
@pytest.mark.parametrize("plane", [Plane.FREE, Plane.POLE])
@pytest.mark.parametrize("off", [0.0, 1e-300, -1e-12, 1e-8])
def test_straight_opposite_is_half_a_turn_about_the_normal(plane, off, swivel):
    pole = (0.0, 2.0, 0.0)  # in line
    target = (off, -1.3, -off)
    pose = pose_limb(target, UPRIGHT.reference, Settings(swivel=half(swivel)), plane, FLOATS, pole)
    _, tip = UPRIGHT.joints(pose.turns)
    assert tip == pytest.approx(target, abs=ROOM)
    assert UPRIGHT.turned(pose.turns)[0] @ Z == pytest.approx(turn(-Y, swivel) @ Z, abs=1e-7)


@pytest.mark.parametrize("plane", TURNING)
@pytest.mark.parametrize("pole", [(0.0, 0.0, 0.0), (0.0, 3.0, 0.0), (0.0, -1e-9, 0.0)])
def test_a_target_at_the_root_and_a_pole_in_line(plane, pole):
    limb = RestGeometry((1.0, 1.0), 0.8, UPRIGHT.axes, UPRIGHT.reference_rotations)
    pose = pose_limb((0.0, 0.0, 0.0), limb.reference, Settings(), plane, FLOATS, pole)
    knee, tip = limb.joints(pose.turns)
    assert tip == pytest.approx((0.0, 0.0, 0.0), abs=ROOM)
    assert abs(knee @ Z) < ROOM
    assert pose.reach is Reach.REACHED
    ahead = pose_limb((0.0, 1.0, 0.0), limb.reference, Settings(), plane, FLOATS, pole)
    assert limb.turned(ahead.turns)[0] @ Z == pytest.approx(Z, abs=ROOM)


@given(shapes(spread=0.3), planes, seeds, st.floats(0.0, 0.5))
def test_no_jumps(shape, plane, seed, softness):
    """The bones turn by at most the root of the target's step, which is how fast they turn at their limits."""
    rng = random.Random(seed)
    start, end, pole = (unit(vector(rng)) for _ in range(3))
    step = 1e-4
    worst, before = 0.0, None
    for t in np.linspace(0.0, 1.0, 40) * 40 * step:
        target = unit(start + t * end) * shape.total * (0.8 + rng.choice([-step, step]))
        if target[1] < -0.9 * np.linalg.norm(target) or np.linalg.norm(np.cross(unit(target), pole)) < 0.2:
            return
        if np.linalg.norm(target[:2]) < 0.3 * shape.total:
            return
        pose = pose_limb(
            tuple(target.tolist()), shape.reference, Settings(softness=softness), plane, FLOATS, tuple(pole)
        )
        now = np.array(shape.turned(pose.turns))
        if before is not None:
            worst = max(worst, np.abs(now - before).max())
        before = now
    assert worst < 20.0 * math.sqrt(step)


@pytest.mark.parametrize("plane", TURNING)
def test_a_swivel_or_a_target_that_goes_full_circle_has_no_seam(plane):
    angles = np.linspace(-2.0 * math.pi, 2.0 * math.pi, 2001)
    for is_swivel in (True, False):
        turns = []
        for angle in angles:
            target = (0.4, 0.9, 0.5) if is_swivel else (1.2 * math.sin(angle), 1.2 * math.cos(angle), 0.9)
            to = Settings(swivel=half(angle if is_swivel else 0.0))
            pose = pose_limb(target, UPRIGHT.reference, to, plane, FLOATS, (0.1, 0.2, 5.0))
            turns.append(matrix(pose.turns[0]))
        assert np.abs(np.diff(turns, axis=0)).max() < 5.0 * (angles[1] - angles[0])
