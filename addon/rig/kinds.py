"""Refusals, and the kinds of problems, by which the interface finds what mends one, whatever its sentence says."""

from __future__ import annotations

from enum import Enum, auto


class Refused(Exception):
    """What was asked for can't be done; the message says what to select or set instead."""


class Kind(Enum):
    """The problems that have mends of their own."""

    CIRCLE = auto()  # chains move each other's targets
    DISABLED = auto()  # what is followed, or the rig, is not evaluated
    DRIVEN = auto()  # what a chain would set
    KEPT_WAITING = auto()  # by an IK constraint, on the rig
    LIVE_IS_OFF = auto()
    LOWER_INHERITS = auto()  # the lower bone not in full what it has to
    MOVED = auto()  # by something that nothing tells of
    MUTED = auto()  # the limb's own constraints
    NOT_A_NUMBER = auto()
    NOTHING = auto()  # what the limb is scaled to
    OUTDATED = auto()  # mechanism on the rig
    STRETCHED_ASIDE = auto()  # or below an uneven scale, by a volume that lets the bones only get longer
    STRETCHED_BENT = auto()  # by a scale that the lower bone inherits
    UNEVEN = auto()  # scale that the lower bone inherits
    UPPER_INHERITS = auto()  # axis by axis what it must not


class Problem(str):
    """A sentence that knows its kind of problem. Blender's properties, and `str` of an exception, make a plain string
    of it, without the kind."""

    __slots__ = ("kind",)

    kind: Kind

    def __new__(cls, kind: Kind, sentence: str) -> Problem:
        """A sentence of this kind."""
        made = super().__new__(cls, sentence)
        made.kind = kind
        return made


def kind_of(sentence: str) -> Kind | None:
    """The kind of problem that a sentence tells of; None for a plain string."""
    return sentence.kind if isinstance(sentence, Problem) else None
