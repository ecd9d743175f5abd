"""What of a chain stays the same over a bake, and which of its numbers have F-curves: what ways 1 and 2 rest on.

Arrays pose a chain whose limb keeps its shape. Where its root, target and pole are may change by anything, its settings
and its own (FK) rotation by F-curves; whatever else changes, only stepping the scene with live chains is exact.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import bpy
from bpy.types import Context, PoseBone

from ...live import chain_of, solve_now
from ...live.chain import Chain
from ...live.channels import SIZES
from ...rig.access import (
    ArmatureObject,
    chain_settings,
    is_armature,
    scene_of,
    scene_settings,
    split_path,
    upper_of,
    view_layer_of,
)
from ...rig.anatomy import Anatomy, Unposable, anatomy, size_of
from ...rig.dependencies import Carrier, Dependencies
from ...rig.problems import Mover
from ...rig.rotation import CHANNELS, EULER, rotation_channel
from ...rig.settings import IN_SHAPE, NUMBERS, PREFIX, SWITCH
from ..acting import acting_curves, paths_besides_action
from ..scope import chains_of

VARIABLE = (*(name for name in NUMBERS if name not in IN_SHAPE), SWITCH)
"""The settings that may change from frame to frame: with others, the limb itself is another."""

ROTATIONS = {EULER[0], *(channel for channel, _ in CHANNELS.values())}


class Own(NamedTuple):
    """A bone of a chain as the animator has it: its rotation and scale channels, ``rotation`` now if it is animated."""

    name: str
    mode: str
    rotation: tuple[float, ...]
    scale: tuple[float, ...]
    is_animated: bool


class Steady(NamedTuple):
    """One chain. ``settings`` are those of `VARIABLE`, as they are now; those in ``animated`` have F-curves.
    ``size`` is that of what carries the limb, if its shape depends on it, else None."""

    chain: Chain
    body: Anatomy
    parent: str
    size: float | None
    upper: Own
    lower: Own
    settings: dict[str, float]
    animated: frozenset[str]

    @property
    def in_parent(self) -> Any:
        """What takes F to the parent's pose; steady chains have that."""
        return self.body.in_parent


def steady_chains(context: Context, lowers: list[PoseBone]) -> list[Steady] | None:
    """The chains of these bones if arrays can pose all of them; else None."""
    if scene_settings(scene_of(context)).live:
        view_layer_of(context).update()
    else:
        solve_now(context)
    depsgraph = context.evaluated_depsgraph_get()
    evaluate = cache(lambda ob: ob.evaluated_get(depsgraph))
    animations = cache(_Animation)
    found: list[Steady] = []
    for lower in lowers:
        ob = lower.id_data
        steady = _read(chain_of(context, lower), evaluate(ob), animations(ob))
        if steady is None:
            return None
        found.append(steady)
    carriers = carriers_of(found)
    rigs = {ob for ob, _ in carriers if is_armature(ob)}
    posed = {(ob, bone.name) for ob in rigs for lower in chains_of(ob) for bone in (lower, upper_of(lower))}
    return None if posed & carriers else found


def carriers_of(chains: list[Steady]) -> set[Carrier]:
    """All objects and bones that the places of these chains depend on."""
    return Dependencies().carriers([carrier for steady in chains for carrier in steady.chain.follows()])


class _Animation:
    """What of an object's bones is animated, and by what."""

    def __init__(self, ob: ArmatureObject) -> None:
        self._curves: dict[str, set[tuple[str, int]]] = {}
        self._others: dict[str, set[str]] = {}
        for path, index in acting_curves(ob):
            self._add(self._curves, path, index)
        for path in paths_besides_action(ob):
            self._add(self._others, path)

    @staticmethod
    def _add(found: dict[str, Any], path: str, *index: int) -> None:
        bone, rest = split_path(path)
        if bone and not rest.startswith("["):
            found.setdefault(bone, set()).add((rest, *index) if index else rest)

    def is_rotated(self, bone: PoseBone) -> bool | None:
        """Whether F-curves turn a bone of a chain; None if they do so in part, or anything else of it changes."""
        curves = self._curves.get(bone.name, set())
        channel = rotation_channel(bone.rotation_mode)
        changed = {path for path, _ in curves if not path.startswith(PREFIX)} - ROTATIONS
        parts = sum(path == channel for path, _ in curves)
        if changed or bone.name in self._others or parts not in (0, SIZES[channel]):
            return None
        return parts > 0

    def moves(self, mover: Mover) -> bool:
        """Whether what may move a limb besides its chain does so in some frames only."""
        name = bpy.utils.escape_identifier(mover.constraint)
        start = f'constraints["{name}"]' if name else PREFIX + SWITCH
        paths = {path for path, _ in self._curves.get(mover.bone, ())} | self._others.get(mover.bone, set())
        return any(path.startswith(start) for path in paths)

    def settings(self, bone: PoseBone) -> frozenset[str]:
        """The settings of a bone's chain that have F-curves."""
        curves = self._curves.get(bone.name, set())
        return frozenset(path.removeprefix(PREFIX) for path, _ in curves if path.startswith(PREFIX))


def _read(chain: Chain, evaluated: ArmatureObject, animation: _Animation) -> Steady | None:
    lower = chain.object.pose.bones[chain.lower]
    if chain.problem or lower.parent is None or any(map(animation.moves, chain.obstacles.movers)):
        return None
    upper = upper_of(lower)
    rotated = (animation.is_rotated(upper), animation.is_rotated(lower))
    animated = animation.settings(lower)
    settings = chain_settings(lower)
    would_change_limb = "stretch" in animated and not settings.own_inherit_scale
    if None in rotated or animation.settings(upper) or animated - {*VARIABLE} or would_change_limb:
        return None
    own = [
        _own(bone, role, chain, bool(is_rotated))
        for bone, role, is_rotated in zip((upper, lower), ("upper", "lower"), rotated, strict=True)
    ]
    bones = evaluated.pose.bones
    body = _body(chain, bones[upper.name], bones[lower.name], own)
    if body is None or body.in_parent is None or body.hinge is not None:
        return None
    parent = upper.parent.name if upper.parent else ""
    size = size_of(bones[parent].matrix) if body.carried and parent else None
    values = {name: float(getattr(settings, name)) for name in VARIABLE}
    return Steady(chain, body, parent, size, own[0], own[1], values, animated)


def _own(bone: PoseBone, role: str, chain: Chain, is_animated: bool) -> Own:
    """What the animator has in a bone's channels: kept in the chain's settings while the chain poses the bone."""
    settings = chain.settings
    channel = rotation_channel(bone.rotation_mode)
    of, rotation, scale = (
        (settings, f"own_{role}", f"own_{role}_scale") if settings.is_posed else (bone, channel, "scale")
    )
    numbers = tuple(getattr(of, rotation))[: SIZES[channel]]
    return Own(bone.name, bone.rotation_mode, numbers, tuple(getattr(of, scale)), is_animated)


def _body(chain: Chain, upper: PoseBone, lower: PoseBone, own: list[Own]) -> Anatomy | None:
    """The limb's shape, also if the chain is off now."""
    if chain.posing:
        return chain.posing.body
    try:
        return anatomy(upper, lower, own[0].scale, own[1].scale)
    except Unposable:
        return None
