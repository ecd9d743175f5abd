"""Where people look: which chain a selection means, going to its parts, and switching FK and IK."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Euler, Vector

from scripts import installed
from tests.blender.rigs import (
    LEG,
    NEAR,
    NEXT,
    SHIN,
    Bone,
    activate,
    joints,
    make_chain,
    make_empty,
    make_rig,
    press,
    put,
    reopened,
    select,
    set_keys,
    update,
)

FOOT = Bone("foot", SHIN.tail, (0.1, 0.4, -2), "shin", connected=True)
CONTROL = Bone("foot_ik", NEAR, (0.2, 0.6, -1.2))


def ui(name):
    return installed.addon(f"addon.ui.{name}")


def meant():
    lower = ui("finding").chain_meant(bpy.context)
    return lower.name if lower else None


def leg(target_bone=False, **settings):
    ob = make_rig((*LEG, FOOT, CONTROL))
    if target_bone:
        make_chain(ob, ob, subtarget="foot_ik", **settings)
        return ob, None
    target = make_empty(location=NEAR)
    make_chain(ob, target, **settings)
    return ob, target


@pytest.mark.parametrize("bone", ["thigh", "shin", "foot", "foot_ik"])
def test_a_chain_is_meant_by_its_bones_by_its_control_and_by_the_bone_below(bone):
    ob, _ = leg(target_bone=True)
    select(ob, bone)
    assert meant() == "shin"
    assert bpy.ops.pose.planar_ik_flip() == {"FINISHED"}
    assert ob.pose.bones["shin"].planar_ik.bend == -1.0


def test_no_chain_is_meant_by_other_bones():
    ob, _ = leg()
    select(ob, "hip")
    assert meant() is None
    select(ob, "foot_ik")
    assert meant() is None


@pytest.mark.parametrize("name", ["target", "pole", "rig"])
def test_a_chain_is_meant_by_what_it_follows_after_undo_and_in_a_file_that_was_opened(tmp_path, name):
    ob, pole = make_rig(), make_empty("pole", (0, 3, 0))
    make_chain(ob, ob if name == "rig" else make_empty("target", NEAR), plane="POLE", pole_target=pole)
    reopened(tmp_path)
    for _ in range(2):
        activate(bpy.data.objects[name])
        assert meant() == "shin"
        bpy.ops.ed.undo_push(message="found")
        bpy.data.objects[name].location.x = 0.1
        bpy.ops.ed.undo_push(message="moved")
        bpy.ops.ed.undo()


def test_a_chain_is_meant_by_its_target_or_pole_in_object_mode():
    ob, target = leg()
    pole = make_empty("pole", (0, 3, 0))
    activate(ob)
    assert meant() is None
    activate(target)
    assert meant() == "shin"
    assert bpy.ops.pose.planar_ik_flip() == {"FINISHED"}
    activate(pole)
    assert meant() is None
    chain = ob.pose.bones["shin"].planar_ik
    chain.pole_target, chain.plane = pole, "POLE"
    assert meant() == "shin"


def test_every_part_of_a_chain_is_selected_in_the_mode_in_which_it_moves():
    ob, target = leg()
    press(ob, "select", part="TARGET")
    assert (bpy.context.mode, bpy.context.selected_objects, bpy.context.object) == ("OBJECT", [target], target)
    bpy.ops.pose.planar_ik_select(part="LIMB")
    assert (bpy.context.mode, bpy.context.active_pose_bone.name) == ("POSE", "shin")
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["shin"]
    with pytest.raises(RuntimeError, match="no pole"):
        bpy.ops.pose.planar_ik_select(part="POLE")


def test_a_control_bone_is_selected_without_leaving_pose_mode():
    ob, _ = leg(target_bone=True)
    press(ob, "select", part="TARGET")
    assert (bpy.context.mode, bpy.context.active_pose_bone.name) == ("POSE", "foot_ik")
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["foot_ik"]


def test_a_click_in_the_list_selects_the_limb():
    ob, _ = leg(target_bone=True)
    select(ob, "hip")
    manager = bpy.context.window_manager
    assert manager.planar_ik_row == -1
    manager.planar_ik_row = ob.pose.bones.find("shin")
    assert bpy.context.active_pose_bone.name == "shin"
    assert manager.planar_ik_row == ob.pose.bones.find("shin")


@pytest.mark.parametrize("to", ["FK", "IK"])
def test_switching_keeps_the_limb_where_it_is(to):
    ob, target = leg()
    chain = ob.pose.bones["shin"].planar_ik
    if to == "IK":
        chain.influence = 0.0
        ob.pose.bones["thigh"].rotation_quaternion = (1, 0.2, 0, 0)
        ob.pose.bones["shin"].rotation_quaternion = (1, -0.3, 0, 0)
        chain.pole_target, chain.plane = make_empty("pole", (0, 3, 0)), "POLE"
        update()
    select(ob, "shin")
    before = joints(ob)
    bpy.ops.pose.planar_ik_switch()
    update()
    assert chain.influence == (0.0 if to == "FK" else 1.0)
    assert max(np.abs(a - b).max() for a, b in zip(joints(ob), before, strict=True)) < 1e-5
    put(target, location=NEXT)
    moved = max(np.abs(a - b).max() for a, b in zip(joints(ob), before, strict=True))
    assert (moved > 0.1) == (to == "IK")


@pytest.mark.parametrize("is_on_rig", [False, True])
def test_switching_with_auto_keying_changes_no_frame(is_on_rig):
    ob, target = leg()
    scene = bpy.context.scene
    set_keys(target, "location", {1: NEAR, 20: NEXT})
    select(ob, "shin")
    if is_on_rig:
        bpy.ops.pose.planar_ik_make_portable()
    before = {frame: _at(ob, frame) for frame in (*range(1, 11), 9.5)}
    scene.frame_set(10)
    scene.tool_settings.use_keyframe_insert_auto = True
    bpy.ops.pose.planar_ik_switch()
    for frame, places in before.items():
        assert np.abs(_at(ob, frame) - places).max() < 1e-5, frame
    assert np.abs(_at(ob, 15) - before[10]).max() < 1e-5  # FK stands still
    scene.frame_set(15)
    bpy.ops.pose.planar_ik_switch()
    assert np.abs(_at(ob, 14) - before[10]).max() < 1e-5
    assert np.abs(_at(ob, 15) - before[10]).max() < 1e-5


@pytest.mark.parametrize("is_on_rig", [False, True])
def test_switching_back_to_ik_with_auto_keying_changes_no_frame_before(is_on_rig):
    """By the target's keys, whose shape another would change, by the hinge, and by a fading influence."""
    ob, target = leg(plane="SWING")
    chain, scene = ob.pose.bones["shin"].planar_ik, bpy.context.scene
    set_keys(target, "location", {1: NEAR, 40: NEXT})
    set_keys(ob.pose.bones["shin"], "planar_ik_influence", {1: 1.0, 30: 0.6})
    select(ob, "shin")
    if is_on_rig:
        bpy.ops.pose.planar_ik_make_portable()
    scene.tool_settings.use_keyframe_insert_auto = True
    scene.frame_set(10)
    bpy.ops.pose.planar_ik_switch(to="FK")
    for name, turn in (("thigh", -0.6), ("shin", -0.9)):
        put(ob.pose.bones[name], rotation_quaternion=Euler((turn, 0, 0)).to_quaternion())
        ob.pose.bones[name].keyframe_insert("rotation_quaternion", frame=20)
    before = {frame: _at(ob, frame) for frame in (*range(1, 20), 4.5, 20)}
    bpy.ops.pose.planar_ik_switch(to="IK")
    assert chain.influence == 1.0
    assert abs(chain.hinge_angle) > 0.1  # which had no key
    for frame, places in before.items():
        assert np.abs(_at(ob, frame) - places).max() < 1e-5, frame


