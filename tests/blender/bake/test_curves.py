"""What F-curves alone do not tell of what a chain follows, so that a bake has to evaluate it."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from tests.blender.bake_rigs import assert_ways, key_hip, make_chain, make_leg
from tests.blender.rigs import set_keys


def add_delta(ob: Any, chain: Any) -> None:
    chain.target.delta_location = (0.1, 0.2, 0.3)
    ob.delta_rotation_euler = (0.4, 0.0, 0.0)


def key_delta(ob: Any, chain: Any) -> None:
    set_keys(ob, "delta_location.x", {1: 0.0, 12: 0.4, 24: 0.0})


def follow_a_posed_bone(ob: Any, chain: Any) -> Any:
    other = make_leg("other")
    key_hip(other)
    other.location.z = -0.9
    chain.target, chain.subtarget = other, "thigh"
    return other


def follow_a_bone_at_rest(ob: Any, chain: Any) -> None:
    follow_a_posed_bone(ob, chain).data.pose_position = "REST"


def follow_a_bone_whose_armature_is_animated(ob: Any, chain: Any) -> None:
    follow_a_posed_bone(ob, chain).data.keyframe_insert('bones["thigh"].bbone_rollin', frame=1)


def follow_a_bone_with_a_constraint(ob: Any, chain: Any) -> None:
    other = follow_a_posed_bone(ob, chain)
    other.pose.bones["thigh"].constraints.new("COPY_LOCATION").target = ob
    other.pose.bones["thigh"].constraints[0].influence = 0.2


def follow_a_bone_that_inherits_otherwise(ob: Any, chain: Any) -> None:
    other = follow_a_posed_bone(ob, chain)
    other.pose.bones["hip"].scale = (1.3, 0.8, 1.1)
    other.data.bones["thigh"].inherit_scale = "AVERAGE"


def drive_by_what_is_muted(ob: Any, chain: Any) -> None:
    driver = chain.target.driver_add("location", 0)
    driver.driver.expression, driver.mute = "frame", True


def follow_a_bone_that_moves_otherwise(ob: Any, chain: Any) -> None:
    other = follow_a_posed_bone(ob, chain)
    other.data.bones["thigh"].use_local_location = False
    other.pose.bones["thigh"].location = (0.2, 0.1, 0.3)


@pytest.mark.parametrize(
    "change",
    [
        add_delta,
        key_delta,
        follow_a_bone_at_rest,
        follow_a_bone_whose_armature_is_animated,
        follow_a_bone_with_a_constraint,
    ],
)
def test_what_curves_alone_do_not_tell_goes_by_a_scene_of_its_own(addon, change):
    ob = make_leg()
    change(ob, make_chain(ob))
    bpy.context.view_layer.update()
    assert_ways(ob, "23")


@pytest.mark.parametrize(
    "change", [follow_a_bone_that_inherits_otherwise, follow_a_bone_that_moves_otherwise, drive_by_what_is_muted]
)
def test_curves_tell_where_it_is_all_the_same(addon, change):
    ob = make_leg()
    change(ob, make_chain(ob))
    bpy.context.view_layer.update()
    assert_ways(ob, "123")


def test_a_connected_bone_stays_where_it_is(addon):
    ob = make_leg()
    chain = make_chain(ob)
    other = follow_a_posed_bone(ob, chain)
    chain.subtarget = "shin"
    other.pose.bones["shin"].location = (0.2, 0.1, 0.3)
    bpy.context.view_layer.update()
    assert_ways(ob, "123")
