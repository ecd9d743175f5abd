"""What tasks do over a range of frames: the joints stay where they were seen, in every frame."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from tests.blender import rigs

pytestmark = pytest.mark.dear

FRAMES = range(1, 25)
KEYED = (1, 6, 7, 15, 24)


def joints(ob, names):
    """Where bones begin and the last one's foot does, in the world, evaluated."""
    bpy.context.view_layer.update()
    now = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([now.matrix_world @ now.pose.bones[name].head for name in names])


def seen(ob, names, frames=FRAMES):
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append(joints(ob, names))
    return np.array(found)


def off(now, before):
    """How far joints are from where they were at most, in lengths of the limb. Single precision of a target moves the
    knee of a limb that is straight to 1e-5 by the root of that: there, a quarter counts."""
    now, before = (joints.reshape(-1, *joints.shape[-2:]) for joints in (now, before))
    size = np.linalg.norm(np.diff(before[0], axis=0), axis=1).sum()
    spans = np.linalg.norm(before[:, -1] - before[:, 0], axis=-1) / size
    missed = np.linalg.norm(now - before, axis=-1).max(axis=1) / size
    return np.where(spans > 1.0 - 1e-5, missed / 4.0, missed).max()


def animate(ob, rng, normals):
    """FK keys, on some frames only: the first bone anyhow, the others about their hinges; the body moves."""
    for frame in KEYED:
        for k, (name, normal) in enumerate(normals.items()):
            bone = ob.pose.bones[name]
            bone.rotation_quaternion = Quaternion(normal, rng.uniform(-1.2, 1.2)) if k else rigs.turn(rng, 2.0)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        foot = ob.pose.bones["foot"]
        foot.rotation_quaternion = rigs.turn(rng)
        foot.keyframe_insert("rotation_quaternion", frame=frame)
        body = ob.pose.bones["body"]
        body.location = [rng.uniform(-0.3, 0.3) for _ in range(3)]
        body.keyframe_insert("location", frame=frame)


@pytest.fixture
def make(add, addon):
    """A limb with FK animation, set to FK."""

    def limb(seed, mode="RIG", knee="FREE", **options):
        rng = random.Random(seed)
        ob = rigs.random_limb(rng, parents=("PLAIN", "SCALED", "MIRRORED")[seed % 3])
        last = add(ob, "lower", knee=knee, **options)[0]
        shape = addon("limb.rest_geometry").rest_geometry_of(last)
        animate(ob, rng, dict(zip(shape.names, shape.normals, strict=True)))
        if mode == "RIG":
            addon("tasks.modes").to_rig(bpy.context, [last])
        last = ob.pose.bones["lower"]
        last.planar_ik.influence = 0.0
        return last, [*shape.names, "foot"]

    return limb


def test_adding_leaves_what_is_animated_if_told_to(add, addon):
    ob = rigs.biped()
    for frame, angle in ((1, 0.0), (10, 0.5)):
        ob.pose.bones["thigh.L"].rotation_quaternion = Quaternion((1, 0, 0), angle)
        ob.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=frame)
    curves = len(rigs.curves(ob))
    add(ob, "shin.L", keyed="LEAVE")
    assert len(rigs.curves(ob)) == curves


@pytest.mark.parametrize("keyed", ["KEEP", "ALL"])
def test_adding_keeps_other_actions_if_told_to(addon, keyed):
    """By another slot of the same action, too; or says which they are."""
    ob, names, rng = rigs.biped(), ("thigh.L", "shin.L", "foot.L"), random.Random(4)
    data = ob.animation_data_create()
    clips = []
    for action in (walk := bpy.data.actions.new("walk"), walk, bpy.data.actions.new("run")):
        action.use_fake_user = True
        clips.append((action, action.slots.new("OBJECT", f"rig {len(clips)}")))
        data.action, data.action_slot = clips[-1]
        for frame in KEYED:
            for k, name in enumerate(names):
                bone = ob.pose.bones[name]
                bone.rotation_quaternion = Quaternion((1, 0, 0), rng.uniform(0, 1)) if k == 1 else rigs.turn(rng)
                bone.keyframe_insert("rotation_quaternion", frame=frame)
    before, after = [], []
    for found in (before, after):
        for action, slot in clips:
            data.action = action
            data.action_slot = slot
            found.append(seen(ob, names))
        if found is before:
            adding = addon("tasks.adding")
            added = adding.add(bpy.context, [adding.LimbRequest(ob.pose.bones["shin.L"])], keyed, tolerance=1e-4)
            assert [str(warning) for warning in added.warnings] == (
                [] if keyed == "ALL" else ["'shin.L' has keys in 'walk' too: Keep in All Actions has IK go by these"]
            )
    assert [off(now, then) < 1e-3 for now, then in zip(after, before, strict=True)] == [keyed == "ALL"] * 2 + [True]


