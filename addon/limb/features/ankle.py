"""Ankle: the last of three or four bones turns, and the tip stays; see `solver.groups`."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from .. import formulas
from ..spec import holding
from .feature import Feature, Slider


def _settings(settings: Any, sliders: dict[str, Any], batch: Any) -> Any:
    if not (batch.reference.groups and sliders["ankle"].any()):
        return settings
    half = sliders["ankle"] / 2.0
    return settings._replace(ankle=(np.cos(half), np.sin(half)))


FEATURE = Feature(
    "ankle",
    (
        Slider(
            "ankle",
            "IK Ankle",
            0.0,
            (-pi, pi),
            "ANGLE",
            "Turn the last bone of three or four; the tip stays",
            shows_pose=True,
        ),
    ),
    least_bones=3,
    is_usual=True,
    why_not=lambda value: (
        "" if len(value.segments) > 2 else "'{bone}' has two bones: limbs of three or four have an ankle"
    ),
    settings=_settings,
    shown=lambda inverse, _sign: {"ankle": inverse.ankle},
    share=lambda spec: holding(formulas.folds(spec)),
)
