"""Adding chains: bones keep their whole pose, what is no limb is refused, and what was made is taken away again."""

from __future__ import annotations

import math
import random
from typing import Any

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from tests.blender.rigs import (
    HIP,
    LEG,
    SHIN,
    THIGH,
    Bone,
    activate,
    assert_on_target,
    beside,
    hide,
    in_scene,
    joints,
    length,
    make_empty,
    make_rig,
    override_of,
    press,
    put,
    select,
    update,
)
from tests.blender.ui.test_operators import refuses

UNTURNED = 1e-4
"""Radians by which a bone may turn when a chain is added."""

FOOT = Bone("foot", SHIN.tail, (0.1, 0.3, -2), "shin", connected=True)
ARM = (
    HIP,
    Bone("thigh", (0, 0, 0), (1, 0, 0), "hip", roll=0.4),
    Bone("shin", (1, 0, 0), (1.9, 0, 0), "thigh", connected=True, roll=-0.2),
    Bone("hand", (1.9, 0, 0), (2.1, 0.1, 0), "shin", connected=True),
)
"""A limb that is straight at rest, as captured motion has them, under the names of the leg's bones."""


def worlds(ob: Any) -> dict[str, Matrix]:
    """The matrices of all bones of the evaluated pose, in the world."""
    update()
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {bone.name: evaluated.matrix_world @ bone.matrix for bone in evaluated.pose.bones}


def turn_between(one: Matrix, other: Matrix) -> float:
    """The angle from one orientation to another; that of a quaternion, which loses nothing when it is small."""
    between = (one.to_3x3().normalized().transposed() @ other.to_3x3().normalized()).to_quaternion()
    return 2.0 * math.atan2(Vector((between.x, between.y, between.z)).length, abs(between.w))


def assert_unmoved(ob: Any, before: dict[str, Matrix], length: float = 1.0) -> None:
    """All bones are where they were, to within rounding of a limb of this length."""
    after = worlds(ob)
    for name, matrix in before.items():
        assert turn_between(matrix, after[name]) <= UNTURNED, name
        assert (matrix.translation - after[name].translation).length <= 1e-5 * length, name


def rig_at_rest(bones: Any, *clicked: str) -> Any:
    """In Pose Mode, with these bones selected, the last one active."""
    ob = make_rig(bones)
    select(ob, *(clicked or ("shin",)))
    update()
    return ob


def turn_at_random(ob: Any, seed: int) -> None:
    """Turn every bone any way."""
    rng = random.Random(seed)
    for bone in ob.pose.bones:
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = Quaternion([rng.gauss(0.0, 1.0) for _ in range(4)]).normalized()


@pytest.mark.parametrize("bones", [(*LEG, FOOT), ARM], ids=["leg", "arm"])
@pytest.mark.parametrize("seed", range(8))
def test_no_bone_of_a_limb_posed_any_way_moves_or_turns(bones: Any, seed: int) -> None:
    ob = rig_at_rest(bones)
    turn_at_random(ob, seed)
    before = worlds(ob)
    bpy.ops.pose.planar_ik_add()
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.plane, chain.reach) == ("POLE", "REACHED")
    assert_unmoved(ob, before)
    root = Vector(joints(ob).root)
    put(chain.target, location=root + Vector((0.3, 0.4, -0.5)) * length(ob))
    assert_on_target(ob, chain.target, within=1e-5)  # on the rig, whose joints are Blender's own


@pytest.mark.parametrize("bones", [(*LEG, FOOT), ARM], ids=["leg", "arm"])
@pytest.mark.parametrize("seed", range(4))
def test_a_limb_bent_about_any_axis_from_rest_stays_free_of_a_pole(bones: Any, seed: int) -> None:
    rng = random.Random(seed)
    ob = rig_at_rest(bones)
    if bones is ARM:  # of a straight limb, any hinge will do
        axis = Vector([rng.gauss(0.0, 1.0) for _ in range(3)])
        rest = ob.data.bones["shin"].matrix_local.to_3x3()
        axis = (rest.transposed() @ axis).cross(Vector((0, 1, 0))).normalized()
        ob.pose.bones["shin"].rotation_quaternion = Quaternion(axis, rng.uniform(0.2, 2.5))
    before = worlds(ob)
    bpy.ops.pose.planar_ik_add()
    assert ob.pose.bones["shin"].planar_ik.plane == "SWING"
    assert_unmoved(ob, before)


