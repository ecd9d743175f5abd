"""Stretch: the bones lengthen towards a target out of reach.

On a rig, a helper bone has the scale of the limb's bones, which the first one copies and the others inherit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import formulas
from ..spec import LOCAL, MADE_BY_US, ConstraintSpec, Share, Spec
from .feature import Choice, Feature, Slider

COPIED = f"{MADE_BY_US}Stretch"
"""The constraint by which the first bone copies the scale."""

CHOICES = (
    Choice("stretch_max", 2.0, (1.0, 100.0), "Stretch Max", "How many times its length the limb may have"),
    Choice(
        "stretch_volume",
        "LENGTH",
        ("LENGTH", "UNIFORM", "VOLUME"),
        "Volume",
        "How thick the bones are while they are longer",
        items=(
            ("Length", "As thick as ever"),
            ("Uniform", "Thicker, too"),
            ("Volume", "Thinner, so that their volume stays"),
        ),
    ),
)


def _settings(settings: Any, sliders: dict[str, Any], _batch: Any) -> Any:
    if not sliders["stretch"].any():
        return settings
    softness = 0.0 if settings.softness is None else settings.softness
    return settings._replace(softness=softness, stretch=sliders["stretch"].clip(0.0, 1.0))


def _still(entries: Sequence[Any]) -> dict[str, Any]:
    return {"stretch_max": np.array([entry.choices["stretch_max"] for entry in entries], float)}


def _share(spec: Spec) -> Share:
    scales = tuple(("scale", "scale", index, expression) for index, expression in formulas.lengthening(spec).items())
    copied = ConstraintSpec("bone 1", COPIED, "COPY_SCALE", "scale", (*LOCAL, ("use_offset", True)))
    return Share(roles=("scale",), copies=(copied,), drivers=scales)


def scales_for(choices: dict[str, Any], points: Sequence[bool], factor: Any) -> tuple[Any, Any, Any]:
    """The factors (x, y, z) on the scale of a limb's bones that make them ``factor`` times as long; ``points`` says of
    each whether it points at the next joint."""
    if choices["stretch_volume"] == "UNIFORM" or not all(points):
        return (factor, factor, factor)
    width = factor**-0.5 if choices["stretch_volume"] == "VOLUME" else 1.0
    return (width, factor, width)


FEATURE = Feature(
    "stretch",
    (
        Slider(
            "stretch",
            "IK Stretch",
            0.0,
            (0.0, 1.0),
            "FACTOR",
            "How much the bones lengthen towards a target out of reach",
        ),
    ),
    CHOICES,
    label="Stretch",
    description="Lengthen bones towards a target out of reach, or take that away with its keys",
    limits="Stretch Limit",
    is_offered=True,
    settings=_settings,
    still=_still,
    share=_share,
)
