"""Where the targets of many chains are, read at once: objects and bones of every kind, as if each had been asked."""

from __future__ import annotations

import bpy
import pytest

from tests.blender.crowds import COUNT, in_batches, make_crowd, play, play_one_by_one
from tests.blender.rigs import Bone, assert_on_target, editing, key_location, make_empty, make_rig, update


def follow(ob, target_of):
    """Let each chain follow what is said for its number."""
    for i in range(COUNT):
        chain = ob.pose.bones[f"shin{i}"].planar_ik
        chain.target, chain.subtarget = target_of(i)
    update()
    play(ob)


def another_rig(ob):
    """A rig with a bone for each limb, which moves as a whole; it is turned, and scaled unevenly."""
    controls = make_rig(
        [Bone(f"c{i}", p := ob.pose.bones[f"control{i}"].head, p + p.yzx.normalized()) for i in range(COUNT)],
        "controls",
    )
    key_location(controls, [(0, 0, 0.05 * f) for f in range(31)])
    controls.rotation_euler, controls.scale = (0.02, 0.03, 0.01), (1.02, 0.97, 1.05)
    return controls


KINDS = {
    "objects": ("object",),
    "bones of the same rig": ("bone",),
    "bones of another rig": ("other bone",),
    "some of each": ("object", "bone", "other bone"),
}


@pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS)
def test_together_as_one_by_one(kinds, monkeypatch):
    ob, targets = make_crowd(plane="POLE")
    controls = another_rig(ob)

    def target_of(i):
        choices = {"object": (targets[i], ""), "bone": (ob, f"control{i}"), "other bone": (controls, f"c{i}")}
        return choices[kinds[i % len(kinds)]]

    ob.location, ob.rotation_euler, ob.scale = (0.1, 0.2, 0), (0.02, 0.01, 0.03), (1, 1.1, 0.95)
    follow(ob, target_of)
    together = play(ob)
    assert in_batches() == COUNT
    for i in range(COUNT):
        target, bone = target_of(i)
        assert_on_target(ob, target, f"shin{i}", bone)
    assert play_one_by_one(ob, monkeypatch) == together


def test_each_bone_may_be_carried_by_another(monkeypatch):
    ob, targets = make_crowd(plane="POLE")
    with editing(ob) as bones:
        for i in range(COUNT):
            bone = bones[f"thigh{i}"]
            carrier = bones.new(f"carrier{i}")
            carrier.head, carrier.tail = bone.head, bone.head.copy() + bone.y_axis
            bone.parent, carrier.parent = carrier, bone.parent
    for frame, angle in ((1, 0.0), (30, 0.4)):
        for i in range(COUNT):
            ob.pose.bones[f"carrier{i}"].rotation_quaternion = (1, angle, 0.01 * i, 0)
            ob.pose.bones[f"carrier{i}"].keyframe_insert("rotation_quaternion", frame=frame)
    play(ob)
    together = play(ob)
    assert in_batches() == COUNT
    for i, target in enumerate(targets):
        assert_on_target(ob, target, f"shin{i}")
    assert play_one_by_one(ob, monkeypatch) == together


def test_targets_come_and_go_from_sight():
    ob, targets = make_crowd(plane="POLE")
    for i in (3, 7, 8):
        targets[i].keyframe_insert("hide_viewport", frame=1)
        targets[i].hide_viewport = i != 8
        targets[i].keyframe_insert("hide_viewport", frame=9)
        targets[i].hide_viewport = i == 8
        targets[i].keyframe_insert("hide_viewport", frame=11)
    play(ob)
    for frame in (3, 12, 4, 2, 13, 25):
        bpy.context.scene.frame_set(frame)
        assert in_batches() == COUNT
        for i, target in enumerate(targets):
            if not target.hide_viewport:
                assert_on_target(ob, target, f"shin{i}")


def test_targets_in_a_hidden_collection():
    ob, targets = make_crowd(plane="POLE")
    hidden = bpy.data.collections.new("hidden")
    bpy.context.scene.collection.children.link(hidden)
    for target in targets[::2]:
        bpy.context.scene.collection.objects.unlink(target)
        hidden.objects.link(target)
    bpy.context.view_layer.layer_collection.children["hidden"].hide_viewport = True
    play(ob)
    assert in_batches() == COUNT
    for i, target in enumerate(targets):
        assert_on_target(ob, target, f"shin{i}")


def test_many_other_objects_in_the_scene():
    ob, targets = make_crowd(plane="POLE")
    others = [make_empty(f"other{i}") for i in range(6 * COUNT)]
    play(ob)
    crowded = play(ob)
    assert in_batches() == COUNT
    for i, target in enumerate(targets):
        assert_on_target(ob, target, f"shin{i}")
    bpy.data.batch_remove(others)
    update()
    assert play(ob) == crowded
    assert in_batches() == COUNT
