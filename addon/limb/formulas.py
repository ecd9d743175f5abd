"""What the drivers of a mechanism say: the solver's triangle as text of Blender's simple expressions, in `LETTERS`.

A driver that fails once stays invalid for good: nothing here divides by 0, takes a root of less than 0, or compares
what is not a number, whatever the letters are. Blender does not evaluate the branch that a condition leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import atan2, cos, pi, sin
from typing import NamedTuple

from ..solver import limb, rotation
from ..solver.groups import FOLDED as FOLDED_GROUP
from ..solver.groups import SegmentGroup, SegmentGroups, groups_of, nearest_of, range_of
from ..solver.limits import turned_back
from ..solver.ops import FLOATS
from .spec import Spec, twisted_line

NONE = "0"
"""No turn."""


def number(value: float) -> str:
    """A number as text. Nine digits tell single precision apart, which is what is measured."""
    text = f"{value:.9g}"
    return text if value >= 0.0 else f"({text})"


def finite(expression: str, otherwise: str = "0") -> str:
    """An expression, or another where any of its letters is infinite or not a number."""
    unsure = [letter for letter in letters_of(expression) if not getattr(LETTERS[letter], "is_finite", False)]
    squares = "+".join(f"{letter}*{letter}" for letter in unsure)
    if not squares:
        return expression
    return f"({expression}) if ceil(1/(1+{squares}))==1 else {otherwise}"


def distance(spec: Spec) -> str:
    """From root to target, in the plane of a hinge or in space."""
    return "sqrt(x*x+y*y)" if spec.plane == "HINGE" else "d"


def _half(sine: str, cosine: str) -> str:
    """An angle, by the squares of sine and cosine of half of it, of any length."""
    return f"2*atan2(sqrt(max({sine},0)),sqrt(max({cosine},0)))"


def turn_expressions(spec: Spec) -> list[str]:
    """The turns of the bones in the bend plane, from the reference: each against the one before. Of all bones, or of
    all but the last where that aims; with twist, as far as their lines are off Y more."""
    more = [twisted_line(spec, k).about for k in range(1, len(spec.bones) + 1)] if spec.has("twist") else []
    if spec.plane in limb.MOVES_ROOT:
        return _turns_of_slide(spec, more)
    return _turns_within_limits(spec, more) if spec.has("root_limits") else _free_turns(spec, more)


def _free_turns(spec: Spec, more: Sequence[float] = ()) -> list[str]:
    """`turn_expressions` without limits of the first joint."""
    line = "+atan2(-x,y+0)" if spec.plane == "HINGE" else ""  # y + 0 is never -0
    off_line, *joints = _turns_of_groups(spec) if len(spec.lengths) > 2 else _turns_of_two(spec)
    first_angle, *others = spec.angles
    first_more, *others_more = more or [0.0] * len(spec.lengths)
    expressions = [finite(f"(1-2*f)*({off_line})-{number(first_angle - first_more)}{line}", number(first_more))]
    for before, after, plus, joint in zip(spec.angles, others, others_more, joints, strict=False):
        expressions.append(finite(f"{number(before - after + plus)}-(1-2*f)*({joint})", number(plus)))
    return expressions[:-1] if spec.aims else expressions


def slide(spec: Spec) -> str:
    """How far the first bone slides along its line, which is Y here, as `solver.limb` has it."""
    return finite(f"y-{_ahead(spec)}-{number(spec.lengths[0])}")


def _turns_of_slide(spec: Spec, more: Sequence[float]) -> list[str]:
    """`turn_expressions` of a bone that slides, and of the rod on it, unless that aims."""
    first_more, rod_more = more or (0.0, 0.0)
    rod = f"atan2(-x,{_ahead(spec)})+{number(spec.angles[0] - spec.angles[1] + rod_more)}"
    return [number(first_more), *([] if spec.aims else [finite(rod, number(rod_more))])]


def _ahead(spec: Spec) -> str:
    """How far ahead of the rod's foot its tip is, along the line."""
    rod, side = number(spec.lengths[1]), "(1-2*f)" if cos(spec.angles[1] - spec.angles[0]) >= 0.0 else "(2*f-1)"
    return f"{side}*sqrt(max(({rod}+x)*({rod}-x),0))"


