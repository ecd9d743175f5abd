"""Who is animated by what: what is taken away or moved of one object's animation leaves all others' as it was."""

import bpy
import numpy as np
import pytest

from tests.blender.rigs import drive, empty

PATHS = ["location", '["Slider"]']


@pytest.fixture
def animation(addon):
    return addon("blender.animation")


def keyed(ob, path="location", values=(1.0, 5.0)):
    """Key a property in the frames 1 and 11, to the same number in all places."""
    for frame, value in zip((1, 11), values, strict=True):
        ob.location, ob["Slider"] = (value,) * 3, value
        ob.keyframe_insert(path, frame=frame)


def share(ob, other, apart=False):
    """Let another object have the action of the first, by the same curves or by a slot of its own."""
    data = other.animation_data or other.animation_data_create()
    data.action = ob.animation_data.action
    data.action_slot = data.action.slots.new("OBJECT", other.name) if apart else ob.animation_data.action_slot
    if apart:
        keyed(other)


def push_down(ob):
    """Make a strip of an object's action."""
    data = ob.animation_data
    strip = data.nla_tracks.new().strips.new("strip", 1, data.action)
    strip.action_slot = data.action_slot
    data.action = None


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", ["alone", "fake user", "same curves", "other slot", "strip", "shared strip"])
def test_stop_takes_the_animation_of_one_object_only(animation, kind, path):
    ob, other = empty("A"), empty("B")
    keyed(ob), keyed(ob, '["Slider"]')
    drive(ob, "scale", other, "rotation_euler.x", 0)
    ob.animation_data.action.use_fake_user = kind == "fake user"
    has_other = kind in ("same curves", "shared strip", "other slot")
    if has_other:
        share(ob, other, kind == "other slot")
    if "strip" in kind:
        push_down(ob)
    animation.remove_animation(ob, [path, "scale"])
    assert animation.animated_paths(ob) == {*PATHS} - {path}
    assert not animation.drivers_of(ob)
    bpy.context.scene.frame_set(11)
    assert not has_other or tuple(other.location) == (5.0, 5.0, 5.0)


@pytest.mark.parametrize("kind", ["alone", "same curves", "strip"])
def test_moved_curves_and_drivers_act_on_the_other_property_in_place_of_its_own(animation, kind):
    ob, other = empty("A"), empty("B")
    ob["Old"] = 7.0
    ob.keyframe_insert('["Old"]', frame=1)
    keyed(ob, '["Slider"]', (2.0, 3.0))
    drive(ob, "location", other, "rotation_euler.x", 0)
    drive(ob, "scale", other, "rotation_euler.y", 0)
    if kind == "same curves":
        share(ob, other)
        other["Slider"] = 0.0
    if kind == "strip":
        push_down(ob)
    animation.move_curves(ob, '["Slider"]', '["Old"]')
    animation.move_curves(ob, "location", "scale")
    ob["Slider"], other.rotation_euler = 0.0, (0.5, 0.25, 0.0)
    bpy.context.scene.frame_set(11)
    assert (ob["Old"], ob["Slider"], ob.scale.x) == pytest.approx((3.0, 0.0, 0.5))
    assert kind != "same curves" or other["Slider"] == 3.0


@pytest.mark.parametrize("shared", [False, True])
def test_a_curve_is_made_in_an_action_of_its_own(animation, addon, shared):
    ob, other = empty("A"), empty("B")
    if shared:
        keyed(ob)
        share(ob, other)
    curve = animation.new_curve(animation.curve_holder(ob), "rotation_euler", 1, "Place")
    assert curve in animation.curves_of(ob)
    assert curve.group.name == "Place"
    addon("blender.fcurves").write_keys(curve, np.array([1, 11]), np.array([0.0, 2.0]))
    bpy.context.scene.frame_set(6)
    assert tuple(ob.rotation_euler) == (0.0, 1.0, 0.0)
    assert tuple(other.rotation_euler) == (0.0, 0.0, 0.0)
    assert (ob.location.x == other.location.x == 3.0) is shared


def test_values_are_read_and_set_by_paths(animation):
    ob = empty("A")
    ob['A "quoted" name'] = 1.5
    path = '["A \\"quoted\\" name"]'
    assert animation.value_at(ob, path) == 1.5
    animation.set_at(ob, path, 2.5)
    assert ob['A "quoted" name'] == 2.5
    assert animation.value_at(ob, "location") == (0.0, 0.0, 0.0)
    animation.set_at(ob, "rotation_mode", "ZXY")
    assert animation.value_at(ob, "rotation_mode") == "ZXY"
    assert animation.value_at(ob, "pose.bones") is animation.value_at(ob, '["none"]') is None
