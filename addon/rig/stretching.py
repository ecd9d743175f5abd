"""Letting bones lengthen without shear: what must be inherited, and what becomes of a bone's scale."""

from __future__ import annotations

from typing import Any, Literal

from bpy.types import PoseBone

from .access import chain_settings, children_of, upper_of

SHEARING = {"FULL", "FIX_SHEAR"}
"""The ways to inherit scale that shear a turned bone under one that is scaled unevenly."""

POWERS = {"LENGTH": (0.0, 1.0, 0.0), "UNIFORM": (1.0, 1.0, 1.0), "VOLUME": (-0.5, 1.0, -0.5)}
"""By which power of the factor that lengthens a bone each of its axes grows, for each `stretch_volume`."""


def avoid_shear(lower: PoseBone) -> bool:
    """Set what the bones below must inherit, and keep in the chain's settings what was set before; say whether
    anything had to be set.

    The lower bone takes over the upper bone's lengthening along its own axes; other children keep an even scale.
    """
    chain = chain_settings(lower)
    changed = dict(_kept(lower))
    for bone, mode in _wanted(lower):
        inherited = bone.bone.inherit_scale
        if inherited in SHEARING or (bone == lower and inherited == "AVERAGE"):
            changed.setdefault(bone.name, inherited)
            bone.bone.inherit_scale = mode
    kept = "\n".join(f"{mode} {name}" for name, mode in changed.items())
    if kept == chain.own_inherit_scale:
        return False
    chain.own_inherit_scale = kept
    return True


def restore_inherit_scale(lower: PoseBone) -> None:
    """Undo `avoid_shear`."""
    bones = lower.id_data.pose.bones
    for name, mode in _kept(lower):
        if name in bones:
            bones[name].bone.inherit_scale = mode


def stretched(scale: Any, factor: float, volume: str) -> tuple[float, float, float]:
    """A bone's scale channel lengthened by a factor along y."""
    x, y, z = POWERS[volume]
    return (scale[0] * factor**x, scale[1] * factor**y, scale[2] * factor**z)


def _wanted(lower: PoseBone) -> list[tuple[PoseBone, Literal["ALIGNED", "AVERAGE"]]]:
    others = [child for bone in (lower, upper_of(lower)) for child in children_of(bone) if child != lower]
    return [(lower, "ALIGNED"), *((bone, "AVERAGE") for bone in others)]


def _kept(lower: PoseBone) -> list[tuple[str, str]]:
    lines = (line.split(" ", 1) for line in chain_settings(lower).own_inherit_scale.splitlines())
    return [(name, mode) for mode, name in lines]
