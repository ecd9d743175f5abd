"""`solve_chain`: any shape at rest, both planes, by forward kinematics with rotation matrices."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from addon.solver import Reach
from addon.solver.chain import Features, Own, Plane, Uninherited, solve_chain, tip_position
from addon.solver.ops import FLOATS
from addon.solver.triangle import Settings
from tests.solver.oracles import ROUNDING, Rest, acos_error, joints, matrix, triangle, turn, unit
from tests.solver.shapes import (
    SHAPES,
    bend_normal,
    flat,
    goal,
    in_reach,
    lower_turn,
    pole_for,
    quaternion,
    rest_turn,
    seeded,
    target_for,
    vector,
)

seeds = st.integers(0, 2**32 - 1)
shapes = st.sampled_from(SHAPES)
bends = st.sampled_from([1.0, -1.0])
planes = st.sampled_from(Plane)
PLAIN, SWUNG = Features(), Features(swung=True)


def solve(rest: Rest, target, bend=1.0, features=PLAIN, swing_side=1.0, plane=Plane.REST, **given):
    settings = Settings(bend=bend, swing_side=swing_side)
    features = features._replace(plane=plane)
    return solve_chain(tuple(map(float, target)), rest.limb, settings, features, FLOATS, **given)


def expected_knee(rest: Rest, target, normal, bend, swing_side=1.0):
    """By the law of cosines: the knee off the target line, counter-clockwise about the normal for bend +1, and half
    way round the line for bend 0, on the normal's side or the other."""
    r1, r2 = rest.lengths
    at_root, _ = triangle(np.linalg.norm(target), r1, r2)
    along = unit(target)
    across = bend * np.cross(normal, along) + swing_side * math.sqrt(1.0 - bend * bend) * np.asarray(normal)
    return r1 * (math.cos(at_root) * along + math.sin(at_root) * across)


def knee_error(rest: Rest, target):
    return plane_error(rest) + rest.total * (1e-13 + 20 * acos_error(np.linalg.norm(target), *rest.lengths))


def normal_error(rest: Rest):
    """How far rounding turns a limb's normal: that of an almost straight limb is uncertain."""
    off_straight = np.linalg.norm(np.cross(unit(rest.lower), unit(rest.knee)))
    return ROUNDING * (4.0 + (2.0 / off_straight if off_straight > 1e-5 else 0.0))


def plane_error(rest: Rest):
    """How far off a limb's plane rounding takes a point."""
    return rest.total * normal_error(rest)


@given(seeds, shapes, bends)
def test_rest_plane(seed, shape, bend):
    rng, rest = seeded(seed, shape)
    target = target_for(rest, rng)
    solution = solve(rest, target, bend)
    knee, tip = joints(rest, solution.upper, solution.lower)
    projected = flat(rest, target)
    assert knee == pytest.approx(expected_knee(rest, projected, rest.normal, bend), abs=knee_error(rest, projected))
    size = np.linalg.norm(projected)
    r1, r2 = rest.lengths
    closest = unit(projected) * min(max(size, abs(r1 - r2)), r1 + r2)
    assert tip == pytest.approx(closest, abs=plane_error(rest))
    assert matrix(solution.upper) @ rest.normal == pytest.approx(rest.normal, abs=normal_error(rest))
    assert solution.stretch == 1.0


@given(seeds, shapes, bends)
def test_reach(seed, shape, bend):
    rng, rest = seeded(seed, shape)
    r1, r2 = rest.lengths
    for size, reach in [(1.001, Reach.TOO_FAR), (1.0 + 1e-13, Reach.REACHED), (0.999, None)]:
        target = unit(flat(rest, vector(rng))) * size * (r1 + r2)
        assert solve(rest, target, bend).reach in ([reach] if reach is not None else [Reach.REACHED, Reach.TOO_NEAR])
    target = unit(flat(rest, vector(rng))) * abs(r1 - r2) * 0.999
    near = solve(rest, target, bend, tolerance=1e-9).reach
    assert near is (Reach.TOO_NEAR if abs(r1 - r2) * 0.001 > 1e-9 * (r1 + r2) else Reach.REACHED)


