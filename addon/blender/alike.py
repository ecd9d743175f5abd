"""Making one thing of Blender's as another of its kind is: its settings, as RNA lists them, and its custom properties.

What the two belong to may differ: where one refers to its own object, the other refers to its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from operator import attrgetter
from typing import Any

import bpy
from bpy.types import ID, Object, PoseBone
from mathutils import Matrix

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

    def turn_back(self, owner: Any) -> None:
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
    for name in () if names else _nested(now.bl_rna):
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
    """Make custom properties the same: values, order, and how Blender shows them."""
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


def _nested(rna: Any) -> list[str]:
    """Settings that are structures of their own."""
    return [name for name in ("color", "custom") if name in rna.properties and rna.properties[name].type == "POINTER"]


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
