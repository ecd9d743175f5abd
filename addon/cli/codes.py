"""How the program ends."""

from __future__ import annotations

from enum import IntEnum


class Code(IntEnum):
    """Exit codes. Of several files, the first in the order of `worst` counts."""

    DONE = 0
    FAILED = 1
    BAD_INPUT = 2
    UNREACHED = 3
    NOT_WRITTEN = 4
    MISSING = 5
    LEFT_OUT = 6
    FROZEN = 7
    INTERRUPTED = 130


class Stop(Exception):
    """A file can't be dealt with: a sentence for a person, in one line whatever names it has, and the exit code."""

    def __init__(self, code: Code, sentence: str) -> None:
        super().__init__(sentence.replace("\n", "\\n"))
        self.code = code


def worst(codes: list[Code]) -> Code:
    """What becomes of a run over several files."""
    order = (
        Code.FAILED,
        Code.NOT_WRITTEN,
        Code.BAD_INPUT,
        Code.MISSING,
        Code.FROZEN,
        Code.LEFT_OUT,
        Code.UNREACHED,
        Code.DONE,
    )
    return min(codes, key=order.index, default=Code.DONE)
