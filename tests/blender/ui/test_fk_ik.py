"""Snapping target to pose and pose to target, mirroring, and keying settings; judged by where the joints are."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from mathutils import Euler, Matrix, Vector

from tests.blender.rigs import curves, editing, make_empty, set_keys, update

LENGTH = 2.0
SIDES = [
    (".L", ".R"),
    (".l", ".r"),
    ("_L", "_R"),
    ("_l", "_r"),
    (".Left", ".Right"),
    ("-L", "-R"),
    (" right", " left"),
    (":LeftLeg", ":RightLeg"),
]


@pytest.fixture
def legs() -> Any:
    """An armature with two legs, thigh.L to shin.R, in Pose Mode."""
    return build_legs(".L", ".R")


def build_legs(left: str, right: str) -> Any:
    armature = bpy.data.armatures.new("Legs")
    ob = bpy.data.objects.new("Legs", armature)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.edit_bones
    hips = bones.new("hips")
    hips.head, hips.tail = (0, 0, 2), (0, 0, 2.4)
    for side, x in ((left, 0.3), (right, -0.3)):
        thigh, shin = bones.new(f"thigh{side}"), bones.new(f"shin{side}")
        thigh.head, thigh.tail, thigh.parent = (x, 0, 2), (x, -0.1, 1), hips
        shin.head, shin.tail, shin.parent, shin.use_connect = thigh.tail, (x, 0, 0), thigh, True
    bpy.ops.armature.select_all(action="SELECT")
    bpy.ops.armature.calculate_roll(type="GLOBAL_POS_Y")
    bpy.ops.object.mode_set(mode="POSE")
    return ob


def select(ob: Any, *names: str) -> None:
    for bone in ob.pose.bones:
        owner = bone if hasattr(bone, "select") else bone.bone
        owner.select = bone.name in names
    ob.data.bones.active = ob.data.bones[names[-1]]


def joints(ob: Any, side: str = ".L") -> list[Vector]:
    bpy.context.view_layer.update()
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bones = evaluated.pose.bones
    return [evaluated.matrix_world @ place for place in (bones[f"thigh{side}"].tail, bones[f"shin{side}"].tail)]


def apart(one: list[Vector], other: list[Vector]) -> float:
    return max((a - b).length for a, b in zip(one, other, strict=True))


def add_chain(ob: Any, side: str = ".L", **options: Any) -> Any:
    select(ob, f"shin{side}")
    bpy.ops.pose.planar_ik_add(**{"runs_on": "EXTENSION"} | options)
    return ob.pose.bones[f"shin{side}"].planar_ik


@pytest.mark.parametrize("names", [("target", "subtarget"), ("pole_target", "pole_subtarget")])
@pytest.mark.parametrize("carrier", ["bone", "object", "bone of another"])
def test_what_carries_the_limb_is_not_moved_to_snap(legs: Any, names: tuple[str, str], carrier: str) -> None:
    """As the limb would go with it."""
    other = bpy.data.objects.new("other", legs.data.copy())
    bpy.context.scene.collection.objects.link(other)
    if carrier != "bone":
        legs.parent = other
    if carrier == "bone of another":
        legs.parent_type, legs.parent_bone = "BONE", "shin.R"
    chain = add_chain(legs, runs_on="RIG", plane="POLE")
    goal = {"bone": (legs, "hips"), "object": (other, ""), "bone of another": (other, "thigh.R")}[carrier]
    for name, value in zip(names, goal, strict=True):
        setattr(chain, name, value)
    chain.influence = 0.0
    legs.pose.bones["thigh.L"].rotation_quaternion = Euler((0.3, 0.1, 0.0)).to_quaternion()
    before = joints(legs)
    with pytest.raises(RuntimeError, match=f"'{goal[1] or goal[0].name}' carries the limb of 'shin.L'"):
        bpy.ops.pose.planar_ik_snap_target()
    assert joints(legs) == before


angles = st.floats(-1.2, 1.2)


@given(
    st.tuples(angles, angles, angles),
    st.tuples(angles, angles, angles),
    st.sampled_from([0.0, 0.1]),
    st.sampled_from([0.0, 1.1, -2.9]),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_snapped_target_and_pole_show_the_own_pose(thigh: Any, shin: Any, softness: float, beside: float) -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob = build_legs(".L", ".R")
    chain = add_chain(ob, plane="POLE")
    chain.softness, chain.pole_angle, chain.influence = softness, beside, 0.0
    for name, turn in (("thigh.L", thigh), ("shin.L", shin)):
        ob.pose.bones[name].rotation_quaternion = Euler(turn).to_quaternion()
    own = joints(ob)
    bpy.ops.pose.planar_ik_snap_target()
    assert apart(joints(ob), own) == 0.0
    chain.influence = 1.0
    assert apart(joints(ob), own) < 1e-5 * LENGTH


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
@pytest.mark.parametrize("plane", ["REST", "SWING", "POLE"])
@pytest.mark.parametrize("knee", [-2.2, 0.3, 0.5, 0.6, 0.7, 1.4])
def test_a_limb_with_limits_and_softness_is_snapped_or_said_to_be_kept(
    legs: Any, plane: str, knee: float, runs_on: str, capfd: Any
) -> None:
    """The softness ends at the knee's largest angle, not at the straight limb."""
    chain = add_chain(legs, plane=plane, runs_on=runs_on)
    chain.softness, chain.min_angle, chain.max_angle, chain.influence = 0.04, 1.0, 2.5, 0.0
    legs.pose.bones["shin.L"].rotation_quaternion = Euler((knee, 0.0, 0.0)).to_quaternion()
    own = joints(legs)
    inner = (own[0] - own[1]).angle(own[0] - legs.matrix_world @ legs.pose.bones["thigh.L"].head)
    assert bpy.ops.pose.planar_ik_switch(to="IK") == {"FINISHED"}
    kept = "Its knee limits keep 'shin.L' from its pose: set Min and Max Knee Angle" in capfd.readouterr().out
    assert kept != (1.0 <= inner <= 2.5)
    assert kept or apart(joints(legs), own) < 1e-5 * LENGTH