def test_switching_a_stretched_limb_with_auto_keying_keys_its_scale_from_there_on():
    ob, target = leg(plane="SWING", stretch=1.0)
    scene = bpy.context.scene
    set_keys(target, "location", {1: NEAR, 10: (0, 0.1, -3.5)})
    before = {frame: _at(ob, frame) for frame in range(1, 11)}
    select(ob, "shin")
    scene.tool_settings.use_keyframe_insert_auto = True
    bpy.ops.pose.planar_ik_switch(to="FK")
    assert ob.pose.bones["thigh"].scale.y > 1.2
    for frame, places in before.items():
        assert np.abs(_at(ob, frame) - places).max() < 1e-5, frame
    bpy.ops.pose.planar_ik_switch(to="IK")
    assert np.abs(_at(ob, 10) - before[10]).max() < 2e-5


def test_keys_on_the_scale_of_a_limb_on_the_rig_are_refused():
    ob, target = leg(plane="SWING", stretch=1.0)
    put(target, location=(0, 0.1, -3.5))
    select(ob, "shin")
    bpy.ops.pose.planar_ik_make_portable()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    before = joints(ob)
    with pytest.raises(RuntimeError, match="'thigh' is stretched, and keys on its scale need the extension"):
        bpy.ops.pose.planar_ik_switch(to="FK")
    assert np.abs(np.array(joints(ob)) - before).max() < 1e-6
    assert ob.pose.bones["thigh"].scale.y == 1.0