def test_adding_says_which_keys_a_target_that_is_there_does_not_follow(addon):
    """And what helps is that."""
    ob, prop = rigs.biped(), rigs.rig({"grip": ((0.3, 0.2, 0.1), (0.3, 0.4, 0.1), "")}, name="prop")
    rigs.activate(ob)
    for frame, angle in ((1, 0.0), (10, 0.5)):
        ob.pose.bones["thigh.L"].rotation_quaternion = Quaternion((1, 0.2, 0.3), angle)
        ob.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=frame)
    names, frames, adding = ("thigh.L", "shin.L", "foot.L"), range(1, 11), addon("tasks.adding")
    before = seen(ob, names, frames)
    request = adding.LimbRequest(ob.pose.bones["shin.L"], target=(prop, "grip"))
    added = adding.add(bpy.context, [request], foot=False)
    assert ["not by its keys" in str(warning) for warning in added.warnings] == [True]
    addon("tasks.snapping").snap_target(bpy.context, added.limbs, frames)
    assert off(seen(ob, names, frames), before) < 1e-4


def child_of(ob, owner, influence=1.0):
    made = owner.constraints.new("CHILD_OF")
    made.target, made.subtarget = ob, "root"
    made.influence = influence


def armature(ob, owner, influence=1.0):
    made = owner.constraints.new("ARMATURE")
    made.targets.new()
    made.targets[0].target, made.targets[0].subtarget = ob, "root"
    made.influence = influence


def floor(ob, owner, influence=1.0):
    made = owner.constraints.new("FLOOR")
    made.target, made.offset, made.influence = ob, -100.0, influence


def limit(ob, owner, influence=1.0):
    made = owner.constraints.new("LIMIT_LOCATION")
    made.use_max_z, made.max_z = True, 100.0


def copy_location(ob, owner, influence=0.5):
    made = owner.constraints.new("COPY_LOCATION")
    made.target, made.subtarget, made.influence = ob, "root", 0.5


HOLDS = {each.__name__: each for each in (child_of, armature, floor, limit, copy_location)}


@pytest.mark.parametrize(("hold", "mode"), [(hold, ("RIG", "LIVE")[k % 2]) for k, hold in enumerate(HOLDS)])
def test_through_what_holds_target_and_pole(make, addon, hold, mode):
    last, names = make(1, mode, "POLE")
    ob, limb = last.id_data, last.planar_ik
    ob.pose.bones["root"].rotation_quaternion = rigs.turn(random.Random(5))
    ob.pose.bones["root"].location = (0.1, 0.2, -0.1)
    for followed, bone in ((limb.target, limb.subtarget), (limb.pole_target, limb.pole_subtarget)):
        HOLDS[hold](ob, followed.pose.bones[bone])
    bpy.context.scene.frame_set(10)
    before = joints(ob, names)
    switched = addon("tasks.snapping").switch(bpy.context, [last], to="IK")
    assert not switched.warnings
    assert off(joints(ob, names), before) < 1e-4
    addon("tasks.snapping").switch(bpy.context, [ob.pose.bones["lower"]], to="FK")
    assert off(joints(ob, names), before) < 1e-4
    ob.pose.bones["lower"].planar_ik.influence = 0.0
    before = seen(ob, names)
    addon("tasks.snapping").snap_target(bpy.context, [ob.pose.bones["lower"]], FRAMES)
    ob.pose.bones["lower"].planar_ik.influence = 1.0
    assert off(seen(ob, names), before) < 1e-4


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("volume", ["LENGTH", "UNIFORM", "VOLUME"])
def test_fk_keeps_stretch(make, addon, mode, volume):
    last, names = make(0, "LIVE", "FREE")
    ob = last.id_data
    last.planar_ik.stretch_volume, last.planar_ik.stretch = volume, 0.7
    if mode == "RIG":
        addon("tasks.modes").to_rig(bpy.context, [last])
    last = ob.pose.bones["lower"]
    last.planar_ik.influence = 1.0
    root = joints(ob, names)[0]
    target = ob.pose.bones["foot_ik"]
    for frame, far in ((1, 0.8), (12, 3.5), (24, 2.5)):
        bpy.context.scene.frame_set(frame)
        rigs.put(target, Vector(root) + Vector((0.3, 0.5, -0.8)).normalized() * far)
        target.keyframe_insert("location", frame=frame)
    before = seen(ob, names)
    addon("tasks.snapping").snap_fk(bpy.context, [last], FRAMES)
    last.planar_ik.influence = 0.0
    after = seen(ob, names)
    assert off(after, before) < 1e-4
    addon("tasks.snapping").snap_target(bpy.context, [last], FRAMES)
    last.planar_ik.influence = 1.0
    assert off(seen(ob, names), before) < 1e-4
