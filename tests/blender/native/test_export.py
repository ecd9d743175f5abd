"""Exporters that pose all bones of a rig: limbs on the rig come out of them, and out of their files, as they were, also
without the extension."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import addon_utils
import bpy
import numpy as np
import pytest
from mathutils import Vector

from scripts import installed
from tests.blender.natives import make_portable
from tests.blender.rigs import NEAR, NEXT, joints, length, make_chain, make_empty, make_rig, update

FRAMES = (1, 10)
SAME = 2e-5
"""In lengths of the limb: files have turns in single precision, in degrees."""

ACTIONS = {"first": 0.3, "second": -0.5}
"""How far the hip turns in each, at the end."""


@pytest.fixture
def leg() -> Any:
    """A leg on the rig, whose knee's turn and axis are not what a matrix would give, with two actions."""
    ob = make_rig()
    target = make_empty("target", NEAR)
    make_chain(ob, target, plane="SWING", bend=-1.0)
    make_portable(ob)
    for frame, place in zip(FRAMES, (NEAR, NEXT), strict=True):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    hip = ob.pose.bones["hip"]
    hip.rotation_mode = "XYZ"
    for name, angle in ACTIONS.items():
        ob.animation_data.action = None
        for frame, turn in zip(FRAMES, (0.0, angle), strict=True):
            hip.rotation_euler.x = turn
            hip.keyframe_insert("rotation_euler", frame=frame)
        ob.animation_data.action.name = name
        ob.animation_data.action.use_fake_user = True
    bpy.context.scene.frame_set(1)
    update()
    return ob


def knees(ob: Any) -> dict[int, Any]:
    """Where the knee is from the root, by the frame."""
    found = {}
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        bones = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        found[frame] = np.array(ob.matrix_world.to_3x3() @ (bones["shin"].head - bones["thigh"].head))
    return found


def play(ob: Any, action: Any) -> None:
    ob.animation_data.action = action
    if hasattr(action, "slots"):
        ob.animation_data.action_slot = action.slots[0]


FORMS: dict[str, dict[str, Any]] = {"fbx": {"bake_anim_simplify_factor": 0.0, "add_leaf_bones": False}, "gltf": {}}
"""Exporters and their options."""


@pytest.mark.parametrize("form", FORMS)
def test_every_action_comes_out_right_and_the_limb_stays_as_it_was(form: str, leg: Any, tmp_path: Path) -> None:
    bpy.ops.preferences.addon_disable(module=installed.MODULE)
    wanted = {}
    for name in ACTIONS:
        play(leg, bpy.data.actions[name])
        wanted[name] = knees(leg)
    bpy.context.scene.frame_set(1)
    before, size = joints(leg), length(leg)
    addon_utils.enable({"fbx": "io_scene_fbx", "gltf": "io_scene_gltf2"}[form])
    path = str(tmp_path / {"fbx": "leg.fbx", "gltf": "leg.glb"}[form])
    getattr(bpy.ops.export_scene, form)(filepath=path, **FORMS[form])
    bpy.context.scene.frame_set(1)
    update()
    assert max((Vector(a) - Vector(b)).length for a, b in zip(joints(leg), before, strict=True)) < 1e-6
    for name, places in wanted.items():
        play(leg, bpy.data.actions[name])
        assert all(np.linalg.norm(place - places[frame]) < 1e-5 * size for frame, place in knees(leg).items()), name
    installed.enable()
    assert leg.pose.bones["shin"].planar_ik.reach == "REACHED"
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    getattr(bpy.ops.import_scene, form)(filepath=path)
    (ob,) = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    for name, places in wanted.items():
        (action,) = [action for action in bpy.data.actions if name in action.name]
        play(ob, action)
        for frame, place in knees(ob).items():
            assert np.linalg.norm(place - places[frame]) < SAME * size, (name, frame)
