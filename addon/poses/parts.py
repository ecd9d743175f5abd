"""What of a limb gets keys in the same frames, and where its joints are by these: of IK the target, the pole and
sliders, of FK the bones themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..blender.rotation import ARRAY_ANGLES, rotation_channel, to_quaternion
from ..limb.follow import follow_of
from ..limb.foot_roll import flat_toes
from ..limb.settings import SLIDER, TWISTS
from ..limb.solving import scaled_bones, solve_rows
from ..limb.storage import bones_of_limb, has_slider
from ..limb.table import Table, reference_of, table_of
from ..limb.tips import foot_of
from ..rigging import feet
from ..rigging.description import LimbRef
from ..solver.arrays import row_of
from ..solver.limb import joints_and_normals, joints_of
from ..solver.matrices import applied, inverted_all
from ..solver.reference import Reference
from ..solver.rotation import rotate
from .channels import Channel, Values
from .inverse import KEPT_TURN
from .matching import is_pole_movable
from .placing import owner_of, slopes_of
from .reading import Recording, limb_frames, places_of, worlds_of
from .standing import LimbPoses

Array = NDArray[Any]

SET = ("flip", "swivel", "ankle", *(twist.name for twist in TWISTS))
"""The sliders that show a pose."""

LEVER = 5e-4 / KEPT_TURN
"""How far from a bone's line, in lengths of the limb, what says how it is turned is looked at: a turn as large as may
be goes there with as large a tolerance of the joints as is usual."""

Points = Callable[[Values, Array], list[Array]]
"""Gives, from what channels say in some rows and the frames that these rows are of, where joints are in lengths of the
limb, (rows, 3) each."""


Keys = Callable[[Values, Array], dict[Channel, tuple[Array, Array | None]]]
"""Gives, from what channels say over the frames and the rows of a run, which rows of it are keyed of each channel, and
the slopes there, or None for straight lines."""


class KeyedPart(NamedTuple):
    """What of a limb may get keys, all in the same frames, and where its joints are by these. ``points`` looks at what
    was read over the frames once it is asked. What is not keyed by joints and a tolerance says its ``keys`` itself.
    ``truth`` says where the first of these are to be, if not where keys in all frames have them."""

    channels: Sequence[Channel]
    points: Callable[[Recording, Values], Points]
    keys: Keys | None = None
    truth: Callable[[], list[Array]] | None = None


def no_points(_recording: Recording, _values: Values) -> Points:
    """For a `KeyedPart` that computes its keys itself."""
    return lambda _values, _at: []


def part_of_ik(
    limb: PoseBone,
    moves_controls: bool = True,
    poses: dict[LimbRef, LimbPoses] | None = None,
    tolerance: float = 0.0,
) -> KeyedPart:
    """What IK follows and is set to; maybe the sliders only. Its joints are to be as in these ``poses``, by default as
    they are with keys in all frames; where they may be off by a ``tolerance``, bones are turned by no more than
    usual."""
    ob, name, follow = limb.id_data, limb.name, follow_of(limb)
    channels = [slider_channel(limb, slider) for slider in SET if has_slider(limb, slider)]
    if moves_controls:
        channels.append(Channel.of_bone(follow.target, follow.subtarget, "location"))
        if feet.foot_follows(limb):
            channels.append(rotation_channel_of(follow.pairs[0]))
            channels += [rotation_channel_of((ob, toe.name)) for toe in flat_toes(limb)]
        if is_pole_movable(limb):
            channels.append(Channel.of_bone(follow.pole, follow.pole_subtarget, "location"))
    return KeyedPart(
        channels,
        lambda recording, values: _IKPoints(recording, values, ob.pose.bones[name], _arm_for(tolerance)).points,
        truth=None if poses is None else lambda: _joints_posed(poses[ob, name], table_of(ob, [ob.pose.bones[name]])),
    )


def _arm_for(tolerance: float) -> float:
    """How far from a bone's line a turn as large as may be goes as far as joints may."""
    return float(max(LEVER, tolerance / KEPT_TURN))


