"""What the drivers of a native limb say: the solver's geometry, recorded of what they measure.

The variables of `REST` are where the target is in the frame F: ``y`` along the upper bone, ``x`` across it in the
plane. Those of the planes in space are ``y``, how far off the target is, and ``p q r``, where the pole is from there in
axes that swing with the target line: the plane's normal, the line, and square to both. The rest are settings and
pieces of the formula.
"""

from __future__ import annotations

from math import atan2, sqrt
from typing import Any, NamedTuple

from ...rig.settings import BY_NAME
from ...solver.chain import IN_LINE_SQUARE
from ...solver.ops import Ops
from ...solver.record import RECORDER, Node
from ...solver.triangle import Bones, Settings, extend_shaped, limited_range, turns
from .expressions import call, constant, replaced, simplified, turn_of, variables_of, where_finite

NATIVE: Ops = RECORDER._replace(folded=0.0)
"""What the solver is recorded with: the arc tangent knows what to do with 0 by 0."""

NOISE = 2e-6
"""Up to which component of an axis counts as none: rest poses in single precision are this noisy."""

X, Y = (Node("input", name) for name in "xy")
P, Q, R = (Node("input", name) for name in "pqr")
FAR = Node("input", "f")
INPUTS = {
    name: Node("input", letter)
    for name, letter in {
        "bend": "b",
        "influence": "t",
        "softness": "s",
        "stretch": "e",
        "stretch_max": "m",
        "min_angle": "u",
        "max_angle": "v",
        "enabled": "n",
        "hinge_angle": "d",
        "lower_twist": "k",
        "pole_angle": "A",
        "plane": "w",
        "stretch_volume": "V",
    }.items()
}
"""The variables of settings that are custom properties."""


HINGE, TWIST, PLANE, VOLUME = (INPUTS[name] for name in ("hinge_angle", "lower_twist", "plane", "stretch_volume"))


class TriangleAngles(NamedTuple):
    """The angles by which the upper bone is off the target line and the knee off straight, in radians."""

    line: Node
    knee: Node


def distance(is_flat: bool) -> tuple[Node, Node]:
    """From root to target, in the plane or in space, and its square."""
    square = X * X + Y * Y if is_flat else Y * Y
    return NATIVE.sqrt(square) if is_flat else Y, square


def turned(of: Bones, is_flat: bool, side: Any) -> TriangleAngles:
    """The triangle's angles for a target as far off as it is; ``side`` is a number or the node of one.

    Each factor that is below 0 counts as 0, as the triangle has it; past reach, that makes the limb straight.
    """
    far, measured = distance(is_flat)
    plus, minus = far + of.difference, far - of.difference
    found = _angles(of.total + far, *map(_at_least_0, (of.total - far, plus, minus)))
    return TriangleAngles(*(where_finite(measured, towards(side, angle)) for angle in found))


def turned_shaped(of: Bones, side: Any) -> TriangleAngles:
    """The triangle's angles for a limb that goes as far as the piece `FAR` says, so much less than r1 + r2."""
    gone = _at_least_0(of.total - FAR)
    plus, minus = (each * FOLDED - FAR for each in (of.total + of.difference, of.total - of.difference))
    found = _angles(of.total + gone, *map(_at_least_0, (FAR, plus, minus)))
    return TriangleAngles(*(towards(side, angle) for angle in found))


FOLDED = 1.0 - 2e-7
"""What part of its shorter bone, twice, a limb goes less than r1 + r2 to count as folded. `FAR` comes in single
precision: without this, what that takes from it would unfold the knee by the root of it."""


class Shape(NamedTuple):
    """The pieces of a limb that is soft, limited or stretched."""

    far: Node
    stretch: Any


def shape(of: Bones, is_flat: bool, settings: Settings) -> Shape:
    """How far the limb goes, as how much less than r1 + r2; and by which factor it lengthens, made of `FAR`."""
    off, measured = distance(is_flat)
    within = limited_range(of, settings.min_cos2, settings.max_cos2, NATIVE)
    gone, far, factor, _ = extend_shaped(off, of, within, settings, NATIVE)
    if isinstance(factor, Node):
        factor = replaced(factor, gone, of.total - FAR)
    if isinstance(settings.influence, Node) or settings.influence != 1.0:
        factor = 1.0 + settings.influence * (factor - 1.0)
    return Shape(*(_where_all_finite(measured, simplified(each), other) for each, other in ((far, 0.0), (factor, 1.0))))


def guarded(formula: Any) -> Node:
    """A formula, or 0 where any of its variables is not finite."""
    variables = [Node("input", name) for name in variables_of(formula)]
    return where_finite(sum(each * each for each in variables), formula)


def _where_all_finite(measured: Any, formula: Any, otherwise: float) -> Node:
    """`where_finite` of what is measured and of the settings that a formula has."""
    for each in INPUTS.values():
        if each.parts[0] in variables_of(formula):
            measured = measured + each * each
    return where_finite(measured, formula, otherwise)


def _angles(reach: Any, far: Any, plus: Any, minus: Any) -> TriangleAngles:
    """The angles for a chain that goes d, from R + d, R - d, d + D and d - D, none negative."""
    knee_cos, knee_sin, line_cos, line_sin = turns(reach, far, plus, minus, 1.0, NATIVE)
    return TriangleAngles(turn_of(line_cos, line_sin), turn_of(knee_cos, knee_sin))


class Axis(NamedTuple):
    """Components of the axis that a limb bends about, along the plane's normal and across the limb in the plane."""

    normal: Any
    across: Any


