"""Constraints that put a thing where others are, over the frames: those that, acting in full and in the world, are one
product of transforms."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Constraint
from numpy.typing import NDArray

from ....rig.data.access import has_bone
from ....rig.data.dependencies import Carrier
from .transforms import array_of

PARTS = [f"use_{part}_{axis}" for part in ("location", "rotation", "scale") for axis in "xyz"]
"""What of its parent's transform Child Of takes."""


def is_followed(constraint: Any) -> bool:
    """Whether `held` says what a constraint does, if nothing animates it."""
    is_known = IS_PLAIN.get(constraint.type, lambda _: False)(constraint)
    return bool(is_known and constraint.target and constraint.influence == 1.0 and _is_in_world(constraint))


def carriers_of(constraints: Any) -> list[Carrier]:
    """The objects and bones that these constraints look at, of those that `held` knows."""
    found: dict[Carrier, None] = {}
    for constraint in constraints:
        if is_on(constraint) and is_followed(constraint):
            found[constraint.target, ""] = found[constraint.target, constraint.subtarget] = None
    return list(found)


def is_on(constraint: Constraint) -> bool:
    """Whether a constraint that nothing animates acts."""
    return not constraint.mute and constraint.influence > 0.0


def held(constraint: Any, place: NDArray[Any], goal: NDArray[Any]) -> NDArray[Any]:
    """The transforms in the world that a constraint makes of ``place`` when its target is at ``goal``, each
    ``(frames, 4, 4)`` or one for all frames."""
    if constraint.type == "COPY_TRANSFORMS":
        return goal
    if constraint.type == "CHILD_OF":
        carried: NDArray[Any] = goal @ array_of(constraint.inverse_matrix) @ place
        return carried
    is_taken = np.array([constraint.use_x, constraint.use_y, constraint.use_z, False])
    moved = np.broadcast_to(place, (max(len(place), len(goal)), 4, 4)).copy()
    moved[:, is_taken, 3] = goal[:, is_taken, 3]
    return moved


def _copies_location(constraint: Any) -> bool:
    is_mixed = constraint.use_offset or constraint.invert_x or constraint.invert_y or constraint.invert_z
    return not is_mixed and _is_at_head(constraint)


def _copies_transforms(constraint: Any) -> bool:
    is_whole = constraint.mix_mode == "REPLACE" and not constraint.remove_target_shear
    return is_whole and _is_at_head(constraint)


def _is_child(constraint: Any) -> bool:
    is_whole = all(getattr(constraint, part) for part in PARTS) and not constraint.set_inverse_pending
    return is_whole and _is_place(constraint)


IS_PLAIN = {"COPY_LOCATION": _copies_location, "COPY_TRANSFORMS": _copies_transforms, "CHILD_OF": _is_child}
"""By types, whether a constraint does no more than it is known for."""


def _is_at_head(constraint: Any) -> bool:
    return _is_place(constraint) and not (constraint.subtarget and constraint.head_tail)


def _is_place(constraint: Any) -> bool:
    """Whether it looks at where an object or a bone is."""
    return not constraint.subtarget or has_bone(constraint.target, constraint.subtarget)


def _is_in_world(constraint: Any) -> bool:
    return bool(constraint.owner_space == constraint.target_space == "WORLD")
