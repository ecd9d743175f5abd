"""Fewer keys: within the tolerance as Blender plays them, and nothing left behind of the keys on trial."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler

from scripts import installed
from tests.blender import rigs
from tests.blender.bake_rigs import (
    FEATURES,
    FRAMES,
    add_pole,
    assert_same,
    bake_scene,
    joints,
    key_hip,
    key_setting,
    make_chain,
    make_leg,
    motion,
)
from tests.blender.rigs import HIP, MODES, SHIN, THIGH, Bone, curves, make_empty, make_rig


@pytest.mark.parametrize("mode", MODES)
def test_reduced_keys_stay_within_the_tolerance(addon, mode):
    ob = make_leg(mode=mode)
    make_chain(ob, stretch=0.5)
    key_hip(ob)
    frames = np.arange(1.0, 25.0, 0.25)
    wanted = motion(ob, frames)
    report = bake_scene(frames, tolerance=0.01)
    assert report.keys < len(frames) / 2
    got = motion(ob, frames)
    assert np.linalg.norm(got - wanted, axis=-1).max() == pytest.approx(report.error, abs=1e-5)
    assert report.error <= 0.01


def test_a_bake_cancelled_while_keys_are_measured_leaves_everything(addon):
    baking = installed.addon("addon.bake")
    ob = make_leg()
    ob.pose.bones["thigh"].rotation_quaternion = Euler((0.3, 0.2, 0.1)).to_quaternion()
    chain = make_chain(ob)
    key_hip(ob)
    ob.constraints.new("LIMIT_LOCATION")  # so that keys are played to be measured
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


@pytest.mark.parametrize("feature", FEATURES)
def test_every_feature_stays_within_the_tolerance(addon, feature):
    ob = make_leg(mode="YZX")
    FEATURES[feature](ob, make_chain(ob))
    frames = np.arange(1.0, 25.0, 0.5)
    wanted = motion(ob, frames)
    report = bake_scene(frames, tolerance=0.02)
    assert report.keys < len(frames)
    worst = np.linalg.norm(motion(ob, frames) - wanted, axis=-1).max()
    assert worst == pytest.approx(report.error, abs=1e-5)
    assert worst <= 0.02


def test_errors_that_add_up_along_a_rig_are_within_the_tolerance_too(addon):
    """Each chain's root goes astray with the chain that carries it, which takes more keys than each chain alone."""
    foot = Bone("foot", SHIN.tail, (0.1, -0.7, -1.9), "shin", connected=True)
    toe = Bone("toe", foot.tail, (0.1, -1.2, -2.2), "foot", connected=True)
    ob = make_rig((HIP, THIGH, SHIN, foot, toe))
    make_chain(ob)
    make_chain(ob, "toe")
    frames = np.arange(1.0, 25.0, 0.25)
    wanted = motion(ob, frames), motion(ob, frames, "toe")
    report = bake_scene(frames, tolerance=0.01)
    assert report.keys < len(frames)
    assert report.error <= 0.01
    assert_same(motion(ob, frames), wanted[0], 0.01)
    assert_same(motion(ob, frames, "toe"), wanted[1], 0.01)


def cancel_on_trial() -> None:
    """Begin a bake, and close it while it measures keys, which it plays because of a constraint."""
    baking = installed.addon("addon.bake")
    bpy.data.objects["leg"].constraints.new("LIMIT_LOCATION")
    request = baking.Request(baking.chains_of_scene(bpy.context), FRAMES, tolerance=0.01)
    steps = baking.bake(bpy.context, request)
    while next(steps) <= 0.7:
        pass
    steps.close()


def test_a_rig_without_animation_has_none_after_a_trial(addon):
    ob = make_leg()
    make_chain(ob)
    cancel_on_trial()
    assert ob.animation_data is None
    assert len(bpy.data.actions) == 1


