"""Which chains the file has, in which order they are posed, and which of them an event concerns."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Depsgraph

from ..rig import status
from ..rig.data.access import (
    ArmatureObject,
    Key,
    chain_settings,
    has_chain,
    is_armature,
    key_of,
    runs_on_rig,
    setting_path,
)
from ..rig.data.dependencies import Carrier, Dependencies, is_structural
from ..rig.data.sides import swing_side
from ..rig.kinds import Kind, Problem
from ..rig.targets import followed
from .chain import Chain
from .edits import Edit, Seen, edit_of, edit_of_all, has_unknown_chains, with_settings
from .following import Pointers, Renaming, take_own_side
from .group import Group
from .undo import Kept, Outlines

View = tuple[int, str, str]
"""A scene, by its session_uid, one of its view layers, and for what it is evaluated there."""


class Plan:
    """All chains of the file, kept between events, and what tells which of them an event concerns."""

    def __init__(self) -> None:
        self.chains: dict[Key, Chain] = {}
        self.pointers = Pointers()
        self.renaming = Renaming()
        self.levels: list[list[Group]] = []
        self.watchers: dict[int, list[Group]] = {}
        """The groups whose pose depends on where an object is, or on its pose, by its session_uid."""
        self.seen: dict[int, Seen] = {}
        self.views: set[View] = set()
        """Where the chains were posed since they were looked at."""
        self.changed: set[Key] = set()
        """The chains of which a setting was set since."""
        self.is_mended = False
        """Whether some were put right when looked at, and are not evaluated yet."""
        self.is_stale = True
        self.is_busy = False
        self.is_kept = False
        """Whether the solutions were left in the channels when last found."""
        self.told: dict[str, str] = {}
        self.kept: Kept | None = None
        """What was found out before a step that was undone or redone."""
        self.outlines: Outlines | None = None
        """What the file was when that was taken up again, if nothing was edited since."""

    def suspend(self) -> None:
        """A step is undone or redone: keep what was found out, but drop every reference into the file."""
        kept = self.kept
        if self.chains and not self.is_stale and len(self.views) == 1:
            kept = Kept.of(self.chains, self.levels, self.seen, self.watchers, self.outlines)
        self.forget()
        self.kept, self.is_stale = kept, kept is None

    def resume(self) -> bool:
        """Take up again what was found out before the step, if everything hangs together as it did."""
        kept = self.kept
        if kept is None or not kept.revive():
            return False
        self.chains, self.levels, self.seen, self.watchers = kept.chains, kept.levels, kept.seen, kept.watchers
        self.outlines = kept.outlines
        return True

    def is_idle(self, depsgraph: Depsgraph) -> bool:
        """Whether there are no chains, and an event is not one that can have brought some."""
        if self.chains or self.is_stale or self.kept:
            return False
        return not (depsgraph.id_type_updated("ARMATURE") or is_structural(depsgraph))

    def forget(self) -> None:
        """Drop every reference into the file."""
        self.chains, self.levels, self.watchers, self.seen = {}, [], {}, {}
        self.kept = self.outlines = None
        self.views.clear()
        self.changed.clear()
        status.forget()
        self.is_stale = True

    def clear(self) -> None:
        """Forget also what outlasts a step of undo: another file was opened, or nobody listens any more."""
        self.forget()
        self.told.clear()
        self.pointers.clear()
        self.renaming.clear()


plan = Plan()


def groups_concerned(depsgraph: Depsgraph, has_changed: bool) -> set[Group]:
    """The groups that must be posed because of an event. What was edited of their chains is to be looked at anew."""
    view = _view_of(depsgraph)
    if plan.kept and not plan.is_stale and _is_as_before():
        plan.views.add(view)
        return all_groups()
    plan.outlines = None
    is_new = bool(plan.chains) and view not in plan.views
    if plan.is_stale or is_structural(depsgraph) or is_new:
        return _look_at_all(view)
    if has_changed and not depsgraph.id_type_updated("ARMATURE"):
        return all_groups()
    edit = edit_of(depsgraph)
    if not _look_at_edited(edit):
        return _look_at_all(view)
    if has_changed:
        return all_groups()
    return {group for uid in edit.objects for group in plan.watchers.get(uid, ())}


def _is_as_before() -> bool:
    """Take up what was found out before a step was undone or redone, and have looked at anew what that changed; False
    if that does not do."""
    is_same = plan.resume() and _look_at_edited(edit_of_all())
    if not is_same or any(chain.settings.is_posed for chain in plan.chains.values()):
        plan.is_stale = True
        return False
    for chain in plan.chains.values():
        status.register_chain(chain)
    goals = {chain: (chain.target, chain.possible_pole) for chain in plan.chains.values()}
    followers = [chain for chain, each in goals.items() if any(goal and goal.bone for goal in each)]
    plan.renaming.follow(chain.settings for chain in followers)
    plan.kept = None
    return True


def _view_of(depsgraph: Any) -> View:
    """Where a dependency graph belongs to."""
    return (depsgraph.scene.session_uid, depsgraph.view_layer.name, depsgraph.mode)


def all_groups() -> set[Group]:
    """All groups of the plan."""
    return {group for level in plan.levels for group in level}


def _look_at_edited(edit: Edit) -> bool:
    """Have what was edited of rigs looked at anew; False if that does not do."""
    known = [uid for uid in edit.objects if uid in plan.seen]
    if has_unknown_chains(edit, plan.seen, plan.pointers) or any(plan.seen[uid].has_muted_others() for uid in known):
        return False
    for uid in known if edit.has_rigs else ():
        lowers = plan.seen[uid].edited(edit)
        if lowers is None:
            return False
        for group in plan.watchers[uid]:
            if group.object == edit.objects[uid]:
                group.look_at(lowers | {name for of, name in plan.changed if of == uid})
    plan.changed.clear()
    followed = edit.objects.items() if edit.has_rigs else ()
    if any(group.misses_others(ob) for uid, ob in followed for group in plan.watchers.get(uid, ())):
        return False
    return not (edit.actions and any(group.has_other_curves(edit.actions) for group in all_groups()))


def _look_at_all(view: View) -> set[Group]:
    """Find all chains of the file and their order anew."""
    if plan.is_stale or view in plan.views:
        plan.views.clear()
    plan.views.add(view)
    if plan.kept:
        plan.kept = None
        plan.pointers.undo()
    plan.changed.clear()
    plan.chains = chains_of_file()
    plan.is_mended = bool(plan.changed)
    plan.levels = levels_of(list(plan.chains.values()), Dependencies())
    plan.seen = {ob.session_uid: Seen(ob) for ob in {chain.object for chain in plan.chains.values()}}
    plan.watchers = {}
    for group in all_groups():
        group.others = [each for each in all_groups() if each.object == group.object and each is not group]
        for ob in group.watched():
            plan.watchers.setdefault(ob.session_uid, []).append(group)
    plan.changed.clear()
    plan.is_stale = False
    return all_groups()


def chains_of_file() -> dict[Key, Chain]:
    """All chains that are posed live; those that were known stay the same."""
    found = {}
    lowers = [bone for ob in filter(is_armature, bpy.data.objects) for bone in with_settings(ob)]
    for bone in lowers:
        plan.pointers.give_back(key_of(bone), chain_settings(bone))
    plan.renaming.follow(map(chain_settings, lowers))
    for bone in lowers:
        if not has_chain(bone):
            continue
        ob, key = bone.id_data, key_of(bone)
        if not runs_on_rig(bone):
            seen = plan.seen.get(ob.session_uid)
            take_own_side(bone, seen.bones if seen else ())
            chain = found[key] = plan.chains.get(key) or Chain(ob, bone.name)
            status.register_chain(chain)
        plan.pointers.note(key, chain_settings(bone))
    return found


def levels_of(chains: list[Chain], dependencies: Dependencies) -> list[list[Group]]:
    """The chains in the order in which they depend on each other, those of one level grouped by object."""
    needs = _needs(chains, dependencies)
    levels: list[list[Group]] = []
    placed: dict[Chain, Group] = {}
    waiting = chains
    while waiting:
        ready = [chain for chain in waiting if needs[chain] <= placed.keys()] or _untie(waiting, needs)
        level: dict[ArmatureObject, list[Chain]] = {}
        for chain in ready:
            level.setdefault(chain.object, []).append(chain)
        groups = [Group(ob, members) for ob, members in level.items()]
        for group in groups:
            group.needs = {placed[each] for chain in group.chains for each in needs[chain]}
        placed |= {chain: group for group in groups for chain in group.chains}
        levels.append(groups)
        waiting = [chain for chain in waiting if chain not in placed]
    return levels


def _needs(chains: list[Chain], dependencies: Dependencies) -> dict[Chain, set[Chain]]:
    """The chains that must be posed before each."""
    moved_by: dict[Carrier, Chain] = {}
    for chain in chains:
        _read_targets(chain, dependencies)
        if _may_act(chain, dependencies):
            moved_by |= {(chain.object, chain.lower): chain, (chain.object, chain.upper): chain}
    return {
        chain: {moved_by[each] for each in dependencies.carriers(chain.follows()) & moved_by.keys()} - {chain}
        for chain in chains
    }


def _read_targets(chain: Chain, dependencies: Dependencies) -> None:
    """Look up what a chain follows, now or in other frames, and which bones it has."""
    lower, settings = chain.bone, chain.settings
    chain.circle = ""
    chain.upper = lower.parent.name if lower.parent else ""
    chain.swing_side = swing_side(chain.lower)
    may_switch = setting_path(chain.lower, "plane") in dependencies.animated_paths(chain.object)
    chain.target, chain.possible_pole = followed(settings, may_switch)


def _may_act(chain: Chain, dependencies: Dependencies) -> bool:
    """Whether a chain is switched on, or may be in another frame."""
    path = setting_path(chain.lower, "enabled")
    return chain.settings.enabled or path in dependencies.animated_paths(chain.object)


def _untie(waiting: list[Chain], needs: dict[Chain, set[Chain]]) -> list[Chain]:
    """Tell the chains that need each other in a circle, which can't be posed then and need nothing any more."""
    reached = {chain: _reached(chain, needs) for chain in waiting}
    tied = [chain for chain in waiting if chain in reached[chain]]
    for chain in tied:
        rival = next(each for each in needs[chain] if chain in reached[each])
        whose = f"'{rival.lower}' ('{rival.object.name}')"
        sentence = f"This chain and that of {whose} move each other's targets: let one follow something else"
        chain.circle = Problem(Kind.CIRCLE, sentence)
    for chain in tied:
        needs[chain] = set()
    return tied


def _reached(chain: Chain, needs: dict[Chain, set[Chain]]) -> set[Chain]:
    """All chains that a chain needs, directly or through others."""
    found: set[Chain] = set()
    waiting = list(needs[chain])
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting.extend(needs[each])
    return found
