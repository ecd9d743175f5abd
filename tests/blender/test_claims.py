"""What the pages claim, each claim tried beside its own words: a page that says it otherwise has to be tried anew."""

from __future__ import annotations

import contextlib
import io
import random
import re
from collections.abc import Callable
from math import pi, sin
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from scripts import installed
from scripts.package import ROOT
from tests.blender import libraries, linkages, rigs
from tests.blender.cli import shots
from tests.blender.limb import test_cylinders
from tests.blender.ui.conftest import call, select

Claims = dict[str, Callable[[Any], None]]


def words(page: str) -> str:
    """A page with its lines as one."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


def leg(**options: Any) -> Any:
    """The last bone of a biped's left leg with IK."""
    ob = rigs.biped()
    assert not call("add", limbs="shin.L", **options)
    select("shin.L")
    return ob.pose.bones["shin.L"]


def edited(ob: Any, bone: str, **values: Any) -> None:
    """Set what an edit bone has."""
    rigs.activate(ob, "EDIT")
    for name, value in values.items():
        setattr(ob.data.edit_bones[bone], name, value)
    rigs.activate(ob)


def line(*joints: Any) -> Any:
    """A limb of so many bones, below a root."""
    names = ["root", *(f"bone.{k}" for k in range(1, len(joints)))]
    bones = {name: (joints[k - 1], joints[k], names[k - 1]) for k, name in enumerate(names) if k}
    return rigs.rig({"root": ((0, 0.5, 0), joints[0], ""), **bones})


def refused(said: str, prepare: Callable[[Any], None], limb: str = "shin.L") -> Callable[[Any], None]:
    """Add refuses a limb of a biped so, and changes nothing."""

    def check(_: Any) -> None:
        ob = rigs.biped()
        prepare(ob)
        bpy.context.view_layer.update()
        before = rigs.snapshot()
        assert said in call("add", limbs=limb)
        assert not rigs.differences(before, rigs.snapshot())

    return check


def too_many_bones(_: Any) -> None:
    ob = line(*((0, -0.1 * (k % 2), -0.5 * k) for k in range(6)))
    limb = ob.pose.bones["bone.5"].planar_ik
    for count in (1, 5):
        with pytest.raises(ValueError, match="2 to 4"):
            limb.chain_count = count
    ik = ob.pose.bones["bone.5"].constraints.new("IK")
    ik.target, ik.chain_count = rigs.empty("target", (0, -0.4, -1)), 5
    select("bone.5")
    assert "5" in call("convert")


def beside_the_plane(_: Any) -> None:
    for off, is_taken in ((0.3, True), (2.0, False)):
        ob = line((0, 0, 0), (off, 0.3, -0.35), (0, off, -0.65), (0, 0, -1))
        select("bone.3")
        assert (not call("add", bones="3")) == is_taken
        assert is_taken or "of the limb's length beside its plane" in call("add", bones="3")
        bpy.data.objects.remove(ob)


def on_an_override(folder: Any) -> None:
    (ob,) = libraries.overridden(libraries.saved(rigs.biped(), folder))
    rigs.activate(ob)
    select("shin.L")
    assert "add or remove IK in the library's file" in call("add")


def keyed_location(ob: Any) -> None:
    edited(ob, "shin.L", use_connect=False)
    for frame, x in ((1, 0.0), (9, 0.2)):
        ob.pose.bones["shin.L"].location.x = x
        ob.pose.bones["shin.L"].keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)


def connected(_: Any) -> None:
    line((0, 0, 0), (0, 0, -1), (0, -0.1, -2))
    select("bone.2")
    assert "disconnect it in Edit Mode" in call("add", plane="SLIDE")


def inherited(_: Any) -> None:
    ob = line((0, 0, 0), (0, -0.2, -1), (0, 0.2, -2), (0, 0, -3))
    for bone, is_taken in (("bone.3", False), ("bone.2", False), ("bone.1", True)):
        edited(ob, bone, use_inherit_rotation=False)
        select("bone.3")
        said = call("add", bones="3")
        assert is_taken == (not said)
        assert is_taken or f"'{bone}' does not inherit rotation: switch on its Inherit Rotation" in said
        edited(ob, bone, use_inherit_rotation=True)


def root_limits(_: Any) -> None:
    limb = leg(plane="FREE").planar_ik
    with pytest.raises(RuntimeError, match="Hinge"):
        limb.root_max_angle = 1.0
    limb.plane, limb.softness = "HINGE", 0.1
    with pytest.raises(RuntimeError, match="oftness"):
        limb.root_max_angle = 1.0


