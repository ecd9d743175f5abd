"""Limbs on the rig whose settings are set, keyed and driven by their names on the bone: where these are custom
properties of the rig, that comes to the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.natives import leg_on_rig, make_live, make_portable, matrices, rebuild
from tests.blender.rigs import (
    activate,
    copied,
    curve_lists,
    curves,
    frame_of,
    joints,
    length,
    make_chain,
    make_empty,
    make_rig,
    override_of,
    place_of,
    press,
    put,
    update,
)

ON_BONE, ON_RIG = 'pose.bones["shin"].planar_ik_influence', 'pose.bones["shin"]["planar_ik.influence"]'


def leg(**settings: Any) -> Any:
    """A leg on the rig, its thigh turned by its own channels."""
    ob = leg_on_rig(plane="SWING", **settings)
    put(ob.pose.bones["thigh"], rotation_quaternion=(1, 0.3, 0.1, 0))
    return ob


def keys(ob: Any) -> list[tuple[str, list[tuple[float, ...]]]]:
    """What an object's action animates, and the keys of that."""
    return [(path, [tuple(key.co) for key in curve.keyframe_points]) for (path, _), curve in curves(ob).items()]


def away(ob: Any) -> float:
    """How far the tip is from its target, in lengths of the limb."""
    return float(np.linalg.norm(joints(ob).tip - place_of(bpy.data.objects["target"])) / length(ob))


def key(ob: Any, *pairs: tuple[float, float]) -> None:
    """Key the influence as a script does that knows no rig."""
    bone = ob.pose.bones["shin"]
    for frame, value in pairs:
        bone.planar_ik_influence = value
        bone.keyframe_insert("planar_ik_influence", frame=frame)


def test_what_a_script_sets_on_the_bone_counts_on_the_rig() -> None:
    ob = leg()
    bone = ob.pose.bones["shin"]
    put(bone, planar_ik_influence=0.25)
    assert bone.planar_ik.influence == bone["planar_ik.influence"] == 0.25
    assert away(ob) > 0.05
    bone.planar_ik.influence = 1.0
    assert bone.planar_ik_influence == 1.0
    put(bone, planar_ik_bend=0.5)
    assert bone.planar_ik.message == ""
    assert away(ob) <= 1e-5


def test_keys_that_a_script_sets_on_the_bone_act() -> None:
    ob = leg()
    key(ob, (1, 0.0), (11, 1.0))
    at = []
    for frame in (1, 6, 11):  # without another evaluation before, as where a script renders next
        bpy.context.scene.frame_set(frame)
        assert ob.pose.bones["shin"].planar_ik.message == ""
        at.append(away(ob))
    assert at[0] > at[1] > 0.01
    assert at[2] <= 1e-5
    assert keys(ob) == [(ON_RIG, [(1, 0), (11, 1)])]


def test_keys_meet_those_that_are_there() -> None:
    ob = leg()
    key(ob, (1, 0.0), (11, 1.0))
    update()
    key(ob, (11, 0.25), (21, 1.0))
    update()
    assert keys(ob) == [(ON_RIG, [(1, 0), (11, 0.25), (21, 1)])]
    rebuild(ob)
    assert keys(ob) == [(ON_RIG, [(1, 0), (11, 0.25), (21, 1)])]
    make_live(ob)
    assert keys(ob) == [(ON_BONE, [(1, 0), (11, 0.25), (21, 1)])]


def test_keys_that_meet_others_keep_their_shape() -> None:
    ob = leg()
    key(ob, (31, 1.0))
    update()
    key(ob, (1, 0.0), (11, 1.0))
    curve = curves(ob)[ON_BONE, 0]
    for each in curve.keyframe_points:
        each.interpolation, each.easing, each.amplitude, each.period = "ELASTIC", "EASE_OUT", 0.3, 2.5
    frames = range(1, 11)
    before = [curve.evaluate(frame) for frame in frames]
    update()
    assert [path for path, _ in keys(ob)] == [ON_RIG]
    assert np.allclose([curves(ob)[ON_RIG, 0].evaluate(frame) for frame in frames], before, atol=1e-6)


