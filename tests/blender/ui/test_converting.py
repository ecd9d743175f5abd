"""Solve Exactly and Back to Blender's IK in the window, on a plain leg; and one press of Rebuild for a whole rig."""

from __future__ import annotations

from math import pi

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender import rigs

from .conftest import call, select

NAMES = [f"{name}.{side}" for side in "LR" for name in ("thigh", "shin", "foot")]


@pytest.fixture
def plain():
    """A biped whose legs have Blender's own IK, each with control and pole bones."""
    ob = rigs.biped()
    rigs.activate(ob, "EDIT")
    for side, x in ((".L", 0.1), (".R", -0.1)):
        for name, head in (("foot_ik", (x, 0.02, 0.1)), ("knee_ik", (x, -1.0, 0.55))):
            bone = ob.data.edit_bones.new(name + side)
            bone.head, bone.tail = head, Vector(head) + Vector((0, 0, 0.1))
            bone.parent = ob.data.edit_bones["root"]
    bpy.ops.object.mode_set(mode="POSE")
    for side in (".L", ".R"):
        ik = ob.pose.bones["shin" + side].constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count, ik.use_stretch = ob, "foot_ik" + side, 2, False
        ik.pole_target, ik.pole_subtarget, ik.pole_angle = ob, "knee_ik" + side, -pi / 2
        ob.pose.bones["foot_ik" + side].location = (0.05, 0.2, 0.1)
    bpy.context.view_layer.update()
    return ob


@pytest.mark.parametrize("bone", ["foot_ik.L", "knee_ik.L", "shin.L", "thigh.L"])
def test_solve_exactly_is_there_on_what_the_limb_follows(addon, plain, bone):
    select(bone)
    assert addon("ui.panel").VIEW3D_PT_planar_ik.poll(bpy.context)
    assert [each.name for each in addon("tasks.selection").convertible([plain.pose.bones[bone]])] == ["shin.L"]
    before = rigs.matrices(plain, NAMES)
    assert call("convert") == ""
    assert [last.name for last in addon("limb.storage").limbs_of(plain)] == ["shin.L"]
    assert np.abs(rigs.matrices(plain, NAMES) - before).max() < 5e-4
    assert addon("ui.finding").active_limb(bpy.context).name == "shin.L"


def test_all_go_back_at_once(addon, plain):
    select("spine")
    before = rigs.matrices(plain, NAMES)
    assert not bpy.ops.pose.planar_ik_unconvert.poll()
    assert call("convert", which="ALL") == ""
    select("spine")
    assert "Select a limb" in call("unconvert")
    assert call("unconvert", which="ALL") == ""
    assert addon("limb.storage").limbs_of(plain) == []
    assert np.abs(rigs.matrices(plain, NAMES) - before).max() < 1e-6


@pytest.mark.parametrize("press", ["rebuild", "repair"])
def test_one_press_rebuilds_all_limbs_of_the_rig(addon, plain, press):
    assert call("convert", which="ALL") == ""
    rigs.activate(plain, "EDIT")
    for side in (".L", ".R"):
        plain.data.edit_bones["shin" + side].head.y -= 0.05
    rigs.activate(plain)
    lasts = [plain.pose.bones["shin" + side] for side in (".L", ".R")]
    assert {last.planar_ik.reach for last in lasts} == {"INVALID"}
    select("shin.L")
    assert call(press, **({"repair": "REBUILD"} if press == "repair" else {})) == ""
    assert [plain.pose.bones["shin" + side].planar_ik.message for side in (".L", ".R")] == ["On target"] * 2
