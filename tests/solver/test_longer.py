"""Limbs of three and four bones: `solve_limb` against the same in complex numbers to 50 digits, and `pose_limb` with
ankles by forward kinematics."""

import math
import random
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.solver import Plane, Reach, Settings, pose_limb, reference, solve_limb, solve_two_bone
from addon.solver.groups import range_of_groups
from addon.solver.limb import joints_of
from addon.solver.ops import FLOATS
from tests.solver.oracles import Y, Z, matrix, turn
from tests.solver.shapes import half, planes, quaternion, seeds

counts = st.sampled_from([2, 3, 4])
kinds = st.booleans()
"""Whether bones bend to and fro, or anyhow."""


def shape(rng, count, is_zigzag=True):
    """Lengths, and directions at rest as angles."""
    lengths = [rng.uniform(0.2, 2.0) for _ in range(count)]
    turns = [rng.uniform(0.05, 2.6) * (1 if k % 2 else -1) for k in range(count)]
    if not is_zigzag:
        turns = [turn * rng.choice([-1, 1]) for turn in turns]
    return lengths, np.cumsum([rng.uniform(-3, 3), *turns[1:]]).tolist()


def pairs_of(angles):
    return [(math.cos(angle), math.sin(angle)) for angle in angles]


def groups_of(angles):
    """Which bones keep together: every other one of those that bend to and fro, else neighbours."""
    signs = {math.copysign(1, math.sin(b - a)) * (-1) ** k for k, (a, b) in enumerate(pairwise(angles))}
    every = list(range(len(angles)))
    return [every[::2], every[1::2]] if len(signs) == 1 else [every[:-2], every[-2:]]


def exact(target, lengths, angles, bend):
    """The directions of bones, complex, by cosines: of the sums of the groups, whose squares follow the tip's."""
    bones = [r * mpmath.expj(angle) for r, angle in zip(lengths, angles, strict=True)]
    places = groups_of(angles)
    groups, tip, total = [[bones[k] for k in each] for each in places], sum(bones), mpmath.fsum(lengths)
    side = 1 if (mpmath.conj(tip) * sum(groups[0])).imag >= 0 else -1
    longest = [mpmath.fsum(map(abs, group)) for group in groups]

    def sizes_at(share):
        squares = [a**2 - share * (a**2 - abs(sum(g)) ** 2) for a, g in zip(longest, groups, strict=True)]
        return [mpmath.sqrt(max(square, mpmath.mpf(0))) for square in squares]

    are_neighbours = places[1][0] + 1 == places[1][-1]
    most = largest_share(sizes_at, total, abs(tip), groups) if are_neighbours else 1
    gone = max(abs(target), abs(mpmath.fsub(*sizes_at(most))))
    share = max(min((total**2 - gone**2) / (total**2 - abs(tip) ** 2), mpmath.mpf(most)), mpmath.mpf(0))
    sizes = sizes_at(share)
    found = [None] * len(bones)
    for k, (group, size) in enumerate(zip(groups, sizes, strict=True)):
        off = side * (-1) ** k * between(min(gone, sum(sizes)), size, sizes[1 - k])
        for i, bone in enumerate(group):
            aside = 0
            if len(group) == 2:
                aside = between(size, abs(bone), abs(group[1 - i]))
                aside *= mpmath.sign(mpmath.arg(bone / group[1 - i]))
            found[places[k][i]] = mpmath.expj((1 if bend >= 0 else -1) * (off + aside)) * target / abs(target)
    return found


