"""Turns of bones about their own lines, from each joint to the next, which leave the joints where they are."""

from __future__ import annotations

from collections.abc import Sequence

from .ops import Ops
from .reference import Reference
from .rotation import HalfAngle, Quaternion, Vector, conjugate, dot, multiply, rotate, scale


def twisted(turns: Sequence[Quaternion], twist: Sequence[HalfAngle], reference: Reference) -> list[Quaternion]:
    """Turns off the reference with each bone turned about its own line as well. What hangs on it is turned back before
    its own turn, so that the joints stay."""
    first, *others = [
        multiply(turn, _about(line, half)) for turn, line, half in zip(turns, reference.lines, twist, strict=True)
    ]
    backs = [conjugate(_about(*above)) for above in zip(reference.lines_above, twist[:-1], strict=True)]
    return [first, *(multiply(*pair) for pair in zip(backs, others, strict=True))]


def twists_between(
    untwisted: Sequence[Quaternion], turns: Sequence[Quaternion], reference: Reference, ops: Ops
) -> list[HalfAngle]:
    """The half angles (of any length) by which bones are turned about their lines from one pose to another with the
    same joints, both the bones' own local rotations; of poses with other joints, those that come nearest."""
    halves: list[HalfAngle] = []
    for k, (before, after) in enumerate(zip(untwisted, turns, strict=True)):
        turn = after
        if k:
            line_above = rotate(reference.reference_rotations[k], reference.lines_above[k - 1])
            turn = multiply(_unit_about(line_above, halves[-1], ops), after)
        w, x, y, z = multiply(conjugate(before), turn)
        along = dot((x, y, z), reference.lines[k])
        is_none = w * w + along * along < 1e-12  # half a turn about another axis
        halves.append((ops.select(is_none, 1.0, w), ops.select(is_none, 0.0, along)))
    return halves


def _unit_about(axis: Vector, half: HalfAngle, ops: Ops) -> Quaternion:
    """The turn about an axis by a half angle of any length."""
    size = 1.0 / ops.sqrt(half[0] * half[0] + half[1] * half[1])
    return _about(axis, (half[0] * size, half[1] * size))


def _about(axis: Vector, half: HalfAngle) -> Quaternion:
    """The turn about an axis by a half angle of unit length."""
    cosine, sine = half
    return (cosine, *scale(axis, sine))
