"""Where roots, targets and poles are over the frames, without the chains: what ways 1 and 2 gather.

Both are exact only for chains that depend on no other chain, and of which nothing changes but where these places are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from bpy.types import Context, Object, PoseBone
from numpy.typing import NDArray

from ..live import chain_of, solve_now
from ..rig.access import scene_of, scene_settings, upper_of, view_layer_of
from ..rig.chain import Chain, Posing
from ..rig.targets import Carrier, carriers
from .scenery import chains_of_scene


class Places(NamedTuple):
    """For one chain: what takes the parent's pose to the world ``(frames, 4, 4)``, the same array for chains of
    the same parent; target and pole in the world ``(frames, 3)``, the pole None in the plane at rest."""

    space: NDArray[Any]
    target: NDArray[Any]
    pole: NDArray[Any] | None


def steady_chains(context: Context, lowers: list[PoseBone]) -> list[Chain] | None:
    """The chains of these bones if arrays can pose all of them; else None."""
    if scene_settings(scene_of(context)).live:
        view_layer_of(context).update()
    else:
        solve_now(context)
    chains = [chain_of(context, lower) for lower in lowers]
    if any(chain.problem or not chain.is_steady or posing_of(chain).settings.stretch > 0.0 for chain in chains):
        return None
    posed = chains_of_scene(context)
    bones = {(lower.id_data, bone.name) for lower in posed for bone in (lower, upper_of(lower))}
    return None if bones & carriers_of(chains) else chains


def posing_of(chain: Chain) -> Posing:
    """What a steady chain is posed by; it always has that."""
    return chain.posing  # type: ignore[return-value]


def carriers_of(chains: list[Chain]) -> set[Carrier]:
    """All objects and bones that the places of these chains depend on."""
    return carriers([carrier for chain in chains for carrier in chain.follows()])


def gather(
    chains: list[Chain], worlds: Callable[[Object], NDArray[Any]], poses: Callable[[Object, str], NDArray[Any]]
) -> list[Places]:
    """The places of chains; ``worlds(object)`` and ``poses(object, bone)`` give matrices ``(frames, 4, 4)``."""

    def place(goal: Any) -> NDArray[Any]:
        world = worlds(goal.object)
        if not goal.bone:
            return world[:, :3, 3]
        heads: NDArray[Any] = (world @ poses(goal.object, goal.bone)[:, :, 3, None])[:, :3, 0]
        return heads

    @cache
    def space(ob: Object, bone: str) -> NDArray[Any]:
        return worlds(ob) @ poses(ob, bone) if bone else worlds(ob)

    return [
        Places(space(chain.object, chain.parent), place(chain.target), place(chain.pole) if chain.pole else None)
        for chain in chains
    ]
