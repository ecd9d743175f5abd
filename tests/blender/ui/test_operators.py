"""The operators as an animator meets them: by selection, in Pose Mode, each one step of undo, refusing in sentences."""

from __future__ import annotations

from functools import partial

import bpy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mathutils import Vector

from scripts import installed
from tests.blender.rigs import (
    AWAY,
    FREE,
    HIP,
    LEG,
    NEAR,
    SHIN,
    THIGH,
    Bone,
    activate,
    assert_on_target,
    beside,
    few,
    fresh_rig,
    joints,
    make_chain,
    make_empty,
    make_rig,
    pose,
    press,
    put,
    rotation,
    select,
    update,
)

turns = st.tuples(*[st.floats(-0.9, 0.9)] * 3)


def posed_rig(bones=LEG, turn=(0.4, -0.1, 0.2)):
    """A leg posed by hand, in Pose Mode with the shin active."""
    ob = make_rig(bones)
    ob.pose.bones["thigh"].rotation_quaternion = (1, *turn)
    ob.pose.bones["shin"].rotation_quaternion = (1, -0.5, 0, 0)
    select(ob, "shin")
    update()
    return ob


def moved(ob, before, lower="shin"):
    return max(np.abs(a - b).max() for a, b in zip(joints(ob, lower), before, strict=True))


def refuses(operator, word, **settings):
    """The operator reports an error with this word, and changes nothing."""
    before = state()
    with pytest.raises(RuntimeError) as refusal:
        operator(**settings)
    update()
    assert word in str(refusal.value)
    assert state() == before
    return str(refusal.value)


def state():
    rigs = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    chains = [(bone.name, bone.planar_ik.enabled, bone.planar_ik.target) for ob in rigs for bone in ob.pose.bones]
    return len(bpy.data.objects), chains, [pose(ob) for ob in rigs]


def chain_of(ob, lower="shin"):
    return ob.pose.bones[lower].planar_ik


def test_add_makes_an_empty_at_the_tip():
    ob = posed_rig()
    before = joints(ob)
    assert bpy.ops.pose.planar_ik_add() == {"FINISHED"}
    update()
    chain = chain_of(ob)
    assert chain.target.name == "target_shin"
    assert np.abs(np.array(chain.target.location) - before.tip).max() < 1e-6
    assert chain.reach == "REACHED"
    assert moved(ob, before) < 1e-5


@given(thigh=turns, shin=turns, hip=turns, plane=st.sampled_from(["", "REST", "POLE"]))
@few
def test_add_never_moves_the_limb(thigh, shin, hip, plane):
    ob = fresh_rig()
    bones = ob.pose.bones
    flat = plane == "REST"
    bones["hip"].rotation_quaternion = (1, *hip)
    make_flat = frame_turn(ob)
    bones["thigh"].rotation_quaternion = make_flat("thigh", thigh[0]) if flat else (1, *thigh)
    bones["shin"].rotation_quaternion = make_flat("shin", shin[0]) if flat else (1, *shin)
    select(ob, "shin")
    update()
    before = joints(ob)
    settings = {"plane": plane} if plane else {}
    assert bpy.ops.pose.planar_ik_add(**settings) == {"FINISHED"}
    update()
    assert chain_of(ob).reach == "REACHED"
    assert moved(ob, before) < 3e-5


def frame_turn(ob):
    """A turn of a bone about the normal of its limb's rest plane."""
    root, knee, tip = THIGH.head, SHIN.head, SHIN.tail
    normal = np.cross(np.subtract(tip, root), np.subtract(knee, root))
    normal = normal / np.linalg.norm(normal)

    def turn(name, angle):
        axis = ob.data.bones[name].matrix_local.to_3x3().inverted() @ type(ob.location)(normal)
        return (1, *(axis * angle))

    return turn


def test_add_to_a_limb_out_of_its_plane_gives_it_a_pole():
    ob = posed_rig(turn=(0.3, 0.8, 0.4))
    put(ob.pose.bones["shin"], rotation_quaternion=(1, -0.4, 0, 0.5))
    before = joints(ob)
    bpy.ops.pose.planar_ik_add()
    update()
    assert chain_of(ob).plane == "POLE"
    assert chain_of(ob).pole_target.name == "pole_shin"
    assert moved(ob, before) < 1e-5


def test_add_refuses_the_rest_plane_to_a_limb_out_of_it():
    ob = posed_rig(turn=(0.3, 0.8, 0.4))
    put(ob.pose.bones["shin"], rotation_quaternion=(1, -0.4, 0, 0.5))
    before = joints(ob)
    refuses(bpy.ops.pose.planar_ik_add, "rest plane", plane="REST")
    assert moved(ob, before) == 0
    assert len(bpy.data.objects) == 1