def largest_share(sizes_at, total, rest, groups):
    """Up to which share neighbours go on bending, by halving: the angle between the two groups grows with it, from a
    triangle to a triangle, and neither group bends past 120 degrees."""
    tiny = mpmath.mpf(10) ** -20

    def cosine(share):
        a, b = sizes_at(share)
        return (total**2 - share * (total**2 - rest**2) - a * a - b * b) / (2 * a * b)

    def goes_on(share):
        return cosine(share) > -1 and cosine(share * (1 + tiny)) < cosine(share)

    bends = [mpmath.arg(group[0] / group[1]) for group in groups if len(group) == 2]
    low, high = mpmath.mpf(1), min(mpmath.mpf("0.75") / mpmath.sin(bend / 2) ** 2 for bend in bends)
    if high <= 1 or not goes_on(low):
        return low
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if goes_on(middle) else (low, middle)
    return low


def between(a, b, c):
    """The angle between the sides a and b of a triangle."""
    return mpmath.acos(max(min((a * a + b * b - c * c) / (2 * a * b), mpmath.mpf(1)), mpmath.mpf(-1)))


@settings(max_examples=100)
@given(counts, kinds, seeds, st.sampled_from([1, -1]))
def test_directions_to_50_digits(count, kind, seed, bend):
    rng = random.Random(seed)
    lengths, angles = shape(rng, count, kind)
    angle, distance = rng.uniform(-3, 3), rng.uniform(0.05, 1.1) * sum(lengths)
    target = distance * math.cos(angle), distance * math.sin(angle)
    solved = solve_limb(target, lengths, pairs_of(angles), bend)
    wanted = exact(mpmath.mpc(*target), lengths, angles, bend)
    near = [distance * (1 + step) for step in (-1e-13, 1e-13)]
    moved = max(
        float(abs(a - b))
        for there in near
        for a, b in zip(exact(there * mpmath.expj(angle), lengths, angles, bend), wanted, strict=True)
    )
    for found, want in zip(solved.directions, wanted, strict=True):
        assert abs(mpmath.mpc(*found) - want) < 1e-12 + 10 * moved


@given(counts, kinds, seeds)
def test_rest_pose_at_rest_and_straight_at_full_reach(count, kind, seed):
    rng = random.Random(seed)
    lengths, angles = shape(rng, count, kind)
    tip = sum(r * complex(*way) for r, way in zip(lengths, pairs_of(angles), strict=True))
    solved = solve_limb((tip.real, tip.imag), lengths, pairs_of(angles))
    assert np.abs(np.array(solved.directions) - pairs_of(angles)).max() < 1e-6 / max(sum(lengths) - abs(tip), 1e-3)
    far = 1.5 * sum(lengths)
    solved = solve_limb((0.0, far), lengths, pairs_of(angles))
    assert np.abs(np.array(solved.directions) - (0.0, 1.0)).max() < 1e-15
    assert solved.reach is Reach.TOO_FAR
    assert solved.residual == pytest.approx(far / 3.0)


@given(seeds, st.sampled_from([1, -1]))
def test_two_bones_are_solve_two_bone(seed, bend):
    rng = random.Random(seed)
    (r1, r2), angles = shape(rng, 2)
    target = rng.uniform(-3, 3), rng.uniform(-3, 3)
    side = -1 if angles[1] > angles[0] else 1
    found, wanted = solve_limb(target, (r1, r2), pairs_of(angles), bend), solve_two_bone(target, r1, r2, side * bend)
    assert np.array(found.joints[0]) == pytest.approx(np.array(wanted.knee), abs=1e-7)
    assert found.joints[1] == pytest.approx(target, abs=1e-12 + found.residual)
    assert (found.reach, found.residual) == (wanted.reach, pytest.approx(wanted.residual))


