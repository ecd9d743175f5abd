"""What became of each chain when it was last posed, for the read-only properties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
from bpy.types import Depsgraph, PoseBone

from ..solver import Reach
from .access import Key, bone_of, bones_of, runs_on_rig, view_layer_of
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


on_rig: list[Callable[[PoseBone, Depsgraph], tuple[Reach, str]]] = []
"""Who answers for chains that run on the rig: with their reach, and why they can't be posed."""


def _answer(settings: Any) -> tuple[Reach, str] | None:
    """What a chain that runs on the rig answers; None for others."""
    bone = _bone(settings)
    depsgraph = view_layer_of(bpy.context).depsgraph
    if not (on_rig and depsgraph and runs_on_rig(bone)):
        return None
    return on_rig[0](bones_of(bone.id_data.original)[bone.name], depsgraph)


def reach(settings: Any) -> Reach:
    """The reach of the chain with these settings."""
    answer = _answer(settings) if settings.enabled else None
    if answer:
        return answer[0]
    chain = find(settings) if settings.enabled else None
    return Reach(int(chain.reach)) if chain and not chain.problem else Reach.INVALID


def message(settings: Any) -> str:
    """Why the chain with these settings can't be posed; empty if it can."""
    if not settings.enabled:
        return "The chain is not enabled"
    answer = _answer(settings)
    if answer:
        return answer[1]
    chain = find(settings)
    return chain.problem if chain else "The chain has not been posed yet"


def residual(settings: Any) -> float:
    """The distance from tip to target in the evaluated pose, in scene units; 0 if there is no target."""
    bone = _bone(settings)
    target = Target.read(settings.target, settings.subtarget)
    if target is None or target.problem() or not (runs_on_rig(bone) or find(settings)):
        return 0.0
    depsgraph = view_layer_of(bpy.context).depsgraph
    if depsgraph is None:
        return 0.0
    evaluated = bone.id_data.original.evaluated_get(depsgraph)
    tip = evaluated.matrix_world @ evaluated.pose.bones[bone.name].tail
    return float((tip - target.position(depsgraph)).length)


def find(settings: Any) -> Any:
    """The chain with these settings, on its object or evaluated, or None."""
    bone = _bone(settings)
    return _chains.get((bone.id_data.original.session_uid, bone.name))


def _bone(settings: Any) -> PoseBone:
    return settings.bone if isinstance(settings, ChainSettings) else bone_of(settings)
