"""What Blender itself does to limbs, and what holds afterwards: in both modes they follow, or say what would help."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Vector

from scripts import installed
from tests.blender import libraries, oracle, rigs

LEFT, RIGHT = "shin.L", "shin.R"


@pytest.fixture
def leg(addon):
    """Makes the left leg of a rig without a right one a limb, in a mode."""

    def make(mode):
        ob = rigs.biped()
        rigs.activate(ob, "EDIT")
        for name in ("toe.R", "foot.R", "shin.R", "thigh.R"):
            ob.data.edit_bones.remove(ob.data.edit_bones[name])
        bpy.ops.object.mode_set(mode="POSE")
        adding = addon("tasks.adding")
        lasts = adding.add(bpy.context, [adding.LimbRequest(ob.pose.bones[LEFT])]).limbs
        if mode == "RIG":
            addon("tasks.modes").to_rig(bpy.context, lasts)
        rigs.put(ob.pose.bones["foot_ik.L"], Vector((0.12, -0.05, 0.25)))
        bpy.context.view_layer.update()
        return ob

    return make


def follows(ob, name, mode):
    """Whether a limb is there, goes where its target goes, and says so."""
    last = ob.pose.bones[name]
    limb = last.planar_ik
    assert limb.enabled
    assert limb.mode == mode
    owner = limb.target.pose.bones[limb.subtarget] if limb.subtarget else limb.target
    begin, root = Vector(oracle.expected(last).target), Vector(oracle.seen(last)[0][0])
    for part in (0.9, 0.7):
        rigs.put(owner, root.lerp(begin, part) + Vector((0.03, 0.02, 0)))
        bpy.context.view_layer.update()
        want = oracle.expected(last)
        joints, _, _ = oracle.seen(last)
        assert np.abs(joints - want.joints).max() < 1e-4
        assert (limb.reach, limb.residual < 1e-4) == ("REACHED", True), limb.message


def rename(ob):
    for old, new in (("thigh.L", "upper.L"), (LEFT, "lower.L"), ("foot_ik.L", "goal.L"), ("hips", "pelvis")):
        ob.pose.bones[old].name = new
    return [(ob, "lower.L")]


def duplicate(ob, linked=False):
    rigs.activate(ob, "OBJECT")
    bpy.ops.object.duplicate(linked=linked)
    other = bpy.context.object
    assert other.pose.bones[LEFT].planar_ik.target == other
    return [(ob, LEFT), (other, LEFT)]


def duplicate_linked(ob):
    return duplicate(ob, True)


def another():
    return rigs.rig({"tail": ((1, 0, 0), (1, 0, 1), "")}, name="another")


def join(ob):
    other = another()
    rigs.activate(ob, "OBJECT")
    other.select_set(True)
    bpy.ops.object.join()
    return [(ob, LEFT)]


def join_into_another(ob):
    other = another()
    rigs.activate(other, "OBJECT")
    other.location.x = 0.5
    ob.select_set(True)
    bpy.ops.object.join()
    return [(other, LEFT)]


def append(ob, link=False):
    path = bpy.app.tempdir + "library.blend"
    collection = bpy.data.collections.new("character")
    bpy.context.scene.collection.children.link(collection)
    for each in [*bpy.context.scene.collection.objects]:
        collection.objects.link(each)
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path, link=link) as (_, wanted):
        wanted.collections = ["character"]
    (found,) = wanted.collections
    if link:
        found = libraries.override(found)
    else:
        bpy.context.scene.collection.children.link(found)
    (made,) = (each for each in found.all_objects if each.type == "ARMATURE")
    assert bool(made.override_library) == link
    return [(made, LEFT)]


def link_and_override(ob):
    return append(ob, True)


def copy_constraints(ob):
    rigs.click(ob, "foot.L", "forearm.R", LEFT)
    bpy.ops.pose.constraints_copy()
    assert not ob.pose.bones["forearm.R"].planar_ik.enabled
    return [(ob, LEFT)]


def paste_pose(ob):
    rigs.click(ob, "thigh.L", LEFT, "foot_ik.L")
    with in_window():
        bpy.ops.pose.copy()
        ob.pose.bones[LEFT]["IK Influence"] = 0.3
        ob.pose.bones["foot_ik.L"].location = (0, 0, 0)
        bpy.ops.pose.paste()
    assert ob.pose.bones["foot_ik.L"].location.length > 0.1
    ob.pose.bones[LEFT]["IK Influence"] = 1.0
    return [(ob, LEFT)]


def in_window():
    return bpy.context.temp_override(scene=bpy.context.scene)


def save(ob):
    path = bpy.app.tempdir + "saved.blend"
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    return [(bpy.data.objects["rig"], LEFT)]


def undo(ob):
    rigs.activate(ob, "OBJECT")
    bpy.ops.ed.undo_push(message="before")
    ob.location.x = 3.0
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    ob = bpy.data.objects["rig"]
    assert ob.location.x == 0.0
    return [(ob, LEFT)]


def disable_and_enable(ob):
    installed.disable()
    bpy.context.view_layer.update()
    installed.enable()
    return [(ob, LEFT)]


def move_the_rig(ob):
    ob.matrix_world = ob.matrix_world @ rigs.Matrix.LocRotScale((0.3, 1, 0), rigs.Euler((1, 2, 3)), (-1.5, 1.5, 1.5))
    return [(ob, LEFT)]


def rotation_mode(ob):
    for name in ("thigh.L", LEFT):
        ob.pose.bones[name].rotation_mode = "XZY"
    return [(ob, LEFT)]


HOLD = [
    rename,
    duplicate,
    duplicate_linked,
    join,
    append,
    link_and_override,
    copy_constraints,
    paste_pose,
    save,
    undo,
    disable_and_enable,
    move_the_rig,
    rotation_mode,
]


@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
@pytest.mark.parametrize("what", HOLD, ids=lambda what: what.__name__)
def test_holds(leg, mode, what):
    for ob, name in what(leg(mode)):
        follows(ob, name, mode)


def symmetrize(ob):
    rigs.activate(ob, "EDIT")
    for bone in ob.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name.endswith(".L") and not bone.name.startswith("MCH")
    bpy.ops.armature.symmetrize()
    bpy.ops.object.mode_set(mode="POSE")
    assert ob.pose.bones[RIGHT].planar_ik.subtarget == "foot_ik.R"
    return [(ob, RIGHT), (ob, LEFT)]


def move_a_knee(ob):
    rigs.activate(ob, "EDIT")
    ob.data.edit_bones["thigh.L"].tail.y -= 0.05
    bpy.ops.object.mode_set(mode="POSE")
    return [(ob, LEFT)]


def apply_scale(ob):
    rigs.activate(ob, "OBJECT")
    ob.scale = (1.5, 1.5, 1.5)
    bpy.ops.object.transform_apply()
    return [(ob, LEFT)]


def apply_pose(ob):
    ob.pose.bones["hips"].rotation_quaternion = (1, 0.1, 0.3, 0)
    bpy.ops.pose.armature_apply(selected=False)
    return [(ob, LEFT)]


REBUILD = [symmetrize, move_a_knee, apply_scale, apply_pose, join_into_another]


@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
@pytest.mark.parametrize("what", REBUILD, ids=lambda what: what.__name__)
def test_holds_once_rebuilt(leg, addon, mode, what):
    found = what(leg(mode))
    bpy.context.view_layer.update()
    modes = addon("tasks.modes")
    for ob, name in found if mode == "RIG" else ():
        last = ob.pose.bones[name]
        problem = addon("tasks.status").mechanism_problem(last)
        assert (last.planar_ik.reach == "INVALID") == bool(problem)
        if name == RIGHT or what != symmetrize:
            assert problem
    (ob, *_) = {ob for ob, _ in found}
    modes.rebuild(bpy.context, [ob.pose.bones[name] for _, name in found])
    for _, name in found:
        follows(ob, name, mode)


@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
def test_copied_constraints_are_removed(leg, mode):
    ob = leg(mode)
    rigs.click(ob, "forearm.R", LEFT)
    bpy.ops.pose.constraints_copy()
    rigs.click(ob, "forearm.R")
    if mode == "RIG":
        bpy.ops.pose.planar_ik_repair(repair="LEFT")
    bpy.ops.pose.planar_ik_add(mode=mode)
    follows(ob, "forearm.R", mode)
    follows(ob, LEFT, mode)
