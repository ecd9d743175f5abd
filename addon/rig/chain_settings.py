"""The settings of one chain, read and set where they are, and who is told as one is set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bpy.types import PoseBone

from .settings import BY_NAME, CONSTRAINT, DEFAULTS, NUMBERS, ON_RIG, PART, PREFIX

on_change: list[Callable[[ChainSettings, bool], None]] = []
"""Called with a chain's settings after one of them was set, and whether that one says what is followed."""

_quiet: list[bool] = []
"""One for each `quietly` that is active."""

on_live: list[Callable[[Any], None]] = []
"""Called with a scene after Live was switched on or off in it."""


@contextmanager
def quietly() -> Iterator[None]:
    """Set settings, and let no mechanism follow: while these are made, taken away or mended, or are what was set."""
    _quiet.append(True)
    try:
        yield
    finally:
        _quiet.pop()


def is_quiet() -> bool:
    """Whether mechanisms are not to follow what is set now."""
    return bool(_quiet)


def holder_of(lower: PoseBone) -> Any:
    """The bone that has the custom properties of a chain that runs on the rig: the lower bone itself, or the bone of
    another armature that it copies, if those of its own are linked."""
    if f"{ON_RIG}influence" in lower:  # type: ignore[operator]  # the stubs don't know custom properties
        return lower
    constraints: Any = lower.constraints  # of any type
    for constraint in constraints:
        if constraint.name.startswith(CONSTRAINT):
            host = getattr(constraint, "target", None)
            if host and host != lower.id_data and host.type == "ARMATURE":
                found = host.pose.bones.get(constraint.subtarget) if host.pose else None
                if found and PART in found.bone:
                    return found
    return lower


class ChainSettings:
    """The settings of a bone's chain by their names, read and set where they are: on the bone, or in its group."""

    __slots__ = ("bone",)

    bone: PoseBone

    def __init__(self, bone: PoseBone) -> None:
        object.__setattr__(self, "bone", bone)

    def __getattr__(self, name: str) -> Any:
        holder = holder_of(self.bone) if name in DEFAULTS else {}
        if ON_RIG + name not in holder:
            value = getattr(*self._place(name))
            return DEFAULTS.get(name, "") if value == "" else value  # a choice that a driver takes beyond its items
        return BY_NAME[name].value_of(holder[ON_RIG + name])

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(*self._place(name), value)

    def numbers(self) -> dict[str, float]:
        """All settings that are numbers, by their names."""
        bone, holder = self.bone, holder_of(self.bone)
        on_rig = {name: holder.get(ON_RIG + name) for name in NUMBERS}
        return {name: getattr(bone, PREFIX + name) if value is None else value for name, value in on_rig.items()}

    def _place(self, name: str) -> tuple[Any, str]:
        return (self.bone, PREFIX + name) if name in DEFAULTS else (self.bone.planar_ik, name)  # type: ignore[attr-defined]  # addon.rig.properties adds it


def was_set(bone: PoseBone, name: str) -> None:
    """A setting was set by its name on the bone: have it where its chain reads it, and tell whoever listens."""
    holder = holder_of(bone)
    if ON_RIG + name in holder:
        holder[ON_RIG + name] = BY_NAME[name].number_of(getattr(bone, PREFIX + name))
        holder.id_data.update_tag()  # which Blender does for its own properties only
    tell_changed(bone, is_aim=False)


def tell_changed(bone: PoseBone, is_aim: bool) -> None:
    """Tell whoever listens that a setting of a bone's chain was set."""
    settings = ChainSettings(bone)
    for listener in on_change:
        listener(settings, is_aim)
