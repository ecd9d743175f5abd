"""Whether IK can be put on a limb, and what is to be done where it can't; and how joints are limited about their hinge:
by Blender's IK, and by *Limit Rotation* about one axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import atan2, copysign, cos, inf, pi, remainder, sin, tau
from typing import Any

import numpy as np
from bpy.types import Context, PoseBone

from ..blender.animation import curves_everywhere
from ..blender.dependencies import BoneRef, Dependencies
from ..blender.types import Refused, announce, bones_of, can_edit_bones, has_bone, path_to_bone, view_layer_of
from ..limb import follow, solving, storage, tips, transforms
from ..limb.rest_geometry import RestGeometry, rest_geometry, rest_geometry_of, turns_about
from ..limb.settings import MADE_FOR_LIMB, BonesPerSegment
from ..limb.tolerances import KEPT, MISS, ROUNDING
from ..solver import groups, matrices, solve_limb

OUT_OF_PLANE = 0.35
"""How far a joint of three or four bones may lie beside their plane, as a part of their length: it stays as far."""

SAME_PLACE = "Two joints of '{bone}' are in the same place: move one in Edit Mode"
CONFLICTS = "'{name}' on '{bone}' conflicts with IK: mute it"


def check_addable(limb: PoseBone, segments: BonesPerSegment, dependencies: Dependencies | None = None) -> None:
    """Refuse a limb that IK can't be added to; the message says what to do about it."""
    check_editable(limb)
    if limb.id_data.data.pose_position == "REST":
        raise Refused("'{rig}' shows its rest position: set its armature to Pose Position", rig=limb.id_data.name)
    storage.check_parents(limb, sum(segments))
    chain = storage.chain_bones(limb, segments)
    _check_others(limb, chain)
    for bone in chain[1:]:
        if not bone.bone.use_inherit_rotation:
            raise Refused("'{bone}' does not inherit rotation: switch on its Inherit Rotation", bone=bone.name)
    _check_orphaned(limb, chain)
    geometry = rest_geometry(limb, segments)
    check_planar(geometry)
    lengths = geometry.lengths
    if min(lengths) < 1e-6 * max(1.0, *lengths) or not max(lengths):
        raise Refused(SAME_PLACE, bone=limb.name)
    _check_movers(chain, dependencies or Dependencies(), takes_limits=len(segments) == 2)
    starts = storage.bones_of_limb(limb, segments)
    for bone in chain:
        _check_channels(bone, sum(lengths), bone in starts, slides=bone == chain[0])


def check_planar(geometry: RestGeometry) -> None:
    """Refuse three or four bones that are far from one plane."""
    if len(geometry.lengths) < 3:
        return
    for name, off in zip(geometry.names[1:], accumulate(geometry.plane_offsets), strict=False):
        if abs(off) > OUT_OF_PLANE * sum(geometry.lengths):
            raise Refused(
                "'{bone}' begins {off} of the limb's length beside its plane: move it there in Edit Mode",
                bone=name,
                off=f"{abs(off) / sum(geometry.lengths):.2g}",
            )


def check_editable(limb: PoseBone) -> None:
    """Refuse a rig whose bones can't be edited: one that is linked, or overridden."""
    if not can_edit_bones(limb.id_data):
        raise Refused("'{rig}' is linked: add or remove IK in the library's file", rig=limb.id_data.name)


def _check_others(limb: PoseBone, chain: list[PoseBone]) -> None:
    if storage.is_limb(limb):
        raise Refused("'{bone}' has IK already", bone=limb.name)
    _check_shared(limb, chain)


def _check_shared(limb: PoseBone, chain: list[PoseBone]) -> None:
    """Refuse bones of another limb than that of the last one."""
    for other in storage.limbs_of(limb.id_data):
        shared = {*chain} & {*storage.chain_bones(other)}
        if shared and other != limb:
            name = min(bone.name for bone in shared)
            raise Refused("'{bone}' is part of the limb of '{last}': remove that first", bone=name, last=other.name)


