"""What chains point to, kept from getting lost: Blender's Paste Pose takes a bone's settings over, but no pointers."""

from __future__ import annotations

from typing import Any

import bpy

from ..rig.access import Key

POINTERS = ("target", "pole_target")


class Pointers:
    """What the chains of a file pointed to when they were last looked at, by the objects' session_uid."""

    def __init__(self) -> None:
        self._seen: dict[Key, dict[str, int]] = {}
        self._given_back: set[Key] = set()

    def note(self, key: Key, settings: Any) -> None:
        """Keep in mind what a chain points to."""
        self._seen[key] = {name: ob.session_uid for name in POINTERS if (ob := getattr(settings, name))}

    def forget(self, key: Key) -> None:
        """A chain was set anew by whoever may: what it points to now counts."""
        self._seen.pop(key, None)
        self._given_back.discard(key)

    def undo(self) -> None:
        """Another step counts. What was given back is lost again in a step that was stored just after the paste."""
        self._seen = {key: self._seen[key] for key in self._given_back}

    def clear(self) -> None:
        """Another file was opened."""
        self._seen.clear()
        self._given_back.clear()

    def give_back(self, key: Key, settings: Any) -> None:
        """Let a chain point again to what it pointed to, if nobody set it anew and that was not deleted."""
        seen = self._seen.get(key, {}) if settings.id_data.library is None else {}
        lost = {name: uid for name, uid in seen.items() if getattr(settings, name) is None}
        for name, uid in lost.items():
            ob = next((ob for ob in bpy.data.objects if ob.session_uid == uid), None)
            if ob:
                setattr(settings, name, ob)
                self._given_back.add(key)  # after it was set, which counts as setting the chain anew
                self._seen[key] = seen
