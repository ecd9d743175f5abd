"""All or nothing: whatever is raised while something is done, the file is as it was before.

    with all_or_nothing(context):
        ...

Nothing has to be said of what will be done in there: whoever changes an object, an action or the markers of a scene
announces that just before (see `announce`), and a copy is kept of it; data-blocks that are new are removed. One in
another is a savepoint: what it raises may be caught between the two, and only what was done in it is taken back.
Objects and meshes that are to be removed for good, which nobody could bring back, have to wait until all is done: see
`at_end`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import bpy
import numpy as np
from bpy.types import Action, Context, FCurve, Object, Scene

from . import animation, editing, stepping
from .backup import Backup
from .types import BACKUP, all_objects, is_armature, listeners, view_layer_of

BLOCK_KINDS = ("objects", "meshes", "armatures", "collections", "scenes", "actions")
"""The data-blocks that tasks make."""

_open: list[Transaction] = []


@contextmanager
def all_or_nothing(context: Context) -> Iterator[None]:
    """Within, changes are all or nothing: if anything is raised, the file is restored."""
    transaction = Transaction(context)
    _open.append(transaction)
    listeners.append(transaction.remember)
    try:
        yield
    except BaseException:
        _close(transaction)
        transaction.restore(context)
        raise
    _close(transaction)
    transaction.forget()
    for do in transaction.waiting:
        at_end(do)


def as_one(context: Context) -> Any:
    """Within, changes are part of the open transaction, if there is one; else all or nothing by themselves."""
    return nullcontext() if _open else all_or_nothing(context)


def _close(transaction: Transaction) -> None:
    _open.remove(transaction)
    listeners.remove(transaction.remember)


def at_end(do: Callable[[], None]) -> None:
    """Call a function once the open transaction succeeds, and never if it fails; without one, now. For what can't be
    undone."""
    if _open:
        _open[-1].waiting.append(do)
    else:
        do()


class Transaction:
    """What the file held as it began, and copies of all that was announced since."""

    def __init__(self, context: Context) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.view = editing.ViewState(context)
        self.actions: dict[Any, ActionBackup] = {}
        self.backups: dict[Object, Backup] = {}
        self.markers: dict[Scene, list[tuple[Any, ...]]] = {}
        self.before = {block.session_uid for block in _blocks()}

    def remember(self, block: Any) -> None:
        """Copy an object with all that share its armature, an action or a scene, unless it is new or was copied
        before."""
        if block.session_uid not in self.before or not block.is_editable:
            return
        if isinstance(block, Scene):
            self.markers.setdefault(block, _markers_of(block))
        elif not isinstance(block, Object):
            if block not in self.actions:
                self.actions[block] = ActionBackup(block)
        elif block not in self.backups:
            for ob in _sharing(block):
                if ob not in self.backups and ob.session_uid in self.before and ob.is_editable:
                    self._remember_object(ob)

    def _remember_object(self, ob: Object) -> None:
        backup = Backup(ob)
        try:
            backup.take()
        except BaseException:
            backup.forget()
            raise
        self.backups[ob] = backup

    def restore(self, context: Context) -> None:
        """Restore everything."""
        try:
            self.view.leave_modes(context)
            self.view.restore_frame()
            for action in [*self.actions.values()]:
                action.restore([*_open, self])
            self._restore_objects(context)
            for scene, markers in self.markers.items():
                _restore_markers(scene, markers)
        finally:
            self.forget()
            new = [block for block in _blocks() if block.session_uid not in self.before]
            if new := [block for block in new if not block.name.startswith(BACKUP)]:  # that is another transaction's
                bpy.data.batch_remove(new)
        self.view.restore(context)
        view_layer_of(context).update()

    def _restore_objects(self, context: Context) -> None:
        backups = self.backups.values()
        with editing.without_window_updates():
            for backup in backups:
                backup.loosen()  # first: Blender complains of what names bones that are gone
        for backup in backups:
            backup.restore_bones(context)
        with editing.without_window_updates():
            for backup in backups:
                backup.restore_structure()
        view_layer_of(context).update()  # which sets what is animated
        for backup in backups:
            backup.restore_values()

    def forget(self) -> None:
        """Remove all copies."""
        for backup in self.backups.values():
            backup.forget()
        for action in self.actions.values():
            action.forget()
        self.backups, self.actions = {}, {}

    def replace(self, old: Any, new: Any) -> None:
        """Refer to an action by the one that took its place."""
        if old in self.actions:
            self.actions[new] = self.actions.pop(old)
            self.actions[new].action = new
        for backup in self.backups.values():
            backup.users = [(new if action == old else action, slot) for action, slot in backup.users]
        if old.session_uid in self.before:
            self.before.add(new.session_uid)


class ActionBackup:
    """A copy of an action."""

    def __init__(self, action: Action) -> None:
        self.action = action
        self.name, self.has_fake_user = action.name, action.use_fake_user
        self.copy: Any = action.copy()
        self.copy.name, self.copy.use_fake_user = BACKUP, False

    def restore(self, transactions: Sequence[Transaction]) -> None:
        """Restore the action. If it was changed, the copy takes its place wherever it is used; transactions then refer
        to that one."""
        if self.copy and _content(self.action) != _content(self.copy):
            old, self.action, self.copy = self.action, self.copy, None
            old.user_remap(self.action)
            for transaction in transactions:
                transaction.replace(old, self.action)
            bpy.data.actions.remove(old)
        self.action.name, self.action.use_fake_user = self.name, self.has_fake_user

    def forget(self) -> None:
        """Remove the copy."""
        if self.copy:
            bpy.data.actions.remove(self.copy, do_unlink=False)
            self.copy = None


KEY_NUMBERS = ("co", "handle_left", "handle_right")
KEY_CHOICES = ("interpolation", "type", "handle_left_type", "handle_right_type")
"""What of keys tasks change."""


def _content(action: Action) -> Any:
    """All that an action says, to be compared."""
    slots = [(slot.handle, slot.identifier) for slot in getattr(action, "slots", ())]
    return slots, [[_curve(curve) for curve in curves] for curves in animation.all_curve_lists(action)]


def _curve(curve: FCurve) -> Any:
    keys, group = curve.keyframe_points, curve.group
    numbers: Any = np.zeros((len(KEY_NUMBERS), 2 * len(keys)), np.float32)
    choices: Any = np.zeros((len(KEY_CHOICES), len(keys)), np.uint8)
    for name, row in (*zip(KEY_NUMBERS, numbers, strict=True), *zip(KEY_CHOICES, choices, strict=True)):
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


def _sharing(ob: Object) -> list[Object]:
    """An object with all that share its armature, whose bones these are too."""
    if not is_armature(ob) or ob.data.users < 2:
        return [ob]
    return [ob, *(other for other in all_objects() if other.data == ob.data and other != ob)]


def _markers_of(scene: Scene) -> list[tuple[Any, ...]]:
    return [(marker.name, marker.frame, marker.select, marker.camera) for marker in scene.timeline_markers]


def _restore_markers(scene: Scene, markers: list[tuple[Any, ...]]) -> None:
    if _markers_of(scene) != markers:
        scene.timeline_markers.clear()
        for name, frame, is_selected, camera in markers:
            marker = scene.timeline_markers.new(name, frame=frame)
            marker.select, marker.camera = is_selected, camera


def _blocks() -> Iterator[Any]:
    for kind in BLOCK_KINDS:
        yield from getattr(bpy.data, kind)


Rest = ParamSpec("Rest")
Result = TypeVar("Result")


def transactional(task: Callable[Concatenate[Context, Rest], Result]) -> Callable[Concatenate[Context, Rest], Result]:
    """Run a task as one transaction: if anything is raised, the file is restored."""

    @wraps(task)
    def run(context: Context, *args: Rest.args, **options: Rest.kwargs) -> Result:
        with as_one(context):
            return task(context, *args, **options)

    return run  # type: ignore[return-value]  # the stubs of `wraps` forget that these may be named


def transactional_steps(
    task: Callable[Concatenate[Context, Rest], stepping.Steps[Result]],
) -> Callable[Concatenate[Context, Rest], stepping.Steps[Result]]:
    """Run a task in steps as one transaction: if it raises or is closed before its end, the file is restored."""

    @wraps(task)
    def run(context: Context, *args: Rest.args, **options: Rest.kwargs) -> stepping.Steps[Result]:
        with as_one(context):
            return (yield from task(context, *args, **options))

    return run  # type: ignore[return-value]  # as above
