"""What limbs have to follow and be set to for IK to show how they stand: all frames at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..blender.words import Message, Refused
from ..limb.features import FEATURES
from ..limb.follow import check_movable, follow_of, pole_goes_along, solver_follow
from ..limb.storage import can_change_structure, has_slider, limbs_of, outward_sign
from ..limb.tips import foot_of
from ..limb.tolerances import NO_TURN, ON_TARGET, UNSEEN
from ..limb.transforms import own_transforms, rigid, turns_of
from ..rigging import feet
from ..rigging.description import LimbRef
from ..solver.ankles import within_half_turn
from ..solver.limb import IN_ONE_PLANE, MOVES_ROOT, joints_of, line_to, turn_about_line
from ..solver.matrices import applied, inverted_all
from ..solver.ops import ARRAYS
from ..solver.rotation import rotate
from .fitting import PAST_STRAIGHT
from .inverse import Inverse, angle_of, end_of_first_group, inverse_over_frames, solver_pose_of_rows
from .poses import LimbPoses
from .reading import LimbsRead, Recording, limbs_read, own_turns_of, poses_of

Array = NDArray[Any]


NEARER = 0.8
"""How many times as far from the knee as at rest a pole may be before it is put ahead of the knee anew."""


class MatchedLimb(NamedTuple):
    """What makes one limb show given poses by IK in f frames: its sliders by name (f); the places of its target and its
    pole in the world (f, 3), NaN where the pole stays; the rotation of its foot; and warnings."""

    limb: PoseBone
    sliders: dict[str, Array]
    target: Array
    in_frame: Array  # the target in the limb's frame G
    pole: Array | None
    foot: Array | None
    sizes: Array  # (f): the limb's length in the world
    warnings: list[Message]
    to_match: LimbToMatch
    inverse: Inverse


def matched_by_ik(
    recording: Recording, poses: dict[LimbRef, LimbPoses], keyed: Array, tolerance: float, moves_controls: bool
) -> list[MatchedLimb]:
    """Targets, poles (if ``moves_controls``), flip, swivel, ankle and twist with which limbs show these poses by IK.
    ``keyed`` are the rows that may get keys, ``tolerance`` how far joints may be off, in lengths of the limb. Raises
    `Refused`."""
    shown = []
    for rig in recording.rigs:
        limbs = limbs_read(recording, rig)
        for row, limb in enumerate(rig.limbs):
            to_match = LimbToMatch(limbs, row, limb, poses[rig.object, limb.name], moves_controls)
            shown.append(_matched_limb(to_match, keyed, tolerance))
    return shown


class LimbToMatch(NamedTuple):
    """A limb, the poses that it is to show by IK, and what was read of it, of which it is a ``row``. Target and pole
    are moved only if ``moves_controls``."""

    limbs: LimbsRead
    row: int
    limb: PoseBone
    poses: LimbPoses
    moves_controls: bool

    @property
    def entry(self) -> Any:
        """What of the limb does not change."""
        return self.limbs.rig.table.limbs[self.row]

    @property
    def frames(self) -> Array:
        """The limb's frame G in the world (f, 4, 4)."""
        frames: Array = self.poses.carry @ self.entry.geometry.frame
        return frames

    @property
    def size(self) -> float:
        """The limb's length in G."""
        return float(sum(self.entry.geometry.lengths))

    def slider(self, name: str) -> Array:
        """A slider of the limb (f)."""
        return self.limbs.sliders[name][:, self.row]


def _matched_limb(to_match: LimbToMatch, keyed: Array, tolerance: float) -> MatchedLimb:
    """One of `matched_by_ik`, with ``keyed`` row numbers. Raises `Refused` for what IK can't show."""
    entry, limb, sign = to_match.entry, to_match.limb, outward_sign(to_match.limb)
    flip = to_match.slider("flip") > 0.5
    turns = to_match.poses.turns
    pose = solver_pose_of_rows(turns, _joints(to_match))
    plane = entry.plane if entry.plane in IN_ONE_PLANE else "FREE"
    side = np.where(flip, -1.0, 1.0)
    inverse: Inverse = to_match.poses.inverse or inverse_over_frames(
        entry.geometry, pose, plane, side, max(ON_TARGET, tolerance / 2.0), keyed
    )
    tip = np.stack(pose.tip, axis=-1)
    if plane in IN_ONE_PLANE and to_match.moves_controls:
        _check_in_plane(to_match, tip)
    target = tip if plane in MOVES_ROOT else _target_factor(to_match, tip) * tip
    sliders, warnings = {"flip": inverse.side < 0.0}, list[Message]()
    for feature in FEATURES:
        numbers = feature.shown(inverse, sign)
        is_needed = any(rows.any() for rows in numbers.values())
        if all(has_slider(limb, name) for name in numbers) or (is_needed and can_change_structure(limb)):
            sliders |= numbers
        elif is_needed and feature.lacking:
            warnings.append(Message(feature.lacking, bone=limb.name))
    swivel, pole = _swivelled(to_match, inverse, target) if plane == "FREE" else (None, None)
    if swivel is not None:
        sliders["swivel"] = swivel
    frames = to_match.frames
    return MatchedLimb(
        limb=limb,
        sliders=sliders,
        target=applied(frames, target),
        in_frame=target,
        pole=None if pole is None else applied(frames, pole),
        foot=to_match.poses.foot,
        sizes=to_match.size * np.linalg.norm(frames[:, :3, 1], axis=1),
        warnings=warnings,
        to_match=to_match,
        inverse=inverse,
    )


