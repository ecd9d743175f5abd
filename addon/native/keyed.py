"""What the keys and drivers of a chain say over all frames, as far as that takes another mechanism.

Keys on all channels and properties, as Blender sets them and importers leave them, often give each the value it has.
"""

from __future__ import annotations

from math import inf

from bpy.types import PoseBone

from ..rig.data.access import chain_settings, place_of_setting, setting_path, upper_of
from ..rig.data.animation import changing_paths, curves_on, drivers_on, is_shaped, outcomes_of, strips_of
from ..rig.settings import BY_NAME, CHOICES, NAMES
from .mechanism.parts import property_path

SWITCHED = frozenset(("SWING", "POLE"))
"""The planes between which one goes that is animated, most of the time: that of limbs converted from Rigify."""

ROUNDING = 1e-6
"""Up to what part of its length a bone's own location is what rounding left, as of Apply Visual Transform."""


def animated_by_name(lower: PoseBone, animated: set[str]) -> set[str]:
    """The settings of a chain that something animates by their names on the bone. Choices count only where they
    change, or are set otherwise now: importers leave curves that do not."""
    found = {name for name in NAMES if setting_path(lower.name, name) in animated}
    choices = {setting_path(lower.name, name): name for name in found.intersection(CHOICES)}
    changing = {choices[path] for path in changing_paths(lower.id_data, choices)}
    return found.difference(CHOICES) | changing | {name for name in choices.values() if _is_set_back(lower, name)}


def _is_set_back(lower: PoseBone, choice: str) -> bool:
    """Whether keys say something else of a choice than it is set to, until the next frame."""
    now = BY_NAME[choice].number_of(getattr(chain_settings(lower), choice))
    curves = curves_on(lower.id_data, setting_path(lower.name, choice))
    return any(round(key.co.y) != now for curve in curves for key in curve.keyframe_points)


def planes_of(lower: PoseBone) -> frozenset[str]:
    """The planes that a chain has now and in other frames, as far as what animates its plane tells; of a driver that
    may say anything, all that it has what it takes for."""
    ob, path = place_of_setting(lower, "plane")
    planes, settings = BY_NAME["plane"], chain_settings(lower)
    found = {settings.plane}
    for curve in curves_on(ob, path):
        found |= {planes.value_of(round(key.co.y)) for key in curve.keyframe_points}
    for curve in drivers_on(ob, path):
        others = {"REST", "SWING", *(["POLE"] if settings.pole_target else [])}
        found |= {planes.value_of(round(number)) for number in outcomes_of(curve.driver)} or others
    return frozenset(found)


def moving_root(lower: PoseBone, animated: set[str]) -> tuple[int, ...]:
    """Along which of its axes the upper bone has a location of its own: set, driven, or keyed to anything but none, as
    keys on all channels are."""
    upper = upper_of(lower)
    if upper.bone.use_connect and upper.parent:
        return ()
    places = [{number} for number in upper.location[:]]
    path = property_path(upper.name, "location")
    if path in animated:
        if drivers_on(lower.id_data, path):
            return (0, 1, 2)
        for curve in curves_on(lower.id_data, path):
            places[curve.array_index] |= {inf} if is_shaped(curve) else {key.co.y for key in curve.keyframe_points}
    least = ROUNDING * upper.bone.length
    return tuple(axis for axis, numbers in enumerate(places) if max(map(abs, numbers)) > least)


def leaves_sides(lower: PoseBone) -> bool:
    """Whether the bend of a chain is between the sides, or what animates it puts it there in some frame."""
    if abs(chain_settings(lower).bend) < 1.0:
        return True
    ob, path = place_of_setting(lower, "bend")
    curves = curves_on(ob, path)
    keys = [key for curve in curves for key in curve.keyframe_points]
    sides = {key.co.y for key in keys}
    jumps = len(sides) == 1 or (not strips_of(ob) and all(key.interpolation == "CONSTANT" for key in keys))
    return bool(drivers_on(ob, path)) or any(map(is_shaped, curves)) or not (sides <= {-1.0, 1.0} and jumps)
