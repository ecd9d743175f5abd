"""Many chains of one object: posed together by arrays, to the last bit as each alone."""

from __future__ import annotations

import math

import bpy
import pytest
from mathutils import Vector

from tests.blender.crowds import COUNT, in_batches, make_crowd, play, play_one_by_one
from tests.blender.rigs import assert_on_target, put, set_keys, shown, shown_rotation, update

SETTINGS = {
    "plain": {},
    "pole": {"plane": "POLE"},
    "stretch": {"plane": "POLE", "stretch": 0.8, "softness": 0.1, "stretch_volume": "VOLUME"},
    "everything": {
        "plane": "POLE",
        "influence": 0.6,
        "bend": 0.4,
        "stretch": 0.5,
        "stretch_volume": "UNIFORM",
        "min_angle": 0.5,
        "max_angle": 2.6,
    },
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_together_as_one_by_one(settings, monkeypatch):
    ob, _ = make_crowd(**settings)
    play(ob)
    together = play(ob)
    assert in_batches() == COUNT
    assert together[1] == together[4]
    assert play_one_by_one(ob, monkeypatch) == together


def test_tips_are_on_their_targets():
    ob, targets = make_crowd(plane="POLE")
    play(ob, (3, 17))
    for i, target in enumerate(targets):
        assert_on_target(ob, target, f"shin{i}")


def test_a_crowd_that_is_scaled_to_nothing_says_so():
    ob, targets = make_crowd(plane="POLE")
    play(ob)
    chain = ob.pose.bones["shin7"].planar_ik
    assert in_batches() == COUNT
    put(ob, scale=(0, 0, 0))
    assert "scaled to nothing" in chain.message
    put(ob, scale=(1, 1, 1))
    assert chain.reach == "REACHED"
    assert_on_target(ob, targets[7], "shin7")


def test_dragging_a_target_is_posed_together():
    ob, targets = make_crowd(plane="POLE")
    play(ob)
    targets[7].animation_data_clear()
    update()
    targets[7].location.z += 0.2
    update()
    targets[7].location.y -= 0.1
    update()
    assert in_batches() == COUNT
    before = [shown_rotation(ob, f"shin{i}") for i in range(COUNT)]
    targets[7].location.y -= 0.1
    update()
    after = [shown_rotation(ob, f"shin{i}") for i in range(COUNT)]
    assert [i for i in range(COUNT) if before[i] != after[i]] == [7]
    place = ob.pose.bones["thigh7"].head + Vector((0, 0.2, -1.3))
    put(targets[7], location=place)
    assert ob.pose.bones["shin7"].planar_ik.reach == "REACHED"


def test_a_target_nowhere_gives_its_own_limb_back_only():
    ob, targets = make_crowd(plane="POLE")
    play(ob)
    targets[4].animation_data_clear()
    bpy.context.scene.frame_set(5)
    bpy.context.scene.frame_set(6)
    targets[4].location.x = math.nan
    bpy.context.scene.frame_set(7)
    assert in_batches() == COUNT
    chains = [ob.pose.bones[f"shin{i}"].planar_ik for i in range(COUNT)]
    assert [i for i, chain in enumerate(chains) if chain.reach == "INVALID"] == [4]
    assert chains[4].message
    assert abs(shown_rotation(ob, "shin4")[0]) > 1 - 1e-6
    assert_on_target(ob, targets[5], "shin5")
    targets[4].location = ob.pose.bones["thigh4"].head + Vector((0, 0.2, -1.3))
    bpy.context.scene.frame_set(8)
    assert chains[4].reach == "REACHED"
    assert_on_target(ob, targets[4], "shin4")


def test_a_target_that_was_nowhere_at_first_is_followed_later():
    ob, targets = make_crowd(plane="POLE")
    targets[4].animation_data_clear()
    put(targets[4].location, x=math.nan)
    chain = ob.pose.bones["shin4"].planar_ik
    assert chain.reach == "INVALID"
    targets[4].location = ob.pose.bones["thigh4"].head + Vector((0, 0.2, -1.3))
    play(ob)
    assert in_batches() == COUNT
    assert (chain.reach, chain.message) == ("REACHED", "")


def test_bones_own_scale_outlives_a_target_that_was_nowhere():
    ob, targets = make_crowd(plane="POLE", stretch=0.5)
    play(ob)
    targets[4].animation_data_clear()
    chain = ob.pose.bones["shin4"].planar_ik
    for frame, place in ((4, 5.0), (5, 9.0), (6, math.nan), (7, 9.0), (8, 8.0)):
        targets[4].location.x = place
        bpy.context.scene.frame_set(frame)
    assert in_batches() == COUNT
    assert chain.reach == "TOO_FAR"
    assert shown(ob, "thigh4").to_scale().y > 1.1
    put(chain, enabled=False)
    assert ob.pose.bones["shin4"].scale[:] == ob.pose.bones["thigh4"].scale[:] == (1, 1, 1)
    assert abs(shown_rotation(ob, "shin4")[0]) > 1 - 1e-6


def test_a_deleted_target_stops_its_own_limb_only():
    ob, targets = make_crowd(plane="POLE")
    play(ob)
    bpy.data.objects.remove(targets[4])
    for frame in (5, 6, 7):
        bpy.context.scene.frame_set(frame)
    assert ob.pose.bones["shin4"].planar_ik.reach == "INVALID"
    assert_on_target(ob, targets[5], "shin5")


def test_what_carries_the_limbs_may_change_its_size():
    ob, targets = make_crowd(plane="POLE")
    for i in range(COUNT):
        ob.data.bones[f"shin{i}"].inherit_scale = "ALIGNED"
    hip = ob.pose.bones["left"]
    play(ob)
    assert in_batches() == COUNT
    set_keys(hip, "scale", {1: (1.0, 1.0, 1.0), 30: (1.3, 1.3, 1.3)})
    play(ob)
    for i in (4, 5, 6):
        assert_on_target(ob, targets[i], f"shin{i}")
