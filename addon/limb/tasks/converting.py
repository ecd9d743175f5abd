"""Turning Blender's own IK constraints of two to four bones into limbs, which stay where they are, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import copysign, inf, pi
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ...blender.animation import driver_of, is_animated, move_curves
from ...blender.editing import frame_held, unkeyed_kept
from ...blender.types import ArmatureObject, path_to_custom, tag, view_layer_of
from ...solver.matrices import applied
from ..follow import read
from ..home import hierarchy, is_converted, is_limb, make_home
from ..pole_switch import switch_pole
from ..settings import GROUP, PART, SLIDER, WAS
from ..shape import hinge_axis, make_shape
from ..solving import limbs_now
from ..status import measure
from ..words import Refused
from .checking import check_editable, check_zigzag
from .fitting import fit, keep
from .removing import remove

Array = NDArray[Any]

FARTHEST = 10.0
"""The limit for a stretch that has none."""

STRETCHED = 1e-3
"""By what part of its length a bone is longer or shorter, to count as stretched."""


class Solvers(NamedTuple):
    """The IK constraints of a limb: one, or as in Rigify one without a pole and one with, of which drivers mute one."""

    last: PoseBone
    free: Any
    poled: Any
    links: tuple[int, ...]

    @property
    def bones(self) -> list[PoseBone]:
        """The limb's, from the root down."""
        return hierarchy(self.last, len(self.links))

    @property
    def each(self) -> list[Any]:
        """One or two."""
        return [each for each in (self.free, self.poled) if each]

    @property
    def acting(self) -> Any:
        """The one that poses the limb now."""
        return next((each for each in self.each if not each.mute), self.each[0])


class Converted(NamedTuple):
    """The limbs that were made, by rig and last bone's name; why others were left; and what is otherwise now."""

    lasts: list[tuple[ArmatureObject, str]]
    refused: list[Refused]
    warnings: list[Refused]


def candidates(ob: ArmatureObject) -> list[PoseBone]:
    """The bones of a rig with IK constraints that may be a limb's."""
    bones: Any = ob.pose.bones
    return [bone for bone in bones if _active(bone) and PART not in bone.bone and not is_limb(bone)]


def convert(context: Context, lasts: Sequence[PoseBone], tolerance: float = 1e-3) -> Converted:
    """Make limbs of the IK constraints of these bones: those of which knee and tip stay within a tolerance, in lengths
    of the limb. Raises `Refused` if there are none."""
    done = Converted([], [], [])
    named = [(last.id_data, last.name) for last in lasts]
    for ob, name in named:
        try:
            done.warnings.extend(_convert(context, ob.pose.bones[name], tolerance))
        except Refused as why:
            done.refused.append(why)
            continue
        done.lasts.append((ob, name))
    if not done.lasts:
        raise done.refused[0] if done.refused else Refused("Select bones with an IK constraint")
    return done


def unconvert(context: Context, lasts: Sequence[PoseBone]) -> list[tuple[ArmatureObject, str]]:
    """Give limbs back to the constraints that they were, with what animates their influence."""
    for last in lasts:
        if not is_converted(last):
            raise Refused("'{bone}' was made by Planar IK: remove it instead", bone=last.name)
    named = [(last.id_data, last.name) for last in lasts]
    remove(context, lasts)
    return named


def _active(bone: PoseBone) -> list[Any]:
    """The IK constraints of a bone that pose it, or do at times."""
    found = [each for each in bone.constraints if each.type == "IK"]
    return [each for each in found if not each.mute or driver_of(bone.id_data, each.path_from_id("mute"))]


def _convert(context: Context, last: PoseBone, tolerance: float) -> list[Refused]:
    solvers = _solvers(last)
    with _at_full_influence(context, solvers):
        _check_rest(context, solvers)
        before = _joints(context, solvers)
        found = fit(context, last, solvers.links, read(solvers.acting), _plane(solvers), "TAIL", inf)
    with unkeyed_kept(context, [last.id_data]), frame_held():
        _take(solvers)
        keep(last, found, "TAIL")
        warnings = [*_limit(solvers), *_told(solvers)]
        if len(solvers.each) == 2:
            switch_pole(last, solvers.poled, _muting(last, solvers.free), solvers.acting == solvers.poled)
        if _stretches(solvers):
            group: Any = last[GROUP]
            group["stretch_max"], group["stretch_volume"] = FARTHEST, "UNIFORM"
            last.planar_ik.stretch = 1.0  # type: ignore[attr-defined]
        tag(last)
        view_layer_of(context).update()
        moved = float(np.abs(_solved(context, last) - before).max())
        if not moved <= tolerance:
            remove(context, [last])
            raise Refused(
                "'{bone}' would move by {moved} of its length: convert it in the rest pose, or set Tolerance to more",
                bone=last.name,
                moved=f"{moved:.2g}",
            )
    return warnings


