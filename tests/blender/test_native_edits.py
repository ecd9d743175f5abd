"""Limbs on the rig after what riggers do with armatures: nothing is lost, or it is said, with what mends it."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from tests.blender.natives import make_portable, parts
from tests.blender.rigs import (
    LEG,
    Bone,
    activate,
    assert_on_target,
    frame_of,
    make_chain,
    make_empty,
    make_rig,
    select,
    update,
)

FOOT = Bone("foot", (0.1, 0, -1.9), (0.1, -0.3, -1.9), "shin")
SAME = 1e-5


def leg(**settings: Any) -> Any:
    """A leg on the rig, in Object Mode."""
    ob = make_rig((*LEG, FOOT))
    make_chain(ob, make_empty("target", frame_of(ob).target(0.6, 0.4)), plane="SWING", **settings)
    make_portable(ob)
    activate(ob)
    return ob


@pytest.mark.parametrize("step", ["rebuild", "make_live", "remove"])
def test_constraints_that_somebody_renamed_are_known(step: str) -> None:
    ob = leg()
    had = parts(ob)
    for bone in ob.pose.bones:
        for number, constraint in enumerate(bone.constraints):
            constraint.name = f"mine {number}"
    update()
    assert_on_target(ob, bpy.data.objects["target"], within=SAME)
    select(ob, "shin")
    assert getattr(bpy.ops.pose, f"planar_ik_{step}")() == {"FINISHED"}
    update()
    if step == "rebuild":
        assert parts(ob) == had
        assert_on_target(ob, bpy.data.objects["target"], within=SAME)
    else:
        assert {bone.name for bone in ob.data.bones} == {"hip", "thigh", "shin", "foot"}
        assert (parts(ob)["drivers"], any(bone.constraints for bone in ob.pose.bones)) == ([], False)


@pytest.mark.parametrize("lower", ["FULL", "ALIGNED"])
def test_what_keeps_a_limb_below_uneven_scale_from_the_rig_is_taken_away_as_it_is_said(lower: str) -> None:
    ob = make_rig((*LEG, FOOT))
    ob.data.bones["thigh"].inherit_scale, ob.data.bones["shin"].inherit_scale = "ALIGNED", lower
    ob.pose.bones["hip"].scale = (1, 1.5, 0.7)
    make_chain(ob, make_empty("target", frame_of(ob).target(0.6, 0.4)), plane="SWING")
    select(ob, "shin")
    said = "'thigh' takes over an uneven scale axis by axis: let it inherit scale in full"
    with pytest.raises(RuntimeError, match=said):
        bpy.ops.pose.planar_ik_make_portable()
    ob.data.bones["thigh"].inherit_scale = "FULL"
    update()
    if lower == "ALIGNED":
        with pytest.raises(RuntimeError, match="'shin' has Inherit Scale set to ALIGNED: let it inherit in full"):
            bpy.ops.pose.planar_ik_make_portable()
        ob.data.bones["shin"].inherit_scale = "FULL"
        update()
    make_portable(ob)
    assert_on_target(ob, bpy.data.objects["target"], within=SAME)