def test_each_plane_that_is_asked_for_keeps_the_joints() -> None:
    for plane in ("SWING", "POLE"):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        ob = rig_at_rest((*LEG, FOOT))
        turn_at_random(ob, 5)
        before = worlds(ob)
        bpy.ops.pose.planar_ik_add(plane=plane)
        after = worlds(ob)
        for name in before:
            assert (before[name].translation - after[name].translation).length <= 1e-5
        assert turn_between(before["shin"], after["shin"]) <= UNTURNED
        assert ob.pose.bones["shin"].planar_ik.plane == plane


def test_what_a_plane_does_not_keep_is_named(capfd: Any) -> None:
    ob = rig_at_rest((*LEG, FOOT))
    turn_at_random(ob, 5)
    bpy.ops.pose.planar_ik_add(plane="SWING")
    assert "'thigh' turns by" in capfd.readouterr().out


def test_a_rig_in_one_plane_gets_hinges() -> None:
    flat = [Bone(b.name, (0, *b.head[1:]), (0, *b.tail[1:]), b.parent, b.connected) for b in (*LEG, FOOT)]
    ob = rig_at_rest(flat)
    before = worlds(ob)
    bpy.ops.pose.planar_ik_add()
    assert ob.pose.bones["shin"].planar_ik.plane == "REST"
    assert_unmoved(ob, before)


def test_straight_limbs_bend_the_same_way_and_all_the_other_by_one_click() -> None:
    rng = random.Random(3)
    noise = [tuple(rng.uniform(-2e-5, 2e-5) for _ in range(3)) for _ in range(8)]
    bones = [HIP]
    for i, (x, y, z) in enumerate(noise):
        bones.append(Bone(f"thigh{i}", (i, 0, 0), (i + x, y, -1 + z), "hip"))
        bones.append(Bone(f"shin{i}", (i + x, y, -1 + z), (i, 0, -2), f"thigh{i}", connected=True))
    for flip, bend in ((False, 1.0), (True, -1.0)):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        names = [f"shin{i}" for i in range(len(noise))]
        ob = rig_at_rest(bones, *names)
        bpy.ops.pose.planar_ik_add(flip=flip)
        assert [ob.pose.bones[name].planar_ik.bend for name in names] == [bend] * len(names)


CONTROLS = [
    Bone(name, place, (*place[:2], place[2] + 0.2), "root")
    for name, place in (("ik_foot", LEG[2].tail), ("ik_knee", LEG[1].tail), ("prop", (0, 0.4, -2)))
]
LONG_LEG = (*LEG, FOOT, *CONTROLS, Bone("root", (0, 0, -3), (0, 1, -3)))


@pytest.mark.parametrize(
    ("clicked", "words"),
    [
        (("thigh",), "click 'shin', which bends with 'thigh'"),
        (("foot",), "click 'shin', which bends with 'thigh'"),
        (("ik_foot",), "click 'shin', which bends with 'thigh'"),
        (("ik_knee",), "click 'shin', which bends with 'thigh'"),
        (("prop",), "'prop' and its parent 'root' are no limb"),
        (("root",), "'root' has no parent"),
    ],
)
def test_a_bone_that_is_no_lower_one_is_refused_with_the_one_to_click(clicked: Any, words: str) -> None:
    ob = rig_at_rest(sorted(LONG_LEG, key=lambda bone: bone.name != "root"))
    select(ob, *clicked)
    refuses(bpy.ops.pose.planar_ik_add, words)


def test_a_paw_means_the_leg_and_not_its_toes() -> None:
    ob = rig_at_rest((*LEG, FOOT, Bone("toe", FOOT.tail, (0.1, 0.6, -2), "foot", connected=True)))
    select(ob, "foot")
    refuses(bpy.ops.pose.planar_ik_add, "click 'shin', which bends with 'thigh'")


def test_what_moves_bones_that_are_hidden_is_not_to_be_muted() -> None:
    ob = rig_at_rest((*LEG, FOOT))  # as a generated quadruped's heel, whose parent an IK constraint turns
    ob.pose.bones["thigh"].constraints.new("COPY_ROTATION").target = ob
    assert "mute or remove it" in refuses(bpy.ops.pose.planar_ik_add, "moves 'thigh'")
    hide(ob, "thigh")
    assert "mute" not in refuses(bpy.ops.pose.planar_ik_add, "'shin' hangs on 'thigh', which is hidden")


