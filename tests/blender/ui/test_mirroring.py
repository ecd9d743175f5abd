"""Mirror in both modes: whole bones are the mirror image, not only their joints."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from tests.blender import rigs

from .conftest import call, select

SIDEWAYS = np.diag([-1.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_bones_that_stretch(biped: Any, mode: str) -> None:
    """Between FK and IK the knee is bent while they are longer, where scale across them would shear."""
    assert not call("add", mode=mode)
    ob = bpy.data.objects["rig"]
    ob.pose.bones["thigh.L"].rotation_mode = "QUATERNION"
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for name, turn in (("thigh", 0.9), ("shin", -0.8)):
            bone = ob.pose.bones[f"{name}.{side}"]
            bone.rotation_quaternion = Quaternion((1.0, turn, 0.2 * sign, 0.1 * sign)).normalized()
    last, target = ob.pose.bones["shin.L"], ob.pose.bones["foot_ik.L"]
    last.planar_ik.stretch, last.planar_ik.influence = 1.0, 0.5
    target.location += target.bone.matrix_local.to_3x3().inverted() @ Vector((0.3, -0.4, -0.9))
    assert not call("mirror")
    bpy.context.view_layer.update()
    for name in ("thigh", "shin", "foot"):
        left, right = rigs.matrices(ob, [f"{name}.L", f"{name}.R"])
        assert np.abs(SIDEWAYS @ left @ SIDEWAYS - right).max() < 1e-4
    scale = rigs.evaluated(ob).pose.bones["shin.R"].matrix.to_scale()
    assert scale.y > 1.05
    assert np.abs(np.array(scale)[[0, 2]] - 1.0).max() < 1e-4


def test_rebuild_gives_the_other_side_its_colours(biped: Any) -> None:
    """Symmetrize copies them; what somebody coloured otherwise stays so."""
    assert not call("add", plane="POLE")
    ob = bpy.data.objects["rig"]
    for name in ("foot_ik.L", "knee_pole.L"):
        assert ob.data.bones[name].color.palette == {"foot_ik.L": "THEME04", "knee_pole.L": "CUSTOM"}[name]
    rigs.activate(ob, "EDIT")
    for bone in [bone for bone in ob.data.edit_bones if bone.name.endswith(".R")]:
        ob.data.edit_bones.remove(bone)
    bpy.ops.armature.select_all(action="SELECT")
    bpy.ops.armature.symmetrize()
    rigs.activate(ob)
    ob.data.bones["knee_pole.R"].color.palette = "THEME02"
    select("shin.R")
    assert not call("rebuild")
    assert ob.pose.bones["shin.R"].planar_ik.message == "On target"
    palettes = {name: ob.data.bones[name].color.palette for name in ("foot_ik.L", "foot_ik.R", "knee_pole.R")}
    assert palettes == {"foot_ik.L": "THEME04", "foot_ik.R": "THEME01", "knee_pole.R": "THEME02"}