@given(angles, st.floats(-2.5, 2.5))
@settings(max_examples=25)
def test_snapped_target_and_bend_show_the_own_pose_in_the_rest_plane(hip: float, knee: float) -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob = build_legs(".L", ".R")
    # Straight, the knee moves with the root of the target's rounding: no place in single precision holds it to 1e-5.
    assume(abs(knee + 2.0 * math.atan(0.1)) > 0.02)
    chain = add_chain(ob)
    chain.influence = 0.0
    for name, turn in (("thigh.L", hip), ("shin.L", knee)):
        ob.pose.bones[name].rotation_quaternion = Euler((turn, 0.0, 0.0)).to_quaternion()
    own = joints(ob)
    bpy.ops.pose.planar_ik_snap_target()
    chain.influence = 1.0
    assert apart(joints(ob), own) < 1e-5 * LENGTH


def swung_chain(legs: Any, side: str) -> Any:
    """A hinge's chain whose knee swung out of the rest plane, and the bones' own pose with it."""
    chain = add_chain(legs, side, plane="REST")
    chain.bend = 0.3
    chain.target.location.z += 0.4
    bpy.context.view_layer.update()
    bpy.ops.pose.planar_ik_snap_fk()
    return chain


@pytest.mark.parametrize("side", [".L", ".R"])
def test_a_knee_that_swung_out_of_the_rest_plane_is_snapped_to(legs: Any, side: str) -> None:
    chain = swung_chain(legs, side)
    chain.bend, chain.influence = 1.0, 0.0
    own = joints(legs, side)
    bpy.ops.pose.planar_ik_snap_target()
    chain.influence = 1.0
    assert chain.bend == pytest.approx(0.3, abs=1e-5)
    assert apart(joints(legs, side), own) < 1e-5 * LENGTH


