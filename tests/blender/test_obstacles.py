"""What else moves a limb: the chain says so as long as that acts, and only then."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender.rigs import (
    LEG,
    NEAR,
    Bone,
    activate,
    assert_on_target,
    assert_refused,
    joints,
    make_chain,
    make_empty,
    make_rig,
    put,
    update,
)

FAR = (0.3, 0.5, -3)
FOOT = Bone("foot", LEG[2].tail, (0.1, 0.4, -2), "shin")
KNEECAP = Bone("kneecap", LEG[2].head, (0.1, 0.6, -1), "thigh")
CONTROL = Bone("control", NEAR, (0.2, 0.6, -1.2))


def limb(*bones, target=NEAR, **settings):
    """A rig with these bones besides the leg's, its target, and the chain, which can reach anything within reach."""
    ob, goal = make_rig((*LEG, *bones)), make_empty("target", target)
    return ob, goal, make_chain(ob, goal, plane="POLE", pole_target=make_empty("pole", (0.3, 5, -0.5)), **settings)


def assert_given_back(ob, chain, word):
    """The chain says what is wrong, and its bones are as the animator left them."""
    assert chain.reach == "INVALID"
    assert word in chain.message
    assert all(tuple(ob.pose.bones[name].rotation_quaternion) == (1, 0, 0, 0) for name in ("thigh", "shin"))


@pytest.mark.parametrize("bone", ["thigh", "shin"])
def test_a_constraint_on_the_limb_itself(bone):
    ob, target, chain = limb()
    constraint = ob.pose.bones[bone].constraints.new("LIMIT_ROTATION")
    update()
    assert_given_back(ob, chain, constraint.name)
    put(constraint, mute=True)
    assert_on_target(ob, target)


@pytest.mark.parametrize("setting", ["mute", "influence"])
def test_a_constraint_that_is_switched_on_and_off_again(setting):
    ob, target, chain = limb()
    constraint = ob.pose.bones["shin"].constraints.new("LIMIT_ROTATION")
    for acts in (True, False) * 3:
        setattr(constraint, setting, acts != (setting == "mute"))
        update()
        if acts:
            assert_given_back(ob, chain, constraint.name)
        else:
            assert_on_target(ob, target)


def test_a_constraint_that_gets_another_name_while_it_is_muted():
    ob, target, chain = limb()
    constraint = ob.pose.bones["shin"].constraints.new("LIMIT_ROTATION")
    for name in ("Limit Rotation", "one", "another"):
        constraint.name = name
        for is_muted in (False, True):
            constraint.mute = is_muted
            ob.pose.bones["hip"].location.x += 0.01
            update()
            if is_muted:
                assert_on_target(ob, target)
            else:
                assert_given_back(ob, chain, name)


def test_a_constraint_over_the_limb_whose_bone_gets_another_name():
    ob, target, chain = limb(FOOT, *(Bone(f"other{i}", (i, 0, 0), (i, 0, 1)) for i in range(20)))
    foot = ob.pose.bones["foot"].bone
    ob.pose.bones["foot"].constraints.new("IK")
    for name in ("foot", "paw", "hoof"):
        put(foot, name=name)
        for acts in (True, False):
            put(ob.pose.bones[name].constraints[0], mute=not acts)
            if acts:
                assert_given_back(ob, chain, name)
            else:
                assert_on_target(ob, target)


@pytest.mark.parametrize(("kind", "bone", "count"), [("IK", "foot", 0), ("SPLINE_IK", "foot", 2), ("IK", "kneecap", 2)])
def test_an_ik_constraint_over_the_limb(kind, bone, count):
    ob, target, chain = limb(FOOT, KNEECAP)
    constraint = ob.pose.bones[bone].constraints.new(kind)
    put(constraint, chain_count=count)
    assert_given_back(ob, chain, f"'{bone}'")
    put(constraint, chain_count=1)
    assert_on_target(ob, target)


@pytest.mark.parametrize("bone", ["shin", "foot"])
@pytest.mark.parametrize("switch", ["influence", "mute"])
def test_a_constraint_that_acts_in_some_frames_only(bone, switch):
    ob, target, chain = limb(FOOT)
    constraint = ob.pose.bones[bone].constraints.new("IK")
    constraint.target = make_empty("other", (2, 2, 2))
    for frame, acts in ((1, False), (10, True)):
        setattr(constraint, switch, acts if switch == "influence" else not acts)
        constraint.keyframe_insert(switch, frame=frame)
    update()
    for frame in (10, 1, 12, 1):
        bpy.context.scene.frame_set(frame)
        if frame == 1:
            assert_on_target(ob, target)
        else:
            assert_given_back(ob, chain, constraint.name)


