"""An edit has those chains posed and looked at anew that it concerns, and no others."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.rigs import (
    LEG,
    NEAR,
    NEXT,
    Bone,
    assert_on_target,
    assert_refused,
    editing,
    joints,
    key_location,
    make_chain,
    make_empty,
    make_rig,
    place_of,
    plane_chain,
    put,
    update,
)


@pytest.fixture
def work(monkeypatch):
    """What is done for chains: pairs of ``pose`` or ``look`` and the name of their object."""
    done = []
    group = installed.addon("addon.live.group")
    pose, prepare = group.Group.pose, group.prepare

    def posing(self, *arguments):
        done.append(("pose", self.object.name))
        return pose(self, *arguments)

    def looking(chain, *arguments):
        done.append(("look", chain.object.name))
        return prepare(chain, *arguments)

    monkeypatch.setattr(group.Group, "pose", posing)
    monkeypatch.setattr(group, "prepare", looking)
    return done


@pytest.fixture
def legs(work):
    """Two rigs with a chain each, a rig without, and an empty; what was done for them so far is forgotten."""
    for name in ("a", "b"):
        ob = make_rig(name=name)
        plane_chain(ob, make_empty(f"target of {name}", NEAR))
    make_rig(name="none")
    make_empty("other")
    update()
    work.clear()
    return bpy.data.objects["a"], bpy.data.objects["b"]


def turn(ob, by=0.3):
    put(ob.pose.bones["hip"], rotation_quaternion=(1, by, 0, 0))


def test_an_edit_that_concerns_no_chain(legs, work):
    put(bpy.data.objects["other"], location=NEXT)
    turn(bpy.data.objects["none"])
    put(bpy.data.objects["none"].data.bones["hip"], use_deform=False)
    bpy.data.objects["other"].select_set(True)
    update()
    put(bpy.context.scene, frame_end=99)
    assert work == []


def test_a_target_poses_what_follows_it(legs, work):
    bpy.data.objects["target of b"].location = NEXT
    update()
    assert work == [("pose", "b")]
    assert_on_target(legs[1], bpy.data.objects["target of b"])


def test_what_carries_a_target_poses_what_follows_it(legs, work):
    target, carrier = bpy.data.objects["target of b"], make_empty("carrier")
    put(target, parent=carrier)
    work.clear()
    put(carrier.location, z=0.1)
    assert work == [("pose", "b")]
    assert_on_target(legs[1], target)


def test_a_bone_that_carries_the_limb_poses_it_without_a_look(legs, work):
    turn(legs[0])  # the first time, its channels are read
    work.clear()
    turn(legs[0], by=0.2)
    assert work == [("pose", "a")]
    assert_on_target(legs[0], bpy.data.objects["target of a"])


def test_a_setting_has_its_own_chain_looked_at(legs, work):
    knee = joints(legs[0]).knee
    put(legs[0].pose.bones["shin"].planar_ik, bend=-1)
    assert work == [("pose", "a"), ("look", "a")]
    assert abs(knee - joints(legs[0]).knee).max() > 0.1


def test_an_edit_seen_from_a_frame_in_which_the_rig_stands_elsewhere():
    """Evaluated anew, the rig's place would be that of the frame that the window shows."""
    ob, target = make_rig(), make_empty("target", NEAR)
    plane_chain(ob, target)
    key_location(ob, [(0, 0, 0), (0.3, 0, 0)], 1, 9)
    other = bpy.data.scenes.new("other")
    for shared in (ob, target, bpy.data.objects["pole"]):
        other.collection.objects.link(shared)
    other.frame_set(10)
    bpy.context.scene.frame_set(1)
    target.location = NEXT
    layer = other.view_layers[0]
    layer.update()
    there = ob.evaluated_get(layer.depsgraph)
    assert there.matrix_world.translation.x == pytest.approx(0.3)
    tip = there.matrix_world @ there.pose.bones["shin"].tail
    assert (tip - target.evaluated_get(layer.depsgraph).matrix_world.translation).length < 1e-5


