"""`solve_chain`: any shape at rest, both planes, by forward kinematics with rotation matrices."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.solver import Reach
from addon.solver.chain import Features, Hinge, Own, Pole, solve_chain, tip_position
from addon.solver.ops import FLOATS
from addon.solver.triangle import Settings
from tests.solver.oracles import ROUNDING, Rest, acos_error, joints, matrix, triangle, turn, unit
from tests.solver.shapes import (
    SHAPES,
    flat,
    in_reach,
    lower_turn,
    pole_for,
    quaternion,
    rest_shape,
    rest_turn,
    target_for,
    vector,
)

seeds = st.integers(0, 2**32 - 1)
shapes = st.sampled_from(SHAPES)
bends = st.sampled_from([1.0, -1.0])
PLAIN, SWUNG = Features(), Features(swung=True)


def solve(rest: Rest, target, bend=1.0, features=PLAIN, swing_side=1.0, **given):
    settings = Settings(bend=bend, swing_side=swing_side)
    return solve_chain(tuple(map(float, target)), rest.limb, settings, features, FLOATS, **given)


def expected_knee(rest: Rest, target, normal, bend=1.0, swing_side=1.0):
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
    rng = random.Random(seed)
    rest = rest_shape(rng, shape)
    target = target_for(rest, rng)
    solution = solve(rest, target, bend)
    knee, tip = joints(rest, solution.upper, solution.lower)
    projected = flat(rest, target)
    assert knee == pytest.approx(expected_knee(rest, projected, rest.normal, bend), abs=knee_error(rest, projected))
    size = np.linalg.norm(projected)
    r1, r2 = rest.lengths
    closest = unit(projected) * min(max(size, abs(r1 - r2)), r1 + r2)
    assert tip == pytest.approx(closest, abs=plane_error(rest))
    assert solution.normal == pytest.approx(rest.normal, abs=normal_error(rest))
    assert solution.stretch == 1.0


@given(seeds, shapes, bends)
def test_reach(seed, shape, bend):
    rng = random.Random(seed)
    rest = rest_shape(rng, shape)
    r1, r2 = rest.lengths
    for size, reach in [(1.001, Reach.TOO_FAR), (1.0 + 1e-13, Reach.REACHED), (0.999, None)]:
        target = unit(flat(rest, vector(rng))) * size * (r1 + r2)
        assert solve(rest, target, bend).reach in ([reach] if reach is not None else [Reach.REACHED, Reach.TOO_NEAR])
    target = unit(flat(rest, vector(rng))) * abs(r1 - r2) * 0.999
    near = solve(rest, target, bend, tolerance=1e-9).reach
    assert near is (Reach.TOO_NEAR if abs(r1 - r2) * 0.001 > 1e-9 * (r1 + r2) else Reach.REACHED)


@given(seeds, shapes)
def test_the_shape_at_rest_is_its_own_solution(seed, shape):
    rng = random.Random(seed)
    rest = rest_shape(rng, shape)
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
    rng = random.Random(seed)
    rest = rest_shape(rng, shape)
    for features in (PLAIN, SWUNG, Features(shaped=True)):
        for pole in (None, pole_for(rest, rng)):
            solution = solve(rest, target_for(rest, rng), rng.choice([1.0, -1.0]), features, pole=pole)
            for q in (solution.upper, solution.lower):
                assert math.hypot(*q) == pytest.approx(1.0, abs=ROUNDING)


@given(seeds, shapes, bends, st.booleans(), st.booleans())
def test_tip_position_agrees_with_matrices(seed, shape, bend, has_pole, has_hinge):
    rng = random.Random(seed)
    rest = rest_shape(rng, shape)
    hinge = Hinge(quaternion(rng), quaternion(rng)) if has_hinge else None
    pole = pole_for(rest, rng) if has_pole else None
    solution = solve(rest, target_for(rest, rng), bend, pole=pole, hinge=hinge)
    position = tip_position(Own(solution.upper, solution.lower), rest.limb, 1.25, hinge)
    _, tip = joints(rest, solution.upper, solution.lower, 1.25, hinge)
    assert position == pytest.approx(tip, abs=4 * ROUNDING * rest.total)


@given(seeds, shapes, bends)
def test_pole_plane(seed, shape, bend):
    rng = random.Random(seed)
    rest = rest_shape(rng, shape)
    target, pole = target_for(rest, rng, low=0.01), pole_for(rest, rng)
    solution = solve(rest, target, bend, pole=pole)
    knee, tip = joints(rest, solution.upper, solution.lower)
    normal = unit(np.cross(unit(target), pole.position))
    assert solution.normal == pytest.approx(normal, abs=1e-11)
    assert knee == pytest.approx(expected_knee(rest, target, normal, bend), abs=knee_error(rest, target) * 100)
    r1, r2 = rest.lengths
    closest = unit(target) * min(max(np.linalg.norm(target), abs(r1 - r2)), r1 + r2)
    assert tip == pytest.approx(closest, abs=4 * ROUNDING * rest.total)
    assert bend * np.dot(knee, np.cross(normal, unit(target))) >= -1e-12 * rest.total  # towards the pole for +1


@given(seeds, shapes, bends)
def test_roll_is_carried_with_the_pole_plane(seed, shape, bend):
    """Both bones turn as one with the plane: their axes that were along its normal still are."""
    rng = random.Random(seed)
    rest = rest_shape(rng, shape)
    solution = solve(rest, target_for(rest, rng, low=0.01), bend, pole=pole_for(rest, rng))
    slack = normal_error(rest)
    assert matrix(solution.upper) @ rest.normal == pytest.approx(solution.normal, abs=slack)
    assert lower_turn(rest, solution.upper, solution.lower) @ rest.normal == pytest.approx(solution.normal, abs=slack)


@given(seeds, shapes, bends, st.sampled_from([1.0, -1.0]))
def test_pole_where_the_limb_already_bends_changes_nothing(seed, shape, bend, side):
    rng = random.Random(seed)
    rest = rest_shape(rng, shape)
    target = flat(rest, target_for(rest, rng, low=0.1))
    across = np.cross(rest.normal, target) + 0.3 * target
    in_rest_plane = solve(rest, target, bend)
    in_pole_plane = solve(rest, target, bend, pole=Pole(tuple(across.tolist()), (1.0, 0.0, 0.0)))
    slack = normal_error(rest)
    same = math.copysign(1.0, np.dot(in_pole_plane.upper, in_rest_plane.upper))
    assert [same * x for x in in_pole_plane.upper] == pytest.approx(in_rest_plane.upper, abs=slack)
    assert in_pole_plane.lower == pytest.approx(in_rest_plane.lower, abs=slack)


@given(seeds, shapes, st.sampled_from([0.0, 1e-9, -1.0, 2.0]))
def test_a_pole_in_line_keeps_the_last_plane(seed, shape, share):
    rng = random.Random(seed)
    rest = rest_shape(rng, shape)
    target = target_for(rest, rng, low=0.1)
    last = unit(np.cross(target, vector(rng)))
    solution = solve(rest, target, pole=Pole(tuple((target * share).tolist()), tuple(last.tolist())))
    assert solution.normal == pytest.approx(last, abs=ROUNDING)
    knee, _ = joints(rest, solution.upper, solution.lower)
    assert knee == pytest.approx(expected_knee(rest, target, last), abs=knee_error(rest, target) * 100)
    moved = unit(target + 0.01 * rest.total * vector(rng) / 10)
    kept = solve(rest, moved * np.linalg.norm(target), pole=Pole((0.0, 0.0, 0.0), solution.normal)).normal
    assert np.dot(kept, last) > 0.9
    assert np.dot(kept, moved) == pytest.approx(0.0, abs=ROUNDING)


def test_a_pole_in_line_and_no_last_plane_left():
    """The last normal lies along the target itself: any plane will do, but it must be one."""
    for seed in range(50):
        rng = random.Random(seed)
        rest = rest_shape(rng)
        axes = [np.array(axis) for axis in rest.limb.axes]
        for direction in (vector(rng), *axes, *(-axis for axis in axes)):
            target = unit(direction) * 0.7 * rest.total
            for last in (unit(direction), -unit(direction)):
                solution = solve(rest, target, pole=Pole(tuple((target * 2).tolist()), tuple(last.tolist())))
                assert np.linalg.norm(solution.normal) == pytest.approx(1.0)
                assert np.dot(solution.normal, unit(direction)) == pytest.approx(0.0, abs=1e-12)
                _, tip = joints(rest, solution.upper, solution.lower)
                r1, r2 = rest.lengths
                assert tip == pytest.approx(unit(target) * max(0.7 * rest.total, abs(r1 - r2)), abs=1e-13 * rest.total)


@pytest.mark.parametrize("has_pole", [False, True])
def test_target_at_the_root_lies_along_the_unturned_upper_bone(has_pole):
    for seed in range(100):
        rng = random.Random(seed)
        rest = rest_shape(rng)
        r1, r2 = rest.lengths
        pole = pole_for(rest, rng) if has_pole else None
        solution = solve(rest, (0.0, 0.0, 0.0), pole=pole)
        knee, tip = joints(rest, solution.upper, solution.lower)
        along = unit(rest.knee)
        assert knee == pytest.approx(along * r1 * (1 if r1 >= r2 else -1), abs=4 * ROUNDING * rest.total)
        assert tip == pytest.approx(along * abs(r1 - r2), abs=4 * ROUNDING * rest.total)


@pytest.mark.parametrize("has_pole", [False, True])
@pytest.mark.parametrize("bend", [1.0, -1.0])
def test_equal_bones_with_the_target_at_the_root_fold_where_they_are(has_pole, bend):
    rest = Rest(np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.6, 0.8]), turn((1, 0, 0), math.atan2(0.8, 0.6)))
    pole = Pole((0.0, 1.0, 2.0), (1.0, 0.0, 0.0)) if has_pole else None
    knee, tip = joints(rest, *solve(rest, (0.0, 0.0, 0.0), bend, pole=pole)[:2])
    assert knee == pytest.approx([0.0, 1.0, 0.0], abs=ROUNDING)
    assert tip == pytest.approx([0.0, 0.0, 0.0], abs=ROUNDING)


@pytest.mark.parametrize("lengths", [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("has_pole", [False, True])
def test_bones_of_no_length(lengths, has_pole):
    for seed in range(30):
        rng = random.Random(seed)
        frame = matrix(quaternion(rng))
        rest = Rest(unit(vector(rng)) * lengths[0], frame[:, 1] * lengths[1], frame)
        solution = solve(
            rest, vector(rng), pole=Pole(tuple(vector(rng)), tuple(unit(vector(rng)))) if has_pole else None
        )
        assert all(map(math.isfinite, [*solution.upper, *solution.lower, *solution.normal]))
        assert math.hypot(*solution.upper) == pytest.approx(1.0)
        assert math.hypot(*solution.lower) == pytest.approx(1.0)


@given(seeds, shapes, st.floats(-1.0, 1.0), st.booleans(), st.sampled_from([1.0, -1.0]))
def test_bend_between_the_sides(seed, shape, bend, has_pole, swing_side):
    """The knee swings round the target line by the angle whose cosine is the bend; the tip stays."""
    rng = random.Random(seed)
    rest = rest_shape(rng, shape)
    target = target_for(rest, rng, low=0.01)
    pole = pole_for(rest, rng) if has_pole else None
    solution = solve(rest, target, bend, SWUNG, swing_side, pole=pole)
    knee, tip = joints(rest, solution.upper, solution.lower)
    goal = target if has_pole else flat(rest, target)
    expected = expected_knee(rest, goal, solution.normal, bend, swing_side)
    assert knee == pytest.approx(expected, abs=knee_error(rest, goal) * 100 + 1e-8 * rest.total)
    r1, r2 = rest.lengths
    assert tip == pytest.approx(
        unit(goal) * min(max(np.linalg.norm(goal), abs(r1 - r2)), r1 + r2), abs=plane_error(rest)
    )


@given(seeds, shapes, st.floats(-1.0, 1.0), st.booleans())
def test_bend_turns_the_hinge_axis_and_adds_no_roll(seed, shape, bend, has_pole):
    """Each bone: the plane's turn to the target line, then the shortest one off that line, about the swung hinge."""
    rng = random.Random(seed)
    rest = rest_shape(rng, shape, is_alike=True)
    target = in_reach(rest, rng)
    pole = pole_for(rest, rng) if has_pole else None
    solution = solve(rest, target, bend, SWUNG, pole=pole)
    goal = target if has_pole else flat(rest, target)
    along, normal = unit(goal), np.array(solution.normal)
    axes = [unit(rest.knee), np.cross(rest.normal, unit(rest.knee)), rest.normal]
    line = np.column_stack([along, np.cross(normal, along), normal]) @ np.array(axes)
    hinge = bend * normal - math.sqrt(1.0 - bend * bend) * np.cross(normal, along)
    at_root, at_knee = triangle(np.linalg.norm(goal), *rest.lengths)
    slack = 3e-7 if shape == "slightly bent" or not has_pole else 1e-9
    assert matrix(solution.upper) == pytest.approx(turn(hinge, at_root) @ line, abs=slack)
    expected = turn(hinge, at_root - at_knee) @ line @ rest_turn(rest)
    assert lower_turn(rest, solution.upper, solution.lower) == pytest.approx(expected, abs=slack)