def driven_influence(_: Any) -> None:
    last = leg()
    ob = last.id_data
    ob["fk"] = 1.0
    rigs.drive(ob, 'pose.bones["shin.L"]["IK Influence"]', ob, '["fk"]')
    bpy.context.view_layer.update()
    assert "is driven by" in call("switch")


def own_target(_: Any) -> None:
    ob = rigs.biped()
    hand = rigs.empty("Foot", (0.1, -0.1, 0.3))
    assert not call("add", limbs="shin.L", target="Foot")
    assert (rigs.place(ob, "foot.L") - hand.location).length < 1e-5


def own_scale(_: Any) -> None:
    last = leg()
    last.scale = (1.2, 1.2, 1.2)
    bpy.context.view_layer.update()
    assert "is scaled by itself" in last.planar_ik.message
    last.scale = (1, 1, 1)
    assert not call("set", stretch=True)
    last.planar_ik.stretch = 1.0
    goal = Vector((0.1, -0.3, -0.2))
    rigs.put(last.id_data.pose.bones["foot_ik.L"], goal)
    assert (rigs.place(last.id_data, "foot.L") - goal).length < 1e-5


def twist_bones(_: Any) -> None:
    ob = rigs.random_limb(random.Random(1), twist=True)
    select("lower")
    assert not call("add")
    assert ob.pose.bones["lower"].planar_ik.chain_count == 2


def what_appears(_: Any) -> None:
    ob = rigs.biped()
    names = [bone.name for bone in ob.pose.bones]
    before = rigs.matrices(ob, names)
    assert not call("add", limbs="shin.L shin.R forearm.L forearm.R")
    assert np.abs(rigs.matrices(ob, names) - before).max() < 2e-5
    made = {f"{name}{side}" for name in ("foot_ik", "hand_ik", "knee_pole", "elbow_pole") for side in (".L", ".R")}
    assert made <= {*ob.pose.bones.keys()}
    assert rigs.place(ob, "knee_pole.L").y < rigs.place(ob, "shin.L").y - 0.1
    assert rigs.place(ob, "elbow_pole.L").y > rigs.place(ob, "forearm.L").y + 0.1


def a_boom(_: Any) -> None:
    ob = rigs.puppet()
    select("shin")
    assert not call("add")
    limb = ob.pose.bones["shin"].planar_ik
    assert (limb.plane, limb.pole_target) == ("HINGE", None)
    tip = rigs.place(ob, "foot")
    ob.pose.bones[limb.subtarget].matrix = Matrix.Translation((0.0, -3.0, 0.0)) @ ob.pose.bones[limb.subtarget].matrix
    assert (rigs.place(ob, "foot") - tip).length < 1e-5


def is_fk(_: Any) -> None:
    last = leg()
    last.planar_ik.influence = 0.0
    last.rotation_quaternion = turn = Quaternion((1, 0, 0), 0.4)
    seen = rigs.evaluated(last.id_data).pose.bones
    parent, rest = seen["thigh.L"].matrix, last.bone.parent.matrix_local.inverted() @ last.bone.matrix_local
    assert rigs.apart(seen["shin.L"].matrix, parent @ rest @ turn.to_matrix().to_4x4()) < 2e-5


def how_it_is(_: Any) -> None:
    def said() -> str:
        bpy.context.view_layer.update()
        return str(state.sentence_of(bpy.context, state.status_in(bpy.context, last)))

    state = installed.addon("ui.state")
    bpy.context.scene.unit_settings.system = "METRIC"
    last = leg(plane="FREE")
    limb, control = last.planar_ik, last.id_data.pose.bones["foot_ik.L"]
    assert said() == "On target"
    rigs.put(control, Vector((0.1, -0.1, -0.2)))
    assert re.fullmatch(r"\d+ cm too far", said())
    rigs.put(control, Vector((0.1, -0.3, 0.3)))
    last.parent.rotation_quaternion, limb.influence = Quaternion((1, 0, 0), 0.6), 0.5
    assert re.fullmatch(r"Blending, [\d.]+ [cm]m", said())
    limb.influence, limb.softness = 1.0, 0.2
    rigs.put(control, Vector((0.1, 0.0, 0.12)))
    assert re.fullmatch(r"Eased, [\d.]+ [cm]m", said())


def whole_turns(_: Any) -> None:
    last = leg(plane="FREE")
    names = ["thigh.L", "shin.L", "foot.L"]
    before = rigs.matrices(last.id_data, names)
    last.planar_ik.swivel = 1.0
    assert np.abs(rigs.matrices(last.id_data, names) - before).max() > 0.01
    last.planar_ik.swivel = 6.0 * pi
    assert np.abs(rigs.matrices(last.id_data, names) - before).max() < 2e-5