def test_what_another_chain_moves_is_posed_after_it(work):
    ahead, behind = make_rig(name="ahead"), make_rig(name="behind")
    rider = make_empty("rider", (0.2, 0.1, -0.2))
    rider.parent, rider.parent_type, rider.parent_bone = behind, "BONE", "shin"
    target = make_empty("target", NEAR)
    plane_chain(ahead, rider)
    plane_chain(behind, target)
    work.clear()
    put(target, location=(0.2, 0.3, -1.1))
    assert work == [("pose", "behind"), ("pose", "ahead")]
    assert_on_target(behind, target)
    assert_on_target(ahead, rider)


def test_a_pose_set_by_hand_is_noticed_whatever_was_edited_before(legs):
    shin, chain = legs[0].pose.bones["shin"], legs[0].pose.bones["shin"].planar_ik
    for turned in ((0.8, 0.6, 0, 0), (0.6, 0, 0.8, 0)):
        turn(legs[0])
        put(shin, rotation_quaternion=turned)
        assert_on_target(legs[0], bpy.data.objects["target of a"])
        put(chain, enabled=False)
        assert tuple(shin.rotation_quaternion) == pytest.approx(turned)
        put(chain, enabled=True)


@pytest.mark.parametrize("bone", ["hip", "thigh", "shin"])
def test_the_shape_of_the_rest_pose_is_followed(legs, bone):
    with editing(legs[0]) as bones:
        bones[bone].tail.x += 0.2
    assert_on_target(legs[0], bpy.data.objects["target of a"])
    assert_on_target(legs[1], bpy.data.objects["target of b"])


def test_a_chain_is_refused_and_taken_up_as_its_rig_changes(legs):
    ob, data = legs[0], legs[0].data
    chain = ob.pose.bones["shin"].planar_ik
    for change, undo in (
        (lambda: setattr(data, "pose_position", "REST"), lambda: setattr(data, "pose_position", "POSE")),
        (
            lambda: ob.pose.bones["shin"].constraints.new("COPY_LOCATION"),
            lambda: setattr(ob.pose.bones["shin"].constraints[0], "mute", True),
        ),
    ):
        change()
        update()
        assert chain.reach == "INVALID"
        undo()
        update()
        assert_on_target(ob, bpy.data.objects["target of a"])


def test_chains_switched_on_all_at_once(legs):
    none = bpy.data.objects["none"]
    none.pose.bones.foreach_set("planar_ik_enabled", [bone.name == "shin" for bone in none.pose.bones])
    none.update_tag()
    update()
    assert none.pose.bones["shin"].planar_ik.message == "'shin' has no target"


def test_a_followed_bone_that_gets_another_name():
    ob, other = make_rig(name="a"), make_rig((*LEG, Bone("free", NEAR, (0, 0, 0))), "other")
    chain = plane_chain(ob, other, "free")
    assert_on_target(ob, other, bone="free")
    with_name = other.data.bones["free"]
    with_name.name = "renamed"
    chain.subtarget = "free"
    update()
    assert chain.message == "'other' has no bone 'free'"
    put(with_name, name="free")
    assert_on_target(ob, other, bone="free")


@pytest.mark.parametrize("others", [0, 30])
@pytest.mark.parametrize("name", ["hip", "thigh", "shin"])
def test_a_limb_whose_bones_get_other_names(name, others):
    bones = [Bone(f"other{i}", (i, 1, 0), (i, 1, 1)) for i in range(others)]
    ob, target = make_rig((*LEG, *bones)), make_empty("target", NEAR)
    plane_chain(ob, target)
    if others:  # two that change their names
        ob.data.bones["other1"].name, ob.data.bones[name].name = "free", "other1"
    ob.data.bones["other1" if others else name].name = "renamed"
    update()
    put(target, location=NEXT)
    bpy.context.scene.frame_set(2)
    lower = "renamed" if name == "shin" else "shin"
    assert_on_target(ob, target, lower)


