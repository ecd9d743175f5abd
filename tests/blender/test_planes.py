"""The planes that a limb bends in: the hinge's, the one that swings with the target, and a pole in line with it."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mathutils import Vector

from tests.blender import bake_rigs
from tests.blender.rigs import (
    assert_joints,
    assert_on_target,
    circle,
    expected,
    few,
    frame_of,
    fresh_rig,
    joints,
    key_location,
    length,
    make_chain,
    make_empty,
    make_rig,
    put,
)

unit = st.floats(-1, 1)


def knee_of_swing(frame, target):
    """Where the knee is if the rest plane turns the shortest way: found in the rest plane, then turned by Blender."""
    line, way = Vector(frame.tip), Vector(frame.inside(target))
    swing = line.rotation_difference(way)
    in_rest_plane = frame.outside(np.array(line.normalized() * way.length))
    return frame.outside(np.array(swing @ Vector(frame.inside(expected(frame, in_rest_plane).knee))))


@given(target=st.tuples(unit, unit, unit))
@few
def test_a_free_limb_swings_the_shortest_way(target):
    ob = fresh_rig()
    frame = frame_of(ob)
    goal = Vector(target)
    if not 0.3 < goal.length < 1.7 or goal.angle(frame.tip) > 3.0:
        return
    goal = Vector(frame.outside(np.array(goal)))
    chain = make_chain(ob, make_empty("target", goal), plane="SWING")
    assert_on_target(ob, chain.target)
    assert np.linalg.norm(joints(ob).knee - knee_of_swing(frame, goal)) < 1e-5 * length(ob)


def test_a_free_limb_is_a_hinge_for_targets_in_its_rest_plane():
    ob = make_rig()
    frame = frame_of(ob)
    chain = make_chain(ob, make_empty(), plane="SWING")
    for share in (0.2, 0.9):
        for place in circle(frame, 12, share):
            put(chain.target, location=place)
            assert_joints(joints(ob), expected(frame, place), knee_within=2e-5)


def test_a_target_beside_the_hinge_is_not_reached():
    ob = make_rig()
    frame = frame_of(ob)
    chain = make_chain(ob, make_empty("target", frame.target(0.6, 0.5)))
    for height, reach in ((0.0, "REACHED"), (3e-6, "REACHED"), (2e-5, "OFF_PLANE"), (-0.3, "OFF_PLANE")):
        put(chain.target, location=frame.target(0.6, 0.5, height))
        assert chain.reach == reach
        assert chain.residual == pytest.approx(abs(height) * length(ob), abs=1e-5)
    put(chain, plane="SWING")
    assert_on_target(ob, chain.target)


def pole_through_the_line(plane="POLE"):
    """A limb whose pole goes round it and is in line with root and target in some frames, and those frames."""
    ob = bake_rigs.make_leg()
    target = make_empty("target", (0.2, 0.6, -1.1))
    pole = make_empty("pole")
    rng = random.Random(3)
    line = Vector(target.location)
    in_line = (3, 4, 9, 15, 20)
    ways = [Vector([rng.uniform(-2, 2) for _ in range(3)]) for _ in range(24)]
    key_location(pole, [line * 2.0 if frame in in_line else way for frame, way in enumerate(ways, 1)])
    for curve in bake_rigs.curves(pole).values():
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    return ob, make_chain(ob, target, plane=plane, pole_target=pole), in_line


def test_a_pole_in_line_has_no_say_whichever_frame_was_before():
    ob, chain, in_line = pole_through_the_line()
    frames = list(range(1, 25))
    in_order = dict(zip(frames, bake_rigs.motion(ob, frames), strict=True))
    for order in (frames[::-1], random.Random(1).sample(frames, 24)):
        for frame, places in zip(order, bake_rigs.motion(ob, order), strict=True):
            assert np.allclose(places, in_order[frame], atol=1e-6), frame
    chain.plane = "SWING"
    bpy.context.scene.frame_set(1)
    for frame in in_line:
        assert np.allclose(joints(ob), in_order[frame], atol=1e-5)


@pytest.mark.parametrize("plane", ["SWING", "POLE"])
def test_bakes_are_what_the_limb_does_live(plane):
    ob, _, _ = pole_through_the_line(plane)
    bake_rigs.assert_ways(ob, "123")