@pytest.mark.parametrize("has_fake_user", [False, True])
@pytest.mark.parametrize("has_slot", [False, True])
def test_an_action_is_as_it_was_after_a_trial(addon, has_fake_user, has_slot):
    ob = make_leg()
    make_chain(ob)
    key_hip(ob)
    data: Any = ob.animation_data
    data.action.use_fake_user = has_fake_user
    if hasattr(data, "action_slot") and not has_slot:
        data.action_slot = None
    before = data.action, data.action.users, getattr(data, "action_slot", None)
    cancel_on_trial()
    assert (data.action, data.action.users, getattr(data, "action_slot", None)) == before
    assert data.action.use_fake_user == has_fake_user


def test_chains_that_are_off_in_some_frames_are_as_they_were_after_a_trial(addon):
    ob = make_leg()
    chain = make_chain(ob)
    key_setting(ob, "enabled", True, False)
    bpy.context.scene.frame_set(15)
    before = joints(ob)
    cancel_on_trial()
    assert not chain.enabled
    assert_same(joints(ob), before)


def make_large(ob: Any) -> None:
    """Ten times, with the target."""
    giant = make_empty("giant")
    giant.scale = (10.0, 10.0, 10.0)
    ob.parent = bpy.data.objects["target"].parent = giant


def stop_inheriting(ob: Any) -> None:
    ob.data.bones["shin"].inherit_scale = "NONE"


@pytest.mark.parametrize(("change", "tolerance"), [(make_large, 0.1), (stop_inheriting, 0.01)])
def test_as_few_keys_do_for_the_same_motion(addon, change, tolerance):
    """The errors are foreseen as they will be, so that no second attempt is needed."""
    frames = np.arange(1.0, 25.0, 0.25)
    counts = []
    for changes, allowed in ((lambda ob: None, 0.01), (change, tolerance)):
        bpy.data.batch_remove([*bpy.data.objects, *bpy.data.actions])
        ob = make_leg()
        make_chain(ob, stretch=1.0)
        changes(ob)
        bpy.context.view_layer.update()
        counts.append(bake_scene(frames, tolerance=allowed).keys)
    assert counts[0] == pytest.approx(counts[1], abs=1)


def test_the_error_is_that_of_the_keys_as_they_play(addon):
    """Not of the solution that they leave out frames of."""
    ob = make_leg()
    chain = make_chain(ob)
    add_pole(chain)  # in whose plane the target is always
    frames = np.arange(12.0, 19.0, 0.25)
    report = bake_scene(frames, tolerance=0.05)
    gaps = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        gaps.append(np.linalg.norm(joints(ob)[2] - np.array(chain.target.matrix_world.translation)))
    assert report.chains[0].worst_residual() < 1e-6
    assert max(gaps) > 1e-3
    assert report.residual == pytest.approx(max(gaps), abs=2e-6)


def test_the_scene_is_not_stepped_to_measure_keys_that_curves_tell(addon, monkeypatch):
    stepped = installed.addon("addon.bake.ways.stepping")
    legs = [make_leg("one"), make_leg("two")]
    for ob in legs:
        make_chain(ob, stretch=1.0)
        key_hip(ob)
    wanted = [motion(ob, FRAMES) for ob in legs]
    monkeypatch.setattr(stepped, "set_frame", None)
    report = bake_scene(tolerance=1e-3)
    gaps = [np.linalg.norm(motion(ob, FRAMES) - place, axis=-1).max() for ob, place in zip(legs, wanted, strict=True)]
    assert report.error == pytest.approx(max(gaps), abs=2e-6)
    assert report.keys < 48


def test_a_limb_in_a_plane_gets_no_curves_for_what_does_not_change(addon):
    flat = [Bone(bone.name, (0.0, *bone.head[1:]), (0.0, *bone.tail[1:]), bone.parent) for bone in (THIGH, SHIN)]
    ob = make_rig((flat[0]._replace(parent=""), flat[1]))
    for bone in ob.pose.bones:
        bone.rotation_mode = "XYZ"
    make_chain(ob)
    bake_scene(tolerance=0.01)
    assert len(curves(ob)) == 2
    assert {(path.split('"')[1], index) for path, index in curves(ob)} == {("thigh", 0), ("shin", 0)}


