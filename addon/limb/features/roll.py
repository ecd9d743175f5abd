"""Foot Roll: a foot rolls on its heel, its ball and its toe, and tilts on the edges of its sole.

The limb's IK constraint goes on naming the control. So all that is done to a limb (picking, mirroring, removing,
Symmetrize, overrides, Blender's own line to the root) means the control, and knows nothing of rolls. From the control
on, helper bones roll, and the last of them, which rests at the tip, is where the limb goes: the solver, the mechanism
and the foot follow that one in the place of the control, see `limb.follow`.

The helpers, by their roles, each a child of the one before, none a child of a bone that somebody animates:

    roll control  goes where the control goes, and is turned and scaled as that is
    outer pivot   turns about the outer edge of the sole, if the bank is above 0; and so on
    inner pivot
    heel pivot
    toe pivot
    ball pivot
    rolled        does nothing: the rolled target
    flat toe      a child of the ball pivot: turns back by as much, which the toes copy

A pivot turns about its own X axis, at its own place: these are all that is kept of it, so that it can be moved in Edit
Mode.

A roll is rigid to the control: with the rolled target at K R, where K is the control, R is the same wherever the
control goes. For that to be at W, the control goes to W R⁻¹."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi
from typing import Any, NamedTuple

import numpy as np
from mathutils import Euler, Matrix

from ..spec import CONTROL, MADE_BY_US, ConstraintSpec, HelperBone, Parts, driven, spaces
from .feature import Choice, Feature, Making, Slider, acting

ROLL = Slider(
    "roll",
    "IK Roll",
    0.0,
    (-pi, pi),
    "ANGLE",
    "Roll the foot: below 0 on the heel, above it on the ball, then on the toe",
)
BANK = Slider(
    "bank",
    "IK Bank",
    0.0,
    (-pi, pi),
    "ANGLE",
    "Tilt the foot: above 0 on the outer edge of its sole, below 0 on the inner",
)
TOE_FROM = Choice("break_angle", pi / 4.0, (0.0, pi), "Toe From", "The roll from which on the foot rolls on its toe")

FLAT_TOE = f"{MADE_BY_US}Flat Toe"
"""The constraint by which a toe stays flat on the ball."""

GOES, TURNS = (f"{MADE_BY_US}{name}" for name in ("Goes", "Turns"))
"""Those by which the first helper of a roll goes with the control."""

ROLL_CONTROL, OUTER_PIVOT, INNER_PIVOT, HEEL_PIVOT, TOE_PIVOT, BALL_PIVOT, ROLLED_TARGET, FLAT_TOE_BONE = ROLL_ROLES = (
    "roll control",
    "outer pivot",
    "inner pivot",
    "heel pivot",
    "toe pivot",
    "ball pivot",
    "rolled",
    "flat toe",
)
"""The roles of the helper bones of a foot roll, from the control on."""

PIVOTS = (OUTER_PIVOT, INNER_PIVOT, HEEL_PIVOT, TOE_PIVOT, BALL_PIVOT)

PIVOTS_COLLECTION = "IK Foot Pivots"
"""The bone collection of all pivots, which is hidden: shown, they can be moved in Edit Mode."""

LENGTH = 0.15
"""How long the helpers of a roll are, in lengths of the limb's last bone."""

Pivots = Mapping[str, Matrix]
"""Where pivots rest in the armature, by role. Each turns about its X axis."""


class Roll(NamedTuple):
    """A foot roll: where its pivots rest in the armature, by role, and the names of toes that it keeps flat."""

    pivots: Pivots
    toes: tuple[str, ...]


def _made(making: Making) -> Parts:
    """What is scaled in the rig itself scales the roll too; of an object as control, whose size may be anything, it
    does not."""
    roll, rolled_rest = making.value.roll, _rolled_rest(making)
    bones, above = [], ""
    for role in ROLL_ROLES if roll.toes else ROLL_ROLES[:-1]:
        rest: Any = roll.pivots.get(BALL_PIVOT if role == FLAT_TOE_BONE else role, rolled_rest)
        bones.append(
            HelperBone(
                role,
                BALL_PIVOT if role == FLAT_TOE_BONE else above,
                tuple(map(float, np.ravel(rest))),
                "XYZ",
                length=LENGTH * making.length,
                collection=PIVOTS_COLLECTION,
            )
        )
        above = role
    kinds = {GOES: "COPY_TRANSFORMS"} if making.is_near else {GOES: "COPY_LOCATION", TURNS: "COPY_ROTATION"}
    constraints = [
        ConstraintSpec(ROLL_CONTROL, name, kind, CONTROL, spaces(making.is_near)) for name, kind in kinds.items()
    ]
    turns = _expressions(making.value.choices["break_angle"])
    drivers = [
        driven(bone.role, "rotation_euler", 0, turns[bone.role][1], "r", turns[bone.role][0].key)
        for bone in bones
        if bone.role in turns
    ]
    flat = (("owner_space", "LOCAL"), ("target_space", "LOCAL_OWNER_ORIENT"), ("mix_mode", "BEFORE"))
    for toe in (f"toe {k}" for k in range(len(roll.toes))):
        constraints.append(ConstraintSpec(toe, FLAT_TOE, "COPY_ROTATION", FLAT_TOE_BONE, flat))
        drivers.append(acting(toe, FLAT_TOE))
    return Parts(tuple(bones), tuple(constraints), tuple(drivers))


def _rolled_rest(making: Making) -> Matrix:
    """Where the rolled target rests: at the tip, turned as the control is where the foot is at rest, which is turned
    off that by some angles."""
    off: Any = Euler(making.value.foot_turn or (0.0, 0.0, 0.0)).to_matrix()
    turn: Matrix = making.foot_rest.to_3x3() @ off.transposed()
    rest: Matrix = Matrix.Translation(making.tip) @ turn.normalized().to_4x4()
    return rest


def _expressions(break_angle: float) -> dict[str, tuple[Slider, str]]:
    """What each helper turns by about its X axis, clamped on both sides: ``r`` is the roll, or the bank."""
    end, ball = f"{3.1415927:g}", f"{float(break_angle):.9g}"
    return {
        OUTER_PIVOT: (BANK, f"min(max(r,0),{end})"),
        INNER_PIVOT: (BANK, f"max(min(r,0),-{end})"),
        HEEL_PIVOT: (ROLL, f"max(min(r,0),-{end})"),
        TOE_PIVOT: (ROLL, f"min(max(r-{ball},0),{end})"),
        BALL_PIVOT: (ROLL, f"min(max(r,0),{ball})"),
        FLAT_TOE_BONE: (ROLL, f"-min(max(r,0),{ball})"),
    }


FEATURE = Feature(
    "foot_roll",
    (ROLL, BANK),
    (TOE_FROM,),
    label="Foot Roll",
    description="Let feet roll on heel, ball and toe, and tilt on their edges, or not",
    fields=("roll",),
    is_in_mechanism=False,
    has_helpers=True,
    is_had=lambda value: value.roll is not None and bool(value.foot),
    is_possible=lambda value: bool(value.foot),
    made=_made,
    broken="The foot roll of '{bone}' is missing or edited: rebuild the limb",
)
