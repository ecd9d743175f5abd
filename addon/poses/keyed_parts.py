"""What of a limb gets keys, and where its joints are by these: of IK the target, the pole and sliders, of FK the bones
themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..blender.rotation import ARRAYS, rotation_channel, to_quaternion
from ..blender.types import bones_of
from ..limb.follow import Follow, follow_of, place_of
from ..limb.foot_roll import flat_toes, goal_of
from ..limb.moving import slope_of
from ..limb.settings import SLIDER, SLIDERS
from ..limb.solving import carry_of, scaled_bones, solve
from ..limb.storage import bones_of_limb, has_slider, value_in
from ..limb.table import joints_in, reference_of, table_of
from ..limb.tips import foot_of
from ..rigging import feet
from ..solver.arrays import row_of
from ..solver.limb import joints_of
from ..solver.matrices import applied, inverted_all
from ..solver.rotation import rotate
from .matching import is_pole_movable
from .over_frames import Part
from .reading import Channel

Array = NDArray[Any]

SET = ("flip", "swivel", "ankle")
"""The sliders that show a pose."""


def part_of_ik(last: PoseBone, moves_controls: bool = True) -> Part:
    """What IK follows and is set to; maybe the sliders only."""
    ob, name, follow = last.id_data, last.name, follow_of(last)
    sliders = [SLIDER[slider_name] for slider_name in SET if has_slider(last, slider_name)]
    channels = [Channel.of_bone(ob, name, f'["{slider.key}"]') for slider in sliders]
    rotation = None
    if moves_controls:
        channels.append(Channel.of_bone(follow.target, follow.subtarget, "location"))
        if feet.foot_follows(last):
            rotation = Channel.of_bone(
                follow.target, follow.subtarget, rotation_channel(_owner(follow.pairs[0]).rotation_mode)
            )
            channels += [rotation, *(toe_channel for toe_channel, _, _ in _toes(last))]
        if is_pole_movable(last):
            channels.append(Channel.of_bone(follow.pole, follow.pole_subtarget, "location"))
    record = _IKRecord(last, follow, channels, rotation)
    return Part(channels, record.record, record.points)


def _owner(followed: tuple[Any, str]) -> Any:
    ob, bone = followed
    return bones_of(ob)[bone] if bone else ob


class _IKRecord:
    """Frame by frame, what a limb is solved from besides the channels that get keys."""

    def __init__(self, last: PoseBone, follow: Follow, channels: Sequence[Channel], rotation: Channel | None) -> None:
        self._ob, self._last, self._follow = last.id_data, last.name, follow
        self._table = table_of(last.id_data, [last])
        self._size = sum(self._table.limbs[0].geometry.lengths)
        self._rotation = rotation
        self._frames: list[Array] = []
        self._sliders: list[list[float]] = []
        self._places: tuple[list[Any], list[Any]] = ([], [])  # of target and pole: seen, and by the slope of location
        self._toes = _toes(last)

    def record(self) -> None:
        """Take down this frame."""
        depsgraph = bpy.context.evaluated_depsgraph_get()
        evaluated: Any = self._ob.evaluated_get(depsgraph)
        limb = self._table.limbs[0]
        carry = carry_of(evaluated.pose.bones[limb.bones[0]])
        self._frames.append(np.array(evaluated.matrix_world, float) @ carry @ limb.geometry.frame)
        last: Any = self._ob.pose.bones[self._last]
        self._sliders.append([float(value_in(last, slider)) for slider in SLIDERS])
        goals = goal_of(last).pairs
        for (ob, bone), followed, places in zip(self._follow.pairs, goals, self._places, strict=True):
            if ob is not None:
                at, location = place_of(*followed, depsgraph), _owner((ob, bone)).location  # type: ignore[arg-type]
                places.append((np.array(at, float), slope_of(ob, bone, depsgraph), np.array(location, float)))

    def points(self, values: dict[Channel, Array]) -> list[Array]:
        """Knees and tip in the limb's frame, and where the foot points."""
        into = inverted_all(np.array(self._frames))
        sliders = {slider.name: np.array(row) for slider, row in zip(SLIDERS, np.array(self._sliders).T, strict=True)}
        for name in SET:
            path = Channel.of_bone(self._ob, self._last, f'["{SLIDER[name].key}"]')
            if path in values:
                sliders[name] = values[path][:, 0].astype(float)
        sliders["influence"] = np.ones(len(into))
        sliders = {name: row[:, None] for name, row in sliders.items()}
        target, pole = (
            applied(into, self._seen(k, values))[:, None] if self._places[k] else np.full((len(into), 1, 3), np.nan)
            for k in range(2)
        )
        solved = solve(self._table, target, pole, sliders, None)
        joints = joints_in(self._table, solved.turns, solved.stretch)[:, 0] / self._size
        return [*np.moveaxis(joints, 1, 0), *(self._foot(values))]

    def _seen(self, k: int, values: dict[Channel, Array]) -> Array:
        """Where the target (0) or the pole (1) is seen in the world."""
        places, slopes, locations = (np.array(column) for column in zip(*self._places[k], strict=True))
        rows = values.get(Channel.of_bone(*self._follow.pairs[k], "location"))
        if rows is None:
            return places
        moved: Array = places + np.einsum("fij,fj->fi", slopes, rows - locations)
        return moved

    def _foot(self, values: dict[Channel, Array]) -> list[Array]:
        points = [
            end
            for toe_channel, mode, length in self._toes
            if toe_channel in values
            for end in axes_of(mode, values[toe_channel], length / self._size)
        ]
        if self._rotation is None or self._rotation not in values:
            return points
        mode = _owner(self._follow.pairs[0]).rotation_mode
        foot: Any = foot_of(self._ob.pose.bones[self._last])
        return [*axes_of(mode, values[self._rotation], foot.bone.length / self._size), *points]


