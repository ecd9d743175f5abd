"""What is known of a chain before any frame of it is: its limb, its settings, and which of them change by what."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import bpy
from bpy.types import Depsgraph, Object, PoseBone

from ...live.channels import Channels
from ...native.mechanism.found import constraints_of
from ...rig.chain_settings import holder_of
from ...rig.data.access import (
    ArmatureObject,
    Key,
    chain_settings,
    key_of,
    place_of_setting,
    runs_on_rig,
    split_path,
    upper_of,
)
from ...rig.data.animation import changing_paths
from ...rig.data.dependencies import Carrier, Dependencies
from ...rig.data.rotation import ROTATIONS, rotation_channel
from ...rig.data.sides import swing_side
from ...rig.problems import Mover, moved_by, obstacles_of
from ...rig.settings import CHOICES, IN_SHAPE, NUMBERS, ON_RIG, PREFIX, SWITCH, Angles
from ...rig.solver_settings import angles_of
from ...rig.targets import Target, followed
from ..acting import acting_on
from ..keeping import own_channels

VARIABLE = (*(name for name in NUMBERS if name not in IN_SHAPE), SWITCH)
"""The settings that the solver takes anew for every frame; with others, the limb itself is another."""

ACTS = ("influence", "mute")
"""The properties of a constraint that say whether it acts."""


class OwnBone(NamedTuple):
    """A bone of a limb as the animator has it: its rotation, location and scale channels, and which of them change."""

    name: str
    mode: str
    values: dict[str, tuple[float, ...]]
    moving: frozenset[str]

    @property
    def channel(self) -> str:
        """The channel of its rotation."""
        return rotation_channel(self.mode)


class Subject(NamedTuple):
    """One chain that arrays may pose, except where one of ``movers`` acts. ``settings`` are the `VARIABLE` ones and
    ``angles`` the `IN_SHAPE` ones as they are now; ``moving`` names those that change over the frames. ``plane`` is
    ``POLE`` for a plane that changes."""

    key: Key
    object: ArmatureObject
    upper: OwnBone
    lower: OwnBone
    parent: str
    target: Target
    pole: Target | None
    settings: dict[str, float]
    moving: frozenset[str]
    volume: str
    plane: str
    swing_side: float
    angles: Angles
    movers: list[Mover]

    @property
    def bones(self) -> Any:
        """The upper and the lower pose bone."""
        bones = self.object.pose.bones
        return bones[self.upper.name], bones[self.lower.name]

    @property
    def needs_own(self) -> bool:
        """Whether the bones' own rotation is seen in some frame: where the chain is off, or not all of the pose."""
        is_whole = self.settings["influence"] == 1.0 and self.settings[SWITCH] == 1.0
        return not is_whole or bool(self.moving & {"influence", SWITCH})

    def follows(self) -> list[Carrier]:
        """What its pose directly depends on: its targets, and what its root hangs on."""
        goals = [(goal.object, goal.bone) for goal in (self.target, self.pole) if goal]
        return [(self.object, self.parent), *goals]


class Animation:
    """What of an object and its bones is animated, and by what; the object itself is under no name."""

    def __init__(self, ob: Object) -> None:
        acting = acting_on(ob)
        self._curves: dict[str, set[str]] = {}
        self._mixed: dict[str, set[str]] = {}
        self._driven: dict[str, set[str]] = {}
        curves = {path for path, _ in acting.curves}
        for paths, found in ((curves, self._curves), (acting.mixed, self._mixed), (acting.driven, self._driven)):
            for path in paths:
                _add(found, path)

    def moving(self, bone: PoseBone) -> frozenset[str] | None:
        """Which channels of a limb's bone change; None if something else does, which only stepping follows."""
        acting = {path for path in self.paths(bone.name) if not path.startswith((PREFIX, "constraints["))}
        channel = rotation_channel(bone.rotation_mode)
        others = acting - {channel, "location", "scale"}
        return None if others - ROTATIONS else frozenset(acting - others)

    def moves(self, mover: Mover) -> bool:
        """Whether what may move a limb besides its chain does so in some frames only."""
        start = path_of(mover) if mover.constraint else PREFIX + SWITCH
        return any(path.startswith(start) for path in self.paths(mover.bone))

    def is_told(self, mover: Mover) -> bool:
        """Whether it is a constraint of which `ACTS` alone say in which frames it does. Chains that share a bone are
        posed one after the other."""
        start = path_of(mover)
        paths = {path for path in self.paths(mover.bone) if path.startswith(start)}
        return bool(mover.constraint) and paths <= {start + name for name in ACTS}

    def settings(self, bone: PoseBone) -> frozenset[str]:
        """The settings of a bone's chain that change."""
        return frozenset(path.removeprefix(PREFIX) for path in self.paths(bone.name) if path.startswith(PREFIX))

    def paths(self, bone: str) -> set[str]:
        """What is animated of a bone, from there."""
        return self._curves.get(bone, set()) | self.others(bone)

    def others(self, bone: str) -> set[str]:
        """What of it more acts on than an F-curve, or something else."""
        return self._mixed.get(bone, set()) | self._driven.get(bone, set())


