"""What a chain is to do on the rig, and which parts of the solver's formulas that takes."""

from __future__ import annotations

from math import cos
from typing import Any, NamedTuple

from bpy.types import PoseBone

from ..rig.chain_settings import holder_of
from ..rig.data.access import ArmatureObject, chain_settings
from ..rig.data.animation import animated_paths
from ..rig.data.sides import swing_side
from ..rig.kinds import Refused
from ..rig.settings import IN_SHAPE, NAMES, ON_RIG
from ..rig.solver_settings import features_of, solver_settings
from ..rig.targets import Target, followed
from ..solver.triangle import Settings
from .keyed import SWITCHED, animated_by_name, moving_root, planes_of
from .mechanism import formulas
from .mechanism.annex import needs_annex
from .mechanism.expressions import call
from .mechanism.found import exposed, may_switch
from .mechanism.parts import property_path

ALWAYS = frozenset(("bend", "influence"))
"""The settings that are custom properties whether or not they are animated."""


class Values(NamedTuple):
    """A chain's settings by name; which of them are ``exposed``, that is, custom properties on the rig; which are
    animated; and which are ``waiting``: animated by their name on the bone, where that has no effect on the rig."""

    settings: dict[str, Any]
    exposed: frozenset[str]
    animated: frozenset[str]
    waiting: frozenset[str]


class Wanted(NamedTuple):
    """What a chain is to do: its targets, its settings, and which of these are custom properties."""

    target: Target
    pole: Target | None
    settings: dict[str, Any]
    exposed: frozenset[str]
    animated: frozenset[str]
    waiting: frozenset[str]
    swing_side: float
    moving: tuple[int, ...]
    """Along which of its axes the upper bone has a location of its own."""
    planes: frozenset[str]
    """The planes that the limb is to bend in, now or at other times."""

    @property
    def stretches(self) -> bool:
        """Whether the limb is to lengthen, now or at other times."""
        return bool(self.settings["stretch"] or "stretch" in self.exposed)

    @property
    def lengthens_only(self) -> bool:
        """Whether it is then to get longer by other factors than it gets wide."""
        return self.stretches and (self.settings["stretch_volume"] != "UNIFORM" or "stretch_volume" in self.exposed)

    @property
    def is_shaped(self) -> bool:
        """Whether the limb is soft, limited or stretched, now or at other times."""
        is_now = features_of(solver_settings(self.settings, self.swing_side, cos), self.settings["plane"]).shaped
        return is_now or not self.exposed.isdisjoint(("softness", "stretch", "min_angle", "max_angle"))

    @property
    def swings(self) -> bool:
        """Whether the knee may swing between the sides: a driver more for each bone, or two, and Blender evaluates all
        drivers of an object as soon as one of them must be."""
        return "bend" in self.animated or abs(self.settings["bend"]) < 1.0


def solver_values(wanted: Wanted) -> Settings:
    """The solver's settings: numbers, or where they are exposed the variables of their custom properties."""
    variables = {name: formulas.INPUTS[name] for name in wanted.exposed.intersection(Settings._fields)}
    for end in ("min", "max"):
        if f"{end}_angle" in wanted.exposed:
            cosine = call("cos", formulas.INPUTS[f"{end}_angle"] / 2.0)
            variables[f"{end}_cos2"] = cosine * cosine
    return solver_settings(wanted.settings, wanted.swing_side, cos)._replace(**variables)


def fixed_on(ob: ArmatureObject) -> tuple[str, ...]:
    """The settings that can't be animated on a rig; in an annex, nothing turns as the limb's plane does."""
    return IN_SHAPE if needs_annex(ob) else ()


def values_of(lower: PoseBone, animated: set[str]) -> Values:
    """The settings of a chain, which it has also where it has nothing to follow; with the paths that are animated."""
    holder = holder_of(lower)
    custom = animated if holder == lower else animated_paths(holder.id_data)
    fixed = fixed_on(lower.id_data)
    on_bone = animated_by_name(lower, animated).difference(fixed)
    on_rig = {name for name in NAMES if path_on(holder, name) in custom and name not in fixed}
    values = {name: getattr(chain_settings(lower), name) for name in NAMES}
    own = exposed(lower)
    moving = frozenset(on_bone | on_rig)
    # What is linked goes on animating the bone when it is carried to an annex.
    waiting = frozenset(on_bone.intersection(own) - (set() if holder == lower else on_rig))
    stays = {"plane"}.intersection(own) if values["plane"] in SWITCHED else set()  # for the pole is measured for it
    return Values(values, ALWAYS | moving | stays, moving, waiting)


def read(lower: PoseBone) -> Wanted:
    """What a chain is to do, as it is set; raises `Refused` if it has nothing to follow."""
    settings, animated = chain_settings(lower), animated_paths(lower.id_data)
    values = values_of(lower, animated)
    planes = _planes(lower, values)
    has_pole = "POLE" in planes
    target, pole = followed(settings, has_pole)
    if target is None or (has_pole and pole is None):
        raise Refused(f"'{lower.name}' has no {'pole ' if target else ''}target")
    root = moving_root(lower, animated) if lower.parent else ()
    return Wanted(target, pole, *values, swing_side(lower.name), root, planes)


def _planes(lower: PoseBone, values: Values) -> frozenset[str]:
    """The planes that a chain's mechanism is to have: those that it may be switched to, as long as it has a pole."""
    if "plane" in values.animated:
        return planes_of(lower)
    may_be = "plane" in values.exposed and may_switch(lower) and chain_settings(lower).pole_target
    return SWITCHED if may_be else frozenset((values.settings["plane"],))


def path_on(holder: PoseBone, setting: str) -> str:
    """The data path of a setting that is a custom property."""
    return property_path(holder.name, f'["{ON_RIG}{setting}"]')


def goals_wanted(wanted: Wanted) -> list[tuple[Any, str]]:
    """What a mechanism measures the places of."""
    return [(goal.object, goal.bone) for goal in (wanted.target, wanted.pole) if goal]