def test_keys_that_are_all_deleted(legs, work):
    ob, target = legs[0], bpy.data.objects["target of a"]
    key_location(target, [NEAR, NEXT], 1, 10)
    thigh = ob.pose.bones["thigh"]
    thigh.keyframe_insert("rotation_quaternion", frame=1)
    update()
    thigh.keyframe_delete("rotation_quaternion", frame=1)
    update()
    for frame in (1, 11, 5):
        bpy.context.scene.frame_set(frame)
        assert_on_target(ob, target)


@pytest.mark.parametrize("count", [2, 3])
def test_chains_that_move_each_others_targets_say_so(count, capfd):
    rigs = [make_rig(name=f"rig{i}") for i in range(count)]
    for i, ob in enumerate(rigs):
        target = make_empty(f"target{i}", (0, 0.2, 0))
        target.parent, target.parent_type, target.parent_bone = rigs[i - 1], "BONE", "shin"
        make_chain(ob, target)
    last = make_rig(name="last")
    rider = make_empty("rider", (0, -0.7, 0))
    rider.parent, rider.parent_type, rider.parent_bone = rigs[0], "BONE", "shin"
    plane_chain(last, rider)
    for frame in (1, 2, 3):
        bpy.context.scene.frame_set(frame)
        for ob in rigs:
            assert_refused(ob.pose.bones["shin"].planar_ik, "move each other's targets")
        assert_on_target(last, rider)
    put(rigs[0].pose.bones["shin"].planar_ik, enabled=False)
    for ob in rigs[1:]:
        assert ob.pose.bones["shin"].planar_ik.message == ""
    assert "Traceback" not in capfd.readouterr().err


def test_a_chain_that_no_key_switches_on_any_more_is_in_no_circle():
    a, b = make_rig(name="a"), make_rig(name="b")
    chain = make_chain(a, b, subtarget="shin", plane="SWING")
    other = make_chain(b, a, subtarget="shin", plane="SWING")
    put(other, enabled=False)
    b.pose.bones["shin"].keyframe_insert("planar_ik_enabled", frame=1)
    update()
    assert "move each other's targets" in chain.message
    b.pose.bones["shin"].keyframe_delete("planar_ik_enabled", frame=1)
    update()
    assert chain.message == ""


def test_of_scales_that_importers_leave_nothing_is_said_to_move_the_limb():
    """Keys of imported motion scale a hip by 1.00003 along one axis: folded, its thigh is 1.2e-5 of the limb longer."""
    ob, target = make_rig(), make_empty("target", NEAR)
    chain = make_chain(ob, target, plane="SWING")
    put(ob.pose.bones["thigh"], scale=(1.0, 1.0, 1.00008))
    length = 1.95
    worst = 0.0
    for angle in np.linspace(0.0, 6.0, 25):
        put(target, location=(0.4 * np.sin(angle), 0.4 * np.cos(angle), -0.3))
        worst = max(worst, chain.residual / length)
        assert (chain.reach in {"REACHED", "LIMITED"}, chain.message) == (True, "")
    assert worst > 1e-5


@pytest.mark.parametrize(("influence", "reach"), [(1.0, "INVALID"), (0.5, "LIMITED")])
def test_a_tip_that_something_else_takes_away_is_not_reached(legs, influence, reach):
    """As another extension's handler may, which runs after ours."""
    ob, target = legs[0], bpy.data.objects["target of a"]
    chain = ob.pose.bones["shin"].planar_ik
    put(chain, influence=influence)

    def turn_away(*_):
        ob.pose.bones["shin"].rotation_quaternion = (1, 0.2, 0, 0)

    bpy.app.handlers.depsgraph_update_post.append(turn_away)
    put(target, location=NEXT)
    assert np.linalg.norm(joints(ob).tip - place_of(target)) == pytest.approx(chain.residual, abs=1e-6)
    assert chain.residual > 0.01
    assert chain.reach == reach
    assert ("something else moves it" in chain.message) == (reach == "INVALID")
    bpy.app.handlers.depsgraph_update_post.remove(turn_away)
    chain.influence = 1
    target.location = NEAR
    update()
    assert_on_target(ob, target)
