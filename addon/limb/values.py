"""What a setting may be set to. A value of another type raises TypeError, a number out of its range ValueError: none is
changed to the nearest that would do."""

from __future__ import annotations

from collections.abc import Collection
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from bpy.types import Object

from .tolerances import ROUNDING

Limits = tuple[float, float]


def to_number(name: str, value: Any, limits: Limits) -> float:
    """A number within its range."""
    if not isinstance(value, Real):
        raise TypeError(f"{name} is a number, not {_type(value)}")
    low, high = limits
    number = float(value)
    if not (isfinite(number) and low - ROUNDING <= number <= high + ROUNDING):
        raise ValueError(f"{name} is a number from {low:g} to {high:g}, not {number:g}")
    return min(max(number, low), high)


def to_numbers(name: str, value: Any, count: int, limits: Limits) -> list[float]:
    """So many numbers, each within its range."""
    try:
        items = [*value]
    except TypeError:
        raise TypeError(f"{name} is {count} numbers, not {_type(value)}") from None
    if len(items) != count:
        raise ValueError(f"{name} is {count} numbers, a bone each, not {len(items)}")
    return [to_number(name, item, limits) for item in items]


def to_flag(name: str, value: Any) -> bool:
    """True or False, also as 1 or 0."""
    if not isinstance(value, Real | np.bool_):
        raise TypeError(f"{name} is True or False, not {_type(value)}")
    if value not in (0, 1):
        raise ValueError(f"{name} is True or False, not {value}")
    return bool(value)


def to_count(name: str, value: Any, low: int, high: int) -> int:
    """A whole number within its range."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} is a whole number, not {_type(value)}")
    number = int(value)
    if not low <= number <= high:
        raise ValueError(f"{name} is a whole number from {low} to {high}, not {number}")
    return number


def to_word(name: str, value: Any, words: Collection[str]) -> str:
    """One of several words; another one is a TypeError, as it is in Blender's own lists."""
    if not isinstance(value, str) or value not in words:
        raise TypeError(f"{name} is one of {', '.join(words)}, not {value!r} ({_type(value)})")
    return value


def to_object(name: str, value: Any) -> Object | None:
    """An object, or none."""
    if not isinstance(value, Object | None):
        raise TypeError(f"{name} is an object or None, not {_type(value)}")
    return value


def to_name(name: str, value: Any) -> str:
    """The name of a bone."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is the name of a bone, not {_type(value)}")
    return value


def _type(value: Any) -> str:
    return type(value).__name__