def path_of(mover: Mover) -> str:
    """How the data paths of a constraint's properties begin from its bone."""
    return f'constraints["{bpy.utils.escape_identifier(mover.constraint)}"].'


def _add(found: dict[str, set[str]], path: str) -> None:
    bone, rest = split_path(path)
    if rest.startswith(f'["{ON_RIG}'):
        rest = PREFIX + rest[2 + len(ON_RIG) : -2]  # of a chain on the rig, whose settings are custom properties
    if not rest.startswith("["):
        found.setdefault(bone, set()).add(rest)


class Reader:
    """Reads chains. `subject` gives None for one that arrays can't pose in every frame as they would be live."""

    def __init__(self, depsgraph: Depsgraph, shows: Callable[[Object], bool]) -> None:
        self._depsgraph = depsgraph
        self.dependencies = Dependencies()
        self.animation = cache(Animation)
        self._channels = cache(Channels)
        self._shows = shows

    def is_evaluated(self, ob: Object) -> bool:
        """Whether the scene evaluates an object."""
        return bool(ob.evaluated_get(self._depsgraph).is_evaluated)

    def is_live(self, ob: Object) -> bool:
        """Whether live chains of an object are surely posed in every frame."""
        layer = self._depsgraph.view_layer
        return layer is not None and layer.objects.get(ob.name) == ob and not ob.hide_viewport

    def subject(self, lower: PoseBone) -> Subject | None:
        """What is known of the chain of a lower bone."""
        ob, settings = lower.id_data, chain_settings(lower)
        moving = self._moving(lower)
        has_pole = settings.plane == "POLE" or "plane" in moving
        target, pole = followed(settings, has_pole)
        if lower.parent is None or target is None or (has_pole and pole is None):
            return None
        upper, animation = upper_of(lower), self.animation(ob)
        kept = own_channels(lower, self._channels(ob))
        own = [self._own(upper, kept), self._own(lower, kept)]
        if None in own or SWITCH in animation.settings(upper) or moving - {*VARIABLE, *IN_SHAPE, "plane"}:
            return None
        movers = self._movers(lower, target, pole, animation)
        if movers is None:
            return None
        numbers = settings.numbers() | {SWITCH: settings.enabled}
        return Subject(
            key_of(lower),
            ob,
            own[0],  # type: ignore[arg-type]
            own[1],  # type: ignore[arg-type]
            upper.parent.name if upper.parent else "",
            target,
            pole,
            {name: float(numbers[name]) for name in VARIABLE},
            moving,
            settings.stretch_volume,
            "POLE" if has_pole else settings.plane,
            swing_side(lower.name),
            angles_of(numbers),
            movers,
        )

    def _moving(self, lower: PoseBone) -> frozenset[str]:
        """The settings of a chain that change. Importers leave curves on choices that do not."""
        holder = holder_of(lower)
        moving = self.animation(holder.id_data).settings(holder)
        places = {name: place_of_setting(lower, name) for name in moving.intersection(CHOICES)}
        return moving.difference(name for name, (ob, path) in places.items() if not changing_paths(ob, {path}))

    def _own(self, bone: PoseBone, kept: dict[tuple[str, str], tuple[float, ...]]) -> OwnBone | None:
        """What the animator has in a bone's channels, of those of its limb."""
        moving = self.animation(bone.id_data).moving(bone)
        if moving is None:
            return None
        values = {name: own for (owner, name), own in kept.items() if owner == bone.name}
        values["location"] = tuple(bone.location[:])
        return OwnBone(bone.name, bone.rotation_mode, values, moving)

    def _movers(self, lower: PoseBone, target: Target, pole: Target | None, animation: Animation) -> list[Mover] | None:
        """The movers that keep the chain from being posed in some frames; None if a mover acts in all frames, or
        something that arrays do not follow is in the way."""
        obstacles = obstacles_of(lower, target, pole, self._shows, self.dependencies)
        if obstacles.lasting or obstacles.hidden or obstacles.driven_scales:
            return None
        own = {(bone.name, each.name) for bone, each in constraints_of(lower)} if runs_on_rig(lower) else set()
        movers = [mover for mover in obstacles.movers if (mover.bone, mover.constraint) not in own]
        moving = [mover for mover in movers if animation.moves(mover)]
        is_free = not moved_by(lower.id_data, [mover for mover in movers if mover not in moving])
        return moving if is_free and all(map(animation.is_told, moving)) else None
