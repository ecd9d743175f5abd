"""Live limbs that follow bones whose names are exchanged, as Flip Names does, follow these under their new names."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender.rigs import HIP, SHIN, THIGH, Bone, assert_on_target, editing, joints, make_chain, make_rig, update

FOOT = Bone("foot", (0.1, 0, -1.7), (0.1, -0.3, -1.7))


@pytest.mark.parametrize("parts", [("foot",), ("thigh", "shin", "foot")], ids=["what is followed", "all"])
def test_names_that_are_exchanged(parts):
    ob = both_legs()
    before = joints(ob, "shin.L")
    with editing(ob) as bones:
        for bone in bones:
            bone.select = bone.select_head = bone.select_tail = bone.name.startswith(parts)
        bpy.ops.armature.flip_names()
    lower = "shin.R" if "shin" in parts else "shin.L"
    np.testing.assert_allclose(joints(ob, lower), before, atol=1e-5)
    for side, other in ("LR", "RL"):
        foot = f"foot.{side if 'shin' in parts else other}"
        ob.pose.bones[foot].location = (0, 0.1, 0.05)
        update()
        assert ob.pose.bones[f"shin.{side}"].planar_ik.subtarget == foot
        assert_on_target(ob, ob, f"shin.{side}", bone=foot)


def both_legs():
    """Two legs side by side, of which each follows a foot of its own."""
    left = (THIGH, SHIN._replace(parent="thigh"), FOOT)
    ob = make_rig((HIP, *(moved(bone, "L", 0) for bone in left), *(moved(bone, "R", -0.6) for bone in left)))
    for side in "LR":
        make_chain(ob, ob, f"shin.{side}", subtarget=f"foot.{side}", plane="SWING")
    ob.pose.bones["foot.L"].location = (0.05, 0.2, 0.1)
    update()
    return ob


def moved(bone, side, x):
    """A bone of one of the legs."""
    (a, *head), (b, *tail) = bone.head, bone.tail
    parent = f"thigh.{side}" if bone.parent == "thigh" else bone.parent
    return bone._replace(name=f"{bone.name}.{side}", head=(a + x, *head), tail=(b + x, *tail), parent=parent)