@pytest.mark.parametrize("clicked", [("shin", "foot"), ("foot", "shin"), ("thigh", "shin"), ("thigh", "shin", "foot")])
def test_more_of_a_limb_selected_is_one_chain(clicked: Any) -> None:
    ob = rig_at_rest((*LEG, FOOT))
    press(ob, "add", *clicked)
    assert [bone.name for bone in ob.pose.bones if bone.planar_ik.enabled] == ["shin"]
    assert ob.pose.bones["shin"].planar_ik.reach == "REACHED"


@pytest.mark.parametrize(
    ("clicked", "left_out"),
    [
        (("thigh", "shin"), ""),
        (("ik_foot", "shin"), ""),
        (("thigh", "shin", "foot"), "'foot'"),
        (("foot", "shin"), "'foot'"),
        (("hip", "shin"), "'hip'"),
        (("hip", "ik_foot", "shin"), "'hip'"),
        (("hip", "thigh", "shin", "foot"), "'hip', 'foot'"),
    ],
)
def test_bones_that_were_selected_and_left_out_are_named(clicked: Any, left_out: str, capfd: Any) -> None:
    """Nobody told that a hip was no target, or that a third bone is not in the chain."""
    press(make_rig(sorted(LONG_LEG, key=lambda bone: bone.name != "root")), "add", *clicked)
    said = [line for line in capfd.readouterr().out.splitlines() if "left out" in line]
    assert [line.partition("left out, ")[2] for line in said] == ([left_out] if left_out else [])


def test_of_many_bones_that_were_left_out_some_are_named(capfd: Any) -> None:
    toes = [Bone(f"toe{i}", (0.1 * i, 0.4, -2), (0.1 * i, 0.5, -2), "foot") for i in range(5)]
    press(make_rig((*LEG, FOOT, *toes)), "add", "shin", "foot", *(toe.name for toe in toes))
    assert "'thigh' and 'shin': what is above or below it was left out, 'foot', 'toe0', 'toe1', …" in (
        capfd.readouterr().out
    )


def test_any_two_bones_can_be_asked_for() -> None:
    ob = rig_at_rest((*LEG, FOOT))
    press(ob, "add", "foot", any_bones=True)
    assert ob.pose.bones["foot"].planar_ik.reach == "REACHED"


@pytest.mark.parametrize(("size", "aside"), [(0.05, (0.003, -1, -0.002)), (0.1, (0.003, -1, -0.002))])
def test_a_small_limb_along_minus_y_away_from_the_origin_keeps_its_twist(size: float, aside: Any) -> None:
    root = Vector((0.7, 1.1, -1.3))
    knee = root + size * Vector(aside).normalized()
    tip = knee + size * Vector((0.1, -1.0, 0.4)).normalized()
    shin = Bone("shin", knee, tip, "thigh", connected=True, roll=-0.7)
    ob = rig_at_rest([HIP, Bone("thigh", root, knee, "hip", roll=0.4), shin])
    before = worlds(ob)
    bpy.ops.pose.planar_ik_add()
    assert_unmoved(ob, before)


@pytest.mark.parametrize("aside", [(1.6e-4, -1, -1.3e-4), (0, -1, 3e-4), (2e-5, -1, -5e-5), (-1e-3, -1, 0)])
def test_a_limb_below_a_bone_all_but_along_minus_y_stays(aside: Any) -> None:
    """Of such a bone Blender keeps axes that are not along it."""
    head, root = Vector((-0.8, -1.1, -0.5)), Vector((-1.1, -1.4, -0.4))
    knee = root + Vector((0.0, -1.6, 0.01))
    hip = Bone("hip", head, head + 1.6 * Vector(aside), roll=-1.7)
    shin = Bone("shin", knee, knee + Vector((-0.5, -1.5, 0.3)), "thigh", connected=True, roll=-0.5)
    ob = rig_at_rest([hip, Bone("thigh", root, knee, "hip", roll=-1.5), shin])
    before = worlds(ob)
    bpy.ops.pose.planar_ik_add()
    assert ob.pose.bones["shin"].planar_ik.reach == "REACHED"
    assert_unmoved(ob, before, length=3.2)


