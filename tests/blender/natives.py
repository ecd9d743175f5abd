"""Chains on the rig: putting them there, and what a rig is made of."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from tests.blender.rigs import select, update


def make_portable(ob: Any, *lowers: str) -> None:
    """Put chains on the rig as a person would."""
    select(ob, *(lowers or ("shin",)))
    assert bpy.ops.pose.planar_ik_make_portable() == {"FINISHED"}
    update()


def make_live(ob: Any, *lowers: str) -> None:
    """Bring chains back."""
    select(ob, *(lowers or ("shin",)))
    assert bpy.ops.pose.planar_ik_make_live() == {"FINISHED"}
    update()


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
