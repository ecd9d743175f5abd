"""Rigs that run their chains themselves: depending on each other, copied, mirrored, renamed, joined, without us."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.natives import leg_on_rig, make_live, make_portable, matrices, played_alone, rebuild
from tests.blender.rigs import (
    HIP,
    LEG,
    Bone,
    activate,
    frame_of,
    from_library,
    joints,
    key_location,
    length,
    make_chain,
    make_empty,
    make_rig,
    place_of,
    update,
)


def test_renamed_bones_go_on():
    ob = leg_on_rig()
    before = matrices(ob)
    for bone in list(ob.data.bones):
        bone.name = f"new {bone.name}"
    update()
    assert np.allclose(matrices(ob, "new thigh", "new shin"), before, atol=1e-6)
    ob.pose.bones["new shin"].planar_ik.target.location.z += 0.1
    update()
    assert not np.allclose(matrices(ob, "new thigh", "new shin"), before, atol=1e-3)
    assert ob.pose.bones["new shin"].planar_ik.message == ""
    make_live(ob, "new shin")
    assert {bone.name for bone in ob.data.bones} == {"new hip", "new thigh", "new shin"}


def symmetrize(ob):
    """As in Edit Mode, with all of the left side selected that is shown."""
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in ob.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name.endswith(".L")
    bpy.ops.armature.symmetrize()
    bpy.ops.object.mode_set(mode="OBJECT")
    update()


def test_a_mirrored_limb_can_be_mended():
    leg = [bone._replace(name=bone.name + ".L", parent="hip") for bone in LEG[1:2]]
    leg += [LEG[2]._replace(name="shin.L", parent="thigh.L")]
    ob = make_rig((HIP, *leg))
    bpy.context.view_layer.objects.active = ob
    make_chain(ob, make_empty("target.L", frame_of(ob, "shin.L").target(0.6, 0.4)), "shin.L")
    make_portable(ob, "shin.L")
    before = matrices(ob, "thigh.L", "shin.L")
    symmetrize(ob)
    assert np.allclose(matrices(ob, "thigh.L", "shin.L"), before, atol=1e-6)
    right = ob.pose.bones["shin.R"]
    right.planar_ik.target = make_empty("target.R", frame_of(ob, "shin.R").target(0.7, 0.2))
    rebuild(ob, "shin.R")
    assert (right.planar_ik.reach, right.planar_ik.message) == ("REACHED", "")
    assert np.linalg.norm(joints(ob, "shin.R").tip - place_of(right.planar_ik.target)) <= 1e-5 * length(ob, "shin.R")
    assert np.allclose(matrices(ob, "thigh.L", "shin.L"), before, atol=1e-6)


def test_joined_armatures_go_on():
    ob = leg_on_rig()
    before = matrices(ob)
    other = make_rig((Bone("lonely", (3, 0, 0), (3, 0, 1)),), "other")
    activate(other)
    ob.select_set(True)
    bpy.ops.object.join()
    update()
    assert np.allclose(matrices(other), before, atol=1e-5)
    other.pose.bones["shin"].planar_ik.target.location.z += 0.1
    update()
    assert not np.allclose(matrices(other), before, atol=1e-3)
    assert other.pose.bones["shin"].planar_ik.message == ""


def test_an_appended_rig_goes_on(tmp_path):
    ob = leg_on_rig()
    before = matrices(ob)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    (ob,) = from_library(tmp_path / "rig.blend", "rig", link=False)
    assert np.allclose(matrices(ob), before, atol=1e-6)
    chain = ob.pose.bones["shin"].planar_ik
    assert "'target' is in no scene" in chain.message  # where nobody can move it
    bpy.context.scene.collection.objects.link(chain.target)
    update()
    assert (chain.reach, chain.message) == ("REACHED", "")


def test_frames_in_any_order_are_the_same_to_the_bit():
    ob = leg_on_rig(plane="POLE", pole_target=make_empty("pole", (1, 4, 0)), softness=0.1)
    frame = frame_of(ob)
    key_location(bpy.data.objects["target"], [frame.target(0.2 + 0.1 * i, 0.5 * i, 0.1) for i in range(10)], step=3)
    seen = {}
    for number in (*range(1, 29), *reversed(range(1, 29)), 7, 3, 20, 1):
        bpy.context.scene.frame_set(number)
        now = matrices(ob).tobytes()
        assert seen.setdefault(number, now) == now


def test_it_is_the_same_without_the_extension(tmp_path):
    paths, here = [], []
    for plane in ("REST", "SWING", "POLE"):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        ob = leg_on_rig(
            plane=plane, pole_target=make_empty("pole", (1, 4, 0)), softness=0.1, stretch=0.5, influence=0.8
        )
        frame = frame_of(ob)
        key_location(bpy.data.objects["target"], [frame.target(0.2 + 0.1 * i, 0.5 * i, 0.1) for i in range(10)], step=3)
        here.append([])
        for number in range(1, 29, 3):
            bpy.context.scene.frame_set(number)
            here[-1].append(matrices(ob))
        paths.append(str(tmp_path / f"{plane}.blend"))
        bpy.ops.wm.save_as_mainfile(filepath=paths[-1])
    alone, _ = played_alone(tmp_path, paths, range(1, 29, 3))
    assert np.abs(alone - np.array(here)).max() <= 1e-6


def test_undo_and_redo_lose_nothing():
    ob = leg_on_rig(influence=0.5)
    bpy.ops.ed.undo_push(message="begin")
    poses = []
    for step in range(20):
        ob = bpy.data.objects["rig"]
        ob.pose.bones["thigh"].rotation_quaternion = (1, 0.05 * step, 0.02 * step, 0)
        bpy.data.objects["target"].location.z += 0.01
        update()
        bpy.ops.ed.undo_push(message=str(step))
        poses.append((tuple(ob.pose.bones["thigh"].rotation_quaternion), matrices(ob)))
    for _ in range(5):
        for step in reversed(range(19)):
            bpy.ops.ed.undo()
            ob = bpy.data.objects["rig"]
            update()
            assert tuple(ob.pose.bones["thigh"].rotation_quaternion) == poses[step][0]
            assert np.array_equal(matrices(ob), poses[step][1])
        for step in range(1, 20):
            bpy.ops.ed.redo()
            ob = bpy.data.objects["rig"]
            update()
            assert tuple(ob.pose.bones["thigh"].rotation_quaternion) == poses[step][0]
            assert np.array_equal(matrices(ob), poses[step][1])


def test_linked_rigs_are_refused_with_a_sentence(tmp_path):
    ob = make_rig()
    make_chain(ob)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    (linked,) = from_library(tmp_path / "rig.blend", "rig")
    bones = len(linked.data.bones)
    convert = installed.addon("addon.native.convert")
    with pytest.raises(convert.Refused, match="is linked"):
        convert.make_portable(bpy.context, [linked.pose.bones["shin"]])
    assert len(linked.data.bones) == bones


def test_a_limb_that_symmetrize_copied_follows_its_own_side_once_it_is_rebuilt():
    leg = (LEG[1]._replace(name="thigh.L"), LEG[2]._replace(name="shin.L", parent="thigh.L"))
    goals = (Bone("foot.L", (0.1, 0, -1.9), (0.1, -0.3, -1.9)), Bone("knee.L", (0.1, 2, -1), (0.1, 2.2, -1)))
    ob = make_rig((HIP, *leg, *goals))
    chain = make_chain(ob, ob, "shin.L", subtarget="foot.L", plane="POLE", pole_target=ob, pole_subtarget="knee.L")
    chain.hinge_angle = 0.3
    make_portable(ob, "shin.L")
    symmetrize(ob)
    rebuild(ob, "shin.R")
    right = ob.pose.bones["shin.R"].planar_ik
    assert (right.subtarget, right.pole_subtarget, right.hinge_angle) == ("foot.R", "knee.R", -chain.hinge_angle)
    for side, x in (("L", 0.1), ("R", -0.1)):
        ob.pose.bones[f"foot.{side}"].location = (x, 0.1, 0.3)
    update()
    assert (right.reach, right.message) == ("REACHED", "")
    left, mirrored = joints(ob, "shin.L"), joints(ob, "shin.R")
    for one, other in zip(left, mirrored, strict=True):
        assert np.linalg.norm(one * (-1, 1, 1) - other) <= 1e-5 * length(ob, "shin.L")
