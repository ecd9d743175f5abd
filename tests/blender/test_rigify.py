"""Rigify's basic human from its metarig to a shot: converted, animated by its own controls, reopened without us, baked,
and given back."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender import legs, rigs

pytestmark = [pytest.mark.dear, pytest.mark.xdist_group("rigify")]  # so that one process generates its rigs

FRAMES = (1, 4, 7, 10)


@pytest.fixture
def human(generated):
    return generated("basic_human")


def animate(ob):
    """Feet and hands go about, and each limb from IK to FK by the rig's own slider."""
    for each in (each for bone in ob.pose.bones for each in bone.constraints if each.type == "IK"):
        each.use_stretch = False  # with which Blender changes the bones' lengths also within reach
    for side in ".L", ".R":
        for control, parent in (("foot_ik", "thigh_parent"), ("hand_ik", "upper_arm_parent")):
            bone, slider = ob.pose.bones[control + side], ob.pose.bones[parent + side]
            for frame, place, fk in ((1, (0, 0, 0), 0.0), (7, (0.05, -0.1, 0.12), 0.0), (10, (0, 0.1, 0.1), 1.0)):
                bone.location, slider["IK_FK"] = place, fk
                bone.keyframe_insert("location", frame=frame)
                slider.keyframe_insert('["IK_FK"]', frame=frame)
    torso = ob.pose.bones["torso"]
    for frame, height in ((1, 0.0), (7, -0.06)):
        torso.location.z = height
        torso.keyframe_insert("location", frame=frame)


def over_frames(ob):
    return legs.seen(ob, [bone.name for bone in ob.data.bones if bone.use_deform], FRAMES)


def test_the_controls_of_hands_and_feet_mean_their_limbs(addon, human):
    convertible, offered = addon("tasks.selection").convertible, addon("finding.choosing").limbs_offered
    found = {bone.name for bone in human.pose.bones if convertible([bone])}
    assert found >= {f"{name}_ik.{side}" for name in ("foot", "hand") for side in "LR"}
    assert not found & {"root", "torso", "chest", "head", "thigh_fk.L", "shin_fk.L", "spine_fk"}
    rigs.activate(human)
    own = addon("ui.operators.adding").rigify_ik
    for bone in human.pose.bones:
        rigs.select(bone)
    assert offered(bpy.context) == ([], None)
    rigs.click(human, "spine_fk")
    assert own(bpy.context) == "ALL"
    rigs.click(human, "foot_ik.L")
    assert own(bpy.context) == "SELECTED"
    bpy.ops.pose.planar_ik_convert()
    (last,) = addon("limb.storage").limbs_of(human)
    assert (last.name, last.planar_ik.reach) == ("MCH-shin_ik.L", "REACHED")
    assert addon("ui.finding").active_limb(bpy.context) == last


AROUND = ("thigh_fk", "shin_fk", "foot_fk", "toe_fk", "toe_ik", "foot_heel_ik", "foot_spin_ik", "thigh_parent")
TWEAKS = ("thigh_tweak", "shin_tweak", "foot_tweak")


def test_all_bones_of_a_limb_show_it(addon, human):
    """In FK as well, and the line says so; the limb is called as on other rigs, and FK Bones are the rig's own."""
    rigs.activate(human)
    bpy.ops.pose.planar_ik_convert(which="ALL")
    selection, titles, state = addon("tasks.selection"), addon("ui.state"), addon("ui.state")
    last = human.pose.bones["MCH-shin_ik.L"]
    for name in (*AROUND, *TWEAKS, "foot_ik"):
        assert selection.limbs_of_bones(bpy.context, [human.pose.bones[f"{name}.L"]]) == [last], name
    for name in ("torso", "chest", "root", "head", "shoulder.L"):
        assert not selection.limbs_of_bones(bpy.context, [human.pose.bones[name]]), name
    assert titles.title_of(last) == "Left Leg"
    rigs.click(human, "foot_ik.L")
    strokes_of, sliders = addon("ui.overlay").strokes_of, human.pose.bones["thigh_parent.L"]
    for pole, in_fk, strokes in ((False, 0.0, []), (True, 0.0, ["pole"]), (True, 1.0, [])):
        sliders["pole_vector"], sliders["IK_FK"] = pole, in_fk
        human.update_tag()
        bpy.context.view_layer.update()
        assert [stroke.role for stroke in strokes_of(bpy.context)] == strokes
    assert state.status_in(bpy.context, last).is_fk
    refs = addon("ui.operators.setting").selectable_refs(last, "LIMB")
    assert [name for _, name in refs] == ["thigh_fk.L", "shin_fk.L"]


