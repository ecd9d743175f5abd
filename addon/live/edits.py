"""What an edit can concern: told from what Blender evaluated anew, and from what a rig was when last looked at."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Action, Armature, Depsgraph, Object, PoseBone
from numpy.typing import NDArray

from ..rig.access import ArmatureObject, bones_of, children_of, has_chain, is_armature, runs_on_rig
from ..rig.settings import PREFIX, SETTINGS, SWITCH
from .channels import SIZES, Channels

AIMS = ("target", "subtarget", "pole_target", "pole_subtarget")
"""The settings, besides those that animate, that say what a chain follows."""

REST = (
    *(("matrix_local", "f", 16), ("length", "f", 1), ("inherit_scale", "i", 1), ("use_inherit_rotation", "b", 1)),
    *(("use_connect", "b", 1), ("use_local_location", "b", 1)),
)
"""What of an armature's bones makes a limb's shape: the property, its type and how many numbers it has."""

SET = (
    *((PREFIX + setting.name, setting.typecode, 1) for setting in SETTINGS),
    ("rotation_mode", "i", 1),
)
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
    states = _read(bones, SET[:1])[0]
    return [bones[i] for i, state in enumerate(states) if state] if any(states) else []


class Seen:
    """What a rig and the settings of its chains were when last looked at."""

    def __init__(self, ob: ArmatureObject) -> None:
        self._object = ob
        self._lowers = [bone.name for bone in with_settings(ob) if has_chain(bone)]
        self._parents = self._read_parents()
        self._aims = self._read_aims()
        self._rest = self._read_rest()
        self._set = _read(ob.pose.bones, SET)

    def swap(self, to: Any) -> None:
        """Put something else in the place of the object, or of what stands for it."""
        self._object = to(self._object)

    def edited(self, edit: Edit) -> set[str] | None:
        """The bones whose chains must be looked at anew; None if the rig has other chains now, or they follow something
        else."""
        settings = _read(self._object.pose.bones, SET)
        if not _are_same(settings[:2], self._set[:2]) or self._read_aims() != self._aims:
            return None
        changed: set[str] = set()
        if self._object.data in edit.armatures:
            rest = self._read_rest()
            if self._read_parents() != self._parents:
                return None
            changed.update(() if _are_same(rest, self._rest) else self._lowers)
            self._rest = rest
        if not _are_same(settings, self._set):
            bones = self._object.pose.bones
            differ = {i for now, then in zip(settings, self._set, strict=True) for i in _differences(now, then)}
            changed.update(each.name for i in differ for each in (bones[i], *children_of(bones[i])))
            self._set = settings
        return changed

    def _read_parents(self) -> list[tuple[str, str] | None]:
        """The names of each chain's upper bone and of what that hangs on; None for a lower bone that is gone."""
        bones = self._object.pose.bones
        return [_parents_of(bones[name]) if name in bones else None for name in self._lowers]

    def _read_aims(self) -> list[Any]:
        bones = self._object.pose.bones
        groups = [bones[name].planar_ik for name in self._lowers if name in bones]  # type: ignore[attr-defined]  # addon.rig.properties adds it
        aims = [getattr(group, name) for group in groups for name in AIMS]
        return [aim.session_uid if isinstance(aim, Object) else aim for aim in aims]

    def _read_rest(self) -> list[array[Any]]:
        is_at_rest = self._object.data.pose_position == "REST"
        return [array("b", [is_at_rest]), *_read(self._object.data.bones, REST)]


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

    def __init__(self, bones: list[int], channels: Channels) -> None:
        self._bones = bones
        self._all = {name: channels.all(name).tobytes() for name in SIZES}

    def changed(self, channels: Channels) -> NDArray[np.bool_]:
        """For each bone whether it was turned, moved or scaled since."""
        found = np.zeros(len(self._bones), np.bool_)
        for name, size in SIZES.items():
            if channels.all(name).tobytes() != self._all[name]:
                then = np.frombuffer(self._all[name], np.float32).reshape(-1, size)
                found |= (channels.rows(name)[self._bones] != then[self._bones]).any(axis=1)
        return found