def _turns_within_limits(spec: Spec, more: Sequence[float]) -> list[str]:
    """`turn_expressions` of two bones whose first joint has limits, as `solver.limits` has them."""
    low, high = _first_range(spec)
    is_free = f"cos(P-{number((low + high) / 2.0)})>={number(cos((high - low) / 2.0))}"
    first_more, knee_more = more or (0.0, 0.0)
    first = f"P if {is_free} else ({number(low)} if U<=V else {number(high)})"
    bent = f"Q if {is_free} else (R if U<=V else S)"
    knee = f"{number(spec.angles[0] - spec.angles[1] + knee_more)}-(1-2*f)*({bent})"
    return [f"{number(first_more)}+({first})" if first_more else first, knee]


def _first_range(spec: Spec) -> tuple[float, float]:
    """By how much the first bone may be turned from the reference."""
    ends = spec.choice("root_min_angle"), spec.choice("root_max_angle")
    return turned_back(*ends, spec.normals[0], spec.reference_rotations[0])


def limits(spec: Spec) -> dict[str, list[str]]:
    """What the helper bones of limits say, by their roles, along their own axes: how the bones would be turned without
    limits; how the second is with the first at either end; and how far the tip is off then, squared."""
    if not spec.has("root_limits"):
        return {}
    free, (_, knee) = _free_turns(spec)[0], _turns_of_two(spec)
    ends = [spec.angles[0] + end for end in _first_range(spec)]
    return {
        "free": [free, finite(knee)],
        "ends": [finite(_knee_at(spec, heading)) for heading in ends],
        "misses": [finite(_miss_at(spec, *pair), "1") for pair in zip(ends, "RS", strict=True)],
    }


def _knee_of(spec: Spec, heading: float) -> tuple[str, str]:
    """Where the knee is with the first bone off Y by this angle."""
    return number(-spec.lengths[0] * sin(heading)), number(spec.lengths[0] * cos(heading))


def _knee_at(spec: Spec, heading: float) -> str:
    """How far the knee turns towards the target, with the first bone off Y by this angle: the turn from the middle of
    its range is taken within half a turn, and then within the range."""
    x, y = _knee_of(spec, heading)
    low, high = pi - spec.choice("max_angle"), pi - spec.choice("min_angle")
    middle, half, full = (low + high) / 2.0, number(pi), number(2.0 * pi)
    turns = f"(1-2*f)*({number(heading / (2.0 * pi))}-atan2({x}-x,y-{y}+0)/{full})"
    off = f"{full}*fmod({turns}+{number(8.5 - middle / (2.0 * pi))},1)-{half}"  # 8 full turns: nothing is below 0
    return f"{number(middle)}+max(min({off},{number(high - middle)}),{number(low - middle)})"


def _miss_at(spec: Spec, heading: float, knee: str) -> str:
    """The square of how far the tip is off with the knee turned by what this letter says."""
    (x, y), length = _knee_of(spec, heading), number(spec.lengths[1])
    angle = f"{number(heading)}-(1-2*f)*{knee}"
    return f"pow(x-{x}+{length}*sin({angle}),2)+pow(y-{y}-{length}*cos({angle}),2)"


def _turns_of_two(spec: Spec) -> tuple[str, str]:
    """By how much the first bone is off the line, and the second off the first."""
    one, other = spec.lengths
    if spec.is_shaped:
        straight, nearest, farthest = _to_straight_factors(spec)
        return _half(f"{farthest}*g", f"{straight}*{nearest}"), _half(f"{straight}*g", f"{nearest}*{farthest}")
    d, total, difference = distance(spec), number(one + other), number(one - other)
    return (
        _half(f"({d}-{difference})*({total}-{d})", f"({total}+{d})*({d}+{difference})"),
        _half(f"{number((one + other) ** 2)}-{square(spec)}", f"{square(spec)}-{number((one - other) ** 2)}"),
    )


def square(spec: Spec) -> str:
    """The square of the distance from root to target."""
    return "(x*x+y*y)" if spec.plane == "HINGE" else "d*d"


def _groups(spec: Spec) -> SegmentGroups:
    return groups_of(spec.lengths, [rotation.half_of(angle) for angle in spec.angles], spec.is_zigzag, FLOATS)