def _check_orphaned(limb: PoseBone, chain: list[PoseBone]) -> None:
    """Refuse bones that still have constraints of a limb that was removed by deleting its IK constraint."""
    foot = tips.foot_of(limb)
    for bone in (*chain, *([foot] if foot else ())):
        if storage.is_orphaned(bone) or any(map(storage.is_mechanism_constraint, bone.constraints)):
            template = "'{bone}' has constraints of a limb that is gone: remove what is left"
            raise Refused(template, "left", bone=bone.name)


def _check_movers(chain: list[PoseBone], dependencies: Dependencies, takes_limits: bool) -> None:
    """Refuse a limb that something else poses, but for limits about one axis of two bones, which it takes over."""
    for bone in chain:
        for mover in dependencies.constraints_and_drivers(bone):
            if takes_limits and hasattr(mover, "influence") and limit_of(mover):
                continue
            if not hasattr(mover, "influence"):
                raise Refused("'{bone}' is driven: remove the driver", bone=bone.name)
            if mover.type == "IK":
                template = "'{name}' poses '{bone}' already: press Solve Exactly (Convert)"
                raise Refused(template, "convert", name=mover.name, bone=bone.name)
            raise Refused(CONFLICTS, "mute", name=mover.name, bone=bone.name)


def check_solvers_above(limb: PoseBone, chain: list[PoseBone], dependencies: Dependencies) -> None:
    """Refuse helper bones where an IK constraint solves a limb's bones together with what they would hang on. That
    would be a dependency cycle, also while the constraint is muted."""
    first = chain[0]
    for owner, constraint in dependencies.solvers(limb.id_data, first.parent.name) if first.parent else ():
        if first in (owner, *owner.parent_recursive):
            template = "'{name}' on '{bone}' reaches above the limb, in Blender's eyes even while muted: delete it"
            raise Refused(template, name=constraint.name, bone=owner.name)


def conflicts_of(limb: PoseBone) -> list[Any]:
    """The constraints that move the bones of a limb and are not of its mechanism."""
    dependencies = Dependencies()
    movers = [mover for bone in storage.chain_bones(limb) for mover in dependencies.constraints_and_drivers(bone)]
    return [mover for mover in movers if hasattr(mover, "influence") and not storage.is_mechanism_constraint(mover)]


def mute_constraints(constraints: Iterable[Any]) -> None:
    """Mute constraints of bones."""
    for constraint in constraints:
        announce(constraint.id_data)
        constraint.mute = True
        constraint.id_data.update_tag()


def check_overruled(limb: PoseBone) -> None:
    """Refuse a limb that constraints above its own or drivers would pose, were it not for its mechanism."""
    dependencies, posed = Dependencies(), [] if storage.is_on_rig(limb) else storage.bones_of_limb(limb)
    for bone in storage.chain_bones(limb):
        last = len(bone.constraints) if bone in posed else 0
        own = next(
            (i for i, constraint in enumerate(bone.constraints) if storage.is_mechanism_constraint(constraint)), last
        )
        above = list(bone.constraints[:own])
        for mover in dependencies.constraints_and_drivers(bone):
            if not hasattr(mover, "influence"):
                raise Refused("'{bone}' is driven: remove the driver", bone=bone.name)
            if mover in above and "SCALE" not in mover.type:
                raise Refused(CONFLICTS, "mute", name=mover.name, bone=bone.name)


def _check_channels(bone: PoseBone, length: float, turns: bool, slides: bool) -> None:
    """Refuse a bone of a limb that is scaled by its own channels, or moved where it is not the first, which ``slides``;
    or a twist bone that is turned."""
    is_moved = not slides and bool(np.abs(transforms.own_location(bone)).max() > MISS * length)
    is_scaled = max(abs(size - 1.0) for size in bone.scale[:]) > KEPT
    path, limits = path_to_bone(bone.name), {"location": (0.0, MISS * length), "scale": (1.0, KEPT)}
    for curve in curves_everywhere(bone.id_data, muted=False):
        name = curve.data_path.removeprefix(f"{path}.")
        usual, most = limits.get(name, (0.0, inf)) if curve.data_path.startswith(path) else (0.0, inf)
        if any(abs(key.co.y - usual) > most for key in curve.keyframe_points):
            is_moved |= name == "location" and not (slides or (bone.bone.use_connect and bone.parent))
            is_scaled |= name == "scale"
    if is_moved or is_scaled:
        raise Refused(solving.BONE_MOVED if is_moved else solving.BONE_SCALED, bone=bone.name)
    own: Any = bone.matrix_basis
    if not turns and own.to_quaternion().angle > 1e-3:
        raise Refused("Twist bone '{bone}' is turned: clear its rotation", bone=bone.name)


