"""Which chains the file has, in which order they are posed, and posing them."""

from __future__ import annotations

import logging
from array import array

import bpy
from bpy.types import Context, Depsgraph, PoseBone, Scene

from ..rig import status
from ..rig.access import (
    ArmatureObject,
    Key,
    chain_settings,
    has_chain,
    is_armature,
    key_of,
    scene_of,
    scene_settings,
    view_layer_of,
)
from ..rig.dependencies import Dependencies
from .chain import Chain
from .group import Group
from .pointers import Pointers

log = logging.getLogger("planar_ik")


class Plan:
    """All chains of the file, kept between events, and what tells that it is out of date."""

    def __init__(self) -> None:
        self.chains: dict[Key, Chain] = {}
        self.pointers = Pointers()
        self.levels: list[list[Group]] = []
        self.is_stale = True
        self.is_busy = False
        self.population = b""
        self.told: dict[str, str] = {}

    def forget(self) -> None:
        """Drop every reference into the file."""
        self.chains.clear()
        self.levels.clear()
        status.forget()
        self.is_stale = True


plan = Plan()


def solve_scene(scene: Scene, depsgraph: Depsgraph, has_changed: bool = False) -> None:
    """Pose the chains of a scene's evaluated objects once; ``has_changed`` says that the frame changed."""
    edited = Dependencies() if _find_chains(depsgraph) else None
    if not plan.chains:
        return
    if edited:
        plan.levels = _levels(edited)
    for number, level in enumerate(plan.levels):
        written = [group.pose(depsgraph, has_changed, edited) for group in level]
        for group in level:
            plan.is_stale = plan.is_stale or group.has_lost
            for chain in group.chains:
                if chain.problem:
                    _tell(chain)
        if any(written) and number + 1 < len(plan.levels):
            depsgraph.update()


def run(scene: Scene, depsgraph: Depsgraph, has_changed: bool) -> None:
    """Pose the chains of a scene once, if they are live and this is not a consequence of posing them."""
    if plan.is_busy:
        return
    if not scene_settings(scene).live:
        plan.is_stale = True
        return
    plan.is_busy = True
    try:
        solve_scene(scene, depsgraph, has_changed)
    finally:
        plan.is_busy = False


def refresh(context: Context) -> None:
    """Take notice of chains that were added or removed, and if Live is on, pose them now."""
    plan.is_stale = True
    run(scene_of(context), context.evaluated_depsgraph_get(), False)


def solve_now(context: Context) -> None:
    """Pose the chains of the scene as they are set at this moment, whether Live is on or off."""
    plan.is_stale = True
    view_layer_of(context).update()
    solve_scene(scene_of(context), context.evaluated_depsgraph_get())
    view_layer_of(context).update()


def chain_of(context: Context, lower: PoseBone) -> Chain:
    """The chain of a lower bone, as it was last posed."""
    key = key_of(lower)
    if key not in plan.chains:
        solve_now(context)
    return plan.chains[key]


def _find_chains(depsgraph: Depsgraph) -> bool:
    """Bring the list of chains up to date; say whether chains may have been edited since the last time."""
    edited = depsgraph.id_type_updated("ARMATURE") or depsgraph.id_type_updated("SCENE")
    users = array("i", bytes(4 * len(bpy.data.armatures)))
    bpy.data.armatures.foreach_get("users", users)
    population = users.tobytes()
    if not (plan.is_stale or population != plan.population or (edited and plan.chains)):
        return False
    plan.population = population
    plan.chains = _chains_of_file()
    for key, chain in plan.chains.items():
        plan.pointers.note(key, chain.settings)
        status.register_chain(chain)
    plan.is_stale = False
    return True


def _chains_of_file() -> dict[Key, Chain]:
    found = {}
    for ob in filter(is_armature, bpy.data.objects):
        for bone in ob.pose.bones:
            if bone.is_property_set("planar_ik"):
                key = key_of(bone)
                plan.pointers.give_back(key, chain_settings(bone))
                if has_chain(bone):
                    found[key] = plan.chains.get(key) or Chain(ob, bone.name)
    return found


def _levels(dependencies: Dependencies) -> list[list[Group]]:
    """The chains in the order in which they depend on each other, those of one level grouped by object."""
    bones = {}
    for chain in plan.chains.values():
        chain.read_targets(dependencies)
        lower = chain.object.pose.bones[chain.lower]
        for bone in (lower, lower.parent):
            if bone:
                bones[chain.object, bone.name] = chain
    needs = {
        chain: {bones[each] for each in dependencies.carriers(chain.follows()) if each in bones} - {chain}
        for chain in plan.chains.values()
    }
    levels: list[list[Group]] = []
    waiting = dict(needs)
    while waiting:
        ready = [chain for chain, needed in waiting.items() if not needed & waiting.keys()]
        level: dict[ArmatureObject, list[Chain]] = {}
        for chain in ready or waiting:
            level.setdefault(chain.object, []).append(chain)
        levels.append([Group(ob, chains) for ob, chains in level.items()])
        waiting = {chain: needed for chain, needed in waiting.items() if ready and chain not in ready}
    return levels


def _tell(chain: Chain) -> None:
    """Report a chain that can't be posed, once."""
    if plan.told.get(chain.name) != chain.problem:
        plan.told[chain.name] = chain.problem
        log.warning("%s: %s", chain.name, chain.problem)