def longer(bone: Bone, times: float) -> Bone:
    """The same bone, so many times as long, as importers leave bones below a scaled armature."""
    head = Vector(bone.head)
    return bone._replace(tail=head + times * (Vector(bone.tail) - head), connected=False)


@pytest.mark.parametrize("times", [16.0, 0.0625])
def test_bones_as_an_importer_left_them_are_mended_as_the_refusal_says(times: float, capfd: Any) -> None:
    ob = rig_at_rest([longer(bone, times) for bone in (*LEG, FOOT)])
    factor = f"{1.0 / times:.3g}"
    words = f"are {times:.3g} times as long as from joint to joint: scale them all in Edit Mode by {factor}"
    assert "Individual Origins" in refuses(bpy.ops.pose.planar_ik_add, words)
    bpy.ops.pose.planar_ik_add(any_bones=True)
    assert words in capfd.readouterr().out
    bpy.ops.pose.planar_ik_remove()
    before = worlds(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in ob.data.edit_bones:
        bone.length *= float(factor)
    bpy.ops.object.mode_set(mode="POSE")
    assert_unmoved(ob, before)
    press(ob, "add")
    assert ob.pose.bones["shin"].planar_ik.reach == "REACHED"
    drawn = sum((Vector(bone.tail) - Vector(bone.head)).length for bone in LEG[1:])
    assert length(ob, "shin") == pytest.approx(drawn, rel=1e-5)


def test_bones_of_all_lengths_are_not_told_to_be_scaled_by_one_factor() -> None:
    toe = Bone("toe", FOOT.tail, Vector(FOOT.tail) + Vector((0, -0.1, 0)), "foot")
    rig_at_rest([longer(bone, times) for bone, times in zip((*LEG, FOOT, toe), (1, 5, 20, 80, 1), strict=True)])
    assert "times as long" not in refuses(bpy.ops.pose.planar_ik_add, "")


@pytest.mark.parametrize("size", [0.01, 0.5])
def test_bones_that_do_not_point_at_the_next_joints_are_told_how_to_be_imported(size: float, capfd: Any) -> None:
    across = [
        bone._replace(tail=Vector(bone.head) + Vector((size, 0.0, 0.0)), connected=False) for bone in (*LEG, FOOT)
    ]
    rig_at_rest(across)
    words = "do not point at the next joints: import the file again with Automatic Bone Orientation"
    refuses(bpy.ops.pose.planar_ik_add, words)
    bpy.ops.pose.planar_ik_add(any_bones=True)
    assert words in capfd.readouterr().out


def test_a_right_side_that_points_back_is_told_how_to_be_imported() -> None:
    """As FBX from other programs has it: only half of the bones begin where their parents end."""
    right = [bone._replace(name=f"{bone.name}.R", parent=f"{bone.parent}.R") for bone in (LEG[1], LEG[2], FOOT)]
    back = [bone._replace(tail=2 * Vector(bone.head) - Vector(bone.tail), connected=False) for bone in right]
    back[0] = back[0]._replace(parent="hip")
    ob = rig_at_rest((*LEG, FOOT, *back), "shin.R")
    select(ob, "shin.R")
    refuses(bpy.ops.pose.planar_ik_add, "do not point at the next joints: import the file again")


def test_bones_between_joints_are_not_taken_for_an_importers() -> None:
    twist = Bone("twist", (0.02, 0.04, -0.2), (0.03, 0.06, -0.3), "thigh")
    ob = rig_at_rest((*LEG, FOOT, twist), "twist")
    select(ob, "twist")
    refuses(bpy.ops.pose.planar_ik_add, "'twist' and its parent 'thigh' are no limb")


def test_parts_that_all_hang_on_one_bone_are_not_taken_for_an_importers() -> None:
    """As of the bees and boxes of games, drawn in Blender: nothing but a body that carries each part."""
    body = Bone("body", (0, 0, 0), (0, -1.7, 0))
    wings = [
        Bone(f"wing.{side}", (0.7 * x, -0.7, 0.7), (1.6 * x, -0.7, 0.7), "body") for side, x in (("L", 1), ("R", -1))
    ]
    ob = rig_at_rest((body, *wings, Bone("leg", (0, -0.9, -0.7), (0, -0.9, -1.2), "body")), "leg")
    select(ob, "leg")
    refuses(bpy.ops.pose.planar_ik_add, "'leg' and its parent 'body' are no limb")


def test_of_bones_of_like_length_the_active_one_counts() -> None:
    places = [(0.0, i, 0.1 * i * i) for i in range(6)]
    tail = [Bone(f"tail{i}", *places[i : i + 2], f"tail{i - 1}" if i else "", i > 0) for i in range(5)]
    ob = rig_at_rest(tail, "tail2", "tail3", "tail1")
    bpy.ops.pose.planar_ik_add()
    assert [bone.name for bone in ob.pose.bones if bone.planar_ik.enabled] == ["tail1", "tail3"]


@pytest.mark.parametrize("part", ["skin", "carrier", "mesh on a bone"])
def test_of_a_character_that_an_importer_left_selected_nothing_is_a_target(part: str) -> None:
    ob = rig_at_rest((*LEG, FOOT))
    make_empty("group").select_set(True)
    other = in_scene(part, None if part == "carrier" else bpy.data.meshes.new(part))
    if part == "skin":
        other.modifiers.new("rig", "ARMATURE").object = ob
    elif part == "carrier":
        ob.parent = other
    else:
        other.parent, other.parent_type, other.parent_bone = ob, "BONE", "foot"
    other.select_set(True)
    before = worlds(ob)
    bpy.ops.pose.planar_ik_add()
    assert ob.pose.bones["shin"].planar_ik.target.name == "target_shin"
    assert_unmoved(ob, before)


def test_what_was_made_for_a_chain_goes_with_it() -> None:
    ob = rig_at_rest((*LEG, FOOT))
    turn_at_random(ob, 1)
    own = make_empty("own")
    bpy.ops.pose.planar_ik_add()
    assert len(bpy.data.objects) == 4
    bpy.ops.pose.planar_ik_remove()
    assert {each.name for each in bpy.data.objects} == {ob.name, own.name}


@pytest.mark.parametrize("use", ["a constraint", "a child", "keys"])
def test_what_is_used_otherwise_stays(use: str) -> None:
    ob = rig_at_rest((*LEG, FOOT))
    bpy.ops.pose.planar_ik_add()
    target = ob.pose.bones["shin"].planar_ik.target
    if use == "a constraint":
        ob.pose.bones["foot"].constraints.new("COPY_ROTATION").target = target
    elif use == "a child":
        make_empty("child").parent = target
    else:
        target.keyframe_insert("location", frame=1)
    bpy.ops.pose.planar_ik_remove()
    assert target.name in bpy.data.objects


def test_a_pole_is_made_where_the_knee_points() -> None:
    ob = rig_at_rest((*LEG, FOOT))
    bpy.ops.pose.planar_ik_add(plane="SWING")
    chain = ob.pose.bones["shin"].planar_ik
    chain.target.location += Vector((0.3, -0.2, 0.5))
    before = worlds(ob)
    bpy.ops.pose.planar_ik_pole()
    assert chain.plane == "POLE"
    assert_unmoved(ob, before)
    chain.plane = "SWING"
    pole = chain.pole_target
    bpy.ops.pose.planar_ik_pole()
    assert (chain.plane, chain.pole_target) == ("POLE", pole)


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
@pytest.mark.parametrize("influence", [0.0, 0.3, 1.0])
def test_a_pole_is_made_where_the_knee_of_the_solution_points(runs_on: str, influence: float) -> None:
    """Made for a pose between FK and IK, it moved the limb."""
    ob = rig_at_rest((*LEG, FOOT))
    press(ob, "add", plane="SWING", runs_on=runs_on, target=make_empty("target", (0.5, 0.3, -1.2)).name)
    ob.pose.bones["thigh"].rotation_quaternion = (1.0, 0.2, -0.4, 0.5)
    chain = ob.pose.bones["shin"].planar_ik
    chain.influence = influence
    before = {name: matrix for name, matrix in worlds(ob).items() if not name.startswith("MCH-")}
    bpy.ops.pose.planar_ik_pole()
    assert chain.plane == "POLE"
    assert chain.influence == pytest.approx(influence)
    assert_unmoved(ob, before)


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
@pytest.mark.parametrize("volume", ["LENGTH", "UNIFORM", "VOLUME"])
@pytest.mark.parametrize("place", [(0.2, 0.4, -3.5), (0.3, 0.9, -1.6)])
def test_a_limb_that_is_stretched_gets_a_pole_where_its_knee_points(runs_on: str, volume: str, place: Any) -> None:
    ob = rig_at_rest((*LEG, FOOT))
    press(ob, "add", plane="SWING", runs_on=runs_on, target=make_empty("target", place).name)
    chain = ob.pose.bones["shin"].planar_ik
    chain.stretch, chain.softness, chain.stretch_volume = 1.0, 0.3, volume
    before = worlds(ob)
    assert (before["shin"].translation - before["thigh"].translation).length > 1.001 * length(ob) / 2.0
    bpy.ops.pose.planar_ik_pole()
    after = joints(ob)
    assert chain.plane == "POLE"
    assert (chain.reach, chain.message) == ("REACHED", "")
    assert (before["shin"].translation - Vector(after.knee)).length <= 1e-5
    assert (Vector(place) - Vector(after.tip)).length <= 1e-5


@pytest.mark.parametrize("goal", ["shin2", "thigh2"])
def test_a_target_posed_by_another_chain_is_not_snapped(goal: str) -> None:
    ob = rig_at_rest((*LEG, FOOT, *beside((*LEG, FOOT))), "shin2")
    bpy.ops.pose.planar_ik_add()
    press(ob, "add", target=ob.name, subtarget=goal)
    own = worlds(ob)[goal]
    refuses(bpy.ops.pose.planar_ik_snap_target, "is posed by the chain of 'shin2'")
    assert turn_between(own, worlds(ob)[goal]) <= 1e-6


def test_a_mirrored_chain_is_the_mirror_image_hinge_and_all() -> None:
    def mirrored(bone: Bone, side: str) -> Bone:
        head, tail = ((-x, y, z) if side == ".R" else (x, y, z) for x, y, z in (bone.head, bone.tail))
        roll = -bone.roll if side == ".R" else bone.roll
        name, parent = (f"{each}{side}" if each not in ("", "hip") else each for each in (bone.name, bone.parent))
        return Bone(name, head, tail, parent, bone.connected, roll)

    legs = [
        mirrored(bone, side) for side in (".L", ".R") for bone in (THIGH._replace(roll=0.3), SHIN._replace(roll=0.7))
    ]
    ob = rig_at_rest((HIP, *legs), "shin.L")
    turn_at_random(ob, 4)
    ob.pose.bones["hip"].rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    bpy.ops.pose.planar_ik_add()
    bpy.ops.pose.planar_ik_mirror()
    found = worlds(ob)
    across = Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))
    for name in ("thigh", "shin"):
        image = across @ found[f"{name}.L"] @ across
        assert turn_between(image, found[f"{name}.R"]) <= UNTURNED
        assert (image.translation - found[f"{name}.R"].translation).length <= 1e-5


