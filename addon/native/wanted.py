"""What a chain is to do on the rig, and which parts of the solver's formulas that takes."""

from __future__ import annotations

from math import cos, inf
from typing import Any, NamedTuple

from bpy.types import PoseBone

from ..rig.access import ArmatureObject, chain_settings, place_of_setting, setting_path, upper_of
from ..rig.animation import animated_paths, changing_paths, curves_on, has_strips, is_driven
from ..rig.settings import BY_NAME, CHOICES, FLAT, IN_SHAPE, NAMES, ON_RIG, holder_of
from ..rig.setup import Refused
from ..rig.sides import swing_side
from ..rig.targets import Target, followed
from ..solver.chain import Features
from ..solver.record import Node
from ..solver.triangle import Settings
from . import formulas
from .annex import needs_annex
from .expressions import call
from .found import exposed
from .parts import property_path

ALWAYS = frozenset(("bend", "influence"))
"""The settings that are custom properties whether or not they are animated."""

SWITCHED = frozenset(("SWING", "POLE"))
"""The planes between which one that is animated may go."""

FIXED = ("stretch_volume",)
"""The settings that make the mechanism what it is, and so can't be animated on the rig."""

ROUNDING = 1e-6
"""Up to what part of its length a bone's own location is what rounding left, as of Apply Visual Transform."""


class Values(NamedTuple):
    """What a chain's settings are, which of them are custom properties on the rig, which are animated, and which of
    those where that does nothing: on the bone, though the rig has them as custom properties."""

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
    animated: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()
    swing_side: float = 1.0
    moving: tuple[int, ...] = ()
    """Along which of its axes the upper bone has a location of its own."""


def solver_values(wanted: Wanted) -> Settings:
    """The solver's settings: numbers, or the variables of custom properties."""
    given = wanted.settings | {name: formulas.SETTINGS[name] for name in wanted.exposed & formulas.SETTINGS.keys()}
    cosines = [_squared_cosine(given[name]) for name in ("min_angle", "max_angle")]
    is_limited = isinstance(given["max_angle"], Node) or given["max_angle"] < FLAT
    return Settings(
        given["bend"],
        given["softness"],
        given["stretch"],
        given["stretch_max"],
        cosines[0],
        cosines[1] if is_limited else 0.0,
        given["influence"],
        wanted.swing_side,
    )


def features(wanted: Wanted) -> Features:
    """Which parts of the formula a chain needs: what is off and stays off costs nothing."""
    given = wanted.settings
    animated = wanted.exposed - ALWAYS
    shaped = given["softness"] > 0.0 or given["stretch"] > 0.0 or given["min_angle"] > 0.0 or given["max_angle"] < FLAT
    shaped = shaped or bool(animated & {"softness", "stretch", "min_angle", "max_angle"})
    return Features(shaped, needs_swing(wanted), True)


def needs_swing(wanted: Wanted) -> bool:
    """Whether the knee may swing between the sides: a driver more for each bone, or two, and Blender evaluates all
    drivers of an object as soon as one of them must be."""
    return "bend" in wanted.animated or abs(wanted.settings["bend"]) < 1.0


def moving_root(lower: PoseBone, animated: set[str]) -> tuple[int, ...]:
    """Along which of its axes the upper bone has a location of its own: set, driven, or keyed to anything but none, as
    keys on all channels are."""
    upper = upper_of(lower)
    if upper.bone.use_connect and upper.parent:
        return ()
    places = [{number} for number in upper.location[:]]
    path = property_path(upper.name, "location")
    if path in animated:
        if is_driven(lower.id_data, path):
            return (0, 1, 2)
        for curve in curves_on(lower.id_data, path):
            places[curve.array_index] |= {inf} if curve.modifiers else {key.co.y for key in curve.keyframe_points}
    least = ROUNDING * upper.bone.length
    return tuple(axis for axis, numbers in enumerate(places) if max(map(abs, numbers)) > least)


