"""The overlay's colours: the theme's own, made readable on the background that the theme has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...solver.ops import Array
from .figure import Role

CONTRAST = 3.0
"""The contrast of lines to the background, as WCAG 2.1 measures it and asks for graphics (its 1.4.11)."""

LINE_ALPHA, AREA_ALPHA = 0.9, {Role.REACH: 0.07, Role.LIMIT: 0.16, Role.SOFT: 0.12, Role.BONE: 0.3}

Colour = tuple[float, float, float]


def of_lines(theme: Any) -> Array:
    """A colour with alpha for each role, from a theme (``preferences.themes[0]``)."""
    return np.array([(*colour, LINE_ALPHA) for colour in _colours(theme)], np.float32)


def of_areas(theme: Any, limbs: int) -> Array:
    """The same for the areas of this many limbs, through which the scene is to be seen: those of reach lie over each
    other."""
    colours = [(*colour, AREA_ALPHA.get(role, 0.0)) for role, colour in zip(Role, _colours(theme), strict=True)]
    palette = np.array(colours, np.float32)
    palette[Role.REACH, 3] /= limbs
    return palette


def readable(colour: Sequence[float], background: Sequence[float]) -> Colour:
    """The colour, taken as far towards white or black as it takes to stand out from the background."""
    end = 1.0 if contrast((1.0, 1.0, 1.0), background) > contrast((0.0, 0.0, 0.0), background) else 0.0
    for step in range(11):
        share = step / 10
        mixed = tuple(part + share * (end - part) for part in colour[:3])
        if contrast(mixed, background) >= CONTRAST:
            break
    return mixed[0], mixed[1], mixed[2]


def contrast(one: Sequence[float], other: Sequence[float]) -> float:
    """The contrast of two colours, from 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Sequence[float]) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _colours(theme: Any) -> list[Colour]:
    view, states = theme.view_3d, theme.user_interface.wcol_state
    background = view.space.gradients.high_gradient
    # Before 4.5 the colour of errors was among the Info editor's.
    error = states.error if hasattr(states, "error") else theme.info.info_error
    sources = {
        Role.REACH: view.bone_pose,
        Role.LIMIT: error,
        Role.SOFT: states.inner_key,
        Role.LINE: view.object_selected,
        Role.OTHER: view.bone_pose,
        Role.SOLUTION: view.object_selected,
        Role.OWN: states.inner_anim,
        Role.POLE: states.inner_driven,
        Role.MISS: error,
        Role.BONE: states.inner_key,  # yellow, as Blender tints bones with IK
    }
    return [readable(sources[role], background) for role in Role]