def _turns_of_groups(spec: Spec) -> list[str]:
    """The same for three or four bones, by the triangle of their groups and the bends within these."""
    groups, is_three = _groups(spec), len(spec.lengths) == 3
    a, b, c = "a", "b", "c"
    if is_three:  # "a" is the square of the length of that group which has two bones
        a, b = ("a", number(spec.lengths[1] ** 2)) if spec.is_zigzag else (number(spec.lengths[0] ** 2), "a")
    if _is_plain(spec):
        c = square(spec)
    beside, ahead = f"{c}+{a}-{b}", f"{c}-{a}-{b}"
    off_line = f"atan2(sqrt(max(4*{a}*{c}-pow({beside},2),0)),{beside})"
    knee = f"atan2(sqrt(max(4*{a}*{b}-pow({ahead},2),0)),{ahead})"

    def bends(group: SegmentGroup, sine: str) -> list[str]:
        """By how much its bones are off the line of a group, each to its side."""
        twice = (number(group.total - group.difference), number(group.total + group.difference))  # of the other bone
        height = f"{sine}*sqrt(max(1-{sine}*{sine},0))"
        return [f"atan2({factor}*{height},{number(group.total)}-{factor}*{sine}*{sine})" for factor in twice]

    if is_three and spec.is_zigzag:
        first, third = bends(groups.first, "j")
        return [f"{off_line}+{first}", f"{knee}+{first}", f"{third}-{knee}"]
    if is_three:
        second, _ = bends(groups.second, "j")
        return [off_line, f"{knee}-{second}", _bend("j")]
    first, of_first = bends(groups.first, "j")
    second, of_second = bends(groups.second, "h")
    if not spec.is_zigzag:
        return [f"{off_line}+{first}", _bend("j"), f"{knee}-{of_first}-{second}", _bend("h")]
    third, fourth = of_first, of_second
    return [f"{off_line}+{first}", f"{knee}+{first}-{second}", f"{third}+{second}-{knee}", f"{knee}+{fourth}-{third}"]


def _bend(sine: str) -> str:
    """By how much the bones of a group are bent, each off the other."""
    return f"2*atan2({sine},sqrt(max(1-{sine}*{sine},0)))"


def _is_plain(spec: Spec) -> bool:
    """Whether the distance gone is that to the target, as one letter has it, and what is said of it has the room."""
    return len(spec.lengths) == 3 and not spec.is_shaped


def groups(spec: Spec) -> dict[str, list[str]]:
    """The driver expressions of the bones that hold groups, along their own axes: the sine of half of a group's bend,
    the square of its length, and for the first the square of the distance to the target. As `solver.groups` computes
    them."""
    if len(spec.lengths) < 3:
        return {}
    groups, total = _groups(spec), sum(spec.lengths)
    span_square = f"({number(total)}-g)*({number(total)}-g)" if spec.is_shaped else square(spec)
    slack = f"g*({number(2.0 * total)}-g)" if spec.is_shaped else f"{number(total * total)}-{square(spec)}"
    most = "o" if folds(spec) else number(groups.largest_share)
    share = f"min(max({slack},0)/({_room(groups, spec)}+1e-30),{most})"
    numbers = {}
    pairs = (
        (groups.first, groups.second)
        if len(spec.lengths) > 3
        else (groups.first,)
        if spec.is_zigzag
        else (groups.second,)
    )
    for k, group in enumerate(pairs, 1):
        sine = _sine(group, _is_turned(groups, group, spec))
        length = f"{number(group.total**2)}-{number(group.product)}*{share}*pow({sine},2)"
        numbers[f"group {k}"] = [finite(f"sqrt({share})*{sine}"), finite(length)]
    if not _is_plain(spec):
        numbers["group 1"].append(finite(span_square))
    return numbers


