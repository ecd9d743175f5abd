"""What can be set on a limb: names, kinds, defaults and limits, with what each feature adds; and what a value has to
be.

Sliders animate: they are custom properties of the limb's last bone, with names that read well without the extension.
Choices do not animate: they are kept in a property of the bone, `LIMB_MARK`, and become part of the mechanism. A value
of another type raises TypeError, a number out of its range ValueError: none is changed to the nearest."""

from __future__ import annotations

import math
from collections.abc import Collection
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from bpy.types import Object

from ..solver.limb import Plane
from .features import FEATURES
from .features.feature import INFLUENCE, TURN_LIMITS, Choice, Slider
from .tolerances import ROUNDING

COLLECTION = "Planar IK"
"""The bone collection that has all others that are made here in it."""

CONSTRAINT_NAME = "Planar IK"
"""The name of the muted IK constraint that makes a bone the last of a limb. What the names of the limb's other
constraints begin with, too: `MADE_BY_US`."""

LIMB_MARK = "planar_ik_limb"
"""The property of pose bones that holds, on a last bone, the choices and the reference shape, as JSON. It and the marks
below are registered, for no panel of Blender's to show them, and plain values, which cost other bones nothing."""

VERSION = 2
"""What is kept of limbs, and made for them, is of this version: see `tasks.status` for limbs of another."""

VERSION_KEY = "version"
"""What the group calls it."""

SEGMENT_MARK = "planar_ik_segment"
"""The property that marks the bones at which a limb's segments begin, by their places, from 1 on."""

TIP = "planar_ik_tip"
"""The property that marks the foot or hand below a limb, where its tip is."""

MADE_FOR_LIMB = "planar_ik_part"
"""The property of bones of an armature that were made for a limb: their role in a mechanism, or as controls."""

SPEC = "planar_ik_spec"
"""The property of a root helper that holds the spec it was made of."""

CONVERTED_FROM = "converted_from"
"""The entry of a converted limb's group that says what its constraints were set to before, as JSON: ``chain_count``
and ``mute`` of each by name; ``acting``, the name of the one that posed it; the data paths of ``muted_drivers``, which
muted them; and ``on_foot`` where the bone below the limb has them."""


SLIDERS = (
    INFLUENCE,
    Slider("flip", "IK Flip", False, None, "NONE", "Bend to the other side", is_feature=False, shows_pose=True),
    Slider(
        "swivel",
        "IK Swivel",
        0.0,
        TURN_LIMITS,
        "ANGLE",
        "Turn the knee around the limb",
        is_feature=False,
        shows_pose=True,
    ),
    *(slider for feature in FEATURES for slider in feature.sliders),
    Slider("pole", "IK Pole", True, None, "NONE", "Let the pole turn the knee"),
)

_BY_NAME = {slider.name: slider for slider in SLIDERS}


def every_slider() -> tuple[Slider, ...]:
    """All settings that animate."""
    return SLIDERS


def slider_of(name: str) -> Slider:
    """A setting that animates, by its name."""
    return _BY_NAME[name]


FEATURE_KEYS = tuple(dict.fromkeys(slider.key for slider in SLIDERS if slider.is_feature))
"""The custom properties that a limb has only while it has the feature."""

OWN_CHOICES = (
    Choice("plane", "FREE", tuple(map(str, Plane)), "Knee", "The plane that the limb bends in"),
    Choice(
        "tip",
        "FOOT",
        ("FOOT", "TAIL"),
        "Tip",
        "What goes to the target: where the foot or hand below begins, or the last bone's tail",
    ),
    Choice("min_angle", 0.0, (0.0, math.pi), "Knee Min", "The smallest angle inside the knee"),
    Choice("max_angle", math.pi, (0.0, math.pi), "Knee Max", "The largest angle inside the knee"),
)
"""The settings that do not animate which every limb has."""

CHOICE = {choice.name: choice for choice in (*OWN_CHOICES, *(one for feature in FEATURES for one in feature.choices))}
"""All settings that do not animate, by name."""

CHOICES: dict[str, Any] = {name: choice.default for name, choice in CHOICE.items()}
"""The same with their defaults."""

KNEE_LIMITS = (CHOICE["min_angle"], CHOICE["max_angle"])

ALLOWED = {name: choice.allowed for name, choice in CHOICE.items()}
"""What each may be: one of several words, or a number from the first to the second."""


BonesPerSegment = tuple[int, ...]
"""How many bones each segment of a limb has, from the root down: more than one where twist bones lie in line."""

FORMS: dict[str, tuple[int, ...] | type] = {
    "segments": (2, 3, 4),
    "constraint": str,
    "tip": str,
    "tip_at": (3,),
    "bend_axis": (3,),
    "reference_rotations": (8, 12, 16),
    "kept_on": (2,),
    "aligned": (1, 2, 3),
    VERSION_KEY: int,
    CONVERTED_FROM: str,
}
"""What has to be of a type in a limb's group, or so many numbers, for the limb to be read."""


Limits = tuple[float, float]


def to_number(name: str, value: Any, limits: Limits) -> float:
    """A value as a number within its limits; raises TypeError or ValueError otherwise."""
    if not isinstance(value, Real):
        raise TypeError(f"{name} is a number, not {_type(value)}")
    low, high = limits
    number = float(value)
    if not (isfinite(number) and low - ROUNDING <= number <= high + ROUNDING):
        raise ValueError(f"{name} is a number from {low:g} to {high:g}, not {number:g}")
    return min(max(number, low), high)


def to_numbers(name: str, value: Any, count: int, limits: Limits) -> list[float]:
    """A value as ``count`` numbers, each within its limits; raises TypeError or ValueError otherwise."""
    try:
        items = [*value]
    except TypeError:
        raise TypeError(f"{name} is {count} numbers, not {_type(value)}") from None
    if len(items) != count:
        raise ValueError(f"{name} is {count} numbers, a bone each, not {len(items)}")
    return [to_number(name, item, limits) for item in items]


def to_flag(name: str, value: Any) -> bool:
    """A value as True or False, also of 1 or 0; raises TypeError or ValueError otherwise."""
    if not isinstance(value, Real | np.bool_):
        raise TypeError(f"{name} is True or False, not {_type(value)}")
    if value not in (0, 1):
        raise ValueError(f"{name} is True or False, not {value}")
    return bool(value)


def to_count(name: str, value: Any, low: int, high: int) -> int:
    """A value as a whole number from ``low`` to ``high``; raises TypeError or ValueError otherwise."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} is a whole number, not {_type(value)}")
    number = int(value)
    if not low <= number <= high:
        raise ValueError(f"{name} is a whole number from {low} to {high}, not {number}")
    return number


def to_word(name: str, value: Any, words: Collection[str]) -> str:
    """A value as one of these words; raises TypeError otherwise, as Blender's own lists do."""
    if not isinstance(value, str) or value not in words:
        raise TypeError(f"{name} is one of {', '.join(words)}, not {value!r} ({_type(value)})")
    return value


def to_object(name: str, value: Any) -> Object | None:
    """A value as an object or None; raises TypeError otherwise."""
    if not isinstance(value, Object | None):
        raise TypeError(f"{name} is an object or None, not {_type(value)}")
    return value


def to_name(name: str, value: Any) -> str:
    """A value as the name of a bone; raises TypeError otherwise."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is the name of a bone, not {_type(value)}")
    return value


def _type(value: Any) -> str:
    return type(value).__name__
