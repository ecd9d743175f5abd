"""What of an object's animation acts on it: F-curves of its action by themselves, and what may besides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import bpy
from bpy.types import Object

from ..rig.data.animation import curves_of, strip_paths

GROUPS_ARE_HEEDED = bpy.app.version < (4, 4)
"""Whether a muted group silences its curves; with slots it does so only where there are NLA strips."""

Curves = dict[tuple[str, int], Any]
"""F-curves by data path and index."""


class Acting(NamedTuple):
    """The F-curves of an object's action that alone give a property its value, and the data paths that NLA strips act
    on or mix with the action, and those that drivers act on."""

    curves: Curves
    mixed: set[str]
    driven: set[str]

    @property
    def others(self) -> set[str]:
        """The paths on which more acts than an F-curve of the action, or something else."""
        return self.mixed | self.driven


def acting_on(ob: Object) -> Acting:
    """What acts on an object."""
    data: Any = ob.animation_data
    if data is None:
        return Acting({}, set(), set())
    driven = {driver.data_path for driver in data.drivers if not driver.mute}
    strips = [strip for track in _tracks(data) for strip in track.strips if not strip.mute]
    mixed = {path for strip in strips for path in strip_paths(strip)}
    curves = acting_curves(curves_of(data), heeds_groups(ob))
    if _mixes(data):
        mixed |= {path for path, _ in curves}
    return Acting({key: curve for key, curve in curves.items() if key[0] not in mixed | driven}, mixed, driven)


def acting_curves(curves: Iterable[Any], heeds_groups: bool) -> Curves:
    """The F-curves, of those of an object, that Blender evaluates, by path and index."""
    acting: Curves = {}
    for curve in curves:
        is_muted = curve.mute or (heeds_groups and curve.group and curve.group.mute)
        if not (is_muted or curve.is_empty) and curve.is_valid:
            acting[curve.data_path, curve.array_index] = curve
    return acting


def heeds_groups(ob: Object) -> bool:
    """Whether a muted group silences the curves of an object's action."""
    data: Any = ob.animation_data
    return GROUPS_ARE_HEEDED or any(track.strips for track in _tracks(data))


def _tracks(data: Any) -> Iterator[Any]:
    """The NLA tracks that are not left out."""
    tracks = data.nla_tracks if data and data.use_nla else ()
    has_solo = any(track.is_solo for track in tracks)
    return (track for track in tracks if (track.is_solo if has_solo else not track.mute))


def _mixes(data: Any) -> bool:
    """Whether the action does not act by itself, but as one of the NLA strips does, or not at all."""
    tracks = list(_tracks(data))
    if not any(track.strips for track in tracks) and not data.use_tweak_mode:
        return any(track.is_solo for track in tracks)
    is_whole = data.action_influence == 1.0 and data.action_blend_type == "REPLACE"
    is_whole = is_whole and data.action_extrapolation == "HOLD"
    return data.use_tweak_mode or not is_whole or any(track.is_solo for track in tracks)
