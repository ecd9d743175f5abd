"""The bake operator: its ranges, its selection, its refusals."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.bake_rigs import assert_same, channel, joints, key_setting, make_chain, make_leg, motion
from tests.blender.rigs import curves, select


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


def test_the_scene_has_its_keys_at_once():
    """Though a bake by F-curves never evaluates it."""
    ob = make_leg()
    make_chain(ob)
    wanted = motion(ob)
    bpy.context.scene.frame_set(7)
    assert bpy.ops.pose.planar_ik_bake(chains="ALL", range="GIVEN", frame_start=1, frame_end=24) == {"FINISHED"}
    assert_same(joints(ob), wanted[6])


def test_a_selected_chain_that_is_off_in_this_frame_is_baked():
    ob = make_leg()
    make_chain(ob)
    key_setting(ob, "enabled", False, True)
    wanted = motion(ob, (5, 15))
    bpy.context.scene.frame_set(5)
    select(ob, "thigh")
    assert bpy.ops.pose.planar_ik_bake(range="GIVEN", frame_start=5, frame_end=15) == {"FINISHED"}
    assert_same(motion(ob, (5, 15)), wanted)


@pytest.mark.parametrize(
    ("end", "words"),
    [(1, "Baked 1 frame of 1 chain in "), (9, "Baked 9 frames of 1 chain in ")],
)
def test_the_operator_tells_what_it_did(end, words, capfd):
    make_chain(make_leg())
    bpy.ops.pose.planar_ik_bake(chains="ALL", range="GIVEN", frame_start=1, frame_end=end)
    assert f"Info: {words}" in capfd.readouterr().out


@pytest.mark.parametrize(("source", "count"), [("SCENE", 10), ("PREVIEW", 4), ("ACTION", 25)])
def test_the_operator_takes_its_range_from(source, count):
    ob = make_leg()
    make_chain(ob)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 11, 20
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 2, 5
    assert bpy.ops.pose.planar_ik_bake(range=source, chains="ALL") == {"FINISHED"}
    assert len(channel(ob, "shin", "rotation_quaternion")) == count


@pytest.mark.parametrize(("new", "ends"), [(100, (1, 26)), (200, (2, 51)), (50, (0, 13))])
def test_the_range_of_actions_is_in_whole_frames_as_the_scene_plays_them(new, ends):
    ob = make_leg()
    chain = make_chain(ob)
    for curve in curves(chain.target).values():
        for point in curve.keyframe_points:
            point.co.x += 0.3
    bpy.context.scene.render.frame_map_new = new
    assert bpy.ops.pose.planar_ik_bake(range="ACTION", chains="ALL") == {"FINISHED"}
    assert len(channel(ob, "shin", "rotation_quaternion")) == 1 + ends[1] - ends[0]
    wanted = (np.array(ends) * 100 / new).tolist()
    assert [*curves(ob)['pose.bones["shin"].rotation_quaternion', 0].range()] == wanted


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


def test_an_error_in_the_middle_of_a_bake_takes_its_timer_and_its_words_away(addon):
    """Asked of the operator's own function: without a window, no operator runs on."""

    def fail(_context):
        raise ReferenceError("StructRNA of type Object has been removed")

    left = []
    operator = SimpleNamespace(_go_on=fail, _leave=left.append)
    modal = installed.addon("addon.ui.operators.baking").POSE_OT_planar_ik_bake.modal
    with pytest.raises(ReferenceError):
        modal(operator, bpy.context, SimpleNamespace(type="TIMER", value="NOTHING"))
    assert left == [bpy.context]
