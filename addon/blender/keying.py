"""What was changed, with its values before; and keys on it, set as the user's own settings say."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from bpy.types import Context, FCurve, Object

from . import animation, fcurves
from .types import Datablock, Refused, path_to_bone, scene_of

CHANGED = 1e-5
"""How much a locked number has to change, next to what it is, for that to need a key."""

ONLY_THERE = {"INSERTKEY_REPLACE", "INSERTKEY_AVAILABLE"}
"""Options with which Blender warns where no curve is there yet."""

_LOCKS = {
    "location": "lock_location",
    "scale": "lock_scale",
    "rotation_euler": "lock_rotation",
    "rotation_quaternion": "lock_rotation",
    "rotation_axis_angle": "lock_rotation",
}


def is_autokey_on(context: Context) -> bool:
    """Whether Auto Keying is on."""
    return bool(scene_of(context).tool_settings.use_keyframe_insert_auto)


def keying_set_paths(context: Context) -> dict[tuple[Any, str], Any] | None:
    """What autokey keeps to: the paths of the active keying set, by datablock and data path. None if to nothing."""
    scene = scene_of(context)
    active = scene.keying_sets_all.active if scene.tool_settings.use_keyframe_insert_keyingset else None
    if active is None:
        return None
    with suppress(RuntimeError):  # what is selected is nothing for this set
        active.refresh()
        return {(path.id, path.data_path): path for path in active.paths}
    return {}


def key(
    context: Context,
    owner: Datablock,
    path: str,
    group: str = "",
    indexes: Iterable[int] = (-1,),
    frame: float | None = None,
) -> None:
    """Set keys on some numbers of a property, or on all, by default in the scene's frame."""
    scene = scene_of(context)
    options = {"INSERTKEY_CYCLE_AWARE"} if scene.tool_settings.use_keyframe_cycle_aware else set()
    at = scene.frame_current if frame is None else frame
    animation.make_editable(owner.id_data)
    for index in indexes if isinstance(animation.value_at(owner, path), tuple) else [-1]:
        owner.keyframe_insert(path, index=index, frame=at, group=group, options=options, keytype=_kind(context))


def key_automatically(context: Context, owner: Datablock, paths: Iterable[str], group: str = "") -> None:
    """Key what an operator changed as Auto Keying would key it, if that is on; without visual keys."""
    if not is_autokey_on(context):
        return
    settings = scene_of(context).tool_settings
    preferences: Any = context.preferences.edit  # type: ignore[union-attr]  # there always are some
    listed = keying_set_paths(context)
    active: Any = scene_of(context).keying_sets_all.active
    is_needed = preferences.use_auto_keyframe_insert_needed if listed is None else active.use_insertkey_needed
    flags = {
        "INSERTKEY_CYCLE_AWARE": settings.use_keyframe_cycle_aware,
        "INSERTKEY_REPLACE": listed is None and settings.auto_keying_mode == "REPLACE_KEYS",
        "INSERTKEY_AVAILABLE": listed is None and preferences.use_keyframe_insert_available,
        "INSERTKEY_NEEDED": is_needed,
    }
    options = {option for option, is_wanted in flags.items() if is_wanted}
    animation.make_editable(owner.id_data)
    for path in paths:
        place = listed.get((owner, path)) if listed else None
        is_new = options & ONLY_THERE and not animation.is_animated(owner, path, strips=False)
        if is_new or (listed is not None and place is None):
            continue
        for index in _numbers(owner, path, place):
            owner.keyframe_insert(
                path, index=index, group=_group(context, place, group), options=options, keytype=_kind(context)
            )


def key_from(
    context: Context,
    owner: Datablock,
    path: str,
    before: Any,
    group: str = "",
    until: float | None = None,
    holds: bool = False,
) -> None:
    """Key a changed property from this frame on; earlier frames stay as it was ``before``.

    A key holds the old state, one frame before. From this frame on the property goes on to its next key as it did, or
    ``holds`` what it is now; one without a next key goes back to the old state ``until`` a frame. What is locked is
    left alone unless it was changed.
    """
    animation.make_editable(owner.id_data)
    frame, now, kind = scene_of(context).frame_current, animation.value_at(owner, path), _kind(context)
    indices = keyable_indices(owner, path, before)
    curves = {curve.array_index: curve for curve in _keyed(owner, path)}
    for i in [i for i in indices if i in curves]:
        if until is not None and next_key(curves[i], frame) is None:
            fcurves.insert_key_keeping_shape(curves[i], until, kind)
        later = [] if holds else fcurves.insert_key_keeping_shape(curves[i], frame, kind)
        held = curves[i].evaluate(frame - 1)
        fcurves.insert_hold_key(curves[i], frame - 1, kind)
        fcurves.allow_for_modifiers(curves[i], frame - 1, held)
        was = curves[i].evaluate(frame)
        key(context, owner, path, group, [i])
        fcurves.allow_for_modifiers(curves[i], frame, now[i] if isinstance(now, tuple) else now)
        fcurves.fade(curves[i], frame, later, curves[i].evaluate(frame) - was)
    missing = [i for i in indices if i not in curves]
    if missing:
        key(context, owner, path, group, missing)
        animation.set_at(owner, path, before)
        for at in (frame - 1, *([] if until is None else [until])):
            key(context, owner, path, group, missing, at)
        animation.set_at(owner, path, now)
    for curve in _keyed(owner, path):
        constant = [*([frame - 1] if curve.array_index in missing else []), *([frame] if holds else [])]
        near = [p for p in curve.keyframe_points if any(abs(p.co.x - frame) <= fcurves.ONE_KEY for frame in constant)]
        for point in near:
            point.interpolation = "CONSTANT"