CONTROLS = ("EMPTY", "BONE", "ROOT")
POSED = (Bone("root", (0.3, 0.1, -0.5), (0.3, 1.1, -0.5)), HIP._replace(parent="root"), *LEG[1:], FOOT)


@pytest.mark.parametrize("controls", CONTROLS)
@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
def test_controls_are_what_was_asked_for_and_leave_the_limb_where_it_is(controls: str, runs_on: str) -> None:
    ob = rig_at_rest(POSED)
    ob.location, ob.rotation_euler, ob.scale = (0.4, -0.2, 0.1), (0.3, 0.5, -0.4), (1.5, 1.5, 1.5)
    turn_at_random(ob, 3)
    before = worlds(ob)
    bpy.ops.pose.planar_ik_add(plane="POLE", controls=controls, keep_rotation=True, runs_on=runs_on)
    chain, root = ob.pose.bones["shin"].planar_ik, Vector(joints(ob).root)
    assert_unmoved(ob, before)
    if controls == "EMPTY":
        assert (chain.target.type, chain.pole_target.type) == ("EMPTY", "EMPTY")
        target = chain.target
        target.location, target.rotation_euler = root + Vector((0.3, 0.4, -0.5)), (0.1, 0.2, 0.3)
    else:
        bones = [ob.pose.bones[name] for name in (chain.subtarget, chain.pole_subtarget)]
        assert [bone.parent and bone.parent.name for bone in bones] == ["root" if controls == "ROOT" else None] * 2
        assert all(bone.custom_shape and not bone.bone.use_deform for bone in bones)
        bones[0].location += Vector((0.1, 0.2, 0.05))
        bones[0].rotation_mode, bones[0].rotation_euler = "XYZ", (0.1, 0.2, 0.3)
    moved = worlds(ob)
    goal = chain.target.matrix_world if controls == "EMPTY" else moved[chain.subtarget]
    assert chain.reach == "REACHED"
    assert (moved["foot"].translation - goal.translation).length < 1e-4
    assert turn_between(moved["foot"], goal) < 1e-3
    assert turn_between(moved["foot"], before["foot"]) > 0.1


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
@pytest.mark.parametrize("controls", CONTROLS)
def test_a_foot_stays_as_it_was_turned_where_the_knee_bends_the_other_way(
    controls: str, runs_on: str, capfd: Any
) -> None:
    ob = rig_at_rest(POSED)
    turn_at_random(ob, 3)
    before = worlds(ob)
    bpy.ops.pose.planar_ik_add(controls=controls, keep_rotation=True, flip=True, runs_on=runs_on)
    update()
    assert turn_between(worlds(ob)["shin"], before["shin"]) > 0.1
    assert turn_between(worlds(ob)["foot"], before["foot"]) <= UNTURNED
    assert "'foot' turns by" not in capfd.readouterr().out


