"""Chains on the rig are baked as live ones are."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from itertools import product
from typing import Any

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.bake_rigs import (
    FEATURES,
    FRAMES,
    LENGTH,
    assert_same,
    bake_scene,
    circling,
    handled,
    key_hip,
    key_setting,
    make_chain,
    make_leg,
    motion,
)
from tests.blender.natives import make_portable
from tests.blender.rigs import override_of, select

SAME = 1e-5
"""How far what runs on the rig may be from the solution, in lengths of the limb."""


BLENDED = 1e-4
"""The same below influence 1: Blender blends by an arc cosine in single precision, and the bake by roots."""


@pytest.mark.parametrize("tolerance", [0.0, 0.01])
@pytest.mark.parametrize("feature", ["plain", "pole", "bend", "influence", "moving parent", "constrained target"])
def test_chains_on_the_rig_are_baked_by_arrays(addon, feature, tolerance):
    ob = make_leg()
    FEATURES[feature](ob, make_chain(ob))
    key_hip(ob)
    make_portable(ob)
    wanted = motion(ob)
    report = bake_scene(tolerance=tolerance)
    assert report.chains[0].way in {"curves", "isolated"}
    assert not ob.pose.bones["shin"].planar_ik.enabled
    assert_same(motion(ob), wanted, tolerance + (BLENDED if feature == "influence" else SAME) * LENGTH)


STEPPED = ["plain", "pole", "influence", "moving parent", "stretch", "keyed", "no inherited rotation"]


@pytest.mark.parametrize("mode", ["QUATERNION", "ZXY"])
@pytest.mark.parametrize("feature", STEPPED)
def test_chains_on_the_rig_are_stepped_as_they_are_evaluated(addon, feature, mode):
    """What moves as frames change, by a handler of somebody, no curve tells."""
    ob = make_leg(mode=mode)
    chain = make_chain(ob)
    if feature == "keyed":
        key_setting(ob, "influence", 1.0, 0.3)
        key_setting(ob, "bend", 1.0, -1.0)
    else:
        FEATURES[feature](ob, chain)
    make_portable(ob)
    chain.target.animation_data_clear()
    with handled(circling(chain.target)):
        wanted = motion(ob)
        sample = sampled_by_arrays(ob)
        report = bake_scene()
        assert report.chains[0].way == "stepped"
        assert_same(motion(ob), wanted, SAME * LENGTH)
    assert (report.chains[0].reach == sample.reach).all()
    assert_same(report.chains[0].gap, sample.gap, SAME * LENGTH)


SIZES = {"even": (0.6, 0.6, 0.6), "mirrored": (-0.7, 0.7, 0.7), "uneven": (0.9, 0.6, 0.7)}
INHERITED = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")


@pytest.mark.parametrize(
    ("inherited", "size"),
    [pair for pair in product(INHERITED, SIZES) if pair != ("ALIGNED", "uneven")],  # which no limb can be posed with
)
@pytest.mark.parametrize("mode", ["QUATERNION", "YXZ", "AXIS_ANGLE"])
def test_whole_bones_are_as_they_were_after_a_stepped_bake(addon, mode, inherited, size):
    """Turned, scaled and stretched, whatever they take over from their parents."""
    ob = make_leg(mode=mode)
    chain = make_chain(ob, stretch=1.0, stretch_volume="UNIFORM")
    key_hip(ob)
    hip, thigh, shin = (ob.pose.bones[name] for name in ("hip", "thigh", "shin"))
    hip.scale, thigh.scale, shin.scale = SIZES[size], (1.1, 1.1, 1.1), (0.9, 1.0, 0.9)
    thigh.bone.inherit_scale = inherited
    make_portable(ob)
    chain.target.animation_data_clear()
    with handled(circling(chain.target)):
        wanted = poses(ob)
        sample = bake_scene().chains[0]
        assert (sample.way, sample.is_stretched) == ("stepped", True)
        assert np.abs(poses(ob) - wanted).max() <= SAME * LENGTH


def poses(ob: Any) -> np.ndarray:
    """The limb's bones in the armature on every frame."""
    found = []
    for frame in FRAMES.astype(int).tolist():
        bpy.context.scene.frame_set(frame)
        bones = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        found.append([[row[:] for row in bones[name].matrix] for name in ("thigh", "shin")])
    return np.array(found)