@pytest.mark.parametrize("object_scale", [(1, 1, 1), (-1, 2, 0.5)])
def test_a_pole_added_to_a_straight_limb_bends_it_as_its_rest_plane_does(object_scale):
    tail = (0, 0, -2)
    ob = make_rig((HIP, THIGH._replace(tail=(0, 0, -1)), SHIN._replace(head=(0, 0, -1), tail=tail)))
    ob.scale = object_scale
    select(ob, "shin")
    knees = []
    for plane in ("REST", "POLE"):
        before = joints(ob)
        bpy.ops.pose.planar_ik_add(plane=plane)
        update()
        assert moved(ob, before) < 1e-6
        put(chain_of(ob).target, location=ob.matrix_world @ Vector((0, 0.1, -1.6)))
        knees.append(joints(ob).knee)
        bpy.ops.pose.planar_ik_remove()
        update()
    assert np.linalg.norm(knees[0] - knees[1]) < 1e-5


def test_add_with_the_other_selected_object():
    ob, target = make_rig(), make_empty("handle", NEAR)
    select(ob, "shin")
    target.select_set(True)
    bpy.ops.pose.planar_ik_add()
    update()
    assert chain_of(ob).target == target


@pytest.mark.parametrize("names", [("free", "shin"), ("shin", "free")])
def test_add_with_a_bone_of_the_same_armature(names):
    """Whichever was clicked first, as the other is the active one then."""
    ob = make_rig((*LEG, FREE))
    select(ob, *names)
    assert bpy.context.active_pose_bone.name == names[-1]
    assert installed.addon("addon.ui.meaning").refusal(bpy.context) == ""
    bpy.ops.pose.planar_ik_add(plane="POLE")
    update()
    assert (chain_of(ob).target, chain_of(ob).subtarget) == (ob, "free")
    assert_on_target(ob, ob, bone="free")


def test_add_with_a_bone_of_a_second_armature():
    other, ob = make_rig((HIP, FREE), "other"), make_rig()
    activate(ob)
    other.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    for rig, name in ((other, "free"), (ob, "shin")):
        for bone in rig.pose.bones:
            (bone if hasattr(bone, "select") else bone.bone).select = bone.name == name
    ob.data.bones.active = ob.data.bones["shin"]
    bpy.ops.pose.planar_ik_add(plane="POLE")
    update()
    assert (chain_of(ob).target, chain_of(ob).subtarget) == (other, "free")
    assert_on_target(ob, other, bone="free")


def test_add_by_name():
    ob = make_rig((*LEG, FREE))
    pole = make_empty("knee", (1, 4, 0))
    press(ob, "add", target="rig", subtarget="free", pole_target="knee")
    chain = chain_of(ob)
    assert (chain.target, chain.subtarget, chain.plane, chain.pole_target) == (ob, "free", "POLE", pole)
    assert_on_target(ob, ob, bone="free")


TWO_LEGS = [b._replace(name=b.name + side, parent=b.parent and b.parent + side) for side in (".L", ".R") for b in LEG]


def test_add_to_several_limbs():
    ob = make_rig(TWO_LEGS)
    select(ob, "shin.L", "shin.R")
    before = [joints(ob, lower) for lower in ("shin.L", "shin.R")]
    bpy.ops.pose.planar_ik_add()
    update()
    for lower, was in zip(("shin.L", "shin.R"), before, strict=True):
        assert chain_of(ob, lower).target.name == f"target_{lower}"
        assert chain_of(ob, lower).reach == "REACHED"
        assert moved(ob, was, lower) < 1e-5


def test_flip_twice_moves_nothing():
    ob = posed_rig()
    bpy.ops.pose.planar_ik_add()
    update()
    before = joints(ob)
    bpy.ops.pose.planar_ik_flip()
    update()
    assert moved(ob, before) > 0.1
    assert chain_of(ob).reach == "REACHED"
    bpy.ops.pose.planar_ik_flip()
    update()
    assert moved(ob, before) < 1e-6


def test_remove_gives_the_own_pose_back_and_leaves_no_setting():
    ob = posed_rig()
    kept = [rotation(bone) for bone in ob.pose.bones]
    bpy.ops.pose.planar_ik_add()
    chain = chain_of(ob)
    chain.stretch = 1
    chain.target.location = (0, 0, -5)
    update()
    bpy.ops.pose.planar_ik_remove()
    update()
    assert [rotation(bone) for bone in ob.pose.bones] == kept
    assert ob.pose.bones["thigh"].scale[:] == (1, 1, 1)
    assert ob.data.bones["shin"].inherit_scale == "FULL"
    assert (chain.enabled, chain.target, chain.stretch) == (False, None, 0)


