"""What the two sample characters are made of: joints, the shapes that go along with the bones, and colours."""

from __future__ import annotations

from typing import NamedTuple

Place = tuple[float, float, float]


class Part(NamedTuple):
    """A bone with its shape: half widths across it at its head and at its tail, sideways and in depth."""

    name: str
    parent: str
    head: Place
    tail: Place
    head_width: tuple[float, float]
    tail_width: tuple[float, float]
    colour: int = 0
    layer: float = 0.0
    """How far the shape stands towards the eye, as sheets of paper lie over each other."""


class Figure(NamedTuple):
    """A character: its parts, parents first, and the lower bones of its limbs, each with the preset that fits it."""

    name: str
    parts: tuple[Part, ...]
    limbs: dict[str, str]
    place: Place
    height: float
    """How far the hips sink in the sample's movement, which shows that feet stay where they stand."""


COLOURS = ((0.80, 0.33, 0.16), (0.16, 0.36, 0.55), (0.93, 0.75, 0.55), (0.20, 0.20, 0.24))
"""Coat, trousers, skin, shoes."""

SHEET = 0.004
"""Half the thickness of a puppet's sheet."""


def _mirrored(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The same on the right."""
    found = []
    for part in parts:
        ends = [(-x, y, z) for x, y, z in (part.head, part.tail)]
        names = [name.replace(".L", ".R") for name in (part.name, part.parent)]
        found.append(part._replace(name=names[0], parent=names[1], head=ends[0], tail=ends[1], layer=-part.layer))
    return tuple(found)


def _puppet() -> Figure:
    def flat(name: str, parent: str, start: tuple[float, float], end: tuple[float, float], *rest: float) -> Part:
        at_head, at_tail, colour, layer = rest
        ends = [(x, 0.0, z) for x, z in (start, end)]
        return Part(name, parent, ends[0], ends[1], (at_head, SHEET), (at_tail, SHEET), int(colour), layer)

    body = (
        flat("root", "", (0.0, 0.0), (0.25, 0.0), 0.0, 0.0, 0, 0.0),
        flat("hips", "root", (0.0, 0.86), (0.0, 1.0), 0.11, 0.13, 1, 0.0),
        flat("chest", "hips", (0.0, 1.0), (0.0, 1.38), 0.12, 0.15, 0, 0.0),
        flat("head", "chest", (0.02, 1.40), (0.05, 1.72), 0.07, 0.12, 2, 0.01),
    )
    near = (
        flat("thigh.L", "hips", (0.02, 0.88), (0.15, 0.48), 0.085, 0.065, 1, -0.02),
        flat("shin.L", "thigh.L", (0.15, 0.48), (0.0, 0.08), 0.065, 0.045, 1, -0.02),
        flat("foot.L", "shin.L", (0.0, 0.08), (0.17, 0.03), 0.05, 0.025, 3, -0.02),
        flat("upper_arm.L", "chest", (0.0, 1.33), (-0.06, 1.06), 0.055, 0.045, 0, -0.03),
        flat("forearm.L", "upper_arm.L", (-0.06, 1.06), (0.06, 0.82), 0.045, 0.035, 0, -0.03),
        flat("hand.L", "forearm.L", (0.06, 0.82), (0.1, 0.73), 0.04, 0.03, 2, -0.03),
    )
    far = tuple(
        part._replace(name=part.name.replace(".L", ".R"), parent=part.parent.replace(".L", ".R"), layer=-part.layer)
        for part in near
    )
    limbs = {f"{name}.{side}": preset for name, preset in (("shin", "LEG"), ("forearm", "ARM")) for side in "LR"}
    return Figure("Cut-out Puppet", (*body, *near, *far), limbs, (-0.8, 0.0, 0.0), 0.16)


def _biped() -> Figure:
    body = (
        Part("root", "", (0.0, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0), (0.0, 0.0)),
        Part("hips", "root", (0.0, 0.0, 0.92), (0.0, 0.0, 1.06), (0.15, 0.10), (0.13, 0.09), 1),
        Part("chest", "hips", (0.0, 0.0, 1.06), (0.0, 0.0, 1.42), (0.12, 0.08), (0.18, 0.11)),
        Part("head", "chest", (0.0, 0.0, 1.47), (0.0, -0.02, 1.76), (0.07, 0.08), (0.09, 0.10), 2),
    )
    left = (
        Part("thigh.L", "hips", (0.10, 0.0, 0.92), (0.11, -0.14, 0.5), (0.08, 0.09), (0.055, 0.06), 1),
        Part("shin.L", "thigh.L", (0.11, -0.14, 0.5), (0.11, 0.02, 0.09), (0.055, 0.06), (0.04, 0.04), 1),
        Part("foot.L", "shin.L", (0.11, 0.02, 0.09), (0.12, -0.16, 0.03), (0.045, 0.05), (0.045, 0.025), 3),
        Part("upper_arm.L", "chest", (0.20, 0.0, 1.38), (0.42, 0.07, 1.24), (0.055, 0.055), (0.04, 0.04)),
        Part("forearm.L", "upper_arm.L", (0.42, 0.07, 1.24), (0.63, -0.03, 1.1), (0.04, 0.04), (0.03, 0.03)),
        Part("hand.L", "forearm.L", (0.63, -0.03, 1.1), (0.74, -0.05, 1.05), (0.04, 0.03), (0.03, 0.015), 2),
    )
    limbs = {f"{name}.{side}": preset for name, preset in (("shin", "LEG"), ("forearm", "ARM")) for side in "LR"}
    return Figure("Biped", (*body, *left, *_mirrored(left)), limbs, (0.8, 0.0, 0.0), 0.2)


FIGURES = (_puppet(), _biped())
