"""What the mechanism of a chain is made for, kept with it, and what of that was changed since."""

from __future__ import annotations

from typing import Any

from bpy.types import PoseBone

from ..rig.access import upper_of
from ..rig.anatomy import Unposable, anatomy
from ..rig.dependencies import Dependencies
from ..rig.settings import IN_SHAPE
from ..rig.setup import Refused
from ..solver.limb import Limb
from ..solver.ops import FLOATS
from ..solver.triangle import bones
from .blending import is_mirrored
from .checking import check_goals
from .found import Found, host_of
from .wanted import Wanted, goals_of, needs_swing, read


def is_outdated(found: Found, evaluated: PoseBone) -> bool:
    """Whether the mechanism of a chain is not what its settings and its bones ask for now."""
    return not found.is_whole or bool(changed_since(found, evaluated))


def changed_since(found: Found, evaluated: PoseBone) -> str:
    """What of a chain was changed since its mechanism, which is whole, was made: the first part of a sentence.
    Raises `Refused` if no mechanism can be made for it."""
    lower, wanted, built = found.lower, read(found.lower), found.purpose
    check_new_goals(found, wanted)
    if built is None or found.goals != goals_of(wanted):
        return f"'{lower.name}' has another target or pole than when it was put on the rig"
    asked = purpose_of(wanted, limb_of(evaluated, lower, wanted), lower)
    if asked["words"]["swings"] and not built["words"]["swings"]:
        return f"The knee of '{lower.name}' does not swing yet, as it does with a bend between 1 and -1"
    if not {*asked["words"]["moving"]} <= {*built["words"]["moving"]}:
        return f"The location of '{upper_of(lower).name}' was changed since '{lower.name}' was put on the rig"
    return (
        ""
        if _alike(built, asked | {"place": found.place})
        else f"'{lower.name}' or its chain was changed since it was put on the rig"
    )


def check_new_goals(found: Found, wanted: Wanted) -> None:
    """Raise `Refused` if a chain is to follow what its mechanism does not measure, and can't."""
    if found.goals != goals_of(wanted):
        check_goals(found.lower, (wanted.target, wanted.pole), Dependencies())


def limb_of(evaluated: PoseBone, lower: PoseBone, wanted: Wanted) -> Limb:
    """The shape of a limb, in the unit of the bone that its targets are measured in, by its evaluated lower bone and
    the original one, whose scale is its own; by no angles that are custom properties."""
    upper = upper_of(evaluated)
    hinge, twist = (0.0 if name in wanted.exposed else wanted.settings[name] for name in IN_SHAPE)
    try:
        limb = anatomy(upper, evaluated, upper_of(lower).scale[:], lower.scale[:], (hinge, twist)).limb
    except Unposable as why:
        raise Refused(str(why)) from why
    if upper.parent is None or upper.bone.inherit_scale != "ALIGNED":
        return limb
    sizes = [axis.length for axis in upper.parent.matrix.to_3x3().col]
    if max(sizes) - min(sizes) > 1e-4 * max(sizes):
        raise Refused(f"'{upper.name}' takes over an uneven scale axis by axis: let it inherit scale in full")
    r1, r2 = limb.r1 / sizes[1], limb.r2 / sizes[1]
    return limb._replace(r1=r1, r2=r2, bones=bones(r1, r2, FLOATS))


def purpose_of(wanted: Wanted, limb: Limb, lower: PoseBone) -> dict[str, Any]:
    """What a mechanism is made for, in words and numbers that can be kept with it and compared."""
    fixed = {name: value for name, value in wanted.settings.items() if name not in wanted.exposed and name != "enabled"}
    hangs = [[bone.bone.use_inherit_rotation, bone.bone.inherit_scale] for bone in (upper_of(lower), lower)]
    axes = [number for turn in (*limb.axes, *limb.knee_turns) for number in turn]
    lengths = [limb.r1, limb.r2]
    words: dict[str, Any] = {
        "hangs": hangs,
        "exposed": sorted(wanted.exposed),
        "kinds": [fixed["plane"], fixed["stretch_volume"]],
        "swings": needs_swing(wanted),
        "moving": list(wanted.moving),
    }
    if not lower.bone.use_inherit_rotation:
        words["mirrored"] = is_mirrored(upper_of(lower))
    if host_of(lower) != lower.id_data:  # in an annex, where bones turn as the limb's do
        words["modes"] = [bone.rotation_mode for bone in (upper_of(lower), lower)]
    numbers = [value for _, value in sorted(fixed.items()) if isinstance(value, float)]
    return {"words": words, "numbers": numbers, "axes": axes, "lengths": lengths}


def _alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two mechanisms are made for the same, to within single precision."""
    if one["words"] != other["words"] or len(one["numbers"]) != len(other["numbers"]):
        return False
    size = max(other["lengths"])
    pairs = [(a, b, 1e-6 * max(1.0, abs(b))) for a, b in zip(one["numbers"], other["numbers"], strict=True)]
    pairs += [(a, b, 1e-4) for a, b in zip(one["axes"], other["axes"], strict=True)]
    pairs += [(a, b, 1e-5 * size) for a, b in zip(one["lengths"], other["lengths"], strict=True)]
    pairs += [(a, b, 1e-4 * max(1.0, size)) for a, b in zip(one["place"], other["place"], strict=True)]
    return all(abs(a - b) <= within for a, b, within in pairs)
