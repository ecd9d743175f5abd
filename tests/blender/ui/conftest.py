"""For the tests of the interface: what a person has selected, and what operators answer."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def biped():
    return bent_biped()


def bent_biped():
    """A rig whose left leg is bent and turned, in Pose Mode with its shin selected."""
    import bpy

    from tests.blender import rigs

    ob = rigs.biped()
    ob.pose.bones["thigh.L"].rotation_mode = "XYZ"
    ob.pose.bones["thigh.L"].rotation_euler = (0.5, 0.1, 0.2)
    ob.pose.bones["shin.L"].rotation_quaternion = (0.97, -0.24, 0.0, 0.0)
    bpy.context.view_layer.update()
    select("shin.L")
    return ob


def select(*names: str, active: str = "") -> None:
    """Have these bones of the active rig selected; the first one is active unless another is named."""
    import bpy

    ob: Any = bpy.context.object
    for bone in ob.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names
    ob.data.bones.active = ob.data.bones[active or names[0]]


def call(name: str, **options: Any) -> str:
    """Call one of our operators as from a menu, with an undo step; what it refused with, or nothing."""
    import bpy

    try:
        done = getattr(bpy.ops.pose, f"planar_ik_{name}")("EXEC_DEFAULT", True, **options)
    except RuntimeError as why:
        return str(why)
    bpy.context.view_layer.update()
    return "" if done == {"FINISHED"} else "cancelled"
