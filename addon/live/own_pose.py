"""The animator's own (FK) pose of a limb whose solution stands in the channels: kept with the file, and given back.

While chains are live the channels are the animator's, and the solution is the evaluated pose's alone. It stays in the
channels where nothing would pose the limb again: while Live is off. One rule tells whose the numbers in a channel are:
ours if they are still what was written, to single precision, else the animator's.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..rig.data.access import ArmatureObject, chain_settings, upper_of
from ..rig.data.rotation import to_channels, to_quaternion
from ..rig.properties import KEPT
from ..solver.chain import Own
from .channels import Channels, Slot, rotation_slot

if TYPE_CHECKING:
    from bpy.types import PoseBone

SAME_TURN = 1e-5
"""How much two ways to write a rotation may differ, as quaternions, and still be the same one."""


class _Part(NamedTuple):
    """A channel of a limb: where it is, by what name it is kept, and for a rotation the bone's mode now and when it was
    written over."""

    slot: Slot
    name: str
    mode: str = ""
    kept_mode: str = ""


def of_limb(lower: PoseBone) -> tuple[Own, tuple[Sequence[float], Sequence[float]]]:
    """The animator's rotations of a limb's bones, and their scales."""
    channels = Channels(lower.id_data)
    recall(lower, channels)
    upper, upper_scale, under, lower_scale = _parts(lower)
    turns = Own(*(to_quaternion(part.mode, channels.get(part.slot)) for part in (upper, under)))
    return turns, (channels.get(upper_scale.slot), channels.get(lower_scale.slot))


def recall(lower: PoseBone, channels: Channels) -> None:
    """Have the animator's numbers in ``channels`` where a solution stands."""
    settings = chain_settings(lower)
    if not settings.is_posed:
        return
    for part in _parts(lower):
        own = _own(settings, part, channels.get(part.slot))
        if own is not None:
            channels.set(part.slot, own)


def keep(lower: PoseBone, own: Channels, solved: Channels) -> None:
    """Keep with the file what the animator's channels were before a solution, which stays in them, and the latter."""
    settings = chain_settings(lower)
    for part in _parts(lower):
        for of, channels in (("own", own), ("written", solved)):
            _set(settings, f"{of}_{part.name}", channels.get(part.slot))
    modes = f"{upper_of(lower).rotation_mode} {lower.rotation_mode}"
    if settings.own_modes != modes:
        settings.own_modes = modes
    if not settings.is_posed:
        settings.is_posed = True


def forget(lower: PoseBone) -> None:
    """Whatever stands in the channels is the animator's from now on."""
    settings = chain_settings(lower)
    if settings.is_posed:
        for name in ("is_posed", "own_modes", *KEPT):
            lower.planar_ik.property_unset(name)  # type: ignore[attr-defined]  # addon.rig.properties adds it


def give_back(ob: ArmatureObject, lowers: Sequence[PoseBone]) -> None:
    """Put the animator's numbers back where solutions stand."""
    posed = [lower for lower in lowers if lower.parent and chain_settings(lower).is_posed]
    if posed:
        channels = Channels(ob)
        for lower in posed:
            recall(lower, channels)
            forget(lower)
        channels.write()


def _parts(lower: PoseBone) -> Iterator[_Part]:
    bones = lower.id_data.pose.bones
    kept: list[str] = chain_settings(lower).own_modes.split()
    for i, (role, bone) in enumerate((("upper", upper_of(lower)), ("lower", lower))):
        index, mode = bones.find(bone.name), bone.rotation_mode
        yield _Part(rotation_slot(bone, index), role, mode, kept[i] if kept else mode)
        yield _Part(Slot("scale", index), f"{role}_scale")


def _own(settings: Any, part: _Part, current: list[float]) -> Sequence[float] | None:
    """The animator's numbers for a channel; None if it is they that stand in it."""
    own, written = (list(getattr(settings, f"{of}_{part.name}")) for of in ("own", "written"))
    if part.mode != part.kept_mode:
        was, now = to_quaternion(part.kept_mode, written), to_quaternion(part.mode, current)
        if not _is_same_turn(was, now):
            return None
        return to_channels(part.mode, to_quaternion(part.kept_mode, own), current)
    return own[: len(current)] if current == written[: len(current)] else None


def _is_same_turn(one: Sequence[float], other: Sequence[float]) -> bool:
    side = -1.0 if sum(a * b for a, b in zip(one, other, strict=True)) < 0.0 else 1.0
    return all(abs(a - side * b) <= SAME_TURN for a, b in zip(one, other, strict=True))


def _set(settings: Any, name: str, numbers: Sequence[float]) -> None:
    """Set kept numbers, filled up with nothing, if they are others; what is at its default stays unstored."""
    kept = list(getattr(settings, name))
    wanted = array("f", [*numbers, 0.0][: len(kept)]).tolist()
    if kept != wanted:
        setattr(settings, name, wanted)
