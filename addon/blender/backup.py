"""A copy of an object, from which the object is made as it was, in place: bones, constraints, drivers, properties.

Blender's own copies hold what Python can't read or set one by one; they are in no scene, have no users, and are gone as
soon as they are not needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import takewhile
from operator import attrgetter
from typing import Any

import bpy
from bpy.types import ID, Context, Driver, Object, PoseBone
from mathutils import Matrix

from . import animation, editing
from .types import BACKUP, Datablock, can_edit_bones, is_armature

TRANSFORM = (
    *("location", "rotation_mode", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"),
    *("delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale"),
)
"""What of an object itself is put back, besides its properties, constraints and animation."""

PLAYED = ("use_nla", "action_blend_type", "action_extrapolation", "action_influence")
"""What of its animation data."""

SHOWN = ("is_visible", "is_solo", "is_expanded")
"""What of bone collections."""


class Backup:
    """A copy of an object. ``users`` are what used actions (animation data, NLA strips), each with its action and
    slot."""

    def __init__(self, ob: Object) -> None:
        self.object: Any = ob
        self.copy: Any = None
        self.data: Any = None

    def take(self) -> None:
        """Make the copies."""
        ob = self.object
        if ob.mode == "EDIT":
            ob.update_from_editmode()
        self.copy = ob.copy()
        self.copy.name = BACKUP
        self.had_animation = ob.animation_data is not None
        self.users = [(user.action, _slot_of(user)) for user in _users_in(ob)]
        if data := self.copy.animation_data:  # the copy must not count as a user of actions
            data.action = None
            for track in [*data.nla_tracks]:
                data.nla_tracks.remove(track)
        if is_armature(ob) and can_edit_bones(ob):
            self.data = ob.data.copy()
            self.data.name = BACKUP
            self.data.animation_data_clear()  # or slots keep pointers to it once it is gone, and Blender crashes
            self.copy.data = self.data  # or the copy would lose the bones that the original loses
            active = ob.data.bones.active
            self.active = active.name if active else ""

    def forget(self) -> None:
        """Remove the copies: nothing refers to them, so Blender need not look who does."""
        if self.copy:
            bpy.data.objects.remove(self.copy, do_unlink=False)
        if self.data:
            bpy.data.armatures.remove(self.data, do_unlink=False)

    def restore_bones(self, context: Context) -> None:
        """Restore the rest pose of the bones."""
        if not self.data:
            return
        changed = [bone.name for bone in self.data.bones if _rests_elsewhere(self.object.data.bones, bone)]
        if changed or len(self.object.data.bones) != len(self.data.bones):
            with editing.edit_mode(context, self.object):
                _lay_out(self.object.data.edit_bones, self.data.bones, changed)

    def loosen(self) -> None:
        """Remove constraints and drivers of bones that are new or have changed."""
        ob, mapping = self.object, CopyToOriginal(self.copy, self.object)
        changed = [pair for pair in self._owners() if _are_constrained_otherwise(*pair, mapping)]
        if changed or (self.data and len(ob.data.bones) != len(self.data.bones)):
            for driver in animation.drivers_of(ob):  # first: Blender crashes on one that lost what it drives
                ob.animation_data.drivers.remove(driver)
            for now, _ in changed:
                _remove_constraints(now)

    def restore_structure(self) -> None:
        """Restore actions, drivers and constraints."""
        ob = self.object
        if self.had_animation and not ob.animation_data:
            ob.animation_data_create()
        if self.had_animation:
            copy_settings(ob.animation_data, self.copy.animation_data, None, PLAYED)
        for user, (action, slot) in zip(_users_in(ob), self.users, strict=False):
            _use(user, action, slot)
        mapping = CopyToOriginal(self.copy, ob)
        _remove_drivers(ob, self.copy, mapping)  # first: Blender crashes on one that lost what it drives
        if self.data:
            _restore_collections(ob.data, self.data)
        for now, before in self._owners():
            _restore_constraints(now, before, mapping)
            copy_properties(now, before)  # which drivers have to find: those that fail once stay so
        kept = _remove_drivers(ob, self.copy, mapping)  # with a constraint, Blender 5 takes its drivers away
        for driver in animation.drivers_of(self.copy)[kept:]:
            _copy_driver(ob, driver, mapping)
        if not self.had_animation and ob.animation_data:
            ob.animation_data_clear()

    def restore_values(self) -> None:
        """Restore channels, properties and settings, also those that animation has set since."""
        mapping = CopyToOriginal(self.copy, self.object)
        for now, before in self._owners():
            for one, other in zip(now.constraints, before.constraints, strict=False):
                copy_settings(one, other, mapping)
            copy_settings(now, before, mapping, TRANSFORM if now == self.object else None)
            copy_properties(now, before)
        if self.data:
            armature = self.object.data
            for bone in self.data.bones:
                copy_settings(armature.bones[bone.name], bone, mapping)
                copy_properties(armature.bones[bone.name], bone)
            armature.use_mirror_x = self.data.use_mirror_x
            copy_properties(armature, self.data)
            armature.bones.active = armature.bones.get(self.active)
        self.object.update_tag()

    def _owners(self) -> Iterator[tuple[Any, Any]]:
        """What has constraints and properties: the object and its bones, each with its copy."""
        yield self.object, self.copy
        for before in self.copy.pose.bones if is_armature(self.object) else ():
            now = self.object.pose.bones.get(before.name)
            if now is not None:
                yield now, before


# actions


def _users_in(ob: Object) -> list[Any]:
    """What of an object uses actions: its animation data, and the strips of its NLA."""
    return [ob.animation_data, *animation.strips_of(ob)] if ob.animation_data else []


def _slot_of(user: Any) -> int | None:
    return user.action_slot.handle if user.action_slot else None


def _use(user: Any, action: Any, handle: int | None) -> None:
    if user.action == action and _slot_of(user) == handle:
        return
    if user.action != action:
        user.action = action
    if action:
        user.action_slot = next((slot for slot in action.slots if slot.handle == handle), None)


# bones


def _rests_elsewhere(bones: Any, before: Any) -> bool:
    bone = bones.get(before.name)
    return bone is None or _rest_of(bone) != _rest_of(before)


def _rest_of(bone: Any) -> tuple[Any, ...]:
    rest = tuple(number for row in bone.matrix_local for number in row)
    return rest, bone.length, bone.use_connect, bone.parent.name if bone.parent else ""


def _lay_out(edited: Any, bones: Any, changed: list[str]) -> None:
    """Let there be the bones of before, in Edit Mode, those that changed as they were."""
    for bone in [bone for bone in edited if bone.name not in bones]:
        edited.remove(bone)
    for name in changed:
        bone, before = edited.get(name) or edited.new(name), bones[name]
        bone.use_connect = False
        bone.head, bone.tail = before.head_local, before.tail_local
        bone.roll = type(before).AxisRollFromMatrix(before.matrix_local.to_3x3())[1]
    for name in changed:
        above = bones[name].parent
        edited[name].parent = edited[above.name] if above else None
        edited[name].use_connect = bones[name].use_connect


def _restore_collections(armature: Any, before: Any) -> None:
    """Let there be the bone collections of before, with the same bones."""
    names = [collection.name for collection in armature.collections_all]
    for name in [name for name in names if name not in before.collections_all]:
        armature.collections.remove(armature.collections_all[name])
    for collection in before.collections_all:
        there = armature.collections_all.get(collection.name) or armature.collections.new(collection.name)
        above = armature.collections_all[collection.parent.name] if collection.parent else None
        if there.parent != above:
            there.parent = above
        if there.child_number != collection.child_number:
            there.child_number = collection.child_number
        copy_settings(there, collection, None, SHOWN)
        copy_properties(there, collection)
    for bone in before.bones:
        now = {collection.name for collection in armature.bones[bone.name].collections}
        was = {collection.name for collection in bone.collections}
        for name in now - was:
            armature.collections_all[name].unassign(armature.bones[bone.name])
        for name in was - now:
            armature.collections_all[name].assign(armature.bones[bone.name])


# constraints and drivers


def _are_constrained_otherwise(now: Any, before: Any, mapping: CopyToOriginal) -> bool:
    if [constraint.type for constraint in now.constraints] != [constraint.type for constraint in before.constraints]:
        return True
    pairs = [*zip(now.constraints, before.constraints, strict=True)]
    for one, other in [*pairs]:
        targets, others = getattr(one, "targets", ()), getattr(other, "targets", ())
        if one.is_valid != other.is_valid or len(targets) != len(others):
            return True
        pairs += zip(targets, others, strict=True)
    return any(settings_differ(*pair, mapping) for pair in pairs)


def _remove_constraints(owner: Datablock) -> None:
    while owner.constraints:
        owner.constraints.remove(owner.constraints[0])


def _restore_constraints(now: Any, before: Any, mapping: CopyToOriginal) -> None:
    """Make the constraints of an object or a bone as before: where others are there, of copies."""
    if not _are_constrained_otherwise(now, before, mapping):
        return
    _remove_constraints(now)
    for constraint in before.constraints:
        copied = now.constraints.copy(constraint)
        mapping.turn_back(copied)
        for target in getattr(copied, "targets", ()):
            mapping.turn_back(target)


def _remove_drivers(ob: Object, copy: Object, mapping: CopyToOriginal) -> int:
    """Take the drivers away from the first on that is not as before; how many are left."""
    both = zip(animation.drivers_of(ob), animation.drivers_of(copy), strict=False)
    kept = len([*takewhile(lambda pair: not _driver_differs(*pair, mapping), both)])
    for driver in animation.drivers_of(ob)[kept:]:
        ob.animation_data.drivers.remove(driver)  # type: ignore[union-attr]  # it has drivers
    return kept


def _driver_differs(now: Any, before: Any, mapping: CopyToOriginal) -> bool:
    """Whether anything about a driver is otherwise."""
    if (now.data_path, now.array_index) != (before.data_path, before.array_index) or settings_differ(
        now, before, mapping
    ):
        return True
    variables, others = now.driver.variables, before.driver.variables
    if settings_differ(now.driver, before.driver, mapping) or len(variables) != len(others):
        return True
    keys, other_keys = ([key.co[:] for key in owner.keyframe_points] for owner in (now, before))
    if keys != other_keys or [item.type for item in now.modifiers] != [item.type for item in before.modifiers]:
        return True
    return any(_variable_differs(*pair, mapping) for pair in zip(variables, others, strict=True))


def _variable_differs(now: Any, before: Any, mapping: CopyToOriginal) -> bool:
    if settings_differ(now, before, mapping) or len(now.targets) != len(before.targets):
        return True
    return any(settings_differ(*pair, mapping) for pair in zip(now.targets, before.targets, strict=True))


def _copy_driver(ob: Object, driver: Driver, mapping: CopyToOriginal) -> None:
    data: Any = ob.animation_data or ob.animation_data_create()
    copied = data.drivers.from_existing(src_driver=driver)
    for variable in copied.driver.variables:
        for target in variable.targets:
            if target.id == mapping.copy:
                target.id = ob


COMPUTED = {"matrix", "matrix_basis", "matrix_local", "rna_type", "active"}
"""What follows from something else; ``active`` of constraints is which one their panel shows."""


COMPARABLE = {bool, int, float, str}


class CopyToOriginal:
    """Maps datablocks of a copy to those of the original, for references."""

    def __init__(self, copy: Object, original: Object) -> None:
        self.copy, self.original = copy, original

    def __call__(self, value: Any) -> Any:
        """The original's counterpart of a value of the copy."""
        if value == self.copy:
            return self.original
        if isinstance(value, PoseBone) and value.id_data == self.copy:
            return self.original.pose.bones.get(value.name)  # type: ignore[union-attr]  # it has as many bones
        return value

    def turn_back(self, owner: Datablock) -> None:
        """Make a constraint refer to the original wherever it refers to the copy."""
        for name in _settings(owner.bl_rna):
            if getattr(owner, name) == self.copy:
                sub = {path: getattr(owner, path) for path in _settings(owner.bl_rna) if path.endswith("subtarget")}
                setattr(owner, name, self.original)
                for path, bone in sub.items():
                    setattr(owner, path, bone)


