"""What an edit can concern: told from what Blender evaluated anew, and from what a rig was when last looked at."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Action, Armature, Depsgraph, Object, PoseBone
from numpy.typing import NDArray

from ..rig.data.access import ArmatureObject, bones_of, children_of, has_chain, is_armature, key_of, runs_on_rig
from ..rig.settings import PREFIX, SHAPING, SWITCH
from ..rig.targets import pointed_to
from .channels import Channels, differing
from .following import Pointers

AIMS = attrgetter("target", "pole_target", "subtarget", "pole_subtarget")
"""The settings, besides those that animate, that say what a chain follows."""

VALUES = attrgetter(*(PREFIX + name for name in SHAPING))
"""The settings that animate, of a bone."""

PLANE = SHAPING.index("plane")
"""Where among these the plane is, which decides whether a chain follows a pole."""

REST = (
    *(("matrix_local", np.float32, 16), ("length", np.float32, 1), ("inherit_scale", np.int32, 1)),
    *((name, np.bool_, 1) for name in ("use_inherit_rotation", "use_connect", "use_local_location")),
)
"""What of an armature's bones makes a limb's shape: the property, its type and how many numbers it has."""

ENABLED, MODE = (PREFIX + SWITCH, np.bool_, 1), ("rotation_mode", np.int32, 1)
"""What of a pose's bones is set, likewise."""

MUTE = ("mute", np.bool_, 1)
"""What of drivers is set, likewise."""

CROWDED = 8
"""Reading the names of all bones costs less than asking each limb's if there is a limb for so many of them."""


class Edit(NamedTuple):
    """What Blender evaluated anew because of an edit."""

    objects: dict[int, Any]
    """By their session_uid."""
    armatures: set[Any]
    actions: set[Any]
    has_rigs: bool
    """Whether some of these are armatures that were themselves edited, or their bones or settings."""


def edit_of(depsgraph: Depsgraph) -> Edit:
    """What was edited since Blender last evaluated, and what depends on it."""
    updates: Any = depsgraph.updates  # which the stubs let be of nothing
    ids = [update.id.original for update in updates]
    return Edit(
        {each.session_uid: each for each in ids if isinstance(each, Object)},
        {each for each in ids if isinstance(each, Armature)},
        {each for each in ids if isinstance(each, Action)},
        depsgraph.id_type_updated("ARMATURE"),
    )


def edit_of_all() -> Edit:
    """An edit of which nobody knows what it was."""
    objects = {ob.session_uid: ob for ob in bpy.data.objects}
    return Edit(objects, {*bpy.data.armatures}, {*bpy.data.actions}, has_rigs=True)


def with_settings(ob: Object) -> list[PoseBone]:
    """The bones of an armature that have settings of a chain: to ask another for them would give it some."""
    return [bone for bone in bones_of(ob) if any(map(bone.is_property_set, ("planar_ik", PREFIX + SWITCH)))]


def has_unknown_chains(edit: Edit, known: Container[int], pointers: Pointers) -> bool:
    """Whether an armature that had no live chain has one now, as after Blender's Paste Pose, or a chain on the rig
    lost what it follows by that, or follows a bone that has another name now."""
    others = [ob for uid, ob in edit.objects.items() if uid not in known] if edit.has_rigs else []
    chains = [bone for ob in others if is_armature(ob) for bone in _switched_on(bones_of(ob))]
    return any(not runs_on_rig(bone) or _has_lost_goal(bone, pointers) for bone in chains)


def _has_lost_goal(lower: PoseBone, pointers: Pointers) -> bool:
    settings = lower.planar_ik  # type: ignore[attr-defined]  # addon.rig.properties adds it
    goals = pointed_to(settings)
    is_renamed = any(name and ob and is_armature(ob) and name not in ob.pose.bones for ob, name in goals)
    return is_renamed or bool(pointers.lost(key_of(lower), settings))


def _switched_on(bones: Any) -> list[PoseBone]:
    """The bones whose chains are enabled."""
    (states,) = _read(bones, [ENABLED])
    return [bones[i] for i in states.nonzero()[0].tolist()]


