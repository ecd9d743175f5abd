"""What is selected is the limb: rigs as people draw them, what is selected on them, and the bones that get IK."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import bpy
import numpy as np
import pytest

from tests.blender import rigs
from tests.blender.characters import grown, person, select_all

from .conftest import call, select


def taken(ob: Any) -> list[list[str]]:
    """The bones of the limbs of a rig, from the root down."""
    lasts = [bone for bone in ob.pose.bones if bone.planar_ik.enabled]
    lines = [[last, *last.parent_recursive][: last.planar_ik.chain_count] for last in lasts]
    return [[bone.name for bone in reversed(line)] for line in lines]


def added(ob: Any, *names: str, active: str = "", **options: Any) -> list[list[str]]:
    """The limbs that Add makes of a selection; nothing has moved."""
    bones = ob.pose.bones.keys()
    select(*names, active=active or names[-1])
    before = rigs.matrices(ob, bones)
    assert not call("add", **options)
    size = max(sum(ob.data.bones[name].length for name in line) for line in taken(ob))
    moved, own = np.abs(rigs.matrices(ob, bones) - before), {name for line in taken(ob) for name in line}
    assert moved[[name in own for name in bones], :3, 3].max() < 5e-6 * size
    assert moved.max() < 2e-5
    return taken(ob)


# mechanisms, under names that say nothing or the wrong thing


class Mechanism(NamedTuple):
    """Bones by name, in the XZ plane: head, tail and parent; those that get IK, and what that is to follow."""

    bones: dict[str, tuple[tuple[float, float], tuple[float, float], str]]
    limb: list[str]
    target: str


MECHANISMS = {
    "four-bar": Mechanism(
        {
            "frame": ((0, 0), (0.3, 0), ""), "crank": ((0, 0), (0, 0.5), "frame"), "pin": ((0, 0.5), (0, 0.6), "crank"),
            "rocker": ((1, 0), (1, 0.8), "frame"), "coupler": ((1, 0.8), (0, 0.5), "rocker"),
        },
        ["rocker", "coupler"], "pin",
    ),
    "landing gear": Mechanism(
        {
            "fuselage": ((0, 2), (0.5, 2), ""), "leg": ((0, 1.8), (0, 0.4), "fuselage"),
            "lug": ((0, 0.9), (0.1, 0.9), "leg"), "wheel": ((0, 0.4), (0.2, 0.4), "leg"),
            "brace": ((1, 1.8), (0.6, 1.3), "fuselage"), "stay": ((0.6, 1.3), (0, 0.9), "brace"),
        },
        ["brace", "stay"], "lug",
    ),
    "bucket link": Mechanism(
        {
            "body": ((0, 0), (0, 0.5), ""), "boom": ((0, 0.5), (1.5, 1.5), "body"),
            "stick": ((1.5, 1.5), (2.2, 0.3), "boom"), "bucket": ((2.2, 0.3), (2, -0.3), "stick"),
            "pin": ((2.35, 0.25), (2.45, 0.25), "bucket"), "rocker": ((2.05, 0.6), (2.4, 0.7), "stick"),
            "link": ((2.4, 0.7), (2.35, 0.25), "rocker"),
        },
        ["rocker", "link"], "pin",
    ),
    "excavator": Mechanism(
        {
            "chassis": ((0, 0), (0.5, 0), ""), "boom": ((0, 0.5), (1.5, 1.5), "chassis"),
            "stick": ((1.5, 1.5), (2.2, 0.3), "boom"), "bucket": ((2.2, 0.3), (2, -0.3), "stick"),
            "tip": ((2.2, 0.3), (2.6, 0.3), ""),
        },
        ["boom", "stick"], "tip",
    ),
    "lamp": Mechanism(
        {
            "base": ((0, 0), (0, 0.1), ""), "lower": ((0, 0.1), (-0.4, 0.7), "base"),
            "upper": ((-0.4, 0.7), (0.2, 1.1), "lower"), "shade": ((0.2, 1.1), (0.4, 0.9), "upper"),
            "spot": ((0.2, 1.1), (0.2, 1.3), ""),
        },
        ["lower", "upper"], "spot",
    ),
    "robot arm": Mechanism(
        {
            "pedestal": ((0, 0), (0, 0.4), ""), "a1": ((0, 0.4), (0.1, 1), "pedestal"),
            "a2": ((0.1, 1), (0.5, 1.5), "a1"), "a3": ((0.5, 1.5), (1.2, 1.4), "a2"),
            "a4": ((1.2, 1.4), (1.5, 0.9), "a3"), "goal": ((1.5, 0.9), (1.8, 0.9), ""),
        },
        ["a3", "a4"], "goal",
    ),
}  # fmt: skip

NAMINGS = {
    "as they are": lambda i, name: name,
    "as Blender does": lambda i, name: f"Bone.{i:03}" if i else "Bone",
    "letters": lambda i, name: chr(ord("A") + i),
    "numbers": lambda i, name: f"part_{i + 1}",
    "arms": lambda i, name: f"arm.{i:03}",
    "legs": lambda i, name: f"Leg{i}",
    "sides": lambda i, name: f"{name}.L",
    "controls": lambda i, name: f"CTRL_{name}",
}


def mechanism(kind: str, naming: str, off: float = 0.0) -> tuple[Any, list[str], str]:
    """A mechanism under other names, its bones in line; its limb, and what that is to follow."""
    made = MECHANISMS[kind]
    new = {name: NAMINGS[naming](i, name) for i, name in enumerate(made.bones)}
    bones = {
        new[name]: ((x + off, 0.0, z), (x2 + off, 0.0, z2), new.get(parent, ""))
        for name, ((x, z), (x2, z2), parent) in made.bones.items()
    }
    return rigs.rig(bones), [new[name] for name in made.limb], new[made.target]


@pytest.mark.parametrize("naming", NAMINGS)
@pytest.mark.parametrize("kind", MECHANISMS)
def test_a_mechanism_and_its_target(kind: str, naming: str) -> None:
    ob, limb, target = mechanism(kind, naming)
    assert added(ob, target, limb[-1]) == [limb]
    last = ob.pose.bones[limb[-1]].planar_ik
    assert (last.target, last.subtarget, last.reach) == (ob, target, "REACHED")


@pytest.mark.parametrize("naming", NAMINGS)
@pytest.mark.parametrize("kind", MECHANISMS)
def test_one_click_on_a_mechanism(kind: str, naming: str) -> None:
    ob, limb, _ = mechanism(kind, naming, off=0.7)
    assert added(ob, limb[-1]) == [limb]


@pytest.mark.parametrize("kind", MECHANISMS)
def test_a_line_and_its_target_whatever_is_active(kind: str) -> None:
    for active in range(3):
        ob, limb, target = mechanism(kind, "as Blender does")
        names = [*limb, target]
        assert added(ob, *names, active=names[active]) == [limb]
        assert ob.pose.bones[limb[-1]].planar_ik.subtarget == target
        bpy.data.objects.remove(ob)


# bones in line


def line_of(*names: str, connected: bool = True, root: bool = False) -> Any:
    """Bones in line that bend to and fro, as they are extruded or drawn apart."""
    places = [(0.15 * (i % 2), 0.0, 2.0 - 0.4 * i) for i in range(len(names) + 1)]
    bones: Any = {"body": ((0, 0, 2.2), (0, 0, 2.5), "")} if root else {}
    for i, name in enumerate(names):
        parent = names[i - 1] if i else "body" if root else ""
        bones[name] = (places[i], places[i + 1], parent)
    ob = rigs.rig(bones)
    if not connected:
        rigs.activate(ob, "EDIT")
        for bone in ob.data.edit_bones:
            bone.use_connect = False
        rigs.activate(ob)
    return ob


LINES = {
    "robot arm of five": ("arm1", "arm2", "arm3", "arm4", "arm5"),
    "excavator": ("boom", "arm", "stick", "bucket"),
    "insect's leg": ("coxa.L", "femur.L", "tibia.L", "tarsus.L"),
    "scissors": ("s1", "s2", "s3", "s4"),
    "finger": ("Bone", "Bone.001", "Bone.002"),
    "bird's leg": ("hip", "femur", "tibiotarsus", "metatarsus"),
    "puppet": ("upper", "lower", "end_ctrl"),
}
EXPLICIT = [
    (kind, names[first:end]) for kind, names in LINES.items() for first, end in combinations(range(len(names) + 1), 2)
    if 2 <= end - first <= 4
]  # fmt: skip


@pytest.mark.parametrize(("kind", "names"), EXPLICIT)
def test_bones_in_line_are_the_limb(kind: str, names: tuple[str, ...]) -> None:
    ob = line_of(*LINES[kind], connected=len(names) != 3, root=len(names) == 2)
    assert added(ob, *names, active=names[0]) == [[*names]]


WITH_FEET = {
    ("thigh", "shin", "foot"): ["thigh", "shin"],
    ("thigh", "shin", "foot", "toe"): ["thigh", "shin", "foot"],  # to and fro, as a dog's
    ("upper", "lower", "Hand"): ["upper", "lower"],
    ("b1", "b2", "b3", "hoof.L"): ["b1", "b2", "b3"],
    ("shin", "foot"): ["shin", "foot"],
}


@pytest.mark.parametrize("names", WITH_FEET)
def test_a_foot_at_the_end_is_left_off(names: tuple[str, ...]) -> None:
    assert added(line_of(*names), *names) == [WITH_FEET[names]]


CLICKS = [
    (("Bone", "Bone.001", "Bone.002"), "Bone.002", {}, ["Bone.001", "Bone.002"]),
    (("Bone", "Bone.001"), "Bone", {}, ["Bone", "Bone.001"]),
    (LINES["robot arm of five"], "arm5", {}, ["arm4", "arm5"]),
    (LINES["robot arm of five"], "arm4", {"bones": "3"}, ["arm2", "arm3", "arm4"]),
    (LINES["robot arm of five"], "arm5", {"ends_at": "-1"}, ["arm3", "arm4"]),
    (LINES["robot arm of five"], "arm3", {"ends_at": "1", "bones": "3"}, ["arm2", "arm3", "arm4"]),
    (LINES["insect's leg"], "tarsus.L", {"bones": "4"}, [*LINES["insect's leg"]]),
    (("hand", "Bone.001", "Bone.002", "Bone.003"), "Bone.003", {"bones": "3"}, ["Bone.001", "Bone.002", "Bone.003"]),
]


@pytest.mark.parametrize(("names", "clicked", "options", "limb"), CLICKS)
def test_one_click(names: tuple[str, ...], clicked: str, options: dict[str, Any], limb: list[str]) -> None:
    assert added(line_of(*names), clicked, **options) == [limb]


@pytest.mark.parametrize("root", ["chassis", "Bone", "base", "root", "body", "hull", "arm", "plate", "unit.L"])
def test_the_distance_from_a_root_is_no_bone(root: str) -> None:
    bones = {root: ((0, 0, 0), (0, 0.6, 0), ""), "upper": ((0, 0, 1), (0.6, 0, 1.6), root),
             "forearm": ((0.6, 0, 1.6), (1.3, 0, 1.2), "upper")}  # fmt: skip
    ob = rigs.rig(bones)
    assert added(ob, "upper" if root == "Bone" else "forearm") == [["upper", "forearm"]]


def hand() -> Any:
    """A hand of four fingers that are called as Blender does, on a wrist."""
    bones: dict[str, Any] = {"Bone": ((0, 0, 0), (0, 0, 0.4), ""), "Bone.001": ((0, 0, 0.4), (0, 0, 0.8), "Bone")}
    for finger in range(4):
        for k in range(3):
            name, above = f"f{finger}.{k}", f"f{finger}.{k - 1}" if k else "Bone.001"
            x = 0.1 * finger - 0.15
            bones[name] = ((x, -0.02 * k * k, 0.85 + 0.2 * k), (x, -0.02 * (k + 1) ** 2, 1.05 + 0.2 * k), above)
    return rigs.rig(bones)


def test_no_limb_reaches_into_what_carries_several() -> None:
    ob = hand()
    select("f1.2")
    before = rigs.snapshot()
    assert "'Bone.001' carries several limbs" in call("add", bones="4")
    assert rigs.snapshot() == before
    assert added(ob, "f1.2", bones="3") == [["f1.0", "f1.1", "f1.2"]]


def test_a_line_of_too_few_bones_says_how_many_it_has() -> None:
    rigs.rig({"a": ((0, 0, 0), (0, -0.1, 1), ""), "b": ((0, -0.1, 1), (0, 0, 2), "a")})
    select("b")
    before = rigs.snapshot()
    assert "'b' ends a line of 2 bones, not of 4: choose fewer" in call("add", bones="4")
    assert rigs.snapshot() == before


# characters


def both(*names: str) -> list[str]:
    return [f"{name}.{side}" for side in "LR" for name in names]


BIPED = [
    (["shin.L", "shin.R"], [both("thigh", "shin")[:2], both("thigh", "shin")[2:]]),
    (both("thigh", "shin"), [["thigh.L", "shin.L"], ["thigh.R", "shin.R"]]),
    (["thigh.L", "shin.L", "foot.R"], [["thigh.L", "shin.L"], ["thigh.R", "shin.R"]]),
    (["upper_arm.L", "forearm.L", "hand.L"], [["upper_arm.L", "forearm.L"]]),
    (["toe.L"], [["thigh.L", "shin.L"]]),
    (["thigh.L"], [["thigh.L", "shin.L"]]),
    (["hand.L", "foot.R"], [["upper_arm.L", "forearm.L"], ["thigh.R", "shin.R"]]),
    (["thigh.L", "shin.L", "foot.L", "toe.L"], [["thigh.L", "shin.L"]]),
    (["foot.L", "toe.L"], [["foot.L", "toe.L"]]),
    (["hips", "spine"], [["hips", "spine"]]),
]


@pytest.mark.parametrize(("names", "limbs"), BIPED)
def test_on_a_character(names: list[str], limbs: list[list[str]]) -> None:
    ob = rigs.biped()
    assert sorted(added(ob, *names)) == sorted(limbs)


@pytest.mark.parametrize("count", [1, 2])
def test_offset_groups_belong_to_no_limb_and_hide_none(count: int) -> None:
    """Legs alone; the joints held by bones that begin where they do, as exporters make them."""
    bones: dict[str, Any] = {"hips": ((0, 0, 1), (0, 0, 1.2), "")}
    for side, x in (("L", 0.1), ("R", -0.1)):
        places = [(x, 0, 1), (x, -0.03, 0.5), (x, 0, 0.1), (x, -0.2, 0)]
        above = "hips"
        for k, name in enumerate(("thigh", "shin", "foot")):
            if k < count:
                head = places[k]
                bones[f"{name}_offset.{side}"] = (head, (head[0], head[1] + 0.1, head[2]), above)
                above = f"{name}_offset.{side}"
            bones[f"{name}.{side}"] = (places[k], places[k + 1], above)
            above = f"{name}.{side}"
    ob = rigs.rig(bones)
    select("shin.L", "shin.R")
    before = rigs.matrices(ob, bones)
    assert not call("add")
    assert np.abs(rigs.matrices(ob, bones) - before).max() < 1e-5
    assert {bone.name for bone in ob.pose.bones if bone.planar_ik.enabled} == {"shin.L", "shin.R"}
    for side in "LR":
        limb = ob.pose.bones[f"shin.{side}"].planar_ik
        assert (limb.subtarget, limb.chain_count) == (f"foot_ik.{side}", 1 + count)
        rigs.put(ob.pose.bones[limb.subtarget], rigs.place(ob, f"foot.{side}") + rigs.Vector((0.05, -0.1, 0.2)))
        assert (rigs.place(ob, f"foot.{side}") - rigs.place(ob, limb.subtarget)).length < 1e-5


def test_nothing_selected_is_refused() -> None:
    ob = rigs.biped()
    select("shin.L")
    rigs.select(ob.pose.bones["shin.L"], False)
    before = rigs.snapshot()
    assert "Select the bones of a limb" in call("add")
    assert rigs.snapshot() == before


def test_hidden_and_locked_bones_are_named(capfd: Any) -> None:
    ob = rigs.biped()
    shin: Any = ob.pose.bones["shin.L"]
    (shin if hasattr(shin, "hide") else shin.bone).hide = True
    ob.pose.bones["thigh.L"].lock_rotation = (True, True, True)
    assert added(ob, "foot.L") == [["thigh.L", "shin.L"]]
    assert "; hidden: shin.L; locked: thigh.L" in capfd.readouterr().out


def test_where_limbs_have_constraints_these_are_named(addon: Any) -> None:
    ob = rigs.biped()
    for side in "LR":
        constraint = ob.pose.bones[f"shin.{side}"].constraints.new("IK")
        constraint.target, constraint.subtarget, constraint.chain_count = ob, "root", 2
    for name in ("hips", "shin.L"):
        select(name)
        assert "press Solve Exactly" in call("add")
    select_all(ob)
    assert addon("ui.panel").offer_of(bpy.context) == "CONVERT"


def test_the_panel_offers_what_add_does(addon: Any) -> None:
    ob = person(rigs.Vector((1, 0, 0)))
    grown(ob, {"brow": ((0, -0.1, 1.7), (0, -0.1, 1.72), "head")})
    select_all(ob)
    ob.data.bones.active = ob.data.bones["brow"]
    offered, _ = addon("finding.choosing").limbs_offered(bpy.context)
    assert (addon("ui.panel").offer_of(bpy.context), len(offered)) == ("ADD", 4)
    assert not call("add")
    assert {last.name for last, _ in offered} == {line[-1] for line in taken(ob)}
    select("brow")
    assert "'brow' is of no arm or leg" in addon("ui.panel").offer_of(bpy.context)


# where the tip is


def test_the_tip_is_where_a_bone_begins_at_the_tail() -> None:
    """The stick of an excavator: the tipping link, with more bones, begins before the bucket's pin."""
    for connected in (True, False):
        ob, (_, stick), _ = mechanism("bucket link", "as they are")[0], ("boom", "stick"), ""
        if not connected:
            rigs.activate(ob, "EDIT")
            ob.data.edit_bones["bucket"].use_connect = False
            rigs.activate(ob)
        assert added(ob, stick) == [["boom", "stick"]]
        limb = ob.pose.bones[stick].planar_ik
        assert (rigs.place(ob, limb.subtarget) - rigs.place(ob, "bucket")).length < 1e-6
        bpy.data.objects.remove(ob)