def test_a_million_limbs():
    """Targets in reach are reached to rounding, and no number is none; of shapes of both kinds, row by row."""
    rng = np.random.default_rng(4)
    for count in (3, 4):
        rows = 500_000
        lengths = [rng.uniform(0.0, 2.0, rows) for _ in range(count)]
        angles = np.cumsum(rng.uniform(-math.pi, math.pi, (count, rows)), axis=0)
        ways = [(np.cos(angle), np.sin(angle)) for angle in angles]
        target = rng.uniform(-4.0, 4.0, (rows, 2))
        target[::1000] = 0.0
        solved = solve_limb(target, lengths, ways, rng.choice([-1, 1], rows))
        assert all(np.isfinite(numbers).all() for numbers in solved)
        off = np.linalg.norm(solved.joints[:, -1] - target, axis=-1)
        assert np.abs(off - solved.residual).max() <= 3e-15 * sum(lengths).max()
        within = solved.reach == Reach.REACHED
        assert within.mean() > 0.3
        assert (off[within] <= 3e-15 * sum(lengths)[within]).all()
        for row in (0, 1, 2, 3):
            alone = solve_limb(tuple(target[row]), [r[row] for r in lengths], [(u[row], v[row]) for u, v in ways])
            mine = solve_limb(target[row], [r[row] for r in lengths], [(u[row], v[row]) for u, v in ways])
            assert np.array(alone.directions) == pytest.approx(mine.directions, rel=0.0, abs=4e-15)


@pytest.mark.parametrize(
    "turns", [(0.5, 0.0), (0.0, 0.5), (0.0, 0.0), (-0.5, 0.0, 0.7), (0.5, 0.0, 0.0), (0.5, 0.4, 0.0)]
)
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_bones_in_line_do_not_jump(turns, share):
    """A bone that is in line with the one above it, but for noise to either side, bends as if it were."""
    lengths = (1.0, 0.8, 0.9, 0.7)[: len(turns) + 1]
    rng, found = random.Random(3), []
    for noise in (0.0, *(rng.uniform(-4e-4, 4e-4) for _ in range(20))):
        angles = np.cumsum([0.3, *(turn or noise for turn in turns)])
        found.append(solve_limb((share * sum(lengths), 0.0), lengths, pairs_of(angles)).directions)
    if any(turns):
        assert np.abs(np.array(found) - found[0]).max() < 5e-3


def test_all_joints_of_a_finger_go_on_bending():
    """Nearer than at rest, and without a step."""
    lengths, angles = (45.0, 25.0, 20.0), (0.0, 0.35, 0.6)
    before, rest = None, abs(sum(r * complex(*way) for r, way in zip(lengths, pairs_of(angles), strict=True)))
    for distance in np.linspace(rest, 0.2 * rest, 200):
        ways = [complex(*way) for way in solve_limb((distance, 0.0), lengths, pairs_of(angles)).directions]
        bends = np.array([np.angle(b / a) for a, b in pairwise(ways)])
        if before is None:
            assert bends == pytest.approx(np.diff(angles))
        else:
            assert (bends > before).all()
            assert (bends < before + 0.05).all()
        before = bends
    assert min(before) > 1.0


@pytest.mark.parametrize(
    "given",
    [((1, 1), (1,), ((1, 0),)), ((1, 1), (1, 1, 1), ((1, 0), (0, 1))), ((math.nan, 1), (1, 1), ((1, 0), (0, 1)))],
)
def test_what_is_no_limb_is_refused(given):
    with pytest.raises(ValueError, match="limb"):
        solve_limb(*given)


def off_line(lengths, angles):
    """Angles off the line from root to tip, with the first group counter-clockwise of it."""
    tip = sum(r * complex(*way) for r, way in zip(lengths, pairs_of(angles), strict=True))
    group = sum(lengths[k] * complex(*pairs_of(angles)[k]) for k in groups_of(angles)[0])
    side = 1 if (tip.conjugate() * group).imag >= 0 else -1
    return [side * math.remainder(angle - math.atan2(tip.imag, tip.real), math.tau) for angle in angles]