def test_a_driver_that_a_script_sets_up_step_by_step_acts() -> None:
    ob = leg()
    curve = ob.pose.bones["shin"].driver_add("planar_ik_influence")
    update()
    curve.driver.expression = "0.25"
    while curve.modifiers or curve.keyframe_points:
        curve.modifiers.remove(curve.modifiers[0]) if curve.modifiers else curve.keyframe_points.clear()
    update()
    assert curve.data_path == ON_RIG
    assert ob.pose.bones["shin"].planar_ik.influence == 0.25
    assert away(ob) > 0.05


def test_keys_that_take_another_mechanism_say_so() -> None:
    ob = leg()
    bone = ob.pose.bones["shin"]
    bone.planar_ik.target.location = frame_of(ob).target(1.05, 0.4)
    for frame, value in ((1, 0.0), (11, 0.5)):
        bone.keyframe_insert("planar_ik_softness", frame=frame)
        curve_lists(ob.animation_data.action)[0][0].keyframe_points[-1].co.y = value
    bpy.context.scene.frame_set(11)
    said = "Softness of 'shin' was animated since it was put on the rig, so press Rebuild on the Rig"
    assert bone.planar_ik.message.startswith(said)
    rebuild(ob)
    assert ob.pose.bones["shin"].planar_ik.message == ""
    assert ob.pose.bones["shin"].planar_ik.softness == 0.5
    assert keys(ob) == [('pose.bones["shin"]["planar_ik.softness"]', [(1, 0), (11, 0.5)])]
    ob.animation_data.action = None  # which leaves a part that nothing moves, and does no harm
    update()
    assert ob.pose.bones["shin"].planar_ik.message == ""


def test_keys_in_an_action_that_a_live_limb_has_too_wait_for_the_button() -> None:
    ob = leg()
    other = copied(ob, shares_data=False)
    activate(other)
    make_live(other)
    key(other, (1, 0.0), (11, 1.0))
    data = ob.animation_data or ob.animation_data_create()
    data.action = other.animation_data.action
    if hasattr(data, "action_slot"):
        data.action_slot = data.action.slots[0]
    update()
    assert [path for path, _ in keys(other)] == [ON_BONE]
    assert "Influence of 'shin' was animated since" in ob.pose.bones["shin"].planar_ik.message
    rebuild(ob)
    assert ob.pose.bones["shin"].planar_ik.message == ""
    assert [path for path, _ in keys(ob)] == [ON_RIG]
    assert [path for path, _ in keys(other)] == [ON_BONE]


@pytest.mark.parametrize("name", ["plane", "stretch_volume"])
def test_a_curve_that_is_constant_keeps_no_limb_from_the_rig(name: str) -> None:
    ob = leg()
    before = matrices(ob)
    make_live(ob)
    bone = ob.pose.bones["shin"]
    for frame in (1, 5, 9):
        bone.keyframe_insert(f"planar_ik_{name}", frame=frame)
    make_portable(ob)
    bpy.context.scene.frame_set(7)
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.reach, chain.message) == ("REACHED", "")
    assert np.allclose(matrices(ob), before, atol=1e-5)
    press(ob, "bake", frame_start=1, frame_end=3, keep=True)


def test_a_plane_that_only_a_modifier_changes_is_animated_on_the_rig() -> None:
    ob = make_rig()
    make_chain(ob, plane="SWING")
    path = 'pose.bones["shin"].planar_ik_plane'
    ob.keyframe_insert(path, frame=1)
    curves(ob)[path, 0].modifiers.new("NOISE")
    make_portable(ob)
    assert [path for path, _ in keys(ob)] == ['pose.bones["shin"]["planar_ik.plane"]']


def test_what_is_driven_goes_on_where_the_mechanism_is_made_anew() -> None:
    """Though its custom property is gone meanwhile, and what reads that finds nothing."""
    ob = leg()
    bone, source, reader = ob.pose.bones["shin"], make_empty("source"), make_empty("reader")
    source.location.x = 0.25
    for driver, of, path in (
        (bone.driver_add("planar_ik_influence").driver, source, "location.x"),
        (reader.driver_add("location", 0).driver, ob, ON_RIG),
    ):
        driver.type = "SUM"
        target = driver.variables.new().targets[0]
        target.id, target.data_path = of, path
    update()
    bone.planar_ik.softness = 0.1
    for value in (0.75, 0.25):
        put(source.location, x=value)
        assert ob.pose.bones["shin"].planar_ik.influence == pytest.approx(value)
        assert reader.location.x == pytest.approx(value)
        assert ob.pose.bones["shin"].planar_ik.message == ""