def test_only_the_chain_that_misses_gets_more_keys(addon, monkeypatch):
    """Here the first attempt's keys of one are made too few."""
    job = installed.addon("addon.bake.job")
    real = job.reduced
    legs = [make_leg("one"), make_leg("two")]
    for ob in legs:
        make_chain(ob)
    tried = []

    def reduced(chain: Any, times: Any, tolerance: float) -> Any:
        tried.append((chain.object.name, tolerance))
        return real(chain, times, 0.5 if tried.count(("one", 0.01)) == 1 and len(tried) == 1 else tolerance)

    monkeypatch.setattr(job, "reduced", reduced)
    report = bake_scene(np.arange(1.0, 25.0, 0.25), tolerance=0.01, chains=[ob.pose.bones["shin"] for ob in legs])
    assert tried == [("one", 0.01), ("two", 0.01), ("one", 0.005)]
    assert report.error <= 0.01


def test_a_chain_that_always_misses_costs_no_other_its_few_keys(addon, monkeypatch):
    """Here its keys are made too few whenever any are left out."""
    job = installed.addon("addon.bake.job")
    real = job.reduced
    legs = [make_leg("one"), make_leg("two")]
    for ob in legs:
        make_chain(ob)

    def reduced(chain: Any, times: Any, tolerance: float) -> Any:
        return real(chain, times, 0.5 if chain.object.name == "one" else tolerance)

    monkeypatch.setattr(job, "reduced", reduced)
    report = bake_scene(np.arange(1.0, 25.0, 0.25), tolerance=0.01, chains=[ob.pose.bones["shin"] for ob in legs])
    one, two = report.played
    assert report.error <= 0.01
    assert (one.keys, two.keys < 48) == (96, True)


def test_a_chain_that_misses_with_all_keys_costs_no_other_its_few_keys(addon):
    """Here the rounding of keys puts a large limb farther off than the tolerance; the other stands still."""
    large, still = make_leg("large"), make_leg("still")
    large.scale = (1e3,) * 3
    make_chain(large)
    rigs.make_chain(still)
    chains = [ob.pose.bones["shin"] for ob in (large, still)]
    report = bake_scene(np.arange(1.0, 25.0, 0.25), tolerance=1e-6, chains=chains)
    missing, other = report.played
    assert (missing.keys, missing.error > 1e-6) == (96, True)
    assert (other.keys, other.error <= 1e-6) == (2, True)


def test_a_spline_pays_for_two_samples_with_a_key():
    """However rough they are: it has a value and a slope at each."""
    fitting = installed.addon("addon.bake.fitting")
    rough = np.random.default_rng(7).normal(size=(101, 3))
    samples = fitting.Samples(np.arange(101.0), rough)
    assert np.abs(samples.along(samples.fit(np.arange(0, 101, 2))) - rough).max() < 0.02
    cubic = np.linspace(-1.0, 1.0, 64)[:, None] ** np.arange(4)
    assert np.abs(fitting.Samples(np.arange(64.0), cubic).fit(np.array([0, 63])).values - cubic[[0, 63]]).max() < 1e-3


def test_every_second_sample_of_a_rough_motion_is_spared_where_it_can_be(addon):
    """However the search comes to its keys."""
    reduction, fitting = (installed.addon(f"addon.bake.{name}") for name in ("reduction", "fitting"))
    rough = np.random.default_rng(7).normal(size=(101, 3))
    samples = fitting.Samples(np.arange(101.0), rough)

    def errors(guessed: np.ndarray) -> np.ndarray:
        return np.abs(guessed - rough).max(axis=1)

    every_second = errors(samples.along(samples.fit(np.arange(0, 101, 2)))).max()
    assert len(reduction.Search(samples, errors, 1.01 * every_second).fewest(101).keys) <= 51
