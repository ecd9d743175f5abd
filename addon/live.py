"""The per-frame driver: poses all chains of a scene whenever its frame changes or something is edited."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Callable
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.types import Context, Depsgraph, PoseBone, Scene

from .rig import settings, status
from .rig.access import (
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
from .rig.chain import Chain
from .rig.channels import Channels
from .rig.dependencies import Dependencies
from .rig.group import Group
from .rig.pointers import Pointers

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


def _run(scene: Scene, depsgraph: Depsgraph, has_changed: bool) -> None:
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


@persistent
def _on_frame_change(scene: Scene, depsgraph: Depsgraph) -> None:
    _run(scene, depsgraph, True)


@persistent
def _on_edit(scene: Scene, depsgraph: Depsgraph) -> None:
    _run(scene, depsgraph, False)


@persistent
def _on_replace(*_args: Any) -> None:
    """A file was or is about to be opened, or a step undone or redone: every reference is void."""
    plan.forget()
    plan.pointers.undo()


@persistent
def _on_load(*_args: Any) -> None:
    plan.forget()
    plan.told.clear()
    plan.pointers.clear()
    _run_everywhere()


def refresh(context: Context) -> None:
    """Take notice of chains that were added or removed, and if Live is on, pose them now."""
    plan.is_stale = True
    _run(scene_of(context), context.evaluated_depsgraph_get(), False)


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


def _run_everywhere() -> None:
    _tag_rigs()
    window_manager = bpy.context.window_manager
    scenes = {window.scene: window.view_layer for window in window_manager.windows} if window_manager else {}
    if not scenes and bpy.context.scene:
        scenes = {bpy.context.scene: view_layer_of(bpy.context)}
    for scene, layer in scenes.items():
        layer.update()
        if layer.depsgraph:  # Blender calls no handlers for that update while it loads a file
            _run(scene, layer.depsgraph, False)


def _tag_rigs() -> None:
    """Have all chains posed at the next evaluation, though nobody edited anything."""
    for ob in getattr(bpy.data, "objects", ()):  # no data while Blender starts
        if ob.type == "ARMATURE":
            ob.update_tag()


def _on_change(changed: Any, is_pointer: bool) -> None:
    """A setting was set: look at the chain anew, and if it was switched off, give the bones back at once."""
    plan.is_stale = True
    was_switched_off = changed.is_posed and not changed.enabled
    chain = status.find(changed) if is_pointer or was_switched_off else None
    if chain and is_pointer:
        plan.pointers.forget(chain.key)
    if chain and was_switched_off:
        channels = Channels(chain.object)
        chain.release(channels)
        channels.write()


HANDLERS: tuple[tuple[str, Callable[..., None]], ...] = (
    ("frame_change_post", _on_frame_change),
    ("depsgraph_update_post", _on_edit),
    ("undo_pre", _on_replace),
    ("undo_post", _on_replace),
    ("redo_pre", _on_replace),
    ("redo_post", _on_replace),
    ("load_pre", _on_replace),
    ("load_post", _on_load),
)


def register() -> None:
    """Start to listen."""
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)
    settings.on_change.append(_on_change)
    _tag_rigs()


def unregister() -> None:
    """Stop listening and forget."""
    settings.on_change.remove(_on_change)
    for name, handler in reversed(HANDLERS):
        handlers = getattr(bpy.app.handlers, name)
        if handler in handlers:
            handlers.remove(handler)
    plan.forget()
