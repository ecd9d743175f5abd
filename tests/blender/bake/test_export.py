"""To an engine and back: what docs/export.md says of glTF and FBX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender import another, rigs, walk

FORMATS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gltf": ("io_scene_gltf2", "glb", {"export_def_bones": True}),
    "fbx": (
        "io_scene_fbx",
        "fbx",
        {"use_armature_deform_only": True, "add_leaf_bones": False, "bake_anim_simplify_factor": 0.0},
    ),
}
"""The add-on of each format, how its files are called, and what to choose as it exports."""


def moved(ob: Any, names: list[str], frames: Any) -> np.ndarray:
    """How bones are moved from their rest in the world, (frames, bones, 4, 4): as skin does."""
    seen = []
    world = np.array(ob.matrix_world)
    rests = np.array([ob.data.bones[name].matrix_local for name in names])
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        seen.append(world @ rigs.matrices(ob, names) @ np.linalg.inv(rests) @ np.linalg.inv(world))
    return np.array(seen)


@pytest.mark.parametrize("way", ["with IK", "baked"])
@pytest.mark.parametrize("kind", FORMATS)
def test_what_comes_back_moves_as_it_did(tmp_path, kind, way):
    ob = walk.build()
    walk.add_legs(ob)
    if way == "baked":
        bpy.ops.pose.planar_ik_bake(which="ALL", range="SCENE", remove=True)
    before, after = there_and_back(tmp_path, ob, kind)
    assert np.abs(after - before).max() < 3e-5  # FBX has angles in degrees


def test_simplified_keys_move_joints_by_a_millimetre(tmp_path):
    ob = walk.build()
    walk.add_legs(ob)
    before, after = there_and_back(tmp_path, ob, "fbx", bake_anim_simplify_factor=1.0)
    assert 2e-4 < np.abs(after - before)[..., :3, 3].max() < 5e-3


@pytest.mark.parametrize("kind", FORMATS)
def test_stretch_arrives_as_scale(tmp_path, kind):
    ob = rigs.biped()
    assert bpy.ops.pose.planar_ik_add(limbs="shin.L") == {"FINISHED"}
    ob.pose.bones["shin.L"].planar_ik.stretch = 1.0
    rigs.put(ob.pose.bones["foot_ik.L"], rigs.place(ob, "foot.L") + Vector((0.0, 0.0, -0.2)))
    for frame in (1, 2):
        ob.pose.bones["foot_ik.L"].keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = 2
    there_and_back(tmp_path, ob, kind)
    (brought,) = (each for each in bpy.data.objects if each.type == "ARMATURE")
    assert max(brought.pose.bones["thigh.L"].scale) > 1.1


def there_and_back(folder: Path, ob: Any, kind: str, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Export a rig with a skin, and import it: how bones are moved in the scene's frames, before and after."""
    addon, suffix, chosen = FORMATS[kind]
    rig, made, brought = (folder / name for name in ("rig.blend", f"rig.{suffix}", "brought.blend"))
    names, frames = [bone.name for bone in ob.data.bones if bone.use_deform], bpy.context.scene.frame_end
    rigs.activate(ob, "OBJECT")
    skin = bpy.data.objects.new("skin", bpy.data.meshes.new("skin"))
    skin.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    bpy.context.collection.objects.link(skin)
    skin.parent = ob
    skin.modifiers.new("Armature", "ARMATURE").object = ob
    for name in names:
        skin.vertex_groups.new(name=name).add(range(3), 0.1, "REPLACE")
    before = moved(ob, names, range(1, frames + 1))
    bpy.ops.wm.save_as_mainfile(filepath=str(rig))
    another.export(addon, f"export_scene.{kind}", rig, made, folder / "after.blend", **chosen | options)
    another.bring(addon, f"import_scene.{kind}", made, brought)
    bpy.ops.wm.open_mainfile(filepath=str(brought))
    (ob,) = (each for each in bpy.data.objects if each.type == "ARMATURE")
    first = round(ob.animation_data.action.frame_range[0]) if ob.animation_data else 1
    assert {*ob.data.bones.keys()} == {*names}
    return before, moved(ob, names, range(first, first + frames))
