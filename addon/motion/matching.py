"""How limbs stand in frames, by their own channels or as they are seen, and what they have to follow and be set to for
IK to show that: all frames at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone

from ..blender.types import Message, Refused
from ..limb import solving, tips, tolerances, transforms
from ..limb.features import FEATURES
from ..limb.follow import check_movable, follow_of, pole_goes_along, solver_follow
from ..limb.rest_geometry import RestGeometry, squared
from ..limb.settings import BonesPerSegment
from ..limb.storage import bones_of_limb, can_change_structure, has_slider, limbs_of, outward_sign
from ..rigging import feet
from ..rigging.description import LimbRef, ref_of
from ..solver import ankles, matrices, rotation
from ..solver.limb import IN_ONE_PLANE, MOVES_ROOT, joints_of, line_to, turn_about_line
from ..solver.ops import ARRAYS, Array, Indices, Points, Quaternions
from ..solver.reference import Reference
from .fitting import PAST_STRAIGHT
from .inverse import Inverse, angle_of, end_of_first_group, inverse_over_frames, solver_pose_of_rows
from .reading import LimbsRead, Recording, channel_of, limbs_read, matrices_of, poses_of, worlds_of


class LimbPoses(NamedTuple):
    """The poses of one limb in f frames."""

    turns: Array  # (f, segments, 4), w first: the rotations that its bones need by their own channels to show that
    stretch: Array  # (f): how many times as long as at rest they are
    carry: Array  # (f, 4, 4): takes the limb from its rest pose in the armature to where it hangs in the world
    foot: Array | None  # (f, 4, 4): its foot in the world, if that follows the target
    inverse: Any = None  # how the solver comes nearest to that, once it is known


def fk_poses(recording: Recording) -> dict[LimbRef, LimbPoses]:
    """The FK poses of limbs, by their own channels. Raises `Refused` where IK can't show them."""
    poses: dict[LimbRef, LimbPoses] = {}
    for rig in recording.rigs:
        limbs = limbs_read(recording, rig)
        for row, limb in enumerate(rig.limbs):
            _check_own(recording, limb, sum(rig.table.limbs[row].geometry.lengths))
            entry, foot = rig.table.limbs[row], tips.foot_of(limb) if feet.foot_follows(limb) else None
            poses[rig.object, limb.name] = LimbPoses(
                turns=limbs.own[:, row, : len(entry.bones)],
                stretch=limbs.own_length[:, row],
                carry=limbs.frames[:, row] @ matrices.inverted(entry.geometry.frame),
                foot=matrices_of(recording, (rig.object, foot.name)) if foot else None,
            )
    return poses


def evaluated_poses(recording: Recording, limb: PoseBone, segments: BonesPerSegment) -> LimbPoses:
    """The evaluated poses of a limb, or of bones that are none yet, whatever poses them. They, what they hang on, and
    the location of the first have been read."""
    ob, first = limb.id_data, bones_of_limb(limb, segments)[0].bone
    above = poses_of(recording, ob, first.parent.name) if first.parent else None
    location = np.zeros((recording.frames, 3))
    if not (first.use_connect and first.parent):
        location = channel_of(recording, ob, first.name, "location")
    carry = transforms.unposed(first, above, location) @ matrices.inverted(squared(tips.rest_matrix(first)))
    turns = np.stack([evaluated_turn(recording, bone) for bone in bones_of_limb(limb, segments)], axis=1)
    foot = tips.foot_of(limb) if feet.foot_follows(limb) else None
    seen = matrices_of(recording, (ob, foot.name)) if foot else None
    return LimbPoses(turns, np.ones(recording.frames), worlds_of(recording, ob) @ carry, seen)


def evaluated_turn(recording: Recording, bone: PoseBone) -> Quaternions:
    """The rotation that a bone needs by its own channels to stand as it is evaluated, (f, 4), w first."""
    ob = bone.id_data
    above = poses_of(recording, ob, bone.parent.name) if bone.parent else None
    return transforms.rigid_turns(transforms.own_transforms(bone.bone, above, poses_of(recording, ob, bone.name)))