@given(seeds, shapes, bends, st.booleans())
def test_bend_on_a_side_is_the_same_with_and_without_the_swing(seed, shape, bend, has_pole):
    rng = random.Random(seed)
    rest = rest_shape(rng, shape)
    target, pole = target_for(rest, rng), pole_for(rest, rng) if has_pole else None
    one, other = (solve(rest, target, bend, features, pole=pole) for features in (PLAIN, SWUNG))
    assert one.upper == pytest.approx(other.upper, abs=ROUNDING)
    assert one.lower == pytest.approx(other.lower, abs=ROUNDING)


@given(seeds, shapes, st.booleans())
def test_the_other_bend_is_the_mirror_image_facing_the_same_way(seed, shape, has_pole):
    """Mirrored across the plane through the target line and the normal, whose rotation vectors keep the sign along
    the normal's plane: the normal stays put."""
    rng = random.Random(seed)
    rest = rest_shape(rng, shape)
    target, pole = target_for(rest, rng, low=0.1), pole_for(rest, rng) if has_pole else None
    one, other = (solve(rest, target, bend, pole=pole) for bend in (1.0, -1.0))
    goal = target if has_pole else flat(rest, target)
    across = np.cross(one.normal, unit(goal))
    knees = [joints(rest, *solution[:2])[0] for solution in (one, other)]
    assert knees[1] == pytest.approx(knees[0] - 2 * np.dot(knees[0], across) * across, abs=10 * plane_error(rest))
    assert other.normal == one.normal
    slack = normal_error(rest)
    assert matrix(other.upper) @ rest.normal == pytest.approx(np.array(one.normal), abs=slack)