@pytest.mark.parametrize("side", [".L", ".R"])
def test_a_knee_that_swung_to_the_other_side_is_refused_without_a_pole(legs: Any, side: str) -> None:
    """To which no bend of a hinge swings it: the bones' x axes are its normal."""
    chain = swung_chain(legs, side)
    chain.influence = 0.0
    for name in (f"thigh{side}", f"shin{side}"):
        w, x, y, z = legs.pose.bones[name].rotation_quaternion
        legs.pose.bones[name].rotation_quaternion = (w, x, -y, -z)
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="set its plane to Pole"):
        bpy.ops.pose.planar_ik_snap_target()
    assert chain.bend == pytest.approx(0.3)


def test_a_target_snapped_for_a_limb_that_stretches_is_at_its_tip(legs: Any) -> None:
    """For then softness leaves the tip behind nowhere: the bones make up for it."""
    chain = add_chain(legs, plane="POLE")
    chain.softness, chain.stretch, chain.influence = 0.2, 1.0, 0.0
    own = joints(legs)
    bpy.ops.pose.planar_ik_snap_target()
    chain.influence = 1.0
    tip = joints(legs)[1]
    assert (tip - own[1]).length < 1e-5 * LENGTH
    assert (chain.target.matrix_world.translation - tip).length < 1e-5 * LENGTH


def test_a_pose_out_of_the_rest_plane_is_refused_without_a_pole(legs: Any) -> None:
    chain = add_chain(legs, plane="REST")
    chain.influence = 0.0
    legs.pose.bones["thigh.L"].rotation_quaternion = Euler((0.0, 1.0, 0.5)).to_quaternion()
    bpy.context.view_layer.update()
    place = chain.target.location.copy()
    with pytest.raises(RuntimeError, match="set its plane to Pole"):
        bpy.ops.pose.planar_ik_snap_target()
    assert chain.target.location == place


@pytest.mark.parametrize("influence", [1.0, 0.3, 0.0])
def test_the_solution_becomes_the_own_pose(legs: Any, influence: float) -> None:
    chain = add_chain(legs)
    chain.target.location = (0.3, -0.5, 0.7)
    solved = joints(legs)
    chain.influence = influence
    bpy.ops.pose.planar_ik_snap_fk()
    assert chain.influence == pytest.approx(influence)
    chain.influence = 0.0
    assert apart(joints(legs), solved) < 1e-6


@pytest.mark.parametrize("influence", [1.0, 0.5])
def test_the_solution_of_a_stretched_limb_becomes_the_own_pose(legs: Any, influence: float) -> None:
    chain = add_chain(legs, plane="POLE")
    chain.stretch = 1.0
    chain.target.location = (0.3, 0.4, -0.5)
    solved = joints(legs)
    chain.influence = influence
    bpy.ops.pose.planar_ik_snap_fk()
    # As long as its target is away now, the limb is straight, where the knee moves with the root of rounding.
    assert apart(joints(legs)[1:], solved[1:]) < 1e-5 * LENGTH
    assert apart(joints(legs), solved) < 1e-3 * LENGTH
    for name, value in (("influence", 0.0), ("enabled", False)):
        setattr(chain, name, value)
        assert apart(joints(legs), solved) < 1e-5 * LENGTH


def test_a_stretched_limb_is_snapped_over_a_range(legs: Any) -> None:
    scene = bpy.context.scene
    chain = add_chain(legs, plane="POLE")
    chain.stretch = 1.0
    solved = {}
    set_keys(chain.target, "location", {1: (0.3, 0.4, 0.2), 5: (0.3, 0.4, -0.9)})
    for frame in range(1, 6):
        scene.frame_set(frame)
        solved[frame] = joints(legs)
    bpy.ops.pose.planar_ik_snap_fk(use_range=True, frame_start=1, frame_end=5)
    for is_on, within in ((False, 1e-5), (True, 5e-4)):  # of a limb as long as it must be, rounding bends the knee
        chain.enabled = is_on
        for frame in (1, 5, 3, 2):
            scene.frame_set(frame)
            assert apart(joints(legs), solved[frame]) < within * LENGTH


