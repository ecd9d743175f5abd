"""What the pages claim, each claim tried beside its own words: a page that says it otherwise has to be tried anew."""

from __future__ import annotations

import contextlib
import io
import random
import re
from collections.abc import Callable
from math import pi, sin
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from scripts import installed
from scripts.package import ROOT
from tests.blender import libraries, rigs
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
    },
    "docs/capture.md": {"The report says *kept 250 frames*": kept_frames},
    "docs/machines.md": {
        "A target counts in the plane only, however far before it.": a_boom,
        "nearer than the bones reach, the limb folds": the_limb_folds,
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
    },
}


@pytest.mark.parametrize(("page", "claim"), [(page, claim) for page, claims in SENTENCES.items() for claim in claims])
def test_a_claim_holds(page: str, claim: str, tmp_path: Any) -> None:
    assert claim in words(page)
    SENTENCES[page][claim](tmp_path)
