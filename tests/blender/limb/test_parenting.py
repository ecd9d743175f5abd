"""Parent Control: in every frame all that the limb moves stands where it stood."""

from __future__ import annotations

from math import sin
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender import rigs
from tests.blender.ui.conftest import call

FRAMES = [frame / 2 for frame in range(-4, 72)]
NAMES = ("hand_ik.L", "hand.L", "forearm.L", "upper_arm.L", "foot.R")


def moving(mode: str) -> Any:
    """A rig that goes about anywhere, with an arm whose control moves, as do the root below it and the hips, and a prop
    that flies by."""
    ob = rigs.biped()
    ob.location, ob.rotation_euler = (0.3, 0.2, 0.1), (0.1, 0.2, 0.4)
    rigs.click(ob, "forearm.L")
    bpy.ops.pose.planar_ik_add(mode=mode)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 30
    prop, control = rigs.empty("prop", (1, 0, 1)), ob.pose.bones["hand_ik.L"]
    root = ob.pose.bones["root"]
    control.rotation_mode = root.rotation_mode = "XYZ"
    for frame in (1, 15, 30):
        prop.location, prop.rotation_euler = (1 + 0.02 * frame, 0.1 * sin(frame), 1), (0.05 * frame, 0, 0.02 * frame)
        control.location, control.rotation_euler = (0.01 * frame, -0.005 * frame, 0.02), (0.02 * frame, 0.1, 0)
        ob.location.y, root.location, root.rotation_euler = 0.02 * frame, (0, 0.03 * frame, 0), (0, 0.04 * frame, 0)
        ob.pose.bones["hips"].location = (0, 0.004 * frame, 0)
        for owner in (prop, control, root, ob.pose.bones["hips"], ob):
            owner.keyframe_insert("location", frame=frame)
            owner.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(5)
    rigs.click(ob, "hand_ik.L")
    return ob


def film(ob: Any) -> np.ndarray:
    """Whole matrices in the world, in all frames and halfway."""
    found, shown = [], bpy.context.scene.frame_current
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
        found.append(np.array(ob.matrix_world) @ rigs.matrices(ob, NAMES))
    bpy.context.scene.frame_set(shown)
    return np.array(found)


def moved(before: np.ndarray, after: np.ndarray, *cuts: int) -> float:
    """The farthest that anything is off in any frame, but for halfway to the next where a control changes hands."""
    kept = [frame - 0.5 not in cuts for frame in FRAMES]
    return float(np.abs(after - before)[kept].max())


@pytest.mark.parametrize("last", [15, 20])  # with a key of the control, and without
@pytest.mark.parametrize("parent", ["prop\n", "rig\nhips"])
@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_over_a_range(mode: str, parent: str, last: int) -> None:
    ob = moving(mode)
    before = film(ob)
    assert not call("parent", parent=parent, frame_start=8, frame_end=last)
    assert moved(before, film(ob), last) < 5e-6
    carrier: Any = bpy.data.objects["prop"] if parent == "prop\n" else ob.pose.bones["hips"]
    assert follows(ob, carrier, 12) > 0.4
    assert follows(ob, carrier, 5) < 1e-6


def follows(ob: Any, carrier: Any, frame: int) -> float:
    """How far the hand's control goes in a frame with what is moved then, and not with the root."""
    bpy.context.scene.frame_set(frame)
    hand = rigs.place(ob, "hand_ik.L")
    carrier.location.x += 0.5
    bpy.context.view_layer.update()
    return float((rigs.place(ob, "hand_ik.L") - hand).length)


def test_its_own_parent_carries_it_no_more_nor_what_it_hung_on_before() -> None:
    ob = moving("RIG")
    before, root, prop = film(ob), ob.pose.bones["root"], bpy.data.objects["prop"]
    assert not call("parent", parent="rig\nhips", frame_start=4, frame_end=15)
    assert not call("parent", parent="prop\n", frame_start=10, frame_end=20)
    assert moved(before, film(ob), 15, 20) < 5e-6
    hung = {frame: [follows(ob, one, frame) > 1e-5 for one in (root, prop)] for frame in (2, 5, 9, 10, 15, 20, 21)}
    # root carries hips
    assert hung == {frame: [not 10 <= frame <= 20, 10 <= frame <= 20] for frame in hung}


def test_from_this_frame_on() -> None:
    ob = moving("RIG")
    before = film(ob)
    assert not call("parent", parent="prop\n")
    after = film(ob)
    assert np.abs(after - before)[: FRAMES.index(5) + 1].max() < 5e-6
    assert np.abs(after - before)[FRAMES.index(12)].max() > 0.1


def test_what_moves_with_the_control_is_not_offered_and_refused(addon: Any) -> None:
    ob, parenting = moving("RIG"), addon("tasks.parenting")
    control = ob.pose.bones["hand_ik.L"]
    offered = {bone for owner, bone in parenting.possible_parents(bpy.context, [control]) if owner == ob}
    assert offered & {"hips", "root", "hand_ik.L", "hand.L", "forearm.L"} == {"hips"}
    before = rigs.snapshot()
    with pytest.raises(RuntimeError, match="moves with"):
        parenting.parent_controls(bpy.context, [control], (ob, "hand.L"), range(1, 5))
    assert rigs.differences(before, rigs.snapshot()) == []
