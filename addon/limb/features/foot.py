"""Foot Follows: the foot or hand below a limb turns as the limb's target does, as far as its IK influence goes."""

from __future__ import annotations

from typing import Any

from mathutils import Euler

from ..spec import IN_SPACE, MADE_BY_US, TARGET, ConstraintSpec, Parts, spaces
from .feature import Feature, Making, acting

FOOT = f"{MADE_BY_US}Foot"
"""The constraint by which a foot copies the rotation of what its limb follows."""

OFFSET = f"{MADE_BY_US}Foot Offset"
"""The one by which it is turned off that, where it is: a transformation that always gives the same."""

OFFSET_BACK = f"{MADE_BY_US}Foot Offset Back"
"""The one that turns it by the opposite before it copies the target: so only that one blends between FK and IK, the
short way, and the offset is whole at any influence."""

SHARED = "shared"
"""The role of the lowest bone on which both a foot and what it follows hang: seen from that, neither is mirrored or
sheared."""


def _made(making: Making) -> Parts:
    turn = making.value.foot_turn
    of_spaces, space = (IN_SPACE, SHARED) if making.is_sharing else (spaces(making.is_foot_near), "")
    copying = ConstraintSpec("foot", FOOT, "COPY_ROTATION", TARGET, of_spaces, space=space)
    if not any(turn):
        return Parts((), (copying,), (acting("foot", FOOT),))
    back: Any = Euler(turn).to_matrix().inverted().to_euler("XYZ")
    offsets = [
        ConstraintSpec("foot", name, "TRANSFORM", TARGET, (*of_spaces, *_turned_by(angles)), space=space)
        for name, angles in ((OFFSET_BACK, back), (OFFSET, turn))
    ]
    drivers = (acting("foot", name, "t" if name == FOOT else "t>0") for name in (OFFSET_BACK, FOOT, OFFSET))
    return Parts((), (offsets[0], copying, offsets[1]), tuple(drivers))


def _turned_by(angles: Any) -> tuple[tuple[str, Any], ...]:
    """A transformation that always gives the same turn, on top of what there is: as much at either end."""
    ends = (
        (f"to_{end}_{axis}_rot", angle) for axis, angle in zip("xyz", angles, strict=True) for end in ("min", "max")
    )
    return ("map_to", "ROTATION"), ("to_euler_order", "XYZ"), ("mix_mode_rot", "AFTER"), *ends


FEATURE = Feature(
    "foot_follows",
    label="Foot Follows",
    description="Turn feet or hands as the targets are turned, or not",
    fields=("foot_turn",),
    is_in_mechanism=False,
    is_had=lambda value: bool(value.foot) and value.foot_turn is not None,
    is_possible=lambda value: bool(value.foot),
    made=_made,
)