@pytest.mark.parametrize("controls", CONTROLS)
def test_remove_takes_the_controls_away_again(controls: str) -> None:
    ob = rig_at_rest(POSED)
    bones, things = set(ob.data.bones.keys()), set(bpy.data.objects)
    bpy.ops.pose.planar_ik_add(plane="POLE", controls=controls, keep_rotation=True)
    assert ob.pose.bones["foot"].constraints
    bpy.ops.pose.planar_ik_remove()
    assert (set(ob.data.bones.keys()), set(bpy.data.objects)) == (bones, things)
    assert not ob.pose.bones["foot"].constraints
    assert not ob.data.collections_all.get("IK Controls")


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
@pytest.mark.parametrize("controls", ["BONE", "ROOT"])
def test_remove_on_a_linked_duplicate_leaves_the_controls_to_the_other(controls: str, runs_on: str) -> None:
    ob = rig_at_rest(POSED)
    bpy.ops.pose.planar_ik_add(plane="POLE", controls=controls, keep_rotation=True, runs_on=runs_on)
    copy = ob.copy()
    bpy.context.scene.collection.objects.link(copy)
    before = worlds(ob)
    bpy.ops.object.mode_set(mode="OBJECT")
    for each in (copy, ob):
        assert (ob.pose.bones["shin"].planar_ik.reach, ob.pose.bones["shin"].planar_ik.message) == ("REACHED", "")
        assert_unmoved(ob, before)
        bpy.ops.object.select_all(action="DESELECT")
        select(each, "shin")
        bpy.ops.pose.planar_ik_remove()
        bpy.ops.object.mode_set(mode="OBJECT")
    assert "target_shin" not in ob.data.bones