def copy_settings(
    now: Any, before: Any, mapping: CopyToOriginal | None = None, names: Sequence[str] | None = None
) -> None:
    """Set the settings of ``now`` that differ from ``before``: all that can be set, or those with these names."""
    for name, value in _different(now, before, mapping, names or _settings(now.bl_rna)):
        with suppress(AttributeError, TypeError):  # what can be set only where something else is on
            setattr(now, name, value)
    for name in () if names else ("color", "custom"):  # structures of their own
        if name in now.bl_rna.properties and now.bl_rna.properties[name].type == "POINTER":
            copy_settings(getattr(now, name), getattr(before, name))


def settings_differ(now: Any, before: Any, mapping: CopyToOriginal | None = None) -> bool:
    """Whether any setting of ``now`` differs from ``before``."""
    return any(_different(now, before, mapping, _settings(now.bl_rna)))


def _different(
    now: Any, before: Any, mapping: CopyToOriginal | None, names: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    """The settings that differ, each with its value before."""
    read = _reader(*names, "bl_rna")  # at least two, which come as a tuple
    for name, one, other in zip(names, read(now), read(before), strict=False):
        if one is other or (one.__class__ in COMPARABLE and one == other):
            continue
        value = _comparable(other, mapping)
        if _comparable(one) != value:
            yield name, value


def copy_properties(now: Any, before: Any) -> None:
    """Make the custom properties of ``now`` those of ``before``: values, order, and how Blender shows them."""
    if [*now.keys()] == [*before.keys()]:
        for name in [*before.keys()]:
            if _property(now[name]) != _property(before[name]):
                now[name] = _property(before[name])
        return
    for name in [*now.keys()]:
        del now[name]
    for name in [*before.keys()]:
        path = f'["{bpy.utils.escape_identifier(name)}"]'
        now[name] = _property(before[name])
        with suppress(TypeError):  # which have none: groups
            now.id_properties_ui(name).update_from(before.id_properties_ui(name))
        with suppress(TypeError):
            now.property_overridable_library_set(path, before.is_property_overridable_library(path))


def _settings(rna: Any) -> tuple[str, ...]:
    """The names of what can be set on things of a type."""
    if rna.identifier not in _names:
        _names[rna.identifier] = tuple(
            prop.identifier
            for prop in rna.properties
            if not prop.is_readonly and prop.type != "COLLECTION" and prop.identifier not in COMPUTED
        )
    return _names[rna.identifier]


_reader = cache(attrgetter)
"""Reads all of these settings at once, in much less time than one by one."""

_names: dict[str, tuple[str, ...]] = {}


def _comparable(value: Any, mapping: CopyToOriginal | None = None) -> Any:
    """A value that can be compared: arrays and matrices as tuples."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, ID | PoseBone):
        return mapping(value) if mapping else value
    if isinstance(value, Matrix):
        return tuple(tuple(row) for row in value.row)
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, set) else value


def _property(value: Any) -> Any:
    """The value of a custom property, as Python's own where it is a group or an array."""
    return value.to_dict() if hasattr(value, "to_dict") else value.to_list() if hasattr(value, "to_list") else value
