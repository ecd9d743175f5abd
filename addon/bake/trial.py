"""Keys on trial: written, looked at, and taken away again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import bpy
from bpy.types import Object

from ..rig.access import chain_settings
from .keeping import channels_of, set_channels
from .samples import Sampled


class _Before(NamedTuple):
    """What an object's animation was."""

    object: Object
    had_data: bool
    action: Any
    slot: Any
    had_fake_user: bool


@contextmanager
def trial(chains: list[Sampled]) -> Iterator[None]:
    """Chains switched off and actions free to be replaced by new ones; afterwards all is as it was.

    The animator's own values of the bones are kept: keys on trial write over those that are not animated.
    """
    before = [_before(ob) for ob in {chain.object: None for chain in chains}]
    was_on = {id(chain): _settings(chain).enabled for chain in chains}
    for chain in chains:
        _settings(chain).enabled = False
    own = [each for chain in chains for each in channels_of(chain.object.pose.bones[chain.lower])]
    try:
        yield
    finally:
        for state in before:
            _restore(state)
        set_channels(own)
        for chain in chains:
            _settings(chain).enabled = was_on[id(chain)]


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


def _settings(chain: Sampled) -> Any:
    return chain_settings(chain.object.pose.bones[chain.lower])