def none_yet(_: Any) -> None:
    last = leg()
    assert not call("set", softness=True, stretch=True)
    assert (last["IK Softness"], last["IK Stretch"]) == (0.0, 0.0)
    assert not call("set", softness=False, stretch=False)
    assert not {"IK Softness", "IK Stretch"} & {*last.keys()}


def hidden_poles(_: Any) -> None:
    last = leg()
    ob = last.id_data
    ob.data.collections_all["IK Poles"].is_visible = False
    before = rigs.place(ob, "shin.L")
    ob.pose.bones["knee_pole.L"].location.x += 0.3
    assert (rigs.place(ob, "shin.L") - before).length > 0.005


def these_are_selected(_: Any) -> None:
    leg()
    for role, names in (("TARGET", {"foot_ik.L"}), ("POLE", {"knee_pole.L"}), ("LIMB", {"thigh.L", "shin.L"})):
        select("shin.L")
        assert not call("select", role=role)
        assert names <= {bone.name for bone in bpy.context.selected_pose_bones} <= names | {"foot.L"}


def beside_a_hinge(_: Any) -> None:
    last = leg(plane="HINGE")
    ob = last.id_data
    goal = rigs.place(ob, "foot.L") + Vector((0.1, 0.0, 0.2))
    rigs.put(ob.pose.bones["foot_ik.L"], goal)
    assert (rigs.place(ob, "foot.L") - goal + Vector((0.1, 0.0, 0.0))).length < 1e-5
    assert last.planar_ik.message == "On target"


def live(_: Any) -> None:
    ob = rigs.biped()
    before = {*ob.pose.bones.keys()}
    assert not call("add", limbs="shin.L", mode="LIVE")
    assert {*ob.pose.bones.keys()} - before == {"foot_ik.L", "knee_pole.L"}
    assert [*ob.pose.bones["foot.L"].constraints]
    assert not [*ob.pose.bones["thigh.L"].constraints]


def with_its_shoulder(_: Any) -> None:
    ob = rigs.biped()
    select("forearm.L")
    assert not call("add", bones="3")
    assert (ob.pose.bones["forearm.L"].planar_ik.chain_count, ob.pose.bones["forearm.L"].planar_ik.reach) == (
        3,
        "REACHED",
    )


def ends_in_line(_: Any) -> None:
    ob = line((0, 0, 0), (0, -0.2, -1), (0, 0, -2), (0, -0.2, -3), (0, 0, -4))
    select("bone.2", "bone.3", active="bone.3")
    assert not call("add", ends_at="1")
    assert [bone.name for bone in ob.pose.bones if bone.planar_ik.enabled] == ["bone.4"]


def none_of_a_bone(_: Any) -> None:
    ob = rigs.biped()
    for name, value in (("softness", 0.1), ("plane", "FREE"), ("influence", 0.5), ("mode", "RIG")):
        with pytest.raises(RuntimeError):
            setattr(ob.pose.bones["shin.L"].planar_ik, name, value)
    ob.pose.bones["shin.L"].planar_ik.target = rigs.empty("Foot", (0.1, 0, 0.1))
    ob.pose.bones["shin.R"].planar_ik.enabled = True
    ob.pose.bones["forearm.L"].planar_ik.chain_count = 3
    counts = [ob.pose.bones[name].planar_ik.chain_count for name in ("shin.L", "shin.R", "forearm.L")]
    assert counts == [2, 2, 3]


def there_at_once(_: Any) -> None:
    last = leg(plane="FREE")
    assert {key for key in [*last.keys()] if key.startswith("IK ")} == {"IK Influence", "IK Flip", "IK Swivel"}
    limb = last.planar_ik
    limb.softness, limb.stretch, limb.twist, limb.roll = 0.1, 0.1, (0.1, 0.0), 0.2
    added = {"IK Softness", "IK Stretch", "IK Twist", "IK Roll"}
    assert added <= {*last.keys()}


def clears(_: Any) -> None:
    last = leg()
    last.planar_ik.target = rigs.empty("Foot", (0.1, 0, 0.1))
    assert last.planar_ik.subtarget == ""


def the_pole_is_off(_: Any) -> None:
    last = leg()
    ob = last.id_data
    last.planar_ik.pole = False
    assert "IK Pole" in last
    before = rigs.place(ob, "shin.L")
    ob.pose.bones["knee_pole.L"].location.x += 0.5
    assert (rigs.place(ob, "shin.L") - before).length < 1e-5


