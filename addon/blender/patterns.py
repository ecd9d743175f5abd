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
    """The names that a pattern matches, each with what its wildcards stand for, each star for as little as it can. A
    name that is the pattern itself, as one with a bracket in it may be, is the only one."""
    names = [*names]
    if pattern in names:
        return {pattern: []}
    plain, wild = WILDCARD.split(pattern), WILDCARD.findall(pattern)
    groups = [{"*": "(.*?)", "?": "(.)"}.get(one) or f"({_set(one[1:-1])})" for one in wild]
    text = "".join(part for pair in zip(map(re.escape, plain), [*groups, ""], strict=True) for part in pair)
    found = {name: re.fullmatch(text, name, re.DOTALL) for name in names}
    return {name: [*match.groups()] for name, match in found.items() if match}


def _set(letters: str) -> str:
    is_not = letters.startswith("!")
    inside = re.sub(r"([\\\[\]^&~|])", r"\\\1", letters[is_not:])
    return f"[{'^' * is_not}{inside}]"


def fill_wildcards(name: str, letters: list[str]) -> str:
    """A name with letters in place of its wildcards, one after the other, as far as there are letters."""
    remaining = iter(letters)
    return WILDCARD.sub(lambda wildcard: next(remaining, wildcard[0]), name)
