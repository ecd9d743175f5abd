"""Pole Follow: how far the pole of a limb goes with its target.

An Armature constraint with two driven weights on the pole itself, which hangs on nothing meanwhile. The pole is seen
where it acts, its own channels go on top, and a snap moves it as whatever a constraint holds. What the pole hung on is
the first of the constraint's targets, so that Blender itself keeps its name right; one that hung on nothing gets a
helper bone there that never moves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..spec import MADE_BY_US, ConstraintSpec, HelperBone, Parts, driven
from .feature import Feature, Making, Slider

FOLLOW = Slider(
    "pole_follow",
    "IK Pole Follow",
    0.0,
    (0.0, 1.0),
    "FACTOR",
    "How far the pole goes with the target: 0 not at all, a leg's with the hips; 1 wholly",
)

CONSTRAINT = f"{MADE_BY_US}Pole Follow"
"""The Armature constraint of the pole: its targets are what the pole hung on, and the limb's target."""

STILL = "still"
"""The role of the helper that never moves."""

NEEDS = "Pole Follow of '{bone}' needs a target and a pole that are bones of its rig: pick such"

WEIGHTS = ("1-min(max(f,0),1)", "min(max(f,0),1)")
"""What the weights of the targets are by the slider."""

UPWARDS = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
"""How the helper rests that never moves: at the origin, along Z."""


class PoleFollow(NamedTuple):
    """What the pole goes with where the slider is 0: the bone ``above``, or nothing. Without Pole Follow it hangs on
    that, or, if it was ``on_target``, on the target; then the bone is the hips."""

    above: str
    on_target: bool


def carried(above: Any, target: Any, share: Any) -> Any:
    """The move of a pole from its rest: the mean of those of what it goes with, weighted by ``share``. Of their
    numbers, as an Armature constraint has it: Blender's matrices, or arrays (..., 4, 4) with a share (..., 1, 1)."""
    return above + (target - above) * np.clip(share, 0.0, 1.0)


def _made(making: Making) -> Parts:
    hangs = making.value.pole_follow.above
    still = () if hangs else (HelperBone(STILL, "", UPWARDS, "QUATERNION", length=making.length),)
    targets = ("above pole" if hangs else STILL, "target")
    carrying = ConstraintSpec("pole", CONSTRAINT, "ARMATURE", "", targets=targets)
    drivers = [
        driven("pole", f'constraints["{CONSTRAINT}"].targets[{i}].weight', -1, weight, "f", FOLLOW.key)
        for i, weight in enumerate(WEIGHTS)
    ]
    return Parts(still, (carrying,), tuple(drivers), free=("pole",))


FEATURE = Feature(
    "pole_follows",
    (FOLLOW,),
    label="Pole Follow",
    description="Have a slider say how far poles go with the targets, or leave them to what they hang on",
    fields=("pole_follow",),
    is_in_mechanism=False,
    has_helpers=True,
    is_had=lambda value: value.pole_follow is not None,
    is_possible=lambda value: bool(value.pole),
    made=_made,
    broken="Pole Follow of '{bone}' is missing or edited: rebuild the limb",
)