def called_alike(_: Any) -> None:
    add, change = (getattr(bpy.ops.pose, f"planar_ik_{name}").get_rna_type().properties for name in ("add", "set"))
    names = add["plane"].name, add["bones"].name, change["stretch_volume"].name, change["break_angle"].name
    assert names == ("Knee", "Limb", "Volume", "Toe From")


def rebuilt_at_once(_: Any) -> None:
    last = leg(plane="FREE")
    goal = Vector((0.1, -0.2, -0.3))
    rigs.put(last.id_data.pose.bones["foot_ik.L"], goal)
    last.planar_ik.stretch = 1.0
    assert (rigs.place(last.id_data, "foot.L") - goal).length < 1e-5


def the_limb_folds(_: Any) -> None:
    last = leg()
    for near in (0.3, 0.1, 0.02):
        rigs.put(last.id_data.pose.bones["foot_ik.L"], Vector((0.1, 0.0, 1.0 - near)))
        assert (rigs.place(last.id_data, "foot.L") - Vector((0.1, 0.0, 1.0 - near))).length < 1e-5


def kept_frames(_: Any) -> None:
    ob = rigs.biped()
    for frame in range(1, 251, 3):
        ob.pose.bones["thigh.L"].rotation_quaternion = Quaternion((1, 0, 0), 0.3 * sin(frame / 9))
        ob.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=frame)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert not call("add", limbs="shin.L")
    assert "ept 250 frames" in said.getvalue()


def at_its_limit(_: Any) -> None:
    last = leg(plane="HINGE")
    ob = last.id_data
    last.planar_ik.max_angle = 2.0
    rigs.put(ob.pose.bones["foot_ik.L"], Vector((0.1, -0.1, 0.12)))
    bpy.context.view_layer.update()
    assert (last.planar_ik.reach, "a joint is at its limit" in last.planar_ik.message) == ("LIMITED", True)
    root, knee, tip = (rigs.place(ob, name) for name in ("thigh.L", "shin.L", "foot.L"))
    assert (root - knee).angle(tip - knee) == pytest.approx(2.0, abs=1e-3)


def towards_the_joint(_: Any) -> None:
    last = leg(plane="HINGE")
    ob = last.id_data
    rest = rigs.place(ob, "shin.L") - rigs.place(ob, "thigh.L")
    last.planar_ik.root_min_angle, last.planar_ik.root_max_angle = -0.5, 0.3
    rigs.put(ob.pose.bones["foot_ik.L"], Vector((0.1, -0.9, 0.3)))
    now = rigs.place(ob, "shin.L") - rigs.place(ob, "thigh.L")
    assert now.y < rest.y
    assert now.angle(rest) == pytest.approx(0.3, abs=1e-3)


def counted_from_the_front(_: Any) -> None:
    ob = rigs.puppet()
    select("shin")
    assert not call("add")
    limb = ob.pose.bones["shin"].planar_ik
    rigs.put(ob.pose.bones[limb.subtarget], Vector((0.1, 0.0, 0.3)))
    for _flip in range(2):
        thigh, shin = (rigs.place(ob, b) - rigs.place(ob, a) for a, b in (("thigh", "shin"), ("shin", "foot")))
        assert limb.side == np.sign(thigh.x * shin.z - thigh.z * shin.x)
        limb.flip = True


def walking(**options: Any) -> Any:
    """The last bone of a leg that swings in FK in twenty frames and got IK."""
    ob = rigs.biped()
    bpy.context.scene.frame_end = 20
    for frame in range(1, 21):
        for name, turn in (("thigh.L", 0.5 * sin(0.7 * frame)), ("shin.L", 0.6 + 0.3 * sin(0.9 * frame))):
            ob.pose.bones[name].rotation_quaternion = Quaternion((1, 0, 0), turn)
            ob.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    assert not call("add", limbs="shin.L", **options)
    select("shin.L")
    return ob.pose.bones["shin.L"]


def keys_every_frame(_: Any) -> None:
    last = walking(tolerance=0.0)
    keyed = [curve for curve in rigs.curves(last.id_data) if '"foot_ik.L"].location' in curve.data_path]
    assert {len(curve.keyframe_points) for curve in keyed} == {20}


def used_ones_stay(_: Any) -> None:
    last = walking()
    ob, said = last.id_data, io.StringIO()
    rigs.empty("held", parent=ob, bone="foot_ik.L")
    with contextlib.redirect_stdout(said):
        assert not call("bake", remove=True)
    assert "knee_pole.L" not in ob.pose.bones
    assert "foot_ik.L" in ob.pose.bones
    assert "Kept foot_ik.L: something else uses it" in said.getvalue()


