"""What became of each chain when it was last posed, for the read-only properties."""

from __future__ import annotations

from typing import Any

import bpy

from ..solver import Reach
from .access import Key, chain_settings, key_of, view_layer_of
from .targets import Target

_chains: dict[Key, Any] = {}
_by_pointer: dict[int, Any] = {}


def register_chain(chain: Any) -> None:
    """Let the properties of a chain's bone speak for it."""
    _chains[chain.key] = chain
    _by_pointer[chain.settings.as_pointer()] = chain


def forget() -> None:
    """Drop everything, as when another file is opened."""
    _chains.clear()
    _by_pointer.clear()


def reach(settings: Any) -> Reach:
    """The reach of the chain with these settings."""
    chain = find(settings) if settings.enabled else None
    return Reach(int(chain.reach)) if chain and not chain.problem else Reach.INVALID


def message(settings: Any) -> str:
    """Why the chain with these settings can't be posed; empty if it can."""
    if not settings.enabled:
        return "The chain is not enabled"
    chain = find(settings)
    return chain.problem if chain else "The chain has not been posed yet"


def residual(settings: Any) -> float:
    """The distance from tip to target in the evaluated pose, in scene units; 0 if there is no target."""
    chain = find(settings)
    target = Target.read(settings.target, settings.subtarget)
    if chain is None or target is None or target.problem():
        return 0.0
    depsgraph = view_layer_of(bpy.context).depsgraph
    if depsgraph is None:
        return 0.0
    evaluated = chain.object.evaluated_get(depsgraph)
    tip = evaluated.matrix_world @ evaluated.pose.bones[chain.lower].tail
    return float((tip - target.position(depsgraph)).length)


def find(settings: Any) -> Any:
    """The chain with these settings, on its object or evaluated, or None."""
    ob = settings.id_data
    chain = _by_pointer.get(settings.as_pointer())
    if chain and chain.object == ob and chain.lower in ob.pose.bones and chain.settings == settings:
        return chain
    for bone in ob.pose.bones:  # Blender does not say which bone has a group of settings
        if chain_settings(bone) == settings:
            return _chains.get(key_of(bone))
    return None
