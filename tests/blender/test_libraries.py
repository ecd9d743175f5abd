"""Linked, overridden, appended and copied rigs: right, or invalid with a sentence; never an exception."""

from __future__ import annotations

import bpy
import pytest

from tests.blender.rigs import (
    HIP,
    LEG,
    NEAR,
    NEXT,
    Bone,
    activate,
    assert_on_target,
    copied,
    editing,
    joints,
    key_location,
    make_chain,
    make_empty,
    make_rig,
    override_of,
    place_of,
    press,
    put,
    reopened,
    rotation,
    update,
)


@pytest.fixture(autouse=True)
def silent(capfd):
    """No exception reaches the console."""
    yield
    assert "Traceback" not in capfd.readouterr().err


@pytest.fixture
def library(tmp_path):
    """A file with a leg, its target and pole in the collection 'character'."""
    ob, target = make_rig(), make_empty("target", NEAR)
    pole = make_empty("pole", (1, 9, 0))
    collection = bpy.data.collections.new("character")
    bpy.context.scene.collection.children.link(collection)
    for member in (ob, target, pole):
        collection.objects.link(member)
        bpy.context.scene.collection.objects.unlink(member)
    make_chain(ob, target, plane="POLE", pole_target=pole)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return path


def load(path, link):
    with bpy.data.libraries.load(path, link=link) as (_, into):
        into.collections = ["character"]
    return into.collections[0]


def test_an_appended_rig_lives(library):
    collection = load(library, link=False)
    bpy.context.scene.collection.children.link(collection)
    update()
    rig, target = bpy.data.objects["rig"], bpy.data.objects["target"]
    assert_on_target(rig, target)
    put(target, location=NEXT)
    assert_on_target(rig, target)


def test_a_second_append_is_a_chain_of_its_own(library):
    for _ in range(2):
        bpy.context.scene.collection.children.link(load(library, link=False))
    update()
    rigs = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    assert len(rigs) == 2
    for i, rig in enumerate(rigs):
        rig.pose.bones["shin"].planar_ik.target.location.z -= 0.1 * i
    update()
    for rig in rigs:
        assert_on_target(rig, rig.pose.bones["shin"].planar_ik.target)


def test_a_linked_rig_keeps_the_pose_of_its_library(library):
    bpy.context.scene.collection.children.link(load(library, link=True))
    update()
    for frame in (1, 5):
        bpy.context.scene.frame_set(frame)
        assert_on_target(bpy.data.objects["rig"], bpy.data.objects["target"])


def test_a_linked_rig_follows_the_animated_target_of_its_library(library):
    bpy.ops.wm.open_mainfile(filepath=library)
    target = bpy.data.objects["target"]
    key_location(target, [NEAR, NEXT], 1, 10)
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.collection.children.link(load(library, link=True))
    ob, target = bpy.data.objects["rig"], bpy.data.objects["target"]
    for frame in (1, 6, 11, 1):
        bpy.context.scene.frame_set(frame)
        assert_on_target(ob, target)


def test_a_linked_rig_on_an_instanced_collection(library):
    instance = make_empty("instance")
    instance.instance_type, instance.instance_collection = "COLLECTION", load(library, link=True)
    update()
    bpy.context.scene.frame_set(3)
    assert bpy.data.objects["rig"].pose.bones["shin"].planar_ik.enabled


@pytest.fixture
def overridden(library):
    """The library's character, overridden in this file."""
    collection = load(library, link=True)
    bpy.context.scene.collection.children.link(collection)
    override = collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    if collection.name in bpy.context.scene.collection.children and collection.library:
        bpy.context.scene.collection.children.unlink(collection)
    update()
    members = {ob.name.split(".")[0]: ob for ob in override.all_objects}
    return members["rig"], members["target"]


def test_an_overridden_rig_follows_its_overridden_target(overridden):
    rig, target = overridden
    assert rig.override_library
    for place in (NEXT, NEAR):
        put(target, location=place)
        assert_on_target(rig, target)


def test_settings_of_an_override_and_their_keys(overridden):
    rig, target = overridden
    chain = rig.pose.bones["shin"].planar_ik
    knee = joints(rig).knee
    put(chain, bend=-1)
    assert abs(joints(rig).knee - knee).max() > 0.1
    assert_on_target(rig, target)
    key_location(target, [NEAR, NEXT], 1, 10)
    for frame, bend in ((1, 1), (11, -1)):
        chain.bend = bend
        rig.keyframe_insert('pose.bones["shin"].planar_ik.bend', frame=frame)
    for frame in (1, 11, 4):
        bpy.context.scene.frame_set(frame)
        assert_on_target(rig, target)


