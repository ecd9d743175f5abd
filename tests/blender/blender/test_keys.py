"""Keys: what was outside of the written frames, and what was before a change, stays to the frame."""

import bpy
import numpy as np
import pytest

from .rigging import empty


@pytest.fixture
def fcurves(addon):
    return addon("blender.fcurves")


@pytest.fixture
def curve(addon):
    return addon("blender.animation").fcurve(empty("A"), "location", 0, create=True)


def sampled(curve, frames):
    return np.array([curve.evaluate(frame) for frame in frames])


@pytest.mark.parametrize(("interpolation", "step"), [("LINEAR", 5), ("CONSTANT", 5), ("LINEAR", 0.25)])
def test_written_keys_have_the_values_and_others_stay(fcurves, curve, interpolation, step):
    for frame in (-20, -10, *np.arange(0.0, 20.0, step), 30, 40):
        curve.keyframe_points.insert(frame, np.sin(frame) * 3.0)
    outside = np.array([*np.arange(-30.0, -10.0, 0.5), *np.arange(30.5, 45.0, 0.5)])
    before = sampled(curve, outside)
    frames = np.arange(-5.0, 26.0)
    fcurves.write(curve, frames, np.cos(frames), interpolation)
    got_frames, got = fcurves.read(curve)
    assert np.array_equal(got_frames, [-20, -10, *frames, 30, 40])
    assert np.allclose(got[2:-2], np.cos(frames), atol=1e-6)
    assert np.abs(sampled(curve, outside) - before).max() < 1e-4
    half = (np.cos(frames[:-1]) + np.cos(frames[1:])) / 2.0 if interpolation == "LINEAR" else np.cos(frames[:-1])
    assert np.allclose(sampled(curve, frames[:-1] + 0.5), half, atol=1e-5)


def test_slopes_make_a_curve_of_few_keys(fcurves, curve):
    frames = np.arange(0.0, 41.0, 8.0)
    fcurves.write(curve, frames, np.sin(frames / 10.0), "BEZIER", slopes=np.cos(frames / 10.0) / 10.0)
    between = np.arange(0.0, 40.0)
    assert np.abs(sampled(curve, between) - np.sin(between / 10.0)).max() < 2e-3
    fcurves.write(curve, frames[:1], np.array([3.0]), "BEZIER", slopes=np.zeros(1))
    assert (curve.evaluate(0.0), len(curve.keyframe_points)) == (3.0, len(frames))
    fcurves.reset(curve)
    assert len(curve.keyframe_points) == 0


@pytest.mark.parametrize("frame", [-5, 0, 4, 10, 14, 25])
@pytest.mark.parametrize("interpolation", ["BEZIER", "LINEAR", "CONSTANT", "BOUNCE"])
def test_a_curve_holds_from_a_frame_and_is_before_as_it_was(fcurves, curve, interpolation, frame):
    for at, value in ((0, 1.0), (10, 4.0), (20, -2.0)):
        curve.keyframe_points.insert(at, value).interpolation = interpolation
    before = range(-10, frame + 1)
    was = sampled(curve, before)
    held = range(frame, min((at for at in (0, 10, 20) if at > frame), default=35))
    fcurves.hold_from(curve, frame)
    assert np.abs(sampled(curve, before) - was).max() < 1e-4
    assert np.abs(sampled(curve, held) - was[-1]).max() < 1e-4
    assert frame > 20 or curve.evaluate(20) == -2.0


@pytest.mark.parametrize("keys", [0, 1, 2])
def test_a_switch_keys_here_and_keeps_all_frames_before(addon, keys):
    ob, scene = empty("A"), bpy.context.scene
    ob.location = (2.0, 0.0, 0.0)
    for frame, value in [(1, 1.0), (20, 3.0)][:keys]:
        ob.location = (value, 0.0, 0.0)
        ob.keyframe_insert("location", index=0, frame=frame)

    def at(frame):
        scene.frame_set(frame)
        return tuple(ob.location)

    was = [at(frame) for frame in range(1, 11)]
    ob.location = (8.0, 9.0, 0.0)
    addon("blender.keying").key_from(bpy.context, ob, "location", was.pop(), group="Place")
    assert np.allclose([at(frame) for frame in range(1, 10)], was, atol=1e-5)
    assert at(10) == (8.0, 9.0, 0.0)


@pytest.mark.parametrize(
    ("wanted", "mode", "keyed"),
    [(False, "ADD_REPLACE_KEYS", []), (True, "ADD_REPLACE_KEYS", [0, 1, 2]), (True, "REPLACE_KEYS", [0])],
)
def test_keys_are_set_as_autokey_says(addon, monkeypatch, wanted, mode, keyed):
    ob, settings = empty("A"), bpy.context.scene.tool_settings
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", False)  # 5.2 begins with True
    ob.keyframe_insert("location", index=0, frame=1)
    ob.location = (3.0, 3.0, 3.0)
    settings.use_keyframe_insert_auto, settings.auto_keying_mode = wanted, mode
    assert addon("blender.keying").autokey(bpy.context) is wanted
    addon("blender.keying").key_automatically(bpy.context, ob, ["location"])
    curves = addon("blender.animation").curves_of(ob)
    assert sorted(curve.array_index for curve in curves if curve.evaluate(1) == 3.0) == keyed