def test_a_chain_that_is_off_is_flipped_and_removed_all_the_same():
    ob = posed_rig()
    bpy.ops.pose.planar_ik_add()
    chain = chain_of(ob)
    put(chain, enabled=False)
    assert (chain.reach, chain.message) == ("INVALID", "The chain is not enabled")
    bpy.ops.pose.planar_ik_flip()
    assert chain.bend == -1
    with pytest.raises(RuntimeError, match="not enabled"):
        bpy.ops.pose.planar_ik_solve()
    bpy.ops.pose.planar_ik_remove()
    assert (chain.target, chain.bend) == (None, 1)


def test_solve_poses_once_with_live_off():
    ob = posed_rig()
    bpy.ops.pose.planar_ik_add(plane="POLE", runs_on="EXTENSION")
    update()
    bpy.context.scene.planar_ik.live = False
    target = chain_of(ob).target
    put(target, location=NEAR)
    assert np.linalg.norm(joints(ob).tip - np.array(NEAR)) > 0.1
    bpy.ops.pose.planar_ik_solve()
    update()
    assert_on_target(ob, target)
    target.location.x += 0.5
    update()
    assert np.linalg.norm(joints(ob).tip - np.array(NEAR)) < 1e-5


def test_solve_with_live_on_changes_nothing():
    """Neither what the other limb shows nor the own pose of the one that is solved."""
    ob = make_rig((*LEG, *beside(LEG)))
    for name, place in (("shin", Vector(NEAR)), ("shin2", Vector(NEAR) + AWAY)):
        select(ob, name)
        bpy.ops.pose.planar_ik_add(plane="POLE", runs_on="EXTENSION")
        put(ob.pose.bones[name].planar_ik.target, location=place)
    update()
    before = pose(ob)
    bpy.ops.pose.planar_ik_solve()
    assert pose(ob) == before


@pytest.mark.parametrize("name", ["add", "flip", "remove", "solve"])
def test_every_operator_is_one_step_of_undo(name):
    ob = posed_rig()
    if name != "add":
        bpy.ops.pose.planar_ik_add()
        update()
    if name == "solve":
        bpy.context.scene.planar_ik.live = False
        chain_of(ob).target.location = NEAR
        update()
    bpy.ops.ed.undo_push(message="before")
    before, objects = joints(ob), len(bpy.data.objects)
    settings = (chain_of(ob).enabled, chain_of(ob).bend)
    getattr(bpy.ops.pose, f"planar_ik_{name}")("EXEC_DEFAULT", True)
    update()
    after = joints(bpy.data.objects["rig"])
    bpy.ops.ed.undo()
    update()
    rig = bpy.data.objects["rig"]
    assert len(bpy.data.objects) == objects
    if name != "solve":
        assert (chain_of(rig).enabled, chain_of(rig).bend) == settings
        assert moved(rig, before) < 1e-5
    bpy.ops.ed.redo()
    update()
    assert moved(bpy.data.objects["rig"], after) < 1e-5


OPERATORS = ("planar_ik_add", "planar_ik_remove", "planar_ik_solve", "planar_ik_flip")


@pytest.mark.parametrize("name", OPERATORS)
def test_refused_outside_pose_mode(name):
    make_rig()
    refuses(getattr(bpy.ops.pose, name), "Pose Mode")


def test_entries_that_have_nothing_to_work_on_are_greyed_out_and_say_why():
    others = [Bone(f"other{i}", (i, 0, 0), (i, 0, 1)) for i in range(30)]
    ob = make_rig((*LEG, *others))  # a limb among so many has IK constraints among its parts
    select(ob, "shin")
    refuses(bpy.ops.pose.planar_ik_bake, "There is no chain to bake")
    refuses(bpy.ops.pose.planar_ik_convert, "No bone of this armature has an IK constraint")
    make_chain(ob, make_empty("target", NEAR))
    assert bpy.ops.pose.planar_ik_bake.poll()
    bpy.ops.pose.planar_ik_make_portable()
    assert any(constraint.type == "IK" for bone in ob.pose.bones for constraint in bone.constraints)
    assert not bpy.ops.pose.planar_ik_convert.poll()


@pytest.mark.parametrize("name", OPERATORS)
def test_refused_with_nothing_selected(name):
    ob = make_rig()
    select(ob)
    refuses(getattr(bpy.ops.pose, name), "Select")


