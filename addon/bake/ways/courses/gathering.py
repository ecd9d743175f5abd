"""Where everything is that chains follow and hang on, over some of the frames, by whichever route it is followed."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Object
from numpy.typing import NDArray

from ....rig.data.access import bones_of, path_to_bone
from ....rig.problems import Mover
from ....rig.settings import IN_SHAPE, PREFIX
from ....rig.targets import Target
from ..routes import Routes
from ..shapes import Shapes, shapes_of
from ..subjects import ACTS, OwnBone, Subject, path_of
from .constraints import held, is_on
from .curves import SampledChannels, as_switch
from .evaluation import EVALUATED, Evaluated, Route
from .transforms import array_of, frame_of, in_armature, inherits_all, inverted, offset_of, placed


class Course(NamedTuple):
    """What changes of one chain over the frames; what does not may be one row.

    ``in_space`` ``(4, 4)`` takes the frame F to the parent's pose, and ``space`` ``(frames, 4, 4)`` that to the world,
    the same array for all chains of a parent. Where F moves in the parent's pose, ``in_space`` is the identity and
    ``space`` takes F to the world. ``target`` and ``pole`` ``(frames, 3)`` are in the world, the pole None without one;
    ``settings`` ``(frames,)`` holds those that change. ``upper`` and ``lower`` are the bones' own rotation channels,
    ``scales`` and ``locations`` those of both bones, ``(frames, numbers)``."""

    space: NDArray[Any]
    in_space: NDArray[Any]
    target: NDArray[Any]
    pole: NDArray[Any] | None
    settings: dict[str, NDArray[Any]]
    upper: NDArray[Any]
    lower: NDArray[Any]
    scales: tuple[NDArray[Any], NDArray[Any]]
    locations: tuple[NDArray[Any], NDArray[Any]]
    shapes: Shapes


class Places:
    """The places of things in ``rows`` of the frames, each worked out once."""

    def __init__(
        self, routes: Routes, channels: SampledChannels, evaluated: dict[Route, Evaluated], rows: slice
    ) -> None:
        self.rows = rows
        self._routes = routes
        self._channels = channels
        self._evaluated = evaluated
        self._solved: dict[tuple[Object, str], NDArray[Any]] = {}
        self.world = cache(self._world)
        self.pose = cache(self._pose)
        self._space = cache(self._space_of)

    def note(self, ob: Object, bone: str, basis: NDArray[Any]) -> None:
        """Keep in mind the transform ``(frames, 4, 4)`` that the channels of a limb's bone make as its chain has it."""
        self._solved[ob, bone] = basis

    def course(self, subject: Subject) -> Course:
        """What changes of a chain."""
        ob, owns = subject.object, (subject.upper, subject.lower)
        turns = [self._own(ob, own, own.channel, not subject.needs_own) for own in owns]
        scales, locations = ([self._own(ob, own, name) for own in owns] for name in ("scale", "location"))
        upper = subject.bones[0].bone
        parent = self.pose(ob, subject.parent) if subject.parent else None
        unturned = np.tile(np.eye(4), (len(locations[0]), 1, 1))
        unturned[:, :3, 3] = locations[0]
        if inherits_all(upper) and len(unturned) == 1:
            in_space = offset_of(upper) @ placed(upper, unturned)[0]
            space = self._space(ob, subject.parent)
            frame = in_space[None] if parent is None else parent @ in_space
        else:
            frame = frame_of(upper, parent, unturned)
            in_space, space = np.eye(4), self.world(ob) @ frame
        settings = {name: self._setting(ob, subject.lower.name, name) for name in subject.moving}
        pairs = zip(IN_SHAPE, subject.angles, strict=True)
        angles = np.broadcast_arrays(*(np.atleast_1d(settings.get(name, still)) for name, still in pairs))
        return Course(
            space,
            in_space,
            self._place(subject.target),
            self._place(subject.pole) if subject.pole else None,
            settings,
            turns[0],
            turns[1],
            (scales[0], scales[1]),
            (locations[0], locations[1]),
            shapes_of(subject.bones, parent, frame, locations[1], scales, np.stack(angles, axis=-1)),
        )

    def is_free(self, subject: Subject) -> NDArray[Any]:
        """Where nothing else moves a chain's limb, ``(frames,)`` or one for all of them."""
        acting = [self._acts(subject.object, mover) for mover in subject.movers]
        is_free: NDArray[Any] = ~np.any(np.broadcast_arrays(*acting, False), axis=0)
        return is_free

    def ends(self, ob: Object, bone: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Head and tail of a bone in the world, ``(frames, 3)`` or one row for all frames."""
        placed = self._space(ob, bone)
        head = placed[:, :3, 3]
        return head, head + bones_of(ob)[bone].bone.length * placed[:, :3, 1]

    def _world(self, ob: Object) -> NDArray[Any]:
        route = self._routes.of(ob)
        if route & EVALUATED:
            return self._evaluated[route].world(ob, self.rows)
        return self._held(ob.constraints, self._unheld(ob))

    def _unheld(self, ob: Object) -> NDArray[Any]:
        """Where an object is but for its constraints."""
        local = self._channels.basis(ob)
        if ob.parent is None:
            return local
        inverse = array_of(ob.matrix_parent_inverse)
        parent = self.world(ob.parent)
        if ob.parent_type == "BONE":
            bone = bones_of(ob.parent)[ob.parent_bone]
            tail = np.eye(4)
            tail[1, 3] = bone.bone.length
            parent = parent @ self.pose(ob.parent, bone.name) @ tail
        world: NDArray[Any] = parent @ inverse @ local
        return world

    def _pose(self, ob: Object, name: str) -> NDArray[Any]:
        route = self._routes.of(ob, name)
        if route & EVALUATED:
            return self._evaluated[route].pose(ob, name, self.rows)
        basis = self._solved[ob, name] if route == Route.SOLUTION else self._channels.basis(ob, name)
        bone = bones_of(ob)[name]
        parent = self.pose(ob, bone.parent.name) if bone.parent else None
        posed = in_armature(bone.bone, parent, basis)
        if route == Route.SOLUTION or not any(map(is_on, bone.constraints)):
            return posed
        world = self.world(ob)
        unplaced: NDArray[Any] = inverted(world) @ self._held(bone.constraints, world @ posed)
        return unplaced

    def _held(self, constraints: Any, place: NDArray[Any]) -> NDArray[Any]:
        """Where constraints put what is at a place in the world."""
        for constraint in filter(is_on, constraints):
            place = held(constraint, place, self._space(constraint.target, constraint.subtarget))
        return place

    def _space_of(self, ob: Object, bone: str) -> NDArray[Any]:
        return self.world(ob) @ self.pose(ob, bone) if bone else self.world(ob)

    def _place(self, goal: Target) -> NDArray[Any]:
        if goal.bone:
            heads: NDArray[Any] = self.world(goal.object) @ self.pose(goal.object, goal.bone)[:, :, 3, None]
            return heads[:, :3, 0]
        if goal.object.parent is None and not goal.object.constraints and self._routes.of(goal.object) == Route.CURVES:
            return self._channels.location(goal.object)
        return self.world(goal.object)[:, :3, 3]

    def _own(self, ob: Object, own: OwnBone, name: str, only_first: bool = False) -> NDArray[Any]:
        """A channel of a limb's bone as the animator has it; ``only_first`` gives it as it is when the bake begins."""
        route = self._routes.of_channel(ob, own.name, name) if name in own.moving else Route.CURVES
        if route & EVALUATED:
            return self._evaluated[route].channel(ob, own.name, name, slice(1) if only_first else self.rows)
        return self._channels.own(ob, own, name, only_first)

    def _acts(self, ob: Object, mover: Mover) -> NDArray[Any]:
        """Whether a constraint does, ``(frames,)`` or one for all of them."""
        influence, mute = (self._property_of(ob, mover, name) for name in ACTS)
        acts: NDArray[Any] = (influence > 0.0) & ~as_switch(mute)
        return acts

    def _property_of(self, ob: Object, mover: Mover, name: str) -> NDArray[Any]:
        path = path_of(mover) + name
        route = self._routes.of_channel(ob, mover.bone, path)
        if route & EVALUATED:
            return self._evaluated[route].channel(ob, mover.bone, path, self.rows)
        still = getattr(bones_of(ob)[mover.bone].constraints[mover.constraint], name)
        return self._channels.of(ob, f"{path_to_bone(mover.bone)}.", path, (still,))[:, 0]

    def _setting(self, ob: Object, lower: str, name: str) -> NDArray[Any]:
        route = self._routes.of_channel(ob, lower, PREFIX + name)
        if route & EVALUATED:
            return self._evaluated[route].channel(ob, lower, PREFIX + name, self.rows)
        return self._channels.setting(ob, lower, name)