def test_a_driver_finds_its_setting_while_the_limb_is_rebuilt(capfd: pytest.CaptureFixture[str]) -> None:
    """So that Blender's log says nothing of it, nor of drivers of others that read settings."""
    ob = make_rig()
    make_chain(ob, plane="SWING", softness=0.05)
    for owner, path in ((ob.pose.bones["shin"], "planar_ik_softness"), (make_empty("reader"), "location")):
        driver = (owner.driver_add(path) if owner.id_data == ob else owner.driver_add(path, 0)).driver
        variable = driver.variables.new()
        variable.name, variable.targets[0].id = "v", ob
        variable.targets[0].data_path = ON_BONE
        driver.expression = "v * 0.1"
    make_portable(ob)
    rebuild(ob)
    ob.pose.bones["shin"].planar_ik.stretch = 0.5  # which makes the mechanism anew, too
    update()
    make_live(ob)
    said = capfd.readouterr()
    assert "nvalid driver" not in said.out + said.err
    assert bpy.data.objects["reader"].location.x == pytest.approx(0.1)
    assert ob.pose.bones["shin"].planar_ik.softness == pytest.approx(0.1)


VOLUMES = ("LENGTH", "VOLUME", "UNIFORM")


def stretched(ob: Any) -> tuple[np.ndarray, list[str]]:
    """The matrices of a limb that is stretched by the way, over the frames; and the volumes that it is said to keep."""
    found, volumes = [], []
    for frame in range(1, 10):
        bpy.context.scene.frame_set(frame)
        found.append(matrices(ob))
        chain = ob.pose.bones["shin"].planar_ik
        volumes.append(chain.stretch_volume)
        assert chain.message == ""
    return np.array(found), volumes


@pytest.mark.parametrize("is_driven", [False, True])
@pytest.mark.parametrize("inherits", ["ALIGNED", "NONE"])
@pytest.mark.parametrize("settings", [{}, {"influence": 0.6, "softness": 0.1, "plane": "REST"}])
def test_a_volume_that_is_animated_is_that_of_live(is_driven: bool, inherits: Any, settings: dict[str, Any]) -> None:
    ob = make_rig()
    ob.data.bones["shin"].inherit_scale = inherits
    target = make_empty("target", frame_of(ob).target(1.7, 0.4))
    make_chain(ob, target, **({"plane": "SWING", "stretch": 0.8} | settings))
    bone = ob.pose.bones["shin"]
    if is_driven:
        bone.driver_add("planar_ik_stretch_volume").driver.expression = "(frame - 1) % 3 if 0 else floor((frame-1)/3)"
    else:
        for frame, volume in zip((1, 4, 7), VOLUMES, strict=True):
            bone.planar_ik_stretch_volume = volume
            bone.keyframe_insert("planar_ik_stretch_volume", frame=frame)
    live = stretched(ob)
    assert {*live[1]} == {*VOLUMES}
    make_portable(ob)
    on_rig = stretched(ob)
    assert bone.planar_ik.runs_on == "RIG"
    assert np.abs(on_rig[0] - live[0]).max() < 1e-5
    assert on_rig[1] == live[1]
    widths = [np.linalg.norm(pose[0][:3, 0]) for pose in on_rig[0]]
    assert max(widths) > 1.1
    assert min(widths) < 0.9
    make_live(ob)
    assert np.abs(stretched(ob)[0] - live[0]).max() < 1e-6


def test_a_volume_that_is_set_by_hand_costs_nothing() -> None:
    ob = leg(stretch=0.5, stretch_volume="VOLUME")
    assert not [
        curve for curve in ob.animation_data.drivers if curve.data_path.endswith("scale") and curve.array_index != 1
    ]


def test_a_mechanism_that_does_more_than_it_must_is_no_wrong_one() -> None:
    ob = leg()
    bone = ob.pose.bones["shin"]
    bone.planar_ik.bend = 0.5
    bone.planar_ik.bend = 1.0
    bone["planar_ik.bend"] = 1.0  # as the slider in the panel does it
    ob.update_tag()
    update()
    assert (bone.planar_ik.reach, bone.planar_ik.message) == ("REACHED", "")
    assert away(ob) <= 1e-5