@pytest.mark.parametrize("name", OPERATORS[1:])
def test_refused_without_a_chain(name):
    posed_rig()
    refuses(getattr(bpy.ops.pose, name), "Select a bone with a chain")


def test_a_root_bone():
    ob = make_rig((*LEG, Bone("root", (0, 0, -3), (0, 1, -3))))
    select(ob, "root")
    refuses(bpy.ops.pose.planar_ik_add, "no parent")


def test_an_overlapping_chain():
    foot = Bone("foot", SHIN.tail, (0.1, 0.4, -2), "shin", connected=True)
    ob = posed_rig((*LEG, foot))
    bpy.ops.pose.planar_ik_add()
    refuses(bpy.ops.pose.planar_ik_add, "has a chain already")
    select(ob, "foot")
    refuses(bpy.ops.pose.planar_ik_add, "click 'shin'")
    add_any = partial(bpy.ops.pose.planar_ik_add, any_bones=True)
    refuses(add_any, "another chain")
    select(ob, "thigh")
    refuses(add_any, "chain of 'shin'")


def test_two_selected_bones_that_would_overlap():
    foot = Bone("foot", SHIN.tail, (0.1, 0.4, -2), "shin", connected=True)
    ob = make_rig((*LEG, foot))
    select(ob, "shin", "foot")
    try:
        bpy.ops.pose.planar_ik_add()
    except RuntimeError:
        return
    update()
    enabled = [bone for bone in ob.pose.bones if bone.planar_ik.enabled]
    assert [bone.planar_ik.message for bone in enabled] == [""]


def test_a_target_inside_the_chain():
    posed_rig()
    refuses(bpy.ops.pose.planar_ik_add, "hangs on the chain", target="rig", subtarget="thigh")


def test_a_pole_inside_the_chain():
    posed_rig()
    refuses(bpy.ops.pose.planar_ik_add, "hangs on the chain", pole_target="rig", pole_subtarget="shin")


def test_a_selected_target_that_hangs_on_the_chain():
    ob = posed_rig()
    target = make_empty("hanging")
    target.parent, target.parent_type, target.parent_bone = ob, "BONE", "shin"
    target.select_set(True)
    refuses(bpy.ops.pose.planar_ik_add, "hangs on the chain")


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"target": "rig", "subtarget": "nobody"}, "no bone 'nobody'"),
        ({"target": "nothing"}, "no object 'nothing'"),
        ({"subtarget": "free"}, "Name the object"),
        ({"pole_target": "rig", "pole_subtarget": "nobody"}, "no bone 'nobody'"),
    ],
)
def test_names_that_do_not_exist(settings, word):
    posed_rig()
    refuses(bpy.ops.pose.planar_ik_add, word, **settings)


def test_too_many_targets():
    ob = make_rig()
    others = [make_empty(f"goal{i}", NEAR) for i in range(3)]
    select(ob, "shin")
    for other in others:
        other.select_set(True)
    refuses(bpy.ops.pose.planar_ik_add, "a target and a pole at most")


def test_a_limb_that_cannot_be_posed_exactly():
    ob = posed_rig()
    put(ob.pose.bones["thigh"], scale=(1, 2, 1))
    refuses(bpy.ops.pose.planar_ik_add, "scaled unevenly")


@pytest.mark.parametrize("move", ["constraint", "driver"])
def test_a_limb_that_something_else_moves(move):
    ob = posed_rig()
    if move == "constraint":
        ob.pose.bones["shin"].constraints.new("LIMIT_ROTATION")
    else:
        ob.pose.bones["shin"].driver_add("rotation_quaternion", 1)
    update()
    refuses(bpy.ops.pose.planar_ik_add, "remove")


def test_a_pose_that_is_not_a_number():
    ob = posed_rig()
    put(ob.pose.bones["thigh"].location, x=float("nan"))
    refuses(bpy.ops.pose.planar_ik_add, "not a number")


def test_one_limb_refused_adds_none():
    ob = make_rig((*TWO_LEGS, Bone("lone", (1, 0, 0), (1, 0, 1))))
    select(ob, "shin.L", "shin.R", "lone")
    refuses(bpy.ops.pose.planar_ik_add, "no parent")


def test_solve_says_what_is_wrong():
    ob = posed_rig()
    ob.pose.bones["shin"].planar_ik.enabled = True
    with pytest.raises(RuntimeError, match="no target"):
        bpy.ops.pose.planar_ik_solve()


def test_menu_entries():
    menu = bpy.types.VIEW3D_MT_pose_ik
    drawn = [function.__module__ for function in menu._dyn_ui_initialize()]
    assert any("planar_ik" in module for module in drawn)