def test_a_stretched_limb_that_is_bent_in_fk_is_refused():
    """Below a bone that is scaled unevenly it is sheared, which IK does not show."""
    ob, target = leg(plane="SWING", stretch=1.0)
    put(target, location=(0, 0.1, -3.5))
    select(ob, "shin")
    bpy.ops.pose.planar_ik_switch(to="FK")
    put(ob.pose.bones["shin"], rotation_quaternion=(1, 0.4, 0, 0))
    with pytest.raises(RuntimeError, match="'thigh' is longer than at rest and the limb is bent: clear its scale"):
        bpy.ops.pose.planar_ik_switch(to="IK")


def test_of_a_limb_that_is_switched_off_that_is_said():
    """As after a bake: it was told to select the bone that is selected."""
    ob, _ = leg()
    ob.pose.bones["shin"].planar_ik.enabled = False
    select(ob, "shin")
    with pytest.raises(RuntimeError, match="The chain of 'shin' is switched off"):
        bpy.ops.pose.planar_ik_switch(to="FK")


def test_switching_leaves_limbs_that_are_off_alone():
    ob, _ = leg()
    other = make_chain(ob, make_empty("other", (0, 0, -2.3)), "foot")
    ob.pose.bones["shin"].planar_ik.enabled = False
    select(ob, "foot", "shin")
    bpy.ops.pose.planar_ik_switch(to="FK")
    assert (other.influence, ob.pose.bones["shin"].planar_ik.influence) == (0.0, 1.0)


def _at(ob, frame):
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
    return np.array(joints(ob))


def test_switching_refuses_with_a_sentence_and_changes_nothing():
    ob, _ = leg(influence=0.0)
    put(ob.pose.bones["thigh"], rotation_quaternion=(1, 0, 0.2, 0.3))
    select(ob, "shin")
    target = ob.pose.bones["shin"].planar_ik.target
    with pytest.raises(RuntimeError, match="plane"):
        bpy.ops.pose.planar_ik_switch()
    assert target.location == Vector(NEAR)
    assert ob.pose.bones["shin"].planar_ik.influence == 0.0


@pytest.mark.parametrize("preset", ["ARM", "LEG", "INSECT", "MACHINE"])
def test_a_preset_sets_plane_softness_and_limits(preset):
    ob, _ = leg()
    press(ob, "preset", preset=preset)
    chain = ob.pose.bones["shin"].planar_ik
    for name, value in ui("operators.presets").PRESETS[preset].settings().items():
        assert getattr(chain, name) == (pytest.approx(value) if name != "plane" else value)


BESIDE = "The target of 'shin' is beside the plane of its hinge"


@pytest.mark.parametrize("is_on_rig", [False, True])
@pytest.mark.parametrize("preset", ["ARM", "INSECT", "MACHINE"])
def test_a_preset_with_a_hinge_that_the_target_is_beside_says_so(preset, is_on_rig, capfd):
    """Also where a limit of the knee is what the panel names first."""
    ob, target = leg()
    if is_on_rig:
        press(ob, "make_portable")
    press(ob, "preset", preset="MACHINE")
    in_plane = Vector(joints(ob).tip)
    for place, is_beside in ((in_plane, False), ((1.0, *NEAR[1:]), True)):
        put(target, location=place)
        capfd.readouterr()
        press(ob, "preset", preset=preset)
        assert (BESIDE in capfd.readouterr().out) == (is_beside and preset != "ARM")