class Seen:
    """What a rig and the settings of its chains were when last looked at.

    Which bones hang on which is not in it: of that, Blender finds out anew what depends on what. Their names are.
    """

    def __init__(self, ob: ArmatureObject) -> None:
        self._object = ob
        self._lowers = [bone.name for bone in with_settings(ob) if has_chain(bone)]
        self._is_crowded = len(self._lowers) * CROWDED > len(ob.pose.bones)
        self._names = self._read_names()
        self.bones = {name: place for place, name in enumerate(ob.pose.bones.keys())}
        self._places: list[Any] = [*map(self.bones.get, self._lowers)] if self._is_crowded else self._lowers
        self._aims, self._values = self._read_settings()
        self._rest = self._read_rest()
        self._enabled, self._modes = _read(ob.pose.bones, (ENABLED, MODE))
        self._muted = self._read_muted()

    def swap(self, to: Any) -> None:
        """Put something else in the place of every object, or of what stands for it."""
        self._object = to(self._object)
        self._aims = [(*(ob and to(ob) for ob in aims[:2]), *aims[2:]) for aims in self._aims]

    def edited(self, edit: Edit) -> set[str] | None:
        """The bones whose chains must be looked at anew; None if the rig has other chains now, or they follow something
        else."""
        if self._read_names() != self._names:
            return None
        bones = self._object.pose.bones
        (enabled, modes), (aims, values) = _read(bones, (ENABLED, MODE)), self._read_settings()
        if enabled.tobytes() != self._enabled.tobytes() or aims != self._aims:
            return None
        changed: set[str] = set()
        if values != self._values:
            pairs = [pair for pair in zip(self._lowers, values, self._values, strict=True) if pair[1] != pair[2]]
            if any(now[PLANE] != then[PLANE] for _, now, then in pairs):
                return None
            changed.update(name for name, _, _ in pairs)
        if self._object.data in edit.armatures:
            rest = self._read_rest()
            changed.update(() if rest == self._rest else self._lowers)
            self._rest = rest
        if modes.tobytes() != self._modes.tobytes():
            turned = [bones[i] for i in np.flatnonzero(modes != self._modes).tolist()]
            changed.update(each.name for bone in turned for each in (bone, *children_of(bone)))
        self._modes, self._values = modes, values
        return changed

    def has_muted_others(self) -> bool:
        """Whether other drivers of the rig are muted, which changes what else moves its limbs."""
        return self._read_muted() != self._muted

    def _read_names(self) -> list[Any]:
        """What the bones are called: all of them at once, if that is sooner done than to ask the limbs' own."""
        bones = self._object.pose.bones
        if self._is_crowded:
            return bones.keys()
        return [_names_above(bones[name]) if name in bones else None for name in self._lowers]

    def _read_settings(self) -> tuple[list[Any], list[Any]]:
        """What each chain follows, and how it is posed: bone by bone, as most bones of a rig have no chain."""
        bones = self._object.pose.bones
        found: Any = bones.values() if self._is_crowded else bones
        lowers = [found[place] for place in self._places]
        return [AIMS(lower.planar_ik) for lower in lowers], [*map(VALUES, lowers)]

    def _read_muted(self) -> bytes:
        data = self._object.animation_data
        return _read(data.drivers, [MUTE])[0].tobytes() if data else b""

    def _read_rest(self) -> list[bytes]:
        is_at_rest = self._object.data.pose_position == "REST"
        return [bytes([is_at_rest]), *(each.tobytes() for each in _read(self._object.data.bones, REST))]


def _names_above(lower: PoseBone) -> tuple[str, str]:
    """What the upper bone is called, and what that hangs on: a renamed bone hangs on the same as before."""
    upper = lower.parent
    root = upper.parent if upper else None
    return (upper.name if upper else "", root.name if root else "")


def _read(bones: Any, properties: Iterable[tuple[str, Any, int]]) -> list[NDArray[Any]]:
    """Properties of all bones or drivers, into arrays of Blender's own types: into others it would write one by one."""
    count = len(bones)
    found = []
    for name, kind, size in properties:
        found.append(np.zeros(size * count, kind))
        bones.foreach_get(name, found[-1])
    return found


class Standing:
    """What stood in the channels of a rig's limbs after they were posed, to tell what somebody else puts there."""

    def __init__(self, bones: Sequence[int], names: Iterable[str], channels: Channels) -> None:
        self._bones = {*bones}
        self._all = {name: channels.bytes_of(name) for name in names}

    def changed(self, channels: Channels) -> set[int]:
        """The bones that were turned, moved or scaled since."""
        found: set[int] = set()
        for name, given in self._all.items():
            numbers = channels.bytes_of(name)
            if numbers != given:
                found.update(differing(name, numbers, given))
        return found & self._bones