@given(seeds, shapes, bends, st.booleans())
def test_a_lower_bone_that_does_not_inherit_rotation(seed, shape, bend, has_pole):
    rng = random.Random(seed)
    rest = rest_shape(rng, shape)
    hinge = Hinge(quaternion(rng), quaternion(rng))
    target, pole = target_for(rest, rng), pole_for(rest, rng) if has_pole else None
    with_hinge = solve(rest, target, bend, pole=pole, hinge=hinge)
    without = solve(rest, target, bend, pole=pole)
    assert with_hinge.upper == without.upper
    for joint, same in zip(
        joints(rest, with_hinge.upper, with_hinge.lower, hinge=hinge), joints(rest, *without[:2]), strict=True
    ):
        assert joint == pytest.approx(same, abs=4 * ROUNDING * rest.total)


@given(seeds, shapes, st.booleans())
def test_turning_everything_turns_the_pose(seed, shape, has_pole):
    rng = random.Random(seed)
    rest = rest_shape(rng, shape)
    target, pole = target_for(rest, rng), pole_for(rest, rng) if has_pole else None
    spin = matrix(quaternion(rng))
    turned_rest = Rest(spin @ rest.knee, spin @ rest.lower, spin @ rest.frame)
    turned_pole = pole and Pole(*(tuple((spin @ np.array(v)).tolist()) for v in pole))
    solution, turned = solve(rest, target, pole=pole), solve(turned_rest, spin @ target, pole=turned_pole)
    slack = 1e-6 if shape in ("slightly bent", "folded") else 1e-7
    for joint, image in zip(joints(rest, *solution[:2]), joints(turned_rest, *turned[:2]), strict=True):
        assert image == pytest.approx(spin @ joint, abs=slack * rest.total * max(rest.lengths) / min(rest.lengths))


@pytest.mark.parametrize("has_pole", [False, True])
def test_no_jumps_as_the_target_goes_round(has_pole):
    for seed in range(20):
        rng = random.Random(seed)
        rest = rest_shape(rng, is_alike=True)
        axis = unit(vector(rng)) if has_pole else rest.normal
        start = unit(np.cross(axis, vector(rng))) * np.linalg.norm(in_reach(rest, rng))
        pole = Pole(tuple((10 * rest.total * axis).tolist()), (1.0, 0.0, 0.0)) if has_pole else None
        poses = []
        for step in range(721):
            solution = solve(rest, turn(axis, math.radians(step)) @ start, pole=pole)
            poses.append(np.concatenate([matrix(solution.upper), matrix(solution.lower)]))
        moves = np.linalg.norm(np.diff(poses, axis=0), axis=(1, 2))
        assert moves.max() < 4 * math.radians(1)
