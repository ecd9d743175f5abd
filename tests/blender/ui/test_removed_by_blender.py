"""Blender's own Remove IK (Ctrl Alt I) on a limb: what is left is told, and one button takes it away."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import rigs
from tests.blender.snapshots import differences

from .conftest import call, select


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("clicked", ["thigh.L", "shin.L", "foot.L"])
def test_what_is_left_is_told_and_removed(addon, biped, mode, clicked):
    ob = bpy.context.object
    before, pose = rigs.snapshot(), rigs.matrices(ob, ["thigh.L", "shin.L", "foot.L"])
    assert call("add", mode=mode, plane="POLE") == ""
    select("shin.L")
    bpy.ops.pose.ik_clear()
    select(clicked)
    assert addon("ui.finding").active_limb(bpy.context) is None
    assert addon("ui.panel").VIEW3D_PT_planar_ik.poll(bpy.context)
    assert [last.name for last in addon("tasks.selection").orphaned_limbs([ob.pose.bones[clicked]])] == ["shin.L"]
    assert "remove what is left" in call("add")
    assert call("repair", repair="LEFT") == ""
    select("shin.L")
    now = differences(rigs.snapshot(), before)
    assert [each for each in now if "/select_" not in each] == []  # Edit Mode selects bones' ends
    assert np.abs(rigs.matrices(ob, ["thigh.L", "shin.L", "foot.L"]) - pose).max() < 1e-5
    assert call("add", mode=mode) == ""