@pytest.mark.parametrize("plane", ["REST", "POLE"])
def test_a_target_is_snapped_while_the_chain_is_off(legs: Any, plane: str) -> None:
    chain = add_chain(legs, plane=plane)
    chain.enabled = False
    bpy.context.view_layer.update()
    legs.pose.bones["thigh.L"].rotation_quaternion = Euler((-0.5, 0, 0)).to_quaternion()
    legs.pose.bones["shin.L"].rotation_quaternion = Euler((0.9, 0, 0)).to_quaternion()
    posed = joints(legs)
    bpy.ops.pose.planar_ik_snap_target()
    assert apart(joints(legs), posed) == 0.0
    assert not chain.enabled
    chain.enabled = True
    assert apart(joints(legs), posed) < 1e-5 * LENGTH


def test_there_is_no_solution_to_snap_to_while_the_chain_is_off(legs: Any) -> None:
    add_chain(legs).enabled = False
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="not enabled"):
        bpy.ops.pose.planar_ik_snap_fk()


def test_what_is_refused_for_one_limb_or_frame_changes_nothing(legs: Any) -> None:
    left, right = add_chain(legs, ".L"), add_chain(legs, ".R")
    left.influence = 0.5
    select(legs, "shin.R", "shin.L")
    right.target = None
    before = joints(legs)
    with pytest.raises(RuntimeError, match="no target"):
        bpy.ops.pose.planar_ik_snap_target()
    with pytest.raises(RuntimeError, match="no target"):
        bpy.ops.pose.planar_ik_snap_fk(use_range=True, frame_start=1, frame_end=3)
    assert left.influence == 0.5
    assert legs.animation_data is None
    assert apart(joints(legs), before) == 0.0


def test_a_range_that_is_refused_in_a_later_frame_gets_no_key(legs: Any) -> None:
    chain = add_chain(legs)
    set_keys(legs.pose.bones["shin.L"], "planar_ik_enabled", {1: True, 3: False})
    had = set(curves(legs))
    with pytest.raises(RuntimeError, match="not enabled"):
        bpy.ops.pose.planar_ik_snap_fk(use_range=True, frame_start=1, frame_end=3)
    assert (set(curves(legs)), chain.influence) == (had, 1.0)


def test_both_ways_over_a_range_with_keys(legs: Any) -> None:
    scene = bpy.context.scene
    chain = add_chain(legs)
    target = chain.target
    set_keys(target, "location", {1: (0.3, -0.4, 0.5), 10: (0.3, 0.3, 0.9)})
    solved = {}
    for frame in range(1, 11):
        scene.frame_set(frame)
        solved[frame] = joints(legs)
    scene.frame_set(4, subframe=0.25)
    bpy.ops.pose.planar_ik_snap_fk(use_range=True, frame_start=1, frame_end=10)
    assert scene.frame_current_final == 4.25
    target.animation_data_clear()
    chain.influence = 0.0
    bpy.ops.pose.planar_ik_snap_target(use_range=True, frame_start=1, frame_end=10)
    for influence in (0.0, 1.0):
        chain.influence = influence
        for frame in (7, 1, 10, 3):
            scene.frame_set(frame)
            assert apart(joints(legs), solved[frame]) < 1e-5 * LENGTH


