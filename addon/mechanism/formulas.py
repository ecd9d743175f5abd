"""What the drivers of a mechanism say: the solver's triangle as text of Blender's simple expressions.

Each letter is something measured: x, y, z where the target is in the limb's frame G, d how far it is from the root;
p and q where the pole is aside of the line to the target, along X and Z of G turned with that line, m how far it is;
g by how much less than fully straight the limb goes ("gone"); and sliders: f flip, s swivel, k pole, u softness,
e stretch, t influence.

A driver that fails once stays invalid for good: nothing here divides by 0, takes a root of less than 0, or compares
what is not a number, whatever the letters are. What is not chosen is not evaluated.
"""

from __future__ import annotations

import re
from math import cos, pi

from ..solver.ops import FLOATS
from ..solver.triangle import bones, limited_range
from .spec import CLOSE, Spec

LETTERS = re.compile(r"\b[a-z]\b")


def letters_of(expression: str) -> list[str]:
    """The letters that an expression needs, each once."""
    return sorted(set(LETTERS.findall(expression)))


def number(value: float) -> str:
    """A number as text. Nine digits tell single precision apart, which is what is measured."""
    written = f"{value:.9g}"
    return written if value >= 0.0 else f"({written})"


def finite(expression: str, otherwise: str = "0") -> str:
    """An expression, or another where any of its letters is infinite or not a number."""
    squares = "+".join(f"{letter}*{letter}" for letter in letters_of(expression) if letter not in "fk")
    return f"({expression}) if ceil(1/(1+{squares}))==1 else {otherwise}"


def distance(spec: Spec) -> str:
    """From root to target, in the plane of a hinge or in space."""
    return "sqrt(x*x+y*y)" if spec.plane == "HINGE" else "d"


def is_shaped(spec: Spec) -> bool:
    """Whether the limb may go less far than the target is, though that is in reach."""
    return spec.softness or spec.is_limited


def _half(sine: str, cosine: str) -> str:
    """An angle, by the squares of sine and cosine of half of it, of any length."""
    return f"2*atan2(sqrt(max({sine},0)),sqrt(max({cosine},0)))"


def first_turn(spec: Spec) -> str:
    """The first bone's turn in the bend plane, from the reference."""
    one, other = spec.lengths
    if is_shaped(spec):
        straight, near, far = _gap_factors(spec)
        angle = _half(f"{far}*g", f"{straight}*{near}")
    else:
        d, total, difference = distance(spec), number(one + other), number(one - other)
        angle = _half(f"({d}-{difference})*({total}-{d})", f"({total}+{d})*({d}+{difference})")
    line = "+atan2(-x,y+0)" if spec.plane == "HINGE" else ""  # y + 0 is never -0
    return finite(f"(1-2*f)*{angle}-{number(spec.alpha)}{line}")


def second_turn(spec: Spec) -> str:
    """The second bone's turn against the first, from the reference."""
    one, other = spec.lengths
    if is_shaped(spec):
        straight, near, far = _gap_factors(spec)
        angle = _half(f"{straight}*g", f"{near}*{far}")
    else:
        square = "(x*x+y*y)" if spec.plane == "HINGE" else "d*d"
        angle = _half(f"{number((one + other) ** 2)}-{square}", f"{square}-{number((one - other) ** 2)}")
    return finite(f"{number(spec.kappa)}-(1-2*f)*{angle}")


FOLDED = 1.0 - 2e-7
"""What part of its shorter bone, twice, a limb goes less than straight to count as folded. What `gap` says comes in
single precision: without this, rounding would unfold the knee by the root of it."""


def _gap_factors(spec: Spec) -> tuple[str, str, str]:
    """R + d, d + D and d - D for a limb that goes d = R - g; R and D are the sum and difference of its lengths."""
    one, other = spec.lengths
    longs = (one * FOLDED if one < other else one, other * FOLDED if other <= one else other)
    straight, near, far = (f"({number(2.0 * length)}-g)" for length in (one + other, *longs))
    return straight, near, far


def line_turn(spec: Spec) -> dict[int, str]:
    """The shortest turn from Y to the target: parts of a quaternion, of any length, about G's axes; the part that is
    not here is 0. A target at the root counts as along Y; to one straight back, the turn is about Z."""
    square = "x*x+y*y+z*z"
    back = number(1e-9 * sum(spec.lengths))
    return {0: finite(f"y+sqrt({square})+({square}==0)"), 1: finite("z"), 3: finite(f"-x-{back}")}


def roll(spec: Spec) -> str:
    """The limb's turn about the line: by swivel, and by where the pole is, unless that is in line."""
    if spec.plane != "POLE":
        return finite("s")
    pole = "k*atan2(q,0-p)" if spec.pole_switch else "atan2(q,0-p)"  # 0 - p is never -0
    nothing = number(1e-10 * sum(spec.lengths) ** 2)  # without a pole, rounding is all there is
    return finite(f"s+({pole} if p*p+q*q>1e-12*m*m+{nothing} else 0)")


def gap(spec: Spec) -> str:
    """By how much less than fully straight the limb goes: at the knee's limits, and easing into the farther one."""
    of = bones(spec.lengths[0], spec.lengths[1], FLOATS)
    most = cos(spec.max_angle / 2) ** 2 if spec.max_angle < pi - CLOSE else 0.0
    nearest, farthest, _, _ = limited_range(of, cos(spec.min_angle / 2) ** 2, most, FLOATS)
    d, far = distance(spec), number(farthest)
    left = f"max({far}-{d},0)"
    if spec.softness:
        zone = f"{number(of.total)}*min(max(u,0),1)"
        left += f"+pow(max({zone}-abs({d}-{far}),0),2)/(4*{zone}+1e-30)"
    return finite(f"{number(max(of.total - farthest, 0.0))}+min({left},{number(farthest - nearest)})")


def lengthening(spec: Spec) -> dict[int, str]:
    """By what to scale the limb along its axes."""
    total = sum(spec.lengths)
    gone = f"max({number(total)}-g,{number(1e-6 * total)})" if is_shaped(spec) else number(total)
    most = number(spec.stretch_max - 1.0)
    more = f"min(max(t,0),1)*min(min(max(e,0),1)*max({distance(spec)}/{gone}-1,0),{most})"
    along, width = finite(f"1+{more}", "1"), finite(f"1/sqrt(1+{more})", "1")
    if spec.stretch_volume == "UNIFORM":
        return {0: along, 1: along, 2: along}
    return {0: width, 1: along, 2: width} if spec.stretch_volume == "VOLUME" else {1: along}
