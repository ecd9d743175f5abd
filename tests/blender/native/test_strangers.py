"""Limbs on the rig in files as people have them: hidden, in another mode, under names of any length, sorted by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest

from tests.blender.natives import leg_with_foot, make_live, make_portable, parts, rebuild
from tests.blender.rigs import (
    FREE,
    HIP,
    LEG,
    SHIN,
    THIGH,
    Bone,
    assert_on_target,
    editing,
    frame_of,
    in_scene,
    make_chain,
    make_empty,
    make_rig,
    press,
    put,
    select,
    update,
)

SAME = 1e-5


def into_excluded(ob: Any) -> None:
    """Put a rig into a collection that the view layer excludes."""
    away = bpy.data.collections.new("away")
    bpy.context.scene.collection.children.link(away)
    away.objects.link(ob)
    bpy.context.scene.collection.objects.unlink(ob)
    bpy.context.view_layer.layer_collection.children["away"].exclude = True


def into_hidden(ob: Any) -> None:
    """Put a rig into a collection that is hidden."""
    into_excluded(ob)
    bpy.context.view_layer.layer_collection.children["away"].exclude = False
    bpy.data.collections["away"].hide_viewport = True


def into_another_scene(ob: Any) -> None:
    """Show a rig in another scene alone."""
    bpy.data.scenes.new("other").collection.objects.link(ob)
    bpy.context.scene.collection.objects.unlink(ob)


def out_of_view(ob: Any) -> None:
    """Disable a rig in viewports while it is in Pose Mode."""
    bpy.ops.object.mode_set(mode="POSE")
    ob.hide_viewport = ob.hide_select = True


def by_its_eye(ob: Any) -> None:
    """Hide a rig for a while."""
    ob.hide_set(True)


def places(ob: Any) -> Any:
    """Where a rig is shown, and how."""
    layer = bpy.context.view_layer
    shown = ob.name in layer.objects and (ob.hide_get(), ob.visible_get())
    return ob.hide_viewport, ob.hide_select, shown, [each.name for each in ob.users_collection], ob.mode


@pytest.mark.parametrize("hide", [by_its_eye, out_of_view, into_excluded, into_hidden, into_another_scene])
def test_scripts_set_up_rigs_that_are_not_shown(hide: Callable[[Any], None]) -> None:
    ob = leg_with_foot()
    hide(ob)
    update()
    before = places(ob)
    chain = ob.pose.bones["shin"].planar_ik
    chain.softness = 0.1  # which takes another mechanism
    chain.plane = "POLE"  # without a pole yet
    chain.pole_target = make_empty("pole", (0.3, 5, -0.5))
    assert places(ob) == before
    bpy.context.window.scene = ob.users_scene[0] if ob.users_scene else bpy.context.scene
    for each in (ob, bpy.data.collections.get("away")):
        if each:
            each.hide_viewport = False
    for layer in bpy.context.view_layer.layer_collection.children:
        layer.exclude = False
    for name in ("target", "pole"):
        if name not in bpy.context.scene.objects:
            bpy.context.scene.collection.objects.link(bpy.data.objects[name])
    update()
    assert_on_target(ob, bpy.data.objects["target"], within=SAME)
    assert {bone.name for bone in ob.pose.bones if bone.name.startswith("MCH-pole")} == {"MCH-pole-shin"}


def test_scripts_set_up_rigs_in_edit_mode() -> None:
    ob = leg_with_foot()
    before = {name: set(bones) for name, bones in parts(ob)["collections"].items()}
    with editing(ob) as bones:
        bones["shin"].tail.z += 0.1
        ob.pose.bones["shin"].planar_ik.softness = 0.1
        assert bpy.context.mode == "EDIT_ARMATURE"
    assert_on_target(ob, bpy.data.objects["target"], within=SAME)
    made = [bone for bone in ob.data.bones if bone.name.startswith("MCH-")]
    assert all(bone.hide for bone in made)
    assert [set(bones) for bones in parts(ob)["collections"].values()] == [{bone.name for bone in made}]
    assert before.keys() == parts(ob)["collections"].keys()


def test_scripts_set_up_rigs_while_weights_are_painted() -> None:
    ob, mesh = leg_with_foot(), bpy.data.meshes.new("skin")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    skin = in_scene("skin", mesh)
    skin.modifiers.new("Armature", "ARMATURE").object = ob
    select(ob, "shin")
    skin.select_set(True)
    bpy.context.view_layer.objects.active = skin
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    ob.pose.bones["shin"].planar_ik.softness = 0.1
    assert (skin.mode, ob.mode, bpy.context.view_layer.objects.active) == ("WEIGHT_PAINT", "POSE", skin)
    assert {each.name for each in bpy.context.view_layer.objects if each.select_get()} == {"rig", "skin"}
    update()
    assert_on_target(ob, bpy.data.objects["target"], within=SAME)


@pytest.mark.parametrize("letter", ["s", "é", "骨"])
def test_bones_with_names_as_long_as_they_can_be(letter: str) -> None:
    long = letter * (63 // len(letter.encode()))
    thigh, shin = "t" + long[1:], "b" + long[1:]
    ob = make_rig((HIP, THIGH._replace(name=thigh), SHIN._replace(name=shin, parent=thigh)))
    target = make_empty("target", frame_of(ob, shin).target(0.6, 0.4))
    make_chain(ob, target, shin, plane="SWING", softness=0.1, stretch=0.3)
    had = {bone.name for bone in ob.data.bones}
    make_portable(ob, shin)
    assert_on_target(ob, target, shin, within=SAME)
    make_live(ob, shin)
    assert {bone.name for bone in ob.data.bones} == had
    assert_on_target(ob, target, shin)


def test_a_collection_of_the_riggers_own_is_left_alone() -> None:
    ob = make_rig((*LEG, FREE))
    own = ob.data.collections.new("Planar IK")
    own.assign(ob.data.bones["free"])
    had = parts(ob)
    make_chain(ob)
    make_portable(ob)
    assert own.is_visible
    assert [bone.name for bone in own.bones] == ["free"]
    make_live(ob)
    assert parts(ob)["collections"] == had["collections"]


def test_what_is_inherited_is_given_back_but_for_what_was_set_since() -> None:
    ob = leg_with_foot(stretch=1.0, softness=0.1)
    bones = ob.data.bones
    assert (bones["shin"].inherit_scale, bones["foot"].inherit_scale) == ("ALIGNED", "FULL")
    make_live(ob)
    assert bones["shin"].inherit_scale == "FULL"
    make_portable(ob)
    bones["shin"].inherit_scale = "NONE"
    make_live(ob)
    assert (bones["shin"].inherit_scale, bones["foot"].inherit_scale) == ("NONE", "FULL")
    bones["shin"].inherit_scale = "ALIGNED"
    press(ob, "remove")
    assert bones["shin"].inherit_scale == "ALIGNED"


def test_what_development_builds_set_on_the_foot_is_given_back() -> None:
    ob = leg_with_foot(stretch=1.0)
    chain = ob.pose.bones["shin"].planar_ik
    chain.own_inherit_scale += "\nFIX_SHEAR foot"
    ob.data.bones["foot"].inherit_scale = "AVERAGE"
    make_live(ob)
    assert [ob.data.bones[name].inherit_scale for name in ("shin", "foot")] == ["FULL", "FIX_SHEAR"]


def test_what_is_inherited_stays_where_a_mechanism_can_not_be_made_anew() -> None:
    ob = leg_with_foot(stretch=1.0)
    ob.pose.bones["thigh"].scale = (1, 1, 1.5)
    put(ob.pose.bones["shin"].planar_ik, stretch=0.0)
    with pytest.raises(RuntimeError, match="'thigh' is scaled unevenly and 'shin' inherits it"):
        rebuild(ob)
    assert [ob.data.bones[name].inherit_scale for name in ("shin", "foot")] == ["ALIGNED", "FULL"]


def without_shin(ob: Any) -> None:
    """Delete the lower bone in Edit Mode, which leaves what the upper one copies, and make another one in its place."""
    with editing(ob) as bones:
        made = bones.new("calf")
        made.head, made.tail, made.parent = bones["shin"].head, bones["shin"].tail, bones["thigh"]
        bones.remove(bones["shin"])


def test_a_limb_that_gets_another_lower_bone_can_have_a_chain_again() -> None:
    ob = leg_with_foot()
    without_shin(ob)
    press(ob, "add", "calf")
    assert {name for name in ob.data.bones.keys() if name.endswith("shin")} == set()  # noqa: SIM118
    chain = ob.pose.bones["calf"].planar_ik
    chain.target.location.z += 0.1
    update()
    assert_on_target(ob, chain.target, "calf", within=SAME)
    press(ob, "remove", "calf")
    assert {bone.name for bone in ob.data.bones} == {"hip", "thigh", "calf", "foot"}
    assert not any(bone.constraints for bone in ob.pose.bones)


def drivers_gone(ob: Any) -> None:
    ob.animation_data_clear()


def constraints_gone(ob: Any) -> None:
    for bone in ob.pose.bones:
        for constraint in [*bone.constraints]:
            bone.constraints.remove(constraint)


@pytest.mark.parametrize("lose", [drivers_gone, constraints_gone])
@pytest.mark.parametrize("step", ["rebuild", "make_live", "remove"])
def test_what_a_mechanism_lost_leaves_no_bones_behind(lose: Callable[[Any], None], step: str) -> None:
    ob = leg_with_foot(stretch=0.5, softness=0.1)
    had = parts(ob)
    lose(ob)
    update()
    select(ob, "shin")
    assert getattr(bpy.ops.pose, f"planar_ik_{step}")() == {"FINISHED"}
    update()
    if step == "rebuild":
        assert parts(ob) == had
        assert_on_target(ob, bpy.data.objects["target"], within=SAME)
    else:
        assert {bone.name for bone in ob.data.bones} == {"hip", "thigh", "shin", "foot"}
        assert (parts(ob)["drivers"], parts(ob)["collections"]) == ([], {})


def test_a_limb_on_the_rig_that_is_switched_off_is_not_taken_apart_by_another() -> None:
    ob = leg_with_foot()
    before = parts(ob)
    ob.pose.bones["shin"].planar_ik.enabled = False
    make_chain(ob, make_empty("other", (0.1, -0.2, -1.8)), "foot")
    select(ob, "foot")
    with pytest.raises(RuntimeError, match="'shin' is the lower bone of another chain: remove that chain first"):
        bpy.ops.pose.planar_ik_make_portable()
    assert parts(ob) == before
    ob.pose.bones["foot"].planar_ik.enabled = False
    ob.pose.bones["shin"].planar_ik.enabled = True
    update()
    assert_on_target(ob, bpy.data.objects["target"], within=SAME)


def test_a_limb_of_a_rig_that_is_edited_in_mirror_image_leaves_that_of_the_other_side() -> None:
    def side(end: str, sign: float) -> tuple[Bone, ...]:
        thigh = Bone(f"thigh.{end}", (0.3 * sign, 0, 0), (0.4 * sign, 0.2, -1), "hip", roll=0.3)
        shin = Bone(f"shin.{end}", thigh.tail, (0.4 * sign, 0, -1.9), thigh.name, connected=True, roll=0.7)
        return thigh, shin

    ob = make_rig((HIP, *side("L", 1), *side("R", -1.1)))
    targets = [make_empty(f"target.{end}", frame_of(ob, f"shin.{end}").target(0.6, 0.4)) for end in "LR"]
    ob.data.use_mirror_x = True
    for target, end in zip(targets, "LR", strict=True):
        make_chain(ob, target, f"shin.{end}", plane="SWING")
        make_portable(ob, f"shin.{end}")
    for target, end in zip(targets, "LR", strict=True):
        target.location.y += 0.1
        update()
        assert_on_target(ob, target, f"shin.{end}", within=SAME)
    assert ob.data.use_mirror_x
