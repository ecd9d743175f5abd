"""Patterns of names as `fnmatch` has them, and what their wildcards stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

WILDCARD = re.compile(r"\*|\?|\[!?\]?[^\]]*\]", re.DOTALL)
"""What stands for other letters: ``*``, ``?`` and a set such as ``[LR]``."""


def is_match(name: str, pattern: str) -> bool:
    """Whether a name matches a pattern, or is the same."""
    return name == pattern or fnmatchcase(name, pattern)


def matches_of(pattern: str, names: Iterable[str]) -> dict[str, list[str]]:
    """The names that a pattern matches, each with what its wildcards stand for. A name that is the pattern itself, as
    one with a bracket in it may be, is the only one."""
    names = [*names]
    if pattern in names:
        return {pattern: []}
    return {name: wildcards_in(pattern, name) or [] for name in names if fnmatchcase(name, pattern)}


def wildcards_in(pattern: str, name: str) -> list[str] | None:
    """What the wildcards of a pattern stand for in a name, each star for as little as it can; None where it does not
    match."""
    if not pattern:
        return None if name else []
    wildcard = WILDCARD.match(pattern)
    piece = wildcard[0] if wildcard else pattern[0]
    rest = pattern[len(piece) :]
    if piece == "*":
        tries = ((name[:end], wildcards_in(rest, name[end:])) for end in range(len(name) + 1))
        return next(([letters, *more] for letters, more in tries if more is not None), None)
    if not name or not fnmatchcase(name[0], piece):
        return None
    more = wildcards_in(rest, name[1:])
    return more if more is None or not wildcard else [name[0], *more]


def fill_wildcards(name: str, letters: list[str]) -> str:
    """A name with letters in place of its wildcards, one after the other, as far as there are letters."""
    remaining = iter(letters)
    return WILDCARD.sub(lambda wildcard: next(remaining, wildcard[0]), name)
