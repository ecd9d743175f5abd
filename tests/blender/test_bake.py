"""Baked keys give the pose that the chains gave, on every frame; judged by where the joints are."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler, Vector

MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")
EXACT = 1e-6
LENGTH = 1.9
FRAMES = np.arange(1.0, 25.0)


@pytest.fixture
def bake(addon: ModuleType) -> Callable[..., Any]:
    """Bake the scene's chains and give the report."""
    from scripts import installed

    baking = installed.addon("addon.bake")

    def run(frames: Any = FRAMES, **options: Any) -> Any:
        chains = options.pop("chains", None) or baking.chains_of_scene(bpy.context)
        return baking.finish(baking.bake(bpy.context, baking.Request(chains, np.asarray(frames, float), **options)))

    return run


def make_leg(name: str = "leg", mode: str = "QUATERNION") -> Any:
    """A hip that moves, a thigh, a shin."""
    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    bones = ob.data.edit_bones
    places = {
        "hip": ((0, 0, 0), (0, 0, 0.3)),
        "thigh": ((0, 0, 0), (0.1, 0.2, -1)),
        "shin": ((0.1, 0.2, -1), (0.1, 0, -1.9)),
    }
    for bone, (head, tail) in places.items():
        made = bones.new(bone)
        made.head, made.tail = head, tail
    bones["thigh"].parent = bones["hip"]
    bones["shin"].parent, bones["shin"].use_connect = bones["thigh"], True
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    return ob


def make_chain(ob: Any, lower: str = "shin", **settings: Any) -> Any:
    """A chain on a target that circles the root, in and out of reach."""
    target = bpy.data.objects.new("target", None)
    bpy.context.scene.collection.objects.link(target)
    for i in range(9):
        angle = i / 8 * 2 * math.pi
        target.location = (0.3 * math.sin(angle), 1.2 * math.sin(angle), -1.2 - 0.9 * math.cos(angle))
        target.keyframe_insert("location", frame=1 + 3 * i)
    chain = ob.pose.bones[lower].planar_ik
    chain.target = target
    for name, value in settings.items():
        setattr(chain, name, value)
    chain.enabled = True
    bpy.context.view_layer.update()
    return chain


def joints(ob: Any, lower: str = "shin") -> np.ndarray:
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bone = evaluated.pose.bones[lower]
    return np.array([evaluated.matrix_world @ place for place in (bone.parent.head, bone.head, bone.tail)])