def limb(rng, count, kind):
    """A reference of random axes, with its axes and stills."""
    lengths, angles = shape(rng, count, kind)
    kind = groups_of(angles)[0] == [*range(count)][::2]
    angles = off_line(lengths, angles)
    axes = [matrix(quaternion(rng)) for _ in lengths]
    reference_rotations = [quaternion(rng) for _ in lengths]
    ways = [turn(Z, angle) @ Y for angle in angles]
    made = reference(
        lengths,
        [half(angle) for angle in angles],
        tuple(map(tuple, axes[0].T.tolist())),
        [tuple((each.T @ Z).tolist()) for each in axes[1:]],
        reference_rotations,
        FLOATS,
        [tuple((each.T @ way).tolist()) for each, way in zip(axes[1:], ways[1:], strict=True)],
        is_zigzag=kind,
    )
    return made, axes, reference_rotations, ways


@settings(max_examples=300)
@given(st.sampled_from([3, 4]), kinds, seeds, st.floats(-1.5, 1.5), planes, st.sampled_from([1, -1]))
def test_poses_by_matrices(count, kind, seed, ankle, plane, side):
    """In every plane, with an ankle: bones keep their lengths, the tip is where it is said to be, and all in one plane;
    the last bone is turned by the ankle while nothing straightens."""
    rng = random.Random(seed)
    made, axes, reference_rotations, ways = limb(rng, count, kind)
    total = sum(made.lengths)
    target = np.array([rng.gauss(0, 1), rng.gauss(0, 1), 0.0 if plane == Plane.HINGE else rng.gauss(0, 1)])
    target *= rng.uniform(0.0, 1.2) * total / np.linalg.norm(target)
    to = Settings(float(side), half(rng.uniform(-3, 3)), ankle=half(ankle))
    pose = pose_limb(tuple(target.tolist()), made, to, plane, FLOATS, (0.3, 0.4, 2.0))
    joint, turned, joints = np.zeros(3), np.eye(3), []
    for each, still, own, way, length in zip(axes, reference_rotations, pose.turns, ways, made.lengths, strict=True):
        turned = turned @ each @ matrix(still).T @ matrix(own) @ each.T
        joint = joint + turned @ way * length
        joints.append(joint)
    assert np.array(joints_of(pose.turns, made)) == pytest.approx(np.array(joints), abs=1e-12 * total)
    assert np.linalg.norm(joint - target) == pytest.approx(pose.shortfall, abs=1e-12 * total)
    normal = turned @ Z
    assert np.array(joints) @ normal == pytest.approx(np.zeros(count), abs=1e-12 * total)
    rested = sum(r * (turn(Z, ankle) @ way if k == count - 1 else way)
                 for k, (r, way) in enumerate(zip(made.lengths, ways, strict=True)))  # fmt: skip
    if made.groups.is_zigzag and np.linalg.norm(target) < 0.99 * np.linalg.norm(rested):
        bones = np.diff([np.zeros(3), *joints], axis=0)
        last, other = (bones[k] / made.lengths[k] for k in (count - 1, count - 3))
        at_rest = turn(Z, ankle) @ ways[-1]
        assert last @ other == pytest.approx(at_rest @ ways[count - 3], abs=1e-9)


@given(st.sampled_from([3, 4]), kinds, seeds)
def test_limits_hold_every_inner_angle(count, kind, seed):
    rng = random.Random(seed)
    lengths, angles = shape(rng, count, kind)
    angles = off_line(lengths, angles)
    least, most = math.cos(0.5) ** 2, math.cos(1.3) ** 2
    is_zigzag = groups_of(angles)[0] == [*range(count)][::2]
    nearest, farthest = range_of_groups(lengths, [half(angle) for angle in angles], is_zigzag, least, most)
    for distance in np.linspace(nearest, farthest, 5)[1:-1] if nearest < farthest else ():
        solved = solve_limb((distance, 0.0), lengths, pairs_of(angles))
        ways = [complex(*way) for way in solved.directions]
        inner = [math.pi - abs(np.angle(b / a)) for a, b in pairwise(ways)]
        assert min(inner) >= 1.0 - 1e-6
        assert max(inner) <= 2.6 + 1e-6