def _check_in_plane(to_match: LimbToMatch, tip: Array) -> None:
    """Refuse poses whose tip (f, 3), in G, is out of the plane that a limb stays in."""
    if (np.abs(tip[:, 2] - sum(to_match.entry.geometry.plane_offsets)) > UNSEEN * to_match.size).any():
        template = "'{bone}' is posed out of its hinge's plane: set its plane to Free, or turn it back, then snap"
        raise Refused(template, bone=to_match.limb.name)


def swivel_again(recording: Recording, shown: Sequence[MatchedLimb]) -> list[MatchedLimb]:
    """Compute the swivel again with the poles as read now: a pole may have moved along with the target. Returns the
    limbs with a pole that stays."""
    again = []
    of_rigs = {rig.object: limbs_read(recording, rig) for rig in recording.rigs}
    for matched in shown:
        to_match = matched.to_match._replace(limbs=of_rigs[matched.limb.id_data], moves_controls=False)
        if matched.pole is None and "swivel" in matched.sliders and to_match.limbs.rig.table.is_poled[to_match.row]:
            matched.sliders["swivel"] = _swivelled(to_match, matched.inverse, matched.in_frame)[0]
            again.append(matched)
    return again


def _joints(to_match: LimbToMatch, stretch: Any = 1.0) -> Array:
    """Where the poses have knees and tip in G, (f, segments, 3)."""
    joints = _joints_of(to_match, stretch)
    return np.stack([np.stack(np.broadcast_arrays(*joint), axis=-1) for joint in joints], axis=1)


def _joints_of(to_match: LimbToMatch, stretch: Any = 1.0) -> Any:
    turns: Any = [tuple(to_match.poses.turns[:, k].T) for k in range(to_match.poses.turns.shape[1])]
    return joints_of(turns, to_match.limbs.rig.table.singles[to_match.row].reference, stretch)


def _swivelled(to_match: LimbToMatch, inverse: Inverse, target: Array) -> tuple[Array, Array | None]:
    """What turns the knee to where the pose has it: the swivels that the slider is to have, and the places in G that
    the pole is to have where that can be moved, not a number where it is to stay."""
    limbs, row, sign, line_turn = to_match.limbs, to_match.row, outward_sign(to_match.limb), inverse.swivel
    before = to_match.slider("swivel")
    swivel, length = sign * before, np.linalg.norm(target, axis=1)
    line: Any = line_to(tuple(target.T), length, ARRAYS)
    is_poled = limbs.rig.table.is_poled[row] & (to_match.slider("pole") > 0.5)
    by_pole = np.zeros(len(line_turn))
    place = None
    is_moved = np.zeros(len(line_turn), bool)
    if is_poled.any():
        pole: Any = tuple(applied(inverted_all(to_match.frames), limbs.pole[:, row]).T)
        by_pole = np.where(is_poled, angle_of(turn_about_line(line, pole, ARRAYS)), 0.0)
        is_off = np.abs(within_half_turn(line_turn - swivel - by_pole)) > NO_TURN
        if to_match.moves_controls and is_pole_movable(to_match.limb):
            place, is_far = _ahead_of_knee(to_match, line, line_turn - swivel, np.stack(pole, axis=-1))
            is_moved = is_poled & (is_off if len(line_turn) == 1 else (is_off | is_far).any())
            place[~is_moved] = np.stack(pole, axis=-1)[~is_moved] if pole_goes_along(to_match.limb) else np.nan
    lacking = within_half_turn(line_turn - by_pole - swivel)
    is_turned = ~is_moved & (np.abs(lacking) > NO_TURN)
    return np.unwrap(np.where(is_turned, sign * (swivel + lacking), before)), place


