"""The one look back finds whichever bone a limb moves that is off, in whichever frame."""

from __future__ import annotations

import random
from math import radians
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender import rigs

FRAMES = range(1, 13)

BELOW = {
    "twist": ((0.1, 0.0, 0.8), (0.1, -0.02, 0.6), "thigh.L"),
    "claw": ((0.1, -0.2, 0.02), (0.1, -0.25, 0.02), "toe.L"),
    "spur": ((0.1, 0.05, 0.1), (0.1, 0.15, 0.1), "foot.L"),
}


@pytest.fixture
def leg(add: Any) -> Any:
    """A leg on the rig, with a twist bone, a claw and a spur, that steps; another rig stands beside it."""
    ob = rigs.biped()
    rigs.activate(ob, "EDIT")
    for name, (head, tail, parent) in BELOW.items():
        bone = ob.data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = head, tail, ob.data.edit_bones[parent]
    rigs.activate(ob)
    ob.scale = (2.0, 2.0, 2.0)
    add(ob, "shin.L", knee="POLE", mode="RIG")
    target = ob.pose.bones["foot_ik.L"]
    for frame, high in ((1, 0.0), (6, 0.3), (12, 0.1)):
        target.location = (0.0, 0.1 * high, high)
        target.keyframe_insert("location", frame=frame)
    return ob


@pytest.mark.parametrize("name", ["thigh.L", "shin.L", "foot.L", "toe.L", *BELOW])
def test_each_bone_in_each_frame(addon: Any, leg: Any, name: str) -> None:
    check, passing, writing = (addon(f"motion.{each}") for each in ("check", "passing", "writing"))
    moving = check.moved_bones(leg.pose.bones["shin.L"])
    assert {bone for _, bone in moving.bones} == {"thigh.L", "shin.L", "foot.L", "toe.L", *BELOW}
    task, asked = writing.Task(bpy.context, FRAMES), addon("motion.reading").Asked(moving.bones)
    finished = addon("blender.stepping").finished
    before = finished(passing.record(bpy.context, [], FRAMES, asked))
    seen = finished(check.look(task, [moving], before))[leg, "shin.L"]
    assert seen.off.shape == (3, len(moving.bones), len(FRAMES))
    assert np.abs(seen.off).max() < 1e-6
    frame, angle = random.Random(name).choice(FRAMES), radians(5.0)
    extra = leg.pose.bones[name].constraints.new("TRANSFORM")  # turns it by itself, and what hangs on it
    extra.target, extra.target_space, extra.owner_space, extra.mix_mode_rot = (
        rigs.empty("still"),
        "LOCAL",
        "LOCAL",
        "AFTER",
    )
    extra.map_to, extra.to_min_x_rot, extra.to_max_x_rot = "ROTATION", angle, angle
    for at in (frame - 1, frame, frame + 1):
        extra.influence = float(at == frame)
        extra.keyframe_insert("influence", frame=at)
    seen = finished(check.look(task, [moving], before))[leg, "shin.L"]
    miss = seen.worst((np.inf, radians(1.0), np.inf))
    assert miss.frame == frame
    assert abs(miss.turned - angle) < 1e-4
    row = [bone for _, bone in moving.bones].index(name)
    assert abs(seen.off[1, row, frame - 1] - angle) < 1e-4
    below = {bone.name for bone in leg.pose.bones[name].children_recursive} | {name}
    still = [i for i, (_, bone) in enumerate(moving.bones) if bone not in below]
    assert np.abs(seen.off[:, still]).max(initial=0.0) < 1e-5
    assert np.abs(np.delete(seen.off, frame - 1, axis=2)).max() < 1e-6
    assert f"in frame {frame}" in str(miss.message)


def test_a_live_limb_is_looked_at_posed(addon: Any, add: Any) -> None:
    """Also while *Live* is off."""
    check, passing, writing = (addon(f"motion.{each}") for each in ("check", "passing", "writing"))
    ob = rigs.biped()
    (limb,) = add(ob, "shin.L", mode="LIVE")
    ob.pose.bones["foot_ik.L"].location = (0.0, 0.1, 0.2)
    bpy.context.view_layer.update()
    moving, finished = check.moved_bones(limb), addon("blender.stepping").finished
    asked = addon("motion.reading").Asked(moving.bones)
    for frames in (None, FRAMES):
        before = finished(passing.record(bpy.context, [], frames, asked))
        bpy.context.scene.planar_ik.live = False
        seen = finished(check.look(writing.Task(bpy.context, frames), [moving], before))[ob, "shin.L"]
        assert np.abs(seen.off).max() < 1e-6
        assert not bpy.context.scene.planar_ik.live
        bpy.context.scene.planar_ik.live = True
