"""The letters that the drivers of a mechanism are written in: what each stands for, and where Blender reads it.

Blender takes 255 characters of an expression, so that names are letters there. This is the one list of them."""

from __future__ import annotations

import re
from typing import NamedTuple


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


def unsure_letters_of(expression: str) -> list[str]:
    """Those of them that may be infinite or not a number."""
    return [letter for letter in letters_of(expression) if not getattr(LETTERS[letter], "is_finite", False)]
