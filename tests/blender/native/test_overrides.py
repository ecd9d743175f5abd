"""Chains on overridden rigs, to which no bones can be added: a local armature has the mechanism."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from scripts import installed
from tests.blender.natives import make_live, make_portable, matrices, played_alone, rebuild
from tests.blender.rigs import (
    LEG,
    NEAR,
    Bone,
    assert_joints,
    curves,
    frame_of,
    joints,
    key_location,
    length,
    make_chain,
    make_empty,
    make_rig,
    override_of,
    place_of,
    press,
    put,
    reopened,
    select,
    update,
)

SAME = 1e-5
"""How far joints may be from those of a live chain, in lengths of the limb."""

FOOT = Bone("foot", (0.1, 0, -1.9), (0.1, -0.4, -2.1), "shin", True)


@pytest.fixture(params=["animated"])
def rig(request, tmp_path):
    """An overridden leg, of a library that never had a chain; where it is animated, Blender keeps no new drivers."""
    ob = make_rig((*LEG, FOOT))
    if request.param == "animated":
        ob.pose.bones["hip"].keyframe_insert("location", frame=1)
        ob.driver_add('pose.bones["foot"].location', 0).driver.expression = "0.0"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    over = override_of(tmp_path / "library.blend", "rig")
    if request.param == "whole":  # as Blender overrides all that refers to a rig, Rigify's armatures with their drivers
        over.data.override_create(remap_local_usages=True)
        assert over.data.library is None
        update()
    return over


each_kind = pytest.mark.parametrize("rig", ["plain", "animated", "whole"], indirect=True)


def parent_unevenly(ob):
    """Turn, mirror and scale what a rig hangs on, unevenly."""
    above = make_empty("above", (0.3, -0.2, 0.5))
    above.rotation_euler, above.scale = (0.4, 0.2, -0.3), (1.5, 0.6, -1.1)
    ob.parent = above
    ob.pose.bones["hip"].matrix_basis = Matrix.LocRotScale((0.1, 0, 0.2), Euler((0.2, 0.4, 0.1)), (1.2, 0.7, 1.4))
    update()


@pytest.mark.parametrize("plane", ["REST", "SWING", "POLE"])
@pytest.mark.parametrize("influence", [1.0, 0.6])
def test_joints_are_those_of_a_live_chain(rig, plane, influence):
    parent_unevenly(rig)
    for name in ("thigh", "shin"):
        rig.pose.bones[name].rotation_quaternion = Euler((0.3, 0.2, -0.4)).to_quaternion()
    frame = frame_of(rig)
    chain = make_chain(
        rig, make_empty(), plane=plane, pole_target=make_empty("pole", (1, 5, 0)), influence=influence, softness=0.05
    )
    places = [frame.target(share, angle, 0.1) for share, angle in ((0.1, 0.4), (0.5, 2.0), (0.9, -1.5), (1.3, 0.2))]
    live = []
    for place in places:
        put(chain.target, location=place)
        live.append(joints(rig))
    make_portable(rig)
    assert chain.runs_on == "RIG"
    for place, wanted in zip(places, live, strict=True):
        put(chain.target, location=place)
        assert chain.message == ""
        assert_joints(joints(rig), wanted, SAME)
    make_live(rig)
    assert chain.runs_on == "EXTENSION"
    assert [ob.type for ob in bpy.data.objects if not ob.library].count("ARMATURE") == 1
    assert_joints(joints(rig), live[-1], SAME)


@each_kind
def test_a_muted_solver_of_both_bones_is_not_in_the_way(rig, capfd):
    """As it is on a rig of one's own, where the lower bone would hang on the upper one."""
    solver = rig.pose.bones["foot"].constraints.new("IK")
    solver.target, solver.chain_count, solver.mute = make_empty("old"), 3, True
    chain = make_chain(rig, make_empty(), plane="SWING")
    make_portable(rig)
    for share in (0.5, 0.9):
        put(chain.target, location=frame_of(rig).target(share, 0.4, 0.1))
        assert (chain.runs_on, chain.reach, chain.message) == ("RIG", "REACHED", "")
    assert "cycle" not in "".join(capfd.readouterr()).lower()


