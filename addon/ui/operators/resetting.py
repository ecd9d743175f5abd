"""Resetting what no limb can be posed with: scales of zero, and channels and settings that are not numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any, NamedTuple

from bpy.types import PoseBone

from ...rig.data.access import bones_of, chain_settings, with_carriers
from ...rig.data.rotation import rotation_channel
from ...rig.settings import DEFAULTS
from ..finding import goals_of

LEAST = 1e-9
"""Scales below this count as zero: a limb of three such is scaled to nothing."""


class Channel(NamedTuple):
    """One number of an object or a bone: whose, the property, and which of its numbers."""

    owner: Any
    name: str
    place: int

    def reset(self) -> None:
        """Set it to what it is at rest."""
        numbers = getattr(self.owner, self.name)
        numbers[self.place] = self.owner.bl_rna.properties[self.name].default_array[self.place]
        self.owner.id_data.update_tag()


def zero_scales(lower: PoseBone) -> list[Channel]:
    """The scales of zero of a limb and of all that carries it."""
    return _channels(with_carriers(lower), lambda name, number: name == "scale" and abs(number) < LEAST)


def no_numbers(lower: PoseBone) -> list[Channel]:
    """What is not a number of a limb, of what it follows, and of all that carries these."""
    owners = [*with_carriers(lower)]
    for goal in goals_of(lower).values():
        owners += with_carriers(bones_of(goal.object)[goal.bone] if goal.bone else goal.object)
    return _channels(iter(dict.fromkeys(owners)), lambda _, number: not isfinite(number))


def settings_of_no_number(lower: PoseBone) -> list[str]:
    """The names of a chain's settings that are not numbers."""
    return [name for name, number in chain_settings(lower).numbers().items() if not isfinite(number)]


def reset_scales(lower: PoseBone) -> None:
    """Set scales of zero back."""
    for channel in zero_scales(lower):
        channel.reset()


def reset_numbers(lower: PoseBone) -> None:
    """Set back what is not a number, channels and settings."""
    for channel in no_numbers(lower):
        channel.reset()
    for name in settings_of_no_number(lower):
        setattr(chain_settings(lower), name, DEFAULTS[name])


def _channels(owners: Iterator[Any], is_wrong: Callable[[str, float], bool]) -> list[Channel]:
    found = []
    for owner in owners:
        for name in ("location", rotation_channel(owner.rotation_mode), "scale"):
            numbers = getattr(owner, name)
            found += [Channel(owner, name, i) for i, number in enumerate(numbers) if is_wrong(name, number)]
    return found