def test_a_short_last_bone_keeps_its_length() -> None:
    ob = rigs.rig({"Bone": ((0, 0, 0), (0, 0, 4), ""), "Bone.001": ((0, 0, 4), (0.1, 0, 4.15), "Bone")})
    assert added(ob, "Bone.001") == [["Bone", "Bone.001"]]
    assert (rigs.place(ob, ob.pose.bones["Bone.001"].planar_ik.subtarget) - rigs.Vector((0.1, 0, 4.15))).length < 1e-6


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_a_script_says_where_the_tip_is(mode: str) -> None:
    """The hand begins half a bone from the tail of the forearm."""
    bones = {"Bone": ((0, 0, 1), (0.1, 0, 0.5), ""), "Bone.001": ((0.1, 0, 0.5), (0, 0, 0), "Bone"),
             "hand": ((0.3, 0, 0.2), (0.3, 0, 0.1), "Bone.001")}  # fmt: skip
    ob = rigs.rig(bones)
    rigs.activate(ob, "EDIT")
    for bone in ob.data.edit_bones:
        bone.use_connect = False
    rigs.activate(ob)
    assert added(ob, "Bone.001", mode=mode) == [["Bone", "Bone.001"]]
    for tip in ("TAIL", "FOOT", "TAIL"):
        limb = ob.pose.bones["Bone.001"].planar_ik
        limb.tip = tip
        target = ob.pose.bones[limb.subtarget]
        rigs.put(target, rigs.Vector((0.35, 0.0, 0.35)))
        now = rigs.evaluated(ob).pose.bones
        joint = now["hand"].head if tip == "FOOT" else now["Bone.001"].tail
        assert (limb.tip, limb.mode, limb.reach) == (tip, mode, "REACHED")
        assert (joint - now[limb.subtarget].head).length < 1e-5