KEPT_OFF = {
    **FEATURES,
    "limit": lambda ob, chain: setattr(chain, "min_angle", 1.5),
    "hinge angle": lambda ob, chain: setattr(chain, "hinge_angle", 0.4),
    "keyed plane": lambda ob, chain: key_setting(ob, "plane", "REST", "SWING"),
    "keyed influence": lambda ob, chain: key_setting(ob, "influence", 1.0, 0.3),
    "scaled parent": lambda ob, chain: setattr(ob.pose.bones["hip"], "scale", (1.5, 1.5, 1.5)),
    "placed thigh": lambda ob, chain: setattr(ob.pose.bones["thigh"], "location", (0.2, 0.1, 0.3)),
    "scaled object": lambda ob, chain: setattr(ob, "scale", (2.0, 1.0, 0.5)),
}


@pytest.mark.parametrize(
    "feature",
    [
        "plain", "swung plane", "pole", "softness", "no inherited rotation", "moving parent", "limit",
        "hinge angle", "keyed plane", "keyed influence", "scaled parent", "placed thigh", "scaled object",
    ],
)  # fmt: skip
def test_a_stepped_bake_says_of_each_frame_what_the_panel_says_there(addon, feature):
    """The target goes off the plane, and too far."""
    ob = make_leg()
    chain = make_chain(ob)
    KEPT_OFF[feature](ob, chain)
    make_portable(ob)
    chain.target.animation_data_clear()
    shin, wanted = ob.pose.bones["shin"].planar_ik, []
    with handled(roaming(chain.target)):
        for frame in FRAMES.astype(int).tolist():
            bpy.context.scene.frame_set(frame)
            wanted.append(shin.reach)
        sample = bake_scene().chains[0]
    assert sample.way == "stepped"
    reached = installed.addon("addon.solver").Reach
    assert [reached(number).name for number in sample.reach] == wanted
    assert len(set(wanted)) > 1


def roaming(target: Any) -> Callable[..., None]:
    """A handler that takes a target off the plane in every third frame, and ever farther."""
    name = target.name

    def move(scene: Any, *_args: Any) -> None:
        frame = scene.frame_current
        bpy.data.objects[name].location = (3.0 if frame % 3 == 0 else 0.0, 0.2, -0.5 - frame / 8)

    return move


@pytest.mark.parametrize("influence", [1.0, 0.6])
@pytest.mark.parametrize("muted", [("thigh", "shin"), ("thigh",), ("shin",)])
@pytest.mark.parametrize("motion", ["within reach", "too far"])
def test_a_stepped_bake_says_of_a_broken_limb_on_the_rig_what_the_panel_says(addon, motion, muted, influence):
    ob = make_leg()
    chain = make_chain(ob)
    chain.influence = influence
    make_portable(ob)
    chain.target.animation_data_clear()
    for bone in muted:
        for constraint in ob.pose.bones[bone].constraints:
            constraint.mute = True
    away = circling(chain.target) if motion == "within reach" else receding(chain.target)
    with handled(away):
        bpy.context.scene.frame_set(1)
        message = ob.pose.bones["shin"].planar_ik.message
        assert "muted" in message
        with pytest.raises(installed.addon("addon.bake").Refused) as refused:
            bake_scene()
    assert refused.value.args[0] == message


def receding(target: Any) -> Callable[..., None]:
    """A handler that takes a target ever farther out of reach."""
    name = target.name

    def move(scene: Any, *_args: Any) -> None:
        bpy.data.objects[name].location = (0.0, 0.3, -3.0 - scene.frame_current / 8)

    return move


def sampled_by_arrays(ob: Any) -> Any:
    """The same with a target that is keyed as the handler moves it."""
    target = ob.pose.bones["shin"].planar_ik.target
    for frame in FRAMES.astype(int).tolist():
        bpy.context.scene.frame_set(frame)
        circling(target)(bpy.context.scene)
        target.keyframe_insert("location", frame=frame)
    ways = installed.addon("addon.bake.ways")
    lowers = [ob.pose.bones["shin"]]
    found = installed.addon("addon.bake").finish(ways.by_arrays(bpy.context, lowers, FRAMES))[0]
    target.animation_data_clear()
    return found.sample