def _keyed(owner: Datablock, path: str) -> list[Any]:
    return [curve for curve in animation.curves_of(owner) if curve.data_path == path and len(curve.keyframe_points)]


def next_key(curve: FCurve, frame: float) -> float | None:
    """The frame of a curve's next key after a frame, or None."""
    return min(
        (float(point.co.x) for point in curve.keyframe_points if point.co.x > frame + fcurves.ONE_KEY), default=None
    )


def keyable_indices(owner: Datablock, path: str, before: Any) -> list[int]:
    """The indices of a changed property that may get keys: all but those that are locked and unchanged."""
    now, locks = animation.value_at(owner, path), locks_of(owner, path)
    numbers = [*zip(now, before, strict=True)] if isinstance(now, tuple) else [(now, before)]
    kept = {i for i, locked in enumerate(locks) if locked and _is_same(*numbers[i])}
    return [i for i in range(len(numbers)) if i not in kept]


def _is_same(now: float, before: float) -> bool:
    return abs(now - before) <= CHANGED * (1.0 + abs(before))


def locks_of(owner: Datablock, path: str) -> list[bool]:
    """Which numbers of a property are locked, so that they are not changed by hand; none for one without locks."""
    place, _, name = path.rpartition(".")
    if name not in _LOCKS:
        return []
    holder = owner.path_resolve(place) if place else owner
    locks = [*getattr(holder, _LOCKS[name])]
    if name in {"rotation_quaternion", "rotation_axis_angle"}:
        return [holder.lock_rotation_w, *locks] if holder.lock_rotations_4d else [all(locks)] * 4
    return locks


def _numbers(owner: Datablock, path: str, place: Any) -> list[int]:
    """The numbers of a property that are not locked, and if a keying set has one of them only, that; -1 is all."""
    locks = locks_of(owner, path)
    indices = [*range(len(locks))] or [-1]
    if place is not None and not place.use_entire_array:
        indices = [place.array_index]
    return [i for i in indices if not (locks and locks[i])]


def _group(context: Context, place: Any, group: str) -> str:
    """The group of a key: a keying set has its own."""
    if place is None:
        return group
    active: Any = scene_of(context).keying_sets_all.active
    names: dict[str, str] = {"NAMED": place.group, "KEYINGSET": active.bl_label}
    return names.get(place.group_method, "")


def _kind(context: Context) -> str:
    """The type of new keys."""
    settings: Any = scene_of(context).tool_settings
    kind: str = settings.keyframe_type
    return kind


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
        return cls(ob, full, animation.value_at(ob, full), bone)

    @property
    def is_done(self) -> bool:
        """Whether it has another value now."""
        return bool(animation.value_at(self.object, self.path) != self.before)


def full_path(bone: str, path: str) -> str:
    """The data path from an object to a property of a bone, by its path from there; of the object itself without."""
    return path if not bone else f"{path_to_bone(bone)}{'' if path.startswith('[') else '.'}{path}"


def key_changes(context: Context, changes: Iterable[Change]) -> None:
    """Key changed properties that have keys already, so that the next frame keeps them, or as Auto Keying wants.
    What strips alone move is left as posed by hand: one key would replace them in all frames."""
    for change in changes:
        if animation.is_animated(change.object, change.path, strips=False):
            which = keyable_indices(change.object, change.path, change.before)
            key(context, change.object, change.path, change.group, which)
        elif change.is_done and is_autokey_on(context):
            key_automatically(context, change.object, [change.path], change.group)


def key_changes_from(
    context: Context, changes: Iterable[Change], insert_keys: bool = False, holds: bool = False
) -> None:
    """Key what was changed together from this frame on; all earlier frames stay as they were. It gets keys where it has
    some already, where autokey wants them, or everything. Raises `Refused` for keys over strips.

    By the next key that any of it has, it is all as it was: else the frames from there on would be changed for good by
    what has none. If it ``holds``, all is as it is now until its own next key.
    """
    listed, is_auto, frame = keying_set_paths(context), is_autokey_on(context), scene_of(context).frame_current
    keyed, nexts = [], []
    for change in changes:
        owner, path = change.object, change.path
        is_wanted = insert_keys or (is_auto and (listed is None or (owner, path) in listed))
        if is_wanted and change.is_done and animation.is_by_strips(owner, path):
            template = "NLA strips move '{name}', and a key would replace them: switch over a range"
            raise Refused(template, name=change.group or owner.name)
        if animation.is_animated(owner, path, strips=False) or (is_wanted and change.is_done):
            keyed.append(change)
            nexts += [next_key(curve, frame) for curve in animation.curves_of(owner) if curve.data_path == path]
    until = min((time for time in nexts if time is not None), default=None)
    for change in keyed:
        key_from(context, *change, until=None if holds else until, holds=holds)
