"""Rigs of many limbs, which are posed together by arrays."""

from __future__ import annotations

import math

import bpy
from mathutils import Vector

from scripts import installed
from tests.blender.rigs import Bone, key_location, make_empty, make_rig, pose, update

COUNT = 30
FRAMES = (1, 9, 4, 30, 9)


def make_crowd(**settings):
    """A rig of many legs of different shapes on two hips, each with a moving target, a pole and a bone of its own."""
    bones = [Bone("left", (0, 0, 0), (0, 0, 0.3)), Bone("right", (1, 0, 0), (1, 0, 0.3))]
    for i in range(COUNT):
        root = Vector((0.2 * i, 0.1 * i, 0))
        knee = root + Vector((0.1, 0.2 + 0.01 * i, -1))
        bones.append(Bone(f"thigh{i}", root, knee, "left" if i % 3 else "right"))
        bones.append(Bone(f"shin{i}", knee, root + Vector((0.1, 0.1, -1.8)), f"thigh{i}", connected=True))
        bones.append(Bone(f"control{i}", root + Vector((0.1, 0.3, -1.5)), root + Vector((0.1, 0.3, -1.2))))
    ob = make_rig(bones)
    targets = []
    for i in range(COUNT):
        root = ob.pose.bones[f"thigh{i}"].head
        target = make_empty(f"target{i}")
        places = [root + Vector((0.3 * math.sin(0.2 * f + i), 0.4 * math.cos(0.3 * f), -1.2)) for f in range(31)]
        key_location(target, places)
        targets.append(target)
        chain = ob.pose.bones[f"shin{i}"].planar_ik
        chain.target, chain.pole_target = target, make_empty(f"pole{i}", root + Vector((0.2, 3, -1)))
        for name, value in settings.items():
            setattr(chain, name, value)
        chain.enabled = True
    update()
    return ob, targets


def in_batches():
    """How many chains are posed together at the moment."""
    levels = installed.addon("addon.live.plan").plan.levels
    return sum(len(batch.chains) for level in levels for group in level for batch in group._batches or ())


def play(ob, frames=FRAMES):
    """The poses in these frames."""
    poses = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        poses.append(pose(ob))
    return poses


def play_one_by_one(ob, monkeypatch):
    """The poses if every chain is posed alone."""
    monkeypatch.setattr(installed.addon("addon.live.batch"), "ENOUGH", 10**6)
    bpy.context.scene.planar_ik.live = False
    bpy.context.scene.planar_ik.live = True
    update()
    play(ob, (2, 3))
    assert in_batches() == 0
    return play(ob)