def beside_the_knee(_: Any) -> None:
    ob = walking().id_data
    for frame in range(1, 21):
        bpy.context.scene.frame_set(frame)
        root, knee, tip, pole = (rigs.place(ob, name) for name in ("thigh.L", "shin.L", "foot.L", "knee_pole.L"))
        along = (tip - root).normalized()
        bend, ahead = ((place - root) - along * (place - root).dot(along) for place in (knee, pole))
        assert ahead.angle(bend) < 0.01


def leaves_its_plane(_: Any) -> None:
    ob = rigs.biped()
    for frame, turn in ((1, 0.0), (20, 0.8)):
        ob.pose.bones["thigh.L"].rotation_quaternion = Quaternion((0, 0, 1), turn)
        ob.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_end = 20
    before = rigs.snapshot()
    assert "plane" in call("add", limbs="shin.L", plane="HINGE")
    assert not rigs.differences(before, rigs.snapshot())


def keeps_its_side(_: Any) -> None:
    last = leg(plane="FREE")
    ob = last.id_data
    for old, new in (("shin.R", "other"), ("shin.L", "shin.R")):
        ob.data.bones[old].name = new
    bpy.context.view_layer.update()
    limb = ob.pose.bones["shin.R"].planar_ik
    assert limb.message == "On target"
    select("shin.R")
    assert not call("rebuild")
    was = rigs.place(ob, "shin.R").x
    limb.swivel = 0.5
    assert (rigs.place(ob, "shin.R").x - was) > 0.005


def no_second_copy(folder: Any) -> None:
    source = shots.shot(folder / "in.blend")
    for _again in range(2):
        assert not installed.addon("cli").main(["rebuild", str(source), "--in-place"])
        assert not installed.addon("cli").main(["set", str(source), "--in-place", "--mode", "LIVE"])
    assert [path.name for path in folder.iterdir()] == ["in.blend"]


def between_frames(folder: Any) -> None:
    source, output = shots.shot(folder / "in.blend"), folder / "out.blend"
    assert not installed.addon("cli").main(["bake", str(source), "-o", str(output), "--step", "0.25"])
    bpy.ops.wm.open_mainfile(filepath=str(output))
    ob = bpy.data.objects["rig"]
    frames = {
        key.co.x for curve in rigs.curves(ob) if '"shin.L"].rot' in curve.data_path for key in curve.keyframe_points
    }
    assert {1.0, 1.25, 1.5, 1.75, 2.0} <= frames


def keyed_and_driven(_: Any) -> None:
    last = leg()
    ob = last.id_data
    ob["ik"] = 0.0
    rigs.drive(last, '["IK Influence"]', ob, '["ik"]')
    bpy.context.view_layer.update()
    last.rotation_quaternion = Quaternion((1, 0, 0), 0.4)
    in_fk = rigs.place(ob, "foot.L")
    ob["ik"] = 1.0
    ob.update_tag()
    assert (rigs.place(ob, "foot.L") - in_fk).length > 0.05
    assert (rigs.place(ob, "foot.L") - rigs.place(ob, "foot_ik.L")).length < 1e-5


def the_control_is_selected(_: Any) -> None:
    rigs.biped()
    select("shin.L")
    assert not call("add")
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["foot_ik.L"]


def toes_on_top(_: Any) -> None:
    last = leg(foot_roll=True)
    ob = last.id_data
    last.planar_ik.roll = 0.3
    flat = rigs.matrices(ob, ["toe.L"])[0, :3, :3]
    ob.pose.bones["toe.L"].rotation_quaternion = turn = Quaternion((1, 0, 0), 0.4)
    assert np.abs(rigs.matrices(ob, ["toe.L"])[0, :3, :3] - flat @ np.array(turn.to_matrix())).max() < 2e-5


def as_the_table_says(_: Any) -> None:
    before, after = re.findall(r"slide in a contact, in the median \| (.+?) \| (.+?) \|", words("docs/capture.md"))[0]
    assert f"slid by {before} a step, now by {after.removesuffix(' mm')}." in words("README.md")


def half_with_the_foot(_: Any) -> None:
    last = leg()
    ob = last.id_data
    assert last["IK Pole Follow"] == 0.5
    before = rigs.place(ob, "knee_pole.L")
    rigs.put(ob.pose.bones["foot_ik.L"], rigs.place(ob, "foot_ik.L") + Vector((0.2, 0.0, 0.0)))
    assert (rigs.place(ob, "knee_pole.L") - before - Vector((0.1, 0.0, 0.0))).length < 1e-4


def of_an_arm_too(_: Any) -> None:
    ob = rigs.biped()
    assert not call("add", limbs="forearm.L")
    select("forearm.L")
    assert "IK Pole Follow" not in ob.pose.bones["forearm.L"]
    assert not call("set", pole_follows=True)
    assert "IK Pole Follow" in ob.pose.bones["forearm.L"]