def _joints_posed(poses: LimbPoses, table: Table) -> list[Array]:
    """Where poses have knees and tip in the limb's frame, in its lengths."""
    reference, size = table.singles[0].reference, sum(table.limbs[0].geometry.lengths)
    turns: Any = [tuple(turn.T) for turn in np.moveaxis(poses.turns, 1, 0)]
    joints = joints_of(turns, reference, poses.stretch)
    return [np.stack(np.broadcast_arrays(*joint), axis=-1) / size for joint in joints]


def slider_channel(limb: PoseBone, name: str) -> Channel:
    """A slider of a limb."""
    return Channel.of_bone(limb.id_data, limb.name, f'["{SLIDER[name].key}"]')


def index_in_channel(slider: str) -> int:
    """The index of a slider in its channel."""
    return max(SLIDER[slider].bone, 0)


def rotation_channel_of(ref: tuple[Any, str]) -> Channel:
    """The rotation channel of an object or a bone."""
    return Channel.of_bone(*ref, rotation_channel(owner_of(ref).rotation_mode))


class _IKPoints:
    """What a limb is solved from besides the channels that get keys, over the frames."""

    def __init__(self, recording: Recording, values: Values, limb: PoseBone, arm: float) -> None:
        self._limb, self._table, self._arm = limb, table_of(limb.id_data, [limb]), arm
        rig = next(rig for rig in recording.rigs if rig.object == limb.id_data)
        row = [other.name for other in rig.limbs].index(limb.name)
        alone = rig._replace(limbs=[limb], table=self._table)
        frames = worlds_of(recording, limb.id_data) @ limb_frames(recording, alone)[:, 0]
        into = inverted_all(frames)
        self._sliders = {name: numbers[:, row] for name, numbers in rig.sliders.items()}
        self._size = sum(self._table.limbs[0].geometry.lengths)
        self._places: list[Any] = []
        pairs = zip(follow_of(limb).pairs, rig.table.limbs[row].follow.pairs, strict=True)
        for k, (control, followed) in enumerate(pairs):
            if control[0] is None or (k and not self._table.is_poled[0]):
                self._places.append(None)
                continue
            channel = Channel.of_bone(*control, "location")
            place, slopes = applied(into, places_of(recording, *followed)), None
            if channel in values:
                slopes = into[:, :3, :3] @ slopes_of(recording, control)  # type: ignore[arg-type]
                place -= np.einsum("fij,fj->fi", slopes, values[channel])
            self._places.append((place, slopes, channel))

    def points(self, values: Values, at: Array) -> list[Array]:
        """Knees and tip in the limb's frame, how bones are turned, and where the foot points."""
        sliders = {name: numbers[at] for name, numbers in self._sliders.items()}
        for name in SET:
            if (channel := slider_channel(self._limb, name)) in values and index_in_channel(name) < values[
                channel
            ].shape[1]:
                sliders[name] = values[channel][:, index_in_channel(name)].astype(float)
        target, pole = (None if place is None else _in_frame(place, values, at) for place in self._places)
        pose = solve_rows(self._table, target, target if pole is None else pole, sliders)  # type: ignore[arg-type]
        reference = self._table.singles[0].reference
        joints = _joints_and_sides(pose.turns, reference, pose.stretch, pose.slide, self._size, self._arm)
        return [*joints, *self._turned(values)]

    def _turned(self, values: Values) -> list[Array]:
        """Where the foot points that turns with the target, and toes that are kept flat."""
        if not feet.foot_follows(self._limb):
            return []
        foot: Any = foot_of(self._limb)
        refs_turned = [(follow_of(self._limb).pairs[0], foot.bone.length)]
        refs_turned += [((toe.id_data, toe.name), toe.bone.length) for toe in flat_toes(self._limb)]
        return [
            point
            for ref, length in refs_turned
            if (channel := rotation_channel_of(ref)) in values
            for point in rotated_axes(owner_of(ref).rotation_mode, values[channel], length / self._size)
        ]


def _joints_and_sides(
    turns: Any, reference: Reference, stretch: Any, slide: Any, size: float, arm: float
) -> list[Array]:
    """Where turns have knees and tip in the limb's frame, and points beside the lines of bones, which go along as these
    turn, (rows, 3) each in lengths of the limb."""
    joints, normals = joints_and_normals(turns, reference, stretch, slide)
    sizes = [1.0 / size] * len(joints) + [arm] * len(normals)
    rows = (*np.broadcast(*joints[-1]).shape, 3)  # what slides does not turn: its numbers may be the same in all
    places = zip(sizes, (*joints, *normals), strict=True)
    return [size * np.broadcast_to(np.stack(np.broadcast_arrays(*place), axis=-1), rows) for size, place in places]


