"""Reading Blender's own IK constraints of two bones as chains: what they follow, how they bend, what can't be had."""

from __future__ import annotations

from collections.abc import Iterable
from math import atan2, degrees, pi
from typing import Any, NamedTuple

import bpy
from bpy.types import Depsgraph, PoseBone
from mathutils import Matrix, Vector

from ...solver.chain import Own
from ...solver.fitting import fit_hinge
from ...solver.limb import STRAIGHT
from ...solver.ops import FLOATS
from ..anatomy import Unposable, anatomy, frame_of
from ..data import fcurves
from ..data.access import is_of_library, is_part, path_to_bone, setting_path, upper_of
from ..data.animation import animated_paths, drivers_of, drivers_on
from ..data.carrying import carry
from ..data.unkeyed import frame_held
from ..kinds import Refused
from ..settings import BY_NAME
from ..targets import Target
from .setup import check_parent, own_rotation

BESIDE_POLE = 2e-3
"""How far the knee may be off the plane of the pole, as a sine, and still count as pointing at it: the constraint
itself is no better."""

STRETCHED = 1e-4
"""By what part of its length a bone has to be longer, to count as stretched."""

TILTED = 2e-3
"""How far, in radians, a knee's own axis may be off the one that a chain bends it about: the constraint's error is no
less."""

FARTHEST = 10.0
"""The limit for a stretch that has none."""


class Solvers(NamedTuple):
    """The IK constraints of a limb: one, or as in Rigify one without a pole and one with, of which drivers mute one."""

    lower: PoseBone
    free: Any
    poled: Any

    @property
    def acting(self) -> Any:
        """The one that poses the limb now."""
        return next((each for each in self.all if not each.mute), self.all[0])

    @property
    def all(self) -> list[Any]:
        """One or two."""
        return [each for each in (self.free, self.poled) if each]


class Conversion(NamedTuple):
    """What a chain must be set to, to pose the limb as its constraints do; and what is otherwise now."""

    settings: dict[str, Any]
    lost: list[str]


def solvers_of(lower: PoseBone) -> Solvers | None:
    """The IK constraints of a bone that are a limb's; None without any, and `Refused` where they are something else."""
    found: list[Any] = [each for each in lower.constraints if each.type == "IK"]
    if not found:
        return None
    check_parent(lower)
    free = [each for each in found if each.pole_target is None]
    poled = [each for each in found if each.pole_target is not None]
    if len(free) > 1 or len(poled) > 1:
        raise Refused(f"'{lower.name}' has several IK constraints: leave one, or one with a pole and one without")
    pair = Solvers(lower, free[0] if free else None, poled[0] if poled else None)
    for each in pair.all:
        _check(lower, each)
    if len(pair.all) == 2:
        _check_pair(pair)
    return pair


def conversion_of(solvers: Solvers, depsgraph: Depsgraph) -> Conversion:
    """The settings with which a chain poses the limb as it is evaluated; raises `Refused` if none do."""
    lower, acting = solvers.lower, solvers.acting
    evaluated = lower.id_data.evaluated_get(depsgraph)
    posed = evaluated.pose.bones[lower.name]
    upper = upper_of(posed)
    try:
        body = anatomy(upper, posed, upper.scale[:], posed.scale[:])
    except Unposable as why:
        raise Refused(*why.args) from why
    pose = Own(own_rotation(upper), own_rotation(posed))
    frame = evaluated.matrix_world @ frame_of(upper)
    bend, pole_angle = 1.0, 0.0
    fit = fit_hinge(pose, body.limb, FLOATS, body.uninherited)
    settings: dict[str, Any] = {"plane": "POLE" if acting == solvers.poled else "SWING"}
    if solvers.poled:
        settings |= {"pole_target": solvers.poled.pole_target, "pole_subtarget": solvers.poled.pole_subtarget}
    if acting == solvers.poled:
        place = Target(acting.pole_target, acting.pole_subtarget).position(depsgraph)
        bend, pole_angle = _side_of(frame, evaluated.matrix_world @ posed.tail, place, fit.normal)
    hinge_angle = _angle(fit.hinge)
    if bend < 0.0:
        towards = fit_hinge(pose, body.limb, FLOATS, body.uninherited, bend)
        # A straight limb has no axis of its own to tell that the upper bone has turned its back to the pole.
        hinge_angle = _angle(towards.hinge) if towards.hinge != fit.hinge else hinge_angle - pi
    settings |= {"target": acting.target, "subtarget": acting.subtarget, "bend": bend}
    settings |= {"hinge_angle": hinge_angle, "lower_twist": _angle(fit.twist), "influence": acting.influence}
    settings["pole_angle"] = pole_angle
    if acting.use_stretch and max(lower.ik_stretch, upper_of(lower).ik_stretch) > 0.0:
        settings |= {"stretch": 1.0, "stretch_max": FARTHEST, "stretch_volume": "UNIFORM"}
    return Conversion(settings, _lost(solvers))


