"""Where the knees and tips of limbs are in the evaluated pose, and where the solver has them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..blender.types import ArmatureObject
from ..solver.matrices import applied
from .solving import LimbsNow, Solution, counting, joints_in, own_size, solve
from .storage import bones_of_limb, chain_bones, has_slider
from .table import ABSENT
from .tolerances import KEPT, UNSEEN
from .transforms import own_location

Array = NDArray[Any]


SIZELESS = "'{bone}', or what carries it, is scaled to nothing or not a number"

BONE_MOVED = "'{bone}' is moved by its own location: clear that"
"""Of a limb, only the first bone may be."""

BONE_SCALED = "'{bone}' is scaled by itself: clear its scale, and delete the keys of that"


UNEVEN = "'{object}' is scaled unevenly, and '{bone}' can't be as it is for that: apply the object's scale first"

SCALED_APART = "'{bone}' is scaled differently from its parent: set its Inherit Scale to Full"


def inheriting_otherwise(limb: PoseBone) -> PoseBone | None:
    """A bone of a limb that inherits scale otherwise than IK needs it."""
    allowed = {"FULL", "ALIGNED"} if has_slider(limb, "stretch") else {"FULL"}
    return next((bone for bone in chain_bones(limb) if bone.parent and bone.bone.inherit_scale not in allowed), None)


def evaluated_joints(evaluated: ArmatureObject, last_bone: str, segments: tuple[int, ...], tip: Any) -> Array:
    """Where an evaluated rig has the knees and the tip of a limb, or of bones that are none yet, whatever poses them:
    (segments, 3), in the armature. ``tip`` is where that is in the last bone's own space."""
    bone: Any = evaluated.pose.bones[last_bone]
    knees = [below.head[:] for below in bones_of_limb(bone, segments)[1:]]
    joints: Array = np.array([*knees, (np.array(bone.matrix, float) @ [*tip, 1.0])[:3]])
    return joints


class Measured(NamedTuple):
    """Limbs as evaluated, and as the solver expects them: a row for each limb, in world space."""

    solution: Solution
    tips: Array  # (n, 3), evaluated
    joints: Array  # (n, segments, 3), expected: knees, then the tip
    knee_errors: Array  # (n): how far evaluated knees are from there at most
    targets: Array  # (n, 3); of hinges, where that is in the plane of their tip
    poles: Array  # (n, 3)
    influence: Array  # (n)
    lengths: Array  # (n): the lengths of the limbs, in the armature
    sizes: Array  # (n): in the world
    is_uneven: bool  # whether the rig itself is scaled unevenly in the world


def measure(now: LimbsNow) -> Measured:
    """Measure where knees and tips of limbs are, and where they should be."""
    table = now.table
    solution = solve(table.kinds, now.target, now.pole, now.sliders, now.own)
    turns = solution.turns / np.linalg.norm(solution.turns, axis=-1, keepdims=True)  # as Blender takes them
    stretch = solution.stretch * own_size(now.own_length, now.sliders["influence"])
    joints = applied(now.frames[:, None], joints_in(table, solution._replace(turns=turns, stretch=stretch)))
    tips = applied(now.world @ now.poses[table.last_bones], np.array([limb.geometry.tip for limb in table.limbs]))
    targets = counting(table, now.frames, applied(now.frames, now.target), tips)
    knees = (now.world @ now.poses[table.bones[:, 1:]])[..., :3, 3]
    knee_errors = np.linalg.norm(knees - joints[:, :-1], axis=-1)
    knee_errors[table.bones[:, 1:] == ABSENT] = 0.0
    lengths = np.array([sum(limb.geometry.lengths) for limb in table.limbs])
    sizes = lengths * np.linalg.norm(now.frames[:, :3, 1], axis=-1)
    return Measured(
        solution=solution,
        tips=tips,
        joints=joints,
        knee_errors=knee_errors.max(axis=1),
        targets=targets,
        poles=applied(now.frames, now.pole),
        influence=now.sliders["influence"],
        lengths=lengths,
        sizes=sizes,
        is_uneven=is_uneven(now.world),
    )


def is_uneven(world: Array) -> bool:
    """Whether axes of a matrix (4, 4) are of several lengths, or not square to each other."""
    axes = world[:3, :3].T @ world[:3, :3]
    return bool(abs(axes - np.eye(3) * axes[0, 0]).max() > UNSEEN * abs(axes[0, 0]))


def misplaced_bone(limb: PoseBone, least: float) -> tuple[str, PoseBone] | None:
    """A bone of a limb that is scaled or moved by its own channels where IK can't follow, with the message; None if
    there is none. ``least`` is what counts as moved, in the armature. Location of the first bone is fine, and so is its
    scale in FK with Stretch."""
    chain, scaled = chain_bones(limb), 1 if has_slider(limb, "stretch") else 0
    for bone in chain[scaled:]:
        if max(abs(size - 1.0) for size in bone.scale[:]) > KEPT:
            return BONE_SCALED, bone
    for bone in chain[1:]:
        if np.abs(own_location(bone)).max() > least:
            return BONE_MOVED, bone
    return None