def test_a_target_with_keys_stays_where_it_was_snapped_to(legs: Any) -> None:
    scene = bpy.context.scene
    chain = add_chain(legs, plane="POLE")
    set_keys(chain.target, "location", {1: (0.3, -0.4, 0.5), 10: (0.3, 0.3, 0.9)})
    scene.frame_set(4)
    chain.influence = 0.0
    own = joints(legs)
    bpy.ops.pose.planar_ik_snap_target()
    chain.influence = 1.0
    scene.frame_set(7)
    scene.frame_set(4)
    assert apart(joints(legs), own) < 1e-5 * LENGTH


def test_targets_that_hang_on_each_other_are_snapped_whatever_their_order(legs: Any) -> None:
    chains = {side: add_chain(legs, side, plane="POLE") for side in (".L", ".R")}
    child, parent = chains[".L"].target, chains[".R"].target
    child.parent, child.matrix_parent_inverse = parent, parent.matrix_world.inverted()
    bend(legs, chains)
    own = {side: joints(legs, side) for side in chains}
    select(legs, "shin.L", "shin.R")
    bpy.ops.pose.planar_ik_snap_target()
    for side, chain in chains.items():
        chain.influence = 1.0
        assert apart(joints(legs, side), own[side]) < 1e-5 * LENGTH


def test_a_pole_bone_that_hangs_on_the_target_is_snapped(legs: Any, capfd: Any) -> None:
    chain = add_chain(legs, plane="POLE", controls="BONE")
    target, pole = chain.subtarget, chain.pole_subtarget
    bpy.ops.object.mode_set(mode="EDIT")
    legs.data.edit_bones[pole].parent = legs.data.edit_bones[target]
    bpy.ops.object.mode_set(mode="POSE")
    bend(legs, {".L": chain})
    own = joints(legs)
    select(legs, "shin.L")
    bpy.ops.pose.planar_ik_snap_target()
    chain.influence = 1.0
    assert apart(joints(legs), own) < 1e-5 * LENGTH
    assert "Something else moves" not in capfd.readouterr().out


def bend(legs: Any, chains: dict[str, Any]) -> None:
    """Bend the legs of chains in FK, aside too."""
    for side, chain in chains.items():
        chain.influence = 0.0
        for name, turn in (("thigh", (-0.7, 0.2, 0.5)), ("shin", (1.1, 0.0, 0.0))):
            legs.pose.bones[name + side].rotation_quaternion = Euler(turn).to_quaternion()


def test_an_upper_bone_that_turns_about_its_length_is_named(legs: Any, capfd: Any) -> None:
    chain = add_chain(legs, plane="SWING")
    chain.influence = 0.0
    for name, angles in (("thigh.L", (0.6, 0.9, 0.4)), ("shin.L", (0.7, 0.0, 0.0))):
        legs.pose.bones[name].rotation_quaternion = Euler(angles).to_quaternion()
    own = joints(legs)
    bpy.ops.pose.planar_ik_snap_target()
    assert "'thigh.L' turns by" in capfd.readouterr().out
    chain.influence = 1.0
    assert apart(joints(legs), own) < 1e-5 * LENGTH


def test_a_target_that_something_else_moves_is_named(legs: Any, capfd: Any) -> None:
    chain = add_chain(legs)
    chain.influence = 0.0
    legs.pose.bones["shin.L"].rotation_quaternion = (1, 0.3, 0, 0)
    bpy.ops.pose.planar_ik_snap_target()
    assert "Something else" not in capfd.readouterr().out
    constraint = chain.target.constraints.new("COPY_LOCATION")
    constraint.target = legs
    bpy.ops.pose.planar_ik_snap_target()
    assert f"Something else moves '{chain.target.name}'" in capfd.readouterr().out


@pytest.mark.parametrize(("given", "expected"), [({}, [3, 4, 5, 6]), ({"frame_start": 5, "frame_end": 5}, [5])])
def test_a_range_is_the_scenes_unless_it_is_given(legs: Any, given: dict[str, int], expected: list[int]) -> None:
    add_chain(legs)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 3, 6
    bpy.ops.pose.planar_ik_snap_fk(use_range=True, **given)
    curve = curves(legs)['pose.bones["thigh.L"].rotation_quaternion', 0]
    assert [key.co.x for key in curve.keyframe_points] == expected


