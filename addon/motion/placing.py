"""Controls that are to be seen somewhere in many frames: what their channels have to say for that, whatever carries
and constrains them.

Each round reads where everything is, and moves by its own channels what is not where it is to be; the next round reads
only the frames in which something was moved. What is rigid is right after one round; what hangs on another control,
after that; what constraints hold by half, nearer by half each round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone

from ..blender.animation import is_animated
from ..blender.dependencies import BoneRef
from ..blender.rotation import ARRAY_ANGLES, rotation_channel, to_channels, to_quaternion
from ..blender.stepping import Steps
from ..blender.types import Refused, bones_of
from ..limb.features.pole_follow import CONSTRAINT as FOLLOWING_POLE
from ..limb.follow import follow_of, following_pole, is_gone
from ..limb.tolerances import NO_TURN, ROUNDING, UNSEEN
from ..limb.transforms import posed, rigid_turns
from ..solver.matrices import inverted_all, pseudo_inverted, rotation
from ..solver.ops import Array, Rotations
from ..solver.rotation import IDENTITY, conjugate, multiply
from .reading import Channel, Recording, Values, matrices_of, poses_of, worlds_of

ROUNDS = 30
"""How often what constraints hold is put elsewhere, until it is seen where it is to be."""

Reread = Callable[[Array], Steps[None]]
"""Writes what channels say now, and reads these rows anew."""


def owner_of(ref: BoneRef) -> Any:
    """The bone that a ref names, or its object where it names none."""
    ob, bone = ref
    return bones_of(ob)[bone] if bone else ob


STALLED = 0.9
"""What part of how far controls are off is left in a round that does not bring them nearer."""


class ControlPlacing(NamedTuple):
    """Where a control, or what rolls with it (``followed``), is to be seen over f frames: ``places`` (f, 3) in the
    world, not a number where it is to stay; and how what it turns is to be turned, ``turns`` (f, 4, 4) in the world, or
    None: as is seen in its object, which may shear. ``offset`` (4) or (f, 4) is how that is turned off what is seen.
    ``sizes`` (f) are those of its limb."""

    control: BoneRef
    followed: BoneRef
    places: Array
    sizes: Array
    turns: Array | None = None
    offset: Any = IDENTITY

    @property
    def mode(self) -> str:
        """Its rotation mode."""
        return str(owner_of(self.control).rotation_mode)

    @property
    def location(self) -> Channel:
        """What it is moved by."""
        return Channel.of_bone(*self.control, "location")

    @property
    def rotation(self) -> Channel:
        """What it is turned by."""
        return Channel.of_bone(*self.control, rotation_channel(self.mode))

    @property
    def channels(self) -> list[Channel]:
        """What it is moved and turned by."""
        return [self.location, *([self.rotation] if self.turns is not None else ())]

    @property
    def holding(self) -> list[Any]:
        """The constraints that may keep it from where it is to be, now or by keys of their influence."""
        follows, ob = following_pole(*self.control) is not None, self.control[0]
        there = [one for one in owner_of(self.control).constraints if not one.mute]
        acting = [one for one in there if one.influence != 0.0 or is_animated(ob, one.path_from_id("influence"))]
        return [one for one in acting if not (follows and one.name == FOLLOWING_POLE)]


def place_controls(
    placings: Sequence[ControlPlacing], recording: Recording, values: Values, reread: Reread
) -> Steps[None]:
    """Move controls to their places in all rows, by their channels in ``values``; raises `Refused` if one can't be
    reached. ``reread`` writes these and reads some rows again."""
    rows, moved = np.arange(recording.frames), dict[BoneRef, Array]()
    for placing in placings:
        carried = _carried(placing, moved, recording)
        moved[placing.control] = _step(placing, recording, values, rows, carried)[2]
    yield from reread(rows)
    offs, before = np.zeros((len(placings), 2, recording.frames)), np.inf
    for count in range(ROUNDS):
        is_off = np.zeros(len(rows), bool)
        for placing, off in zip(placings, offs, strict=True):
            off[:, rows], is_moved, _ = _step(placing, recording, values, rows)
            is_off |= is_moved
        rows = rows[is_off]
        if not len(rows) or (offs.sum() > STALLED * before and count > len(placings)):
            break
        before = offs.sum()
        yield from reread(rows)
    for placing, off in zip(placings, offs, strict=True):
        _check(placing, off)


def _step(
    placing: ControlPlacing, recording: Recording, values: Values, rows: Array, carried: Array | None = None
) -> tuple[Array, Array, Array]:
    """Move a control, which has been ``carried`` (f, 4, 4) in the world since all was read, in those of these rows in
    which it is not in place yet. Gives by how far it is off and by which angle it is turned off, (2, rows); in which
    rows that is to be mended; and how it was moved in the world for that, (rows, 4, 4)."""
    seen, now = (matrices_of(recording, ref)[rows] for ref in (placing.followed, placing.control))
    if carried is not None:
        seen, now = carried[rows] @ seen, carried[rows] @ now
    places = placing.places[rows]
    missed = np.where(np.isfinite(places), places - seen[:, :3, 3], 0.0)
    moved, off = np.tile(np.eye(4), (len(rows), 1, 1)), np.zeros((2, len(rows)))
    off[0] = np.linalg.norm(missed, axis=1)
    if placing.turns is not None:
        into = inverted_all(worlds_of(recording, placing.control[0])[rows]) if placing.control[1] else moved
        turn = _turn_lacking(placing, into @ seen, into @ placing.turns[rows], rows)
        off[1] = 2.0 * np.arctan2(np.linalg.norm(turn[1:], axis=0), np.abs(turn[0]))
    is_off = (off[0] > _slack(placing, ROUNDING)[rows]) | (off[1] > NO_TURN)
    some = rows[is_off]
    if placing.turns is not None:
        some_into, by = into[is_off], tuple(turn[:, is_off])
        moved[is_off, :3, :3] = (inverted_all(some_into) @ rotation(by) @ some_into)[:, :3, :3]
        _turn_by(placing, recording, values, some, by, some_into @ now[is_off])
    heads = seen[is_off, :3, 3]  # what turns about the control goes along
    moved[is_off, :3, 3] = heads + missed[is_off] - (moved[is_off, :3, :3] @ heads[..., None])[..., 0]
    if placing.location in values:  # not a foot, which is only turned
        slopes = slopes_of(recording, placing.control)
        slopes = slopes if carried is None else carried[:, :3, :3] @ slopes
        gone = (moved @ now - now)[is_off, :3, 3]
        values[placing.location][some] += np.einsum("fij,fj->fi", pseudo_inverted(slopes[some]), gone)
    return off, is_off, moved if carried is None else moved @ carried


def _turn_lacking(placing: ControlPlacing, seen: Array, to_be: Array, rows: Array) -> Array:
    """By how much what a control turns has to be turned in its object, (4, rows), w first."""
    offset = np.broadcast_to(np.array(placing.offset, float), (len(placing.places), 4))[rows]
    is_turned = multiply(tuple(rigid_turns(seen).T), tuple(offset.T))
    turn = np.array(multiply(tuple(rigid_turns(to_be).T), conjugate(is_turned)))
    turn[:, ~np.isfinite(turn).all(axis=0)] = np.array(IDENTITY)[:, None]
    return turn


def _turn_by(placing: ControlPlacing, recording: Recording, values: Values, rows: Array, turn: Any, now: Array) -> None:
    """Have the rotation of a control say that it is turned by so much in its object, where it is ``now`` (rows, 4,
    4)."""
    channels = values[placing.rotation][rows]
    own = to_quaternion(placing.mode, [*channels.T], ARRAY_ANGLES)
    below: Any = tuple(rigid_turns(now @ inverted_all(recording.bases[placing.control][rows])).T)
    new = multiply(multiply(multiply(conjugate(below), turn), below), own)
    numbers = to_channels(placing.mode, new, [*channels.T], ARRAY_ANGLES)
    values[placing.rotation][rows] = np.stack(np.broadcast_arrays(*numbers), axis=-1)


def _carried(placing: ControlPlacing, moved: dict[BoneRef, Array], recording: Recording) -> Array | None:
    """How what a control hangs on, or goes with as a pole, has moved it in the world, (f, 4, 4), by those that were
    ``moved`` since all was read; None where none of these carries it."""
    ob: Any = placing.control[0]
    bone, following = placing.control[1], following_pole(*placing.control)
    above = [(ob.parent, ob.parent_bone if ob.parent_type == "BONE" else "")]
    if bone:
        above = [(ob, parent.name) for parent in owner_of(placing.control).parent_recursive]
    if not following:
        return next((moved[ref] for ref in above if ref in moved), None)
    shares = [
        rig.sliders["pole_follow"][:, rig.names.index(following.limb.name)]
        for rig in recording.rigs
        if rig.object == ob and following.limb.name in rig.names
    ]
    if (ob, following.target) not in moved or not shares:
        return None
    bones, target = ob.data.bones, matrices_of(recording, (ob, following.target))
    rest = np.array(bones[following.target].matrix_local.inverted() @ bones[bone].matrix_local)
    by = (moved[ob, following.target] - np.eye(4)) @ target @ rest @ recording.bases[placing.control]
    share = shares[0].clip(0.0, 1.0)[:, None, None]
    carried: Array = np.eye(4) + share * by @ inverted_all(matrices_of(recording, placing.control))
    return carried


def _slack(placing: ControlPlacing, share: float) -> Array:
    """How far a control may be off, (f): a share of its size, and what is lost far out."""
    places = np.where(np.isfinite(placing.places), placing.places, 0.0)
    slack: Array = share * placing.sizes + 0.5 * ROUNDING * np.abs(places).max(axis=1)
    return slack


def _check(placing: ControlPlacing, off: Array) -> None:
    """Refuse if a control is not in place."""
    (ob, bone), holding = placing.control, placing.holding
    if (off[0] <= _slack(placing, UNSEEN)).all() and not (holding and (off[1] > 100.0 * NO_TURN).any()):
        return
    name = bone or ob.name
    if holding:
        template = "'{constraint}' keeps '{name}' from where it has to be: mute it, then snap"
        raise Refused(template, constraint=holding[-1].name, name=name)
    if following := following_pole(*placing.control):
        template = "'{name}' goes half with a foot that is turned over: set IK Pole Follow of '{bone}' to 0 or 1"
        raise Refused(template, name=name, bone=following.limb.name)
    raise Refused("'{name}' can't be moved to where it has to be: have limbs follow a thing each", name=name)


def slopes_of(recording: Recording, ref: BoneRef) -> Rotations:
    """How far a control is seen to go in the world for each unit of its location, (f, 3, 3). Where constraints hold
    it, as if they were rigid."""
    ob, name = ref
    now, bases = matrices_of(recording, ref)[:, :3, :3], recording.bases[ref][:, :3, :3]
    bone: Any = bones_of(ob)[name].bone if name else None
    if bone is None or (bone.use_inherit_rotation and bone.use_local_location and bone.inherit_scale == "FULL"):
        return np.asarray(now @ pseudo_inverted(bases))
    above = poses_of(recording, ob, bone.parent.name) if bone.parent else None
    put, columns = posed(bone, above, recording.bases[ref]), []
    for axis in range(3):
        moved = recording.bases[ref].copy()
        moved[:, axis, 3] += 1.0
        columns.append((posed(bone, above, moved) - put)[:, :3, 3])
    worlds = worlds_of(recording, ob)[:, :3, :3]
    by_constraints = now @ pseudo_inverted(worlds @ put[:, :3, :3])
    slopes: Array = by_constraints @ worlds @ np.stack(columns, axis=-1)
    return slopes


def controls_of(limbs: Sequence[PoseBone]) -> list[tuple[Any, str]]:
    """What limbs follow, as far as it is there."""
    return [*dict.fromkeys(pair for limb in limbs for pair in follow_of(limb).pairs if not is_gone(*pair))]


def parents_of(refs: Sequence[tuple[Any, str]]) -> list[tuple[Any, str]]:
    """The bones that carry bones."""
    return [(ref[0], owner_of(ref).parent.name) for ref in refs if ref[1] and owner_of(ref).parent]