@pytest.mark.parametrize("names", [("influence",), ("softness",), ("influence", "softness")])
@pytest.mark.parametrize("mode", ["POSE", "OBJECT"])
def test_a_key_has_the_value_that_was_set_before_it(names: tuple[str, ...], mode: Any) -> None:
    """Though animation that is evaluated in between sets it back."""
    ob = leg()
    bpy.ops.object.mode_set(mode=mode)
    bone = ob.pose.bones["shin"]
    for frame, value in ((1, 0.0), (11, 0.5), (21, 0.25)):
        for name in names:
            setattr(bone, f"planar_ik_{name}", value)
        for name in names:
            bone.keyframe_insert(f"planar_ik_{name}", frame=frame)
    update()
    assert [points for _, points in keys(ob)] == [[(1, 0), (11, 0.5), (21, 0.25)]] * len(names)
    assert ob.pose.bones["shin"].planar_ik.message == ""


def test_keys_that_a_script_sets_one_by_one_are_as_smooth_as_if_they_were_set_at_once() -> None:
    ob = leg()
    for pair in ((1, 1.0), (20, 0.2), (30, 0.6)):
        key(ob, pair)
        update()
        ob["witness"] = pair[1]
        ob.keyframe_insert('["witness"]', frame=pair[0])
    (carried,) = [curve for (path, _), curve in curves(ob).items() if path.endswith('["planar_ik.influence"]')]
    witness = curves(ob)['["witness"]', 0]
    frames = range(1, 31)
    assert [carried.evaluate(at) for at in frames] == pytest.approx([witness.evaluate(at) for at in frames], abs=1e-6)


def test_keys_that_an_override_of_a_rig_is_given_act_and_what_takes_its_library_says_so(tmp_path: Path) -> None:
    leg()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    ob = override_of(tmp_path / "library.blend", "rig", "target")
    bone = ob.pose.bones["shin"]
    bone.keyframe_insert("planar_ik_influence", frame=1)
    bone.planar_ik.softness = 0.1  # which the mechanism can't have here
    assert bone.planar_ik.message.endswith("so rebuild it in the file that its rig is linked from")
    bone.planar_ik.softness = 0.0
    key(ob, (11, 0.5))
    update()
    assert keys(ob) == [(ON_RIG, [(1, 1), (11, 0.5)])]
    bpy.context.scene.frame_set(11)
    assert (bone.planar_ik.message, bone.planar_ik.influence) == ("", 0.5)


def test_actions_of_a_limb_that_was_on_the_rig_act_on_the_live_one_and_back() -> None:
    """An animator switches between actions: those that were not the object's when its limb changed are carried over
    once they are."""
    ob = leg(softness=0.1)
    actions = []
    for least in (0.0, 0.5):
        key(ob, (1, least), (11, 1.0))
        ob.pose.bones["shin"].keyframe_insert('["planar_ik.bend"]', frame=1)
        update()
        actions.append(ob.animation_data.action)
        actions[-1].use_fake_user = True
        ob.animation_data.action = None
    for change in (make_live, make_portable):
        change(ob)
        for action, least in zip(actions, (0.0, 0.5), strict=True):
            ob.animation_data_create().action = action
            if hasattr(ob.animation_data, "action_slot"):
                ob.animation_data.action_slot = action.slots[0]
            update()
            bpy.context.scene.frame_set(1)
            assert keys(ob)[0][0] == (ON_BONE if change is make_live else ON_RIG)
            chain = ob.pose.bones["shin"].planar_ik
            assert (chain.influence, chain.message) == (least, "")
            assert away(ob) > 0.02
        ob.animation_data.action = None


