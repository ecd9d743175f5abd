"""Keys: what was outside of the written frames, and what was before a change, stays to the frame."""

import bpy
import numpy as np
import pytest

from tests.blender.rigs import empty, stack


@pytest.fixture
def fcurves(addon):
    return addon("blender.fcurves")


@pytest.fixture
def curve(addon):
    animation = addon("blender.animation")
    return animation.new_curve(animation.curve_holder(empty("A")), "location")


def sampled(curve, frames):
    return np.array([curve.evaluate(frame) for frame in frames])


@pytest.mark.parametrize(("interpolation", "step"), [("LINEAR", 5), ("CONSTANT", 5), ("LINEAR", 0.25)])
def test_written_keys_have_the_values_and_others_stay(fcurves, curve, interpolation, step):
    for frame in (-20, -10, *np.arange(0.0, 20.0, step), 30, 40):
        curve.keyframe_points.insert(frame, np.sin(frame) * 3.0)
    outside = np.array([*np.arange(-30.0, -10.0, 0.5), *np.arange(30.5, 45.0, 0.5)])
    before = sampled(curve, outside)
    frames = np.arange(-5.0, 26.0)
    fcurves.write_keys(curve, frames, np.cos(frames), interpolation)
    got_frames, got = fcurves.read_keys(curve)
    assert np.array_equal(got_frames, [-20, -10, *frames, 30, 40])
    assert np.allclose(got[2:-2], np.cos(frames), atol=1e-6)
    assert np.abs(sampled(curve, outside) - before).max() < 1e-4
    half = (np.cos(frames[:-1]) + np.cos(frames[1:])) / 2.0 if interpolation == "LINEAR" else np.cos(frames[:-1])
    assert np.allclose(sampled(curve, frames[:-1] + 0.5), half, atol=1e-5)


def test_slopes_make_a_curve_of_few_keys(fcurves, curve):
    frames = np.arange(0.0, 41.0, 8.0)
    fcurves.write_keys(curve, frames, np.sin(frames / 10.0), "BEZIER", slopes=np.cos(frames / 10.0) / 10.0)
    between = np.arange(0.0, 40.0)
    assert np.abs(sampled(curve, between) - np.sin(between / 10.0)).max() < 2e-3
    fcurves.write_keys(curve, frames[:1], np.array([3.0]), "BEZIER", slopes=np.zeros(1))
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
    fcurves.insert_hold_key(curve, frame)
    assert np.abs(sampled(curve, before) - was).max() < 1e-4
    assert np.abs(sampled(curve, held) - was[-1]).max() < 1e-4
    assert frame > 20 or curve.evaluate(20) == -2.0


@pytest.mark.parametrize("frame", [-5, 0, 4, 10, 14, 33, 50, 55])
@pytest.mark.parametrize("interpolation", ["BEZIER", "LINEAR", "CONSTANT", "SINE", "BOUNCE"])
@pytest.mark.parametrize("handles", ["AUTO", "AUTO_CLAMPED", "VECTOR", "ALIGNED", "FREE"])
def test_a_new_key_leaves_a_curve_as_it_is(fcurves, curve, interpolation, handles, frame):
    """Nothing moves as long as its value stays, and only up to the next key when that is changed."""
    for at, value in ((0, 1.0), (10, 4.0), (20, -2.0), (40, 3.0), (50, 5.0)):
        key = curve.keyframe_points.insert(at, value)
        key.interpolation, key.handle_left_type, key.handle_right_type = interpolation, handles, handles
    curve.update()
    frames = np.arange(-10, 60, 1 if interpolation in ("SINE", "BOUNCE") else 0.25)
    was = sampled(curve, frames)
    later = fcurves.insert_key_keeping_shape(curve, frame, "EXTREME")
    assert np.abs(sampled(curve, frames) - was).max() < 2e-5
    fcurves.insert_hold_key(curve, frame - 1, "EXTREME")
    key = next(each for each in curve.keyframe_points if each.co.x == frame)
    for place in (key.handle_left, key.co, key.handle_right):
        place[1] += 2.0
    fcurves.fade(curve, frame, later, 2.0)
    end = min((at for at in (0, 10, 20, 40, 50) if at > frame), default=100)
    now = sampled(curve, frames)
    kept = (frames <= frame - 1) | (frames >= end)
    assert np.abs(now - was)[kept].max() < 2e-5
    added = (now - was)[(frames >= frame) & (frames < end)]
    assert added[0] == pytest.approx(2.0, abs=1e-5)
    if end < 100 and interpolation != "CONSTANT" and not (interpolation == "BOUNCE" and frame % 10 == 0):
        assert np.all(np.diff(added) <= 1e-5)
        assert added[-1] < 0.5
    assert {each.type for each in curve.keyframe_points if each.co.x % 10} <= {"EXTREME"}


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
    assert addon("blender.keying").is_autokey_on(bpy.context) is wanted
    addon("blender.keying").key_automatically(bpy.context, ob, ["location"])
    curves = addon("blender.animation").curves_of(ob)
    assert sorted(curve.array_index for curve in curves if curve.evaluate(1) == 3.0) == keyed


