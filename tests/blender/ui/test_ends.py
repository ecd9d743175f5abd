"""Feet and hands that are turned as the target is: in IK, and not in FK."""

from __future__ import annotations

import math
import re
from typing import Any

import bpy
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector

from tests.blender.bake_rigs import bake_scene
from tests.blender.natives import make_live, make_portable, parts
from tests.blender.rigs import (
    HIP,
    LEG,
    Bone,
    curves,
    make_empty,
    put,
    select,
    set_keys,
    set_rotation,
    update,
)
from tests.blender.ui.test_adding import FOOT, POSED, UNTURNED, rig_at_rest, turn_at_random, turn_between, worlds

WAYS = ("RIG", "EXTENSION")
CONTROLS = ("EMPTY", "BONE", "ROOT")
LIMB = ("thigh", "shin", "foot")
UNMOVED = 1e-5
MIRRORED = (-1.5, 1.5, 1.5)
UNEVEN = (1.5, 2.2, 0.9)
BOTH = (1.2, 2.0, -0.7)


@pytest.fixture(params=WAYS)
def runs_on(request: Any) -> Any:
    """What the limb runs on."""
    return request.param


def leg_on_a_slope(runs_on: str, controls: str = "EMPTY", mode: str = "QUATERNION") -> Any:
    """A posed leg whose foot is turned as its target is, and that target moved and turned."""
    ob = rig_at_rest(POSED)
    ob.location, ob.rotation_euler, ob.scale = (0.4, -0.2, 0.1), (0.3, 0.5, -0.4), (1.5, 1.5, 1.5)
    turn_at_random(ob, 3)
    for bone in ob.pose.bones:
        bone.rotation_mode = mode  # which leaves them as they are turned
    bpy.ops.pose.planar_ik_add(plane="POLE", controls=controls, keep_rotation=True, runs_on=runs_on)
    control = goal_of(ob)
    control.location.z += 0.2
    control.rotation_mode = mode
    set_rotation(control, {"QUATERNION": (0.9, 0.1, -0.3, 0.2), "XZY": (0.2, 0.5, -0.3)}[mode])
    update()
    return ob


def goal_of(ob: Any) -> Any:
    """The empty or the bone that the leg follows."""
    chain = ob.pose.bones["shin"].planar_ik
    return chain.target.pose.bones[chain.subtarget] if chain.subtarget else chain.target


def goal_world(ob: Any) -> Matrix:
    chain = ob.pose.bones["shin"].planar_ik
    return worlds(ob)[chain.subtarget] if chain.subtarget else chain.target.matrix_world


def assert_stayed(ob: Any, before: dict[str, Matrix]) -> None:
    """All of the leg, its skin too."""
    after = worlds(ob)
    for name in LIMB:
        assert turn_between(after[name], before[name]) <= UNTURNED, name
        assert (after[name].translation - before[name].translation).length <= UNMOVED * 3


def share(ob: Any, influence: float) -> None:
    put(ob.pose.bones["shin"].planar_ik, influence=influence)
    update()


def test_a_foot_is_free_in_fk_and_its_targets_in_ik(runs_on: str) -> None:
    ob = leg_on_a_slope(runs_on)
    foot = ob.pose.bones["foot"]
    assert turn_between(worlds(ob)["foot"], goal_world(ob)) <= UNTURNED
    share(ob, 0.0)
    before = worlds(ob)
    set_rotation(foot, Quaternion((1, 0, 0), 0.5) @ foot.rotation_quaternion)
    update()
    assert turn_between(worlds(ob)["foot"], before["foot"]) == pytest.approx(0.5, abs=1e-3)
    share(ob, 1.0)
    assert turn_between(worlds(ob)["foot"], goal_world(ob)) <= UNTURNED


def test_it_stays_so_whatever_the_limb_comes_to_run_on(runs_on: str) -> None:
    ob = leg_on_a_slope(runs_on)
    for change in (make_live, make_portable) if runs_on == "RIG" else (make_portable, make_live):
        select(ob, "shin")
        change(ob, "shin")
        share(ob, 0.0)
        before = worlds(ob)["foot"]
        goal_of(ob).rotation_quaternion = Quaternion((0, 0, 1), 0.3) @ goal_of(ob).rotation_quaternion
        assert turn_between(worlds(ob)["foot"], before) <= UNTURNED
        share(ob, 1.0)
        assert turn_between(worlds(ob)["foot"], goal_world(ob)) <= UNTURNED


