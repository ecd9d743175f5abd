"""What an operator changes, so that it can be keyed in this frame as the user's settings say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from bpy.types import Context, Object

from .animation import is_animated, value_at
from .keying import autokey, key, key_automatically, key_from
from .types import path_to_bone


class Change(NamedTuple):
    """A property that was changed, by the data path from its object; ``before`` is what it was."""

    object: Any
    path: str
    before: Any
    group: str

    @classmethod
    def of(cls, ob: Object, bone: str, path: str) -> Change:
        """One of a bone's properties, or of an object's if no bone is named, that is going to be changed."""
        full = full_path(bone, path)
        return cls(ob, full, value_at(ob, full), bone)

    @property
    def is_done(self) -> bool:
        """Whether it has another value now."""
        return bool(value_at(self.object, self.path) != self.before)


def full_path(bone: str, path: str) -> str:
    """The data path from an object to a property of a bone, by its path from there; of the object itself without."""
    return path if not bone else f"{path_to_bone(bone)}{'' if path.startswith('[') else '.'}{path}"


def key_changes(context: Context, changes: Iterable[Change]) -> None:
    """Key what was changed where it has keys already, lest the next frame takes it back, or as autokey wants."""
    for change in changes:
        if is_animated(change.object, change.path):
            key(context, change.object, change.path, change.group)
        elif change.is_done and autokey(context):
            key_automatically(context, change.object, [change.path], change.group)


def key_changes_from(context: Context, changes: Iterable[Change]) -> None:
    """Key what was changed, and keep what it was in all earlier frames."""
    for change in changes:
        if change.is_done or is_animated(change.object, change.path):
            key_from(context, change.object, change.path, change.before, change.group)