def cylinders_get_keys(_: Any) -> None:
    ob = test_cylinders.added()
    rigs.click(ob, "boom", "stick")
    assert not call("add")
    select("stick")
    bpy.context.scene.frame_end = 5
    before = rigs.matrices(ob, ["housing", "rod"])
    assert not call("bake", for_game=True)
    assert not [bone.name for bone in ob.pose.bones if len(bone.constraints)]
    assert np.abs(rigs.matrices(ob, ["housing", "rod"]) - before).max() < 1e-4
    paths = str({curve.data_path for curve in rigs.curves(ob)})
    assert all(f'"{name}"].rotation' in paths for name in ("housing", "rod"))


def its_twist_is_keyed(_: Any) -> None:
    ob = rigs.biped()
    bpy.context.scene.frame_end = 20
    for frame in range(1, 21):
        ob.pose.bones["shin.L"].rotation_quaternion = Quaternion((1, 0, 0), 0.6) @ Quaternion(
            (0, 1, 0), 0.3 * sin(0.5 * frame)
        )
        ob.pose.bones["shin.L"].keyframe_insert("rotation_quaternion", frame=frame)
    assert not call("add", limbs="shin.L")
    assert "IK Twist" in ob.pose.bones["shin.L"]
    assert "IK Twist" in str({curve.data_path for curve in rigs.curves(ob)})