def carry_curves(solvers: Solvers) -> None:
    """Let the keys and drivers of the constraint's influence be those of the chain's, and what toggles the pole toggle
    the chain's plane."""
    ob, name = solvers.lower.id_data, solvers.lower.name
    for each in solvers.all:
        carry(ob, place_of(solvers.lower, each, "influence"), setting_path(name, "influence"))
    if len(solvers.all) == 2:
        muting, *_ = _drivers(solvers.lower, solvers.free, "mute")
        with frame_held():
            _drive_plane(ob, name, muting)


def drop_drivers(solvers: Solvers) -> None:
    """Remove the drivers of constraints that are going to be removed."""
    ob = solvers.lower.id_data
    for each in solvers.all:
        start = place_of(solvers.lower, each, "")
        for curve in [curve for curve in drivers_of(ob) if curve.data_path.startswith(start)]:
            ob.animation_data.drivers.remove(curve)


def is_stretched(lower: PoseBone, depsgraph: Depsgraph) -> bool:
    """Whether a constraint lengthens a limb now."""
    posed = lower.id_data.evaluated_get(depsgraph).pose.bones[lower.name]
    return any(abs(bone.length / bone.bone.length - 1.0) > STRETCHED for bone in (upper_of(posed), posed))


def place_of(lower: PoseBone, constraint: Any, name: str) -> str:
    """The data path of a property of a constraint from its object."""
    return f'{path_to_bone(lower.name)}.constraints["{bpy.utils.escape_identifier(constraint.name)}"].{name}'


def is_animated(lower: PoseBone, constraint: Any, name: str) -> bool:
    """Whether a property of a constraint is keyed or driven."""
    return place_of(lower, constraint, name) in animated_paths(lower.id_data)


def _drivers(lower: PoseBone, constraint: Any, name: str) -> list[Any]:
    """The drivers of a property of a constraint."""
    return drivers_on(lower.id_data, place_of(lower, constraint, name))


def _check(lower: PoseBone, constraint: Any) -> None:
    """Raise `Refused` if a constraint is not that of a limb of two bones."""
    what = f"IK constraint '{constraint.name}' of '{lower.name}'"
    length = constraint.chain_count or 1 + len(lower.parent_recursive)
    if not constraint.use_tail:
        raise Refused(f"{what} has Use Tail off: the chain's tip is the tail of its lower bone")
    if is_of_library(lower, constraint) and all(_drivers(lower, constraint, name) for name in ("mute", "influence")):
        raise Refused(f"{what} comes with drivers of its library, which stay: convert it in the file that it is in")
    if length != 2:
        number = constraint.chain_count
        raise Refused(f"{what} has a Chain Length of {number}, and chains are of two bones: leave it as it is")
    if constraint.target is None:
        raise Refused(f"{what} has no target")
    if constraint.use_rotation:
        raise Refused(
            f"{what} also turns the bone as its target is turned, which a chain does not: switch Rotation off"
        )
    if constraint.ik_type != "COPY_POSE":
        raise Refused(f"{what} keeps a distance, which a chain does not")
    if constraint.target.type != "ARMATURE" and constraint.subtarget:
        raise Refused(f"{what} follows a vertex group, which a chain does not")
    for bone in (upper_of(lower), lower):
        if any(getattr(bone, f"use_ik_limit_{axis}") for axis in "xyz"):
            raise Refused(f"{what} keeps to IK limits of '{bone.name}': switch them off, or set Min and Max Knee Angle")


def _check_pair(pair: Solvers) -> None:
    """Raise `Refused` if two constraints are not one limb's with and without its pole."""
    lower, (free, poled) = pair.lower, pair.all
    if (free.target, free.subtarget) != (poled.target, poled.subtarget):
        raise Refused(f"The two IK constraints of '{lower.name}' follow different targets")
    if not _drivers(lower, free, "mute"):
        raise Refused(f"Of the two IK constraints of '{lower.name}' nothing switches one off: leave one")


