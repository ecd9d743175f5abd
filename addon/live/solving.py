"""Posing the chains that an event concerns, or that somebody asks for."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from typing import Any

import bpy
from bpy.types import Context, Depsgraph, PoseBone, Scene

from ..rig.data.access import ArmatureObject, key_of, scene_of, scene_settings, view_layer_of
from ..rig.data.dependencies import Dependencies
from .chain import Chain
from .channels import Channels, Slot
from .group import Group
from .own_pose import forget
from .plan import all_groups, chains_of_file, groups_concerned, levels_of, plan

log = logging.getLogger("planar_ik")


def solve_scene(scene: Scene, depsgraph: Depsgraph, has_changed: bool = False) -> None:
    """Pose the chains of a scene's evaluated objects once; ``has_changed`` says that the frame changed.

    The solutions are the evaluated pose's only: the objects' own channels stay as the animator set them. They are left
    in these as well if nothing will pose the chains again, or if several windows would take turns to.
    """
    is_kept = not scene_settings(scene).live or _are_windows_apart()
    if is_kept != plan.is_kept:
        plan.is_kept, plan.is_stale = is_kept, True
    concerned = groups_concerned(depsgraph, has_changed)
    if not concerned:
        return
    dependencies, lent = Dependencies(), ExitStack()
    done: set[Group] = set()
    plan.is_busy = True
    try:
        if plan.is_mended or _is_frame_due(depsgraph):
            plan.is_mended = False
            _evaluate(depsgraph, has_changed)
        for number, level in enumerate(plan.levels):
            posed = [group for group in level if group in concerned]
            for group in posed:
                group.beside = [other for other in group.others if other not in concerned or other in done]
            lender = None if is_kept else lent
            moved = {group for group in posed if group.pose(depsgraph, has_changed, dependencies, lender)}
            done |= {*posed}
            _look_at(posed)
            if moved:
                _evaluate(depsgraph, has_changed)
                later = [group for below in plan.levels[number + 1 :] for group in below]
                concerned |= {group for group in later if group.needs & moved}
            for group in moved:
                group.note_shown(depsgraph)
    finally:
        lent.close()
        plan.is_busy = False


def _is_frame_due(depsgraph: Depsgraph) -> bool:
    """Whether the scene that is shown may have been told of a frame, as where somebody goes to one in a window: what is
    written is then evaluated with animation in the place of the solutions, unless it was evaluated once before. Of
    other scenes, whose frame nobody goes to so, that would show the objects as they stand in the one that is shown."""
    if not depsgraph.id_type_updated("SCENE"):
        return False
    return (scene_of(bpy.context), view_layer_of(bpy.context)) == (depsgraph.scene, depsgraph.view_layer)


def _look_at(groups: list[Group]) -> None:
    """Take notice of what became of chains."""
    for group in groups:
        plan.is_stale = plan.is_stale or group.has_lost
        for chain in group.chains:
            if chain.problem:
                _tell(chain)


def _evaluate(depsgraph: Depsgraph, has_changed: bool) -> None:
    """Have Blender evaluate what was written. A new frame does not call the handlers of edits, as it does not alone."""
    of_edits: Any = (bpy.app.handlers.depsgraph_update_pre, bpy.app.handlers.depsgraph_update_post)
    called = of_edits if has_changed else ()
    waiting = [handlers[:] for handlers in called]
    for handlers in called:
        handlers.clear()
    if depsgraph.id_type_updated("SCENE"):
        # Else Blender up to 5.0 loses the list of what is in the scene, and crashes when next it looks whether it is.
        depsgraph.scene.update_tag()  # type: ignore[union-attr]
    try:
        depsgraph.update()
    finally:
        for handlers, others in zip(called, waiting, strict=True):
            handlers[:] = others


def _are_windows_apart() -> bool:
    """Whether windows show different scenes or view layers, of which each is evaluated when another's was."""
    window_manager = bpy.context.window_manager
    windows = window_manager.windows if window_manager else ()
    return len(windows) > 1 and len({(window.scene, window.view_layer.name) for window in windows}) > 1


def run(scene: Scene, depsgraph: Depsgraph, has_changed: bool) -> None:
    """Pose the chains of a scene once, if they are live and this is not a consequence of posing them."""
    if plan.is_busy or plan.is_idle(depsgraph):
        return
    if not scene_settings(scene).live:
        plan.is_stale = True
        return
    solve_scene(scene, depsgraph, has_changed)


def is_posing() -> bool:
    """Whether chains are being posed, so that what Blender evaluates is a consequence of it."""
    return plan.is_busy


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


def solve_only(context: Context, lowers: list[PoseBone]) -> None:
    """Pose these chains once, and no others, as they are set at this moment."""
    view_layer_of(context).update()
    plan.chains = chains_of_file()
    wanted = [plan.chains[key] for key in map(key_of, lowers) if key in plan.chains]
    depsgraph, dependencies = context.evaluated_depsgraph_get(), Dependencies()
    plan.is_busy = True
    try:
        for level in levels_of(wanted, dependencies):
            moved = [group.pose(depsgraph, False, dependencies, None) for group in level]
            if any(moved):
                _evaluate(depsgraph, False)
    finally:
        plan.is_busy = False
    plan.is_stale = True


def chain_of(context: Context, lower: PoseBone) -> Chain:
    """The chain of a lower bone, as it was last posed."""
    key = key_of(lower)
    if key not in plan.chains:
        solve_now(context)
    return plan.chains[key]


def solved_channels(ob: ArmatureObject) -> Channels:
    """The channels of an object with the solutions of its chains as they were last found."""
    groups = [group for level in plan.levels for group in level if group.object == ob and group.solved]
    return groups[-1].solved or Channels(ob) if groups else Channels(ob)


def take_over(chain: Chain) -> tuple[Slot, ...]:
    """Make the solution of a chain, as it was last posed, the animator's own pose; give the channels that changed."""
    posing = chain.posing
    if posing is None:
        return ()
    solved = solved_channels(chain.object)
    slots = (posing.upper.slot, posing.lower.slot, *posing.lengthened)
    numbers = [solved.get(slot) for slot in slots]
    forget(chain.bone)
    for slot, values in zip(slots, numbers, strict=True):
        setattr(chain.object.pose.bones[slot.index], slot.channel, values)
    return slots


def settle(scene: Scene) -> None:
    """Leave the solutions in the channels of a scene's objects, because nothing will pose their chains from now on."""
    for group in all_groups():
        if not plan.is_kept and group.object.name in scene.objects:
            group.settle()
            plan.is_stale = True


def _tell(chain: Chain) -> None:
    """Report a chain that can't be posed, once."""
    if plan.told.get(chain.name) != chain.problem:
        plan.told[chain.name] = chain.problem
        log.warning("%s: %s", chain.name, chain.problem)
