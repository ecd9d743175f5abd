"""What of a limb gets keys in the same frames, and where its joints are by these: of IK the target, the pole and
sliders, of FK the bones themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import PoseBone

from ..blender.rotation import rotation_channel
from ..limb import settings, solving, storage, tips
from ..limb.follow import flat_toes, follow_of
from ..limb.table import table_of
from ..rigging import feet
from ..rigging.description import LimbRef, ref_of
from ..solver.matrices import applied, inverted_all
from ..solver.ops import Array
from . import fk, matching, placing, reading, writing

SET = tuple(slider.name for slider in settings.every_slider() if slider.shows_pose)
"""The sliders that show a pose."""


def part_of_ik(
    limb: PoseBone,
    moves_controls: bool = True,
    poses: dict[LimbRef, matching.LimbPoses] | None = None,
    tolerance: float = 0.0,
) -> writing.KeyedPart:
    """What gets keys for a limb to show poses by IK: target, pole and sliders, or the sliders only. Its joints are
    to be as in these ``poses``, by default as they are with keys in all frames; where they may be off by a
    ``tolerance``, bones are turned by no more than usual."""
    ob, name, follow = limb.id_data, limb.name, follow_of(limb)
    channels = [slider_channel(limb, slider) for slider in SET if storage.has_slider(limb, slider)]
    if moves_controls:
        channels.append(reading.Channel.of_bone(follow.target, follow.subtarget, "location"))
        if feet.foot_follows(limb):
            channels.append(rotation_channel_of(follow.pairs[0]))
            channels += [rotation_channel_of((ob, toe.name)) for toe in flat_toes(limb)]
        if matching.is_pole_movable(limb):
            channels.append(reading.Channel.of_bone(follow.pole, follow.pole_subtarget, "location"))

    def truth() -> list[Array]:
        table = table_of([ob.pose.bones[name]])
        joints = matching.joints_posed(poses[ob, name], table.singles[0].reference, poses[ob, name].stretch)  # type: ignore[index]
        return [*(joints / sum(table.limbs[0].geometry.lengths)).swapaxes(0, 1)]

    return writing.KeyedPart(
        channels,
        lambda recording, values: _IKPoints(recording, values, ob.pose.bones[name], fk.arm_for(tolerance)).points,
        truth=truth if poses else None,
    )


def slider_channel(limb: PoseBone, name: str) -> reading.Channel:
    """The channel of a slider of a limb: its custom property."""
    return reading.Channel.of_bone(limb.id_data, limb.name, settings.slider_of(name).path)


def index_in_channel(slider: str) -> int:
    """The index of a slider in its channel."""
    return max(settings.slider_of(slider).bone, 0)


def rotation_channel_of(ref: tuple[Any, str]) -> reading.Channel:
    """The rotation channel of an object or a bone."""
    return reading.Channel.of_bone(*ref, rotation_channel(placing.owner_of(ref).rotation_mode))


class _IKPoints:
    """What a limb is solved from besides the channels that get keys, over the frames."""

    def __init__(self, recording: reading.Recording, values: reading.Values, limb: PoseBone, arm: float) -> None:
        self._limb, self._table, self._arm = limb, table_of([limb]), arm
        rig = next(rig for rig in recording.rigs if rig.object == limb.id_data)
        row = [other.name for other in rig.limbs].index(limb.name)
        alone = rig._replace(limbs=[limb], table=self._table)
        frames = reading.worlds_of(recording, limb.id_data) @ reading.limb_frames(recording, alone)[:, 0]
        into = inverted_all(frames)
        self._sliders = {name: numbers[:, row] for name, numbers in rig.sliders.items()}
        self._size = sum(self._table.limbs[0].geometry.lengths)
        self._places: list[Any] = []
        pairs = zip(follow_of(limb).pairs, rig.table.limbs[row].follow.pairs, strict=True)
        for k, (control, followed) in enumerate(pairs):
            if control[0] is None or (k and not self._table.is_poled[0]):
                self._places.append(None)
                continue
            channel = reading.Channel.of_bone(*control, "location")
            place, slopes = applied(into, reading.places_of(recording, *followed)), None
            if channel in values:
                slopes = into[:, :3, :3] @ placing.slopes_of(recording, control)  # type: ignore[arg-type]
                place -= np.einsum("fij,fj->fi", slopes, values[channel])
            self._places.append((place, slopes, channel))
        named = [(slider, slider_channel(limb, slider), index_in_channel(slider)) for slider in SET]
        self._set = [one for one in named if one[1] in values and one[2] < values[one[1]].shape[1]]
        turned: Any = [(tips.foot_of(limb), follow_of(limb).pairs[0]), *((toe, ref_of(toe)) for toe in flat_toes(limb))]
        self._turned = [  # what turns with the target, and toes that are kept flat
            (channel, placing.owner_of(ref).rotation_mode, fk.lever_of(bone) / self._size)
            for bone, ref in (turned if feet.foot_follows(limb) else ())
            if (channel := rotation_channel_of(ref)) in values
        ]

    def points(self, values: reading.Values, at: Array) -> list[Array]:
        """Knees and tip in the limb's frame G, points that say how bones are turned, and where the foot points, (rows,
        3) each, in lengths of the limb: by what channels say in some rows, whose frames ``at`` gives."""
        sliders = {name: numbers[at] for name, numbers in self._sliders.items()}
        for name, channel, index in self._set:
            sliders[name] = values[channel][:, index].astype(float)
        target, pole = (None if place is None else _in_frame(place, values, at) for place in self._places)
        pose = solving.solve_rows(self._table, target, target if pole is None else pole, sliders)  # type: ignore[arg-type]
        reference = self._table.singles[0].reference
        joints = fk.joints_and_sides(pose.turns, reference, pose.stretch, pose.root, self._size, self._arm)
        feet_turned = [fk.rotated_axes(mode, values[channel], lever) for channel, mode, lever in self._turned]
        return [*joints, *(point for points in feet_turned for point in points)]


def _in_frame(place: Any, values: reading.Values, at: Array) -> Array:
    """Where a target or a pole is in the limb's frame: where it is without its own location, and what that adds."""
    places, slopes, channel = place
    if slopes is None:
        return places[at]  # type: ignore[no-any-return]
    moved: Array = places[at] + np.einsum("fij,fj->fi", slopes[at], values[channel])
    return moved


def part_of_foot(limb: PoseBone) -> writing.KeyedPart:
    """The own rotation of the foot of a limb that does not follow its target."""
    foot: Any = tips.foot_of(limb)
    size = sum(table_of([limb]).limbs[0].geometry.lengths)
    return part_of_channel(rotation_channel_of((limb.id_data, foot.name)), size, fk.lever_of(foot))


def part_of_channel(channel: reading.Channel, size: float, lever: float) -> writing.KeyedPart:
    """A channel that gets keys by itself, with tolerances in lengths ``size`` of its limb: a rotation as what turns a
    thing as long as ``lever``; both in the armature's unit."""
    mode = placing.owner_of((channel.object, channel.bone)).rotation_mode
    is_turn = channel.path.endswith(rotation_channel(mode))

    def points(values: reading.Values, _at: Array) -> list[Array]:
        if is_turn:
            return fk.rotated_axes(mode, values[channel], lever / size)
        return [values[channel] / (size if channel.path.endswith("location") else 1.0)]

    return writing.KeyedPart([channel], lambda _recording, _values: points)