def test_an_override_is_kept_with_its_file(overridden, tmp_path):
    rig, target = overridden
    target.location = NEXT
    rig.pose.bones["shin"].planar_ik.bend = -1
    update()
    rig = reopened(tmp_path)
    target = rig.pose.bones["shin"].planar_ik.target
    assert rig.pose.bones["shin"].planar_ik.bend == -1
    assert_on_target(rig, target)
    put(target, location=NEAR)
    assert_on_target(rig, target)


def test_a_target_of_its_own_for_an_override(overridden):
    rig, _ = overridden
    handle = make_empty("handle", NEXT)
    put(rig.pose.bones["shin"].planar_ik, target=handle)
    assert_on_target(rig, handle)


def test_a_library_that_is_missing(library, tmp_path):
    bpy.context.scene.collection.children.link(load(library, link=True))
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    (tmp_path / "library.blend").unlink()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    bpy.context.scene.frame_set(4)


def rig_and_target(**settings):
    ob, target = make_rig(), make_empty("target", NEAR)
    make_chain(ob, target, plane="POLE", pole_target=make_empty("pole", (1, 9, 0)), **settings)
    return ob, target


@pytest.mark.parametrize("shared", [True, False])
def test_a_copied_rig_is_a_chain_of_its_own(shared):
    ob, target = rig_and_target()
    copy = copied(ob, shared)
    update()
    goal = make_empty("goal", NEXT)
    put(copy.pose.bones["shin"].planar_ik, target=goal)
    assert_on_target(ob, target)
    assert_on_target(copy, goal)
    assert ob.pose.bones["shin"].planar_ik.residual < 1e-5
    put(copy.pose.bones["shin"].planar_ik, target=None)
    assert ob.pose.bones["shin"].planar_ik.reach == "REACHED"
    assert copy.pose.bones["shin"].planar_ik.reach == "INVALID"


def test_a_duplicate_by_operator_gives_its_own_pose_back():
    ob, target = make_rig(), make_empty("target", NEAR)
    ob.pose.bones["thigh"].rotation_quaternion = (0.8, 0.6, 0, 0)
    make_chain(ob, target)
    activate(ob)
    bpy.ops.object.duplicate()
    copy = bpy.context.view_layer.objects.active
    update()
    assert copy is not ob
    put(copy.pose.bones["shin"].planar_ik, enabled=False)
    assert rotation(copy.pose.bones["thigh"]) == pytest.approx((0.8, 0.6, 0, 0))
    assert ob.pose.bones["shin"].planar_ik.message == ""


def test_the_same_armature_stretched_on_two_objects():
    ob, _ = rig_and_target(stretch=1)
    copy = ob.copy()
    bpy.context.scene.collection.objects.link(copy)
    put(copy.pose.bones["shin"].planar_ik, target=make_empty("far", (0.3, 0.3, -2.6)))
    for rig in (ob, copy):
        assert_on_target(rig, rig.pose.bones["shin"].planar_ik.target)


def test_a_duplicated_bone_has_a_chain_of_its_own():
    ob, target = rig_and_target()
    with editing(ob) as bones:
        for bone in bones:
            bone.select = bone.select_head = bone.select_tail = bone.name in {"thigh", "shin"}
        bpy.ops.armature.duplicate()
    copy = ob.pose.bones["shin.001"].planar_ik
    assert copy.enabled
    put(copy, target=make_empty("goal", NEXT))
    assert_on_target(ob, target)
    assert_on_target(ob, bpy.data.objects["goal"], "shin.001")


def test_joined_armatures():
    ob, target = rig_and_target()
    other = make_rig((HIP._replace(name="tail"), Bone("end", (0, 0, 0.3), (0, 0, 1), "tail")), "other")
    activate(ob)
    other.select_set(True)
    bpy.ops.object.join()
    update()
    assert_on_target(ob, target)


def test_a_copied_scene():
    ob, target = rig_and_target()
    key_location(target, [NEAR, NEXT], 1, 10)
    bpy.ops.scene.new(type="FULL_COPY")
    scene = bpy.context.scene
    rig = next(member for member in scene.objects if member.type == "ARMATURE")
    goal = rig.pose.bones["shin"].planar_ik.target
    assert (rig is ob, goal is target) == (False, False)
    for frame in (3, 8):
        scene.frame_set(frame)
        assert_on_target(rig, goal)


def test_a_target_in_no_scene_stays_where_it_was_left():
    ob, target = rig_and_target()
    bpy.context.scene.collection.objects.unlink(target)
    update()
    chain = ob.pose.bones["shin"].planar_ik
    assert chain.reach in {"REACHED", "INVALID"}
    assert chain.reach == "REACHED" or chain.message
    assert place_of(target).shape == (3,)


