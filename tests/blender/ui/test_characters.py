"""One press of Add with all bones of a character selected."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender import rigs
from tests.blender.characters import CHARACTERS, LIMBS, METARIGS, metarig, round_trip, select_all

from .conftest import call

pytestmark = pytest.mark.dear


@pytest.fixture(params=CHARACTERS)
def character(request: Any) -> Any:
    """The rig, with IK on it, and which way its knees belong; nothing has moved."""
    made = CHARACTERS[request.param]
    ob = made.make()
    select_all(ob)
    names = ob.pose.bones.keys()
    before = rigs.matrices(ob, names)
    assert not call("add")
    assert np.abs(rigs.matrices(ob, names) - before)[:, :3, 3].max() < 1e-4 * max(ob.dimensions) / ob.scale.x
    return ob, made.knees


PLAIN = ("person", "torso", "long fingers")
OF_RIGIFY = ("wolf", "bird")


def limbs(ob: Any) -> list[str]:
    return [bone.name for bone in ob.pose.bones if bone.planar_ik.enabled]


def joints(ob: Any, name: str) -> list[Any]:
    """Where root, first knee and tip of a limb are in the world."""
    last = rigs.evaluated(ob).pose.bones[name]
    line = [last, *last.parent_recursive][: ob.pose.bones[name].planar_ik.chain_count]
    return [ob.matrix_world @ line[-1].head, ob.matrix_world @ line[-2].head, rigs.place(ob, last.planar_ik.subtarget)]


def test_every_arm_and_leg(character: Any) -> None:
    """It has IK, and its knee or elbow goes the right way."""
    ob, knees = character
    assert sorted(limbs(ob)) == sorted(knees)
    lasts = [ob.pose.bones[name] for name in knees]
    assert {(last.planar_ik.mode, last.planar_ik.reach, last.planar_ik.message) for last in lasts} == {
        ("RIG", "REACHED", "On target")
    }
    assert {bone.name for bone in bpy.context.selected_pose_bones} == {last.planar_ik.subtarget for last in lasts}
    for name in knees:
        root, _, tip = joints(ob, name)
        rigs.put(ob.pose.bones[ob.pose.bones[name].planar_ik.subtarget], tip.lerp(root, 0.35))
    for name, way in knees.items():
        root, knee, tip = joints(ob, name)
        aside = (knee - root) - (tip - root) * (knee - root).dot(tip - root) / (tip - root).length_squared
        assert ob.pose.bones[name].planar_ik.message == "On target", name
        assert aside.normalized().dot(way) > 0.7, (name, aside)


def all_added(ob: Any, slack: float = 2e-5) -> set[str]:
    """The limbs that A and Add make, which have not moved anything by more than a part of the rig's size."""
    select_all(ob)
    names = ob.pose.bones.keys()
    before = rigs.matrices(ob, names)
    assert not call("add")
    size = np.ptp(before[:, :3, 3], axis=0).max()
    assert np.abs(rigs.matrices(ob, names) - before)[:, :3, 3].max() < slack * size
    assert {bone.planar_ik.message for bone in ob.pose.bones if bone.planar_ik.enabled} == {"On target"}
    return {*limbs(ob)}


@pytest.mark.parametrize("name", LIMBS)
def test_all_selected_gives_arms_and_legs(name: str) -> None:
    make, lasts = LIMBS[name]
    slack = 1e-3 if name == "tails far away" else 2e-5  # Blender's floats are rough so far from 0
    assert all_added(make(), slack) == lasts


@pytest.mark.parametrize("name", METARIGS)
def test_rigify_s_metarigs(name: str) -> None:
    assert all_added(metarig(name)) == METARIGS[name]


def test_round_trips(tmp_path: Any) -> None:
    """What Blender's glTF importer makes of a rig has its limbs, wherever it puts tails."""
    made = [LIMBS[name][0]() for name in PLAIN] + [metarig(name) for name in OF_RIGIFY]
    lasts = [LIMBS[name][1] for name in PLAIN] + [METARIGS[name] for name in OF_RIGIFY]
    for ob, limbs_of_it in zip(round_trip(made, tmp_path), lasts, strict=True):
        rigs.activate(ob)
        assert all_added(ob) == limbs_of_it


@pytest.mark.parametrize("name", CHARACTERS)
def test_what_stands_is_a_leg(addon: Any, name: str) -> None:
    """Forelegs too, by whatever names: their poles go with their feet; arms that hang are none."""
    ob = CHARACTERS[name].make()
    select_all(ob)
    assert not call("add", plane="POLE")
    tasks, titles = addon("tasks.status"), addon("ui.state")
    legs = {limb.name for limb in tasks.limbs_of(ob) if tasks.is_leg(limb)}
    arms = {"forearm.L", "forearm.R"} if name in ("T-pose", "A-pose", "human", "puppet") else set()
    arms = {"mixamorig:LeftForeArm", "mixamorig:RightForeArm"} if name == "Mixamo" else arms
    assert {*limbs(ob)} - legs == arms
    if name in ("cat", "horse"):
        assert titles.title_of(ob.pose.bones["forearm.L"]) == "Left Foreleg"
    for limb in tasks.limbs_of(ob):
        follows = limb.name in legs and name != "insect"  # whose legs have no feet
        assert limb.get("IK Pole Follow") == (0.5 if follows else None), limb.name