def test_keys_on_all_channels_and_properties_leave_a_limb_right() -> None:
    """As *I* sets them on location, rotation and scale, and the keying set *Whole Character* on all that a bone has."""
    ob = leg(softness=0.1)
    before = matrices(ob)
    for frame in (1, 11):
        for bone in (ob.pose.bones["thigh"], ob.pose.bones["shin"]):
            for name in ("location", "rotation_quaternion", "scale"):
                bone.keyframe_insert(name, frame=frame)
        for name in ("bend", "influence"):
            bone.keyframe_insert(f'["planar_ik.{name}"]', frame=frame)
        for name in ("plane", "softness", "stretch", "min_angle", "hinge_angle", "lower_twist"):
            bone.keyframe_insert(f"planar_ik_{name}", frame=frame)
    bpy.context.scene.frame_set(5)
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.reach, chain.message) == ("REACHED", "")
    assert np.abs(matrices(ob) - before).max() < 1e-5
    bend = curves(ob)['pose.bones["shin"]["planar_ik.bend"]', 0].keyframe_points
    for key in bend:
        key.interpolation = "CONSTANT"
    bend[1].co.y = -1.0
    bpy.context.scene.frame_set(11)
    assert (chain.bend, chain.reach, chain.message) == (-1.0, "REACHED", "")
    assert away(ob) <= 1e-5
    bend[0].interpolation = "LINEAR"
    bpy.context.scene.frame_set(1)
    assert "does not swing yet" in chain.message
    bend[0].interpolation = "CONSTANT"
    track = ob.animation_data.nla_tracks.new()
    track.strips.new("blended with it", 1, bpy.data.actions.new("other"))
    bpy.context.scene.frame_set(2)
    assert "does not swing yet" in chain.message
    ob.animation_data.nla_tracks.remove(track)
    curves(ob)['pose.bones["thigh"].location', 1].keyframe_points[1].co.y = 0.1
    bpy.context.scene.frame_set(2)
    assert "The location of 'thigh' was changed" in chain.message


@pytest.mark.parametrize("change", [make_live, lambda ob: bpy.ops.pose.planar_ik_rebuild()])
def test_a_custom_property_that_nothing_animates_any_more_is_not_lost(change: Any) -> None:
    ob = leg()
    make_live(ob)
    ob.pose.bones["shin"].keyframe_insert("planar_ik_softness", frame=1)
    make_portable(ob)
    ob.animation_data.action = None
    ob.pose.bones["shin"]["planar_ik.softness"] = 0.25  # as the slider in the panel does it
    ob.update_tag()
    put(bpy.data.objects["target"], location=frame_of(ob).target(0.97, 0.4))
    before = matrices(ob)
    change(ob)
    update()
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.softness, chain.message) == (0.25, "")
    assert np.abs(matrices(ob) - before).max() < 1e-5


def test_a_root_that_keys_move_later_is_followed_on_the_rig():
    ob = make_rig()
    thigh = ob.pose.bones["thigh"]
    thigh.keyframe_insert("location", frame=1)
    thigh.location = (0.1, -0.05, 0.2)
    thigh.keyframe_insert("location", frame=11)
    bpy.context.scene.frame_set(1)
    chain = make_chain(ob, plane="SWING")
    make_portable(ob)
    for frame in (1, 11, 6):
        bpy.context.scene.frame_set(frame)
        away = np.linalg.norm(joints(ob).tip - np.array(chain.target.location))
        assert (chain.reach, away) == ("REACHED", pytest.approx(0.0, abs=1e-5))


CHOSEN = {"plane": ("REST", "SWING"), "stretch_volume": ("UNIFORM", "LENGTH")}


@pytest.mark.parametrize("setting", CHOSEN)
@pytest.mark.parametrize("is_back", [False, True])
def test_a_choice_that_its_key_sets_back_leaves_a_limb_that_works(setting: str, is_back: bool) -> None:
    """As where a preset sets the plane that one key holds, and the frame changes before the new one is keyed."""
    keyed, chosen = CHOSEN[setting]
    ob = make_rig()
    chain = make_chain(ob, make_empty("target", (0.9, 0.3, -1.9)), stretch=0.5, **{setting: keyed})
    ob.pose.bones["shin"].keyframe_insert(f"planar_ik_{setting}", frame=1)
    make_portable(ob)
    chain = ob.pose.bones["shin"].planar_ik
    setattr(chain, setting, chosen)
    bpy.context.view_layer.update()
    assert (getattr(chain, setting), chain.message) == (chosen, "")
    if not is_back:
        ob.pose.bones["shin"].keyframe_insert(f"planar_ik_{setting}", frame=10)
    for frame in (1, 10, 12, 1):
        bpy.context.scene.frame_set(frame)
        chain = ob.pose.bones["shin"].planar_ik
        wanted = keyed if frame < 10 or is_back else chosen
        assert (getattr(chain, setting), chain.message) == (wanted, "")
        assert chain.reach in ("TOO_FAR", "OFF_PLANE")
