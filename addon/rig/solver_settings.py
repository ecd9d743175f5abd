"""What the solver takes, from settings by their names."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ..solver.chain import Features, Plane
from ..solver.triangle import Settings
from .settings import IN_SHAPE, Angles

FLAT = math.pi - 1e-6
"""The largest knee angle in single precision that is still no limit."""


def angles_of(numbers: Mapping[str, float]) -> Angles:
    """The settings that are part of the limb's shape, from settings by their names."""
    hinge_angle, lower_twist, pole_angle = (numbers[name] for name in IN_SHAPE)
    return hinge_angle, lower_twist, pole_angle


def solver_settings(values: Mapping[str, Any], swing_side: Any, cos: Callable[[Any], Any]) -> Settings:
    """What the solver takes, from settings by their names: numbers, or arrays with a cosine for arrays."""
    largest = values["max_angle"]
    return Settings(
        values["bend"],
        values["softness"],
        values["stretch"],
        values["stretch_max"],
        cos(values["min_angle"] / 2.0) ** 2,
        cos(largest / 2.0) ** 2 * (largest < FLAT),
        values["influence"],
        swing_side,
    )


def features_of(settings: Settings, plane: str, is_any: Callable[[Any], Any] = bool) -> Features:
    """Which parts of the formula these settings and this plane need; ``is_any`` says of an array whether it holds
    anywhere."""
    shaped = (settings.softness > 0.0) | (settings.stretch > 0.0)
    limited = (settings.min_cos2 < 1.0) | (settings.max_cos2 > 0.0)
    return Features(
        shaped=bool(is_any(shaped | limited)),
        swung=bool(is_any(abs(settings.bend) < 1.0)),
        blended=bool(is_any(settings.influence < 1.0)),
        plane=Plane(plane),
    )
