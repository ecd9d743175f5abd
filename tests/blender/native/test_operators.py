"""What a person does with chains, done with chains that run on the rig."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Euler

from tests.blender.natives import leg_on_rig, make_live, make_portable, matrices, parts, rebuild
from tests.blender.rigs import (
    HIP,
    LEG,
    assert_joints,
    copied,
    curves,
    frame_of,
    joints,
    key_location,
    length,
    make_chain,
    make_empty,
    make_rig,
    place_of,
    press,
    put,
    update,
)


def test_adding_makes_a_chain_on_the_rig_and_moves_nothing():
    ob = make_rig()
    before, had = matrices(ob), parts(ob)
    press(ob, "add")
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.runs_on, chain.reach, chain.message) == ("RIG", "REACHED", "")
    assert np.allclose(matrices(ob), before, atol=1e-5)
    bpy.ops.pose.planar_ik_remove()
    assert parts(ob) == had


def test_adding_to_the_extension_adds_nothing_to_the_rig():
    ob = make_rig()
    had = parts(ob)
    press(ob, "add", runs_on="EXTENSION")
    assert ob.pose.bones["shin"].planar_ik.runs_on == "EXTENSION"
    assert parts(ob) == had


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
def test_choosing_what_a_limb_runs_on_already_does_nothing(runs_on):
    ob = make_rig()
    press(ob, "add", runs_on=runs_on)
    before, had = matrices(ob), parts(ob)
    choose = bpy.ops.pose.planar_ik_make_portable if runs_on == "RIG" else bpy.ops.pose.planar_ik_make_live
    assert choose() == {"CANCELLED"}
    assert parts(ob) == had
    assert np.array_equal(matrices(ob), before)


def test_drivers_of_others_go_on_reading_a_setting():
    ob, lamp, paint = make_rig(), make_empty("lamp"), bpy.data.materials.new("paint")
    make_chain(ob)
    paint.use_nodes = True
    node = paint.node_tree.nodes.new("ShaderNodeValue")
    drivers = [lamp.driver_add("location", 2).driver, node.outputs[0].driver_add("default_value").driver]
    path = ob.pose.bones["shin"].path_from_id("planar_ik_influence")
    for driver in drivers:
        driver.type = "SUM"
        target = driver.variables.new().targets[0]
        target.id, target.data_path = ob, path

    def sets_the_lamp(influence):
        ob.pose.bones["shin"].planar_ik.influence = influence
        ob.update_tag()
        update()
        assert {driver.variables[0].targets[0].data_path for driver in drivers} == {target.data_path}
        return place_of(lamp)[2] == pytest.approx(influence)

    assert sets_the_lamp(0.25)
    make_portable(ob)
    assert sets_the_lamp(0.5)
    make_live(ob)
    assert sets_the_lamp(0.75)
    assert target.data_path == path


@pytest.mark.parametrize("influence", [1.0, 0.3])
def test_snapping_fk_shows_the_solution_without_the_chain(influence):
    ob = leg_on_rig(influence=influence)
    chain = ob.pose.bones["shin"].planar_ik
    put(chain, influence=1.0)
    solved = matrices(ob)
    chain.influence = influence
    press(ob, "snap_fk")
    assert chain.influence == pytest.approx(influence)
    put(chain, influence=0.0)
    assert np.allclose(matrices(ob), solved, atol=1e-5)


def test_snapping_fk_moves_no_limb_of_a_rig_that_stands_elsewhere():
    ob = make_rig()
    ob.location, ob.rotation_euler, ob.scale = (1, 2, 3), (0.5, 0.3, 1), (2, 2, 2)
    update()
    chain = make_chain(ob)
    make_portable(ob)
    solved = matrices(ob)
    press(ob, "snap_fk")
    put(chain, influence=0.0)
    assert np.allclose(matrices(ob), solved, atol=1e-5)


def test_snapping_fk_keeps_a_stretched_limb_whole():
    ob = leg_on_rig(plane="SWING", stretch=1.0)
    chain = ob.pose.bones["shin"].planar_ik
    put(chain.target, location=2 * chain.target.location)
    solved = matrices(ob)
    press(ob, "snap_fk")
    assert max(ob.pose.bones["thigh"].scale) > 1.1
    assert (chain.reach, chain.message) == ("REACHED", "")
    for influence in (1.0, 0.0):
        put(chain, influence=influence)
        assert np.allclose(matrices(ob), solved, atol=1e-3)  # straight, its knee moves by the root of rounding


def test_snapping_the_target_shows_the_own_pose():
    ob = leg_on_rig(influence=0.0, plane="POLE", pole_target=make_empty("pole", (1, 4, 0)))
    for name, angle in (("thigh", 0.5), ("shin", -0.7)):
        ob.pose.bones[name].rotation_quaternion = Euler((angle, 0.1, 0.2)).to_quaternion()
    update()
    own = joints(ob)
    press(ob, "snap_target")
    put(ob.pose.bones["shin"].planar_ik, influence=1.0)
    assert_joints(joints(ob), own, 1e-5)


def test_mirroring_makes_a_chain_on_the_rig_on_the_other_side():
    left = [LEG[1]._replace(name="thigh.L"), LEG[2]._replace(name="shin.L", parent="thigh.L")]
    right = [
        bone._replace(
            name=bone.name.replace(".L", ".R"),
            parent=bone.parent.replace(".L", ".R"),
            head=(-bone.head[0], *bone.head[1:]),
            tail=(-bone.tail[0], *bone.tail[1:]),
        )
        for bone in left
    ]
    ob = make_rig((HIP, *left, *right))
    make_chain(ob, make_empty("target.L", frame_of(ob, "shin.L").target(0.6, 0.4)), "shin.L")
    make_portable(ob, "shin.L")
    press(ob, "mirror", "shin.L")
    other = ob.pose.bones["shin.R"].planar_ik
    assert (other.runs_on, other.reach) == ("RIG", "REACHED")
    for a, b in zip(joints(ob, "shin.L"), joints(ob, "shin.R"), strict=True):
        assert np.allclose(a * (-1, 1, 1), b, atol=1e-5)


@pytest.mark.parametrize("features", [{}, {"influence": 0.6, "softness": 0.1}, {"plane": "POLE"}, {"bend": 0.4}])
def test_a_bake_plays_as_the_chain_did(features):
    ob = leg_on_rig(pole_target=make_empty("pole", (1, 4, 0)), **features)
    ob.pose.bones["thigh"].rotation_quaternion = Euler((0.2, 0.1, 0.3)).to_quaternion()
    frame = frame_of(ob)
    key_location(bpy.data.objects["target"], [frame.target(0.3 + 0.08 * i, 0.3 * i, 0.1) for i in range(8)], step=3)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 22
    played = []
    for number in range(1, 23):
        scene.frame_set(number)
        played.append(matrices(ob))
    press(ob, "bake", tolerance=0)
    assert not ob.pose.bones["shin"].planar_ik.enabled
    for number, each in zip(range(1, 23), played, strict=True):
        scene.frame_set(number)
        assert np.allclose(matrices(ob), each, atol=2e-5)


def test_switching_off_shows_the_own_pose():
    ob = leg_on_rig()
    ob.pose.bones["thigh"].rotation_quaternion = Euler((0.2, 0.1, 0.3)).to_quaternion()
    chain = ob.pose.bones["shin"].planar_ik
    put(chain, enabled=False)
    assert np.allclose(ob.pose.bones["thigh"].matrix_basis, Euler((0.2, 0.1, 0.3)).to_matrix().to_4x4(), atol=1e-6)
    own = matrices(ob)
    put(chain, enabled=True)
    assert not np.allclose(matrices(ob), own, atol=1e-3)
    assert np.linalg.norm(joints(ob).tip - place_of(chain.target)) <= 1e-5 * length(ob)


@pytest.mark.parametrize("to", ["FK", "IK"])
def test_switching_moves_nothing(to):
    ob = leg_on_rig(influence=1.0 if to == "FK" else 0.0)
    before = matrices(ob)
    press(ob, "switch", to=to)
    assert ob.pose.bones["shin"].planar_ik.influence == (0.0 if to == "FK" else 1.0)
    assert np.allclose(matrices(ob), before, atol=1e-5)


def bend_between(ob):
    ob.pose.bones["shin"]["planar_ik.bend"] = 0.3
    ob.update_tag()


def move_the_root(ob):
    ob.pose.bones["thigh"].location = (0.05, 0.1, 0.0)


@pytest.mark.parametrize(
    ("change", "word"),
    [(bend_between, "The knee of 'shin' does not swing yet"), (move_the_root, "The location of 'thigh' was changed")],
)
def test_what_the_mechanism_lacks_is_said_and_mended_by_rebuilding(change, word):
    ob, twin = leg_on_rig(plane="SWING"), make_rig(name="twin")
    twin.pose.bones["thigh"].location = (0.05, 0.1, 0.0) if change == move_the_root else (0, 0, 0)
    bend = 0.3 if change == bend_between else 1.0
    live = make_chain(twin, bpy.data.objects["target"], plane="SWING", bend=bend)
    change(ob)
    update()
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.reach, live.message) == ("INVALID", "")
    assert chain.message.startswith(word)
    assert "press Rebuild on the Rig" in chain.message
    rebuild(ob)
    assert (chain.reach, chain.message) == ("REACHED", "")
    assert np.allclose(joints(ob), joints(twin), atol=1e-5)


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
@pytest.mark.parametrize("how", ["keyed", "driven"])
def test_a_limb_whose_settings_are_animated_stays_removed(how, runs_on):
    ob = make_rig()
    ob.pose.bones["shin"].keyframe_insert("rotation_quaternion", frame=1)
    press(ob, "add", runs_on=runs_on)
    for name, number in (("enabled", 1), ("influence", 0.3), ("plane", 1)):
        shin = ob.pose.bones["shin"]
        if how == "keyed":
            shin.keyframe_insert(f"planar_ik_{name}", frame=1)
        else:
            shin.driver_add(f"planar_ik_{name}").driver.expression = str(number)
        update()
    press(ob, "remove")
    assert {path for path, _ in curves(ob)} == {'pose.bones["shin"].rotation_quaternion'}
    assert not ob.animation_data.drivers
    for frame in (5, 1):
        bpy.context.scene.frame_set(frame)
        chain = ob.pose.bones["shin"].planar_ik
        assert (chain.enabled, chain.target, chain.reach) == (False, None, "INVALID")
    press(ob, "add", runs_on=runs_on)
    bpy.context.scene.frame_set(3)
    assert ob.pose.bones["shin"].planar_ik.reach == "REACHED"


def test_keys_that_another_rig_has_too_stay_where_a_limb_is_removed():
    ob = make_rig()
    press(ob, "add", runs_on="EXTENSION")
    ob.pose.bones["shin"].keyframe_insert("planar_ik_influence", frame=1)
    twin = copied(ob)
    assert twin.animation_data.action == ob.animation_data.action
    press(ob, "remove")
    assert {path for path, _ in curves(twin)} == {'pose.bones["shin"].planar_ik_influence'}


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
@pytest.mark.parametrize("ran_on", ["RIG", "EXTENSION"])
@pytest.mark.parametrize("controls", ["EMPTY", "BONE"])
def test_adding_to_a_limb_whose_chain_is_off_begins_anew(ran_on, runs_on, controls, capfd):
    ob = make_rig()
    had = parts(ob)
    press(ob, "add", runs_on=ran_on, plane="POLE", controls=controls)
    chain = ob.pose.bones["shin"].planar_ik
    chain.softness, chain.min_angle, chain.influence, chain.enabled = 0.3, 1.0, 0.2, False
    ob.pose.bones["thigh"].rotation_quaternion = (0.9, 0.2, 0.1, 0.3)
    ob.pose.bones["shin"].rotation_quaternion = (0.9, -0.3, 0.0, 0.0)
    update()
    before = matrices(ob)
    press(ob, "add", runs_on=runs_on, plane="POLE")
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.runs_on, chain.reach, chain.softness, chain.influence) == (runs_on, "REACHED", 0.0, 1.0)
    assert np.allclose(matrices(ob), before, atol=1e-5)
    assert "Runs on the extension" not in capfd.readouterr().out
    press(ob, "remove")
    left = {"target_shin", "pole_shin"} if controls == "BONE" else set()  # which may be posed or followed by hand
    assert parts(ob)["bones"].keys() - had["bones"].keys() <= left
    assert parts(ob)["drivers"] == had["drivers"]


def test_a_target_of_a_chain_that_is_off_can_be_that_of_the_new_one():
    ob = make_rig()
    press(ob, "add", plane="SWING")
    target = ob.pose.bones["shin"].planar_ik.target
    ob.pose.bones["shin"].planar_ik.enabled = False
    press(ob, "add", plane="SWING", target=target.name)
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.target, chain.reach) == (target, "REACHED")