def _in_frame(place: Any, values: Values, at: Array) -> Array:
    """Where a target or a pole is in the limb's frame: where it is without its own location, and what that adds."""
    places, slopes, channel = place
    if slopes is None:
        return places[at]  # type: ignore[no-any-return]
    moved: Array = places[at] + np.einsum("fij,fj->fi", slopes[at], values[channel])
    return moved


def rotated_axes(mode: str, rows: Array, length: float) -> list[Array]:
    """Where two axes of something that is turned by rows of numbers (rows, numbers) point, so long."""
    turn = to_quaternion(mode, [*rows.T], ARRAY_ANGLES)
    ends = [rotate(turn, axis) for axis in ((0.0, length, 0.0), (length, 0.0, 0.0))]
    return [np.stack(np.broadcast_arrays(*end), axis=-1) for end in ends]


def part_of_fk(limb: PoseBone, tolerance: float) -> KeyedPart:
    """The own channels of a limb's bones and of the foot that follows its target; joints may be off by a
    ``tolerance``."""
    ob, bones = limb.id_data, bones_of_limb(limb)
    following = feet.following_bones(limb)
    modes = {bone.name: bone.rotation_mode for bone in (*bones, *following)}
    channels = {name: Channel.of_bone(ob, name, rotation_channel(mode)) for name, mode in modes.items()}
    scaled = [Channel.of_bone(ob, bone.name, "scale") for bone in scaled_bones(limb)]
    ref = table_of(ob, [limb]).limbs[0]
    slid = [Channel.of_bone(ob, bones[0].name, "location")] if ref.plane == "SLIDE" else []
    lengths = {bone.name: bone.bone.length for bone in following}
    geometry = ref.geometry
    reference, size = row_of(reference_of([geometry]), 0), sum(geometry.lengths)

    def points_over_frames(recording: Recording, whole: Values) -> Points:
        still = {channel: recording.channels[channel] for channel in channels.values() if channel not in whole}

        def points(values: Values, at: Array) -> list[Array]:
            rows = {
                name: values[channel] if channel in values else still[channel][at] for name, channel in channels.items()
            }
            turns: Any = [to_quaternion(modes[name], [*rows[name].T], ARRAY_ANGLES) for name in geometry.names]
            stretch = values[scaled[0]][:, 1] if scaled and scaled[0] in values else 1.0
            slide = values[slid[0]] @ ref.line if slid and slid[0] in values else 0.0
            joints = _joints_and_sides(turns, reference, stretch, slide, size, _arm_for(tolerance))
            for name, length in lengths.items():
                joints += rotated_axes(modes[name], rows[name], length / size)
            return joints

        return points

    return KeyedPart([*channels.values(), *scaled, *slid], points_over_frames)


def part_of_bone_above(bone: PoseBone, limb: PoseBone) -> KeyedPart:
    """The own rotation of a bone that carries a limb."""
    geometry, mode = table_of(limb.id_data, [limb]).limbs[0].geometry, bone.rotation_mode
    size, channel = sum(geometry.lengths), rotation_channel_of((bone.id_data, bone.name))
    away = float((bones_of_limb(limb)[0].bone.head_local - bone.bone.head_local).length)

    def points(values: Values, _at: Array) -> list[Array]:
        return rotated_axes(mode, values[channel], 1.0 + away / size)

    return KeyedPart([channel], lambda _recording, _values: points)


def part_of_foot(limb: PoseBone) -> KeyedPart:
    """The own rotation of the foot of a limb that does not follow its target."""
    foot: Any = foot_of(limb)
    mode, size = foot.rotation_mode, sum(table_of(limb.id_data, [limb]).limbs[0].geometry.lengths)
    channel = Channel.of_bone(limb.id_data, foot.name, rotation_channel(mode))

    def points(values: Values, _at: Array) -> list[Array]:
        return rotated_axes(mode, values[channel], foot.bone.length / size)

    return KeyedPart([channel], lambda _recording, _values: points)
