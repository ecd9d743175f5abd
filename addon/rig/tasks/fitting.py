"""How a chain shows the pose that a limb has: by plane, the side, hinge and twist that keep both bones."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, pi, remainder, tau
from typing import NamedTuple

import numpy as np
from bpy.types import Armature
from mathutils import Vector

from ...solver.chain import OWN_AT_REST, Own, tip_position
from ...solver.fitting import Fit as Whole
from ...solver.fitting import fit_hinge
from ...solver.limb import STRAIGHT, Limb
from ...solver.ops import FLOATS
from ...solver.rotation import Vector as Numbers
from ...solver.rotation import combine, components, cross, dot, unit
from ..anatomy import anatomy
from ..data.access import ArmatureObject, upper_of

OFF_PLANE = 1e-5
"""How far off the hinge's plane a limb may be posed, in its own lengths, and still be matched within it."""

UNTURNED = 1e-4
"""The largest turn of a bone about its length, in radians, that still counts as none."""

FLAT_RIG = 1e-3
"""How far joints at rest may be off one plane, in sizes of the armature, for the rig to count as planar."""

NO_LINE = 1e-6
"""How near, in lengths of the limb, a tip may be to its root and still say in which direction it lies."""


PAST_STRAIGHT = 4e-6
"""How far past the tip of a straight limb, in its own lengths, its target is put, which still counts as reached:
short of the tip by no more than rounding, it would bend the limb by the root of that, some 1e-3 radians."""


class Fit(NamedTuple):
    """How a chain shows a limb's pose in one plane: the joints stay where they are, and the whole lower bone.
    ``turned`` is how far the upper bone turns about its length all the same, in radians."""

    plane: str
    bend: float
    hinge_angle: float
    lower_twist: float
    turned: float

    def settings(self) -> dict[str, float]:
        """The settings besides the plane, by name."""
        return {"bend": self.bend, "hinge_angle": self.hinge_angle, "lower_twist": self.lower_twist}


class Posture(NamedTuple):
    """Where a limb's root is in the world, where a target and a pole would hold its tip and knee as they are posed, and
    the `Fit` of each plane in which a chain can show the pose."""

    root: Vector
    target: Vector
    pole: Vector
    fits: dict[str, Fit]

    @property
    def mark(self) -> float:
        """A size for empties that mark these places."""
        return 0.15 * (self.target - self.root).length or 0.1


def posture(
    evaluated: ArmatureObject,
    name: str,
    own: Own,
    scales: tuple[Sequence[float], Sequence[float]],
    near: float = 0.0,
    can_make_up: bool = False,
) -> Posture:
    """The limb of the lower bone of this name, posed by these rotations and scales; raises `Unposable`.

    Of the two sides, each fit takes the one whose hinge angle is nearer to ``near``; ``can_make_up`` as in `anatomy`.
    """
    lower = evaluated.pose.bones[name]
    body = anatomy(upper_of(lower), lower, *scales, can_make_up=can_make_up)
    limb = body.limb
    tip = tip_position(own, limb, uninherited=body.uninherited)
    knee = tip_position(own, limb._replace(r2=0.0), uninherited=body.uninherited)
    to_world = evaluated.matrix_world @ body.frame
    wholes = [(bend, fit_hinge(own, limb, FLOATS, body.uninherited, bend)) for bend in (1.0, -1.0)]
    fits = [fit for bend, whole in wholes for fit in _fits(limb, whole, knee, tip, bend)]
    pole = Vector(knee) + _aside(wholes[0][1].normal, knee, tip, limb) * limb.bones.total
    best: dict[str, Fit] = {}
    for fit in fits:  # the first side prevails, unless the other is nearer by more than rounding
        other = best.get(fit.plane)
        if other is None or _away(fit.hinge_angle, near) < _away(other.hinge_angle, near) - UNTURNED:
            best[fit.plane] = fit
    farther = 1.0 + PAST_STRAIGHT if _is_straight(knee, tip) else 1.0
    return Posture(to_world.translation, to_world @ (Vector(tip) * farther), to_world @ pole, best)


