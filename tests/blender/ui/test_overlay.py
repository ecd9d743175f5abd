"""What the overlay draws, without a window."""

from __future__ import annotations

from typing import Any

import bpy
from mathutils import Vector

from tests.blender import rigs

from .conftest import call


def test_the_arc_is_shown_at_the_end_of_the_reach(addon: Any, biped: Any) -> None:
    """Not at rest, where the biped's legs are nearly straight; and no line goes to a pole that is off."""
    biped.pose.bones["thigh.L"].rotation_euler = biped.pose.bones["shin.L"].rotation_quaternion[1:] = (0, 0, 0)
    assert not call("add", plane="POLE")
    last = biped.pose.bones["shin.L"]
    target = biped.pose.bones[last.planar_ik.subtarget]

    def roles() -> set[str]:
        bpy.context.view_layer.update()
        strokes = addon("tasks.status").figure(last, bpy.context.evaluated_depsgraph_get())
        return {stroke.role for stroke in strokes}

    assert roles() == {"pole"}
    rigs.put(target, Vector((0.1, 0.0, -0.4)))
    assert roles() == {"pole", "reach", "miss"}
    last.planar_ik.pole = False
    assert roles() == {"reach", "miss"}
