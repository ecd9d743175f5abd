"""Live legs whose own bones are turned and keyed, and what has to be so after anything that happens to them."""

from __future__ import annotations

import bpy
import numpy as np

from tests.blender import oracle, rigs

LEG = {
    "hips": ((0, 0, 2), (0, 0, 2.3), ""),
    "upper": ((0, 0, 2), (0.1, 0.3, 1), "hips"),
    "lower": ((0.1, 0.3, 1), (0, 0.05, 0), "upper"),
    "foot": ((0, 0.05, 0), (0, -0.3, 0), "lower"),
    "tail": ((0, 0, 2.3), (0, 0.5, 2.3), "hips"),
}
FK = {"upper": (0.9, 0.1, 0.3, -0.2), "lower": (0.8, -0.3, 0.0, 0.1)}
"""How the animator turned the limb's own bones."""


def leg(name="rig", bones=LEG, target=None):
    """A rig with a live limb of ``lower``, blended a little towards its own pose; its last bone."""
    ob = rigs.rig(bones, {"upper": 0.4, "lower": -1.0}, name)
    ob.location.x = 0.3
    for bone, turn in FK.items():
        ob.pose.bones[bone].rotation_quaternion = turn
    last = ob.pose.bones["lower"]
    last.planar_ik.target = target or empty(f"target of {name}", (0.5, 0.4, 0.6))
    last.planar_ik.plane = "FREE"
    last.planar_ik.influence = 0.7
    bpy.context.view_layer.update()
    return last


def empty(name, place):
    ob = bpy.data.objects.new(name, None)
    bpy.context.collection.objects.link(ob)
    ob.location = place
    return ob


def key(owner, path, *values):
    """Key a property to these values, from frame 1 on, ten frames apart."""
    for i, value in enumerate(values):
        holder, _, name = path.rpartition(".") if "[" not in path else ("", "", path)
        if name.startswith("["):
            owner[name[2:-2]] = value
        else:
            setattr(owner.path_resolve(holder) if holder else owner, name, value)
        owner.keyframe_insert(path, frame=1 + 10 * i)


def off(last, depsgraph=None):
    """How far joints and tip are from where geometry puts them, as a fraction of the limb."""
    want = oracle.expected(last, depsgraph)
    joints, _, _ = oracle.seen(last, depsgraph)
    return float(np.linalg.norm(joints - want.joints, axis=1).max() / want.length)


def own(last):
    """The channels of the limb's own bones, as they stand in the file."""
    return [tuple(round(x, 5) for x in bone.rotation_quaternion) for bone in (last.parent, last)]