@pytest.mark.parametrize("inherits", [True, False])
def test_a_reset_of_all_bones_of_the_annex_changes_nothing(rig, inherits):
    rig.data.bones["shin"].use_inherit_rotation = inherits
    place = frame_of(rig).target(0.6, 0.7, 0.1)
    make_chain(rig, make_empty(location=place), plane="SWING", bend=0.4)
    make_portable(rig)
    wanted = joints(rig)
    (annex,) = [ob for ob in bpy.data.objects if ob.type == "ARMATURE" and not ob.override_library and not ob.library]
    for keep in (False, True):
        for bone in annex.pose.bones:
            bone.matrix_basis = bone.matrix_basis.copy() if keep else Matrix()
        update()
        assert_joints(joints(rig), wanted, 1e-6, 1e-6)


FEATURES = [
    {"bend": -0.4},
    {"min_angle": 0.6, "max_angle": 2.4, "hinge_angle": -1.1, "lower_twist": 0.5, "pole_angle": 0.9},
    {"influence": 0.4, "stretch": 0.8, "stretch_max": 1.4, "stretch_volume": "UNIFORM"},
]


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("mode", ["QUATERNION", "ZXY", "AXIS_ANGLE"])
def test_features_and_rotation_modes(rig, features, mode):
    for name, turn in (("thigh", (0.3, 0.2, -0.4)), ("shin", (-0.5, 0.1, 0.2))):
        bone = rig.pose.bones[name]
        bone.rotation_quaternion = Euler(turn).to_quaternion()
        bone.rotation_mode = mode  # which carries the rotation over
    rig.pose.bones["thigh"].location = (0.1, -0.05, 0.2)
    frame = frame_of(rig)
    chain = make_chain(rig, make_empty(), plane="POLE", pole_target=make_empty("pole", (1, 5, 0)), **features)
    places = [frame.target(share, 0.4, 0.05) for share in (0.02, 0.8, 1.05, 1.6)]
    live = []
    for place in places:
        put(chain.target, location=place)
        live.append((joints(rig), matrices(rig, "thigh", "shin", "foot")))
    make_portable(rig)
    for place, (at, whole) in zip(places, live, strict=True):
        put(chain.target, location=place)
        assert_joints(joints(rig), at, SAME)
        assert np.allclose(matrices(rig, "thigh", "shin", "foot"), whole, atol=2e-5)


@pytest.mark.parametrize("settings", [{"hinge_angle": 0.6, "influence": 0.7}, {"bend": 0.3}])
def test_planes_and_volumes_that_are_animated(rig, settings):
    parent_unevenly(rig)
    own_action(rig)
    rig.pose.bones["thigh"].rotation_quaternion = Euler((0.3, 0.2, -0.4)).to_quaternion()
    pole = make_empty("pole", (1, 5, 0))
    make_chain(rig, make_empty("target"), plane="SWING", pole_target=pole, **settings)
    frame, shin = frame_of(rig), rig.pose.bones["shin"]
    for number, plane in enumerate(("REST", "POLE", "SWING", "REST"), 1):
        shin.planar_ik_plane = plane
        shin.keyframe_insert("planar_ik_plane", frame=number)
        bpy.data.objects["target"].location = frame.target(0.6 + 0.05 * number, 0.3 * number, 0.2)
        bpy.data.objects["target"].keyframe_insert("location", frame=number)
    wanted = play(rig, range(1, 5))
    make_portable(rig)
    assert shin.planar_ik.runs_on == "RIG"
    assert any("slope" in bone.name for armature in bpy.data.armatures for bone in armature.bones)
    assert np.allclose(play(rig, range(1, 5)), wanted, atol=SAME * length(rig))


@pytest.mark.parametrize("is_animated", [False, True])
def test_what_would_shear_is_refused(rig, is_animated):
    own_action(rig)
    chain = make_chain(rig, stretch=0.5)
    for frame, volume in enumerate(("LENGTH", "UNIFORM") if is_animated else (), 1):
        chain.stretch_volume = volume
        rig.pose.bones["shin"].keyframe_insert("planar_ik_stretch_volume", frame=frame)
    select(rig, "shin")
    with pytest.raises(RuntimeError, match="Stretch Volume to Uniform"):
        bpy.ops.pose.planar_ik_make_portable()
    assert chain.runs_on == "EXTENSION"


