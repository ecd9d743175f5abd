"""What can't be baked is refused, before anything is changed."""

from __future__ import annotations

import bpy
import pytest

from tests.blender.legs import bake, curves, walker


def tweaked(addon, last):
    data = last.id_data.animation_data
    data.nla_tracks.new().strips.new("strip", 1, data.action)
    data.action = None
    data.nla_tracks[0].is_solo = False
    data.use_tweak_mode = True


def solo(addon, last):
    data = last.id_data.animation_data
    data.nla_tracks.new().strips.new("strip", 1, data.action)
    data.nla_tracks[0].is_solo = True


def mixed(addon, last):
    data = last.id_data.animation_data
    data.nla_tracks.new().strips.new("strip", 1, data.action.copy())
    data.action_blend_type = "ADD"


def driven_bone(addon, last):
    last.parent.driver_add("rotation_quaternion", 1)


def keyed_mode(addon, last):
    last.keyframe_insert("rotation_mode", frame=1)


def no_target(addon, last):
    last.planar_ik.target = None


def disabled(addon, last):
    last.id_data.hide_viewport = True


def other_constraint(addon, last):
    addon("tasks.modes").to_rig(bpy.context, [last])
    rig = bpy.data.objects["rig"]
    rig.pose.bones["thigh.L"].constraints.new("COPY_ROTATION").target = bpy.data.objects["to foot"]


SETUPS = [tweaked, solo, mixed, driven_bone, keyed_mode, no_target, disabled, other_constraint]


@pytest.mark.parametrize("setup", SETUPS)
def test_refused(addon, setup):
    ob = walker(addon).id_data
    setup(addon, ob.pose.bones["shin.L"])
    before = curves(addon, ob)
    with pytest.raises(addon("blender.types").Refused):
        bake(addon, ob.pose.bones["shin.L"])
    assert curves(addon, ob) == before
    assert len(bpy.data.scenes) == 1


def test_a_constraint_that_acts_again_where_the_limb_goes(addon):
    """Removing a limb leaves what is the rigger's own, which would move what was baked; a game gets no constraint."""
    ob = walker(addon).id_data
    other_constraint(addon, ob.pose.bones["shin.L"])
    with pytest.raises(addon("blender.types").Refused):
        bake(addon, ob.pose.bones["shin.L"], remove=True)
    bake(addon, ob.pose.bones["shin.L"], for_game=True)


def test_what_is_asked(addon):
    last = walker(addon)
    refused = addon("blender.types").Refused
    for frames in ((1, 0), (0, 1e7)):
        with pytest.raises(refused):
            addon("tasks.baking").frames_by_step(*frames)
    for options in ({"frames": []}, {"for_game": True, "tolerance": 0.1}):
        with pytest.raises(refused):
            bake(addon, last, **options)
    with pytest.raises(refused):
        bake(addon)


def test_a_limb_without_a_target_is_left_out(addon):
    last = walker(addon)
    other = last.id_data.pose.bones["shin.R"]
    other.planar_ik.enabled = True
    report = bake(addon, other, last)
    assert [limb.limb for limb in report.limbs] == ["shin.L"]
    assert len(report.warnings) == 1
