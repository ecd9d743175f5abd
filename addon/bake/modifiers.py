"""F-curve modifiers that act outside of the frames that were baked only."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ..rig.data.fcurves import LAST_FRAME, copy_modifier


def act_outside(curve: Any, first: float, last: float) -> None:
    """Let the modifiers of a curve act before the first and after the last of its new keys only, as they did there."""
    for modifier in [*curve.modifiers]:
        if modifier.type == "CYCLES" or modifier.mute:  # the former acts outside of the keys only
            continue
        start, end = _range(modifier)
        before, after = (start, min(end, _beside(first, -inf))), (max(start, _beside(last, inf)), end)
        parts = [ends for ends in (before, after) if ends[0] < ends[1]]
        if not parts:
            modifier.mute = True
            continue
        others = [copy_modifier(modifier, curve) for _ in parts[1:]]
        for part, ends in zip((modifier, *others), parts, strict=True):
            _restrict(part, *ends)


def _beside(frame: float, towards: float) -> float:
    """The next frame that Blender tells from this one."""
    return float(np.nextafter(np.float32(frame), np.float32(towards)))


def _range(modifier: Any) -> tuple[float, float]:
    """The frames on which a modifier acts, with both ends."""
    if modifier.type == "STEPPED":
        start = modifier.frame_start if modifier.use_frame_start else -LAST_FRAME
        return start, modifier.frame_end if modifier.use_frame_end else LAST_FRAME
    if modifier.use_restricted_range:
        return modifier.frame_start, modifier.frame_end
    return -LAST_FRAME, LAST_FRAME


def _restrict(modifier: Any, start: float, end: float) -> None:
    """Have a modifier act on these frames only, and come in and go out gently only where it did."""
    was_from, was_to = _range(modifier)
    if modifier.type == "STEPPED":  # which has a range of its own, under the same names
        modifier.use_frame_start = modifier.use_frame_end = True
    elif not modifier.use_restricted_range:
        modifier.use_restricted_range = True
        modifier.blend_in = modifier.blend_out = 0.0
    modifier.blend_in *= start == was_from
    modifier.blend_out *= end == was_to
    modifier.frame_end, modifier.frame_start, modifier.frame_end = end, start, end  # neither may pass the other
