"""What became of each chain when it was last posed, for the read-only properties."""

from __future__ import annotations

from typing import Any

import bpy

from ..solver import Reach
from .access import Key, bone_of, view_layer_of
from .settings import ChainSettings
from .targets import Target

_chains: dict[Key, Any] = {}


def register_chain(chain: Any) -> None:
    """Let the properties of a chain's bone speak for it."""
    _chains[chain.key] = chain


def forget() -> None:
    """Drop everything, as when another file is opened."""
    _chains.clear()


def has_chains() -> bool:
    """Whether the file has any chain that is posed."""
    return bool(_chains)


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
    bone = settings.bone if isinstance(settings, ChainSettings) else bone_of(settings)
    return _chains.get((bone.id_data.original.session_uid, bone.name))