@pytest.mark.parametrize("is_4d", [False, True])
def test_automatic_keys_leave_out_what_is_locked(addon, monkeypatch, is_4d):
    bone, settings = stack("A").pose.bones["A"], bpy.context.scene.tool_settings
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", False)
    settings.use_keyframe_insert_auto, settings.keyframe_type = True, "JITTER"
    bone.lock_location, bone.lock_rotation, bone.lock_scale = (True, False, True), (True, True, True), (False,) * 3
    bone.lock_rotations_4d, bone.lock_rotation_w = is_4d, False
    paths = [f'pose.bones["A"].{name}' for name in ("location", "rotation_quaternion", "scale")]
    addon("blender.keying").key_automatically(bpy.context, bone.id_data, paths)
    found = addon("blender.animation").curves_of(bone.id_data)
    made = [(curve.data_path.rpartition(".")[2], curve.array_index) for curve in found]
    assert sorted(made) == [("location", 1), *[("rotation_quaternion", 0)] * is_4d, *[("scale", i) for i in range(3)]]
    assert {key.type for curve in found for key in curve.keyframe_points} == {"JITTER"}


@pytest.mark.parametrize("entire", [False, True])
def test_automatic_keys_keep_to_the_keying_set(addon, entire):
    ob, scene = empty("A"), bpy.context.scene
    listed = scene.keying_sets.new(idname="MINE", name="Mine")
    path = listed.paths.add(ob, "location", index=-1 if entire else 1, group_method="NAMED", group_name="Places")
    assert path.use_entire_array is entire
    scene.keying_sets.active = listed
    scene.tool_settings.use_keyframe_insert_auto = scene.tool_settings.use_keyframe_insert_keyingset = True
    addon("blender.keying").key_automatically(bpy.context, ob, ["location", "scale"], "Others")
    found = addon("blender.animation").curves_of(ob)
    made = [(curve.data_path, curve.array_index, curve.group.name) for curve in found]
    assert made == [("location", i, "Places") for i in (range(3) if entire else [1])]


def shown(ob, frames):
    """Where an object is on X as frames are played."""
    scene, now, found = bpy.context.scene, bpy.context.scene.frame_current, []
    for frame in frames:
        scene.frame_set(int(frame // 1), subframe=frame % 1)
        found.append(ob.location.x)
    scene.frame_set(now)
    return np.array(found)


@pytest.mark.parametrize("how", ["", "CYCLES", "NOISE", "LINEAR", "CUTS", "SLOT", "STRIP"])
@pytest.mark.parametrize("times", [(20, 26), (5, 9), (12, 16)])
def test_frames_beside_those_written_stay(addon, curve, how, times):
    """Whatever makes a curve go on beyond its keys; halfway to the next frame, too. Another slot stays as it is, and
    where a frame past the scene's is shown, so does that. Keys stand above strips, and say what these said beside."""
    scene, ob = bpy.context.scene, bpy.data.objects["A"]
    scene.frame_start, scene.frame_end = 1, 40
    for frame, value in ((1, 0.0), (6.998, 2.0), (13, -1.0)):
        curve.keyframe_points.insert(frame, value).interpolation = "CONSTANT" if how == "CUTS" else "BEZIER"
    curve.extrapolation = "LINEAR" if how == "LINEAR" else "CONSTANT"
    if how in ("CYCLES", "NOISE", "STRIP"):
        if how != "STRIP":
            curve.modifiers.new(how)
        scene.frame_set(43)
    if how == "SLOT":
        other, animation = empty("B"), addon("blender.animation")
        other.animation_data_create().action = ob.animation_data.action
        other.animation_data.action_slot = other.animation_data.action.slots.new("OBJECT", "B")
        for frame in (1, 30):
            other.location.x = frame
            other.keyframe_insert("location", frame=frame)
        (of_other, *_), every = animation.curves_of(other), np.arange(1.0, 31.0)
        was_other = sampled(of_other, every)
    outside = [frame for frame in np.arange(1.0, 40.5, 0.5) if not times[0] <= frame < times[1]]
    outside = [43.0, *outside] if how in ("CYCLES", "NOISE", "STRIP") else outside
    whole, data = [frame for frame in outside if frame % 1.0 == 0.0], ob.animation_data
    if how == "STRIP":
        strip = data.nla_tracks.new().strips.new("walk", 3, data.action)
        strip.action_slot, strip.repeat, strip.scale, data.action = data.action_slot, 2.0, 1.5, None
    was, was_whole = sampled(curve, outside), shown(ob, whole)
    written = np.arange(*times)
    values = np.tile(shown(ob, written)[:, None], (1, 3))
    values[1:-1] += 1.0
    channel, passing = addon("motion.reading").Channel(ob, "location", ""), addon("motion.passing")
    said = addon("blender.stepping").finished(passing.said_by_strips(bpy.context, [channel], written.tolist()))
    writer = addon("blender.action_writer").ActionWriter(bpy.context, ob, said=said.get(ob))
    writer.write("location", written, values, kept=(1, 40))
    curve = next(each for each in addon("blender.animation").curves_of(ob) if each.array_index == 0)
    assert np.allclose(sampled(curve, written), values[:, 0], atol=1e-5)
    assert np.abs(shown(ob, whole) - was_whole).max() < 1e-4
    if how == "SLOT":
        assert np.array_equal(sampled(of_other, every), was_other)
    if how not in ("CYCLES", "NOISE", "STRIP"):  # of these, whole frames are kept
        assert np.abs(sampled(curve, outside)[:-1] - was[:-1]).max() < 1e-4
