"""Root limits: how far the first of two bones may turn about its hinge; see `solver.limits`."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

import numpy as np

from ...solver import groups, rotation
from ...solver.limits import Limits, Range, turned_back
from .. import formulas
from ..spec import holding
from .feature import Choice, Feature

CHOICES = (
    Choice(
        "root_min_angle",
        -pi,
        (-pi, pi),
        "Root Min",
        "The least turn of the first bone: below 0 away from where the joint points",
    ),
    Choice(
        "root_max_angle",
        pi,
        (-pi, pi),
        "Root Max",
        "The largest turn of the first bone: above 0 towards where the joint points",
    ),
)


def is_narrow(choices: dict[str, Any]) -> bool:
    """Whether settings limit the turn of the first bone."""
    return bool(choices["root_min_angle"] > -groups.UNLIMITED or choices["root_max_angle"] < groups.UNLIMITED)


def _fits(value: Any) -> bool:
    return bool(value.choices["plane"] == "HINGE" and len(value.segments) == 2)


def _why_not(value: Any) -> str:
    if not is_narrow(value.choices):
        return ""
    if not _fits(value):
        return "Root limits are about a hinge: '{bone}' needs two bones and Hinge"
    has_easing = {"softness", "stretch"} & value.sliders.keys()
    return "'{bone}' has root limits, which go without softness and stretch" if has_easing else ""


def _still(entries: Sequence[Any]) -> dict[str, Any]:
    """The limits of both joints as the solver takes them, a row each; none where no limb has any of its first."""
    choices = [entry.choices for entry in entries]
    if entries[0].plane != "HINGE" or len(entries[0].bones) > 2 or not any(map(is_narrow, choices)):
        return {}
    ranges = [_first_range(entry) if is_narrow(entry.choices) else (-pi, pi) for entry in entries]
    knees = [(pi - of_limb["max_angle"], pi - of_limb["min_angle"]) for of_limb in choices]
    return {"limits": Limits(_range(ranges), _range(knees))}


def _first_range(entry: Any) -> tuple[float, float]:
    ends = float(entry.choices["root_min_angle"]), float(entry.choices["root_max_angle"])
    return turned_back(*ends, entry.geometry.normals[0], entry.geometry.reference_rotations[0])


def _range(ends: Sequence[tuple[float, float]]) -> Range:
    """Turns between these, a row each."""
    halves = [(rotation.half_of((a + b) / 2.0), rotation.half_of(max(b - a, 0.0) / 2.0)) for a, b in ends]
    middle, width = np.array(halves, float).transpose(1, 2, 0)
    return Range((middle[0], middle[1]), (width[0], width[1]))


FEATURE = Feature(
    "root_limits",
    choices=CHOICES,
    limits="Root Limits",
    is_had=lambda value: is_narrow(value.choices) and _fits(value),
    is_possible=_fits,
    why_not=_why_not,
    still=_still,
    share=lambda spec: holding(formulas.limits(spec)),
)
