"""Blender's data by the types that they have, where the stubs can't know them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import bpy
from bpy.types import Context, Object, PoseBone, Scene, ViewLayer, bpy_prop_collection

from ..chain_settings import ChainSettings, holder_of
from ..settings import CONSTRAINT, ON_RIG, PART, PREFIX

if TYPE_CHECKING:
    from bpy.types import Armature, Pose

    from ..properties import PlanarIKScene

    class ArmatureObject(Object):
        """An object of an armature, and so with a pose."""

        data: Armature
        pose: Pose
else:
    ArmatureObject = Object

Key = tuple[int, str]
"""The session_uid of an armature object and the name of a chain's lower bone; as objects' do, it outlasts undo."""

MOST_FOUND = 10_000
_found: dict[int, str] = {}

_BONE_PATH = re.compile(r'(?:pose\.)?bones\["([^"\\]*(?:\\.[^"\\]*)*)"\]\.?(.*)', re.DOTALL)


def is_armature(ob: Object) -> TypeGuard[ArmatureObject]:
    """Whether an object is an armature's, with a pose; a new one has none until Blender first evaluates it."""
    return ob.type == "ARMATURE" and ob.pose is not None


def takes_bones(ob: ArmatureObject) -> bool:
    """Whether bones can be made, changed and removed in Edit Mode: not of a rig that is linked, overridden or not."""
    return not (ob.library or ob.override_library or ob.data.library)


def bones_of(ob: Object) -> bpy_prop_collection[PoseBone]:
    """The pose bones of an object that is known to be an armature's."""
    return cast("ArmatureObject", ob).pose.bones


def has_bone(ob: Object, name: str) -> bool:
    """Whether an object is an armature's and has a bone of this name."""
    return is_armature(ob) and name in ob.pose.bones


def chain_settings(lower: PoseBone) -> ChainSettings:
    """The settings of the chain of a lower bone; every bone has them."""
    return ChainSettings(lower)


def bone_of(group: Any) -> PoseBone:
    """The bone of a group ``planar_ik``, original or evaluated; Blender does not say which one it is.

    The answer is cached by the group's address. Another bone's group may have that by now, so it is checked.
    """
    bones, place = bones_of(group.id_data), group.as_pointer()
    bone = bones.get(_found.get(place, ""))
    if bone is None or not _has_group(bone, group):
        bone = next(bone for bone in bones if _has_group(bone, group))
        if len(_found) >= MOST_FOUND:
            _found.clear()
        _found[place] = bone.name
    return bone


def _has_group(bone: PoseBone, group: Any) -> bool:
    # To ask a bone for a group that it does not have would give it one.
    return bone.is_property_set("planar_ik") and bone.planar_ik == group  # type: ignore[attr-defined]


def library_of(ob: Object) -> str:
    """The file that an object is linked from, as Blender names it; none for one of this file."""
    return ob.library.filepath if ob.library else ""


def object_named(name: str, library: str = "") -> Object | None:
    """The object of this name that is linked from that file; without one, that of this file goes first."""
    return bpy.data.objects.get((name, library) if library else name)


def has_chain(bone: PoseBone) -> bool:
    """Whether a bone is the lower bone of a chain, switched on or off."""
    settings = chain_settings(bone)
    # To ask a bone for a group that it does not have would give it one, which costs its every evaluation a little.
    return bool(settings.enabled or (bone.is_property_set("planar_ik") and settings.target))


def runs_on_rig(lower: PoseBone) -> bool:
    """Whether a chain runs on Blender's own bones, constraints and drivers: its influence is a custom property, or was
    one before somebody deleted that."""
    is_held = ON_RIG + "influence" in holder_of(lower) or any(map(_copies_lower, lower.constraints))
    return is_held and not is_part(lower.id_data, lower.name)


def _copies_lower(constraint: Any) -> bool:
    return copies_part(constraint) and constraint.target.data.bones[constraint.subtarget][PART] in {"lower", "twist"}


def is_part(ob: Object | None, bone: str) -> bool:
    """Whether a bone of this name was made for a chain that runs on the rig."""
    found: Any = ob.data.bones.get(bone) if ob and is_armature(ob) else None
    return found is not None and PART in found


def copies_part(constraint: Any) -> bool:
    """Whether a constraint makes a limb copy what was made for its chain."""
    return is_part(getattr(constraint, "target", None), getattr(constraint, "subtarget", ""))


def made_on(bone: PoseBone) -> list[Any]:
    """The constraints of a limb's own bone that were made for a chain on the rig, whatever they are called."""
    found: list[Any] = [*bone.constraints]
    around = zip([None, *found], found, [*found[1:], None], strict=False)
    return [each for before, each, after in around if _is_made(each) or _is_enclosed(before, each, after)]