def check_followed(
    limb: PoseBone, segments: BonesPerSegment, followed: BoneRef, among: Dependencies | None = None
) -> None:
    """Refuse a target or pole that does not exist, or that moves with the limb itself."""
    ob, bone = followed
    if bone and not has_bone(ob, bone):
        raise Refused("'{name}' has no bone '{bone}'", name=ob.name, bone=bone)
    if not bone and ob == limb.id_data:
        raise Refused("'{name}' carries the limb: pick one of its bones, or another object", name=ob.name)
    names = {chain_bone.name for chain_bone in storage.chain_bones(limb, segments)}
    if (among or Dependencies()).moves_with(followed, limb.id_data, names):
        raise Refused("'{name}' moves with this limb: it can't be its target", name=bone or ob.name)


def pickable(context: Context, limbs: Sequence[PoseBone]) -> Iterator[BoneRef]:
    """The bones and objects that can be target or pole of limbs, those of their rigs first. What moves with the
    limbs can't."""
    dependencies = Dependencies()
    lines = {limb: {bone.name for bone in storage.chain_bones(limb)} for limb in limbs}
    rigs = dict.fromkeys(limb.id_data for limb in limbs)
    layer: Any = view_layer_of(context)
    bones = [(ob, bone.name) for ob in rigs for bone in bones_of(ob)]
    bones = [ref for ref in bones if not getattr(ref[0].data.bones[ref[1]], MADE_FOR_LIMB) or storage.is_control(*ref)]
    for ref in (*bones, *((ob, "") for ob in layer.objects if ob not in rigs)):
        if not any(dependencies.moves_with(ref, limb.id_data, chain) for limb, chain in lines.items()):
            yield ref


SHORTEST = 1e-5
"""How long a limb on the rig is at least: Blender drops bones of no length."""


def check_length(limb: PoseBone) -> None:
    """Refuse a limb of which all joints are in one point."""
    if sum(rest_geometry_of(limb).lengths) < SHORTEST:
        raise Refused(SAME_PLACE, bone=limb.name)


def check_chain(bone: PoseBone, segments: BonesPerSegment) -> None:
    """Refuse what can't be a limb of these segments, whether it is one already or not."""
    if not storage.is_limb(bone):
        check_addable(bone, segments)
        return
    storage.check_structure(bone)
    storage.check_parents(bone, sum(segments))
    _check_shared(bone, storage.chain_bones(bone, segments))
    check_planar(rest_geometry(bone, segments))
    for followed in follow.follow_of(bone).pairs:
        if not follow.is_gone(*followed):
            check_followed(bone, segments, followed)  # type: ignore[arg-type]  # it is there


ABOUT, NEARLY = 0.999, 0.95
"""The cosine from which on an axis is the hinge that a first bone turns about; and a knee, whose axis may be a bit off
the normal of the joints' plane on models of MMD."""


def limits_by_ik(bone: PoseBone) -> Iterator[tuple[str, float, float]]:
    """Each axis about which a bone has IK limits, with the least and most turn, in radians. Half a turn to either
    side is none."""
    for axis in "xyz":
        if turns_about(bone, axis) and getattr(bone, f"use_ik_limit_{axis}"):
            low, high = getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")
            if low > -groups.UNLIMITED or high < groups.UNLIMITED:
                yield axis, low, high


