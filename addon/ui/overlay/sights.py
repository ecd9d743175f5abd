"""Which chains the overlay shows, and what it must know of each, whatever the chain runs on.

What was found is kept until the selection, the chain's settings or the file's structure change: between these, a chain
that moves costs no look at its settings.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import cos
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Context, Depsgraph, PoseBone

from ...live import own_pose_of
from ...live.plan import plan
from ...rig.access import ArmatureObject, bones_of, chain_settings, is_armature, key_of, runs_on_rig, upper_of
from ...rig.anatomy import Anatomy, Unposable, anatomy
from ...rig.settings import features_of, solver_settings
from ...rig.sides import swing_side
from ...rig.targets import Target, followed
from ...solver.chain import Features, Own
from ...solver.triangle import Settings
from ..finding import chains_in_view, chains_meant

IS_SELECTED_IN_POSE = bpy.app.version >= (5, 0, 0)
"""Before, a bone was selected or not in all poses of its armature."""


class Shape(NamedTuple):
    """What a chain is posed by, as the solver takes it."""

    body: Anatomy
    settings: Settings
    features: Features


class Sight(NamedTuple):
    """A chain to be drawn, and the places of its bones, and of those that it follows, among those of their rigs.

    ``source`` is the live chain, None on the rig; ``state`` is what the rest was made of.
    """

    object: ArmatureObject
    lower: str
    source: Any
    state: Any
    bones: tuple[int, int]
    target: Target | None = None
    pole: Target | None = None
    followed: tuple[int, int] = (-1, -1)
    posing: Shape | None = None

    def own(self, depsgraph: Depsgraph) -> Own:
        """The animator's own rotations of both bones."""
        if self.source is not None:
            return own_pose_of(bones_of(self.object)[self.lower])[0]
        posed = bones_of(self.object.evaluated_get(depsgraph))[self.lower]
        return Own(_turn(upper_of(posed)), _turn(posed))


class Sights:
    """The chains that are shown, and the bones of all others in view that are tinted."""

    def __init__(self) -> None:
        self._view: Any = None
        self._found: list[Sight] = []
        self.tinted: dict[ArmatureObject, list[tuple[int, int]]] = {}
        """Upper and lower bones of the chains in Pose Mode that are not shown, by their places."""

    def forget(self) -> None:
        """Let go of everything in the file."""
        self._view = None
        self._found.clear()
        self.tinted.clear()

    def look(self, context: Context, depsgraph: Depsgraph) -> list[Sight]:
        """The chains that are selected, or whose target or pole is, and can be posed; those of a rig together."""
        view = _view_of(context)
        if view != self._view:
            self._find(context)
            self._view = view
        for number, sight in enumerate(self._found):
            state = _state_of(sight, depsgraph)
            if state is None or (state is not sight.state and state != sight.state):
                self._found[number] = _look_at(sight, state, depsgraph)
        seen = {ob for ob in {sight.object for sight in self._found} if ob.visible_get()}
        return [sight for sight in self._found if sight.posing and sight.object in seen]

    def _find(self, context: Context) -> None:
        shown = [lower for lower in chains_meant(context) if lower.parent]
        self._found = [_sight(lower) for lower in sorted(shown, key=lambda lower: lower.id_data.name)]
        self.tinted = {}
        for lower in chains_in_view(context):
            ob: ArmatureObject = lower.id_data
            is_posed = ob.mode == "POSE" and ob.visible_get() and chain_settings(lower).enabled
            if is_posed and lower.parent and lower not in shown:
                self.tinted.setdefault(ob, []).append(_places(lower))


def _view_of(context: Any) -> Any:
    """What says which chains are meant, and is quick to read."""
    active, bone = context.active_object, context.active_pose_bone
    named = (context.mode, active and active.name, bone and bone.name)
    if context.mode != "POSE":
        return *named, [(ob.name, ob.visible_get()) for ob in context.selected_objects]
    posed = filter(is_armature, context.objects_in_mode)
    return *named, [(ob.name, ob.visible_get(), _selection(ob)) for ob in posed]


def _selection(ob: Any) -> bytes:
    """Which bones of an armature are selected."""
    bones = ob.pose.bones if IS_SELECTED_IN_POSE else ob.data.bones
    found = np.empty(len(bones), bool)
    bones.foreach_get("select", found)
    return found.tobytes()


def _sight(lower: PoseBone) -> Sight:
    source = None if runs_on_rig(lower) else plan.chains.get(key_of(lower), _Unknown())
    return Sight(lower.id_data, lower.name, source, None, _places(lower))


class _Unknown:
    """Stands for a live chain that has not been posed yet."""

    posing = None


def _places(lower: PoseBone) -> tuple[int, int]:
    bones = bones_of(lower.id_data)
    return bones.find(upper_of(lower).name), bones.find(lower.name)


def _state_of(sight: Sight, depsgraph: Depsgraph) -> Any:
    """What changes when a chain is set or scaled, and not when it only moves."""
    if sight.source is not None:
        return sight.source.posing
    posed = bones_of(sight.object.evaluated_get(depsgraph))[sight.lower]
    numbers: Iterator[Any] = (value for value in posed.values() if isinstance(value, float | int))  # type: ignore[attr-defined]  # the stubs don't know custom properties
    return *numbers, *upper_of(posed).scale, *posed.scale  # type: ignore[misc]


def _look_at(sight: Sight, state: Any, depsgraph: Depsgraph) -> Sight:
    """A sight as its chain is set now; without what poses it if that can't be posed."""
    if sight.source is None:
        seen = _on_rig(sight, depsgraph)
    elif state is None or sight.source.target is None:
        seen = sight._replace(posing=None)
    else:
        seen = sight._replace(target=sight.source.target, pole=sight.source.pole, posing=Shape(*state[:3]))
    followed = (_place_of(seen.target), _place_of(seen.pole))
    return seen._replace(state=state if seen.posing else None, followed=followed)


def _on_rig(sight: Sight, depsgraph: Depsgraph) -> Sight:
    """Of a chain on the rig nothing is kept: it is measured."""
    lower = bones_of(sight.object)[sight.lower]
    posed, settings = bones_of(sight.object.evaluated_get(depsgraph))[sight.lower], chain_settings(lower)
    target, pole = followed(settings)
    nothing = sight._replace(posing=None)
    if target is None or any(goal.problem() for goal in (target, pole) if goal):
        return nothing
    upper = upper_of(posed)
    try:
        angles = (settings.hinge_angle, settings.lower_twist)
        body = anatomy(upper, posed, upper.scale[:], posed.scale[:], angles)
    except Unposable:
        return nothing
    values = solver_settings(settings.numbers(), swing_side(lower.name), cos)
    return sight._replace(target=target, pole=pole, posing=Shape(body, values, features_of(values, settings.plane)))


def _place_of(goal: Target | None) -> int:
    """The place of a bone that is followed among those of its rig; -1 for an object."""
    return bones_of(goal.object).find(goal.bone) if goal and goal.bone else -1


def _turn(posed: PoseBone) -> Any:
    """The animator's own rotation of a bone."""
    turn: Any = posed.matrix_basis.to_quaternion()
    return tuple(turn)