def folds(spec: Spec) -> dict[str, list[str]]:
    """The drivers' expressions, by the roles of the helper bones that have them, axis by axis, which find how far
    neighbours bend where an ankle turns: b, c and the largest share of `solver.groups`. Empty for other limbs."""
    if len(spec.lengths) < 3 or spec.is_zigzag or not spec.has("ankle"):
        return {}
    groups = _groups(spec)
    l_a, l_b = (max(group.total, 1e-30) for group in (groups.first, groups.second))
    opened = groups.first.product * groups.first.bend[1] ** 2
    a = opened / l_a**2
    b = f"{number(groups.second.product / l_b**2)}*pow({_sine(groups.second, True)},2)"
    c = f"({_room(groups, spec)}-{number(opened)})/{number(l_a * l_b)}-{number(l_b / l_a)}*{b}"
    ends = f"max(w*w/2-{number(2.0 * a)}*v,w*({number(a)}+v)-{number(4.0 * a)}*v)"
    share = f"2*max(w-{number(a)}-v,0)/max({ends},1e-30)"
    sharpest = f"{number(FOLDED_GROUP * groups.second.product / l_b**2)}/max(v,1e-30)"
    if len(spec.lengths) > 3:
        sharpest = f"min({sharpest},{number(FOLDED_GROUP / max(groups.first.bend[1] ** 2, 1e-9))})"
    return {"fold": [finite(b), finite(c)], "largest share": [f"max(min({share},{sharpest}),1)"]}


def _room(groups: SegmentGroups, spec: Spec) -> str:
    """By how much the square of the distance is less at rest than straight."""
    closing = f"sin({number(_angle(groups.closing))}+n/2)" if spec.has("ankle") else number(groups.closing[1])
    return f"{number(groups.slack_unclosed)}+{number(groups.slack_closing)}*pow({closing},2)"


def _is_turned(groups: SegmentGroups, group: SegmentGroup, spec: Spec) -> bool:
    """Whether the ankle turns a bone of a group."""
    return spec.has("ankle") and group is (groups.first if spec.is_zigzag and len(spec.lengths) == 3 else groups.second)


def _sine(group: SegmentGroup, is_turned: bool) -> str:
    """The sine of half of a group's bend at rest."""
    return f"sin({number(_angle(group.bend))}-n/2)" if is_turned else number(group.bend[1])


def _angle(half: rotation.HalfAngle) -> float:
    """Half of the angle of a half angle."""
    return atan2(half[1], half[0])


FOLDED = 1.0 - 2e-7
"""What part of its shorter bone, twice, a limb goes less than straight to count as folded. What `to_straight_of` says
comes in single precision: without this, rounding would unfold the knee by the root of it."""


def _to_straight_factors(spec: Spec) -> tuple[str, str, str]:
    """R + d, d + D and d - D for a limb that goes d = R - g; R and D are the sum and difference of its lengths."""
    one, other = spec.lengths
    longs = (one * FOLDED if one < other else one, other * FOLDED if other <= one else other)
    straight, nearest, farthest = (f"({number(2.0 * length)}-g)" for length in (one + other, *longs))
    return straight, nearest, farthest


def nearest(spec: Spec) -> float:
    """How near the tip comes to the root: 0 for two bones, which are in line where the target is too near."""
    return nearest_of(_groups(spec), FLOATS) if len(spec.lengths) > 2 else 0.0


def swivel(spec: Spec) -> str:
    """The limb's turn about the line."""
    return finite("s" if spec.outwards > 0.0 else "-s")


def twist(spec: Spec, k: int) -> str:
    """The turn of the ``k``-th bone about its own line."""
    return finite(TWISTS[k - 1] if spec.outwards > 0.0 else f"-{TWISTS[k - 1]}")


def untwist(spec: Spec, k: int) -> str:
    """The driver's expression, in radians, that turns the ``k``-th bone (from 0) back from the twist of the one
    above."""
    return finite(TWISTS[k - 1] if spec.outwards < 0.0 else f"-{TWISTS[k - 1]}")


def to_straight_of(spec: Spec) -> str:
    """By how much less than fully straight the limb goes: at the knee's limits, and easing into the farther one."""
    total = sum(spec.lengths)
    nearest, farthest = range_of(spec.lengths, spec.angles, spec.choice("min_angle"), spec.choice("max_angle"))
    farthest = min(farthest, total)
    if len(spec.lengths) == 2:
        nearest = min(max(nearest, abs(spec.lengths[0] - spec.lengths[1])), farthest)
    d, reach = distance(spec), number(farthest)
    to_straight = f"max({reach}-{d},0)"
    if spec.has("softness"):
        zone = f"{number(total)}*min(max(u,0),1)"
        to_straight += f"+pow(max({zone}-abs({d}-{reach}),0),2)/(4*{zone}+1e-30)"
    return finite(f"{number(total - farthest)}+min({to_straight},{number(farthest - nearest)})")


