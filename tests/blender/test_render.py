"""A render with Cycles shows the solved pose: the same pixels as of a rig without chains, keyed to that pose."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender.natives import make_portable
from tests.blender.rigs import (
    LEG,
    SHIN,
    Bone,
    activate,
    key_location,
    make_chain,
    make_empty,
    make_rig,
    rotation_name,
    set_keys,
    shown_rotation,
    update,
)

FRAMES = (2, 7, 10)
ARM = Bone("arm", (-1, 0, 0), (-1, 0, 0.8), "hip")


def skinned(ob, *bones):
    """A box for each bone, moved by the armature modifier."""
    for name in bones:
        bone = ob.data.bones[name]
        mesh = bpy.data.meshes.new(name)
        at = [bone.head_local, bone.tail_local]
        corners = [
            (p.x + dx, p.y + dy, p.z) for p in at for dx, dy in ((-0.2, -0.2), (0.2, -0.2), (0.2, 0.2), (-0.2, 0.2))
        ]
        mesh.from_pydata(
            corners, [], [(0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
        )
        box = bpy.data.objects.new(name, mesh)
        box.vertex_groups.new(name=name).add(range(8), 1, "REPLACE")
        box.modifiers.new("rig", "ARMATURE").object = ob
        box.parent = ob
        bpy.context.scene.collection.objects.link(box)


def stage(blur):
    """A camera from the side, white light from everywhere, few pixels and samples."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.type, camera.data.ortho_scale = "ORTHO", 5
    camera.location, camera.rotation_euler = (9, 0, -0.8), (np.pi / 2, 0, np.pi / 2)
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising, scene.cycles.seed = 8, False, 3
    scene.render.resolution_x = scene.render.resolution_y = 32
    scene.render.use_motion_blur = blur
    scene.render.image_settings.file_format = "PNG"
    scene.frame_start, scene.frame_end = 1, 12
    scene.render.film_transparent = True


def dancing(kind):
    """A rig with one chain, or with three that hang on each other, and bones that are animated besides."""
    bones = [*LEG, ARM]
    if kind == "deep":
        bones += [
            Bone("thigh1", SHIN.tail, (0.1, 0.3, -2.4), "shin"),
            Bone("shin1", (0.1, 0.3, -2.4), (0.1, 0, -3), "thigh1"),
        ]
    ob = make_rig(bones)
    ob.location.z = 0.7
    for name, turn in (("hip", 0.3), ("arm", 2)):
        bone = ob.pose.bones[name]
        set_keys(bone, "rotation_quaternion", {1: (1, 0, 0, 0), 12: (1, turn, 0, 0)})
    target = make_empty("target")
    key_location(target, [(0.2, 0.9, -0.2), (0.2, -0.9, -0.6), (0, 0.4, -0.9)], 1, 6)
    make_chain(ob, target, plane="SWING")
    if kind == "deep":
        make_chain(ob, make_empty("goal", (0.1, 0.5, -1.4)), "shin1")
    skinned(ob, *(bone.name for bone in bones[1:]))
    update()
    return ob


def keyed_by_hand(ob, lowers):
    """Take what the chains show in every quarter of a frame into keys, and the chains off."""
    scene = bpy.context.scene
    names = [name for lower in lowers for name in (lower, ob.pose.bones[lower].parent.name)]
    poses = {}
    for quarter in range(56):  # the shutter opens and closes a quarter of a frame from the middle
        scene.frame_set(quarter // 4, subframe=quarter % 4 / 4)
        poses[quarter / 4] = [shown_rotation(ob, name) for name in names]
    for lower in lowers:
        ob.pose.bones[lower].planar_ik.enabled = False
    for frame, rotations in poses.items():
        for name, numbers in zip(names, rotations, strict=True):
            bone = ob.pose.bones[name]
            setattr(bone, rotation_name(bone), numbers)
            bone.keyframe_insert(rotation_name(bone), frame=frame)


def images(folder, frames=FRAMES):
    """The pixels of these frames, rendered as one animation."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.frame_step = frames[0], frames[-1], 1
    scene.render.filepath = str(folder) + "/"
    bpy.ops.render.render(animation=True)
    pixels = []
    for frame in frames:
        image = bpy.data.images.load(str(folder / f"{frame:04}.png"))
        pixels.append(np.array(image.pixels[:]))
        bpy.data.images.remove(image)
    return pixels


@pytest.mark.parametrize("kind", ["one", "deep"])
@pytest.mark.parametrize("blur", [False, True])
@pytest.mark.parametrize("way", ["LIVE", "RIG"])
def test_an_animation(kind, blur, way, tmp_path, capfd):
    ob = dancing(kind)
    stage(blur)
    lowers = ["shin", "shin1"] if kind == "deep" else ["shin"]
    if way == "RIG":
        make_portable(ob, *lowers)
        activate(ob)
    live = images(tmp_path / "live")
    keyed_by_hand(ob, lowers)
    by_hand = images(tmp_path / "hand")
    for seen, wanted in zip(live, by_hand, strict=True):
        assert wanted.max() > 0.5
        assert np.abs(seen - wanted).max() < 0.02
    assert np.abs(live[0] - live[-1]).max() > 0.5
    assert "Traceback" not in capfd.readouterr().err


def test_a_still_and_the_window_after_it(tmp_path):
    ob = dancing("one")
    stage(False)
    scene = bpy.context.scene
    scene.frame_set(7)
    before = [bone.matrix.copy() for bone in ob.pose.bones]
    scene.render.filepath = str(tmp_path / "still.png")
    bpy.ops.render.render(write_still=True)
    update()
    for bone, matrix in zip(ob.pose.bones, before, strict=True):
        assert np.abs(np.array(bone.matrix) - np.array(matrix)).max() < 1e-6
    activate(ob)


def test_live_off_renders_the_pose_as_it_stands(tmp_path):
    ob = dancing("one")
    stage(False)
    bpy.context.scene.frame_set(2)
    bpy.context.scene.planar_ik.live = False
    stale = images(tmp_path / "off")
    ob.pose.bones["shin"].planar_ik.enabled = True
    bpy.context.scene.planar_ik.live = True
    live = images(tmp_path / "on")
    assert np.abs(stale[1] - live[1]).max() > 0.5


def test_a_target_that_renders_leave_behind_is_named(tmp_path, caplog):
    ob = dancing("one")
    stage(False)
    bpy.data.objects["target"].hide_render = True
    images(tmp_path)
    assert caplog.messages == ["rig: shin: 'target' is animated, but disabled in renders: enable it"]
    bpy.context.scene.frame_set(4)
    assert ob.pose.bones["shin"].planar_ik.reach == "REACHED"