def test_a_range_that_ends_before_it_starts_is_refused(legs: Any) -> None:
    add_chain(legs)
    with pytest.raises(RuntimeError, match="before it starts"):
        bpy.ops.pose.planar_ik_snap_fk(use_range=True, frame_start=9, frame_end=2)


@pytest.mark.parametrize(("left", "right"), SIDES)
@pytest.mark.parametrize("plane", ["REST", "POLE"])
@pytest.mark.parametrize("bend", [-1.0, 0.25])
def test_a_mirrored_chain_poses_the_mirror_image(left: str, right: str, plane: str, bend: float) -> None:
    ob = build_legs(left, right)
    ob.rotation_euler, ob.location = (0.1, 0.2, 0.7), (1, 2, 3)
    bpy.context.view_layer.update()
    chain = add_chain(ob, left, plane=plane)
    chain.softness, chain.bend = 0.05, bend
    chain.target.location += Vector((0.2, -0.3, 0.8))
    bpy.context.view_layer.update()
    bpy.ops.pose.planar_ik_mirror()
    other = ob.pose.bones[f"shin{right}"].planar_ik
    assert other.enabled
    assert other.plane == plane
    assert other.softness == chain.softness
    assert other.bend == chain.bend
    assert other.target != chain.target
    assert other.target.name == f"target_shin{right}"
    to_rig = ob.matrix_world.inverted()
    for here, there in zip(joints(ob, left), joints(ob, right), strict=True):
        mirrored = to_rig @ there
        mirrored.x = -mirrored.x
        assert (to_rig @ here - mirrored).length < 1e-5


@pytest.mark.parametrize("how", ["parent bone", "parent object", "COPY_LOCATION", "CHILD_OF"])
def test_the_mirror_image_of_a_target_hangs_on_the_other_side(legs: Any, how: str) -> None:
    with editing(legs) as bones:
        for side, x in ((".L", 0.4), (".R", -0.4)):
            bones.new(f"control{side}").head = (x, 0.3, 0.1)
            bones[f"control{side}"].tail = (x, 0.6, 0.2)
    carriers = {side: make_empty(f"carrier{side}", (x, 0.1, 0.2)) for side, x in ((".L", 0.4), (".R", -0.4))}
    bpy.ops.object.mode_set(mode="POSE")
    target = add_chain(legs).target
    at = target.matrix_world.copy()
    if how == "parent bone":
        target.parent, target.parent_type, target.parent_bone = legs, "BONE", "control.L"
    elif how == "parent object":
        target.parent = carriers[".L"]
    else:
        constraint = target.constraints.new(how)
        constraint.target, constraint.subtarget = legs, "control.L"
        if how == "CHILD_OF":
            update()
            constraint.inverse_matrix = (legs.matrix_world @ legs.pose.bones["control.L"].matrix).inverted()
    update()
    target.matrix_world = at
    update()
    bpy.ops.pose.planar_ik_mirror()
    here, there = joints(legs, ".L"), joints(legs, ".R")
    assert apart([place * Vector((-1, 1, 1)) for place in there], here) < 1e-5
    legs.pose.bones["control.L"].location.y += 0.2
    carriers[".L"].location.z += 0.2
    update()
    assert apart(joints(legs, ".L"), here) > 0.01
    assert apart(joints(legs, ".R"), there) < 1e-6


def test_mirroring_twice_moves_nothing_and_adds_nothing(legs: Any) -> None:
    add_chain(legs, plane="POLE")
    bpy.ops.pose.planar_ik_mirror()
    posed, count = joints(legs, ".R"), len(bpy.data.objects)
    bpy.ops.pose.planar_ik_mirror()
    assert apart(joints(legs, ".R"), posed) < 1e-6
    assert len(bpy.data.objects) == count


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
def test_mirroring_selects_nothing_more(legs: Any, runs_on: str) -> None:
    """Or G would move both targets, and Remove take both chains."""
    add_chain(legs, plane="POLE", runs_on=runs_on, go_to_target=True)
    selected = list(bpy.context.selected_objects)
    count = len(bpy.data.objects)
    bpy.ops.pose.planar_ik_mirror()
    assert len(bpy.data.objects) == count + 2
    assert list(bpy.context.selected_objects) == selected