def lengthening(spec: Spec) -> dict[int, str]:
    """By what to scale the limb along its axes."""
    total = sum(spec.lengths)
    span = f"max({number(total)}-g,{number(1e-6 * total)})" if spec.is_shaped else number(total)
    most = number(spec.choice("stretch_max") - 1.0)
    more = f"min(max(t,0),1)*min(min(max(e,0),1)*max({distance(spec)}/{span}-1,0),{most})"
    along, width = finite(f"1+{more}", "1"), finite(f"1/sqrt(1+{more})", "1")
    volume = spec.choice("stretch_volume")
    if volume == "UNIFORM":
        return {0: along, 1: along, 2: along}
    return {0: width, 1: along, 2: width} if volume == "VOLUME" else {1: along}


class SliderLetter(NamedTuple):
    """A slider of the limb, by its name in `limb.settings`. None of them is sure to be finite but a checkbox."""

    word: str
    slider: str
    is_finite: bool = False


class TargetLetter(NamedTuple):
    """Where the target is in the limb's frame: along X, Y or Z, or how far it is from the root (without an axis)."""

    word: str
    axis: str = ""


class NumberLetter(NamedTuple):
    """What a driver set the place of a helper bone to along one of its own axes; ``is_finite`` says it always is."""

    word: str
    role: str
    axis: str
    is_finite: bool = True


class LocationLetter(NamedTuple):
    """The first bone's own location along its X, Y or Z."""

    word: str
    axis: int


Letter = SliderLetter | TargetLetter | NumberLetter | LocationLetter

LETTERS: dict[str, Letter] = {
    "f": SliderLetter("flip", "flip", is_finite=True),
    "s": SliderLetter("swivel", "swivel"),
    "k": SliderLetter("whether the pole acts", "pole", is_finite=True),
    "u": SliderLetter("softness", "softness"),
    "e": SliderLetter("stretch", "stretch"),
    "t": SliderLetter("influence", "influence"),
    "n": SliderLetter("turn of the ankle", "ankle"),
    "A": SliderLetter("turn of the first bone about its own line", "twist 1"),
    "B": SliderLetter("turn of the second bone about its own line", "twist 2"),
    "C": SliderLetter("turn of the third bone about its own line", "twist 3"),
    "D": SliderLetter("turn of the fourth bone about its own line", "twist 4"),
    "x": TargetLetter("to the side that the knee is not on", "X"),
    "y": TargetLetter("along the line from root to tip at rest", "Y"),
    "z": TargetLetter("along the normal of the bend plane", "Z"),
    "d": TargetLetter("distance from root to target"),
    "g": NumberLetter("length of the straight limb less the distance that it spans", "span", "X", is_finite=False),
    "j": NumberLetter("sine of half of the first group's bend", "group 1", "X"),
    "a": NumberLetter("square of the first group's length", "group 1", "Y"),
    "c": NumberLetter("square of the distance that the limb spans", "group 1", "Z"),
    "h": NumberLetter("sine of half of the second group's bend", "group 2", "X"),
    "b": NumberLetter("square of the second group's length", "group 2", "Y"),
    "v": NumberLetter("how far the second group is bent at rest, with the ankle", "fold", "X"),
    "w": NumberLetter("how far the groups are bent against each other at rest, with the ankle", "fold", "Y"),
    "p": LocationLetter("location of the first bone along X", 0),
    "q": LocationLetter("along Y", 1),
    "r": LocationLetter("along Z", 2),
    "P": NumberLetter("turn of the first bone without limits", "free", "X"),
    "Q": NumberLetter("turn of the knee off straight without limits", "free", "Y"),
    "R": NumberLetter("turn of the knee with the first bone at its least", "ends", "X"),
    "S": NumberLetter("turn of the knee with the first bone at its most", "ends", "Y"),
    "U": NumberLetter("square of how far the tip is off then, at the least", "misses", "X"),
    "V": NumberLetter("and at the most", "misses", "Y"),
    "o": NumberLetter("largest share of the rest pose's bends", "largest share", "X"),
}

TWISTS = "ABCD"
"""The letters of the bones' twists, from the root down."""

ONE_LETTER = re.compile(r"\b[A-Za-z]\b")


def letters_of(expression: str) -> list[str]:
    """The letters that an expression needs, each once."""
    return sorted(set(ONE_LETTER.findall(expression)))