def _check_own(recording: Recording, limb: PoseBone, length: float) -> None:
    """Refuse a limb that IK can't show: its lower bones are moved, or one is scaled but for a stretch of the first."""
    for k, bone in enumerate(bones_of_limb(limb)):
        location, scale = (channel_of(recording, limb.id_data, bone.name, name) for name in ("location", "scale"))
        moved = 0.0 if bone.bone.use_connect else float(np.linalg.norm(location, axis=1).max())
        is_scaled = bool((np.abs(scale - 1.0) > tolerances.KEPT).any())
        if k and moved > tolerances.MISS * length:
            raise Refused(solving.BONE_MOVED, bone=bone.name)
        if is_scaled and not (k == 0 and has_slider(limb, "stretch")):
            raise Refused("'{bone}' is scaled by itself: clear its scale, then snap", bone=bone.name)


# by IK


class MatchedLimb(NamedTuple):
    """What makes one limb show given poses by IK in f frames: its sliders by name (f); the places in its frame G of its
    target and its pole (f, 3), not a number where the pole stays, or None where all of it does; and warnings. The limb
    is a ``row`` of those of its rig that were read; ``inverse`` is how the solver comes nearest to the poses."""

    limbs: LimbsRead
    row: int
    poses: LimbPoses
    inverse: Inverse
    sliders: dict[str, Array]
    target: Array
    pole: Array | None
    warnings: list[Message]

    @property
    def limb(self) -> PoseBone:
        """Its last bone."""
        return self.limbs.rig.limbs[self.row]

    @property
    def geometry(self) -> RestGeometry:
        """How it rests."""
        return self.limbs.rig.table.limbs[self.row].geometry

    @property
    def frames(self) -> Array:
        """Its frame G in the world (f, 4, 4)."""
        frames: Array = self.poses.carry @ self.geometry.frame
        return frames

    def slider(self, name: str) -> Array:
        """A slider as it was read (f)."""
        return self.limbs.sliders[name][:, self.row]


def matched_by_ik(
    recording: Recording, poses: dict[LimbRef, LimbPoses], keyed: Indices, tolerance: float, moves_controls: bool
) -> list[MatchedLimb]:
    """Targets, poles (if ``moves_controls``), flip, swivel, ankle and twist with which limbs show these poses by IK.
    ``keyed`` are the rows that may get keys, ``tolerance`` how far joints may be off, in lengths of the limb. Raises
    `Refused`."""
    shown = []
    for rig in recording.rigs:
        limbs = limbs_read(recording, rig)
        for row, limb in enumerate(rig.limbs):
            shown.append(_matched_limb(limbs, row, poses[ref_of(limb)], keyed, tolerance, moves_controls))
    return shown


def _matched_limb(
    limbs: LimbsRead, row: int, poses: LimbPoses, keyed: Indices, tolerance: float, moves_controls: bool
) -> MatchedLimb:
    """One of `matched_by_ik`, with ``keyed`` row numbers. Raises `Refused` for what IK can't show."""
    entry, limb, reference = limbs.rig.table.limbs[row], limbs.rig.limbs[row], limbs.rig.table.singles[row].reference
    pose = solver_pose_of_rows(poses.turns, joints_posed(poses, reference))
    plane = entry.plane if entry.plane in IN_ONE_PLANE else "FREE"
    side = np.where(limbs.sliders["flip"][:, row] > 0.5, -1.0, 1.0)
    inverse: Inverse = poses.inverse or inverse_over_frames(
        entry.geometry, pose, plane, side, max(tolerances.ON_TARGET, tolerance / 2.0), keyed
    )
    tip = np.stack(pose.tip, axis=-1)
    if plane in IN_ONE_PLANE and moves_controls:
        _check_in_plane(limb, entry.geometry, tip)
    target = tip if plane in MOVES_ROOT else _target_factor(limbs, row, poses.stretch, tip) * tip
    sliders = {"flip": inverse.side < 0.0}
    matched = MatchedLimb(
        limbs=limbs, row=row, poses=poses, inverse=inverse, sliders=sliders, target=target, pole=None, warnings=[]
    )
    for feature in FEATURES:
        numbers = feature.shown(inverse, outward_sign(limb))
        is_needed = any(rows.any() for rows in numbers.values())
        if all(has_slider(limb, name) for name in numbers) or (is_needed and can_change_structure(limb)):
            matched.sliders.update(numbers)
        elif is_needed and feature.lacking:
            matched.warnings.append(Message(feature.lacking, bone=limb.name))
    return _swivelled(matched, moves_controls) if plane == "FREE" else matched


