"""Keeping mechanisms what their chains are set to: what changes a mechanism makes it anew at once."""

from __future__ import annotations

from contextlib import suppress

import bpy

from ..rig import status
from ..rig.chain_settings import ChainSettings, is_quiet, on_change, quietly
from ..rig.data.access import chain_settings, runs_on_rig, view_layer_of
from ..rig.kinds import Refused
from ..rig.settings import NAMES, PREFIX
from .convert import follow, rebuild
from .mechanism.found import Found
from .purpose import is_set_anew
from .resting import let_go, switch
from .status import answer


def _on_change(changed: ChainSettings, is_aim: bool) -> None:
    """A setting was set: if its chain runs on the rig, let the rig follow."""
    lower = changed.bone
    if is_quiet() or lower.id_data.is_evaluated or not runs_on_rig(lower):
        return
    with quietly(), suppress(Refused):  # The chain's message says what is missing.
        if is_aim:
            let_go(lower)
        try:
            follow(lower)
        finally:
            switch(lower, changed.enabled)
        if is_set_anew(Found(lower)):
            _make_anew(changed)


def _make_anew(changed: ChainSettings) -> None:
    """Make a mechanism anew if need be. What animates settings would set these back, and whoever set them may be about
    to key them."""
    name, ob = changed.bone.name, changed.bone.id_data
    set_to = {each: getattr(changed, each) for each in NAMES}
    view_layer_of(bpy.context).update()
    if is_set_anew(Found(changed.bone)):
        rebuild(bpy.context, [changed.bone])
    lower = ob.pose.bones[name]
    for each, value in set_to.items():
        if not value == getattr(chain_settings(lower), each) == getattr(lower, PREFIX + each):
            setattr(chain_settings(lower), each, value)


def register() -> None:
    """Start to listen."""
    on_change.append(_on_change)
    status.on_rig.append(answer)


def unregister() -> None:
    """Stop listening."""
    status.on_rig.remove(answer)
    on_change.remove(_on_change)
