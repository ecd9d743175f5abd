"""Many chains of one object: posed together by arrays, to the last bit as each alone."""

from __future__ import annotations

import math

import bpy
import pytest
from mathutils import Vector

from scripts import installed
from tests.blender.rigs import (
    Bone,
    assert_on_target,
    key_location,
    make_empty,
    make_rig,
    pose,
    rotation,
    update,
)

COUNT = 30
FRAMES = (1, 9, 4, 30, 9)


def make_crowd(**settings):
    """A rig of many legs of different shapes on two hips, each with a moving target and a pole of its own."""
    bones = [Bone("left", (0, 0, 0), (0, 0, 0.3)), Bone("right", (1, 0, 0), (1, 0, 0.3))]
    for i in range(COUNT):
        root = Vector((0.2 * i, 0.1 * i, 0))
        knee = root + Vector((0.1, 0.2 + 0.01 * i, -1))
        bones.append(Bone(f"thigh{i}", root, knee, "left" if i % 3 else "right"))
        bones.append(Bone(f"shin{i}", knee, root + Vector((0.1, 0.1, -1.8)), f"thigh{i}", connected=True))
    ob = make_rig(bones)
    targets = []
    for i in range(COUNT):
        root = ob.pose.bones[f"thigh{i}"].head
        target = make_empty(f"target{i}")
        places = [root + Vector((0.3 * math.sin(0.2 * f + i), 0.4 * math.cos(0.3 * f), -1.2)) for f in range(31)]
        key_location(target, places)
        targets.append(target)
        chain = ob.pose.bones[f"shin{i}"].planar_ik
        chain.target, chain.pole_target = target, make_empty(f"pole{i}", root + Vector((0.2, 3, -1)))
        for name, value in settings.items():
            setattr(chain, name, value)
        chain.enabled = True
    update()
    return ob, targets


def in_batches():
    """How many chains are posed together at the moment."""
    levels = installed.addon("addon.live").plan.levels
    return sum(len(batch.chains) for level in levels for group in level for batch in group._batches or ())


def play(ob, frames=FRAMES):
    poses = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        poses.append(pose(ob))
    return poses


@pytest.fixture
def one_by_one(monkeypatch):
    """Switches batches off when called."""
    batch = installed.addon("addon.rig.batch")
    return lambda: monkeypatch.setattr(batch, "ENOUGH", 10**6)


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
def test_together_as_one_by_one(settings, one_by_one):
    ob, _ = make_crowd(**settings)
    play(ob)
    together = play(ob)
    assert in_batches() == COUNT
    assert together[1] == together[4]
    one_by_one()
    bpy.context.scene.planar_ik.live = False
    bpy.context.scene.planar_ik.live = True
    update()
    play(ob, (2, 3))
    assert in_batches() == 0
    assert play(ob) == together


def test_tips_are_on_their_targets():
    ob, targets = make_crowd(plane="POLE")
    play(ob, (3, 17))
    for i, target in enumerate(targets):
        assert_on_target(ob, target, f"shin{i}")


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
    targets[7].location.y -= 0.1
    before = [rotation(ob.pose.bones[f"shin{i}"]) for i in range(COUNT)]
    update()
    after = [rotation(ob.pose.bones[f"shin{i}"]) for i in range(COUNT)]
    assert [i for i in range(COUNT) if before[i] != after[i]] == [7]
    place = ob.pose.bones["thigh7"].head + Vector((0, 0.2, -1.3))
    targets[7].location = place
    update()
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
    assert rotation(ob.pose.bones["shin4"]) == (1, 0, 0, 0)
    assert_on_target(ob, targets[5], "shin5")
    targets[4].location = ob.pose.bones["thigh4"].head + Vector((0, 0.2, -1.3))
    bpy.context.scene.frame_set(8)
    assert chains[4].reach == "REACHED"
    assert_on_target(ob, targets[4], "shin4")


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
    for frame, size in ((1, 1.0), (30, 1.3)):
        hip.scale = (size, size, size)
        hip.keyframe_insert("scale", frame=frame)
    play(ob)
    for i in (4, 5, 6):
        assert_on_target(ob, targets[i], f"shin{i}")
