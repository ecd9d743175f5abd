"""Constraints that put targets and poles where others are are followed by arrays, and give what Blender has."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.bake_rigs import FRAMES, assert_ways, key_hip, make_chain, make_leg, motion
from tests.blender.rigs import make_empty

GROWN = 2.0
"""A target goes through three more products in single precision than a limb does."""


def whole_location(constraint: Any) -> None:
    pass


def level_location(constraint: Any) -> None:
    constraint.use_z = False


def inverse_of(constraint: Any) -> None:
    constraint.inverse_matrix = constraint.target.matrix_world.inverted()


KINDS = {
    "place": ("COPY_LOCATION", whole_location),
    "place in part": ("COPY_LOCATION", level_location),
    "transform": ("COPY_TRANSFORMS", whole_location),
    "parent": ("CHILD_OF", whole_location),
    "parent from elsewhere": ("CHILD_OF", inverse_of),
}


def leader_of(chain: Any) -> Any:
    """Something that moves, turns and grows under a parent that does."""
    leader = make_leg("leader")
    leader.location = (0.1, 0.3, -0.5)
    key_hip(leader)
    for frame, size, turn in ((1, 1.0, 0.0), (20, 1.3, 0.5)):
        leader.scale = (size, size, size)
        leader.rotation_euler.x = turn
        leader.location.y = 0.3 + turn / 2
        leader.keyframe_insert("location", frame=frame)
        leader.keyframe_insert("scale", frame=frame)
        leader.keyframe_insert("rotation_euler", frame=frame)
    return leader


@pytest.mark.parametrize("subtarget", ["", "thigh"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_object_that_is_held(addon, kind, subtarget):
    ob = make_leg()
    chain = make_chain(ob)
    hold(chain.target, leader_of(chain), kind, subtarget)
    assert np.ptp(motion(ob, FRAMES)[:, 2], axis=0).max() > 0.01
    assert_ways(ob, "123", size=GROWN)


@pytest.mark.parametrize("kind", ["place in part", "parent"])
def test_a_bone_that_is_held(addon, kind):
    ob, holder = make_leg(), make_leg("holder")
    chain = make_chain(ob)
    holder.location, holder.scale = (0.1, 0.2, -0.4), (1.1, 1.1, 1.1)
    hold(holder.pose.bones["thigh"], leader_of(chain), kind, "shin").owner_space = "WORLD"
    chain.target, chain.subtarget = holder, "shin"
    bpy.context.view_layer.update()
    assert np.ptp(motion(ob, FRAMES)[:, 2], axis=0).max() > 0.01
    assert_ways(ob, "123", size=GROWN)


def test_one_that_follows_a_limb(addon):
    ob, other = make_leg(), make_leg("other")
    chain = make_chain(ob)
    make_chain(other)
    other.location = (0.2, 0.1, -0.4)
    hold(chain.target, other, "transform", "shin")
    assert_ways(ob, "13", lowers=[ob.pose.bones["shin"]])


@pytest.mark.parametrize(
    "change",
    [
        lambda constraint: setattr(constraint, "influence", 0.5),
        lambda constraint: setattr(constraint, "invert_x", True),
        lambda constraint: setattr(constraint, "use_offset", True),
        lambda constraint: setattr(constraint, "owner_space", "LOCAL"),
        lambda constraint: setattr(constraint, "head_tail", 0.5),
        lambda constraint: constraint.keyframe_insert("influence", frame=1),
    ],
)
def test_what_else_constraints_do_is_evaluated(addon, change):
    ob = make_leg()
    chain = make_chain(ob)
    change(hold(chain.target, leader_of(chain), "place", "thigh"))
    bpy.context.view_layer.update()
    assert_ways(ob, "23", size=GROWN)


def test_two_that_hold_each_other_are_evaluated(addon):
    """Which of them comes first, only Blender says."""
    ob = make_leg()
    chain = make_chain(ob)
    other = make_empty("other")
    hold(chain.target, other, "parent")
    hold(other, chain.target, "parent")
    routes, arrays = (installed.addon(f"addon.bake.ways.{name}") for name in ("routes", "arrays"))
    found = routes.Routes(arrays._reader(bpy.context, [ob.pose.bones["shin"]]), arrays.ALL)
    assert found.of(chain.target) == routes.Route.EVALUATION


def hold(thing: Any, leader: Any, kind: str, subtarget: str = "") -> Any:
    name, set_up = KINDS[kind]
    constraint = thing.constraints.new(name)
    constraint.target, constraint.subtarget = leader, subtarget
    bpy.context.view_layer.update()
    set_up(constraint)
    bpy.context.view_layer.update()
    return constraint
