"""Keeping mechanisms what their chains are set to: what changes a mechanism makes it anew at once."""

from __future__ import annotations

from contextlib import suppress

import bpy

from ..rig import settings, status
from ..rig.access import runs_on_rig, view_layer_of
from ..rig.settings import ChainSettings
from ..rig.setup import Refused
from .convert import follow, rebuild
from .found import Found, constraints_of
from .purpose import is_outdated
from .quietly import is_quiet, quietly
from .status import answer


def _on_change(changed: ChainSettings, _is_aim: bool) -> None:
    """A setting was set: if its chain runs on the rig, let the rig follow."""
    lower = changed.bone
    if is_quiet() or lower.id_data.is_evaluated or not runs_on_rig(lower):
        return
    with quietly(), suppress(Refused):  # The chain's message says what is missing.
        for _, constraint in constraints_of(lower):
            constraint.mute = not changed.enabled
        follow(lower)
        layer = view_layer_of(bpy.context)
        layer.update()
        evaluated = lower.id_data.evaluated_get(layer.depsgraph).pose.bones[lower.name]
        if is_outdated(Found(lower), evaluated):
            rebuild(bpy.context, [lower])


def register() -> None:
    """Start to listen."""
    settings.on_change.append(_on_change)
    status.on_rig.append(answer)


def unregister() -> None:
    """Stop listening."""
    status.on_rig.remove(answer)
    settings.on_change.remove(_on_change)
