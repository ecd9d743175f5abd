"""Keeping chains to what they follow: Blender's Paste Pose takes a bone's settings over, but no pointers, and of bones
that are renamed, joined to another armature, or mirrored by Symmetrize, Blender tells only its own constraints."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import bpy
from bpy.types import PoseBone

from ..rig.chain_settings import ChainSettings, quietly
from ..rig.data.access import Key, bones_of, has_chain, is_armature
from ..rig.settings import IN_SHAPE
from ..rig.targets import GOALS
from ..rig.tasks.mirroring import flip_settings

Known = tuple[int, str]
"""The session_uid of an object and the name of a bone of it."""


class Pointers:
    """What the chains of a file followed when last looked at, and the angles of their limbs' shape: by the settings'
    names, objects by session_uid."""

    def __init__(self) -> None:
        self._seen: dict[Key, dict[str, Any]] = {}
        self._given_back: set[Key] = set()

    def note(self, key: Key, settings: Any) -> None:
        """Keep in mind what a chain points to."""
        goals = {goal: ob.session_uid for goal, _ in GOALS if (ob := getattr(settings, goal))}
        names = {part: getattr(settings, part) for goal, part in GOALS if goal in goals}
        self._seen[key] = goals | names
        self.note_shape(key, settings)

    def note_shape(self, key: Key, settings: Any) -> None:
        """Keep in mind what of a limb's shape is set, which somebody may just have done."""
        if key in self._seen:
            self._seen[key] = self._seen[key] | {name: getattr(settings, name) for name in IN_SHAPE}

    def note_anew(self, key: Key, settings: Any) -> None:
        """Somebody set what a chain points to: that counts from now on."""
        self.note(key, settings)
        self._given_back.discard(key)

    def undo(self) -> None:
        """A step was undone or redone: forget all pointers but those that were given back, which a step that was
        stored right after the paste lacks."""
        self._seen = {key: self._seen[key] for key in self._given_back}

    def clear(self) -> None:
        """Another file was opened."""
        self._seen.clear()
        self._given_back.clear()

    def give_back(self, key: Key, settings: Any) -> None:
        """Let a chain point again to what it pointed to, if nobody set it anew and that was not deleted. Its pose was
        pasted then, maybe flipped: the names and the angles are those of another limb too."""
        for goal, part in self.lost(key, settings):
            seen = self._seen[key]
            ob = next((ob for ob in bpy.data.objects if ob.session_uid == seen[goal]), None)
            if ob:
                with quietly():
                    setattr(settings, goal, ob)
                    for name in (part, *IN_SHAPE):
                        setattr(settings, name, seen[name])
                self._given_back.add(key)  # after it was set, which counts as setting the chain anew
                self._seen[key] = seen

    def lost(self, key: Key, settings: Any) -> list[tuple[str, str]]:
        """Those of `GOALS` that a chain, which is not linked, pointed to when last looked at, and points to no more."""
        seen = self._seen.get(key, {}) if settings.id_data.library is None else {}
        return [(goal, part) for goal, part in GOALS if goal in seen and getattr(settings, goal) is None]


class Renaming:
    """The addresses of the bones that chains follow, which stay when a bone is renamed or its armature is joined to
    another, and which bones those became.

    A step of undo may hold a bone's new name while its chain still names the old one, as Blender stored the step before
    the chain was told.
    """

    def __init__(self) -> None:
        self._places: dict[Known, tuple[int, Any]] = {}
        self._became: dict[Known, Known] = {}

    def follow(self, chains: Iterable[ChainSettings]) -> None:
        """Let chains follow the bones that they followed, whatever their names and their armatures are now."""
        named = [(settings, goal, part) for settings in chains for goal, part in GOALS]
        # All are found before any is set, for two bones may have each other's names now.
        found = [self._found(getattr(settings, goal), getattr(settings, part)) for settings, goal, part in named]
        for (settings, goal, part), bone in zip(named, found, strict=True):
            ob, name = getattr(settings, goal), getattr(settings, part)
            if bone and (bone.id_data, bone.name) != (ob, name) and ob.library is None:
                self._became[ob.session_uid, name] = (bone.id_data.session_uid, bone.name)
                setattr(settings, part, bone.name)
                if bone.id_data != ob:
                    setattr(settings, goal, bone.id_data)
        for bone in filter(None, found):
            self._places[bone.id_data.session_uid, bone.name] = _place_of(bone)

    def _found(self, ob: Any, name: str) -> PoseBone | None:
        """The bone that had this name when last looked at; without one, that which has it."""
        if not (name and ob and is_armature(ob)):
            return None
        bone: PoseBone | None = bones_of(ob).get(name)
        place = self._places.get((ob.session_uid, name))
        if bone and (place is None or bone.as_pointer() == place[0]):
            return bone
        if ob.users_scene:
            others = [*bones_of(ob)]
            same = [other for other in others if _place_of(other) == place]
        else:  # it was joined to another
            others = [other for rig in filter(is_armature, bpy.data.objects) for other in bones_of(rig)]
            same = [other for other in others if place and other.as_pointer() == place[0]]
        if not (same or bone):
            became = self._became.get((ob.session_uid, name))
            same = [other for other in others if (other.id_data.session_uid, other.name) == became]
        return same[0] if same else bone

    def forget(self, settings: ChainSettings) -> None:
        """A chain was told anew what to follow: the names count."""
        for goal, part in GOALS:
            ob = getattr(settings, goal)
            known = (ob.session_uid if ob else 0, getattr(settings, part))
            self._places.pop(known, None)
            self._became.pop(known, None)

    def undo(self) -> None:
        """Another step counts, and every place is void."""
        self._places.clear()

    def clear(self) -> None:
        """Another file was opened."""
        self._places.clear()
        self._became.clear()


def take_own_side(lower: PoseBone, bones: Collection[str]) -> None:
    """Have a chain that Symmetrize copied from the other side follow its own; ``bones`` are those that its armature had
    when last looked at."""
    other = bones_of(lower.id_data).get(bpy.utils.flip_name(lower.name)) if lower.name not in bones else None
    if other and other.name in bones and has_chain(other):
        flip_settings(lower, other)


def _place_of(bone: PoseBone) -> tuple[int, Any]:
    """The address of a bone, and its ends at rest, which tell it from a later bone at the same address."""
    rest = bone.bone
    return bone.as_pointer(), (*rest.head_local[:], *rest.tail_local[:])
