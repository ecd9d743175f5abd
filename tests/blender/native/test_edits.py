"""Limbs on the rig after what riggers do with armatures: nothing is lost, or it is said, with what mends it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from mathutils import Vector

from tests.blender.natives import FOOT, leg_with_foot, make_live, make_portable, parts, rebuild
from tests.blender.rigs import (
    LEG,
    Bone,
    activate,
    assert_on_target,
    editing,
    frame_of,
    make_chain,
    make_empty,
    make_rig,
    press,
    put,
    select,
    update,
)

SAME = 1e-5


def edit(ob: Any, change: Callable[[Any], None]) -> None:
    """Change an armature in Edit Mode."""
    with editing(ob) as bones:
        change(bones)


def of_nothing(bones: Any) -> None:
    bones["thigh"].parent = None


def of_another(bones: Any) -> None:
    bones["thigh"].parent = bones["other"]


def of_one_between(bones: Any) -> None:
    bones["other"].parent = bones["hip"]
    bones["thigh"].parent = bones["other"]


@pytest.mark.parametrize("change", [of_nothing, of_another, of_one_between])
@pytest.mark.parametrize("plane", ["REST", "SWING", "POLE"])
def test_a_limb_that_hangs_on_something_else_now_says_so(change: Callable[[Any], None], plane: str) -> None:
    ob = make_rig((*LEG, FOOT, Bone("other", (0, 0, 0.3), (0, 0.2, 0.3))))
    chain = make_chain(ob, plane=plane, pole_target=make_empty("pole", (0.3, 5, -0.5)))
    make_portable(ob)
    edit(ob, change)
    for name, turn in (("hip", (1, 0.1, 0.2, 0.1)), ("other", (1, 0.1, -0.2, 0.3))):
        ob.pose.bones[name].rotation_quaternion = turn
    update()
    assert "press Rebuild on the Rig" in ob.pose.bones["shin"].planar_ik.message
    rebuild(ob)
    chain = ob.pose.bones["shin"].planar_ik
    put(chain.target, location=frame_of(ob).target(0.6, 0.4))
    assert_on_target(ob, chain.target, within=SAME)
    edit(ob, lambda bones: setattr(bones["thigh"], "parent", bones["hip"]))
    assert "press Rebuild on the Rig" in ob.pose.bones["shin"].planar_ik.message


def test_a_pose_that_is_applied_as_it_looks_is_no_damage() -> None:
    ob = leg_with_foot(influence=0.5)
    ob.pose.bones["hip"].rotation_quaternion = (1, 0.1, 0.2, 0.3)
    select(ob, "thigh", "shin")
    bpy.ops.pose.visual_transform_apply()
    update()
    assert 0 < max(map(abs, ob.pose.bones["thigh"].location)) < 1e-6  # what makes it a test
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.reach, chain.message) == ("LIMITED", "")
    chain.influence = 1.0
    chain.target.location = frame_of(ob).target(0.6, 0.4)
    update()
    assert_on_target(ob, chain.target, within=SAME)


@pytest.mark.parametrize(("owner", "count"), [("shin", 2), ("foot", 3), ("foot", 0)])
def test_an_ik_constraint_on_a_limb_on_the_rig_is_said_even_where_both_agree(owner: str, count: int) -> None:
    ob = leg_with_foot()
    added = ob.pose.bones[owner].constraints.new("IK")
    added.target, added.chain_count = bpy.data.objects["target"], count
    added.use_tail = owner == "shin"
    update()
    chain = ob.pose.bones["shin"].planar_ik
    said = f"Constraint 'IK' of '{owner}' moves 'thigh' too: mute or remove it"
    assert (chain.reach, chain.message) == ("INVALID", said)
    press(ob, "mend", way="MUTE")
    assert f"Even muted, constraint 'IK' of '{owner}' keeps Blender from posing" in chain.message
    ob.pose.bones[owner].constraints.remove(added)
    update()
    assert_on_target(ob, bpy.data.objects["target"], within=SAME)


@pytest.mark.parametrize("what", ["constraint", "driver"])
def test_a_limb_that_something_else_turns_stays_on_the_rig(what: str) -> None:
    """As the extension would not pose it."""
    ob = leg_with_foot()
    if what == "driver":
        ob.pose.bones["thigh"].driver_add("rotation_quaternion", 1).driver.expression = "0.1"
        said = "The rotation of 'thigh' is driven: remove the driver"
    else:
        limit = ob.pose.bones["shin"].constraints.new("LIMIT_SCALE")
        said = f"Constraint '{limit.name}' moves 'shin' after the chain: mute or remove it"
    update()
    before = parts(ob)
    select(ob, "shin")
    with pytest.raises(RuntimeError, match=said):
        bpy.ops.pose.planar_ik_make_live()
    assert parts(ob) == before
    assert_on_target(ob, bpy.data.objects["target"], within=SAME)
    if what == "constraint":
        limit.mute = True
        make_live(ob)
        assert_on_target(ob, bpy.data.objects["target"], within=SAME)


def test_nothing_is_left_on_an_upper_bone_that_the_lower_one_hangs_on_no_more() -> None:
    ob = leg_with_foot()
    edit(ob, lambda bones: setattr(bones["shin"], "parent", bones["hip"]))
    make_live(ob)
    assert {bone.name for bone in ob.data.bones} == {"hip", "thigh", "shin", "foot"}
    assert (parts(ob)["drivers"], any(bone.constraints for bone in ob.pose.bones)) == ([], False)


def test_nothing_is_left_of_an_upper_bone_that_was_deleted() -> None:
    ob = leg_with_foot()
    edit(ob, lambda bones: bones.remove(bones["thigh"]))
    make_live(ob)
    assert {bone.name for bone in ob.data.bones} == {"hip", "shin", "foot"}
    assert (parts(ob)["drivers"], any(bone.constraints for bone in ob.pose.bones)) == ([], False)


def test_what_a_deleted_lower_bone_leaves_is_removed() -> None:
    had, own = parts(make_rig((*LEG, FOOT), "plain")), leg_with_foot(softness=0.1, influence=0.5)
    edit(own, lambda bones: bones.remove(bones["shin"]))
    press(own, "remove", "thigh")
    assert {bone.name for bone in own.data.bones} == {"hip", "thigh", "foot"}
    left = parts(own)
    for name in ("drivers", "animation", "collections"):
        assert left[name] == had[name]
    assert not any(bone.constraints for bone in own.pose.bones)
    with pytest.raises(RuntimeError, match="Select a bone with a chain"):
        bpy.ops.pose.planar_ik_remove()


@pytest.mark.parametrize("step", ["rebuild", "make_live", "remove"])
def test_constraints_that_somebody_renamed_are_known(step: str) -> None:
    ob = leg_with_foot()
    had = parts(ob)
    for bone in ob.pose.bones:
        for number, constraint in enumerate(bone.constraints):
            constraint.name = f"mine {number}"
    update()
    assert_on_target(ob, bpy.data.objects["target"], within=SAME)
    select(ob, "shin")
    assert getattr(bpy.ops.pose, f"planar_ik_{step}")() == {"FINISHED"}
    update()
    if step == "rebuild":
        assert parts(ob) == had
        assert_on_target(ob, bpy.data.objects["target"], within=SAME)
    else:
        assert {bone.name for bone in ob.data.bones} == {"hip", "thigh", "shin", "foot"}
        assert (parts(ob)["drivers"], any(bone.constraints for bone in ob.pose.bones)) == ([], False)


@pytest.mark.parametrize("lower", ["FULL", "ALIGNED"])
def test_what_keeps_a_limb_below_uneven_scale_from_the_rig_is_taken_away_as_it_is_said(lower: str) -> None:
    ob = make_rig((*LEG, FOOT))
    ob.data.bones["thigh"].inherit_scale, ob.data.bones["shin"].inherit_scale = "ALIGNED", lower
    ob.pose.bones["hip"].scale = (1, 1.5, 0.7)
    make_chain(ob, plane="SWING")
    select(ob, "shin")
    said = "'thigh' takes over an uneven scale axis by axis: let it inherit scale in full"
    with pytest.raises(RuntimeError, match=said):
        bpy.ops.pose.planar_ik_make_portable()
    put(ob.data.bones["thigh"], inherit_scale="FULL")
    if lower == "ALIGNED":
        with pytest.raises(RuntimeError, match="'shin' has Inherit Scale set to ALIGNED: let it inherit in full"):
            bpy.ops.pose.planar_ik_make_portable()
        put(ob.data.bones["shin"], inherit_scale="FULL")
    make_portable(ob)
    assert_on_target(ob, bpy.data.objects["target"], within=SAME)


@pytest.mark.parametrize("axis", ["XAXIS", "YAXIS", "ZAXIS"])
def test_bones_that_blender_names_by_their_sides_in_edit_mode_go_on(axis: str) -> None:
    """Whose drivers find no bone of their name meanwhile, so that Blender takes them for failed."""
    ob = make_rig([bone._replace(head=(1, *bone.head[1:]), tail=(1.1, *bone.tail[1:])) for bone in LEG])
    make_chain(ob, plane="SWING")
    make_portable(ob)
    activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.armature.select_all(action="SELECT")
    bpy.ops.armature.autoside_names(type=axis)
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    (lower,) = (bone for bone in ob.pose.bones if bone.name.startswith("shin."))
    target = bpy.data.objects["target"]
    put(target, location=target.location + Vector((0, 0.05, 0.2)))
    assert (lower.planar_ik.reach, lower.planar_ik.message) == ("REACHED", "")
    assert_on_target(ob, target, lower.name, within=SAME)


def test_drivers_that_failed_are_said_at_once_and_go_on_once_the_limb_is_rebuilt() -> None:
    """That of somebody's own that reads a setting, too."""
    ob, reader = leg_with_foot(), make_empty("reader")
    put(bpy.data.objects["target"], location=ob.data.bones["shin"].tail_local)  # where the tip is without the chain
    driver, path = reader.driver_add("location", 0).driver, 'pose.bones["shin"]["planar_ik.influence"]'
    driver.type = "SUM"
    target = driver.variables.new().targets[0]
    target.id, target.data_path = ob, path
    del ob.pose.bones["shin"]["planar_ik.influence"]
    ob.update_tag()
    update()
    assert not driver.is_valid  # what makes it a test
    ob.pose.bones["shin"]["planar_ik.influence"] = 1.0
    update()
    chain = ob.pose.bones["shin"].planar_ik
    assert chain.residual < SAME
    assert "press Rebuild on the Rig" in chain.message
    rebuild(ob)
    chain.influence = 0.5
    update()
    assert reader.location.x == pytest.approx(0.5)
    assert (chain.reach, chain.message) == ("REACHED", "")
