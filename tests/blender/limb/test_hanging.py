"""Where controls hang: on what moves the whole rig. On rigs that have no such bone, `test_table` says it."""

from __future__ import annotations

import pytest

from tests.blender import rigs


@pytest.mark.parametrize("root", ["root", "Bone.009"])
def test_controls_go_along_with_what_moves_all(add, root):
    """Called so, or at the origin with a body between it and its limbs."""
    ob = rigs.rig(
        {
            root: ((0, 0, 0), (0, 0.3, 0), ""),
            "Bone": ((0, 0, 1), (0, 0, 1.3), root),
            "Bone.001": ((0, 0, 1), (0, -0.1, 0.5), "Bone"),
            "Bone.002": ((0, -0.1, 0.5), (0, 0, 0), "Bone.001"),
            "Bone.003": ((0, 0, 1.3), (0, 0, 1.6), "Bone"),
        }
    )
    add(ob, "Bone.002", knee="POLE")
    limb = ob.pose.bones["Bone.002"].planar_ik
    assert {ob.data.bones[name].parent.name for name in (limb.subtarget, limb.pole_subtarget)} == {root}