@pytest.mark.parametrize("controls", CONTROLS)
@pytest.mark.parametrize("mode", ["QUATERNION", "XZY"])
def test_switching_moves_no_foot(runs_on: str, mode: str, controls: str) -> None:
    ob = leg_on_a_slope(runs_on, controls, mode)
    before = worlds(ob)
    select(ob, "shin")
    bpy.ops.pose.planar_ik_switch(to="FK")
    assert ob.pose.bones["shin"].planar_ik.influence == 0.0
    assert_stayed(ob, before)
    for name, angle in (("thigh", 0.2), ("foot", -0.6)):
        turn(ob.pose.bones[name], angle)
    before = worlds(ob)
    bpy.ops.pose.planar_ik_switch(to="IK")
    assert ob.pose.bones["shin"].planar_ik.influence == 1.0
    assert_stayed(ob, before)


@pytest.mark.parametrize("controls", CONTROLS)
@pytest.mark.parametrize("scale", [(1.0, 2.0, 0.5), (-1.0, 1.0, 1.0), (1.0, -0.5, -2.0), (-1.5, -1.5, -1.5)])
@pytest.mark.parametrize("mode", ["QUATERNION", "XZY"])
def test_a_scaled_or_mirrored_target_keeps_its_scale_and_no_foot_moves(
    runs_on: str, mode: str, scale: tuple[float, ...], controls: str
) -> None:
    ob = leg_on_a_slope(runs_on, controls, mode)
    put(goal_of(ob), scale=scale)
    select(ob, "shin")
    for change in (switch_to_fk, bend_in_fk, switch_to_ik, snap_target):
        before = worlds(ob)
        change(ob)
        if change is not bend_in_fk:
            assert_stayed(ob, before)
        assert goal_of(ob).scale[:] == scale


def test_a_foot_that_something_else_turns_too_is_told(runs_on: str, capfd: Any) -> None:
    ob = leg_on_a_slope(runs_on)
    select(ob, "shin")
    switch_to_fk(ob)
    switch_to_ik(ob)
    assert "turns by" not in capfd.readouterr().out
    other = ob.pose.bones["foot"].constraints.new("COPY_ROTATION")
    other.target, other.influence = make_empty("other"), 0.5
    ob.pose.bones["foot"].constraints.move(1, 0)
    update()
    before = worlds(ob)["foot"]
    switch_to_fk(ob)
    turned = math.degrees(turn_between(worlds(ob)["foot"], before))
    (told,) = re.findall(r"'foot' turns by ([\d.]+)° as its limb is switched", capfd.readouterr().out)
    assert float(told) <= turned * 1.01
    assert turned > 1.0


@pytest.mark.parametrize("controls", CONTROLS)
def test_a_target_that_is_moved_alone_keeps_its_whole_turns(runs_on: str, controls: str) -> None:
    ob = rig_at_rest(POSED)
    bpy.ops.pose.planar_ik_add(plane="POLE", controls=controls, runs_on=runs_on)
    goal = goal_of(ob)
    goal.rotation_mode = "XYZ"
    put(goal, rotation_euler=(0.1, 20.0, -7.5), scale=(1.0, 0.0, -2.0))
    kept = goal.rotation_euler[:], goal.scale[:], goal.location[:]
    for change in (switch_to_fk, bend_in_fk, switch_to_ik):
        change(ob)
    assert (goal.rotation_euler[:], goal.scale[:]) == kept[:2]
    assert goal.location[:] != kept[2]


def turn(bone: Any, angle: float) -> None:
    """About its X axis."""
    bone.matrix_basis = bone.matrix_basis @ Matrix.Rotation(angle, 4, "X")


def leg_scaled(scale: tuple[float, ...]) -> Any:
    """A posed leg of an armature object with this scale, not yet a limb; the object is turned as well."""
    ob = rig_at_rest(POSED)
    ob.location, ob.rotation_euler, ob.scale = (0.4, -0.2, 0.1), (0.3, 0.5, -0.4), scale
    turn_at_random(ob, 3)
    update()
    return ob


