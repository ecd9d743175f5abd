"""Chains on the rig: putting them there, and what a rig is made of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from tests.blender.rigs import LEG, Bone, activate, make_chain, make_rig, press

FOOT = Bone("foot", (0.1, 0, -1.9), (0.1, -0.3, -1.9), "shin")


def make_portable(ob: Any, *lowers: str) -> None:
    """Put chains on the rig as a person would."""
    press(ob, "make_portable", *lowers)


def make_live(ob: Any, *lowers: str) -> None:
    """Bring chains back."""
    press(ob, "make_live", *lowers)


def rebuild(ob: Any, lower: str = "shin") -> None:
    """Press what the message of a chain names that was changed since it was put on the rig."""
    activate(ob)
    press(ob, "rebuild", lower)


def leg_on_rig(bones: Iterable[Bone] = LEG, **settings: Any) -> Any:
    """A leg whose chain runs on the rig, in Pose Mode."""
    ob = make_rig(bones)
    make_chain(ob, **settings)
    make_portable(ob)
    return ob


def leg_with_foot(**settings: Any) -> Any:
    """One with a foot, in Object Mode."""
    ob = leg_on_rig((*LEG, FOOT), **{"plane": "SWING"} | settings)
    activate(ob)
    return ob


def matrices(ob: Any, *names: str) -> np.ndarray:
    """The whole matrices of bones in the evaluated pose."""
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([np.array(evaluated.pose.bones[name].matrix) for name in names or ("thigh", "shin")])


def parts(ob: Any) -> dict[str, Any]:
    """All that a rig consists of: bones, constraints, drivers, collections, custom properties, modes."""
    data = ob.animation_data
    return {
        "bones": {
            bone.name: (bone.parent.name if bone.parent else "", bone.inherit_scale, bone.hide, bone.hide_select)
            for bone in ob.data.bones
        },
        "collections": {c.name: sorted(bone.name for bone in c.bones) for c in ob.data.collections_all},
        "constraints": {bone.name: [c.name for c in bone.constraints] for bone in ob.pose.bones},
        "properties": {bone.name: own_keys(bone) for bone in ob.pose.bones},
        "modes": {bone.name: bone.rotation_mode for bone in ob.pose.bones},
        "drivers": sorted(curve.data_path for curve in data.drivers) if data else [],
        "animation": data is not None,
    }


def own_keys(bone: Any) -> list[str]:
    """The custom properties of a bone, without what extensions registered (which these are before Blender 5.0)."""
    return sorted(key for key in bone.keys() if not key.startswith("planar_ik") or "." in key)  # noqa: SIM118


ALONE = """
import json, os, sys
import bpy
out, frames, bones, *paths = sys.argv[1:]
bones = json.loads(bones)
found = []
for path in paths:
    bpy.ops.wm.open_mainfile(filepath=path, use_scripts=False)
    assert not hasattr(bpy.types.PoseBone, "planar_ik")
    ob = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE" and bones[0] in ob.pose.bones and not ob.library)
    found.append([])
    for frame in json.loads(frames):
        bpy.context.scene.frame_set(frame)
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found[-1].append([list(map(list, evaluated.pose.bones[name].matrix)) for name in bones])
open(out, "w").write(json.dumps(found))
os._exit(0)
"""


def played_alone(
    folder: Path, paths: list[str], frames: Iterable[int], bones: Iterable[str] = ("thigh", "shin")
) -> tuple[np.ndarray, str]:
    """The matrices of the leg in files over frames, in a Blender without the extension and with scripts off; and what
    that Blender said."""
    out, user = folder / "alone.json", folder / "user"
    user.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(out), json.dumps(list(frames)), json.dumps(list(bones)), *paths],
        check=True,
        env={**os.environ, "BLENDER_USER_RESOURCES": str(user)},
        timeout=100,
        capture_output=True,
        text=True,
    )
    return np.array(json.loads(out.read_text())), done.stdout + done.stderr