def _is_made(constraint: Any) -> bool:
    """Whether a constraint copies what was made for a chain; or, by its name, if what it copied is gone."""
    host: Any = getattr(constraint, "target", None)
    has_lost = host is None or not has_bone(host, getattr(constraint, "subtarget", ""))
    return copies_part(constraint) or (has_lost and constraint.name.startswith(CONSTRAINT))


def _is_enclosed(before: Any, constraint: Any, after: Any) -> bool:
    """Whether it is the one of the made ones that copies nothing, under another name."""
    return constraint.type == "LIMIT_ROTATION" and copies_part(before) and copies_part(after)


def is_of_library(bone: PoseBone, constraint: Any) -> bool:
    """Whether an override has a constraint of its bone from its library. In Blender 4.2, ``is_override_data`` does not
    say so before the file is opened again."""
    override: Any = bone.id_data.override_library
    linked = override.reference.pose.bones.get(bone.name) if override and override.reference else None
    return linked is not None and constraint.name in linked.constraints


def dismiss(bone: PoseBone, constraint: Any) -> None:
    """Take a constraint away for good. What an override has from its library would come back with the file: it is left
    there, without effect."""
    if is_of_library(bone, constraint):
        constraint.mute, constraint.influence = True, 0.0
    else:
        bone.constraints.remove(constraint)


def scene_settings(scene: Scene) -> PlanarIKScene:
    """The settings of a scene."""
    settings: PlanarIKScene = scene.planar_ik  # type: ignore[attr-defined]  # addon.rig.properties adds it
    return settings


def upper_of(lower: PoseBone) -> PoseBone:
    """The upper bone of a chain's lower bone: its parent, without which there is no chain."""
    return lower.parent  # type: ignore[return-value]


def scene_of(context: Context) -> Scene:
    """The scene of a context; only Blender itself runs without."""
    return context.scene  # type: ignore[return-value]


def view_layer_of(context: Context) -> ViewLayer:
    """The view layer of a context; only Blender itself runs without."""
    return context.view_layer  # type: ignore[return-value]


def with_carriers(owner: Object | PoseBone) -> Iterator[Any]:
    """A bone or an object, and all that carries it as its parent."""
    ob: Object = owner.id_data
    if isinstance(owner, PoseBone):
        yield from (owner, *owner.parent_recursive)
    yield ob
    if ob.parent:
        is_on_bone = ob.parent_type == "BONE" and ob.parent_bone in bones_of(ob.parent)
        yield from with_carriers(bones_of(ob.parent)[ob.parent_bone] if is_on_bone else ob.parent)


def children_of(bone: PoseBone) -> list[PoseBone]:
    """The bones that hang on a bone. `PoseBone.children` goes through all bones of the rig to find them.

    While the armature is edited, its bones need not have the names of the pose's.
    """
    bones = bones_of(bone.id_data)
    return [bones[child.name] for child in bone.bone.children if child.name in bones]


def path_to_bone(name: str) -> str:
    """The data path of a pose bone from its object, as F-curves and drivers write it."""
    return f'pose.bones["{bpy.utils.escape_identifier(name)}"]'


def setting_path(lower: str, name: str) -> str:
    """The data path of a chain's setting that animates from its object, by the name of its lower bone."""
    return f"{path_to_bone(lower)}.{PREFIX}{name}"


def place_on_bone(lower: PoseBone, name: str) -> tuple[PoseBone, str]:
    """The bone that has a chain's setting that animates, whatever the chain runs on, and the data path from there."""
    holder = holder_of(lower)
    return (holder, f'["{ON_RIG}{name}"]') if ON_RIG + name in holder else (lower, PREFIX + name)


def place_of_setting(lower: PoseBone, name: str) -> tuple[Object, str]:
    """The object that has a chain's setting that animates, and the setting's data path from there."""
    bone, path = place_on_bone(lower, name)
    return bone.id_data, f"{path_to_bone(bone.name)}{'' if path.startswith('[') else '.'}{path}"


def key_of(lower: PoseBone) -> Key:
    """What tells a chain from all others."""
    return (lower.id_data.session_uid, lower.name)


@lru_cache(MOST_FOUND)
def split_path(path: str) -> tuple[str, str]:
    """The name of the bone that a data path from an object or its armature leads through, and the path from there;
    without one, no name."""
    named = _BONE_PATH.match(path)
    return (bpy.utils.unescape_identifier(named[1]), named[2]) if named else ("", path)