# what is converted


def _solvers(last: PoseBone) -> Solvers:
    check_editable(last)
    found = _active(last)
    if is_limb(last) or not found:
        raise Refused("'{bone}' has no IK constraint to convert", bone=last.name)
    free = [each for each in found if each.pole_target is None]
    poled = [each for each in found if each.pole_target is not None]
    count = found[0].chain_count or 1 + len(last.parent_recursive)
    solvers = Solvers(last, free[0] if free else None, poled[0] if poled else None, (1,) * count)
    is_pair = len(free) == len(poled) == 1 and read(free[0])[:2] == read(poled[0])[:2] and _muting(last, free[0])
    if len(found) > 1 and not is_pair:
        raise Refused(
            "'{bone}' has several IK constraints: leave one, or one with a pole and one without", bone=last.name
        )
    for each in found:
        _check(last, each, bool(is_pair))
    check_zigzag(make_shape(last, solvers.links, tip="TAIL"))
    return solvers


def _check_rest(context: Context, solvers: Solvers) -> None:
    for bone in solvers.bones:
        if abs(_posed(context, bone).length / bone.bone.length - 1.0) > STRETCHED:
            raise Refused("'{bone}' is stretched now: bring it to rest, then convert", bone=bone.name)


def _check(last: PoseBone, constraint: Any, is_pair: bool) -> None:
    most = 1 + len(last.parent_recursive)
    length = constraint.chain_count or most
    is_group = constraint.target and constraint.target.type != "ARMATURE" and constraint.subtarget
    is_switched = is_animated(last.id_data, constraint.path_from_id("mute"))
    flaws = {
        "IK of '{bone}' has {count} bones: limbs have two to four": not 2 <= length <= min(4, most),
        "IK of '{bone}' has no target": constraint.target is None,
        "IK of '{bone}' has Use Tail off: switch it on, then convert": not constraint.use_tail,
        "IK of '{bone}' also turns with its target: switch its Rotation off, then convert": constraint.use_rotation,
        "IK of '{bone}' keeps a distance: limbs don't": constraint.ik_type != "COPY_POSE",
        "IK of '{bone}' follows a vertex group: limbs follow objects and bones": bool(is_group),
        "Mute of the IK of '{bone}' is animated: animate its influence instead": is_switched and not is_pair,
    }
    for template, is_so in flaws.items():
        if is_so:
            raise Refused(template, bone=last.name, count=length)


def _muting(last: PoseBone, constraint: Any) -> Any:
    """The driver that mutes a constraint."""
    return driver_of(last.id_data, constraint.path_from_id("mute"))


def _posed(context: Context, bone: PoseBone) -> Any:
    evaluated: Any = bone.id_data.evaluated_get(context.evaluated_depsgraph_get())
    return evaluated.pose.bones[bone.name]


@contextmanager
def _at_full_influence(context: Context, solvers: Solvers) -> Iterator[None]:
    """Have a constraint pose its limb wholly for a moment."""
    ob, acting = solvers.last.id_data, solvers.acting
    curve, influence = driver_of(ob, acting.path_from_id("influence")), acting.influence
    curves = [curve] if curve and influence < 1.0 and not curve.mute else []
    for each in curves:
        each.mute = True
    if influence < 1.0:
        acting.influence = 1.0
    tag(solvers.last)
    view_layer_of(context).update()
    try:
        yield
    finally:
        acting.influence = influence
        for each in curves:
            each.mute = False
        tag(solvers.last)