@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
def test_a_shot(addon, human, mode, tmp_path):
    ob = human
    animate(ob)
    before = over_frames(ob)
    bpy.context.scene.frame_set(FRAMES[0])
    bpy.ops.pose.planar_ik_convert(which="ALL", mode=mode)
    lasts = addon("limb.storage").limbs_of(ob)
    assert len(lasts) == 4
    assert {last.planar_ik.mode for last in lasts} == {mode}
    now = over_frames(ob)
    assert np.abs(now - before)[:, :, :3, 3].max() < 3e-3
    bpy.context.scene.frame_set(7)
    assert {(last.planar_ik.reach, round(last.planar_ik.residual, 4)) for last in lasts} == {("REACHED", 0.0)}
    path, name = str(tmp_path / "shot.blend"), ob.name
    bpy.ops.wm.save_as_mainfile(filepath=path)
    if mode == "RIG":
        reopened_without(path, name, now)
    baked_and_back(addon, path, name, now, before)


def reopened_without(path, name, now):
    installed.disable()
    try:
        bpy.ops.wm.open_mainfile(filepath=path, use_scripts=False)
        assert np.abs(over_frames(bpy.data.objects[name]) - now).max() < 1e-5
    finally:
        installed.enable()


def baked_and_back(addon, path, name, now, before):
    bpy.ops.wm.open_mainfile(filepath=path)
    ob = bpy.data.objects[name]
    limbs = addon("limb.storage").limbs_of
    addon("tasks.baking").bake(bpy.context, addon("tasks.baking").BakeRequest(limbs(ob), range(1, 11)))
    assert np.abs(over_frames(ob) - now)[:, :, :3, 3].max() < 1e-4
    bpy.ops.wm.open_mainfile(filepath=path)
    ob = bpy.data.objects[name]
    rigs.activate(ob)
    rigs.click(ob, *(f"{name}_ik.{side}" for name in ("foot", "hand") for side in "LR"))  # what an animator can see
    bpy.ops.pose.planar_ik_unconvert()
    assert not limbs(ob)
    assert np.abs(over_frames(ob) - before).max() < 1e-5


@pytest.mark.parametrize("is_poled", [False, True])
def test_the_knee_by_the_rig_s_own_pole_or_by_hand(human, is_poled):
    """Whichever it has while it is converted; on both sides."""
    ob = human
    for each in (each for bone in ob.pose.bones for each in bone.constraints if each.type == "IK"):
        each.use_stretch = False
    for side in ".L", ".R":
        ob.pose.bones["foot_ik" + side].location = (0.03, -0.1, 0.15)
        ob.pose.bones["thigh_ik" + side].rotation_mode = "XYZ"
        ob.pose.bones["thigh_ik_target" + side].location = (0.3, 0.1, 0.0)

    def in_both_ways():
        found = []
        for turn, poled in ((0.0, False), (0.5, False), (-0.6, False), (0.5, True), (0.2, is_poled)):
            for side in ".L", ".R":
                ob.pose.bones["thigh_ik" + side].rotation_euler[1] = turn
                ob.pose.bones["thigh_parent" + side]["pole_vector"] = poled
            ob.update_tag()
            found.append(rigs.matrices(ob, ["DEF-shin.L", "DEF-foot.L", "DEF-shin.R", "DEF-foot.R"])[:, :3, 3])
        return np.array(found)

    before = in_both_ways()
    bpy.ops.pose.planar_ik_convert(which="ALL", mode="RIG")
    assert np.abs(before[1] - before[2]).max() > 0.03
    assert np.abs(in_both_ways() - before).max() < 3e-3
