"""Parent Control: in every frame all that the limb moves stands where it stood."""

from __future__ import annotations

from math import sin
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender import rigs
from tests.blender.ui.conftest import call

FRAMES = range(-2, 36)
NAMES = ("hand_ik.L", "hand.L", "forearm.L", "upper_arm.L", "foot.R")


def moving(mode: str) -> Any:
    """A rig that stands anywhere, with an arm whose control moves, hips that do, and a prop that flies by."""
    ob = rigs.biped()
    ob.location, ob.rotation_euler = (0.3, 0.2, 0.1), (0.1, 0.2, 0.4)
    rigs.click(ob, "forearm.L")
    bpy.ops.pose.planar_ik_add(mode=mode)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 30
    prop, control = rigs.empty("prop", (1, 0, 1)), ob.pose.bones["hand_ik.L"]
    control.rotation_mode = "XYZ"
    for frame in (1, 15, 30):
        prop.location, prop.rotation_euler = (1 + 0.02 * frame, 0.1 * sin(frame), 1), (0.05 * frame, 0, 0.02 * frame)
        control.location, control.rotation_euler = (0.01 * frame, -0.005 * frame, 0.02), (0.02 * frame, 0.1, 0)
        ob.pose.bones["hips"].location = (0, 0.004 * frame, 0)
        for owner, path in ((prop, "location"), (prop, "rotation_euler"), (control, "location"),
                            (control, "rotation_euler"), (ob.pose.bones["hips"], "location")):  # fmt: skip
            owner.keyframe_insert(path, frame=frame)
    bpy.context.scene.frame_set(5)
    rigs.click(ob, "hand_ik.L")
    return ob


def film(ob: Any) -> np.ndarray:
    """Whole matrices in the world, in all frames."""
    found, shown = [], bpy.context.scene.frame_current
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        found.append(np.array(ob.matrix_world) @ rigs.matrices(ob, NAMES))
    bpy.context.scene.frame_set(shown)
    return np.array(found)


@pytest.mark.parametrize("last", [15, 20])  # with a key of the control, and without
@pytest.mark.parametrize("parent", ["prop\n", "rig\nhips"])
@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_over_a_range(mode: str, parent: str, last: int) -> None:
    ob = moving(mode)
    before = film(ob)
    assert not call("parent", parent=parent, frame_start=8, frame_end=last)
    assert np.abs(film(ob) - before).max() < 5e-6
    bpy.context.scene.frame_set(12)
    carrier: Any = bpy.data.objects["prop"] if parent == "prop\n" else ob.pose.bones["hips"]
    hand = rigs.place(ob, "hand_ik.L")
    carrier.location.x += 0.5
    assert (rigs.place(ob, "hand_ik.L") - hand).length > 0.4


def test_from_this_frame_on() -> None:
    ob = moving("RIG")
    before = film(ob)
    assert not call("parent", parent="prop\n")
    after = film(ob)
    assert np.abs(after - before)[: FRAMES.index(6)].max() < 5e-6
    assert np.abs(after - before)[FRAMES.index(12)].max() > 0.1


def test_what_moves_with_the_control_is_not_offered_and_refused(addon: Any) -> None:
    ob, parenting = moving("RIG"), addon("tasks.parenting")
    control = ob.pose.bones["hand_ik.L"]
    assert (ob, "hand.L") not in [*parenting.possible_parents(bpy.context, [control])]
    before = rigs.snapshot()
    with pytest.raises(RuntimeError, match="moves with"):
        parenting.parent_controls(bpy.context, [control], (ob, "hand.L"), range(1, 5))
    assert rigs.differences(before, rigs.snapshot()) == []