def test_the_mirror_image_of_a_keyed_target_stays_on_its_side(legs: Any) -> None:
    """The keys say where the other one is."""
    chain = add_chain(legs)
    chain.target.keyframe_insert("location", frame=1)
    bpy.ops.pose.planar_ik_mirror()
    before = joints(legs, ".R")
    bpy.context.scene.frame_set(2)
    assert apart(joints(legs, ".R"), before) == 0.0
    assert apart(joints(legs, ".R"), joints(legs, ".L")) > 0.5


def test_a_target_bone_is_mirrored_by_the_one_of_the_other_side(legs: Any) -> None:
    """Without that, the right leg went to the left foot's target."""
    add_bone(legs, "goal.L", (0.3, 0, 0))
    chain = add_chain(legs, target="Legs", subtarget="goal.L")
    before = joints(legs, ".R")
    select(legs, "shin.L")
    with pytest.raises(RuntimeError, match=r"'goal\.L' has no mirror image 'goal\.R': in Edit Mode"):
        bpy.ops.pose.planar_ik_mirror()
    assert apart(joints(legs, ".R"), before) == 0.0
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in legs.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name == "goal.L"
    bpy.ops.armature.symmetrize()
    bpy.ops.object.mode_set(mode="POSE")
    select(legs, "shin.L")
    assert bpy.ops.pose.planar_ik_mirror() == {"FINISHED"}
    assert (chain.subtarget, legs.pose.bones["shin.R"].planar_ik.subtarget) == ("goal.L", "goal.R")
    assert apart(joints(legs, ".R"), before) < 1e-5


def add_bone(ob: Any, name: str, head: tuple[float, float, float], parent: str = "") -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    bone = ob.data.edit_bones.new(name)
    bone.head, bone.tail = head, Vector(head) + Vector((0.0, 0.2, 0.0))
    bone.parent = ob.data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="POSE")


MIRRORED = {"X": (-1.0, 1.0, 1.0), "Y": (1.0, -1.0, 1.0)}


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
@pytest.mark.parametrize("controls", ["EMPTY", "BONE", "ROOT"])
@pytest.mark.parametrize("axis", MIRRORED)
def test_controls_and_turned_feet_are_mirrored_too(axis: str, controls: str, runs_on: str) -> None:
    """Also of a rig that looks sideways, whose left and right are apart along Y."""
    ob = build_legs(".L", ".R")
    add_bone(ob, "foot.L", (0.3, 0, 0), "shin.L")
    add_bone(ob, "foot.R", (-0.3, 0, 0), "shin.R")
    if axis == "Y":
        bpy.ops.object.mode_set(mode="OBJECT")
        ob.rotation_euler.z = math.pi / 2.0
        bpy.ops.object.transform_apply(location=False)
        bpy.ops.object.mode_set(mode="POSE")
    ob.rotation_euler, ob.location = (0.1, 0.2, 0.7), (1, 2, 3)
    bpy.context.view_layer.update()
    chain = add_chain(ob, plane="POLE", controls=controls, keep_rotation=True, runs_on=runs_on)
    control = ob.pose.bones[chain.subtarget] if chain.subtarget else chain.target
    control.location += Vector((0.1, 0.1, 0.3))
    control.rotation_mode, control.rotation_euler = "XYZ", (0.3, 0.5, -0.4)
    bpy.context.view_layer.update()
    select(ob, "shin.L")
    assert bpy.ops.pose.planar_ik_mirror() == {"FINISHED"}
    other = ob.pose.bones["shin.R"].planar_ik
    assert (other.runs_on, other.reach, chain.reach) == (runs_on, "REACHED", "REACHED")
    goals = {(each.target.name, each.subtarget) for each in (chain, other)}
    assert len(goals) == 2
    if controls != "EMPTY":
        copy = ob.pose.bones[other.subtarget]
        assert copy.name == "target_shin.R"
        assert (copy.custom_shape, copy.bone.collections[0].name) == (control.custom_shape, "IK Controls")
        assert bool(copy.parent) == (controls == "ROOT")
    mirror = Matrix.Diagonal((*MIRRORED[axis], 1.0))
    bones = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    for name in ("thigh", "shin", "foot"):
        left, right = bones[f"{name}.L"], bones[f"{name}.R"]
        image = mirror @ left.matrix @ left.bone.matrix_local.inverted() @ mirror @ right.bone.matrix_local
        assert np.abs(np.array(image) - np.array(right.matrix)).max() < 1e-4