def test_an_annex_that_breaks_off_is_gone(rig, monkeypatch):
    chain = make_chain(rig, plane="SWING")
    before, objects, armatures = matrices(rig), set(bpy.data.objects), set(bpy.data.armatures)
    monkeypatch.setattr(installed.addon("addon.native.mechanism.build"), "LONGEST", 60)
    select(rig, "shin")
    with pytest.raises(RuntimeError, match="does not take"):
        bpy.ops.pose.planar_ik_make_portable()
    update()
    assert (set(bpy.data.objects), set(bpy.data.armatures), chain.runs_on) == (objects, armatures, "EXTENSION")
    assert not any(len(bone.constraints) for bone in rig.pose.bones)
    assert matrices(rig) == pytest.approx(before, abs=1e-6)


def test_adding_and_removing(rig):
    before = matrices(rig)
    objects, constraints = set(bpy.data.objects), [len(bone.constraints) for bone in rig.pose.bones]
    press(rig, "add")
    chain = rig.pose.bones["shin"].planar_ik
    assert (chain.runs_on, chain.reach, chain.message) == ("RIG", "REACHED", "")
    assert np.allclose(matrices(rig), before, atol=1e-5)
    assert (bpy.context.mode, bpy.context.active_pose_bone) == ("POSE", rig.pose.bones["shin"])
    press(rig, "remove")
    assert (set(bpy.data.objects), [len(bone.constraints) for bone in rig.pose.bones]) == (objects, constraints)
    assert not [armature for armature in bpy.data.armatures if not armature.library]


def play(ob, frames=range(1, 12, 3)):
    """The limb's bones over frames."""
    found = []
    for number in frames:
        bpy.context.scene.frame_set(number)
        found.append(matrices(ob))
    return np.array(found)


def own_action(ob):
    """Give an object a copy of its library's action, to key."""
    data = ob.animation_data
    if data and data.action:
        slot = getattr(data, "action_slot", None)
        data.action = data.action.copy()
        if slot:
            data.action_slot = data.action.slots[slot.identifier]


def keyed(ob, **settings):
    """A chain whose target, influence and own pose are keyed, in an action of its own."""
    own_action(ob)
    frame = frame_of(ob)
    target = make_empty("target")
    key_location(target, [frame.target(0.3, 0.2), frame.target(0.9, 1.5)], 1, 9)
    chain = make_chain(ob, target, **settings)
    bone = ob.pose.bones["shin"]
    for number, influence in ((1, 1.0), (5, 0.2), (10, 0.9)):
        chain.influence = influence
        bone.keyframe_insert("planar_ik_influence", frame=number)
    thigh = ob.pose.bones["thigh"]
    for number, angle in ((1, 0.0), (10, 0.8)):
        thigh.rotation_quaternion = Euler((angle, 0.1, 0)).to_quaternion()
        thigh.keyframe_insert("rotation_quaternion", frame=number)
    return chain


@each_kind
def test_keys_go_there_and_back(rig):
    chain = keyed(rig, bend=-1)
    live = play(rig)
    assert np.abs(live[0] - live[1]).max() > 0.1
    make_portable(rig)
    assert np.allclose(play(rig), live, atol=2e-5)
    chain.subtarget = "nothing"  # of an empty, so that it changes nothing
    chain.softness = 0.1  # made anew
    chain.softness = 0.0
    assert chain.runs_on == "RIG"
    assert np.allclose(play(rig), live, atol=2e-5)
    make_live(rig)
    assert np.allclose(play(rig), live, atol=2e-5)
    assert not [curve for curve in bpy.data.objects["rig"].animation_data.drivers if "planar_ik" in curve.data_path]


def test_keys_made_on_the_annex_come_back_to_a_rig_whose_action_is_linked(rig):
    chain = make_chain(rig, make_empty(location=NEAR), plane="SWING")
    make_portable(rig)
    (annex,) = [ob for ob in bpy.data.objects if ob.type == "ARMATURE" and not ob.override_library and not ob.library]
    holder = next(bone for bone in annex.pose.bones if "planar_ik.influence" in bone)
    for frame, influence in ((1, 1.0), (11, 0.5)):
        holder["planar_ik.influence"] = influence
        holder.keyframe_insert('["planar_ik.influence"]', frame=frame)
    assert rig.animation_data.action.library
    make_live(rig)
    bpy.context.scene.frame_set(11)
    assert (chain.runs_on, chain.influence) == ("EXTENSION", 0.5)