def limit_of(constraint: Any) -> tuple[str, float, float] | None:
    """The axis, least and most turn that a *Limit Rotation* allows, in radians; None where it limits not just one
    axis."""
    if constraint.type != "LIMIT_ROTATION" or constraint.owner_space != "LOCAL" or constraint.influence < 1.0:
        return None
    ranges = {axis: (getattr(constraint, f"min_{axis}"), getattr(constraint, f"max_{axis}")) for axis in "xyz"}
    limited = [axis for axis in "xyz" if getattr(constraint, f"use_limit_{axis}")]
    turning = [axis for axis in limited if ranges[axis][1] > ranges[axis][0]]
    return (turning[0], *ranges[turning[0]]) if len(turning) == 1 else None


def joint_limits(
    geometry: RestGeometry, k: int, limit: tuple[str, float, float], plane: str, flip: bool
) -> dict[str, float] | None:
    """The limits in radians, by the names of their settings, of a limb whose ``k``-th bone (from 0) has this limit
    (axis, least and most turn from rest), if the limb bends in this ``plane`` of `Plane`, flipped or not. None where
    that is not about the hinge, or the first bone's in another plane than a hinge's. Of three or four bones,
    see `limits_of_knees`."""
    about, *ends = limit
    place = "xyz".index(about)
    along = float(geometry.normals[k][place])
    if abs(along) < (NEARLY if k else ABOUT) or (k == 0 and (plane != "HINGE" or len(geometry.lengths) > 2)):
        return None
    low, high = sorted(copysign(1.0, along) * end for end in ends)
    if k == 0:
        return {"root_min_angle": max(low, -pi), "root_max_angle": min(high, pi)}
    side = 1.0 if (geometry.angles[k - 1] >= geometry.angles[k]) != flip else -1.0
    bends = sorted(side * _bend_at(geometry, k, place, copysign(1.0, along) * end) for end in (low, high))
    least, most = (min(max(pi + bend, 0.0), pi) for bend in bends)
    return {"min_angle": least, "max_angle": most}


def _bend_at(geometry: RestGeometry, k: int, place: int, turn: float) -> float:
    """How far the ``k``-th bone is bent off the one above, against the clock about the normal, turned from rest by so
    much about one of its axes: within half a turn of that."""
    axis, half = np.eye(3)[place], turn / 2.0
    turned = geometry.reference[k] @ matrices.rotation((cos(half), *(sin(half) * axis)))
    above = geometry.reference[k - 1][:3, :3] @ geometry.bone_directions[k - 1]
    below = turned[:3, :3] @ geometry.bone_directions[k]
    angle = atan2(float(matrices.cross_array(above, below) @ geometry.frame[:3, 2]), float(above @ below))
    near = copysign(turn, turn * float(geometry.normals[k][place])) + geometry.angles[k] - geometry.angles[k - 1]
    return near + remainder(angle - near, tau)


def limits_of_knees(geometry: RestGeometry, ranges: Sequence[tuple[int, float, float]]) -> dict[str, float]:
    """The knee limits of a limb of three or four bones that stops where bones with own limits are at theirs. All its
    knees have the same. Each range is a bone's place, and the least and most of the inner angle at its head."""
    directions = [(-sin(angle), cos(angle)) for angle in geometry.angles]
    at_rest = sum(length * y for length, (_, y) in zip(geometry.lengths, directions, strict=True))

    def inner(distance: float) -> list[float]:
        bones = solve_limb((0.0, distance), geometry.lengths, directions).directions
        return [pi - atan2(abs(a * d - b * c), a * c + b * d) for (a, b), (c, d) in pairwise(bones)]

    def is_within(angles: list[float]) -> bool:
        return all(least - ROUNDING <= angles[k - 1] <= most + ROUNDING for k, least, most in ranges)

    limits = {"min_angle": 0.0, "max_angle": pi}
    for name, end, narrowest in (("min_angle", 0.0, min), ("max_angle", sum(geometry.lengths), max)):
        if not is_within(inner(end)):
            inside, outside = at_rest, end
            for _ in range(50):
                middle = (inside + outside) / 2.0
                inside, outside = (middle, outside) if is_within(inner(middle)) else (inside, middle)
            limits[name] = narrowest(inner(inside))
    return limits