@given(seeds, shapes, bends, st.booleans(), st.sampled_from([1.0, -1.0]))
def test_a_target_beside_the_hinges_plane(seed, shape, bend, is_shaped, side):
    """By more than the tolerance, and only in that plane."""
    rng, rest = seeded(seed, shape, is_alike=True)
    target, features = flat(rest, in_reach(rest, rng)), Features(shaped=is_shaped)
    size = np.linalg.norm(target)
    assume(abs(rest.lengths[0] - rest.lengths[1]) * 1.001 < size < rest.total * 0.999)
    for off, reach in [(0.0, Reach.REACHED), (0.99e-5, Reach.REACHED), (1.01e-5, Reach.OFF_PLANE)]:
        beside = target + side * off * rest.total * rest.normal
        assert solve(rest, beside, bend, features, tolerance=1e-5).reach is reach
        for plane in (Plane.SWING, Plane.POLE):
            pole = pole_for(rest, rng)
            assert solve(rest, beside, bend, features, plane=plane, pole=pole, tolerance=1e-5).reach is Reach.REACHED
    far = unit(target) * 1.5 * rest.total + side * rest.total * rest.normal
    assert solve(rest, far, bend, features).reach is Reach.TOO_FAR


@given(seeds, shapes)
def test_the_shape_at_rest_is_its_own_solution(seed, shape):
    _, rest = seeded(seed, shape)
    solution = solve(rest, rest.knee + rest.lower)
    knee, tip = joints(rest, solution.upper, solution.lower)
    # A shape this near to straight or folded is as far off as rounding moves it there: by the root of it.
    slack = 3e-7 if shape in ("folded", "slightly bent") or "straight" in shape else 1e-12
    slack *= max(rest.lengths) / min(rest.lengths)
    if shape != "folded" or rest.lengths[0] > rest.lengths[1]:
        assert knee == pytest.approx(rest.knee, abs=slack * rest.total)
    assert tip == pytest.approx(rest.knee + rest.lower, abs=4 * ROUNDING * rest.total)


@given(seeds, shapes)
def test_quaternions_are_unit(seed, shape):
    rng, rest = seeded(seed, shape)
    for features in (PLAIN, SWUNG, Features(shaped=True)):
        for plane in Plane:
            target, pole = target_for(rest, rng), pole_for(rest, rng)
            solution = solve(rest, target, rng.choice([1.0, -1.0]), features, plane=plane, pole=pole)
            for q in (solution.upper, solution.lower):
                assert math.hypot(*q) == pytest.approx(1.0, abs=ROUNDING)


@given(seeds, shapes, bends, planes, st.booleans())
def test_tip_position_agrees_with_matrices(seed, shape, bend, plane, is_uninherited):
    rng, rest = seeded(seed, shape)
    uninherited = Uninherited(quaternion(rng), quaternion(rng)) if is_uninherited else None
    solution = solve(rest, target_for(rest, rng), bend, plane=plane, pole=pole_for(rest, rng), uninherited=uninherited)
    position = tip_position(Own(solution.upper, solution.lower), rest.limb, 1.25, uninherited)
    _, tip = joints(rest, solution.upper, solution.lower, 1.25, uninherited)
    assert position == pytest.approx(tip, abs=4 * ROUNDING * rest.total)


@given(seeds, shapes, bends, st.sampled_from([Plane.SWING, Plane.POLE]))
def test_planes_through_the_target(seed, shape, bend, plane):
    rng, rest = seeded(seed, shape)
    target, pole = target_for(rest, rng, low=0.01), pole_for(rest, rng)
    solution = solve(rest, target, bend, plane=plane, pole=pole)
    knee, tip = joints(rest, solution.upper, solution.lower)
    normal = bend_normal(rest, target, plane, pole)
    assert matrix(solution.upper) @ rest.normal == pytest.approx(normal, abs=1e-11 + normal_error(rest))
    assert knee == pytest.approx(expected_knee(rest, target, normal, bend), abs=knee_error(rest, target) * 100)
    r1, r2 = rest.lengths
    closest = unit(target) * min(max(np.linalg.norm(target), abs(r1 - r2)), r1 + r2)
    assert tip == pytest.approx(closest, abs=4 * ROUNDING * rest.total)
    assert bend * np.dot(knee, np.cross(normal, unit(target))) >= -1e-12 * rest.total  # on the pole's side for +1


@given(seeds, shapes, bends, st.sampled_from([Plane.SWING, Plane.POLE]))
def test_roll_is_carried_with_the_plane(seed, shape, bend, plane):
    """Both bones turn as one with the plane: their axes that were along its normal still are."""
    rng, rest = seeded(seed, shape)
    target, pole = target_for(rest, rng, low=0.01), pole_for(rest, rng)
    solution = solve(rest, target, bend, plane=plane, pole=pole)
    normal = matrix(solution.upper) @ rest.normal
    assert normal == pytest.approx(bend_normal(rest, target, plane, pole), abs=1e-11 + normal_error(rest))
    assert lower_turn(rest, solution.upper, solution.lower) @ rest.normal == pytest.approx(
        normal, abs=normal_error(rest)
    )