def _ahead_of_knee(to_match: LimbToMatch, line: Any, angle: Array, pole: Array) -> tuple[Array, Array]:
    """Where in G a pole is that is as far from the knee as at rest, straight ahead of it where it turns the limb by
    ``angle`` about the line; and where the pole is nearer or farther now."""
    zeros = np.zeros_like(angle)
    ahead = np.stack(rotate(line, (-np.cos(angle), zeros, np.sin(angle))), axis=-1)
    normal = np.stack(rotate(line, (np.sin(angle), zeros, np.cos(angle))), axis=-1)
    knee = np.stack(np.broadcast_arrays(*end_of_first_group(to_match.entry.geometry, _joints_of(to_match))), axis=-1)
    distance = _pole_distance(to_match)
    now = np.linalg.norm(pole - knee, axis=1) / distance
    in_plane = knee - (knee * normal).sum(axis=1, keepdims=True) * normal
    return in_plane + distance * ahead, (now < NEARER) | (now > 1.0 / NEARER)


def _pole_distance(to_match: LimbToMatch) -> float:
    """How far a limb's pole is from the knee at rest; of one that is no bone of its rig, a limb's length."""
    ob, bone = follow_of(to_match.limb).pairs[1]
    if ob != to_match.limb.id_data or not bone:
        return to_match.size
    pole = np.array(ob.data.bones[bone].head_local, float)  # type: ignore[union-attr]
    distance = float(np.linalg.norm(pole - to_match.entry.geometry.rest[1][:3, 3]))
    return distance if distance > 0.1 * to_match.size else to_match.size


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


def _target_factor(to_match: LimbToMatch, tip: Array) -> Array:
    """How many times as far from the root as the tip of the limb at its rest lengths, which is at ``tip`` in G, its
    target has to be (f, 3): see `factor_past`. Raises `Refused` where the bones are longer than IK makes them."""
    stretch, share = to_match.poses.stretch, to_match.slider("stretch")
    factor, to_farthest, softness = factor_past(to_match.limbs, to_match.row, tip, stretch)
    total = to_match.limbs.rig.table.singles[to_match.row].reference.bones.total
    is_stretched = (share > 0.0) & (stretch > 1.0) & (to_farthest <= np.maximum(softness, UNSEEN * total))
    if ((np.abs(stretch - 1.0) > UNSEEN) & ~is_stretched).any():
        raise Refused(
            "'{bone}' is longer by its scale than IK makes it there: clear its scale, then snap",
            bone=to_match.limb.name,
        )
    return factor


def factor_past(limbs: LimbsRead, row: int, tip: Array, stretch: Any = 1.0) -> tuple[Array, Array, Array]:
    """How many times as far from the root as a place in G (f, 3) the target of a limb has to be along each axis (f, 3),
    for its tip to be at the place: with softness, `extend_shaped` backwards; and with stretch, for the bones to be
    ``stretch`` times as long. With it, how far the place is from where the limb is straight, and how wide softness
    is."""
    _, reference, settings = limbs.rig.table.singles[row]
    counts = np.array((1.0, 1.0, 0.0 if limbs.rig.table.limbs[row].plane in IN_ONE_PLANE else 1.0))
    length, total = np.linalg.norm(tip * counts, axis=1), reference.bones.total
    nearest = max(settings.nearest, reference.bones.nearest if reference.groups is None else 0.0)
    farthest = min(settings.farthest, total)
    softness, slack = limbs.sliders["softness"][:, row] * total, UNSEEN * total
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


def offset_turn(limb: PoseBone) -> Array:
    """How the foot of a limb that follows is turned off what it follows, (4), w first."""
    foot: Any = foot_of(limb)
    return np.array(feet.offset_of(foot).to_quaternion(), float)


def solver_target(limb: PoseBone) -> tuple[Any, str]:
    """The target that the solver of a limb uses: its own, or with a foot roll the helper bone that rolls with it."""
    return solver_follow(limb).pairs[0]


def own_foot_turns(recording: Recording, limb: PoseBone, bone: PoseBone) -> tuple[Array, Array]:
    """The rotations of a bone by its own channels, and those that it would need to be in its evaluated pose: (f, 4)
    each, w first."""
    ob: Any = limb.id_data
    above = poses_of(recording, ob, bone.parent.name) if bone.parent else None
    shown = turns_of(rigid(own_transforms(bone.bone, above, poses_of(recording, ob, bone.name)))[0])
    return own_turns_of(recording, ob, bone.name), shown