@pytest.mark.parametrize("is_stepped", [False, True])
def test_one_that_a_constraint_moves_besides_is_refused(addon, is_stepped):
    ob = make_leg()
    chain = make_chain(ob)
    make_portable(ob)
    limit = ob.pose.bones["shin"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.owner_space = True, "LOCAL"
    limit.driver_add("influence").driver.expression = "frame > 20"
    with handled(circling(chain.target)) if is_stepped else nullcontext():
        refused = installed.addon("addon.bake").Refused
        with pytest.raises(refused, match="'Limit Rotation' moves 'shin' after the chain: mute or remove it"):
            bake_scene()
    bpy.context.view_layer.update()
    assert ob.pose.bones["shin"].planar_ik.enabled


def test_switching_them_off_leaves_the_scene_and_their_mechanisms_alone(addon):
    """Setting each would have all of the scene evaluated, and its mechanism looked at."""
    ob = make_leg()
    make_chain(ob)
    make_portable(ob)
    wanted = motion(ob)
    bones, updates = len(ob.data.bones), []

    def note(*_args: object) -> None:
        updates.append(1)

    baking = installed.addon("addon.bake")
    request = baking.Request(baking.chains_of_scene(bpy.context), FRAMES)
    bpy.app.handlers.depsgraph_update_post.append(note)
    try:
        baking.finish(baking.bake(bpy.context, request))
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(note)
    assert not updates
    shin = ob.pose.bones["shin"]
    assert all(each.mute for bone in (shin, shin.parent) for each in bone.constraints)
    ob.animation_data.action = None
    shin.planar_ik.enabled = True
    assert len(ob.data.bones) == bones
    assert_same(motion(ob), wanted, SAME * LENGTH)


@pytest.mark.parametrize("tolerance", [0.0, 0.01])
@pytest.mark.parametrize("is_overridden", [False, True])
def test_a_chain_on_the_rig_that_is_keyed_on_and_off_is_baked_and_stays_off(addon, is_overridden, tolerance, tmp_path):
    ob = make_leg()
    if is_overridden:
        bpy.data.libraries.write(str(tmp_path / "rig.blend"), {ob})
        ob = override_of(tmp_path / "rig.blend", ob.name)
    make_chain(ob)
    key_setting(ob, "enabled", False, True, False)
    make_portable(ob)
    bpy.context.scene.frame_set(1)
    shin = ob.pose.bones["shin"]
    assert not shin.planar_ik.enabled
    wanted = motion(ob)
    report = bake_scene(tolerance=tolerance)
    assert report.chains
    assert not report.skipped
    assert_same(motion(ob), wanted, tolerance + SAME * LENGTH)
    for frame in (1, 11, 20):
        bpy.context.scene.frame_set(frame)
        assert not shin.planar_ik.enabled


def test_a_chain_on_the_rig_that_a_driver_switches_is_refused(addon):
    ob = make_leg()
    make_chain(ob)
    ob.driver_add('pose.bones["shin"].planar_ik_enabled').driver.expression = "1"
    make_portable(ob)
    refused = installed.addon("addon.bake").Refused
    with pytest.raises(refused, match="would switch the chain of 'shin' on again"):
        bake_scene()


@pytest.mark.parametrize("volume", ["LENGTH", "VOLUME"])
def test_a_limb_that_stretched_stays_where_it_is_baked_when_it_is_removed(addon, volume):
    """Its lower bone inherits scale in another way while it runs on the rig, by which its keys are right."""
    ob = make_leg()
    make_chain(ob, stretch=1.0, stretch_volume=volume, softness=0.2)
    make_portable(ob)
    assert ob.data.bones["shin"].inherit_scale == "ALIGNED"
    wanted = whole_bones(ob)
    bake_scene()
    select(ob, "shin")
    bpy.ops.pose.planar_ik_remove()
    assert_same(whole_bones(ob), wanted, SAME * LENGTH)


def whole_bones(ob: Any) -> np.ndarray:
    """The matrices of thigh and shin on every frame."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame))
        bones = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        found.append([bones[name].matrix.copy() for name in ("thigh", "shin")])
    return np.array(found)
