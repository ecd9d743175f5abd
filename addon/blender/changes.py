"""What an operator changes, so that it can be keyed in this frame as the user's settings say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from bpy.types import Context, Object

from .animation import curves_of, is_animated, is_by_strips, value_at
from .keying import is_autokey_on, key, key_automatically, key_from, keyable_indices, keying_set_paths, next_key
from .types import path_to_bone, scene_of
from .words import Refused


class Change(NamedTuple):
    """A property that an operator changed, by the data path from its object; ``before`` is its value before."""

    object: Any
    path: str
    before: Any
    group: str

    @classmethod
    def of_property(cls, ob: Object, bone: str, path: str) -> Change:
        """The record of a property of a bone, or of an object if no bone is named, before it is changed."""
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
    """Key changed properties where they have keys already, so that the next frame keeps them, or as Auto Keying
    wants. What strips alone move is left as posed by hand: one key would replace them in all frames."""
    for change in changes:
        if is_animated(change.object, change.path, strips=False):
            which = keyable_indices(change.object, change.path, change.before)
            key(context, change.object, change.path, change.group, which)
        elif change.is_done and is_autokey_on(context):
            key_automatically(context, change.object, [change.path], change.group)


def key_changes_from(
    context: Context, changes: Iterable[Change], insert_keys: bool = False, holds: bool = False
) -> None:
    """Key what was changed together, and keep what it was in all earlier frames: where it has keys already, where
    autokey wants them, or everything. Raises `Refused` for keys over strips.

    By the next key that any of it has, it is all as it was: else the frames from there on would be changed for good by
    what has none. If it ``holds``, all is as it is now until its own next key.
    """
    listed, is_auto, frame = keying_set_paths(context), is_autokey_on(context), scene_of(context).frame_current
    keyed, nexts = [], []
    for change in changes:
        owner, path = change.object, change.path
        is_wanted = insert_keys or (is_auto and (listed is None or (owner, path) in listed))
        if is_wanted and change.is_done and is_by_strips(owner, path):
            template = "NLA strips move '{name}', and a key would replace them: switch over a range"
            raise Refused(template, name=change.group or owner.name)
        if is_animated(owner, path, strips=False) or (is_wanted and change.is_done):
            keyed.append(change)
            nexts += [next_key(curve, frame) for curve in curves_of(owner) if curve.data_path == path]
    until = min((time for time in nexts if time is not None), default=None)
    for change in keyed:
        key_from(context, *change, until=None if holds else until, holds=holds)