@pytest.mark.parametrize("depth", [0.0, 0.1])
def test_the_legs_of_a_puppet_drawn_from_the_side_step_the_same_way(legs: Any, depth: float) -> None:
    """One is behind the other: its mirror image across X would walk backwards, on feet turned round."""
    for side in ("L", "R"):
        add_bone(legs, f"foot.{side}", (0.5, 0, 0), f"shin.{side}")
    bpy.ops.object.mode_set(mode="EDIT")
    for side, y in ((".L", -depth), (".R", depth)):
        thigh, shin = (legs.data.edit_bones[f"{name}{side}"] for name in ("thigh", "shin"))
        thigh.head, thigh.tail, shin.tail = (0.5, y, 2.0), (0.7, y, 1.0), (0.5, y, 0.0)
        thigh.align_roll((0, 1, 0))
        shin.align_roll((0, 1, 0))
        foot = legs.data.edit_bones[f"foot{side}"]
        foot.head, foot.tail = (0.5, y, 0.0), (0.7, y, 0.0)
        foot.align_roll((0, 1, 0))
    bpy.ops.object.mode_set(mode="POSE")
    chain = add_chain(legs, keep_rotation=True)
    chain.target.rotation_euler.rotate(Euler((0.0, 0.4, 0.0)))
    chain.target.location += Vector((0.4, 0.0, 0.3))
    select(legs, "shin.L")
    bpy.ops.pose.planar_ik_mirror()
    for here, there in zip(joints(legs, ".L"), joints(legs, ".R"), strict=True):
        assert (there - here - Vector((0.0, 2.0 * depth, 0.0))).length < 1e-5
    bones = legs.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    left, right = (np.array(bones[f"foot{side}"].matrix) for side in (".L", ".R"))
    assert np.abs(left[:, :3] - right[:, :3]).max() < 1e-5


def test_a_bone_without_a_side_has_no_mirror(legs: Any) -> None:
    legs.pose.bones["shin.L"].name = "middle"
    select(legs, "middle")
    bpy.ops.pose.planar_ik_add()
    with pytest.raises(RuntimeError, match="no side in its name"):
        bpy.ops.pose.planar_ik_mirror()


def test_a_limb_that_can_not_run_on_the_rig_is_mirrored_as_a_live_one(legs: Any, capfd: Any) -> None:
    """As Add and Convert have it."""
    add_chain(legs, plane="SWING", runs_on="RIG")
    legs.pose.bones["shin.R"].driver_add("scale", 1).driver.expression = "1"
    select(legs, "shin.L")
    assert bpy.ops.pose.planar_ik_mirror() == {"FINISHED"}
    assert [legs.pose.bones[f"shin{side}"].planar_ik.runs_on for side in (".L", ".R")] == ["RIG", "EXTENSION"]
    assert "Runs on the extension: Scale of 'shin.R' is driven" in capfd.readouterr().out