class Shown:
    """A layout that keeps what a panel writes into it."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def label(self, text: str = "", **_: Any) -> None:
        self.texts.append(text)

    def column(self, **_: Any) -> Shown:
        return self

    row = column

    def operator(self, *_: Any, **__: Any) -> Any:
        return SimpleNamespace()


def its_bones_in_the_tooltip(_: Any) -> None:
    leg()
    button = installed.addon("ui.operators.setting").POSE_OT_planar_ik_select
    said = button.description(bpy.context, SimpleNamespace(role="LIMB", bone="shin.L"))
    assert "thigh.L" in said
    assert "shin.L" in said


def assets_are_flipped(_: Any) -> None:
    """As Blender flips a pose asset: all frames of the action (`Action.flip_with_pose`)."""
    ob = rigs.biped()
    assert not call("add", limbs="shin.L shin.R", plane="FREE")
    last, twin = ob.pose.bones["shin.L"], ob.pose.bones["shin.R"]
    rigs.put(ob.pose.bones["foot_ik.L"], Vector((0.2, -0.3, 0.3)))
    last.planar_ik.swivel = 0.6
    bpy.context.view_layer.update()
    seen = [rigs.place(ob, name) for name in ("shin.L", "foot.L")]
    for bone in (last, ob.pose.bones["foot_ik.L"]):
        bone.keyframe_insert("location", frame=1)
        bone.keyframe_insert("rotation_quaternion", frame=1)
    last.keyframe_insert('["IK Swivel"]', frame=1)
    action = ob.animation_data.action
    action.flip_with_pose(ob)
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.update()
    assert twin.planar_ik.swivel == pytest.approx(0.6)
    for name, place in zip(("shin.R", "foot.R"), seen, strict=True):
        assert (rigs.place(ob, name) - Vector((-place.x, place.y, place.z))).length < 1e-4


def turn_the_control(_: Any) -> None:
    last, shown = leg(), Shown()
    select("foot.L")
    last.id_data.pose.bones["foot.L"].rotation_quaternion = Quaternion((1, 0, 0), 0.4)
    screen = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))
    context = SimpleNamespace(active_pose_bone=bpy.context.active_pose_bone, region=None, preferences=screen)
    installed.addon("ui.panel").draw_foot(shown, context, last)
    assert "foot_ik.L" in " ".join(shown.texts)


def about_the_axis_seen(_: Any) -> None:
    """A straight limb whose knee is keyed to bend about an axis between X and Z."""
    ob = line((0, 0, 0), (0, 0, -1), (0, 0, -2))
    axis, last = Vector((1, 0, 1)).normalized(), ob.pose.bones["bone.2"]
    for frame in range(1, 11):
        last.rotation_quaternion = Quaternion(axis, 0.15 * (frame - 1))
        last.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_end = 10
    bpy.context.scene.frame_set(6)
    bends = rigs.matrices(ob, ["bone.2"])[0, :3, :3] @ np.array(axis)
    select("bone.2")
    assert not call("add", plane="HINGE")
    for goal in ((0.3, 0.4, -1.4), (0.2, 0.5, -1.2)):
        bpy.context.scene.frame_set(6)
        rigs.put(ob.pose.bones[last.planar_ik.subtarget], Vector(goal))
        root, knee = rigs.place(ob, "bone.1"), rigs.place(ob, "bone.2")
        tip = rigs.evaluated(ob).pose.bones["bone.2"].tail
        normal = (knee - root).cross(tip - knee).normalized()
        assert abs(abs(normal.dot(Vector(bends))) - 1.0) < 1e-4


def not_in_one_plane(_: Any) -> None:
    ob, said = line((0, 0, 0), (0, -0.2, -1), (0, 0.2, -2), (0, 0, -3)), io.StringIO()
    for frame, turn in ((1, 0.0), (10, 0.8)):
        ob.pose.bones["bone.2"].rotation_quaternion = Quaternion((0, 1, 0), turn)
        ob.pose.bones["bone.2"].keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_end = 10
    select("bone.3")
    with contextlib.redirect_stdout(said):
        assert not call("add", bones="3")
    assert re.search(r"'bone.2' is not where it was in frame \d+: by [\d.]+ of the limb's length", said.getvalue())


def how_long_it_is(_: Any) -> None:
    ob, shown = test_cylinders.added(), Shown()
    select("housing")
    bpy.context.scene.unit_settings.system = "METRIC"
    installed.addon("ui.panel").draw_cylinder(shown, bpy.context)
    length = (rigs.place(ob, "housing") - rigs.place(ob, "rod")).length
    assert f"Length {length:.2f} m" in " ".join(shown.texts), shown.texts


def crossed(_: Any) -> None:
    """A parallelogram goes on crossed past half a turn, but with *IK Flip* keyed where the bones lie in line."""
    end, ground = complex(0.2, 0.4), complex(1.5, 0.0)
    machine = linkages.four_bars(0j, end, ground, ground + end, 2.0 * pi)
    ob = linkages.drawn(machine)
    rigs.click(ob, *(bone.name for bone in ob.pose.bones))
    assert not call("add")
    last = ob.pose.bones["a second"]

    def lag() -> list[float]:
        found = []
        for frame in range(1, linkages.FRAMES + 1):
            bpy.context.scene.frame_set(frame)
            crank, rocker = (rigs.evaluated(ob).pose.bones[name].vector for name in ("crank", "a first"))
            found.append(crank.angle(rocker, 0.0))
        return found

    off = np.array(lag())
    line_at = [k for k in range(1, len(off)) if (off[k] > 1e-3) != (off[k - 1] > 1e-3)]
    assert (off > 0.1).any()
    assert (off < 1e-3).any()
    first = off[0] > 1e-3
    for k in [0, *line_at]:
        last.planar_ik.flip = bool((off[k] > 1e-3) != first)
        last.keyframe_insert('["IK Flip"]', frame=k + 1)
    assert max(lag()) < 1e-3


def halfway_too(_: Any) -> None:
    """Also where the crank turns by a radian a frame."""
    machine = linkages.MACHINES["four bar"]
    ob = linkages.drawn(machine)
    rigs.click(ob, *(bone.name for bone in ob.pose.bones))
    assert not call("add")
    rigs.turn_crank(ob, {frame: frame - 1.0 for frame in range(1, linkages.FRAMES + 2)})
    assert not call("bake", remove=True)
    assert linkages.worst(machine, ob, 0.5) < 1e-5


LIMITS: Claims = {
    "A limb has two, three or four bones": too_many_bones,
    "at most 0.35 of the limb's length beside it": beside_the_plane,
    "No limb can be added on a library override": on_an_override,
    "A limb's bones below the first have to inherit rotation": inherited,
    "The location of a limb's bones below the first is not keyed": refused("moved by its own location", keyed_location),
    "the first not connected": connected,
    "Limits of the first joint are a hinge's of two bones, without softness and stretch": root_limits,
    "Limbs mirrored by their own scale": refused(
        "is scaled by itself", lambda ob: setattr(ob.pose.bones["thigh.L"], "scale", (-1, 1, 1))
    ),
    "A limb's own bones keep their scale; only *Stretch* changes it": own_scale,
    "*Switch* refuses a limb whose influence a driver sets": driven_influence,
    "A limb that is given your own target or pole goes there": own_target,
    "A *Hinge* counts in its plane only": beside_a_hinge,
    "Twist bones in line count as part of the bone above them": twist_bones,
}

SENTENCES: dict[str, Claims] = {
    "docs/limits.md": LIMITS,
    "README.md": {
        "A sole appears below the foot, `foot_ik.L`, and a pole in front of the knee": what_appears,
        "a boom bends in its plane, without one": a_boom,
        "At *IK Influence* 0 the bones are yours: that is FK.": is_fk,
        "Key, drive and copy them like any other property": keyed_and_driven,
        "slid by 60 mm a step, now by 1.4.": as_the_table_says,
    },
    "docs/animator.md": {
        "They are called `foot_ik.L`, `hand_ik.R`, `knee_pole.L`, with sides as the rig has them.": what_appears,
        "A straight knee bends to the toes, a straight elbow to the back.": what_appears,
        "*Ends At* moves the limb up or down its line": ends_in_line,
        "or an arm with its shoulder, click the last bone and set *Limb* to 3 or 4": with_its_shoulder,
        "amber is where you want it off the target: *Blending, 24 cm*, *Eased, 8 mm*; "
        "red is short: *29 cm too far*.": how_it_is,
        "*Target*, *Pole*, *FK Bones* select these.": these_are_selected,
        "*Swivel* turns the knee around the limb, over whole turns if you like.": whole_turns,
        "Both are at 0 until you move them; *Setup* takes them away again": none_yet,
        "You may hide their bone collection *IK Poles*.": hidden_poles,
        "in its own plane; it does not reach what is beside that": beside_a_hinge,
        "the rig gets controls and the foot's constraints, and no helper bones": live,
        "Then press *G*: the new control is selected.": the_control_is_selected,
        "The first line is the limb, *Left Leg*; its tooltip says which bones.": its_bones_in_the_tooltip,
        "flipped pose assets and *Symmetrize* are right by themselves.": assets_are_flipped,
        "A foot that turns with its control shows no turn of its own: the panel says which control to turn.": (
            turn_the_control
        ),
        "The toes' own pose goes on top.": toes_on_top,
        "The poles of legs go half with the foot and half with the hips: *Pole Follow*": half_with_the_foot,
        "*Setup* has it for other limbs whose target and pole are bones of the rig.": of_an_arm_too,
    },
    "docs/capture.md": {
        "The report says *kept 250 frames*": kept_frames,
        "0 keys every frame.": keys_every_frame,
        "Control bones that something else uses stay, and the report names them.": used_ones_stay,
        "poles stay on the side to which the knee bends.": beside_the_knee,
        "Add refuses *Hinge* where a limb leaves its plane": leaves_its_plane,
        "Where bones would turn by more, the limb gets *IK Twist* with keys;": its_twist_is_keyed,
        "A limb that is straight at rest bends about the axis that it is seen to bend about in all frames.": (
            about_the_axis_seen
        ),
        "and says where the joints of three or four bones do not lie in one.": not_in_one_plane,
    },
    "docs/machines.md": {
        "A target counts in the plane only, however far before it.": a_boom,
        "nearer than the bones reach, the limb folds": the_limb_folds,
        "the arm takes the pose that comes nearest, and the panel says that a joint is at its limit.": at_its_limit,
        "by how much the first bone may turn from rest, above 0 towards where the joint points.": towards_the_joint,
        "*For Games* gives cylinders keys, too.": cylinders_get_keys,
        "Click one to see how long it is, and how far out.": how_long_it_is,
        "goes on crossed: key *IK Flip* in that frame, and again where they do next.": crossed,
        "A bake holds the joints of closed loops halfway between frames, too, to a hundred thousandth": halfway_too,
    },
    "docs/scripting.md": {
        "`enabled`, `target` and `chain_count` make a limb of a bone that is none yet, of two bones if nothing "
        "says how many": none_of_a_bone,
        "`IK Influence`, `IK Flip` and `IK Swivel` are there as soon as the limb is; "
        "the others once they were set": there_at_once,
        "A new `target` without a bone of that name clears `subtarget`.": clears,
        "set once, it lets the pole be switched off": the_pole_is_off,
        "`plane` *Knee*, `chain_count` *Limb*, `stretch_volume` *Volume*, `break_angle` *Toe From*": called_alike,
        "a feature that is new to the limb (softness, stretch, a limit, another plane) rebuilds it at once": (
            rebuilt_at_once
        ),
        "which way the knee bends, counted from the front: 1 against the clock, -1 with it": counted_from_the_front,
        "Renamed to the other side, it keeps the side that it was made with.": (keeps_its_side),
    },
    "docs/farm.md": {
        "`--in-place` leaves such files alone, and makes no `.blend1`": no_second_copy,
        "or bake with `--step 0.25`": between_frames,
    },
}


@pytest.mark.parametrize(("page", "claim"), [(page, claim) for page, claims in SENTENCES.items() for claim in claims])
def test_a_claim_holds(page: str, claim: str, tmp_path: Any) -> None:
    assert claim in words(page)
    SENTENCES[page][claim](tmp_path)