def _plane(solvers: Solvers) -> str:
    """POLE with a pole; HINGE where IK locks leave the first bone one axis, or the whole rig is flat; else FREE."""
    if solvers.acting.pole_target:
        return "POLE"
    first = solvers.bones[0]
    is_locked = sum((first.lock_ik_x, first.lock_ik_y, first.lock_ik_z)) == 2
    return "HINGE" if is_locked or hinge_axis(solvers.last) else "FREE"


def _joints(context: Context, solvers: Solvers) -> Array:
    """Knees and tail as they are evaluated, in the armature and in lengths of the limb."""
    bones = solvers.bones
    ends = [*(_posed(context, bone).head[:] for bone in bones[1:]), _posed(context, solvers.last).tail[:]]
    places: Array = np.array(ends) / sum(bone.bone.length for bone in bones)
    return places


def _solved(context: Context, last: PoseBone) -> Array:
    """Where the limb puts them at full influence."""
    now = limbs_now(last.id_data, [last], context.evaluated_depsgraph_get(), is_whole=True)
    seen = measure(now)
    ends = applied(np.linalg.inv(now.world)[None], seen.joints[0])
    places: Array = ends / sum(now.table.limbs[0].shape.lengths)
    return places


# what becomes of it


def _stretches(solvers: Solvers) -> bool:
    return solvers.acting.use_stretch and max(bone.ik_stretch for bone in solvers.bones) > 0.0


def _take(solvers: Solvers) -> None:
    """Make the limb: its home is the constraint with a pole, if there is one, and both are muted for good."""
    last, ob = solvers.last, solvers.last.id_data
    home, acting = solvers.poled or solvers.free, solvers.acting
    was: dict[str, Any] = {"chain": home.chain_count, "influence": acting.name, "parked": []}
    was["mute"] = {each.name: each.mute for each in solvers.each}
    for each in solvers.each:
        if (curve := _muting(last, each)) and not curve.mute:
            curve.mute = True
            was["parked"].append(curve.data_path)
        each.mute = True
    make_home(last, solvers.links, constraint=home)
    last[GROUP][WAS] = json.dumps(was)
    last[SLIDER["influence"].key] = acting.influence
    move_curves(ob, acting.path_from_id("influence"), path_to_custom(last.name, SLIDER["influence"].key))


def _limit(solvers: Solvers) -> list[Refused]:
    """Carry the knee's IK limits over, if it has them about the one axis that it bends about; say so of all others."""
    last = solvers.last
    axes = [(bone, axis) for bone in solvers.bones for axis in "xyz" if not getattr(bone, f"lock_ik_{axis}")]
    limited = [(bone, axis) for bone, axis in axes if getattr(bone, f"use_ik_limit_{axis}")]
    if not limited:
        return []
    shape = make_shape(last, solvers.links, tip="TAIL")
    (bone, axis), *others = limited
    along = float(shape.normals[1]["xyz".index(axis)])
    if others or bone != last or abs(along) < 1.0 - STRETCHED or len(solvers.links) > 2:
        return [Refused("IK limits of '{bone}' are left out: they are not about its hinge", bone=bone.name)]
    side = copysign(1.0, along)  # a turn about the normal takes as much from the knee's turn off straight
    ends = [shape.angles[0] - shape.angles[1] - side * getattr(last, f"ik_{end}_{axis}") for end in ("min", "max")]
    limits = last[GROUP]
    limits["min_angle"] = min(max(pi - max(ends), 0.0), pi)
    limits["max_angle"] = min(max(pi - min(ends), 0.0), pi)
    return []


def _told(solvers: Solvers) -> list[Refused]:
    """What is otherwise than the constraint had it."""
    last, told = solvers.last, []
    influence = float(last[SLIDER["influence"].key])
    if 0.0 < influence < 1.0 or is_animated(last.id_data, path_to_custom(last.name, SLIDER["influence"].key)):
        told.append(Refused("The influence of '{bone}' blends rotations now, not the target's place", bone=last.name))
    if _stretches(solvers):
        told.append(Refused("Within reach, the bones of '{bone}' keep their lengths now", bone=last.name))
    if solvers.poled and is_animated(last.id_data, solvers.poled.path_from_id("pole_angle")):
        told.append(Refused("What animates the pole angle of '{bone}' does nothing now: use Swivel", bone=last.name))
    return told