@each_kind
def test_a_saved_file_has_it_all(rig, tmp_path):
    keyed(rig, plane="POLE", pole_target=make_empty("pole", (1, 4, 0)), bend=-1, softness=0.1)
    make_portable(rig)
    wanted = play(rig)
    rig = reopened(tmp_path)
    assert np.abs(play(rig) - wanted).max() <= 1e-6
    chain = rig.pose.bones["shin"].planar_ik
    assert (chain.runs_on, chain.message, chain.enabled, chain.bend) == ("RIG", "", True, -1)
    assert (chain.target.name, chain.pole_target.name, chain.plane) == ("target", "pole", "POLE")
    assert chain.softness == pytest.approx(0.1)
    put(chain, target=make_empty("other", chain.target.location))
    assert (chain.runs_on, chain.message) == ("RIG", "")
    assert np.abs(play(rig)[-1] - wanted[-1]).max() <= 1e-5  # where the target was
    live = play(rig)
    make_live(rig)
    assert np.allclose(play(rig), live, atol=2e-5)


@each_kind
@pytest.mark.parametrize("enabled", [True, False])
def test_a_file_that_was_saved_without_the_extension_has_it_all(rig, tmp_path, enabled):
    """As on a farm: Blender drops all of an override that it does not know."""
    chain = make_chain(rig, make_empty(), plane="POLE", pole_target=make_empty("pole", (1, 4, 0)), softness=0.1)
    make_portable(rig)
    chain.enabled = enabled
    bpy.ops.preferences.addon_disable(module=installed.MODULE)
    shot = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    installed.enable()
    bpy.ops.wm.open_mainfile(filepath=shot)
    chain = next(ob for ob in bpy.data.objects if ob.override_library).pose.bones["shin"].planar_ik
    assert (chain.target.name, chain.pole_target.name, chain.plane) == ("target", "pole", "POLE")
    assert (chain.enabled, chain.softness) == (enabled, pytest.approx(0.1))
    assert (chain.runs_on, chain.message) == ("RIG", "" if enabled else "The chain is not enabled")


def test_it_is_the_same_without_the_extension(rig, tmp_path):
    parent_unevenly(rig)
    keyed(rig, plane="POLE", pole_target=make_empty("pole", (1, 4, 0)), softness=0.1)
    make_portable(rig)
    here, shot = play(rig), str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    alone, said = played_alone(tmp_path, [shot], range(1, 12, 3))
    assert np.abs(alone[0] - here).max() <= 1e-6
    assert "ycle detected" not in said


def test_what_animators_do_works(rig):
    keyed(rig, plane="POLE", pole_target=make_empty("pole", (1, 4, 0)))
    make_portable(rig)
    played = play(rig)
    bpy.context.scene.frame_set(1)
    chain = rig.pose.bones["shin"].planar_ik
    before = matrices(rig)
    for to, influence in (("FK", 0.0), ("IK", 1.0)):
        press(rig, "switch", to=to)
        assert chain.influence == influence
        assert np.allclose(matrices(rig), before, atol=2e-5)
    bpy.context.scene.frame_set(10)
    bpy.ops.pose.planar_ik_flip()
    update()
    assert chain.bend == -1.0
    assert not np.allclose(matrices(rig), played[-1], atol=1e-2)
    put(chain, enabled=False)
    own = Euler((0.8, 0.1, 0)).to_matrix().to_4x4()
    assert np.allclose(rig.pose.bones["thigh"].matrix_basis, own, atol=1e-5)
    assert np.allclose(rig.pose.bones["thigh"].matrix, rig.pose.bones["thigh"].bone.matrix_local @ own, atol=1e-5)


def test_a_bake_plays_as_the_chain_did(rig):
    keyed(rig, influence=0.6)
    make_portable(rig)
    played = play(rig, range(1, 12))
    select(rig, "shin")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 11
    assert bpy.ops.pose.planar_ik_bake(tolerance=0) == {"FINISHED"}
    assert not rig.pose.bones["shin"].planar_ik.enabled
    assert np.allclose(play(rig, range(1, 12)), played, atol=2e-5)


def test_a_copy_says_that_it_has_no_mechanism_and_is_mended(rig):
    make_chain(rig)
    make_portable(rig)
    before = matrices(rig)
    copy = rig.copy()
    bpy.context.scene.collection.objects.link(copy)
    update()
    assert "are gone" in copy.pose.bones["shin"].planar_ik.message
    rebuild(copy)
    put(copy.pose.bones["shin"].planar_ik, bend=-1.0)
    for ob in (rig, copy):
        assert (ob.pose.bones["shin"].planar_ik.message, ob.pose.bones["shin"].planar_ik.reach) == ("", "REACHED")
        assert np.linalg.norm(joints(ob).tip - place_of(bpy.data.objects["target"])) <= SAME * length(ob)
    assert np.allclose(matrices(rig), before, atol=1e-6)