def _check_in_plane(limb: PoseBone, geometry: RestGeometry, tip: Points) -> None:
    """Refuse poses whose tip (f, 3), in G, is out of the plane that a limb stays in."""
    if (np.abs(tip[:, 2] - sum(geometry.plane_offsets)) > tolerances.UNSEEN * sum(geometry.lengths)).any():
        template = "'{bone}' is posed out of its hinge's plane: set its plane to Free, or turn it back, then snap"
        raise Refused(template, bone=limb.name)


def joints_posed(poses: LimbPoses, reference: Reference, stretch: Any = 1.0) -> Points:
    """Where poses have knees and tip in G, (f, segments, 3)."""
    turns: Any = [tuple(turn.T) for turn in np.moveaxis(poses.turns, 1, 0)]
    joints = joints_of(turns, reference, stretch)
    return np.stack([np.stack(np.broadcast_arrays(*joint), axis=-1) for joint in joints], axis=1)


def _swivelled(matched: MatchedLimb, moves_controls: bool) -> MatchedLimb:
    """A limb with what turns its knee to where the pose has it: the swivels that the slider is to have, and the places
    that the pole is to have where that can be moved."""
    limbs, row, sign, line_turn = matched.limbs, matched.row, outward_sign(matched.limb), matched.inverse.swivel
    before = matched.slider("swivel")
    swivel, length = sign * before, np.linalg.norm(matched.target, axis=1)
    line: Any = line_to(tuple(matched.target.T), length, ARRAYS)
    is_poled = limbs.rig.table.is_poled[row] & (matched.slider("pole") > 0.5)
    by_pole = np.zeros(len(line_turn))
    place = None
    is_moved = np.zeros(len(line_turn), bool)
    if is_poled.any():
        pole = matrices.applied(matrices.inverted_all(matched.frames), limbs.pole[:, row])
        by_pole = np.where(is_poled, angle_of(turn_about_line(line, tuple(pole.T), ARRAYS)), 0.0)
        is_off = np.abs(ankles.within_half_turn(line_turn - swivel - by_pole)) > tolerances.NO_TURN
        if moves_controls and is_pole_movable(matched.limb):
            place = _ahead_of_knee(matched, line, line_turn - swivel)
            is_moved = is_poled & (is_off if len(line_turn) == 1 else is_off.any())
            place[~is_moved] = pole[~is_moved] if pole_goes_along(matched.limb) else np.nan
    lacking = ankles.within_half_turn(line_turn - by_pole - swivel)
    is_turned = ~is_moved & (np.abs(lacking) > tolerances.NO_TURN)
    swivels = np.unwrap(np.where(is_turned, sign * (swivel + lacking), before))
    return matched._replace(sliders=matched.sliders | {"swivel": swivels}, pole=place)


def _ahead_of_knee(matched: MatchedLimb, line: Any, angle: Array) -> Array:
    """Where in G a pole is (f, 3) that is a limb's length from the knee, straight ahead where it turns the limb by
    ``angle`` (f) about the line."""
    zeros, reference = np.zeros_like(angle), matched.limbs.rig.table.singles[matched.row].reference
    ahead = np.stack(rotation.rotate(line, (-np.cos(angle), zeros, np.sin(angle))), axis=-1)
    normal = np.stack(rotation.rotate(line, (np.sin(angle), zeros, np.cos(angle))), axis=-1)
    joints = [tuple(joint.T) for joint in joints_posed(matched.poses, reference).swapaxes(0, 1)]
    knee = np.stack(np.broadcast_arrays(*end_of_first_group(matched.geometry, joints)), axis=-1)
    in_plane = knee - (knee * normal).sum(axis=1, keepdims=True) * normal
    place: Array = in_plane + sum(matched.geometry.lengths) * ahead
    return place


