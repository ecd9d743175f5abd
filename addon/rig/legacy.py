"""Moving settings, and their animation, from a pose bone's group ``planar_ik`` to the bone itself: files of earlier
builds have values there, and scripts may animate settings by their paths through the group."""

from __future__ import annotations

import re
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.types import PoseBone

from .chain_settings import tell_changed
from .data import fcurves
from .data.access import ArmatureObject, Key, is_armature
from .data.animation import curve_lists_of, datablocks, read_by_drivers, with_drivers
from .data.listening import listen, listen_no_more
from .settings import NAMES, PREFIX, SETTINGS

_PATH = re.compile(rf'(pose\.bones\["(?:[^"\\]|\\.)*"\]\.)planar_ik\.({"|".join(NAMES)})', re.DOTALL)

_noticed: set[Key] = set()


def notice(evaluated: PoseBone) -> None:
    """Note that an animation may have read or set settings of a bone through its group."""
    _noticed.add((evaluated.id_data.original.session_uid, evaluated.name))


def stored(group: Any) -> Any:
    """What Blender itself keeps of a bone's group, by name."""
    return group.bl_system_properties_get() if hasattr(group, "bl_system_properties_get") else group


def _take_over_values(ob: ArmatureObject) -> None:
    """Put what the groups of an armature's bones hold where it is now."""
    for bone in ob.pose.bones:
        if bone.is_property_set("planar_ik"):
            before = stored(bone.planar_ik)  # type: ignore[attr-defined]
            for setting in SETTINGS:
                if setting.name in before:
                    value = setting.value_of(before.pop(setting.name))
                    if not bone.is_property_set(PREFIX + setting.name):  # as by an override of a library saved before
                        setattr(bone, PREFIX + setting.name, value)


def take_over_paths() -> None:
    """Let all F-curves and drivers of the file act on and read the settings where they are now."""
    for action in bpy.data.actions:
        for curves in curve_lists_of(action):
            _redirect(curves)
    for owner in (owner for block in datablocks() for owner in with_drivers(block)):
        _redirect(owner.animation_data.drivers)
        for target in read_by_drivers(owner):
            if "].planar_ik." in target.data_path:
                target.data_path = _PATH.sub(rf"\1{PREFIX}\2", target.data_path)


def _redirect(curves: Any) -> None:
    """Send F-curves where the settings are; if others act there already, those get their keys."""
    for curve in [curve for curve in curves if "].planar_ik." in curve.data_path]:
        fcurves.send(curves, curve, _PATH.sub(rf"\1{PREFIX}\2", curve.data_path))


def _take_over_file() -> None:
    for ob in filter(is_armature, bpy.data.objects):
        _take_over_values(ob)
    take_over_paths()


@persistent
def _on_load(*_args: Any) -> None:
    _take_over_file()


@persistent
def _before_animation(*_args: Any) -> None:
    """Not after, for curves that were changed are evaluated once more, and undo what the chains have posed."""
    if not _noticed:
        return
    keys = set(_noticed)
    _noticed.clear()
    take_over_paths()
    for ob in filter(is_armature, bpy.data.objects):
        for uid, name in keys:
            if uid == ob.session_uid and name in ob.pose.bones:
                tell_changed(ob.pose.bones[name], is_aim=False)


HANDLERS = (
    ("load_post", _on_load),
    ("blend_import_post", _on_load),
    ("frame_change_pre", _before_animation),
)


def register() -> None:
    """Listen, before the chains are posed."""
    listen(HANDLERS)
    if hasattr(bpy.data, "objects"):  # which it has not while Blender starts
        _take_over_file()


def unregister() -> None:
    """Stop listening."""
    listen_no_more(HANDLERS)