def test_an_override_of_a_rig_that_runs_in_its_library_is_given_another_target(tmp_path):
    ob = make_rig((*LEG, FOOT))
    make_chain(ob, plane="SWING")
    make_portable(ob)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    ob = override_of(tmp_path / "library.blend", "rig")
    chain, bones = ob.pose.bones["shin"].planar_ik, len(ob.data.bones)
    chain.target = make_empty("other", (0.3, 0.5, -0.9))
    chain.bend = -1.0
    update()
    for _ in range(2):
        chain = ob.pose.bones["shin"].planar_ik
        assert (chain.runs_on, chain.message, chain.reach, chain.target.name) == ("RIG", "", "REACHED", "other")
        assert np.linalg.norm(joints(ob).tip - place_of(bpy.data.objects["other"])) <= SAME * length(ob)
        assert (chain.bend, len(ob.data.bones)) == (-1.0, bones)
        ob = reopened(tmp_path)
        update()


def test_a_target_that_hangs_on_the_limb_is_not_taken(rig):
    chain = make_chain(rig)
    make_portable(rig)
    chain.target, chain.subtarget = rig, "foot"
    update()
    assert chain.reach == "INVALID"
    chain.subtarget, chain.target = "", bpy.data.objects["target"]
    update()
    assert (chain.runs_on, chain.message, chain.reach) == ("RIG", "", "REACHED")


@pytest.fixture
def plain_rig(tmp_path):
    """An overridden leg of a library without animation, which takes keys of its own."""
    make_rig()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    return override_of(tmp_path / "library.blend", "rig")


@pytest.mark.parametrize("has_own_slot", [False, True])
def test_another_override_of_the_same_action_keeps_its_keys(plain_rig, has_own_slot):
    """Whose chain stays live: it is still animated by the setting's name on the bone."""
    if has_own_slot and bpy.app.version < (4, 4):
        pytest.skip("actions have no slots")
    first = plain_rig
    second = first.override_library.reference.override_create(remap_local_usages=False)
    bpy.context.scene.collection.objects.link(second)
    for ob in (first, second):
        make_chain(ob, make_empty(f"target of {ob.name}", frame_of(ob).target(0.6, 0.4)), plane="SWING")
    for frame, influence in ((1, 0.0), (11, 1.0)):
        first.pose.bones["shin"].planar_ik.influence = influence
        first.pose.bones["shin"].keyframe_insert("planar_ik_influence", frame=frame)
    data = second.animation_data_create()
    data.action = first.animation_data.action
    if has_own_slot:
        data.action_slot = data.action.slots.new("OBJECT", "other")
        for frame, influence in ((1, 1.0), (11, 0.5)):
            second.pose.bones["shin"].planar_ik.influence = influence
            second.pose.bones["shin"].keyframe_insert("planar_ik_influence", frame=frame)
    elif hasattr(data, "action_slot"):
        data.action_slot = first.animation_data.action_slot
    wanted = over_frames(first, second)
    make_portable(first)
    assert [ob.pose.bones["shin"].planar_ik.runs_on for ob in (first, second)] == ["RIG", "EXTENSION"]
    assert abs(over_frames(first, second) - wanted).max() < SAME


def over_frames(*rigs):
    """The matrices of legs in some frames."""
    found = []
    for frame in (1, 6, 11):
        bpy.context.scene.frame_set(frame)
        found.append([matrices(ob) for ob in rigs])
    return np.array(found)


def test_an_angle_that_only_a_modifier_changes_is_animated(plain_rig):
    """One key says nothing over time, but noise on it does."""
    chain = make_chain(plain_rig, plane="SWING")
    path = 'pose.bones["shin"].planar_ik_hinge_angle'
    plain_rig.keyframe_insert(path, frame=1)
    make_portable(plain_rig)
    assert chain.runs_on == "RIG"
    make_live(plain_rig)
    curves(plain_rig)[path, 0].modifiers.new("NOISE")
    with pytest.raises(RuntimeError, match="Hinge angle of 'shin' is animated"):
        make_portable(plain_rig)
    assert chain.runs_on == "EXTENSION"