def _toes(last: PoseBone) -> list[tuple[Channel, str, float]]:
    """The channels, modes and lengths of the toes that a roll keeps flat."""
    modes = [(toe, toe.rotation_mode) for toe in flat_toes(last)]
    return [
        (Channel.of_bone(last.id_data, toe.name, rotation_channel(mode)), mode, toe.bone.length) for toe, mode in modes
    ]


def axes_of(mode: str, rows: Array, length: float) -> list[Array]:
    """Where two axes of something that is turned by rows of numbers (frames, numbers) point, so long."""
    turn = to_quaternion(mode, [*rows.T], ARRAYS)
    ends = [rotate(turn, axis) for axis in ((0.0, length, 0.0), (length, 0.0, 0.0))]
    return [np.stack(np.broadcast_arrays(*end), axis=-1) for end in ends]


def part_of_fk(last: PoseBone) -> Part:
    """The own channels of a limb's bones and of the foot that follows its target."""
    ob, bones = last.id_data, bones_of_limb(last)
    following = feet.following_bones(last)
    rotation_channels = {bone.name: rotation_channel(bone.rotation_mode) for bone in (*bones, *following)}
    channels = [Channel.of_bone(ob, name, channel) for name, channel in rotation_channels.items()]
    scaled = [Channel.of_bone(ob, bone.name, "scale") for bone in scaled_bones(last)]
    modes = {name: ob.pose.bones[name].rotation_mode for name in rotation_channels}
    lengths = {bone.name: bone.bone.length for bone in following}
    table = table_of(ob, [last])
    geometry = table.limbs[0].geometry
    reference, size = row_of(reference_of([geometry]), 0), sum(geometry.lengths)
    still = {name: getattr(ob.pose.bones[name], channel)[:] for name, channel in rotation_channels.items()}

    def points(values: dict[Channel, Array]) -> list[Array]:
        count = len(next(iter(values.values())))
        rows = {
            name: values.get(Channel.of_bone(ob, name, channel), np.tile(still[name], (count, 1)))
            for name, channel in rotation_channels.items()
        }
        turns: Any = [to_quaternion(modes[name], [*rows[name].T], ARRAYS) for name in geometry.names]
        stretch = values[scaled[0]][:, 1] if scaled and scaled[0] in values else 1.0
        joints = [
            np.stack(np.broadcast_arrays(*joint), axis=-1) / size for joint in joints_of(turns, reference, stretch)
        ]
        for name, length in lengths.items():
            joints += axes_of(modes[name], rows[name], length / size)
        return joints

    return Part([*channels, *scaled], lambda: None, points)


def part_of_foot(last: PoseBone) -> Part:
    """The own rotation of the foot of a limb that does not follow its target."""
    foot: Any = foot_of(last)
    mode, size = foot.rotation_mode, sum(table_of(last.id_data, [last]).limbs[0].geometry.lengths)
    channel = Channel.of_bone(last.id_data, foot.name, rotation_channel(mode))
    return Part([channel], lambda: None, lambda values: axes_of(mode, values[channel], foot.bone.length / size))
