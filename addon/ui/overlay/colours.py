"""The overlay's colours: the theme's own, made readable on the background that the theme has; linear, as the GPU draws
into the view."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from mathutils import Color

from ...solver.ops import Array
from .figure import Role

CONTRAST = 3.0
"""The contrast of lines to the background, as WCAG 2.1 measures it and asks for graphics (its 1.4.11)."""

LINE_ALPHA, AREA_ALPHA = 0.9, {Role.REACH: 0.07, Role.LIMIT: 0.16, Role.SOFT: 0.12, Role.BONE: 0.3}

Colour = tuple[float, float, float]

Source = tuple[float, ...]
"""A colour as a theme has it, with or without alpha."""


def palette(theme: Any, limbs: int) -> Array:
    """A colour with alpha for each role, of lines and of the areas of this many limbs, ``(2, roles, 4)``; from a theme
    (``preferences.themes[0]``). The scene is to be seen through areas, and those of reach lie over each other."""
    return _palette(*sources_of(theme), limbs)


@lru_cache(maxsize=8)
def _palette(sources: tuple[Source, ...], background: Source, limbs: int) -> Array:
    found = np.array([linear(readable(source, background)) for source in sources], np.float32)
    areas = np.array([AREA_ALPHA.get(role, 0.0) for role in Role], np.float32)
    areas[Role.REACH] /= limbs
    lines = np.full(len(Role), LINE_ALPHA, np.float32)
    return np.stack([np.column_stack((found, alpha)) for alpha in (lines, areas)])


@lru_cache(maxsize=64)
def readable(colour: tuple[float, ...], background: tuple[float, ...]) -> Colour:
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


@lru_cache(maxsize=64)
def linear(colour: tuple[float, ...]) -> Colour:
    """A colour as light, from one as themes have it (sRGB)."""
    found: Any = Color(colour[:3]).from_srgb_to_scene_linear()  # the stubs don't know that it iterates
    return tuple(found)


def _luminance(colour: Sequence[float]) -> float:
    red, green, blue = linear((*colour,))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def sources_of(theme: Any) -> tuple[tuple[Source, ...], Source]:
    """What of a theme each role's colour is made of, and the background."""
    view, states = theme.view_3d, theme.user_interface.wcol_state
    # Before 4.5 the colour of errors was among the Info editor's.
    error = (states.error if hasattr(states, "error") else theme.info.info_error)[:]
    pose, selected, key = view.bone_pose[:], view.object_selected[:], states.inner_key[:]
    sources = {
        Role.REACH: pose,
        Role.LIMIT: error,
        Role.SOFT: key,
        Role.LINE: selected,
        Role.OTHER: pose,
        Role.SOLUTION: selected,
        Role.OWN: states.inner_anim[:],
        Role.POLE: states.inner_driven[:],
        Role.MISS: error,
        Role.BONE: key,  # yellow, as Blender tints bones with IK
    }
    return tuple(sources[role] for role in Role), view.space.gradients.high_gradient[:]
