"""Rigs full of constraints and drivers are evaluated by copies that have only those which chains hang on."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.bake_rigs import FRAMES, assert_ways, bake_scene, key_hip, make_chain, make_leg, motion
from tests.blender.rigs import make_empty

BONES = 'pose.bones["{}"]'


def drive(owner: Any, path: str, ob: Any, bone: str) -> Any:
    """By a custom property of a bone."""
    driver = owner.driver_add(path).driver
    driver.type, variable = "SUM", driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = ob, f'{BONES.format(bone)}["much"]'
    return driver


def generated(name: str) -> Any:
    """A rig as generators make them: its thigh follows something of its own by as much as its hip says, and its shin
    has constraints and drivers, of the armature also, that nothing else needs."""
    ob = make_leg(name)
    key_hip(ob)
    ob.location = (0.1, 0.2, -0.4)
    hip, thigh, shin = (ob.pose.bones[bone] for bone in ("hip", "thigh", "shin"))
    hip["much"] = 0.6
    hip.keyframe_insert('["much"]', frame=1)
    hip["much"] = 0.1
    hip.keyframe_insert('["much"]', frame=20)
    follower = make_empty("follower")
    follower.parent, follower.parent_type, follower.parent_bone = ob, "BONE", "hip"
    constraint = thigh.constraints.new("DAMPED_TRACK")
    constraint.target = follower
    drive(ob, f'{BONES.format("thigh")}.constraints["{constraint.name}"].influence', ob, "hip")
    for _ in range(3):
        shin.constraints.new("COPY_ROTATION").target = ob
    drive(ob, f"{BONES.format('shin')}.bbone_easein", ob, "hip")
    drive(ob.data, 'bones["shin"].bbone_easeout', ob, "hip")
    drive(ob.data, 'bones["thigh"].bbone_easeout', ob, "hip")
    bpy.context.view_layer.update()
    return ob


def contents() -> dict[str, list[str]]:
    return {name: sorted(getattr(bpy.data, name).keys()) for name in ("actions", "armatures", "objects", "scenes")}


@pytest.mark.parametrize("spare", [0, 1_000_000])
def test_a_generated_rig(addon, monkeypatch, spare):
    monkeypatch.setattr(installed.addon("addon.bake.ways.courses.isolation"), "SPARE", spare)
    ob = make_leg()
    chain = make_chain(ob)
    chain.target, chain.subtarget = generated("generated"), "shin"
    bpy.context.view_layer.update()
    before = contents()
    assert np.ptp(motion(ob, FRAMES)[:, 2], axis=0).max() > 0.05
    assert_ways(ob, "23")
    assert contents() == before
    steps = installed.addon("addon.bake").bake(
        bpy.context, installed.addon("addon.bake").Request([ob.pose.bones["shin"]], FRAMES)
    )
    next(steps), next(steps), next(steps)
    steps.close()
    assert contents() == before


def test_what_drives_an_armature_may_hang_on_a_chain(addon):
    """So that it is evaluated where chains are live."""
    ob, holder = make_leg(), make_leg("holder")
    chain = make_chain(ob)
    chain.target, chain.subtarget = holder, "thigh"
    make_chain(holder)
    driver = holder.data.driver_add('bones["hip"].bbone_easeout').driver
    driver.type, variable = "SUM", driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = ob, "shin"
    bpy.context.view_layer.update()
    names = {each.way for each in bake_scene().chains}
    assert names <= {"curves", "evaluated in the scene", "stepped"}
    assert names != {"curves"}