@pytest.mark.parametrize("controls", CONTROLS)
@pytest.mark.parametrize("scale", [MIRRORED, UNEVEN, BOTH])
def test_no_foot_turns_as_limbs_of_scaled_objects_are_added_switched_and_snapped(
    runs_on: str, scale: tuple[float, ...], controls: str, capfd: Any
) -> None:
    ob = leg_scaled(scale)
    stays = controls != "EMPTY" or scale == MIRRORED
    before = worlds(ob)
    bpy.ops.pose.planar_ik_add(plane="POLE", controls=controls, keep_rotation=True, runs_on=runs_on)
    assert_foot_stayed(ob, before, stays)
    assert ("'foot' turns by" in capfd.readouterr().out) != stays
    goal_of(ob).rotation_mode = "QUATERNION"
    set_rotation(goal_of(ob), goal_of(ob).rotation_quaternion @ Quaternion((0.9, 0.1, -0.3, 0.2)))
    for change in (switch_to_fk, bend_in_fk, switch_to_ik, snap_fk, snap_target):
        before = worlds(ob)
        if change is bend_in_fk:
            change(ob)
            continue
        change(ob)
        assert_foot_stayed(ob, before, stays)


def assert_foot_stayed(ob: Any, before: dict[str, Matrix], and_across: bool) -> None:
    """The foot's transform, or its axis alone, where an unsheared rotation in the world is all that it can have."""
    after = worlds(ob)["foot"]
    for axis in (0, 1, 2) if and_across else (1,):
        assert before["foot"].col[axis].to_3d().angle(after.col[axis].to_3d()) <= UNTURNED * 10, axis
    assert (after.translation - before["foot"].translation).length <= UNMOVED * 3


def switch_to_fk(_: Any) -> None:
    bpy.ops.pose.planar_ik_switch(to="FK")


def switch_to_ik(_: Any) -> None:
    bpy.ops.pose.planar_ik_switch(to="IK")


def snap_fk(_: Any) -> None:
    bpy.ops.pose.planar_ik_snap_fk()


def snap_target(_: Any) -> None:
    bpy.ops.pose.planar_ik_snap_target()


def bend_in_fk(ob: Any) -> None:
    for name, angle in (("thigh", 0.2), ("foot", -0.6)):
        turn(ob.pose.bones[name], angle)


@pytest.mark.parametrize("influence", [0.0, 0.4, 1.0])
def test_snapping_takes_the_foot_along_at_any_influence(runs_on: str, influence: float) -> None:
    ob = leg_on_a_slope(runs_on)
    select(ob, "shin")
    solved = worlds(ob)
    share(ob, influence)
    bpy.ops.pose.planar_ik_snap_fk()
    share(ob, 0.0)
    assert_stayed(ob, solved)
    for name, angle in (("shin", 0.2), ("foot", -0.6)):
        turn(ob.pose.bones[name], angle)
    own = worlds(ob)
    share(ob, influence)
    bpy.ops.pose.planar_ik_snap_target()
    share(ob, 1.0)
    assert_stayed(ob, own)


def test_switching_back_and_forth_with_keys_is_seamless(runs_on: str) -> None:
    ob = leg_on_a_slope(runs_on)
    select(ob, "shin")
    scene = bpy.context.scene
    scene.tool_settings.use_keyframe_insert_auto = True
    before = worlds(ob)
    scene.frame_set(10)
    bpy.ops.pose.planar_ik_switch(to="FK")
    turn(ob.pose.bones["foot"], 0.7)
    ob.pose.bones["foot"].keyframe_insert("rotation_quaternion", frame=20)
    for frame in (9, 10):
        scene.frame_set(frame)
        assert_stayed(ob, before)
    scene.frame_set(20)
    turned = worlds(ob)
    assert turn_between(turned["foot"], before["foot"]) == pytest.approx(0.7, abs=1e-3)
    bpy.ops.pose.planar_ik_switch(to="IK")
    for frame in (19, 20):
        scene.frame_set(frame)
        assert turn_between(worlds(ob)["shin"], turned["shin"]) <= UNTURNED
    assert turn_between(worlds(ob)["foot"], turned["foot"]) <= UNTURNED


def test_the_foot_follows_another_target_that_the_limb_is_given(runs_on: str) -> None:
    ob = leg_on_a_slope(runs_on)
    other = make_empty("other", goal_world(ob).translation)
    other.rotation_euler = Euler((1.0, -0.4, 0.2))
    ob.pose.bones["shin"].planar_ik.target = other
    update()
    assert turn_between(worlds(ob)["foot"], other.matrix_world) <= UNTURNED
    select(ob, "shin")
    bpy.ops.pose.planar_ik_remove()
    assert not ob.pose.bones["foot"].constraints