def swings(lower: PoseBone, wanted: Wanted) -> bool:
    """Whether the knee is between the sides in some frame, as far as keys tell."""
    if abs(wanted.settings["bend"]) < 1.0:
        return True
    ob, path = place_of_setting(lower, "bend")
    curves = curves_on(ob, path)
    keys = [key for curve in curves for key in curve.keyframe_points]
    sides = {key.co.y for key in keys}
    jumps = len(sides) == 1 or (not has_strips(ob) and all(key.interpolation == "CONSTANT" for key in keys))
    return is_driven(ob, path) or any(curve.modifiers for curve in curves) or not (sides <= {-1.0, 1.0} and jumps)


def _squared_cosine(angle: Any) -> Any:
    if not isinstance(angle, Node):
        return cos(angle / 2.0) ** 2
    cosine = call("cos", angle / 2.0)
    return cosine * cosine


def fixed_on(ob: ArmatureObject) -> tuple[str, ...]:
    """The settings that can't be animated on a rig; in an annex, nothing turns as the limb's plane does."""
    return (*FIXED, *IN_SHAPE) if needs_annex(ob) else FIXED


def values_of(lower: PoseBone, animated: set[str]) -> Values:
    """The settings of a chain, which it has also where it has nothing to follow; with the paths that are animated."""
    holder = holder_of(lower)
    custom = animated if holder == lower else animated_paths(holder.id_data)
    fixed = fixed_on(lower.id_data)
    on_bone = _animated_by_name(lower, animated).difference(fixed)
    on_rig = {name for name in NAMES if path_on(holder, name) in custom and name not in fixed}
    values = {name: getattr(chain_settings(lower), name) for name in NAMES}
    own = exposed(lower)
    moving = frozenset(on_bone | on_rig)
    # What is linked goes on animating the bone when it is carried to an annex.
    waiting = frozenset(on_bone.intersection(own) - (set() if holder == lower else on_rig))
    stays = {"plane"}.intersection(own) if values["plane"] in SWITCHED else set()  # for the pole is measured for it
    return Values(values, ALWAYS | moving | stays, moving, waiting)


def _animated_by_name(lower: PoseBone, animated: set[str]) -> set[str]:
    """The settings of a chain that something animates by their names on the bone. Choices count only where they
    change: importers leave curves that do not."""
    found = {name for name in NAMES if setting_path(lower.name, name) in animated}
    choices = {setting_path(lower.name, name): name for name in found.intersection(CHOICES)}
    return found.difference(CHOICES) | {choices[path] for path in changing_paths(lower.id_data, choices)}


def _check_plane(lower: PoseBone) -> None:
    """Raise `Refused` if a plane that is animated is one that the rig can't switch to."""
    ob, path = place_of_setting(lower, "plane")
    numbers = {round(key.co.y) for curve in curves_on(ob, path) for key in curve.keyframe_points}
    keyed = {BY_NAME["plane"].value_of(number) for number in numbers}
    if not {*keyed, chain_settings(lower).plane} <= SWITCHED:
        raise Refused(
            f"Plane of '{lower.name}' is animated and at times Hinge: make that Free, or stay on the extension"
        )


def read(lower: PoseBone) -> Wanted:
    """What a chain is to do, as it is set; raises `Refused` if it has nothing to follow."""
    settings, animated = chain_settings(lower), animated_paths(lower.id_data)
    values = values_of(lower, animated)
    if "plane" in values.animated:
        _check_plane(lower)
    has_pole = settings.plane == "POLE" or "plane" in values.exposed
    target, pole = followed(settings, has_pole)
    if target is None or (has_pole and pole is None):
        raise Refused(f"'{lower.name}' has no {'pole ' if target else ''}target")
    root = moving_root(lower, animated) if lower.parent else ()
    return Wanted(target, pole, *values, swing_side(lower.name), root)


def path_on(holder: PoseBone, setting: str) -> str:
    """The data path of a setting that is a custom property."""
    return property_path(holder.name, f'["{ON_RIG}{setting}"]')


def goals_of(wanted: Wanted) -> list[tuple[Any, str]]:
    """What a mechanism measures the places of."""
    return [(goal.object, goal.bone) for goal in (wanted.target, wanted.pole) if goal]