@given(seeds, shapes, bends, st.sampled_from([1.0, -1.0]))
def test_pole_where_the_limb_already_bends_changes_nothing(seed, shape, bend, side):
    rng, rest = seeded(seed, shape)
    target = flat(rest, target_for(rest, rng, low=0.1))
    across = np.cross(rest.normal, target) + 0.3 * target
    in_rest_plane = solve(rest, target, bend)
    in_pole_plane = solve(rest, target, bend, plane=Plane.POLE, pole=tuple(across.tolist()))
    slack = normal_error(rest)
    assert same_side(in_pole_plane.upper, in_rest_plane.upper) == pytest.approx(in_rest_plane.upper, abs=slack)
    assert in_pole_plane.lower == pytest.approx(in_rest_plane.lower, abs=slack)


@given(seeds, shapes, bends)
def test_a_pole_in_line_has_no_say(seed, shape, bend):
    """The pose is that of a limb without a pole, whatever was before."""
    rng, rest = seeded(seed, shape)
    target = target_for(rest, rng, low=0.1)
    swung = solve(rest, target, bend, plane=Plane.SWING)
    for share in (0.0, 1e-9, -1.0, 2.0):
        pole = tuple((target * share).tolist())
        posed = solve(rest, target, bend, plane=Plane.POLE, pole=pole)
        assert matrix(posed.upper) == pytest.approx(matrix(swung.upper), abs=ROUNDING)
        assert posed.lower == swung.lower


@given(seeds, shapes, bends)
def test_swing_is_the_rest_plane_for_targets_in_it(seed, shape, bend):
    rng, rest = seeded(seed, shape)
    target = flat(rest, target_for(rest, rng, low=0.01))
    hinged, swung = (solve(rest, target, bend, plane=plane) for plane in (Plane.REST, Plane.SWING))
    # The way to straight opposite is as uncertain as the target is off the plane.
    slack = (ROUNDING + normal_error(rest)) / opposite_by(rest, target)
    assert matrix(swung.upper) == pytest.approx(matrix(hinged.upper), abs=slack)
    assert same_side(swung.lower, hinged.lower) == pytest.approx(hinged.lower, abs=slack)


def opposite_by(rest: Rest, target):
    """How far a direction is from straight opposite the rest line, up to 1."""
    way = unit(target)
    return 1.0 if np.dot(rest.line, way) > 0.0 else np.linalg.norm(np.cross(rest.line, way))


def same_side(q, other):
    return q if np.dot(q, other) >= 0.0 else tuple(-x for x in q)


@given(seeds, shapes, st.sampled_from(Plane), st.sampled_from([0.0, 1e-16, 1e-12, 1e-7]))
def test_straight_opposite_is_half_a_turn_about_the_rest_normal(seed, shape, plane, off):
    """Also where rounding takes the target off that line."""
    rng, rest = seeded(seed, shape, is_alike=True)
    line = rest.line + off * vector(rng)
    pole = tuple(line.tolist())
    back = solve(rest, -line * 0.8 * rest.total, plane=plane, pole=pole)
    ahead = solve(rest, rest.line * 0.8 * rest.total, plane=plane, pole=pole)
    _, tip = joints(rest, *back[:2])
    if np.linalg.norm(line) * 0.8 * rest.total > abs(rest.lengths[0] - rest.lengths[1]):
        aim = goal(rest, -line * 0.8 * rest.total, plane)
        assert tip == pytest.approx(aim, abs=plane_error(rest) + 4 * ROUNDING * rest.total)
    expected = turn(rest.normal, math.pi) @ matrix(ahead.upper)
    assert matrix(back.upper) == pytest.approx(expected, abs=10 * off + 1e-6)


def test_swing_goes_the_shortest_way_and_jumps_nowhere_but_straight_opposite():
    for seed in range(20):
        rng, rest = seeded(seed, is_alike=True)
        axis, size = unit(vector(rng)), np.linalg.norm(in_reach(rest, rng))
        start = unit(np.cross(axis, vector(rng)) + 0.2 * vector(rng)) * size
        ways = [turn(axis, math.radians(step / 2)) @ start for step in range(721)]
        poses = [matrix(solve(rest, way, plane=Plane.SWING).upper) for way in ways]
        moves = np.linalg.norm(np.diff(poses, axis=0), axis=(1, 2))
        nearest = np.array([min(opposite_by(rest, a), opposite_by(rest, b)) for a, b in itertools.pairwise(ways)])
        assert (moves < 4 * math.radians(0.5) / nearest).all()