def test_remove_leaves_nothing_of_it(runs_on: str) -> None:
    ob = rig_at_rest((HIP, *LEG[1:], FOOT, Bone("toe", FOOT.tail, (0.1, 0.5, -2), "foot")))
    before = parts(ob)
    bpy.ops.pose.planar_ik_add(keep_rotation=True, runs_on=runs_on)
    assert parts(ob) != before
    bpy.ops.pose.planar_ik_remove()
    assert parts(ob) == before


def test_a_bake_leaves_the_foot_as_it_is_turned(runs_on: str) -> None:
    ob = leg_on_a_slope(runs_on)
    set_keys(goal_of(ob), "location", {1: (0.2, 0.0, -1.0), 12: (0.5, 0.4, -1.2)})
    chain = ob.pose.bones["shin"].planar_ik
    for frame, influence in ((4, 1.0), (9, 0.0)):
        chain.influence = influence
        ob.pose.bones["shin"].keyframe_insert("planar_ik_influence", frame=frame)
    before = [worlds_at(ob, frame) for frame in (1, 4, 6, 9, 12)]
    bake_scene(range(1, 13))
    for frame, wanted in zip((1, 4, 6, 9, 12), before, strict=True):
        worlds_at(ob, frame)
        assert_stayed(ob, wanted)


@pytest.mark.parametrize("mode", ["QUATERNION", "XZY"])
@pytest.mark.parametrize("tolerance", [0.0, 0.002])
@pytest.mark.parametrize("controls", CONTROLS)
def test_what_is_baked_stays_when_the_limb_is_removed(runs_on: str, controls: str, tolerance: float, mode: str) -> None:
    ob = leg_on_a_slope(runs_on, controls, mode)
    goal = goal_of(ob)
    set_keys(goal, "location", {1: goal.location[:], 12: (goal.location + Vector((0.3, 0.2, 0.1)))[:]})
    channel = {"QUATERNION": "rotation_quaternion"}.get(mode, "rotation_euler")
    turned = {"QUATERNION": (0.2, 0.7, -0.3, 0.6), "XZY": (1.2, -0.5, 0.9)}[mode]
    set_keys(goal, channel, {1: getattr(goal, channel)[:], 12: turned})
    frames = range(1, 13)
    before = [worlds_at(ob, frame) for frame in frames]
    bake_scene(frames, tolerance=tolerance)
    select(ob, "shin")
    bpy.ops.pose.planar_ik_remove()
    keyed = {len(curve.keyframe_points) for (path, _), curve in curves(ob).items() if "foot" in path}
    assert keyed == {12} if tolerance == 0.0 else max(keyed) < 12
    for frame, wanted in zip(frames, before, strict=True):
        after = worlds_at(ob, frame)["foot"]
        assert turn_between(after, wanted["foot"]) <= UNTURNED + 4.0 * tolerance  # on a foot of half a unit
        assert (after.translation - wanted["foot"].translation).length <= UNMOVED * 3 + tolerance


@pytest.mark.parametrize("is_keyed", [False, True])
def test_the_foot_of_a_limb_that_is_off_is_free(runs_on: str, is_keyed: bool) -> None:
    ob = leg_on_a_slope(runs_on)
    shin, foot = ob.pose.bones["shin"], ob.pose.bones["foot"]
    for frame, is_on in ((1, True), (5, False), (9, True)) if is_keyed else ():
        shin.planar_ik.enabled = is_on
        shin.keyframe_insert("planar_ik_enabled", frame=frame)
        update()
    solved = worlds_at(ob, 1)["foot"]
    assert turn_between(solved, goal_world(ob)) <= UNTURNED
    bpy.context.scene.frame_set(5)
    if not is_keyed:
        put(shin.planar_ik, enabled=False)
    own = worlds(ob)["foot"]
    set_rotation(goal_of(ob), (0.3, 0.9, 0.2, -0.4))
    assert turn_between(worlds(ob)["foot"], own) <= UNTURNED
    turn(foot, 0.7)
    assert turn_between(worlds(ob)["foot"], own) == pytest.approx(0.7, abs=1e-3)
    bpy.context.scene.frame_set(9)
    if not is_keyed:
        put(shin.planar_ik, enabled=True)
    assert turn_between(worlds(ob)["foot"], goal_world(ob)) <= UNTURNED


def worlds_at(ob: Any, frame: int) -> dict[str, Matrix]:
    bpy.context.scene.frame_set(frame)
    return worlds(ob)