def _is_straight(knee: Numbers, tip: Numbers) -> bool:
    upper, lower = Vector(knee), Vector(tip) - Vector(knee)
    return upper.cross(lower).length <= STRAIGHT * upper.dot(lower)


def is_planar(armature: Armature) -> bool:
    """Whether all bones of an armature lie in one plane at rest."""
    joints = np.array([place[:] for bone in armature.bones for place in (bone.head_local, bone.tail_local)])
    joints -= joints.mean(axis=0)
    axes = np.linalg.svd(joints, full_matrices=False)[2]
    return bool(np.abs(joints @ axes[-1]).max() <= FLAT_RIG * np.ptp(joints, axis=0).max())


def _fits(limb: Limb, whole: Whole, knee: Numbers, tip: Numbers, bend: float) -> list[Fit]:
    """Those that have the knee on the side of this bend, from the fit that keeps both bones through a pole."""
    hinge, twist = (2.0 * atan2(half[1], half[0]) for half in (whole.hinge, whole.twist))
    hinges = {"REST": _in_rest_plane(whole.normal, knee, tip, limb), "SWING": _in_swing_plane(whole.normal, tip, limb)}
    fits = []
    for plane, angle in hinges.items():
        if angle is not None:
            turned = remainder(hinge - angle, tau)
            fits.append(Fit(plane, bend, _clean(angle), _clean(twist - turned), abs(turned)))
    if bend > 0.0:
        fits.append(Fit("POLE", bend, _clean(hinge), _clean(twist), 0.0))
    return fits


def _in_rest_plane(normal: Numbers, knee: Numbers, tip: Numbers, limb: Limb) -> float | None:
    """The hinge angle for a limb bent in a plane of this normal; None if no hinge across the upper bone has it."""
    _, across, along = components(normal, limb.axes)
    axis = unit(combine(0.0, across, along, limb.axes), limb.axes[2], FLOATS)
    height = max(abs(dot(knee, axis)), abs(dot(tip, axis)))
    return atan2(-across, along) if height <= OFF_PLANE * limb.bones.total else None


def _in_swing_plane(normal: Numbers, tip: Numbers, limb: Limb) -> float | None:
    """The hinge angle whose axis, swung with the line from root to tip, is this normal; None without such a line."""
    at_rest = tip_position(OWN_AT_REST, limb)
    least = NO_LINE * limb.bones.total
    if min(dot(tip, tip), dot(at_rest, at_rest)) <= least * least:
        return None
    start, end = (unit(line, limb.axes[0], FLOATS) for line in (at_rest, tip))
    lean = dot(start, limb.axes[0])
    if abs(lean) < UNTURNED:
        return None
    back = normal
    if 1.0 + dot(start, end) > NO_LINE:
        share = dot(start, normal) / (1.0 + dot(start, end))
        back = combine(1.0, -share, -share, (normal, start, end))
    across_upper = combine(1.0, -dot(back, limb.axes[0]) / lean, 0.0, (back, start, end))
    _, across, along = components(across_upper, limb.axes)
    return atan2(-across, along)


def _aside(normal: Numbers, knee: Numbers, tip: Numbers, limb: Limb) -> Vector:
    """The direction from the line of root and tip to where the knee is, or would bend to."""
    aside = cross(normal, tip)
    least = NO_LINE * limb.bones.total
    return Vector(unit(aside if dot(aside, aside) > least * least else knee, limb.axes[1], FLOATS))


def _away(angle: float, near: float) -> float:
    return abs(remainder(angle - near, tau))


def _clean(angle: float) -> float:
    """An angle within half a turn, without what is mere rounding of a pose in single precision."""
    within = remainder(angle, tau)
    if abs(within) < 0.01 * UNTURNED:
        return 0.0
    return within if within > -pi + 0.01 * UNTURNED else pi