def test_a_saved_preset_sets_all_selected_chains_as_a_built_in_one_does():
    ob, _ = leg(softness=0.07)
    other = make_chain(make_rig(LEG), make_empty("other", NEAR))
    select(ob, "shin")
    bpy.ops.pose.planar_ik_preset_save(name="ours")
    (path,) = (Path(folder) / "ours.py" for folder in bpy.utils.preset_paths(ui("operators.presets").FOLDER))
    chains = (ob.pose.bones["shin"].planar_ik, other)
    bpy.ops.object.mode_set(mode="OBJECT")
    for chain in chains:
        chain.softness = 0.5
        chain.id_data.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.script.python_file_run(filepath=str(path))
    assert [chain.softness for chain in chains] == pytest.approx([0.07, 0.07])
    bpy.ops.pose.planar_ik_preset_save(name="ours", remove_name=True)


@pytest.mark.parametrize("mode", ["POSE", "OBJECT"])
def test_the_properties_editor_shows_the_chain_of_its_own_bone(mode):
    """Which may be pinned, and is there in Object Mode as Blender's own panels of bones are."""
    ob, _ = leg()
    select(ob, "hip")
    bpy.ops.object.mode_set(mode=mode)
    meant, shin = ui("finding").chain_meant, ob.pose.bones["shin"]
    assert meant(bpy.context) is None
    with bpy.context.temp_override(pose_bone=shin):
        assert meant(bpy.context) == shin


@pytest.mark.parametrize("selected", ["shin", "foot", "foot_ik"])
@pytest.mark.parametrize("is_on_rig", [False, True])
def test_a_saved_preset_gives_the_settings_back(selected, is_on_rig):
    """Whatever the chain runs on, and by whatever it is meant: after Add the target is what is selected."""
    ob, _ = leg(target_bone=True, softness=0.07, max_angle=2.0)
    select(ob, "shin")
    if is_on_rig:
        bpy.ops.pose.planar_ik_make_portable()
    select(ob, selected)
    chain = ob.pose.bones["shin"].planar_ik
    bpy.ops.pose.planar_ik_preset_save(name="mine")
    chain.softness, chain.max_angle = 0.5, 1.0
    (path,) = (Path(folder) / "mine.py" for folder in bpy.utils.preset_paths(ui("operators.presets").FOLDER))
    bpy.ops.script.python_file_run(filepath=str(path))
    assert (chain.softness, chain.max_angle) == (pytest.approx(0.07), pytest.approx(2.0))
    bpy.ops.pose.planar_ik_preset_save(name="mine", remove_name=True)
    assert not path.exists()


@pytest.mark.parametrize("is_on_rig", [False, True])
@pytest.mark.parametrize("expression", ["var", "1.0"])
def test_an_influence_that_is_driven_is_not_switched(expression, is_on_rig):
    ob, _ = leg()
    shin = ob.pose.bones["shin"]
    driver = shin.driver_add("planar_ik_influence").driver
    driver.expression = expression
    if expression == "var":
        ob.pose.bones["hip"]["IK"] = 1.0
        read = driver.variables.new().targets[0]
        read.id, read.data_path = ob, 'pose.bones["hip"]["IK"]'
    update()
    select(ob, "shin")
    if is_on_rig:
        bpy.ops.pose.planar_ik_make_portable()
    named = "'shin' is driven by 'IK' of 'hip'" if expression == "var" else "'shin' is driven: remove its driver"
    before = joints(ob)
    with pytest.raises(RuntimeError, match=f"Influence of {named}"):
        bpy.ops.pose.planar_ik_switch()
    update()
    assert max(np.abs(a - b).max() for a, b in zip(joints(ob), before, strict=True)) == 0.0
    assert ob.animation_data.action is None


def test_an_armature_that_is_not_there_selects_nothing_else():
    ob, target = leg()
    select(ob, "shin")
    with pytest.raises(RuntimeError, match="There is no target to select"):
        bpy.ops.pose.planar_ik_select(part="TARGET", object="gone", bone="shin")
    assert not target.select_get()
