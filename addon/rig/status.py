"""What became of each chain when it was last posed, for the read-only properties."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import bpy
from bpy.types import Depsgraph, PoseBone

from ..solver import Reach
from .anatomy import EVEN
from .chain_settings import ChainSettings
from .data.access import Key, bone_of, bones_of, runs_on_rig, scene_of, scene_settings, upper_of, view_layer_of
from .kinds import Kind, Problem
from .problems import unevaluated
from .targets import Target

_chains: dict[Key, Any] = {}

MISSED = 1e-5
"""How far from its target a tip may be, in lengths of the limb, and still count as on it."""

ROUNDING = 1e-6
"""What single precision makes of places far from the origin, next to how far."""

MOVED = Problem(
    Kind.MOVED, "The limb is not where its chain put it: something else moves it, or its target, after the chain"
)

UNPOSED = "The chain has not been posed yet"

LIVE_IS_OFF = Problem(
    Kind.LIVE_IS_OFF, "The chain was not posed since something moved, as Live is off: switch it on, or press Solve Once"
)


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
    if chain is None or chain.problem:
        return Reach.INVALID
    if chain.reach == Reach.REACHED and _is_off(settings):
        evaluated = _evaluated(settings)
        return off(evaluated.planar_ik_influence, residual(settings), lower_length(evaluated))
    return Reach(int(chain.reach))


def off(influence: float, distance: float, length: float) -> Reach:
    """The reach of a chain whose solution reaches its target, but whose evaluated tip is a distance away from it, next
    to the ``length`` of the lower bone: by so little where its axes are not quite square, as Blender leaves those that
    point along -Y, or not quite evenly scaled, as importers do."""
    return Reach.LIMITED if influence < 1.0 or distance <= EVEN * length else Reach.INVALID


def lower_length(evaluated: PoseBone) -> float:
    """How long an evaluated lower bone is, in scene units."""
    return float((evaluated.id_data.matrix_world.to_3x3() @ evaluated.vector).length)


def message(settings: Any) -> str:
    """Why the chain with these settings can't be posed; empty if it can."""
    if not settings.enabled:
        return "The chain is not enabled"
    answer = _answer(settings)
    if answer:
        return answer[1]
    chain = find(settings)
    is_live = scene_settings(scene_of(bpy.context)).live
    if chain is None:
        return UNPOSED if is_live else LIVE_IS_OFF
    if chain.problem or reach(settings) != Reach.INVALID:
        problem: str = chain.problem
        return problem
    return unevaluated(_evaluated(settings).id_data) or (MOVED if is_live else LIVE_IS_OFF)


def residual(settings: Any) -> float:
    """The distance from tip to target in the evaluated pose, in scene units. 0 without a target, or if the tip is not a
    number, which Blender's constraints in local space make of bones below a scale of zero."""
    target = Target.read(settings.target, settings.subtarget)
    depsgraph = view_layer_of(bpy.context).depsgraph
    if target is None or target.problem() or depsgraph is None:
        return 0.0
    distance = away(_evaluated(settings), target, depsgraph)
    return distance if isfinite(distance) else 0.0


def away(evaluated: PoseBone, target: Target, depsgraph: Depsgraph) -> float:
    """How far the tip of an evaluated lower bone is from its target, in scene units."""
    return float((evaluated.id_data.matrix_world @ evaluated.tail - target.position(depsgraph)).length)


def _is_off(settings: Any) -> bool:
    """Whether the tip is evaluated off its target by more than single precision explains."""
    evaluated = _evaluated(settings)
    return bool(evaluated.parent and residual(settings) > tolerance(evaluated))


def tolerance(evaluated: PoseBone) -> float:
    """How far from its target the tip of an evaluated lower bone may be, and still count as on it, in scene units."""
    world = evaluated.id_data.matrix_world
    root, knee, tip = (world @ joint for joint in (upper_of(evaluated).head, evaluated.head, evaluated.tail))
    length = (knee - root).length + (tip - knee).length
    far = max(tip.length, (world.to_3x3() @ evaluated.tail).length)
    return float(allowed(length, far))


def allowed(length: Any, far: Any) -> Any:
    """How far off its target the tip may be that counts as on it, of a limb of this length whose joints are at most
    ``far`` from the origin, in the unit of both; or for arrays of both."""
    return MISSED * length + ROUNDING * far


def _evaluated(settings: Any) -> Any:
    """The lower bone as it is evaluated."""
    bone = _bone(settings)
    depsgraph: Any = view_layer_of(bpy.context).depsgraph
    return bones_of(bone.id_data.original.evaluated_get(depsgraph))[bone.name]


def find(settings: Any) -> Any:
    """The chain with these settings, on its object or evaluated, or None."""
    bone = _bone(settings)
    return of_key((bone.id_data.original.session_uid, bone.name))


def of_key(key: Key) -> Any:
    """The chain with this key, or None."""
    return _chains.get(key)


def _bone(settings: Any) -> PoseBone:
    return settings.bone if isinstance(settings, ChainSettings) else bone_of(settings)