def _side_of(frame: Matrix, tip: Vector, pole: Vector, normal: Any) -> tuple[float, float]:
    """The bend, 1 where the knee is on the pole's side of the line from root to tip, -1 on the other, and the pole
    angle: where the knee is beside the plane of the pole, by how much it is turned from that about the line."""
    inside = frame.inverted_safe()
    line, towards, axis = (inside @ tip).normalized(), inside @ pole, Vector(normal)
    aside, to_knee = towards - line * towards.dot(line), axis.cross(line)
    if abs(aside.dot(axis)) <= BESIDE_POLE * aside.length:
        return (1.0 if to_knee.dot(aside) >= 0.0 else -1.0), 0.0
    return 1.0, atan2(line.dot(aside.cross(to_knee)), aside.dot(to_knee))


def _angle(half: tuple[Any, Any]) -> float:
    return 2.0 * atan2(half[1], half[0])


def _lost(solvers: Solvers) -> list[str]:
    """What of a constraint no chain has, as the ends of sentences."""
    lost = []
    is_blended = any(is_animated(solvers.lower, each, "influence") for each in solvers.all)
    if is_blended or 0.0 < solvers.acting.influence < 1.0:
        lost.append("between 0 and 1 its influence blends the bones' rotations, and no longer the target's place")
    locked = [axis for axis in "xyz" if getattr(upper_of(solvers.lower), f"lock_ik_{axis}")]
    if solvers.acting.use_stretch and max(solvers.lower.ik_stretch, upper_of(solvers.lower).ik_stretch) > 0.0:
        lost.append("within reach its bones keep their lengths now")
    if solvers.poled and is_animated(solvers.lower, solvers.poled, "pole_angle"):
        lost.append("what animates its pole angle does nothing any more")
    if locked:
        lost.append(f"the IK locks of '{upper_of(solvers.lower).name}' hold nothing any more")
    tilt = _tilt_of_knee(solvers.lower)
    if tilt > TILTED:
        lost.append(f"its knee bends in the limb's plane now, off which IK locks held it by {degrees(tilt):.2g}°")
    return lost


def _tilt_of_knee(lower: PoseBone) -> float:
    """By how much, in radians, the one axis that IK locks leave a lower bone to turn about is off the normal of the
    limb at rest; 0 if it is free to turn about others, or the limb is straight."""
    free = [i for i, axis in enumerate("xyz") if not getattr(lower, f"lock_ik_{axis}")]
    upper, shin = upper_of(lower).bone, lower.bone
    thigh = (shin.head_local - upper.head_local).normalized()
    normal = thigh.cross((shin.tail_local - shin.head_local).normalized())
    if len(free) != 1 or normal.length <= STRAIGHT:
        return 0.0
    angle = normal.angle(shin.matrix_local.col[free[0]].xyz)
    return float(min(angle, pi - angle))


def _drive_plane(ob: Any, lower: str, muting: Any) -> None:
    """Drive the plane by what mutes the constraint without a pole."""
    path = setting_path(lower, "plane")
    ob.driver_remove(path)
    curve = ob.animation_data.drivers.from_existing(src_driver=muting)
    curve.data_path = path
    fcurves.clear(curve)
    curve.driver.type = "SCRIPTED"
    pole, swing = map(BY_NAME["plane"].number_of, ("POLE", "SWING"))
    curve.driver.expression = f"{pole} if {_muted(muting)} else {swing}"


def _muted(muting: Any) -> str:
    """An expression that is true while what a driver drives is."""
    driver = muting.driver
    words = driver.expression if driver.type == "SCRIPTED" else " + ".join(each.name for each in driver.variables)
    is_inverted = any(modifier.type == "GENERATOR" and modifier.coefficients[0] for modifier in muting.modifiers)
    return f"not ({words})" if is_inverted else f"({words})"


def limbs_with_solvers(bones: Iterable[PoseBone]) -> list[PoseBone]:
    """Those of the bones that have an IK constraint, as bones are sorted: from parents to children. The parts of limbs
    on the rig may have some too, which pose nothing."""
    found = [bone for bone in bones if any(each.type == "IK" for each in bone.constraints)]
    return [bone for bone in found if not is_part(bone.id_data, bone.name)]
