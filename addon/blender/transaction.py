"""All or nothing: whatever is raised while something is done, the file is as it was before.

    with all_or_nothing(context, [rig, target]):
        ...

Nothing has to be said of what is done in there. Copies are kept of the objects that may be changed and of the actions
that animate them; data-blocks that are new are removed. One in another is a savepoint: what it raises may be caught
between the two, and only what was done in it is taken back. Objects and meshes that are to be removed for good, which
nobody could bring back, have to wait until all is done: see `at_end`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from bpy.types import Context, Object

from .animation import all_curve_lists
from .backup import Backup
from .editing import View, frame_held
from .types import BACKUP, all_objects, is_armature, view_layer_of

KINDS = ("objects", "meshes", "armatures", "collections", "scenes", "actions")
"""The data-blocks that tasks make."""

_open: list[Transaction] = []


@contextmanager
def all_or_nothing(context: Context, objects: Iterable[Object]) -> Iterator[None]:
    """Do something with objects, or leave them and the file as they were if anything is raised."""
    transaction = Transaction(context, objects)
    _open.append(transaction)
    try:
        yield
    except BaseException:
        _open.remove(transaction)
        transaction.restore(context)
        raise
    _open.remove(transaction)
    transaction.forget()
    for do in transaction.waiting:
        at_end(do)


def at_end(do: Callable[[], None]) -> None:
    """Do what can't be taken back once all is done that is done as one, and never if that fails; else at once."""
    if _open:
        _open[-1].waiting.append(do)
    else:
        do()


class Transaction:
    """What there was as it began."""

    def __init__(self, context: Context, objects: Iterable[Object]) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.view = View(context)
        self.actions: dict[Any, Action] = {}
        self.backups: list[Backup] = []
        try:
            for ob in _with_sharers(objects):
                self.backups.append(Backup(ob))
                self.backups[-1].take()
            for action in dict.fromkeys(action for backup in self.backups for action, _ in backup.users):
                if action and action.is_editable:
                    self.actions[action] = Action(action)
        except BaseException:
            self.forget()
            raise
        self.before = {block.session_uid for block in _blocks()}

    def restore(self, context: Context) -> None:
        """Make all as it was."""
        try:
            self.view.leave_modes(context)
            self.view.restore_frame()
            actions = [self._actions_of(backup) for backup in self.backups]
            for backup in self.backups:
                backup.restore_bones(context)
            with frame_held():
                for backup, own_actions in zip(self.backups, actions, strict=True):
                    backup.restore_structure(own_actions)
            view_layer_of(context).update()  # which sets what is animated
            for backup in self.backups:
                backup.restore_values()
        finally:
            self.forget()
            _remove([block for block in _blocks() if block.session_uid not in self.before])
        self.view.restore(context)
        view_layer_of(context).update()

    def forget(self) -> None:
        """Remove all copies."""
        for backup in self.backups:
            backup.forget()
        for action in self.actions.values():
            action.forget()
        self.backups, self.actions = [], {}

    def _actions_of(self, backup: Backup) -> list[Any]:
        """The actions of an object as they were."""
        actions = []
        for action, _ in backup.users:
            kept = self.actions.get(action)
            actions.append(kept.restore() if kept else action)
        return actions

    def replace(self, old: Any, new: Any) -> None:
        """Know an action by another one, which has its place now."""
        if old in self.actions:
            self.actions[new] = self.actions.pop(old)
            self.actions[new].action = new
        for backup in self.backups:
            backup.users = [(new if action == old else action, slot) for action, slot in backup.users]
        if old.session_uid in self.before:
            self.before.add(new.session_uid)


class Action:
    """What an action was."""

    def __init__(self, action: Any) -> None:
        self.action = action
        self.name, self.has_fake_user = action.name, action.use_fake_user
        self.copy: Any = action.copy()
        self.copy.name, self.copy.use_fake_user = BACKUP, False

    def restore(self) -> Any:
        """The action as it was. One that was changed gives its place, for all that use it, to the copy."""
        if self.copy and _content(self.action) != _content(self.copy):
            old, self.action, self.copy = self.action, self.copy, None
            old.user_remap(self.action)
            for transaction in _open:
                transaction.replace(old, self.action)
            bpy.data.actions.remove(old)
        self.action.name, self.action.use_fake_user = self.name, self.has_fake_user
        return self.action

    def forget(self) -> None:
        """Remove the copy."""
        if self.copy:
            bpy.data.actions.remove(self.copy, do_unlink=False)
            self.copy = None


NUMBERS = ("co", "handle_left", "handle_right")
CHOICES = ("interpolation", "type", "handle_left_type", "handle_right_type")
"""What of keys tasks change."""


def _content(action: Any) -> Any:
    """All that an action says, to be compared."""
    slots = [(slot.handle, slot.identifier) for slot in getattr(action, "slots", ())]
    return slots, [[_curve(curve) for curve in curves] for curves in all_curve_lists(action)]


def _curve(curve: Any) -> Any:
    keys, group = curve.keyframe_points, curve.group
    numbers: Any = np.zeros((len(NUMBERS), 2 * len(keys)), np.float32)
    choices: Any = np.zeros((len(CHOICES), len(keys)), np.uint8)
    for name, row in (*zip(NUMBERS, numbers, strict=True), *zip(CHOICES, choices, strict=True)):
        keys.foreach_get(name, row)
    settings = (curve.data_path, curve.array_index, curve.mute, curve.extrapolation, curve.auto_smoothing, curve.lock)
    modifiers = [(item.type, item.mute) for item in curve.modifiers]
    return (
        settings,
        group and (group.name, group.mute),
        numbers.tobytes(),
        choices.tobytes(),
        modifiers,
        len(curve.sampled_points),
    )


def _with_sharers(objects: Iterable[Object]) -> list[Object]:
    """Those of objects that can be changed at all, with all that share their armatures, whose bones these are too."""
    editable = dict.fromkeys(ob for ob in objects if ob.is_editable)
    armatures = {ob.data for ob in editable if is_armature(ob) and ob.data.users > 1}
    return [
        *editable,
        *(ob for ob in (all_objects() if armatures else ()) if ob.data in armatures and ob not in editable),
    ]


def _blocks() -> Iterator[Any]:
    for kind in KINDS:
        yield from getattr(bpy.data, kind)


def _remove(new: Sequence[Any]) -> None:
    """Remove data-blocks, whoever uses them."""
    if new:
        bpy.data.batch_remove(new)
