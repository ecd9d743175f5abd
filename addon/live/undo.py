"""What was found out about chains, kept while a step is undone or redone.

Blender then replaces what it likes and says of everything that it changed, so that only a look can tell. References
into the file would be void: in their place the objects' numbers are kept, which outlast the step.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
from bpy.types import Armature, Object

from ..rig.data.access import Key, is_armature
from ..rig.data.animation import drivers_of
from ..rig.data.dependencies import SOLVERS, Carrier, Dependencies, constraint_targets, driver_targets
from .chain import Chain
from .edits import Seen
from .group import Group

Outlines = dict[int, str]
"""What `_outlines` says of each object, by its session_uid."""


class Kept:
    """The chains of a file in their order, without a reference into it, and what the file was when that was found."""

    def __init__(
        self,
        chains: dict[Key, Chain],
        levels: list[list[Group]],
        seen: dict[int, Seen],
        watchers: dict[int, list[Group]],
        outlines: Outlines | None,
    ) -> None:
        self.chains = chains
        self.levels = levels
        self.seen = seen
        self.watchers = watchers
        self.outlines = outlines or _outlines()
        self._swap(lambda ob: ob.session_uid)

    @classmethod
    def of(cls, chains: dict[Key, Chain], *found: Any) -> Kept | None:
        """What may be kept; nothing if something is gone, or hidden, which Blender evaluates only as others need it."""
        try:
            goals = [goal for chain in chains.values() for goal in (chain.target, chain.possible_pole) if goal]
            return cls(chains, *found) if all(goal.object.visible_get() for goal in goals) else None
        except ReferenceError:
            return None

    def revive(self) -> bool:
        """Refer to the objects of the file again; False if these hang together otherwise than they did."""
        if _outlines() != self.outlines:
            return False
        self._swap({ob.session_uid: ob for ob in bpy.data.objects}.__getitem__)
        return True

    def _swap(self, to: Any) -> None:
        """Put something else in the place of every object, or of what stands for it."""
        held: Any = (*self.chains.values(), *self.seen.values(), *(group for level in self.levels for group in level))
        for each in held:
            each.swap(to)


def _outlines() -> Outlines:
    """Of each object what decides which chains there are, what they follow and what is in their way, in names and
    numbers; what an edit is known by need not be in it. As texts, for thousands of tuples start Python's collector."""
    dependencies = Dependencies()
    return {ob.session_uid: repr(_outline(ob, dependencies)) for ob in bpy.data.objects}


def _outline(ob: Object, dependencies: Dependencies) -> Any:
    moved_by = _uids(dependencies.direct((ob, "")))
    whole = (ob.name, ob.visible_get(), sorted(dependencies.animated_paths(ob)), moved_by)
    if not is_armature(ob):
        return whole
    bones = ob.pose.bones
    parents = [(bone.name, bone.parent.name if bone.parent else "") for bone in bones]
    constraints = [(i, _constraints_of(bone)) for i, bone in enumerate(bones) if bone.constraints]
    return (whole, ob.data.session_uid, parents, constraints, _drivers_of(ob), _drivers_of(ob.data))


def _constraints_of(owner: Any) -> Any:
    """The constraints, whether they act, what they refer to, and which bones they turn, if others than their own."""
    found = []
    for each in owner.constraints:
        acts = not each.mute and each.influence > 0.0
        turned = (each.chain_count, getattr(each, "use_tail", True)) if each.type in SOLVERS else ()
        found.append((each.name, each.type, acts, _uids(constraint_targets(each)), turned))
    return found


def _drivers_of(owner: Object | Armature) -> Any:
    """What is driven, and by what."""
    return [(curve.data_path, _uids(driver_targets(curve.driver))) for curve in drivers_of(owner)]


def _uids(carriers: Iterable[Carrier]) -> Any:
    return [(ob.session_uid, bone) for ob, bone in carriers]
