"""The letters that the drivers of a mechanism are written in: what each stands for, and where Blender reads it.

Blender takes 255 characters of an expression, so that names are letters there. This is the one list of them."""

from __future__ import annotations

import re
from typing import NamedTuple


class Slider(NamedTuple):
    """A slider of the limb, by its name in `limb.settings`. None of them is sure to be finite but a checkbox."""

    word: str
    slider: str
    is_finite: bool = False


class Target(NamedTuple):
    """Where the target is in the limb's frame: along X, Y or Z, or how far it is from the root (without an axis)."""

    word: str
    axis: str = ""


class Number(NamedTuple):
    """What a driver set the place of a helper bone to along one of its own axes; ``is_finite`` says it always is."""

    word: str
    role: str
    axis: str
    is_finite: bool = True


class Location(NamedTuple):
    """The first bone's own location along its X, Y or Z."""

    word: str
    axis: int


Letter = Slider | Target | Number | Location

LETTERS: dict[str, Letter] = {
    "f": Slider("flip", "flip", is_finite=True),
    "s": Slider("swivel", "swivel"),
    "k": Slider("whether the pole acts", "pole", is_finite=True),
    "u": Slider("softness", "softness"),
    "e": Slider("stretch", "stretch"),
    "t": Slider("influence", "influence"),
    "n": Slider("turn of the ankle", "ankle"),
    "A": Slider("turn of the first bone about its own line", "twist 1"),
    "B": Slider("turn of the second bone about its own line", "twist 2"),
    "C": Slider("turn of the third bone about its own line", "twist 3"),
    "D": Slider("turn of the fourth bone about its own line", "twist 4"),
    "x": Target("to the side that the knee is not on", "X"),
    "y": Target("along the line from root to tip at rest", "Y"),
    "z": Target("along the normal of the bend plane", "Z"),
    "d": Target("distance from root to target"),
    "g": Number("length of the straight limb less the distance that it spans", "span", "X", is_finite=False),
    "j": Number("sine of half of the first group's bend", "group 1", "X"),
    "a": Number("square of the first group's length", "group 1", "Y"),
    "c": Number("square of the distance that the limb spans", "group 1", "Z"),
    "h": Number("sine of half of the second group's bend", "group 2", "X"),
    "b": Number("square of the second group's length", "group 2", "Y"),
    "v": Number("how far the second group is bent at rest, with the ankle", "fold", "X"),
    "w": Number("how far the groups are bent against each other at rest, with the ankle", "fold", "Y"),
    "p": Location("location of the first bone along X", 0),
    "q": Location("along Y", 1),
    "r": Location("along Z", 2),
    "P": Number("turn of the first bone without limits", "free", "X"),
    "Q": Number("turn of the knee off straight without limits", "free", "Y"),
    "R": Number("turn of the knee with the first bone at its least", "ends", "X"),
    "S": Number("turn of the knee with the first bone at its most", "ends", "Y"),
    "U": Number("square of how far the tip is off then, at the least", "misses", "X"),
    "V": Number("and at the most", "misses", "Y"),
    "o": Number("largest share of the rest pose's bends", "largest share", "X"),
}

TWISTS = "ABCD"
"""The letters of the bones' twists, from the root down."""

ONE_LETTER = re.compile(r"\b[A-Za-z]\b")


def letters_of(expression: str) -> list[str]:
    """The letters that an expression needs, each once."""
    return sorted(set(ONE_LETTER.findall(expression)))


def unsure_letters_of(expression: str) -> list[str]:
    """Those of them that may be infinite or not a number."""
    return [letter for letter in letters_of(expression) if not getattr(LETTERS[letter], "is_finite", False)]
