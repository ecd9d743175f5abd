"""Controls that are to be seen somewhere in many frames: what their channels have to say for that, whatever carries
and constrains them.

Each round reads where everything is, and moves by its own channels what is not where it is to be; the next round reads
only the frames in which something was moved. What is rigid is right after one round; what hangs on another control,
after that; what constraints hold by half, nearer by half each round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..blender.dependencies import BoneRef
from ..blender.rotation import ARRAY_ANGLES, rotation_channel, to_channels, to_quaternion
from ..blender.stepping import Steps
from ..blender.types import bones_of
from ..blender.words import Refused
from ..limb.features.pole_follow import CONSTRAINT as FOLLOWING_POLE
from ..limb.follow import follow_of, following_pole, is_gone
from ..limb.tolerances import NO_TURN, ROUNDING, UNSEEN
from ..limb.transforms import posed
from ..solver.matrices import applied, inverted_all, pseudo_inverted, rotation
from ..solver.rotation import IDENTITY, conjugate, multiply
from .poses import world_turns
from .reading import Channel, Recording, Values, matrices_of, poses_of, worlds_of

Array = NDArray[Any]

ROUNDS = 30
"""How often what constraints hold is put elsewhere, until it is seen where it is to be."""

Reread = Callable[[Array], Steps[None]]
"""Writes what channels say now, and reads these rows anew."""


def owner_of(ref: tuple[Any, str]) -> Any:
    """The bone or the object that is named."""
    ob, bone = ref
    return bones_of(ob)[bone] if bone else ob


class ControlPlacing:
    """A control under way: where it, or what rolls with it, is to be seen, ``places`` (f, 3) in the world, not a number
    where it is to stay; and how what it turns is to be turned, ``turns`` (f, 4, 4) in the world, or None: as is seen in
    its object, which may shear. ``offset`` (4) or (f, 4) is how that is turned off what is seen."""

    def __init__(
        self,
        control: BoneRef,
        followed: BoneRef,
        places: Array,
        sizes: Array,
        turns: Array | None = None,
        offset: Any = (1.0, 0.0, 0.0, 0.0),
    ) -> None:
        self.control, self.followed = control, followed
        self.places, self.turns, self.sizes = places, turns, sizes
        self.offset = np.broadcast_to(np.array(offset, float), (len(places), 4))
        owner = owner_of(control)
        self.mode = owner.rotation_mode
        self.location = Channel.of_bone(*control, "location")
        self.rotation = Channel.of_bone(*control, rotation_channel(self.mode))
        self.following = following_pole(*control)
        self.holding = [
            constraint
            for constraint in owner.constraints
            if not (
                constraint.mute or constraint.influence == 0.0 or (self.following and constraint.name == FOLLOWING_POLE)
            )
        ]
        self.off, self.off_turn = np.zeros(len(places)), np.zeros(len(places))
        self.moved: Array | None = None  # (f, 4, 4): how it was moved in the world since all was read
        self.under: ControlPlacing | None = None  # the one that it hangs on

    @property
    def channels(self) -> list[Channel]:
        """What it is moved by."""
        return [self.location, *([self.rotation] if self.turns is not None else ())]

    def correct(self, recording: Recording, values: Values, rows: Array) -> Array:
        """Move the control in those of these rows in which it is not in place yet; returns these rows."""
        seen_at, now = matrices_of(recording, self.followed)[rows], matrices_of(recording, self.control)[rows]
        carried = self._carried(recording)
        if carried is not None:  # not read yet where it goes along
            seen_at, now = carried[rows] @ seen_at, carried[rows] @ now
        places = self.places[rows]
        missed = np.where(np.isfinite(places), places - seen_at[:, :3, 3], 0.0)
        self.off[rows] = np.linalg.norm(missed, axis=1)
        is_off = self.off[rows] > self._slack(ROUNDING)[rows]
        turn: Any = None
        if self.turns is not None:
            into = self._into_object(recording, rows)
            turn = self._turn_lacking(into @ seen_at, into @ self.turns[rows], rows)
            is_off |= self.off_turn[rows] > NO_TURN
        some, by, turned = rows[is_off], missed[is_off], None
        if self.turns is not None:
            turn_by = tuple(component[is_off] for component in turn)
            off_control, into, below = (
                seen_at[is_off, :3, 3] - now[is_off, :3, 3],
                into[is_off],
                into[is_off] @ now[is_off],
            )
            values[self.rotation][some] = self._turned(below, recording, values, turn_by, some)
            turned = inverted_all(into) @ rotation(turn_by) @ into
            turned[:, :3, 3] = 0.0
            by = by + off_control - applied(turned, off_control)  # what turns about the control goes along
        self._note_move(now, carried, is_off, by, turned)
        if self.location not in values:  # a foot, which is only turned
            return is_off
        slopes = slopes_of(recording, self.control)
        if carried is not None:
            slopes = carried[:, :3, :3] @ slopes
        values[self.location][some] += np.einsum("fij,fj->fi", pseudo_inverted(slopes[some]), by)
        return is_off

    def _carried(self, recording: Recording) -> Array | None:
        """How what it hangs on or goes with has moved it in the world since all was read, (f, 4, 4)."""
        carried = self.under.moved if self.under else None
        if carried is None or self.following is None:
            return carried
        limb, _, name = self.following
        ob, bones = limb.id_data, limb.id_data.data.bones
        (share,) = (
            rig.sliders["pole_follow"][:, rig.names.index(limb.name)] for rig in recording.rigs if rig.object == ob
        )
        rest = np.array(bones[name].matrix_local.inverted() @ bones[self.control[1]].matrix_local)
        base, now = rest @ recording.bases[self.control], matrices_of(recording, self.control)
        target = matrices_of(recording, (ob, name))
        by: Array = share.clip(0.0, 1.0)[:, None, None] * ((carried - np.eye(4)) @ target @ base)
        return np.eye(4) + by @ inverted_all(now)

    def _note_move(self, now: Array, carried: Array | None, is_off: Array, by: Array, turned: Any) -> None:
        """Remember how it is moved in the world, for what hangs on it. Only of all rows, the first time."""
        moved, place = np.tile(np.eye(4), (len(now), 1, 1)), now[is_off, :3, 3]
        if turned is not None:
            moved[is_off] = turned
        moved[is_off, :3, 3] = place + by - (moved[is_off, :3, :3] @ place[..., None])[..., 0]
        self.moved = moved if carried is None else moved @ carried

    def _into_object(self, recording: Recording, rows: Array) -> Array:
        """What takes the world into the object of a bone, (rows, 4, 4); an object is turned in the world."""
        ob, bone = self.control
        return inverted_all(worlds_of(recording, ob)[rows]) if bone else np.tile(np.eye(4), (len(rows), 1, 1))

    def _turn_lacking(self, seen_at: Array, to_be: Array, rows: Array) -> Any:
        """By how much it has to be turned in its object."""
        is_turned = multiply(tuple(world_turns(seen_at).T), tuple(self.offset[rows].T))
        turn = np.array(multiply(tuple(world_turns(to_be).T), conjugate(is_turned)))
        turn[:, ~np.isfinite(turn).all(axis=0)] = np.array(IDENTITY)[:, None]
        w, *vector = turn
        self.off_turn[rows] = 2.0 * np.arctan2(np.linalg.norm(vector, axis=0), np.abs(w))
        return tuple(turn)

    def _turned(self, now: Array, recording: Recording, values: Values, turn: Any, rows: Array) -> Array:
        """What its rotation has to say to be turned by so much in its object, where it is ``now`` (rows, 4, 4)."""
        channels = values[self.rotation][rows]
        own = to_quaternion(self.mode, [*channels.T], ARRAY_ANGLES)
        below = now @ inverted_all(recording.bases[self.control][rows])
        carried: Any = tuple(world_turns(below).T)
        new = multiply(multiply(multiply(conjugate(carried), turn), carried), own)
        return np.stack(np.broadcast_arrays(*to_channels(self.mode, new, [*channels.T], ARRAY_ANGLES)), axis=-1)

    def _slack(self, share: float) -> Array:
        places = np.where(np.isfinite(self.places), self.places, 0.0)
        slack: Array = share * self.sizes + 0.5 * ROUNDING * np.abs(places).max(axis=1)
        return slack

    def check(self) -> None:
        """Refuse if the control is not in place."""
        ob, bone = self.control
        name = bone or ob.name
        is_there = self.off <= self._slack(UNSEEN)
        if self.holding:
            is_there &= self.off_turn <= 100.0 * NO_TURN
        if is_there.all():
            return
        if self.holding:
            raise Refused(
                "'{constraint}' keeps '{name}' from where it has to be: mute it, then snap",
                constraint=self.holding[-1].name,
                name=name,
            )
        raise Refused("'{name}' can't be moved to where it has to be: have limbs follow a thing each", name=name)


def place_controls(
    placings: Sequence[ControlPlacing], recording: Recording, values: Values, reread: Reread
) -> Steps[None]:
    """Move controls to their places in all rows, by their channels in ``values``. ``reread`` writes these and reads
    some rows again. Raises `Refused` if a place can't be reached."""
    rows = np.arange(recording.frames)
    for placing in placings:
        above = [other for other in placings if _carries(other.control, placing, recording)]
        placing.under = max(above, key=_depth, default=None)
        placing.correct(recording, values, rows)
    for placing in placings:
        placing.under = None
    yield from reread(rows)
    offs = np.inf
    for count in range(ROUNDS):
        moved = [placing.correct(recording, values, rows) for placing in placings]
        rows = rows[np.any(moved, axis=0)] if moved else rows[:0]
        off = sum(float(placing.off.sum() + placing.off_turn.sum()) for placing in placings)
        if not len(rows) or (
            off > 0.5 * offs and count > len(placings) and not any(placing.holding for placing in placings)
        ):
            break
        offs = off
        yield from reread(rows)
    for placing in placings:
        placing.check()


def _depth(placing: ControlPlacing) -> int:
    """How many bones carry a control."""
    return len(owner_of(placing.control).parent_recursive) if placing.control[1] else 0


def _carries(ref: BoneRef, placing: ControlPlacing, recording: Recording) -> bool:
    """Whether a control hangs on another one, by nothing but parents, or goes with it as a pole."""
    ob, bone = placing.control
    if placing.following:
        limb = placing.following.limb.name
        return ref == (ob, placing.following.target) and any(
            rig.object == ob and limb in rig.names for rig in recording.rigs
        )
    if bone:
        return ref[0] == ob and ref[1] in [parent.name for parent in owner_of(placing.control).parent_recursive]
    return ob.parent == ref[0] and ob.parent_type == ("BONE" if ref[1] else "OBJECT") and ob.parent_bone == ref[1]


def slopes_of(recording: Recording, ref: BoneRef) -> Array:
    """How far a control is seen to go in the world for each unit that its location changes, (f, 3, 3); where
    constraints hold it, as if they were rigid."""
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