@pytest.mark.parametrize("gone", [["shin"], ["shin", "thigh"]])
@pytest.mark.parametrize("controls", CONTROLS)
def test_what_was_made_for_a_chain_goes_with_what_is_left_of_it(controls: str, gone: list[str]) -> None:
    ob = rig_at_rest(POSED)
    bones, things = set(ob.data.bones.keys()), set(bpy.data.objects)
    bpy.ops.pose.planar_ik_add(plane="POLE", controls=controls)
    chain = ob.pose.bones["shin"].planar_ik
    target = chain.target.pose.bones[chain.subtarget] if chain.subtarget else chain.target
    name = target.name
    bpy.ops.object.mode_set(mode="EDIT")
    for each in gone:
        ob.data.edit_bones.remove(ob.data.edit_bones[each])
    bpy.ops.object.mode_set(mode="POSE")
    if "thigh" not in gone:
        select(ob, "thigh")
    elif controls != "EMPTY":
        select(ob, name)
    else:
        bpy.ops.object.mode_set(mode="OBJECT")
        activate(bpy.data.objects[name])
    bpy.ops.pose.planar_ik_remove()
    assert (set(ob.data.bones.keys()), set(bpy.data.objects)) == (bones - {*gone}, things)
    assert not (ob.animation_data and ob.animation_data.drivers)


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
@pytest.mark.parametrize("controls", CONTROLS)
def test_the_limb_is_selected_where_remove_took_away_what_was(controls: str, runs_on: str) -> None:
    ob = rig_at_rest(POSED)
    bpy.ops.pose.planar_ik_add(plane="POLE", controls=controls, runs_on=runs_on, go_to_target=True)
    assert bpy.context.object != ob or bpy.context.active_pose_bone.name != "shin"
    bpy.ops.pose.planar_ik_remove()
    assert (bpy.context.mode, bpy.context.object, bpy.context.active_pose_bone.name) == ("POSE", ob, "shin")
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["shin"]


