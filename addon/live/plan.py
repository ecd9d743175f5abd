"""Which chains the file has, in which order they are posed, and posing those that an event concerns."""

from __future__ import annotations

import logging
from typing import Any

import bpy
from bpy.types import Context, Depsgraph, Object, PoseBone, Scene

from ..rig import status
from ..rig.access import (
    ArmatureObject,
    Key,
    chain_settings,
    has_chain,
    is_armature,
    key_of,
    runs_on_rig,
    scene_of,
    scene_settings,
    view_layer_of,
)
from ..rig.dependencies import Dependencies
from ..rig.renaming import Renaming
from .animated import Lent
from .chain import Chain
from .channels import Channels, Slot
from .edits import Edit, Seen, edit_of, has_unknown_chains, is_structural, with_settings
from .group import Group
from .order import levels_of
from .own_pose import forget
from .pointers import Pointers

log = logging.getLogger("planar_ik")


View = tuple[int, str, str]
"""A scene, by its session_uid, one of its view layers, and for what it is evaluated there."""


class Plan:
    """All chains of the file, kept between events, and what tells which of them an event concerns."""

    def __init__(self) -> None:
        self.chains: dict[Key, Chain] = {}
        self.pointers = Pointers()
        self.renaming = Renaming()
        self.levels: list[list[Group]] = []
        self.watchers: dict[Object, list[Group]] = {}
        """The groups whose pose depends on where an object is, or on its pose."""
        self.seen: dict[ArmatureObject, Seen] = {}
        self.views: set[View] = set()
        """Where the chains were posed since they were looked at."""
        self.changed: set[Key] = set()
        """The chains of which a setting was set since."""
        self.is_stale = True
        self.is_busy = False
        self.is_kept = False
        """Whether the solutions were left in the channels when last found."""
        self.told: dict[str, str] = {}

    def forget(self) -> None:
        """Drop every reference into the file."""
        self.chains.clear()
        self.levels.clear()
        self.watchers.clear()
        self.seen.clear()
        self.views.clear()
        self.changed.clear()
        status.forget()
        self.is_stale = True


plan = Plan()


def solve_scene(scene: Scene, depsgraph: Depsgraph, has_changed: bool = False) -> None:
    """Pose the chains of a scene's evaluated objects once; ``has_changed`` says that the frame changed.

    The solutions are the evaluated pose's only: the objects' own channels stay as the animator set them. They are left
    in these as well if nothing will pose the chains again, or if several windows would take turns to.
    """
    is_kept = not scene_settings(scene).live or _are_windows_apart()
    if is_kept != plan.is_kept:
        plan.is_kept, plan.is_stale = is_kept, True
    concerned = _concerned(depsgraph, has_changed)
    if not concerned:
        return
    dependencies, lent = Dependencies(), Lent()
    done: set[Group] = set()
    plan.is_busy = True
    try:
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
        lent.put_back()
        plan.is_busy = False


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
    if plan.is_busy:
        return
    if not scene_settings(scene).live:
        plan.is_stale = True
        return
    solve_scene(scene, depsgraph, has_changed)


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
    plan.chains = _chains_of_file()
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
    for group in _all_groups():
        if not plan.is_kept and group.object.name in scene.objects:
            group.settle()
            plan.is_stale = True


def _concerned(depsgraph: Depsgraph, has_changed: bool) -> set[Group]:
    """The groups that must be posed because of an event. What was edited of their chains is to be looked at anew."""
    view = _view_of(depsgraph)
    is_new = bool(plan.chains) and view not in plan.views
    if plan.is_stale or is_structural(depsgraph) or is_new:
        return _look_at_all(view)
    if (has_changed or not plan.chains) and not depsgraph.id_type_updated("ARMATURE"):
        return _all_groups()
    edit = edit_of(depsgraph)
    if not _look_at_edited(edit):
        return _look_at_all(view)
    if has_changed:
        return _all_groups()
    return {group for ob in edit.objects for group in plan.watchers.get(ob, ())}


def _view_of(depsgraph: Any) -> View:
    """Where a dependency graph belongs to."""
    return (depsgraph.scene.session_uid, depsgraph.view_layer.name, depsgraph.mode)


def _all_groups() -> set[Group]:
    return {group for level in plan.levels for group in level}


def _look_at_edited(edit: Edit) -> bool:
    """Have what was edited of rigs looked at anew; False if that does not do."""
    if has_unknown_chains(edit, plan.seen):
        return False
    rigs = [ob for ob in edit.objects if ob in plan.seen] if edit.has_rigs else []
    for ob in rigs:
        lowers = plan.seen[ob].edited(edit)
        if lowers is None:
            return False
        for group in plan.watchers[ob]:
            if group.object == ob:
                group.look_at(lowers | {name for uid, name in plan.changed if uid == ob.session_uid})
    plan.changed.clear()
    if edit.has_rigs and any(group.misses_others(ob) for ob in edit.objects for group in plan.watchers.get(ob, ())):
        return False
    return not (edit.actions and any(group.has_other_curves(edit.actions) for group in _all_groups()))


def _look_at_all(view: View) -> set[Group]:
    """Find all chains of the file and their order anew."""
    if plan.is_stale or view in plan.views:
        plan.views.clear()
    plan.views.add(view)
    plan.chains = _chains_of_file()
    plan.levels = levels_of(list(plan.chains.values()), Dependencies())
    plan.seen = {ob: Seen(ob) for ob in {chain.object for chain in plan.chains.values()}}
    plan.watchers = {}
    for group in _all_groups():
        group.others = [each for each in _all_groups() if each.object == group.object and each is not group]
        for ob in group.watched():
            plan.watchers.setdefault(ob, []).append(group)
    plan.changed.clear()
    plan.is_stale = False
    return _all_groups()


def _chains_of_file() -> dict[Key, Chain]:
    found = {}
    for ob in filter(is_armature, bpy.data.objects):
        for bone in with_settings(ob):
            key = key_of(bone)
            settings = chain_settings(bone)
            plan.pointers.give_back(key, settings)
            plan.renaming.follow(settings)
            if has_chain(bone) and not runs_on_rig(bone):
                chain = found[key] = plan.chains.get(key) or Chain(ob, bone.name)
                plan.pointers.note(key, settings)
                status.register_chain(chain)
    return found


def _tell(chain: Chain) -> None:
    """Report a chain that can't be posed, once."""
    if plan.told.get(chain.name) != chain.problem:
        plan.told[chain.name] = chain.problem
        log.warning("%s: %s", chain.name, chain.problem)
