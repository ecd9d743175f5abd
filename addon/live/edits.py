"""What an edit can concern: told from what Blender evaluated anew, and from what a rig was when last looked at."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import bpy
from bpy.types import Action, Armature, Depsgraph, Object, PoseBone

from ..rig.access import ArmatureObject, bones_of, children_of, has_chain, is_armature, runs_on_rig
from ..rig.settings import NAMES, PREFIX, SWITCH
from .channels import Channels, differing

AIMS = attrgetter("target", "pole_target", "subtarget", "pole_subtarget")
"""The settings, besides those that animate, that say what a chain follows."""

SHAPING = attrgetter(*(PREFIX + name for name in NAMES))
"""The settings that animate, of a bone."""

REST = (
    *(("matrix_local", "f", 16), ("length", "f", 1), ("inherit_scale", "i", 1), ("use_inherit_rotation", "b", 1)),
    *(("use_connect", "b", 1), ("use_local_location", "b", 1)),
)
"""What of an armature's bones makes a limb's shape: the property, its type and how many numbers it has."""

ENABLED, MODE = (PREFIX + SWITCH, "b", 1), ("rotation_mode", "i", 1)
"""What of a pose's bones is set, likewise."""


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


def has_unknown_chains(edit: Edit, known: Container[int]) -> bool:
    """Whether an armature that had no live chain has one now, as after Blender's Paste Pose, or a chain on the rig
    follows a bone that has another name now."""
    others = [ob for uid, ob in edit.objects.items() if uid not in known] if edit.has_rigs else []
    chains = [bone for ob in others if is_armature(ob) for bone in _switched_on(bones_of(ob))]
    return any(not runs_on_rig(bone) or _has_lost_bone(bone) for bone in chains)


def _has_lost_bone(lower: PoseBone) -> bool:
    chain = lower.planar_ik  # type: ignore[attr-defined]  # addon.rig.properties adds it
    goals = ((chain.target, chain.subtarget), (chain.pole_target, chain.pole_subtarget))
    return any(name and ob and is_armature(ob) and name not in ob.pose.bones for ob, name in goals)


def _switched_on(bones: Any) -> list[PoseBone]:
    """The bones whose chains are enabled."""
    (states,) = _read(bones, [ENABLED])
    return [bones[i] for i, state in enumerate(states) if state] if any(states) else []


class Seen:
    """What a rig and the settings of its chains were when last looked at."""

    def __init__(self, ob: ArmatureObject) -> None:
        self._object = ob
        self._lowers = [bone.name for bone in with_settings(ob) if has_chain(bone)]
        self._parents = self._read_parents()
        self._settings = self._read_settings()
        self._rest = self._read_rest()
        self._bones = _read(ob.pose.bones, (ENABLED, MODE))

    def swap(self, to: Any) -> None:
        """Put something else in the place of the object, or of what stands for it."""
        self._object = to(self._object)

    def edited(self, edit: Edit) -> set[str] | None:
        """The bones whose chains must be looked at anew; None if the rig has other chains now, or they follow something
        else."""
        bones = self._object.pose.bones
        (enabled, modes), (aims, shaping) = _read(bones, (ENABLED, MODE)), self._read_settings()
        if not _are_same([enabled], self._bones[:1]) or aims != self._settings[0]:
            return None
        changed: set[str] = set()
        if self._object.data in edit.armatures:
            rest = self._read_rest()
            if self._read_parents() != self._parents:
                return None
            changed.update(() if _are_same(rest, self._rest) else self._lowers)
            self._rest = rest
        changed.update(
            name for name, now, then in zip(self._lowers, shaping, self._settings[1], strict=True) if now != then
        )
        turned = [bones[i] for i in _differences(modes, self._bones[1])]
        changed.update(each.name for bone in turned for each in (bone, *children_of(bone)))
        self._bones, self._settings = [enabled, modes], (aims, shaping)
        return changed

    def _read_parents(self) -> list[tuple[str, str] | None]:
        """The names of each chain's upper bone and of what that hangs on; None for a lower bone that is gone."""
        bones = self._object.pose.bones
        return [_parents_of(bones[name]) if name in bones else None for name in self._lowers]

    def _read_settings(self) -> tuple[list[Any], list[Any]]:
        """What each chain follows, and how it is posed: bone by bone, as most bones of a rig have no chain."""
        bones = self._object.pose.bones
        lowers: Any = [bones[name] for name in self._lowers if name in bones]
        return [_aims(lower) for lower in lowers], [SHAPING(lower) for lower in lowers]

    def _read_rest(self) -> list[array[Any]]:
        is_at_rest = self._object.data.pose_position == "REST"
        return [array("b", [is_at_rest]), *_read(self._object.data.bones, REST)]


def _aims(lower: Any) -> tuple[Any, ...]:
    """What the chain of a lower bone follows."""
    target, pole, *parts = AIMS(lower.planar_ik)
    return (lower.planar_ik_plane, target and target.session_uid, pole and pole.session_uid, *parts)


def _parents_of(lower: PoseBone) -> tuple[str, str]:
    upper = lower.parent
    root = upper.parent if upper else None
    return (upper.name if upper else "", root.name if root else "")


def _read(bones: Any, properties: Iterable[tuple[str, str, int]]) -> list[array[Any]]:
    """Properties of all bones."""
    found = []
    for name, typecode, size in properties:
        found.append(array(typecode, [0]) * (size * len(bones)))
        bones.foreach_get(name, found[-1])
    return found


def _are_same(now: Sequence[array[Any]], then: Sequence[array[Any]]) -> bool:
    """Whether numbers are the same to the bit; to compare arrays as such takes their numbers out one by one."""
    return b"".join(now) == b"".join(then)


def _differences(now: array[Any], then: array[Any]) -> list[int]:
    return [] if _are_same([now], [then]) else [i for i, (a, b) in enumerate(zip(now, then, strict=True)) if a != b]


class Standing:
    """What stood in the channels of a rig's limbs after they were posed, to tell what somebody else puts there."""

    def __init__(self, bones: list[int], names: Iterable[str], channels: Channels) -> None:
        self._bones = bones
        self._all = {name: channels.all(name).tobytes() for name in names}

    def changed(self, channels: Channels) -> set[int]:
        """The bones that were turned, moved or scaled since."""
        found: set[int] = set()
        for name, given in self._all.items():
            numbers = channels.all(name).tobytes()
            if numbers != given:
                found.update(differing(name, numbers, given, self._bones))
        return found