@pytest.mark.parametrize("plane", Plane)
def test_target_at_the_root_lies_along_the_unturned_upper_bone(plane):
    for seed in range(100):
        rng, rest = seeded(seed)
        r1, r2 = rest.lengths
        solution = solve(rest, (0.0, 0.0, 0.0), plane=plane, pole=pole_for(rest, rng))
        knee, tip = joints(rest, solution.upper, solution.lower)
        along = unit(rest.knee)
        assert knee == pytest.approx(along * r1 * (1 if r1 >= r2 else -1), abs=4 * ROUNDING * rest.total)
        assert tip == pytest.approx(along * abs(r1 - r2), abs=4 * ROUNDING * rest.total)


@pytest.mark.parametrize("plane", Plane)
@pytest.mark.parametrize("bend", [1.0, -1.0])
def test_equal_bones_with_the_target_at_the_root_fold_where_they_are(plane, bend):
    rest = Rest(np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.6, 0.8]), turn((1, 0, 0), math.atan2(0.8, 0.6)))
    knee, tip = joints(rest, *solve(rest, (0.0, 0.0, 0.0), bend, plane=plane, pole=(0.0, 1.0, 2.0))[:2])
    assert knee == pytest.approx([0.0, 1.0, 0.0], abs=ROUNDING)
    assert tip == pytest.approx([0.0, 0.0, 0.0], abs=ROUNDING)