def motion(ob: Any, frames: Any = FRAMES, lower: str = "shin") -> np.ndarray:
    """The joints on every frame."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(math.floor(frame), subframe=float(frame) % 1.0)
        found.append(joints(ob, lower))
    return np.array(found)


def curves(ob: Any) -> dict[tuple[str, int], Any]:
    data = ob.animation_data
    if hasattr(data.action, "layers"):
        bags = [bag for layer in data.action.layers for strip in layer.strips for bag in strip.channelbags]
        return {(c.data_path, c.array_index): c for bag in bags for c in bag.fcurves}
    return {(c.data_path, c.array_index): c for c in data.action.fcurves}


def channel(ob: Any, bone: str, name: str) -> np.ndarray:
    """The values of the keys of a channel, a row for each key."""
    found = curves(ob)
    columns = [found[key] for key in sorted(found) if key[0] == f'pose.bones["{bone}"].{name}']
    return np.array([[point.co[1] for point in curve.keyframe_points] for curve in columns]).T


def assert_same(got: np.ndarray, wanted: np.ndarray, within: float = EXACT * LENGTH) -> None:
    assert np.linalg.norm(got - wanted, axis=-1).max() <= within


def add_pole(chain: Any, place: tuple[float, float, float] = (1, 2, -1)) -> None:
    pole = bpy.data.objects.new("pole", None)
    pole.location = place
    bpy.context.scene.collection.objects.link(pole)
    chain.pole_target, chain.plane = pole, "POLE"


def key_hip(ob: Any) -> None:
    hip = ob.pose.bones["hip"]
    for frame, turn in ((1, 0.0), (12, 0.7), (24, -0.4)):
        hip.rotation_mode = "XYZ"
        hip.rotation_euler = Euler((turn, 0.3 * turn, -turn))
        hip.location = Vector((turn, 0.1, 0.2 * turn))
        hip.keyframe_insert("rotation_euler", frame=frame)
        hip.keyframe_insert("location", frame=frame)


def key_thigh(ob: Any) -> None:
    thigh = ob.pose.bones["thigh"]
    name = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(
        thigh.rotation_mode, "rotation_euler"
    )
    for frame, turn in ((1, 0.0), (24, 1.0)):
        value = getattr(thigh, name)
        value[1] = turn
        thigh.keyframe_insert(name, frame=frame)


FEATURES: dict[str, Callable[[Any, Any], None]] = {
    "plain": lambda ob, chain: None,
    "pole": lambda ob, chain: add_pole(chain),
    "bend": lambda ob, chain: setattr(chain, "bend", -1.0),
    "swing": lambda ob, chain: setattr(chain, "bend", 0.3),
    "softness": lambda ob, chain: setattr(chain, "softness", 0.2),
    "stretch": lambda ob, chain: setattr(chain, "stretch", 1.0),
    "limits": lambda ob, chain: setattr(chain, "min_angle", 1.0),
    "influence": lambda ob, chain: (setattr(chain, "influence", 0.4), key_thigh(ob)),
    "moving parent": lambda ob, chain: key_hip(ob),
    "moving object": lambda ob, chain: (
        ob.keyframe_insert("location", frame=1),
        ob.keyframe_insert("location", frame=9),
    ),
    "constrained target": lambda ob, chain: constrain(chain.target),
    "driven target": lambda ob, chain: drive(chain.target),
    "animated settings": lambda ob, chain: key_settings(ob),
    "no inherited rotation": lambda ob, chain: setattr(ob.data.bones["shin"], "use_inherit_rotation", False),
    "NLA": lambda ob, chain: push_down(ob),
}


def constrain(target: Any) -> None:
    other = bpy.data.objects.new("leader", None)
    bpy.context.scene.collection.objects.link(other)
    for frame, x in ((1, 0.0), (20, 0.5)):
        other.location.x = x
        other.keyframe_insert("location", frame=frame)
    target.constraints.new("COPY_LOCATION").target = other
    target.constraints[0].use_y = target.constraints[0].use_z = False


def drive(target: Any) -> None:
    target.driver_add("delta_location", 0).driver.expression = "sin(frame / 5) / 3"


def key_settings(ob: Any) -> None:
    chain = ob.pose.bones["shin"].planar_ik
    for frame, bend, enabled in ((1, 1.0, True), (12, -1.0, True), (20, 0.5, False)):
        chain.bend, chain.enabled = bend, enabled
        for name in ("bend", "enabled"):
            ob.keyframe_insert(f'pose.bones["shin"].planar_ik.{name}', frame=frame)


def push_down(ob: Any) -> None:
    key_hip(ob)
    data = ob.animation_data
    action = data.action
    strip = data.nla_tracks.new().strips.new("walk", 3, action)
    strip.scale = 0.5
    data.action = None


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("mode", ["QUATERNION", "ZXY"])
def test_keys_give_the_live_pose(bake, feature, mode):
    ob = make_leg(mode=mode)
    chain = make_chain(ob)
    FEATURES[feature](ob, chain)
    wanted = motion(ob)
    bpy.context.scene.frame_set(7)
    report = bake()
    assert bpy.context.scene.frame_current == 7
    assert not chain.enabled
    assert report.frames == len(FRAMES)
    assert_same(motion(ob), wanted)


@pytest.mark.parametrize("mode", MODES)
def test_rotations_go_on_without_jumps(bake, mode):
    ob = make_leg(mode=mode)
    chain = make_chain(ob)
    key_hip(ob)
    wanted = motion(ob)
    bake()
    assert not chain.enabled
    assert_same(motion(ob), wanted)
    name = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    for bone in ("thigh", "shin"):
        steps = np.abs(np.diff(channel(ob, bone, name), axis=0))
        assert steps.max() < (1.0 if mode == "QUATERNION" else math.pi)


WAYS = {
    "plain": "123",
    "pole": "123",
    "bend": "123",
    "swing": "123",
    "softness": "123",
    "limits": "123",
    "moving parent": "123",
    "moving object": "123",
    "parented object": "123",
    "bone target": "123",
    "FK": "123",
    "constrained target": "23",
    "driven target": "23",
    "NLA": "23",
    "stretch": "3",
    "influence": "3",
    "animated settings": "3",
    "no inherited rotation": "3",
}


def parent_all(ob: Any, chain: Any) -> None:
    mover = bpy.data.objects.new("mover", None)
    bpy.context.scene.collection.objects.link(mover)
    mover.rotation_mode = "AXIS_ANGLE"
    for frame, angle in ((1, 0.0), (30, 2.0)):
        mover.rotation_axis_angle = (angle, 0.0, 1.0, 0.2)
        mover.scale = (1.0 + angle, 1.0 + angle, 1.0 + angle)
        mover.keyframe_insert("rotation_axis_angle", frame=frame)
        mover.keyframe_insert("scale", frame=frame)
    for child in (ob, chain.target):
        child.parent = mover
    chain.target.matrix_parent_inverse.translation.x = 0.2


def follow_a_bone(ob: Any, chain: Any) -> None:
    other = make_leg("other")
    key_hip(other)
    other.location = (0.0, 0.2, -0.9)
    chain.target, chain.subtarget = other, "thigh"


WAYS_FEATURES = FEATURES | {
    "parented object": parent_all,
    "bone target": follow_a_bone,
    "FK": lambda ob, chain: (
        setattr(chain, "influence", 0.4),
        setattr(ob.pose.bones["thigh"], "rotation_mode", "XYZ"),
        setattr(ob.pose.bones["thigh"], "rotation_euler", (0.3, 0.2, 0.1)),
    ),
}


@pytest.mark.parametrize("feature", WAYS)
@pytest.mark.parametrize("mode", ["QUATERNION", "ZXY"])
def test_all_ways_give_the_same(addon, feature, mode):
    from scripts import installed

    baking, ways = installed.addon("addon.bake"), installed.addon("addon.bake.ways")
    ob = make_leg(mode=mode)
    chain = make_chain(ob)
    WAYS_FEATURES[feature](ob, chain)
    wanted = motion(ob)
    scene = bpy.context.scene
    frame = scene.frame_current
    lowers = baking.chains_of_scene(bpy.context)
    found = {}
    for number, way in zip("123", ways.WAYS, strict=True):
        sampled = baking.finish(way(bpy.context, lowers, FRAMES))
        if sampled:
            found[number] = sampled[0]
        scene.frame_set(frame)
    assert "".join(found) == WAYS[feature]
    assert len(bpy.data.scenes) == 1
    live = found["3"]
    for sample in found.values():
        assert_same(sample.joints.knee, wanted[:, 1])
        assert_same(sample.joints.tip, wanted[:, 2])
        assert (sample.reach == live.reach).all()
        assert np.allclose(sample.residual, live.residual, atol=2e-6)
        assert [track.channel for track in sample.tracks] == [track.channel for track in live.tracks]


def test_subframes(bake):
    ob = make_leg()
    make_chain(ob)
    frames = np.arange(2.0, 9.0, 0.25)
    wanted = motion(ob, frames)
    bake(frames)
    assert_same(motion(ob, frames), wanted)
    assert len(channel(ob, "shin", "rotation_quaternion")) == len(frames)


def test_a_chain_that_hangs_on_another_chain(bake):
    ob = make_leg()
    make_chain(ob)
    other = make_leg("other")
    chain = make_chain(other)
    chain.target, chain.subtarget = ob, "shin"
    bpy.context.view_layer.update()
    wanted = motion(ob), motion(other)
    report = bake()
    assert len(report.chains) == 2
    assert_same(motion(ob), wanted[0])
    assert_same(motion(other), wanted[1])


@pytest.mark.parametrize("stretch", [0.0, 0.5])
def test_a_chain_that_is_kept_gives_the_same_pose(bake, stretch):
    ob = make_leg()
    chain = make_chain(ob, stretch=stretch)
    wanted = motion(ob)
    bake(keep=True)
    assert chain.enabled
    assert_same(motion(ob), wanted)


def test_it_bakes_while_live_is_off(bake):
    ob = make_leg()
    make_chain(ob)
    wanted = motion(ob)
    bpy.context.scene.planar_ik.live = False
    bake()
    assert not bpy.context.scene.planar_ik.live
    assert_same(motion(ob), wanted)


def test_keys_outside_the_range_and_other_channels_stay(bake):
    ob = make_leg()
    make_chain(ob)
    shin = ob.pose.bones["shin"]
    for frame in (-20, -10, 5, 40, 60):
        shin.rotation_quaternion = Euler((frame / 40, 0, 0)).to_quaternion()
        shin.keyframe_insert("rotation_quaternion", frame=frame)
    key_hip(ob)
    before = {key: [tuple(p.co) for p in c.keyframe_points] for key, c in curves(ob).items()}
    outside = [-20, -15, -10, 40, 50, 60]
    values = [
        [c.evaluate(frame) for frame in outside] for _, c in sorted(curves(ob).items()) if "rotation_quat" in _[0]
    ]
    bake()
    after = curves(ob)
    for key, points in before.items():
        left = [tuple(p.co) for p in after[key].keyframe_points]
        if "hip" in key[0]:
            assert left == points
        else:
            assert [p for p in left if not 1 <= p[0] <= 24] == [p for p in points if not 1 <= p[0] <= 24]
            assert len(left) == len(FRAMES) + 4
    again = [[after[key].evaluate(frame) for frame in outside] for key in sorted(before) if "rotation_quat" in key[0]]
    assert np.allclose(again, values, atol=1e-6)


def test_a_new_action_leaves_the_current_one_alone(bake):
    ob = make_leg()
    make_chain(ob)
    key_hip(ob)
    old = ob.animation_data.action
    count = len(curves(ob))
    wanted = motion(ob)
    bake(into_new=True)
    assert ob.animation_data.action != old
    assert old.use_fake_user or old.users
    assert_same(motion(ob), wanted)
    assert len(curves(ob)) == count + 8
    ob.animation_data.action = old
    assert len(curves(ob)) == count


def test_keys_look_as_blenders_own_bake_leaves_them(bake):
    ob = make_leg()
    make_chain(ob)
    bake()
    curve = curves(ob)['pose.bones["shin"].rotation_quaternion', 0]
    assert curve.group.name == "shin"
    assert {point.interpolation for point in curve.keyframe_points} == {"LINEAR"}
    if hasattr(ob.animation_data, "action_slot"):
        action = ob.animation_data.action
        assert (len(action.layers), len(action.layers[0].strips), len(action.slots)) == (1, 1, 1)
        assert ob.animation_data.action_slot == action.slots[0]


def test_the_report_counts_what_was_not_reached(bake):
    ob = make_leg()
    make_chain(ob)
    report = bake()
    assert 0 < report.unreached < len(FRAMES)
    assert report.residual > 0.1


@pytest.mark.parametrize("feature", ["constrained target", "stretch"])
def test_a_cancelled_bake_leaves_everything(addon, feature):
    from scripts import installed

    baking = installed.addon("addon.bake")
    ob = make_leg()
    chain = make_chain(ob)
    FEATURES[feature](ob, chain)
    bpy.context.scene.frame_set(3, subframe=0.5)
    before = joints(ob)
    steps = baking.bake(bpy.context, baking.Request(baking.chains_of_scene(bpy.context), FRAMES))
    assert next(steps) == 0.0
    assert 0.0 < next(steps) < next(steps) < 1.0
    steps.close()
    assert ob.animation_data is None
    assert len(bpy.data.scenes) == 1
    assert chain.enabled
    assert (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe) == (3, 0.5)
    assert_same(joints(ob), before)


def test_what_cannot_be_baked_is_refused_with_a_sentence(bake, addon):
    from scripts import installed

    refused = installed.addon("addon.bake").Refused
    with pytest.raises(refused, match="no chain"):
        bake()
    ob = make_leg()
    chain = make_chain(ob)
    chain.target = None
    with pytest.raises(refused, match="has no target"):
        bake()
    assert ob.animation_data is None


def test_two_objects_that_share_an_action_get_their_own(bake):
    legs = [make_leg("one"), make_leg("two")]
    for ob in legs:
        make_chain(ob)
    key_hip(legs[0])
    data = legs[1].animation_data_create()
    data.action = legs[0].animation_data.action
    if hasattr(data, "action_slot"):
        data.action_slot = legs[0].animation_data.action_slot
    wanted = [motion(ob) for ob in legs]
    with pytest.raises(Exception, match="share action"):
        bake()
    bake(into_new=True)
    for ob, places in zip(legs, wanted, strict=True):
        assert_same(motion(ob), places)


@pytest.mark.parametrize("mode", MODES)
def test_reduced_keys_stay_within_the_tolerance(bake, mode):
    ob = make_leg(mode=mode)
    make_chain(ob, stretch=0.5)
    key_hip(ob)
    frames = np.arange(1.0, 25.0, 0.25)
    wanted = motion(ob, frames)
    report = bake(frames, tolerance=0.01)
    assert report.keys < len(frames) / 2
    got = motion(ob, frames)
    assert np.linalg.norm(got - wanted, axis=-1).max() == pytest.approx(max(report.errors), abs=1e-5)
    assert max(report.errors) <= 0.01


def test_a_bake_cancelled_while_keys_are_measured_leaves_everything(addon):
    from scripts import installed

    baking = installed.addon("addon.bake")
    ob = make_leg()
    ob.pose.bones["thigh"].rotation_quaternion = Euler((0.3, 0.2, 0.1)).to_quaternion()
    chain = make_chain(ob)
    key_hip(ob)
    bpy.context.scene.frame_set(5)
    action, before = ob.animation_data.action, joints(ob)
    request = baking.Request(baking.chains_of_scene(bpy.context), FRAMES, tolerance=0.01)
    steps = baking.bake(bpy.context, request)
    while next(steps) <= 0.7:
        pass
    assert len(bpy.data.actions) == 3
    steps.close()
    assert len(bpy.data.actions) == 2
    assert (ob.animation_data.action, chain.enabled, len(curves(ob))) == (action, True, 6)
    assert_same(joints(ob), before)
    chain.enabled = False
    bpy.context.view_layer.update()
    own = ob.pose.bones["thigh"].rotation_quaternion
    assert np.allclose(own, Euler((0.3, 0.2, 0.1)).to_quaternion(), atol=1e-6)


def test_the_operator_bakes_a_given_range_of_the_selected_chains():
    legs = [make_leg("one"), make_leg("two")]
    chains = [make_chain(ob) for ob in legs]
    wanted = motion(legs[1], (4, 5.5, 7))
    bpy.context.view_layer.objects.active = legs[1]
    bpy.ops.object.mode_set(mode="POSE")
    bones = legs[1].pose.bones
    legs[1].data.bones.active = legs[1].data.bones["shin"]
    for bone in bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == "shin"
    done = bpy.ops.pose.planar_ik_bake(range="GIVEN", frame_start=4, frame_end=7, step=1.5)
    assert done == {"FINISHED"}
    assert bpy.context.mode == "POSE"
    assert [chain.enabled for chain in chains] == [True, False]
    assert len(channel(legs[1], "shin", "rotation_quaternion")) == 3
    assert_same(motion(legs[1], (4, 5.5, 7)), wanted)


@pytest.mark.parametrize(("source", "count"), [("SCENE", 10), ("PREVIEW", 4), ("ACTION", 25)])
def test_the_operator_takes_its_range_from(source, count):
    ob = make_leg()
    make_chain(ob)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 11, 20
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 2, 5
    assert bpy.ops.pose.planar_ik_bake(range=source, chains="ALL") == {"FINISHED"}
    assert len(channel(ob, "shin", "rotation_quaternion")) == count


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"step": 1.0}, "Select a bone with a chain"),
        (
            {"chains": "ALL", "range": "GIVEN", "frame_start": 9.0, "frame_end": 2.0},
            "ends at frame 2, before it starts",
        ),
        ({"chains": "ALL", "range": "PREVIEW"}, "no preview range"),
        ({"chains": "ALL", "keep": True, "tolerance": 0.1}, "switched off"),
    ],
)
def test_the_operator_refuses_with_a_sentence(options, sentence):
    make_chain(make_leg())
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.pose.planar_ik_bake(**options)
