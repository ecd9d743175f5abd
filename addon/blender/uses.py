"""What uses objects and bones: all data-blocks that refer to them, and actions that would animate them."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

import bpy
from bpy.types import ID, Collection, Object, Scene, Screen, WindowManager, WorkSpace

from .animation import actions_besides, all_curve_lists, curves_everywhere, drivers_of
from .dependencies import BoneRef, constraint_targets
from .types import BACKUP, all_actions, all_objects, is_armature, split_path

SHOWING = (Collection, Scene)
"""What has an object in it and does not need it for that."""

NOT_LOOKED_INTO = (*SHOWING, Screen, WindowManager, WorkSpace)
"""What has no part that names a bone of an object."""

LEFT_OUT = {"rna_type", "name", "original", "animation_data", "pose", "library", "override_library", "preview"}
"""What of a data-block or its parts is not looked at for names of bones."""

MOST_NAMES, DEEP = 256, 2
"""How many there are at most of what names bones, as modifiers, and how deep in a data-block."""


def users_of(ob: Object) -> set[Any]:
    """What in the file needs an object, besides the collections and scenes that show it: what refers to it, and actions
    that would animate it."""
    needing = {user for user in _referring([ob])[ob] if not isinstance(user, SHOWING) or _is_read(user, ob)}
    return needing | {action for action in all_actions() if _is_for(action, ob)}


def used_bones(armatures: set[Any], besides: Container[Any] = ()) -> set[tuple[Any, str]]:
    """The bones of armatures that something uses, each with its armature: by name from any data-block that refers to an
    object of theirs; and those that have drivers themselves, or F-curves other than ``besides``, also in actions that
    nothing uses now."""
    used: set[tuple[Any, str]] = set()
    rigs: list[Any] = [ob for ob in all_objects() if is_armature(ob) and ob.data in armatures]
    users = _referring(rigs)
    for rig in rigs:
        names = {name for user in {rig, *users[rig]} for name in _named_by(user, rig)}
        names |= {bone.custom_shape_transform.name for bone in rig.pose.bones if bone.custom_shape_transform}
        curves = [*curves_everywhere(rig), *drivers_of(rig), *curves_everywhere(rig.data), *drivers_of(rig.data)]
        for action in actions_besides(rig, ("pose.bones[",)):
            curves += [curve for curve_list in all_curve_lists(action) for curve in curve_list]
        names |= {split_path(curve.data_path)[0] for curve in curves if curve not in besides}
        used |= {(rig.data, name) for name in names}
    return used


def _referring(objects: list[Any]) -> dict[Any, set[Any]]:
    """The data-blocks that refer to objects, without copies that a transaction keeps."""
    find: Any = bpy.data.user_map  # the stubs say that it needs more
    users = find(subset=objects) if objects else {}  # of none, Blender gives those of all
    return {ob: {user for user in users.get(ob, ()) if not user.name.startswith(BACKUP)} for ob in objects}


def _is_read(user: Any, ob: Object) -> bool:
    return any(other == ob for curve in _drivers_in(user) for other, _ in _read_by(curve))


def _is_for(action: Any, ob: Object) -> bool:
    """Whether an action has a slot that is meant for an object (4.4)."""
    return any(slot.identifier == f"OB{ob.name}" for slot in getattr(action, "slots", ()))


def _named_by(user: Any, rig: Object) -> Iterator[str]:
    """What a data-block names beside a rig: among these are the bones that it uses."""
    for curve in _drivers_in(user):
        yield from (bone for ob, bone in _read_by(curve) if ob == rig)
    if isinstance(user, Object):
        owners = [user, *(user.pose.bones if is_armature(user) else ())]
        targets = (
            ref for owner in owners for constraint in owner.constraints for ref in constraint_targets(constraint)
        )
        yield from (bone for ob, bone in targets if ob == rig)
    if not isinstance(user, NOT_LOOKED_INTO):
        yield from _beside(user, rig, DEEP)


def _beside(owner: Any, rig: Object, depth: int) -> Iterator[str]:
    """The words in those parts of a data-block that refer to a rig."""
    words, refers = [], False
    for prop in owner.bl_rna.properties:
        name, kind = prop.identifier, prop.type
        # Those of add-ons come into being as they are looked at.
        if name in LEFT_OUT or prop.is_runtime or kind not in {"STRING", "POINTER", "COLLECTION"}:
            continue
        value: Any = getattr(owner, name, None)
        if kind == "STRING":
            words.append(value)
        elif kind == "POINTER":
            refers |= value == rig
        inner = [value] if kind == "POINTER" else value if kind == "COLLECTION" and len(value) <= MOST_NAMES else ()
        for one in inner if depth else ():
            if one is not None and not isinstance(one, ID):
                yield from _beside(one, rig, depth - 1)
    yield from filter(None, words if refers else ())


def _drivers_in(user: Any) -> list[Any]:
    """The drivers of a data-block, and of the node tree in it."""
    return [curve for owner in (user, getattr(user, "node_tree", None)) for curve in drivers_of(owner)]


def _read_by(curve: Any) -> list[BoneRef]:
    """The objects and bones that a driver reads anything of."""
    targets = [target for variable in curve.driver.variables for target in variable.targets]
    return [(target.id, target.bone_target or split_path(target.data_path)[0]) for target in targets]
