"""What an edit can concern: told from what Blender evaluated anew, and from what a rig was when last looked at."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Action, Depsgraph, Object, PoseBone
from numpy.typing import NDArray

from ..rig.access import ArmatureObject, bones_of, children_of, has_chain, is_armature, runs_on_rig
from ..rig.settings import PREFIX, SETTINGS, SWITCH
from .channels import SIZES, Channels

WIRING = ("target", "subtarget", "pole_target", "pole_subtarget")
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

    objects: set[Any]
    actions: set[Any]
    has_rigs: bool
    """Whether some of these are armatures that were themselves edited, or their bones or settings."""


def is_structural(depsgraph: Depsgraph) -> bool:
    """Whether Blender found out anew what depends on what: objects, parents, constraints, drivers or curves are new."""
    return depsgraph.id_type_updated("COLLECTION")


def edit_of(depsgraph: Depsgraph) -> Edit:
    """What was edited since Blender last evaluated, and what depends on it."""
    ids = [update.id for update in depsgraph.updates]
    return Edit(
        {each.original for each in ids if isinstance(each, Object)},
        {each.original for each in ids if isinstance(each, Action)},
        depsgraph.id_type_updated("ARMATURE"),
    )


def with_settings(ob: Object) -> list[PoseBone]:
    """The bones of an armature that have settings of a chain: to ask another for them would give it some."""
    return [bone for bone in bones_of(ob) if any(map(bone.is_property_set, ("planar_ik", PREFIX + SWITCH)))]


def has_unknown_chains(edit: Edit, known: Container[ArmatureObject]) -> bool:
    """Whether an armature that had no live chain has one now, as after Blender's Paste Pose."""
    others = [ob for ob in edit.objects if ob not in known] if edit.has_rigs else []
    return any(not runs_on_rig(bone) for ob in others if is_armature(ob) for bone in _switched_on(bones_of(ob)))


def _switched_on(bones: Any) -> list[PoseBone]:
    """The bones whose chains are enabled."""
    states = _read(bones, SET[:1])[0]
    return [bones[i] for i, state in enumerate(states) if state] if any(states) else []


class Seen:
    """What a rig and the settings of its chains were when last looked at."""

    def __init__(self, ob: ArmatureObject) -> None:
        self._object = ob
        self._lowers = [bone.name for bone in with_settings(ob) if has_chain(bone)]
        self._wiring = self._read_wiring()
        self._rest = self._read_rest()
        self._set = _read(ob.pose.bones, SET)

    def is_rewired(self) -> bool:
        """Whether the rig has other chains now, or they follow something else."""
        is_same = _read(self._object.pose.bones, SET[:2]) == self._set[:2]
        return not is_same or self._read_wiring() != self._wiring

    def edited(self) -> set[str]:
        """The bones whose chains must be looked at anew, while the rig was not rewired."""
        rest, settings = self._read_rest(), _read(self._object.pose.bones, SET)
        changed = set(self._lowers) if rest != self._rest else set()
        if settings != self._set:
            bones = self._object.pose.bones
            differ = {i for now, then in zip(settings, self._set, strict=True) for i in _differences(now, then)}
            changed.update(each.name for i in differ for each in (bones[i], *children_of(bones[i])))
        self._rest, self._set = rest, settings
        return changed

    def _read_wiring(self) -> list[Any]:
        bones = self._object.pose.bones
        return [_wiring_of(bones[name]) if name in bones else () for name in self._lowers]

    def _read_rest(self) -> list[Any]:
        return [self._object.data.pose_position, *_read(self._object.data.bones, REST)]


def _wiring_of(lower: PoseBone) -> tuple[Any, ...]:
    upper = lower.parent
    root = upper.parent if upper else None
    group = lower.planar_ik  # type: ignore[attr-defined]  # addon.rig.properties adds it
    return (upper and upper.name, root and root.name, *(getattr(group, name) for name in WIRING))


def _read(bones: Any, properties: Iterable[tuple[str, str, int]]) -> list[array[Any]]:
    """Properties of all bones."""
    found = []
    for name, typecode, size in properties:
        found.append(array(typecode, [0]) * (size * len(bones)))
        bones.foreach_get(name, found[-1])
    return found


def _differences(now: array[Any], then: array[Any]) -> list[int]:
    return [] if now == then else [i for i, (a, b) in enumerate(zip(now, then, strict=True)) if a != b]


class Standing:
    """What stood in the channels of a rig's limbs after they were posed, to tell what somebody else puts there."""

    def __init__(self, bones: list[int], channels: Channels) -> None:
        self._bones = bones
        self._rows = self._read(channels)

    def changed(self, channels: Channels) -> NDArray[np.bool_]:
        """For each bone whether it was turned, moved or scaled since."""
        return (self._read(channels) != self._rows).any(axis=1)  # type: ignore[no-any-return]

    def _read(self, channels: Channels) -> NDArray[Any]:
        return np.hstack([channels.rows(name)[self._bones] for name in SIZES])
