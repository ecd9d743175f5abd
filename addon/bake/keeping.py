"""Limbs left as they stand: while Live is off, chains are posed only to be looked at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import bpy
from bpy.types import PoseBone, Scene

from ..live import plan
from ..rig.access import chain_settings, is_armature, key_of, scene_settings, upper_of
from ..rig.rotation import rotation_channel
from ..rig.stretching import restore_inherit_scale
from .scenery import chains_of

OWN = ("own_upper", "own_lower", "own_upper_scale", "own_lower_scale")
"""The settings in which a chain keeps the animator's own pose."""

Kept = list[tuple[PoseBone, str, tuple[float, ...]]]
"""Channels as they were: bones, the channels' names, and their numbers."""


def channels_of(lower: PoseBone) -> Kept:
    """The channels of a limb that a chain, or keys in its stead, write to."""
    return [
        (bone, name, tuple(getattr(bone, name)))
        for bone in (upper_of(lower), lower)
        for name in (rotation_channel(bone.rotation_mode), "scale")
    ]


def set_channels(channels: Kept) -> None:
    """Put the numbers back."""
    for bone, name, numbers in channels:
        setattr(bone, name, numbers)


@contextmanager
def limbs_kept(scene: Scene) -> Iterator[None]:
    """Leave all limbs as they are if the scene's chains are not live; live ones pose themselves anew."""
    if scene_settings(scene).live:
        yield
        return
    limbs = [_limb(lower) for ob in bpy.data.objects if is_armature(ob) for lower in chains_of(ob)]
    try:
        yield
    finally:
        for limb in limbs:
            limb.restore()


class _Limb(NamedTuple):
    """What a limb was: its bones' channels, and what its chain's settings kept."""

    lower: PoseBone
    channels: Kept
    settings: dict[str, Any]
    inherited: str

    def restore(self) -> None:
        """Make it so again, and have its chain read it anew."""
        set_channels(self.channels)
        settings = chain_settings(self.lower)
        for name, value in self.settings.items():
            setattr(settings, name, value)
        if not self.inherited and settings.own_inherit_scale:
            restore_inherit_scale(self.lower)
            settings.own_inherit_scale = ""
        plan.chains.pop(key_of(self.lower), None)


def _limb(lower: PoseBone) -> _Limb:
    settings = chain_settings(lower)
    kept = {"is_posed": settings.is_posed} | {name: tuple(getattr(settings, name)) for name in OWN}
    return _Limb(lower, channels_of(lower), kept, settings.own_inherit_scale)
