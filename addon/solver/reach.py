"""How a target was reached: the values of the property `reach`, as numbers that an array can hold."""

from enum import IntEnum


class Reach(IntEnum):
    """Whether the tip came to its target, and if not, what stopped it."""

    REACHED = 0
    TOO_FAR = 1
    TOO_NEAR = 2
    LIMITED = 3
    INVALID = 4