def axis(bend: Any, side: float, is_hinged: bool) -> Axis:
    """The axis when it has swung round the limb's line by the bend, and is turned about it by the hinge angle.

    A bend that is no variable is 1: to the other side, the limb bends by other angles about the same axis.
    """
    normal, across = bend, 0.0
    if isinstance(bend, Node):
        across = -side * NATIVE.sqrt(_at_least_0(1.0 - bend * bend))
    if is_hinged:
        cosine, sine = call("cos", HINGE), call("sin", HINGE)
        normal, across = normal * cosine + across * sine, across * cosine - normal * sine
    return Axis(*(guarded(simplified(each)) for each in (normal, across)))


def hinge_turn(across: Any, normal: Any, x: Any, z: Any) -> Node:
    """The turn about the rest line of the plane that a hinge angle turns about the upper bone; both are given by their
    axes without it, the plane's across and normal, and those square to the line."""
    cosine, sine = call("cos", HINGE), call("sin", HINGE)
    aside = -_dot(across, x) * sine
    return guarded(call("atan2", simplified(aside), simplified(_dot(normal, z) * cosine - _dot(across, z) * sine)))


def _dot(one: Any, other: Any) -> float:
    return float(sum(a * b for a, b in zip(one, other, strict=True)))


def towards(side: Any, angle: Node) -> Any:
    """An angle to the side that a bend says: its sign, got without comparing what may be not a number."""
    if isinstance(side, Node):
        return (2.0 * Node("==", side, call("abs", side)) - 1.0) * angle
    return angle if side >= 0.0 else -angle


def _at_least_0(number: Any) -> Any:
    return NATIVE.maximum(number, 0.0)


def line_in_plane() -> Node:
    """The turn of the target line about the normal, from y; a target at the root counts as along y."""
    return call("atan2", -X, Node("+", Y, constant(0.0)))  # which makes 0 of -0


def where(setting: str, value: str, formula: Any, otherwise: Any) -> Node:
    """One formula or another, by whether a choice among several is a certain one."""
    number = constant(BY_NAME[setting].number_of(value))
    chosen: Node = NATIVE.select(Node("==", INPUTS[setting], number), formula, otherwise)
    return chosen


def width(factor: Node) -> Any:
    """By which factor bones widen that lengthen by one, where `stretch_volume` is a variable."""
    thinner = 1.0 / NATIVE.sqrt(NATIVE.maximum(factor, THINNEST))
    return _of_volume("", factor, thinner, 1.0)


THINNEST = 1e-6
"""What a bone shortens to at most, if a script sets an influence by which it does."""


def grown(factor: Node, along: float, volume: str) -> Any:
    """How many times as long an upper bone must be for its knee to be ``factor`` times as far, which is this cosine
    aside of it. By `VOLUME` it is the largest root of a cubic, straight g^3 - factor^2 g + aside = 0."""
    straight = along * along
    least: Node = NATIVE.maximum(factor, THINNEST)
    square = least * least
    by_length = NATIVE.sqrt(NATIVE.maximum((square - (1.0 - straight)) / straight, THINNEST))
    share = -1.5 * (1.0 - straight) * sqrt(3.0 * straight) / (square * least)
    third = call("acos", NATIVE.maximum(share, -1.0)) / 3.0
    by_volume = least * (2.0 / sqrt(3.0 * straight)) * call("cos", third)
    return _of_volume(volume, least, by_volume, by_length)


def besides(factor: Node, given: Node) -> Any:
    """By which factor a bone lengthens, besides one that it is given."""
    return factor / NATIVE.maximum(given, THINNEST)


def turn_back(grown: Node, along: float, aside: float, volume: str) -> Any:
    """The turn that puts a knee back in line that is so far along and aside of a bone that got longer."""
    thinner = 1.0 / NATIVE.sqrt(NATIVE.maximum(grown, THINNEST))
    across = aside * _of_volume(volume, grown, thinner, constant(1.0))
    return constant(atan2(aside, along)) - call("atan2", across, along * grown)


def _of_volume(volume: str, uniform: Any, by_volume: Any, by_length: Any) -> Any:
    """What there is for a volume; without one, which its variable chooses."""
    if volume:
        return by_volume if volume == "VOLUME" else by_length
    return where("stretch_volume", "UNIFORM", uniform, where("stretch_volume", "VOLUME", by_volume, by_length))


def roll(of: Bones, pole_angle: Any, is_hinged: bool, is_switched: bool) -> Node | None:
    """The turn about the target line from the plane of `SWING` into that of `POLE`, but for that of a bone by its hinge
    angle; none about a pole in line, or where a plane that is switched says so. ``pole_angle`` is None without a pole.
    None if nothing turns it."""
    if pole_angle is None:
        return guarded(-HINGE) if is_hinged else None
    off: Any = P * P + R * R
    if is_switched:
        off = off * Node("==", PLANE, constant(BY_NAME["plane"].number_of("POLE")))
    finite = P * P + Q * Q + R * R
    in_line = IN_LINE_SQUARE * (finite + of.total * of.total)
    turn = call("atan2", P, R)
    if isinstance(pole_angle, Node):
        turn, finite = turn + pole_angle, finite + pole_angle * pole_angle
    elif pole_angle:
        turn = turn + pole_angle
    turn = NATIVE.select(in_line < off, turn, 0.0)
    if is_hinged:
        turn, finite = turn - HINGE, finite + HINGE * HINGE
    return where_finite(finite, turn)