def test_many_rigs_of_one_armature_are_all_posed():
    ob, _ = rig_and_target()
    rigs = [ob]
    for i in range(5):
        copy = ob.copy()
        copy.location.x = i + 1
        bpy.context.scene.collection.objects.link(copy)
        copy.pose.bones["shin"].planar_ik.target = make_empty(f"goal{i}", (i + 1.2, 0.4, -1.2 + 0.05 * i))
        rigs.append(copy)
    update()
    for rig in rigs:
        assert_on_target(rig, rig.pose.bones["shin"].planar_ik.target, within=3e-6)
    assert LEG[2].name in ob.data.bones


@pytest.mark.parametrize("is_whole", [False, True])
def test_a_chain_on_an_override_of_a_rig_without_chains_is_kept_with_its_file(is_whole, tmp_path):
    make_rig()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    rig = override_of(tmp_path / "library.blend", "rig")
    rig.pose.bones["thigh"].rotation_quaternion = (0.96, 0.28, 0, 0)
    make_chain(rig, make_empty("target", NEAR), plane="SWING", influence=1.0 if is_whole else 0.5)
    before = joints(rig)
    for _ in range(2):
        rig = reopened(tmp_path)
        assert rig.pose.bones["shin"].planar_ik.target == bpy.data.objects["target"]
        for now, then in zip(joints(rig), before, strict=True):
            assert now == pytest.approx(then, abs=1e-5)
    put(rig.pose.bones["shin"].planar_ik, enabled=False)
    assert rotation(rig.pose.bones["thigh"]) == pytest.approx((0.96, 0.28, 0, 0), abs=1e-6)


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
def test_a_converted_override_stays_converted_when_it_is_opened_again(runs_on, tmp_path):
    """What an override has from its library comes back with the file."""
    ob = make_rig()
    constraint = ob.pose.bones["shin"].constraints.new("IK")
    constraint.target, constraint.chain_count, constraint.iterations = make_empty("target", NEAR), 2, 500
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    rig = override_of(tmp_path / "library.blend", "rig", "target")
    press(rig, "convert", runs_on=runs_on)
    before = joints(rig)
    for _ in range(2):
        rig = reopened(tmp_path)
        chain = rig.pose.bones["shin"].planar_ik
        assert (chain.enabled, chain.runs_on, chain.reach, chain.message) == (True, runs_on, "REACHED", "")
        assert_on_target(rig, chain.target, within=1e-5)
        for now, then in zip(joints(rig), before, strict=True):
            assert now == pytest.approx(then, abs=1e-5)


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
def test_a_foot_of_a_library_stays_free_once_the_limb_of_an_override_is_removed(runs_on, tmp_path):
    """Its constraint comes back with the file."""
    ob = make_rig((*LEG, Bone("foot", LEG[2].tail, (0.1, 0.4, -2), "shin", connected=True)))
    press(ob, "add", plane="SWING", runs_on="EXTENSION", keep_rotation=True)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    rig = override_of(tmp_path / "library.blend", "rig", "target_shin")
    if runs_on == "RIG":
        press(rig, "make_portable")
    press(rig, "remove")
    rig = reopened(tmp_path)
    assert not [each.name for each in rig.pose.bones["foot"].constraints if not each.mute]


def test_constraints_that_a_library_drives_in_both_ways_stay(tmp_path):
    ob = make_rig()
    constraint = ob.pose.bones["shin"].constraints.new("IK")
    constraint.target, constraint.chain_count = make_empty("target", NEAR), 2
    for name in ("mute", "influence"):
        constraint.driver_add(name).driver.expression = str(int(name == "influence"))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    rig = override_of(tmp_path / "library.blend", "rig", "target")
    with pytest.raises(RuntimeError, match="comes with drivers of its library, which stay"):
        press(rig, "convert")
    assert not rig.pose.bones["shin"].planar_ik.enabled


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
def test_controls_that_a_library_made_stay_when_a_limb_of_an_override_is_removed(runs_on, tmp_path):
    ob = make_rig()
    press(ob, "add", plane="POLE", controls="BONE", runs_on="EXTENSION")
    bpy.ops.object.mode_set(mode="OBJECT")
    controls = [bone.name for bone in ob.data.bones if bone.name not in {bone.name for bone in LEG}]
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    rig = override_of(tmp_path / "library.blend", "rig")
    if runs_on == "RIG":
        press(rig, "make_portable")
    press(rig, "remove")
    chain = rig.pose.bones["shin"].planar_ik
    assert (chain.enabled, chain.target) == (False, None)
    assert controls
    assert all(name in rig.data.bones for name in controls)
