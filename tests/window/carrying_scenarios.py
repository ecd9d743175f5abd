"""Poses carried over by hand: flip, snap both ways, over a range from its dialog, and each undone."""

from __future__ import annotations

import math

import bpy
from hand import Hand
from mathutils import Quaternion, Vector
from scenarios import curves, location, open_limb, rig

RUNS_ON = ("RIG", "EXTENSION")


def flips_and_snaps(hand: Hand):
    """Flip, snap IK to FK and FK to IK from the menus, each undone and redone, whatever the limb runs on."""
    found = {}
    for runs_on in RUNS_ON:
        yield from open_posed(hand, runs_on)
        steps = found[runs_on] = {}
        for entry, influence in (("Flip Planar IK", 1.0), ("Snap IK to FK", 0.0), ("Snap FK to IK", 1.0)):
            lower().planar_ik.influence = influence
            bpy.ops.ed.undo_push(message="Influence")
            yield
            steps[entry] = yield from call(hand, entry)
    return found


def snaps_over_a_range(hand: Hand):
    """Snap FK to IK over a range: from the dialog as it opens, cancelled first, then on every frame of the scene's."""
    yield from open_posed(hand, "RIG")
    scene, target = bpy.context.scene, lower().planar_ik.target
    scene.frame_start, scene.frame_end = 3, 8
    for frame, height in ((1, 0.3), (10, 0.7)):
        target.location.z = height
        target.keyframe_insert("location", frame=frame)
    bpy.ops.ed.undo_push(message="Animate the target")
    yield
    found = {"solved": places(), "before": keyed_frames()}
    yield from hand.choose("Snap FK to IK over a Range")
    hand.picture("dialog")
    yield from hand.key("ESC")
    found["cancelled"] = keyed_frames()
    yield from hand.choose("Snap FK to IK over a Range")
    yield from hand.key("RET")
    found["snapped"] = keyed_frames()
    lower().planar_ik.influence = 0.0
    found["as_fk"] = places()
    lower().planar_ik.influence = 1.0
    yield from hand.key("Z", ctrl=True)
    found["undone"] = keyed_frames()
    return found


def call(hand: Hand, entry: str):
    """Call an entry of the menus, undo it and redo it: what the limb is before and after each."""
    states = {"before": limb()}
    yield from hand.choose(entry)
    states["after"] = limb()
    yield from hand.key("Z", ctrl=True)
    states["undone"] = limb()
    yield from hand.key("Z", ctrl=True, shift=True)
    states["redone"] = limb()
    yield from hand.key("Z", ctrl=True)
    return states


def limb() -> dict:
    """A limb's joints, target, and what its solution and its own pose look like by themselves."""
    chain, kept = lower().planar_ik, lower().planar_ik.influence
    found = {"joints": joints(), "target": location(chain.target.name)[:], "bend": chain.bend}
    for name, influence in (("as_fk", 0.0), ("as_ik", 1.0)):
        chain.influence = influence
        found[name] = joints()
    chain.influence = kept
    bpy.context.view_layer.update()
    return found


def joints() -> list[float]:
    """Where the knee and the tip are."""
    bpy.context.view_layer.update()
    posed = rig().evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["lower"]
    return [*posed.head, *posed.tail]


def places() -> list[list[float]]:
    """Knee and tip on every frame of the scene's range."""
    scene, found = bpy.context.scene, []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        found.append(joints())
    scene.frame_set(1)
    return found


def keyed_frames() -> list[float]:
    """The frames on which the upper bone's rotation is keyed."""
    path = 'pose.bones["upper"].rotation_quaternion'
    found = [curve for curve in curves() if (curve.data_path, curve.array_index) == (path, 1)]
    return [key.co.x for curve in found for key in curve.keyframe_points]


def open_posed(hand: Hand, runs_on: str):
    """Open a limb with a chain, selected, with a target that is not at its tip and turned by hand."""
    yield from open_limb(hand)
    yield from hand.make_room()
    yield from hand.click(hand.limb_on_screen())
    lower().parent.rotation_quaternion = Quaternion((1, 0, 0), math.radians(15.0))
    bpy.ops.pose.planar_ik_add(runs_on=runs_on)
    lower().planar_ik.target.location += Vector((0, 0.3, 0.3))
    bpy.ops.ed.undo_push(message="Move the target")
    yield


def lower():
    return rig().pose.bones["lower"]