@pytest.mark.parametrize("lengths", [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("plane", Plane)
def test_bones_of_no_length(lengths, plane):
    for seed in range(30):
        rng = random.Random(seed)
        frame = matrix(quaternion(rng))
        rest = Rest(unit(vector(rng)) * lengths[0], frame[:, 1] * lengths[1], frame)
        solution = solve(rest, vector(rng), plane=plane, pole=tuple(vector(rng).tolist()))
        assert all(map(math.isfinite, [*solution.upper, *solution.lower]))
        assert math.hypot(*solution.upper) == pytest.approx(1.0)
        assert math.hypot(*solution.lower) == pytest.approx(1.0)


@given(seeds, shapes, st.floats(-1.0, 1.0), planes, st.sampled_from([1.0, -1.0]))
def test_bend_between_the_sides(seed, shape, bend, plane, swing_side):
    """The knee swings round the target line by the angle whose cosine is the bend; the tip stays."""
    rng, rest = seeded(seed, shape)
    target = target_for(rest, rng, low=0.01)
    pole = pole_for(rest, rng)
    solution = solve(rest, target, bend, SWUNG, swing_side, plane, pole=pole)
    knee, tip = joints(rest, solution.upper, solution.lower)
    aim = goal(rest, target, plane)
    expected = expected_knee(rest, aim, bend_normal(rest, target, plane, pole), bend, swing_side)
    assert knee == pytest.approx(expected, abs=knee_error(rest, aim) * 100 + 1e-8 * rest.total)
    r1, r2 = rest.lengths
    assert tip == pytest.approx(unit(aim) * min(max(np.linalg.norm(aim), abs(r1 - r2)), r1 + r2), abs=plane_error(rest))


@given(seeds, shapes, st.floats(-1.0, 1.0), planes)
def test_bend_turns_the_hinge_axis_and_adds_no_roll(seed, shape, bend, plane):
    """Each bone: the plane's turn to the target line, then the shortest one off that line, about the swung hinge."""
    rng, rest = seeded(seed, shape, is_alike=True)
    target = in_reach(rest, rng)
    pole = pole_for(rest, rng)
    solution = solve(rest, target, bend, SWUNG, plane=plane, pole=pole)
    aim = goal(rest, target, plane)
    along, normal = unit(aim), bend_normal(rest, target, plane, pole)
    axes = [unit(rest.knee), np.cross(rest.normal, unit(rest.knee)), rest.normal]
    line = np.column_stack([along, np.cross(normal, along), normal]) @ np.array(axes)
    hinge = bend * normal - math.sqrt(1.0 - bend * bend) * np.cross(normal, along)
    at_root, at_knee = triangle(np.linalg.norm(aim), *rest.lengths)
    slack = 3e-7 if shape == "slightly bent" or plane is Plane.REST else 1e-9
    assert matrix(solution.upper) == pytest.approx(turn(hinge, at_root) @ line, abs=slack)
    expected = turn(hinge, at_root - at_knee) @ line @ rest_turn(rest)
    assert lower_turn(rest, solution.upper, solution.lower) == pytest.approx(expected, abs=slack)


@given(seeds, shapes, bends, planes)
def test_bend_on_a_side_is_the_same_with_and_without_the_swing(seed, shape, bend, plane):
    rng, rest = seeded(seed, shape)
    target, pole = target_for(rest, rng), pole_for(rest, rng)
    one, other = (solve(rest, target, bend, features, plane=plane, pole=pole) for features in (PLAIN, SWUNG))
    assert one.upper == pytest.approx(other.upper, abs=ROUNDING)
    assert one.lower == pytest.approx(other.lower, abs=ROUNDING)


@given(seeds, shapes, planes)
def test_the_other_bend_is_the_mirror_image_facing_the_same_way(seed, shape, plane):
    """Mirrored across the plane through the target line and the normal, whose rotation vectors keep the sign along
    the normal's plane: the normal stays put."""
    rng, rest = seeded(seed, shape)
    target, pole = target_for(rest, rng, low=0.1), pole_for(rest, rng)
    one, other = (solve(rest, target, bend, plane=plane, pole=pole) for bend in (1.0, -1.0))
    normal = matrix(one.upper) @ rest.normal
    across = np.cross(normal, unit(goal(rest, target, plane)))
    knees = [joints(rest, *solution[:2])[0] for solution in (one, other)]
    assert knees[1] == pytest.approx(knees[0] - 2 * np.dot(knees[0], across) * across, abs=10 * plane_error(rest))
    assert matrix(other.upper) @ rest.normal == pytest.approx(normal, abs=normal_error(rest))


@given(seeds, shapes, bends, planes)
def test_a_lower_bone_that_does_not_inherit_rotation(seed, shape, bend, plane):
    rng, rest = seeded(seed, shape)
    uninherited = Uninherited(quaternion(rng), quaternion(rng))
    target, pole = target_for(rest, rng), pole_for(rest, rng)
    without_inheriting = solve(rest, target, bend, plane=plane, pole=pole, uninherited=uninherited)
    without = solve(rest, target, bend, plane=plane, pole=pole)
    assert without_inheriting.upper == without.upper
    for joint, same in zip(
        joints(rest, without_inheriting.upper, without_inheriting.lower, uninherited=uninherited),
        joints(rest, *without[:2]),
        strict=True,
    ):
        assert joint == pytest.approx(same, abs=4 * ROUNDING * rest.total)


@given(seeds, shapes, planes)
def test_turning_everything_turns_the_pose(seed, shape, plane):
    rng, rest = seeded(seed, shape)
    target, pole = target_for(rest, rng), pole_for(rest, rng)
    spin = matrix(quaternion(rng))
    turned_rest = Rest(spin @ rest.knee, spin @ rest.lower, spin @ rest.frame)
    solution = solve(rest, target, plane=plane, pole=pole)
    turned = solve(turned_rest, spin @ target, plane=plane, pole=tuple((spin @ pole).tolist()))
    slack = 1e-6 if shape in ("slightly bent", "folded") else 1e-7
    for joint, image in zip(joints(rest, *solution[:2]), joints(turned_rest, *turned[:2]), strict=True):
        assert image == pytest.approx(spin @ joint, abs=slack * rest.total * max(rest.lengths) / min(rest.lengths))


@pytest.mark.parametrize("plane", Plane)
def test_no_jumps_as_the_target_goes_round(plane):
    for seed in range(20):
        rng, rest = seeded(seed, is_alike=True)
        axis = unit(vector(rng)) if plane is Plane.POLE else rest.normal
        start = unit(np.cross(axis, vector(rng))) * np.linalg.norm(in_reach(rest, rng))
        pole = tuple((10 * rest.total * axis).tolist())
        poses = []
        for step in range(721):
            solution = solve(rest, turn(axis, math.radians(step)) @ start, plane=plane, pole=pole)
            poses.append(np.concatenate([matrix(solution.upper), matrix(solution.lower)]))
        moves = np.linalg.norm(np.diff(poses, axis=0), axis=(1, 2))
        assert moves.max() < 4 * math.radians(1)
