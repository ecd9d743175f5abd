"""One rig's trouble is its own: others go on, and what is asked for there is done, or refused with a sentence."""

from __future__ import annotations

import random

import bpy
import pytest

from tests.blender import rigs
from tests.blender.rigging.test_checking import edit

from .conftest import call, select

NOTES = ["nothing", "[1, 2, 3]", "3", '{"version": "1"}', '{"segments": "x"}', '{"bend_axis": [1.0]}']
"""What scripts leave in place of what is kept of a limb."""


def legs(mode="RIG", **options):
    ob = rigs.biped()
    select("shin.L", "shin.R")
    assert not call("add", mode=mode, **options)
    select("shin.L")
    return ob


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("note", NOTES, ids=str)
def test_a_note_that_cannot_be_read(note, mode):
    ob = legs(mode)
    ob.pose.bones["shin.R"].planar_ik_limb = note
    ob.pose.bones["shin.R"]["IK Twist"] = "[0.0, 0.0]"
    ob.pose.bones["foot_ik.L"].location = (0.05, 0.05, 0.05)
    bpy.context.view_layer.update()
    assert (rigs.place(ob, "foot.L") - rigs.place(ob, "foot_ik.L")).length < 1e-5
    assert not ob.pose.bones["shin.R"].planar_ik.enabled
    for name in ("snap_fk", "switch"):
        assert not call(name), name
    assert not call("bake", which="ALL", frame_start=1, frame_end=2)
    assert "remove what is left" in call("mirror")
    select("shin.R")
    assert not call("repair", repair="LEFT")
    assert not call("add")


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("how", ["removed", "unparented"])
def test_a_foot_that_rolls_is_gone(how, mode):
    ob = legs(mode, foot_roll=True)

    def change(bones):
        if how == "removed":
            bones.remove(bones["foot.L"])
        else:
            bones["foot.L"].parent = None

    edit(ob, change)
    select("shin.L")
    assert "gone" in ob.pose.bones["shin.L"].planar_ik.message
    assert "gone" in call("mirror")
    assert not call("rebuild")
    assert [ob.pose.bones[f"shin.{side}"].planar_ik.message for side in "LR"] == ["On target"] * 2


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_a_target_whose_rig_is_gone(mode):
    other, ob = rigs.rig({"goal": ((0, 0, 0.1), (0, 0, 0.3), "")}, name="other"), rigs.biped()
    limb = ob.pose.bones["shin.L"].planar_ik
    limb.target, limb.subtarget = other, "goal"
    select("shin.L")
    if mode == "RIG":
        assert not call("set", mode="RIG")
    bpy.data.armatures.remove(other.data)
    for name in ("mirror", "snap_target", "snap_fk", "switch"):
        assert "Pick a target" in call(name), name


@pytest.mark.parametrize("role", ["target", "pole"])
@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_the_name_of_a_bone_that_is_not_there(mode, role):
    ob = legs(mode, plane="POLE")
    setattr(ob.pose.bones["shin.L"].constraints["Planar IK"], f"{role}_subtarget".replace("target_s", "s"), "gone")
    select("shin.L")
    frames = {"frame_start": 1, "frame_end": 2}
    for name in ("mirror", "snap_target", "snap_fk", "switch", "hold", "bake"):
        assert f"has no bone 'gone': pick another {role}" in call(name, **(frames if name in ("hold", "bake") else {}))


def test_three_bones_do_not_slide():
    ob = rigs.random_limb(random.Random(1), count=3)
    select("upper", "middle.1", "lower")
    assert "one that slides has two" in call("add", plane="SLIDE")
    assert not call("add")
    select("lower")
    assert "one that slides has two" in call("set", plane="SLIDE")
    assert ob.pose.bones["lower"].planar_ik.plane != "SLIDE"


def test_nothing_of_a_boom_has_to_stay_where_its_knee_is_turned():
    rigs.rig({"boom": ((0, 0, 0), (0, 0, 1), ""), "stick": ((0, 0, 1), (0, 0.2, 2), "boom")})
    select("stick", "boom")
    assert not call("add", bends="OTHER")


@pytest.mark.parametrize("selected", [["shin.L"], ["shin.L", "shin.R"]])
def test_one_that_cannot_be_rebuilt_stops_no_other(selected, capfd):
    ob = legs()
    select("shin.R")
    assert not call("set", plane="SLIDE")

    def change(bones):
        bones["shin.L"].head.y -= 0.05
        bones["thigh.R"].use_connect = True

    edit(ob, change)
    select(*selected)
    assert not call("rebuild")
    assert "Warning: 'thigh.R' is connected to its parent" in capfd.readouterr().out
    assert ob.pose.bones["shin.L"].planar_ik.message == "On target"
    assert "rebuild" in ob.pose.bones["shin.R"].planar_ik.message
    select("shin.R")
    assert "is connected" in call("rebuild")


@pytest.mark.parametrize(
    ("copied", "is_muted"), [(["shin.L"], False), (["thigh.L", "shin.L"], True), (["thigh.L", "shin.L"], False)]
)
def test_only_what_shows_the_whole_limb_is_a_slider_of_the_rig(copied, is_muted):
    """A driven twist bone copies the shin; a chain of the rig's own copies all of the limb."""
    ob = legs()

    def add_copies(bones):
        for name in copied:
            made = bones.new(f"copy of {name}")
            made.head, made.tail, made.parent = bones[name].head, bones[name].tail, bones["hips"]

    edit(ob, add_copies)
    ob.pose.bones["hips"]["slider"] = 1.0
    for name in copied:
        constraint = ob.pose.bones[f"copy of {name}"].constraints.new("COPY_ROTATION")
        constraint.target, constraint.subtarget = ob, name
        rigs.drive(constraint, "influence", ob, 'pose.bones["hips"]["slider"]').mute = is_muted
    bpy.context.view_layer.update()
    is_rigs = len(copied) == 2 and not is_muted
    for name, options in (
        ("snap_fk", {}),
        ("switch", {}),
        ("switch", {}),
        ("hold", {"frame_start": 1, "frame_end": 2}),
    ):
        select("shin.L")
        assert ("slider" in call(name, **options)) == is_rigs, name


def copies(bone):
    made = bone.constraints.new("COPY_ROTATION")
    made.target, made.subtarget = bone.id_data, "hand.R"


def is_limited(bone):
    bone.constraints.new("LIMIT_ROTATION").use_limit_x = True


@pytest.mark.parametrize("name", ["thigh.L", "shin.L"])
@pytest.mark.parametrize("constrain", [copies, is_limited])
def test_a_constraint_of_a_person_is_not_overruled(name, constrain):
    ob = legs("LIVE")
    constrain(ob.pose.bones[name])
    bpy.context.view_layer.update()
    before = rigs.matrices(ob, ["thigh.L", "shin.L", "foot.L"])
    select("shin.L")
    assert "conflicts with IK: mute it" in call("set", mode="RIG")
    assert abs(rigs.matrices(ob, ["thigh.L", "shin.L", "foot.L"]) - before).max() == 0.0
