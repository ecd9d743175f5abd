"""All of the file that a task could leave something in: what is compared before and after."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from math import isnan
from typing import Any

import bpy
from mathutils import Color, Euler, Quaternion, Vector

NEAR = 1e-5
"""How near to each other numbers are the same."""

FLOATS = (Color, Euler, Quaternion, Vector)

LEFT_OUT = {"rna_type", "matrix", "matrix_basis", "matrix_local", "active", "id_root", "error_location"}
LEFT_OUT |= {"matrix_channel", "error_rotation", "length", "head", "tail", "center", "bone", "vector"}
LEFT_OUT |= {"is_override_data", "children", "motion_path", "is_in_ik_chain"}
"""What follows from something else, or is not a setting."""


def snapshot() -> dict[str, Any]:
    """The whole file, as plain values: data-blocks, rest and pose, settings, properties, keys, what is shown."""
    bpy.context.view_layer.update()
    return {
        "names": {kind: sorted(each.name for each in getattr(bpy.data, kind)) for kind in kinds()},
        "scene": _scene(bpy.context.scene),
        **{f"object {ob.name}": _object(ob) for ob in bpy.data.objects},
        **{f"armature {each.name}": _armature(each) for each in bpy.data.armatures},
        **{f"action {each.name}": _action(each) for each in bpy.data.actions},
    }


def differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Where two snapshots differ."""
    if one == other:
        return []
    if isinstance(one, dict) and isinstance(other, dict):
        lost = [f"{path}/{key}: only one has it" for key in one.keys() ^ other.keys()]
        return lost + [
            each for key in one.keys() & other.keys() for each in differences(one[key], other[key], f"{path}/{key}")
        ]
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        return [
            each for i, pair in enumerate(zip(one, other, strict=True)) for each in differences(*pair, f"{path}[{i}]")
        ]
    if (
        isinstance(one, float)
        and isinstance(other, float)
        and (abs(one - other) < NEAR or (isnan(one) and isnan(other)))
    ):
        return []
    return [f"{path}: {one} is {other}"]


def kinds() -> list[str]:
    return [each.identifier for each in bpy.data.bl_rna.properties if each.type == "COLLECTION"]


def _scene(scene: Any) -> Any:
    layer = bpy.context.view_layer
    return {
        "frame": scene.frame_current_final,
        "mode": bpy.context.mode,
        "active": layer.objects.active and layer.objects.active.name,
        "seen": {ob.name: (ob.mode, ob.select_get(), ob.hide_get()) for ob in layer.objects},
        "linked": sorted(ob.name for ob in scene.collection.objects),
        "live": scene.planar_ik.live,
        "markers": sorted((marker.name, marker.frame, marker.select) for marker in scene.timeline_markers),
    }


def _object(ob: Any) -> Any:
    found = {
        "transform": _plain([ob.location, ob.rotation_quaternion, ob.rotation_euler, ob.scale, *ob.matrix_world]),
        "shown": (
            ob.hide_viewport,
            ob.hide_select,
            ob.parent and ob.parent.name,
            ob.parent_bone,
            ob.data and ob.data.name,
        ),
        "properties": _properties(ob),
        "constraints": [_settings(each) for each in ob.constraints],
        "animation": _animation(ob),
    }
    for bone in ob.pose.bones if ob.pose else ():
        found[f"bone {bone.name}"] = {
            "settings": _settings(bone),
            "properties": _properties(bone),
            "colour": (bone.color.palette, _settings(bone.color.custom)),
            "constraints": [_settings(each) for each in bone.constraints],
            "seen": _plain([*bone.matrix]),
        }
    return found


def _armature(armature: Any) -> Any:
    found = {
        "properties": _properties(armature),
        "settings": (armature.use_mirror_x, armature.pose_position, armature.users),
        "active": armature.bones.active and armature.bones.active.name,
        "collections": {
            each.name: (_settings(each), each.parent and each.parent.name) for each in armature.collections_all
        },
    }
    for bone in armature.bones:
        found[f"bone {bone.name}"] = {
            "rest": _plain([*bone.matrix_local, bone.tail_local]),
            "parent": (bone.parent and bone.parent.name, bone.use_connect),
            "settings": _settings(bone),
            "properties": _properties(bone),
            "colour": (bone.color.palette, _settings(bone.color.custom)),
            "collections": sorted(each.name for each in bone.collections),
        }
    return found


def _animation(ob: Any) -> Any:
    data = ob.animation_data
    if data is None:
        return None
    tracks = [
        [(strip.name, strip.action and strip.action.name, _slot(strip)) for strip in track.strips]
        for track in data.nla_tracks
    ]
    return _settings(data), _slot(data), tracks, [_curve(each) for each in data.drivers]


def _slot(user: Any) -> Any:
    return user.action_slot and user.action_slot.identifier


def _action(action: Any) -> Any:
    bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
    return {
        "users": (action.users, action.use_fake_user),
        "slots": [slot.identifier for slot in action.slots],
        "groups": [[group.name for group in bag.groups] for bag in bags],
        **{f"curve {c.data_path} {c.array_index}": _curve(c) for bag in bags for c in bag.fcurves},
    }


def _curve(curve: Any) -> Any:
    driver = curve.driver
    return {
        "settings": _settings(curve),
        "keys": [_settings(key) for key in curve.keyframe_points],
        "modifiers": [_settings(each) for each in curve.modifiers],
        "driver": driver and _settings(driver),
        "variables": [(_settings(v), [_settings(t) for t in v.targets]) for v in (driver.variables if driver else ())],
    }


def _settings(owner: Any) -> dict[str, Any]:
    return {name: _plain(getattr(owner, name)) for name in _names_of(type(owner))}


@cache
def _names_of(kind: Any) -> list[str]:
    """The settings of this type of Blender's."""
    names = [each.identifier for each in kind.bl_rna.properties if each.type != "COLLECTION"]
    if issubclass(kind, bpy.types.Constraint):
        names.remove("is_valid")  # as it was when last evaluated
    return [name for name in names if name not in LEFT_OUT]


def _properties(owner: Any) -> Any:
    found = {}
    for name, value in owner.items():
        shown = None
        with suppress(TypeError):  # of a group
            shown = {key: _plain(each) for key, each in owner.id_properties_ui(name).as_dict().items()}
        found[name] = type(value).__name__, _plain(value), shown, owner.is_property_overridable_library(f'["{name}"]')
    return [*owner.keys()], found


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | str | int | float):
        return value
    if isinstance(value, FLOATS):
        return [*value]
    if hasattr(value, "to_dict"):
        return {key: _plain(each) for key, each in value.to_dict().items()}
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, set):
        return sorted(value)
    if hasattr(value, "__len__"):
        return [_plain(each) for each in value]
    return getattr(value, "name", None) or type(value).__name__