def is_pole_movable(limb: PoseBone) -> bool:
    """Whether the pole of a limb can be moved, and only turns this one."""
    follow = follow_of(limb)
    if follow.pole is None:
        return False
    of_others = [follow_of(other)[2:] for other in limbs_of(limb.id_data) if other != limb]
    if follow[2:] in of_others:
        return False
    try:
        check_movable(limb, follow.pole, follow.pole_subtarget)
    except Refused:
        return False
    return True


def _target_factor(limbs: LimbsRead, row: int, stretch: Array, tip: Points) -> Array:
    """How many times as far from the root as the tip of the limb at its rest lengths, which is at ``tip`` in G, its
    target has to be (f, 3): see `factor_past`. Raises `Refused` where the bones are longer than IK makes them."""
    share = limbs.sliders["stretch"][:, row]
    factor, to_farthest, softness = factor_past(limbs, row, tip, stretch)
    total = limbs.rig.table.singles[row].reference.bones.total
    is_stretched = (share > 0.0) & (stretch > 1.0) & (to_farthest <= np.maximum(softness, tolerances.UNSEEN * total))
    if ((np.abs(stretch - 1.0) > tolerances.UNSEEN) & ~is_stretched).any():
        template = "'{bone}' is longer by its scale than IK makes it there: clear its scale, then snap"
        raise Refused(template, bone=limbs.rig.limbs[row].name)
    return factor


def factor_past(limbs: LimbsRead, row: int, tip: Points, stretch: Any = 1.0) -> tuple[Array, Array, Array]:
    """How many times as far along each axis of its frame G (f, 3) the target of the limb in this ``row`` has to be for
    its tip to be at ``tip`` (f, 3) in G: softness, `extend_shaped` backwards, and ``stretch``, for bones to be so many
    times as long. With it, (f) each, how far the tip is from where the limb is straight, and how wide softness is."""
    _, reference, settings = limbs.rig.table.singles[row]
    counts = np.array((1.0, 1.0, 0.0 if limbs.rig.table.limbs[row].plane in IN_ONE_PLANE else 1.0))
    length, total = np.linalg.norm(tip * counts, axis=1), reference.bones.total
    nearest = max(settings.nearest, reference.bones.nearest if reference.groups is None else 0.0)
    farthest = min(settings.farthest, total)
    softness, slack = limbs.sliders["softness"][:, row] * total, tolerances.UNSEEN * total
    share = limbs.sliders["stretch"][:, row]
    to_farthest = np.maximum(farthest - length, 0.0)
    is_limited = ~((nearest - slack <= length) & (length <= farthest + slack))  # the knee's limits keep it from there
    by_stretch = 1.0 + np.maximum(stretch - 1.0, 0.0) / np.where(share > 0.0, share, 1.0)
    away = farthest + softness - np.sqrt(4.0 * softness * to_farthest)
    by_softness = np.where((to_farthest < softness) & (length > 0.0), away / np.where(length > 0.0, length, 1.0), 1.0)
    factor = np.where(is_limited, 1.0, np.where(share > 0.0, by_stretch, by_softness))
    is_straight = length > total * (1.0 - PAST_STRAIGHT)
    factor = np.where(is_straight, np.maximum(factor, 1.0 + PAST_STRAIGHT), factor)
    return 1.0 + (factor - 1.0)[:, None] * counts, to_farthest, softness


def solver_target(limb: PoseBone) -> tuple[Any, str]:
    """The target that the solver of a limb uses: its own, or with a foot roll the helper bone that rolls with it."""
    return solver_follow(limb).pairs[0]
