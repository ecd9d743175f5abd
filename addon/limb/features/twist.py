"""Twist: each bone turns about the line from its joint to the next, and the joints stay; see `solver.limb`.

On a rig, the helper that turns as a bone does is turned back about the line of the bone above before that, and about
its own after."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import formulas, tolerances
from ..spec import LOCAL, MADE_BY_US, ConstraintSpec, Share, Spec, axes_of_turn, twisted_line
from .feature import TURN_LIMITS, Feature, Slider

TWISTS = tuple(
    Slider(
        f"twist {place + 1}",
        "IK Twist",
        0.0,
        TURN_LIMITS,
        "ANGLE",
        "Turn each bone about its own line; the joints stay",
        bone=place,
        shows_pose=True,
    )
    for place in range(4)
)
"""By how much each bone of a limb is turned about the line from its joint to the next."""

TURNED = f"{MADE_BY_US}Twist"
"""The constraint that turns a helper."""


def _settings(settings: Any, sliders: dict[str, Any], batch: Any) -> Any:
    twists = [sliders[slider.name] for slider in TWISTS[: len(batch.reference.lengths)]]
    if not any(twist.any() for twist in twists):
        return settings
    halves = [twist * batch.outwards / 2.0 for twist in twists]
    return settings._replace(twist=tuple((np.cos(half), np.sin(half)) for half in halves))


def _shown(inverse: Any, sign: float) -> dict[str, Any]:
    """None where no bone is turned by more than is kept anyway."""
    turns = np.array(inverse.twist, float)
    turns = sign * np.unwrap(turns) if np.abs(turns).max(initial=0.0) > tolerances.KEPT_TURN else np.zeros_like(turns)
    return {slider.name: turn for slider, turn in zip(TWISTS, turns, strict=False)}


def _share(spec: Spec) -> Share:
    places = range(1, len(spec.bones) + 1)
    return Share(
        turns=tuple(turn for k in places for turn in _constraints(spec, k)),
        drivers=tuple(driver for k in places for driver in _drivers(spec, k)),
    )


def _constraints(spec: Spec, k: int) -> list[ConstraintSpec]:
    """What turns a bone about its line after its own turn, which has it turned as if the line was Y: about Y, and back
    to where the line is."""
    about, out, tilted = twisted_line(spec, k)
    axes = axes_of_turn(spec, k)
    turns: list[tuple[str, dict[str, float]]] = [("ZXY", {"Z": -about})]
    if abs(out) > tolerances.ROUNDING or abs(tilted) > tolerances.ROUNDING:
        turns = [("YXZ", {"X": out}), ("ZXY", {"X": -out, "Z": -about}), ("ZXY", {"X": tilted})]
    constraints = []
    for i, (order, angles) in enumerate(turns):
        fixed = tuple((f"to_min_{axes.name(axis).lower()}_rot", angle) for axis, angle in angles.items())
        in_order = ("to_euler_order", "".join(map(axes.name, order)))
        settings = (*LOCAL, ("map_to", "ROTATION"), ("mix_mode_rot", "AFTER"), in_order, *fixed)
        name = TURNED + (f" {i + 1}" if i else "")
        constraints.append(ConstraintSpec(f"turn {k}", name, "TRANSFORM", "root", settings))
    return constraints


def _drivers(spec: Spec, k: int) -> list[tuple[str, str, int, str]]:
    role, axes, line = f"turn {k}", axes_of_turn(spec, k), twisted_line(spec, k)
    path = f'constraints["{TURNED}"].to_min_{axes.name("Y").lower()}_rot'
    drivers = [(role, path, -1, formulas.twist(spec, k))]
    if k > 1:
        drivers.append((role, "rotation_euler", axes.at("Y"), formulas.untwist(spec, k - 1)))
    if abs(line.tilted) > tolerances.ROUNDING:
        drivers.append((role, "rotation_euler", axes.at("X"), formulas.number(-line.tilted)))
    return drivers


FEATURE = Feature(
    "twist",
    TWISTS,
    label="Twist",
    description="Let bones turn about their own lines, joints unmoved, or not",
    settings=_settings,
    shown=_shown,
    lacking="'{bone}' is turned off its hinge: IK turns it back",
    share=_share,
)
