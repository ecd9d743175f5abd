"""Putting back what a bake changes on the way: the pose of limbs, and the animation that trial keys replace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import bpy
from bpy.types import Object, PoseBone, Scene

from ..live.channels import Channels, Slot, rotation_slot
from ..live.own_pose import recall
from ..native.switching import switch_all
from ..rig.data.access import chain_settings, is_armature, scene_settings, upper_of
from ..rig.data.rotation import rotation_channel
from ..rig.properties import KEPT
from .samples import Sampled
from .scope import acting_chains, switch

Kept = list[tuple[PoseBone, str, tuple[float, ...]]]
"""Channels as they were: bones, the channels' names, and their numbers."""


def channels_of(lower: PoseBone) -> Kept:
    """The channels of a limb that a chain, or keys in its stead, write to."""
    return [
        (bone, name, tuple(getattr(bone, name)))
        for bone in (upper_of(lower), lower)
        for name in (rotation_channel(bone.rotation_mode), "scale")
    ]


def own_channels(lower: PoseBone, channels: Channels) -> dict[tuple[str, str], tuple[float, ...]]:
    """The rotation and scale channels of a limb as the animator has them, by bone and name. ``channels`` are those of
    its object; the animator's numbers are put into them."""
    bones, found = lower.id_data.pose.bones, {}
    recall(lower, channels)
    for bone in (upper_of(lower), lower):
        index = bones.find(bone.name)
        for slot in (rotation_slot(bone, index), Slot("scale", index)):
            found[bone.name, slot.channel] = tuple(channels.get(slot))
    return found


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
    limbs = [_limb(lower) for ob in bpy.data.objects if is_armature(ob) for lower in acting_chains(ob)]
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

    def restore(self) -> None:
        """Make it so again."""
        set_channels(self.channels)
        settings = chain_settings(self.lower)
        for name, value in self.settings.items():
            setattr(settings, name, value)


def _limb(lower: PoseBone) -> _Limb:
    settings = chain_settings(lower)
    kept = {"is_posed": settings.is_posed, "own_modes": settings.own_modes}
    kept |= {name: tuple(getattr(settings, name)) for name in KEPT}
    return _Limb(lower, channels_of(lower), kept)


class _Before(NamedTuple):
    """What an object's animation was."""

    object: Object
    had_data: bool
    action: Any
    slot: Any
    had_fake_user: bool


@contextmanager
def trial(chains: list[Sampled]) -> Iterator[None]:
    """Switch chains off and let their actions be replaced; afterwards all is as it was, also the bones' own channels,
    which trial keys write over.
    """
    switches = [switch(_lower(chain))[0] for chain in chains]
    before = [_before(ob) for ob in dict.fromkeys([*(chain.object for chain in chains), *switches])]
    were_on = [chain for chain in chains if chain_settings(_lower(chain)).enabled]
    switch_all(map(_lower, chains), is_on=False)
    own = [each for chain in chains for each in channels_of(_lower(chain))]
    try:
        yield
    finally:
        for state in before:
            _restore(state)
        set_channels(own)
        switch_all(map(_lower, were_on), is_on=True)


def _before(ob: Object) -> _Before:
    data = ob.animation_data
    action = data.action if data else None
    slot = getattr(data, "action_slot", None)
    return _Before(ob, data is not None, action, slot, bool(action and action.use_fake_user))


def _restore(before: _Before) -> None:
    ob = before.object
    data: Any = ob.animation_data  # with slots from 4.4 on
    on_trial = data.action if data else None
    if on_trial and on_trial != before.action:
        data.action = before.action
        if before.action and hasattr(data, "action_slot"):
            data.action_slot = before.slot
        bpy.data.actions.remove(on_trial)
    if before.action and before.action.is_editable:
        before.action.use_fake_user = before.had_fake_user
    if not before.had_data:
        ob.animation_data_clear()


def _lower(chain: Sampled) -> PoseBone:
    return chain.object.pose.bones[chain.lower]