def test_where_one_rig_can_get_no_bones_none_are_made_in_another(tmp_path: Any) -> None:
    make_rig(POSED)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    linked = override_of(path, "rig")
    ob = rig_at_rest(POSED)
    before = [bone.name for bone in ob.data.bones]
    bpy.ops.object.mode_set(mode="OBJECT")
    linked.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    for each in (linked, ob):
        select(each, "shin")
    assert {bone.id_data for bone in bpy.context.selected_pose_bones} == {ob, linked}
    refuses(bpy.ops.pose.planar_ik_add, "No bones can be added", controls="BONE")
    assert [bone.name for bone in ob.data.bones] == before


@pytest.mark.parametrize("controls", CONTROLS)
def test_of_what_is_left_of_a_chain_a_target_stays_that_is_keyed_or_was_there_before(controls: str) -> None:
    ob = rig_at_rest(POSED)
    bpy.ops.pose.planar_ik_add(controls=controls)
    chain = ob.pose.bones["shin"].planar_ik
    target = chain.target.pose.bones[chain.subtarget] if chain.subtarget else chain.target
    target.keyframe_insert("location", frame=1)
    name, own = target.name, make_empty("own")
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones.remove(ob.data.edit_bones["shin"])
    bpy.ops.object.mode_set(mode="POSE")
    press(ob, "remove", "thigh")
    assert name in (ob.data.bones if controls != "EMPTY" else bpy.data.objects)
    assert own.name in bpy.data.objects


def test_a_control_that_is_keyed_stays() -> None:
    ob = rig_at_rest(POSED)
    bpy.ops.pose.planar_ik_add(controls="BONE")
    name = ob.pose.bones["shin"].planar_ik.subtarget
    ob.pose.bones[name].keyframe_insert("location", frame=1)
    bpy.ops.pose.planar_ik_remove()
    assert name in ob.data.bones


def test_a_control_on_which_something_hangs_stays() -> None:
    ob = rig_at_rest(POSED)
    bpy.ops.pose.planar_ik_add(controls="BONE")
    name = ob.pose.bones["shin"].planar_ik.subtarget
    bpy.ops.object.mode_set(mode="EDIT")
    heel = ob.data.edit_bones.new("heel")
    heel.tail, heel.parent = (0, 0, 1), ob.data.edit_bones[name]
    press(ob, "remove")
    assert ob.data.bones["heel"].parent.name == name


def test_under_the_root_of_a_rig_whose_topmost_bone_is_the_limb_s_own_a_control_hangs_on_nothing() -> None:
    """On the limb itself it would be carried along."""
    ob = rig_at_rest((THIGH._replace(parent=""), SHIN))
    bpy.ops.pose.planar_ik_add(controls="ROOT")
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.reach, chain.message) == ("REACHED", "")
    assert ob.data.bones[chain.subtarget].parent is None


def test_of_two_that_are_selected_the_nearer_to_the_tip_is_the_target() -> None:
    ob = rig_at_rest((*LEG, FOOT))
    tip = worlds(ob)["shin"] @ Vector((0, ob.data.bones["shin"].length, 0))
    pole, target = make_empty("pole", (0.0, 4.0, -1.0)), make_empty("target", tip)
    for each in (pole, target):
        each.select_set(True)
    bpy.ops.pose.planar_ik_add()
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.target, chain.pole_target, chain.plane) == (target, pole, "POLE")
