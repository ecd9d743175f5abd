"""The three ways to gather a bake give the same, wherever each says that it will do."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.bake_rigs import (
    EXACT,
    FEATURES,
    FRAMES,
    LENGTH,
    add_pole,
    assert_same,
    assert_ways,
    bake_scene,
    by_ways,
    circling,
    handled,
    key_hip,
    key_setting,
    make_chain,
    make_leg,
    motion,
    names,
)
from tests.blender.rigs import MODES, curves, editing, make_empty, rotation, rotation_name, set_keys, set_rotation

WAYS = {
    "plain": "123",
    "pole": "123",
    "swung plane": "123",
    "bend": "123",
    "swing": "123",
    "softness": "123",
    "limits": "123",
    "moving parent": "123",
    "moving object": "123",
    "parented object": "123",
    "bone target": "123",
    "FK": "123",
    "turned hinge": "123",
    "turned off the pole": "123",
    "constrained target": "23",
    "followed target": "123",
    "driven target": "23",
    "NLA": "23",
    "stretch": "123",
    "influence": "123",
    "animated settings": "123",
    "no inherited rotation": "123",
    "on a surface": "23",
    "driven by a formula": "23",
    "driven by Python": "3",
    "keyed constraint": "123",
    "driven constraint": "23",
}


def parent_all(ob: Any, chain: Any) -> None:
    mover = make_empty("mover")
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
    "turned hinge": lambda ob, chain: (
        key_setting(ob, "hinge_angle", 0.1, -0.6, 0.4),
        key_setting(ob, "lower_twist", 0.0, 0.8),
    ),
    "turned off the pole": lambda ob, chain: (add_pole(chain), key_setting(ob, "pole_angle", 0.1, -2.6, 1.4)),
    "FK": lambda ob, chain: (
        setattr(chain, "influence", 0.4),
        setattr(ob.pose.bones["thigh"], "rotation_mode", "XYZ"),
        setattr(ob.pose.bones["thigh"], "rotation_euler", (0.3, 0.2, 0.1)),
    ),
}


@pytest.mark.parametrize("feature", WAYS)
@pytest.mark.parametrize("mode", ["QUATERNION", "ZXY"])
def test_all_ways_give_the_same(addon, feature, mode):
    ob = make_leg(mode=mode)
    chain = make_chain(ob)
    WAYS_FEATURES[feature](ob, chain)
    assert_ways(ob, WAYS[feature])


ANIMATED = {
    "pole": lambda ob, chain: add_pole(chain),
    "parent": lambda ob, chain: key_hip(ob),
    "FK": lambda ob, chain: (key_rotation(ob, "thigh"), key_rotation(ob, "shin", 0.5)),
    "bend": lambda ob, chain: key_setting(ob, "bend", 1.0, -1.0, 0.3),
    "influence": lambda ob, chain: key_setting(ob, "influence", 1.0, 0.0, 0.7),
    "softness": lambda ob, chain: key_setting(ob, "softness", 0.0, 0.4),
    "stretch": lambda ob, chain: setattr(chain, "stretch", 0.8),
    "keyed stretch": lambda ob, chain: (stretch_once(ob, chain), key_setting(ob, "stretch", 0.0, 1.0)),
    "stretch limit": lambda ob, chain: (setattr(chain, "stretch", 1.0), key_setting(ob, "stretch_max", 2.0, 1.05)),
    "volume": lambda ob, chain: (setattr(chain, "stretch", 1.0), setattr(chain, "stretch_volume", "VOLUME")),
    "knee limits": lambda ob, chain: (key_setting(ob, "min_angle", 0.0, 1.5), key_setting(ob, "max_angle", 3.2, 2.2)),
    "switch": lambda ob, chain: key_setting(ob, "enabled", False, True, False),
    "parent's size": lambda ob, chain: setattr(ob.pose.bones["hip"], "scale", (1.3, 1.3, 1.3)),
    "own scale": lambda ob, chain: setattr(ob.pose.bones["shin"], "scale", (0.7, 1.2, 0.9)),
}


@pytest.mark.parametrize("pair", list(combinations(ANIMATED, 2)), ids=" and ".join)
def test_pairs_of_what_is_animated(addon, pair):
    ob = make_leg(mode=MODES[sum(map(len, pair)) % len(MODES)])
    chain = make_chain(ob)
    for name in pair:
        ANIMATED[name](ob, chain)
    assert_ways(ob, "123")


def key_in_part(ob: Any) -> None:
    """What is not keyed stays as the animator has it."""
    thigh = ob.pose.bones["thigh"]
    thigh.rotation_euler = (0.3, 0.2, -0.1)
    for frame, turn in ((1, 0.3), (20, -0.4)):
        thigh.rotation_euler.x = turn
        thigh.keyframe_insert("rotation_euler", index=0, frame=frame)


def drive_in_part(ob: Any) -> None:
    """The rotation itself, so that it is not the chain that turns the bone."""
    drive_thigh(ob, "rotation_euler", 1)
    ob.pose.bones["thigh"].rotation_euler.z = 0.2


def drive_location(ob: Any) -> None:
    ob.data.bones["thigh"].use_local_location = False
    drive_thigh(ob, "location", 2)


def drive_and_key(ob: Any) -> None:
    key_in_part(ob)
    drive_thigh(ob, "rotation_euler", 2)


def drive_thigh(ob: Any, path: str, index: int) -> None:
    ob.pose.bones["thigh"].driver_add(path, index).driver.expression = "sin(frame / 5) / 3"


@pytest.mark.parametrize(
    ("act", "ways"), [(key_in_part, "123"), (drive_location, "23"), (drive_in_part, "3"), (drive_and_key, "3")]
)
@pytest.mark.parametrize("influence", [1.0, 0.5])
def test_channels_keyed_and_driven_in_part(addon, act, ways, influence):
    ob = make_leg(mode="XYZ")
    make_chain(ob, influence=influence)
    act(ob)
    bpy.context.view_layer.update()
    assert_ways(ob, ways)


def act_beyond_limits(ob: Any, chain: Any) -> None:
    key_setting(ob, "influence", 1.0, 0.0)
    for point in curves(ob)['pose.bones["shin"].planar_ik_influence', 0].keyframe_points:
        point.co[1] = 3.0 * point.co[1] - 1.0


def act_muted(ob: Any, chain: Any) -> None:
    key_setting(ob, "influence", 1.0, 0.0)
    curves(ob)['pose.bones["shin"].planar_ik_influence', 0].mute = True
    chain.influence = 0.6


def act_without_keys(ob: Any, chain: Any) -> None:
    key_setting(ob, "influence", 1.0)
    curve = curves(ob)['pose.bones["shin"].planar_ik_influence', 0]
    curve.keyframe_points.clear()
    chain.influence = 0.6


def act_in_cycles(ob: Any, chain: Any) -> None:
    key_setting(ob, "influence", 1.0, 0.3)
    for of, kind in ((ob, "CYCLES"), (chain.target, "NOISE")):
        for curve in curves(of).values():
            curve.modifiers.new(kind)
            curve.update()


def act_by_samples(ob: Any, chain: Any) -> None:
    for curve in curves(chain.target).values():
        curve.convert_to_samples(-3, 20)
        curve.mute = False  # which tells the scene of the change


def act_by_modifiers_alone(ob: Any, chain: Any) -> None:
    for curve in curves(chain.target).values():
        curve.keyframe_points.clear()
        curve.modifiers.new("FNGENERATOR").phase_multiplier = 0.4


def act_in_stretched_time(ob: Any, chain: Any) -> None:
    key_hip(ob)
    bpy.context.scene.render.frame_map_new = 300


ACTS = [
    act_beyond_limits,
    act_muted,
    act_without_keys,
    act_in_cycles,
    act_by_samples,
    act_by_modifiers_alone,
    act_in_stretched_time,
]


@pytest.mark.parametrize("frames", [FRAMES, np.arange(-9.0, 40.0, 7.0), np.arange(2.0, 9.0, 0.25), [5.0], [1.0, 900.0]])
@pytest.mark.parametrize("act", ACTS)
def test_curves_act_as_blender_has_them(addon, act, frames):
    ob = make_leg()
    chain = make_chain(ob)
    act(ob, chain)
    bpy.context.view_layer.update()
    assert_ways(ob, "123", frames)


def key_rotation(ob: Any, name: str, size: float = 1.0) -> None:
    bone = ob.pose.bones[name]
    for frame, turn in ((1, 0.1), (10, -0.6 * size), (24, size)):
        numbers = [turn, 0.5 * turn, -turn, 0.3][: len(rotation(bone))]
        set_rotation(bone, numbers if bone.rotation_mode != "QUATERNION" else [0.9, *numbers[:3]])
        bone.keyframe_insert(rotation_name(bone), frame=frame)


def stretch_once(ob: Any, chain: Any) -> None:
    """Have a limb made ready to stretch, as it is from the first frame on in which it does."""
    chain.stretch = 1.0
    bpy.context.view_layer.update()


def test_a_knee_of_the_right_side_swings_to_its_own():
    ob = make_leg()
    ob.pose.bones["shin"].name = "shin.R"
    make_chain(ob, "shin.R", bend=0.3)
    wanted = motion(ob, lower="shin.R")
    found = by_ways()
    assert names(found) == "123"
    for sample in found.values():
        assert_same(sample.joints.knee, wanted[:, 1])


@pytest.mark.parametrize("is_keyed", [False, True])
def test_what_moves_the_limb_in_some_frames_is_stepped(is_keyed):
    ob = make_leg()
    make_chain(ob)
    constraint = follow_with_the_foot(ob)
    constraint.influence = 0.0
    if is_keyed:
        set_keys(constraint, "influence", {8: 0.0, 12: 1.0})
    bpy.context.scene.frame_set(1)
    assert names(by_ways()) == ("3" if is_keyed else "123")


@pytest.mark.parametrize("feature", ["plain", "pole", "FK", "driven constraint"])
def test_a_bake_depends_neither_on_the_frame_at_hand_nor_on_where_it_begins(addon, feature):
    """The bones turn the same in the same frame: no frame hangs on the one before."""
    ob = make_leg()
    chain = make_chain(ob)
    WAYS_FEATURES[feature](ob, chain)
    key_rotation(ob, "shin", 0.5)
    turned = []
    for at, first in ((1, 1.0), (20, 1.0), (7, 9.0), (30, 15.0)):
        bpy.context.scene.frame_set(at)
        sample = by_ways(np.arange(first, 25.0))[""]
        turned.append({track.bone: track.values[15 - int(first) :] for track in sample.tracks if track.mode})
    for other in turned[1:]:
        for bone, rotations in turned[0].items():
            along = np.minimum(*(np.abs(rotations - side * other[bone]).max(axis=1) for side in (1.0, -1.0)))
            assert along.max() < 2e-6


def key_its_acting(ob: Any, constraint: Any, name: str) -> None:
    for frame, acts in ((1, False), (12, False), (15, True), (18, False)):
        setattr(constraint, name, acts if name == "influence" else not acts)
        constraint.keyframe_insert(name, frame=frame)


def blend_its_acting(ob: Any, constraint: Any, name: str) -> None:
    key_its_acting(ob, constraint, name)
    data = ob.animation_data
    data.nla_tracks.new().strips.new("acting", 1, data.action)
    data.action = None


def drive_its_acting(ob: Any, constraint: Any, name: str) -> None:
    """By a property of the rig, as generated rigs do."""
    ob["acting"] = 0.0
    driver = constraint.driver_add(name).driver
    variable = driver.variables.new()
    variable.name, variable.targets[0].id, variable.targets[0].data_path = "acting", ob, '["acting"]'
    driver.expression = "acting" if name == "influence" else "1 - (acting == 1)"
    for frame, acts in ((1, 0.0), (12, 0.0), (15, 1.0), (18, 0.0)):
        ob["acting"] = acts
        ob.keyframe_insert('["acting"]', frame=frame)


def follow_with_the_foot(ob: Any) -> Any:
    """An IK constraint of another bone than those that it turns."""
    with editing(ob) as bones:
        foot = bones.new("foot")
        foot.head, foot.tail, foot.parent = (0.1, 0, -1.9), (0.1, -0.3, -1.9), bones["shin"]
    made = ob.pose.bones["foot"].constraints.new("IK")
    made.target, made.chain_count = bpy.data.objects["target"], 2
    return made


def limit_the_shin(ob: Any) -> Any:
    made = ob.pose.bones["shin"].constraints.new("LIMIT_ROTATION")
    made.use_limit_x, made.owner_space = True, "LOCAL"
    return made


@pytest.mark.parametrize("constrain", [limit_the_shin, follow_with_the_foot])
@pytest.mark.parametrize("act", [key_its_acting, blend_its_acting, drive_its_acting])
@pytest.mark.parametrize("name", ["influence", "mute"])
def test_only_those_frames_are_stepped_in_which_an_animated_constraint_acts(addon, name, act, constrain):
    ob = make_leg()
    make_chain(ob)
    constraint = constrain(ob)
    act(ob, constraint, name)
    bpy.context.scene.frame_set(1)
    wanted = motion(ob)
    sample = by_ways()[""]
    is_one_frame = act == drive_its_acting and name == "mute"
    stepped = 1 if is_one_frame else {"influence": 5, "mute": 3}[name]
    way = "curves" if act == key_its_acting else "isolated"
    assert sample.way == f"{way}, {stepped} frames stepped"
    assert (sample.reach == installed.addon("addon.solver").Reach.INVALID).sum() == stepped
    assert_same(sample.joints.tip, wanted[:, 2])
    assert "mute or remove it" in sample.problem


@pytest.mark.parametrize("tolerance", [0.0, 0.01])
def test_what_a_handler_does_as_frames_change_is_stepped(addon, tolerance):
    """It may move anything: curves were all that was looked at, and the target stood still."""
    ob = make_leg()
    chain = make_chain(ob)
    chain.target.animation_data_clear()
    with handled(circling(chain.target)):
        wanted = motion(ob)
        assert np.ptp(wanted[:, 2], axis=0).max() > 0.5
        report = bake_scene(tolerance=tolerance)
        assert report.chains[0].way == "stepped"
        assert_same(motion(ob), wanted, tolerance + EXACT * LENGTH)
