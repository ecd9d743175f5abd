"""A session in which much is undone while rigs with live limbs are not shown; and then they are.

Started by its name as a process of its own: where Blender crashes, only that ends.
"""

from __future__ import annotations

import faulthandler
import os
import random
import sys
import traceback

import bpy

from scripts import installed
from tests.blender import legs, rigs

UNDOS = 24

HIDDEN = ("another scene", "excluded", "disabled", "hidden")
"""Where rigs are that are not shown. Of each there is one with an armature of its own and one that shares it with what
is shown."""


def make() -> None:
    """A rig that is shown, and those that are not, each with a live limb."""
    shown = legs.live_leg("shown").id_data
    bpy.data.scenes.new("another scene")
    for where in HIDDEN:
        collection = bpy.data.collections.new(where)
        (bpy.data.scenes.get(where) or bpy.context.scene).collection.children.link(collection)
        for ob in (legs.live_leg(where).id_data, share(shown, f"{where}, shared")):
            for each in (ob, bpy.data.objects[f"target of {ob.name}"]):
                collection.objects.link(each)
                bpy.context.scene.collection.objects.unlink(each)
    rigs.activate(shown, "OBJECT")
    show(False)


def share(shown, name):
    ob = bpy.data.objects.new(name, shown.data)
    bpy.context.collection.objects.link(ob)
    bpy.context.view_layer.update()
    for bone, turn in legs.FK.items():
        ob.pose.bones[bone].rotation_quaternion = turn
    limb = ob.pose.bones["lower"].planar_ik
    limb.target, limb.plane = rigs.empty(f"target of {name}", (0.3, 0.5, 0.4)), "FREE"
    return ob


def show(state) -> None:
    """Show all that can be, or hide it."""
    bpy.context.view_layer.layer_collection.children["excluded"].exclude = not state
    for ob in bpy.data.collections["disabled"].objects:
        ob.hide_viewport = not state
    for ob in bpy.data.collections["hidden"].objects:
        ob.hide_set(not state)
    bpy.context.view_layer.update()


def look() -> None:
    """What the panel, the overlay and scripts look at."""
    finding, panel = (installed.addon(f"ui.{name}") for name in ("finding", "panel"))
    figure = installed.addon("tasks.figure")
    finding.limbs_active_first(bpy.context)
    panel.VIEW3D_PT_planar_ik.poll(bpy.context)
    for ob in bpy.data.objects:
        if ob.type == "ARMATURE":
            assert ob.pose.bones["lower"].planar_ik.message
            figure.figure(ob.pose.bones["lower"], bpy.context.evaluated_depsgraph_get())


def off() -> dict[str, float]:
    """How far shown limbs are from where they have to be."""
    shown = [ob for ob in bpy.context.view_layer.objects if ob.type == "ARMATURE"]
    assert all(ob.pose.bones["lower"].planar_ik.reach == "REACHED" for ob in shown)
    return {ob.name: legs.off(ob.pose.bones["lower"]) for ob in shown}


def change_armatures(rng) -> None:
    for armature in bpy.data.armatures:
        armature["edited"] = rng.random()


def change_bone(rng) -> None:
    bpy.data.objects["shown"].data.bones["tail"].inherit_scale = rng.choice(("FULL", "NONE"))


def pose(rng) -> None:
    bpy.data.objects["shown"].pose.bones["hips"].location.x = rng.random()


def edit_bones(rng) -> None:
    ob = bpy.data.objects["shown"]
    rigs.activate(ob, "EDIT")
    bone = ob.data.edit_bones.new("more")
    bone.head, bone.tail = (0, 0, 0), (rng.random(), 1, 1)
    bpy.ops.object.mode_set(mode="OBJECT")


def duplicate(_rng) -> None:
    ob = bpy.data.objects["shown"].copy()
    ob.data = ob.data.copy()
    bpy.context.scene.collection.objects.link(ob)


def change_mode(_rng) -> None:
    rigs.activate(bpy.data.objects["shown"], "POSE")
    bpy.ops.object.mode_set(mode="OBJECT")


EDITS = (change_armatures, change_bone, pose, edit_bones, duplicate, change_mode)


def session(rng) -> None:
    """Edit, undo several steps, redo some, and look at everything each time."""
    undone = steps = 0
    while undone < UNDOS:
        if steps < 2 or rng.random() < 0.4:
            rng.choice(EDITS)(rng)
            bpy.context.view_layer.update()
            look()
            bpy.ops.ed.undo_push(message="edited")
            steps += 1
            continue
        is_back = steps == 2 or rng.random() < 0.8
        for _ in range(rng.randint(1, min(3, steps - 1)) if is_back else 1):
            if is_back:
                bpy.ops.ed.undo()
                steps, undone = steps - 1, undone + 1
            elif bpy.ops.ed.redo.poll():
                bpy.ops.ed.redo()
            bpy.context.view_layer.update()
            look()


def main() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    installed.enable()
    make()
    bpy.ops.ed.undo_push(message="start")
    session(random.Random(1))
    show(True)
    found = off()
    bpy.context.window.scene = bpy.data.scenes["another scene"]
    bpy.context.view_layer.update()
    found |= off()
    expected = {"shown", *HIDDEN, *(f"{where}, shared" for where in HIDDEN)}
    assert expected <= found.keys(), found
    assert max(found.values()) < 1e-5, found


if __name__ == "__main__":
    faulthandler.enable()
    status = 1
    try:
        main()
        status = 0
    except BaseException:  # noqa: BLE001 (it is told, and the process ends by its status)
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(status)