@pytest.mark.parametrize("edited_at", [1, 10])
@pytest.mark.parametrize(("rival", "place"), [("foot", (0.1, 0.6, -1.9)), ("kneecap", (0.1, 0.6, -1))])
def test_chains_that_share_a_bone_take_turns(rival, place, edited_at):
    ob, target, chain = limb(FOOT, KNEECAP)
    goal = make_empty("goal", place)
    other = ob.pose.bones[rival].planar_ik
    other.target, other.plane, other.pole_target = goal, "POLE", chain.pole_target
    for frame, turns in ((1, (True, False)), (10, (False, True)), (20, (True, True))):
        for settings, bone, is_on in zip((chain, other), ("shin", rival), turns, strict=True):
            settings.enabled = is_on
            ob.keyframe_insert(f'pose.bones["{bone}"].planar_ik.enabled', frame=frame)
    bpy.context.scene.frame_set(edited_at)
    target.location.x += 0.1
    ob.update_tag(refresh={"DATA"})
    update()
    for frame in (10, 1, 20, 5, 12, 1):
        bpy.context.scene.frame_set(frame)
        if frame == 20:
            assert "another chain" in chain.message or "also in the chain" in chain.message
            assert "another chain" in other.message or "also in the chain" in other.message
        elif frame < 10:
            assert_on_target(ob, target)
        else:
            assert_on_target(ob, goal, rival)
            assert chain.message == "The chain is not enabled"


def test_a_driven_rotation():
    ob, target, chain = limb()
    curve = ob.pose.bones["shin"].driver_add("rotation_quaternion", 1)
    for is_muted in (False, True) * 3:
        curve.mute = is_muted
        update()
        if is_muted:
            assert_on_target(ob, target)
        else:
            assert "The rotation of 'shin' is driven" in chain.message


def test_a_driven_scale_only_keeps_the_limb_from_stretching():
    ob, target, chain = limb(target=FAR)
    ob.pose.bones["thigh"].driver_add("scale", 1).driver.expression = "1"
    update()
    assert (chain.reach, chain.message) == ("TOO_FAR", "")
    put(chain, stretch=1)
    assert_given_back(ob, chain, "The scale of 'thigh' is driven")
    ob.pose.bones["thigh"].driver_remove("scale", 1)
    update()
    assert_on_target(ob, target)


def test_an_ik_constraint_that_follows_the_limb_leaves_other_bones_to_be_its_target():
    held = Bone("held", LEG[2].tail, (0.1, -0.3, -1.9), "shin")
    arm, fore = Bone("arm", (1, 0, 0), (1, 0.2, -1), "hip"), Bone("fore", (1, 0.2, -1), (1, 0, -2), "arm", True)
    ob = make_rig((*LEG, held, CONTROL, arm, fore))
    constraint = ob.pose.bones["fore"].constraints.new("IK")
    constraint.target, constraint.subtarget, constraint.chain_count = ob, "held", 2
    chain = make_chain(ob, ob, subtarget="control", plane="POLE", pole_target=make_empty("pole", (0.3, 5, -0.5)))
    assert_on_target(ob, ob, bone="control")
    put(chain, subtarget="fore")
    assert "hangs on the chain" in chain.message


def test_an_armature_in_its_rest_position():
    ob, target, chain = limb()
    put(ob.data, pose_position="REST")
    assert_given_back(ob, chain, "rest position")
    rest = joints(ob)
    bpy.context.scene.frame_set(3)
    assert np.array_equal(joints(ob), rest)
    put(ob.data, pose_position="POSE")
    assert_on_target(ob, target)


def test_add_refuses_an_armature_in_its_rest_position():
    ob = make_rig()
    ob.data.pose_position = "REST"
    activate(ob)
    bpy.ops.object.mode_set(mode="POSE")
    ob.data.bones.active = ob.data.bones["shin"]
    with pytest.raises(RuntimeError, match="rest position"):
        bpy.ops.pose.planar_ik_add()
    assert [each.name for each in bpy.data.objects] == ["rig"]


def test_nothing_is_said_of_a_chain_that_is_off(caplog):
    ob = make_rig()
    chain = make_chain(ob, make_empty("target", NEAR))
    chain.enabled = False
    ob.pose.bones["shin"].constraints.new("COPY_ROTATION").target = ob
    update()
    assert caplog.messages == []
    put(chain, enabled=True)
    assert ["mute or remove it" in message for message in caplog.messages] == [True]
    assert_refused(chain, "mute or remove it")
