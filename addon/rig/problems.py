"""What keeps a chain from being posed, in sentences that say what to change."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from bpy.types import Object, PoseBone

from .access import chain_settings, children_of, path_to_bone, upper_of
from .dependencies import Dependencies
from .targets import Target

NUMBERS = ("bend", "influence", "softness", "stretch", "stretch_max", "min_angle", "max_angle")


def problem_of(
    ob: Object, lower: PoseBone, target: Target | None, pole: Target | None, dependencies: Dependencies
) -> str:
    """Why the chain of ``lower`` on an original object can't be posed; empty if it can."""
    settings = chain_settings(lower)
    upper = lower.parent
    if upper is None:
        return f"'{lower.name}' has no parent: a chain is a bone and its parent"
    if target is None:
        return f"'{lower.name}' has no target"
    if settings.plane == "POLE" and pole is None:
        return f"'{lower.name}' has no pole target"
    return (
        target.problem()
        or (pole.problem() if pole else "")
        or _not_a_number(settings)
        or overlap(lower)
        or hangs_on(ob, lower, target, dependencies)
        or (hangs_on(ob, lower, pole, dependencies) if pole else "")
        or moved_by_others(ob, upper, lower)
    )


def overlap(lower: PoseBone) -> str:
    """Which other chain has one of this chain's bones."""
    upper = upper_of(lower)
    if chain_settings(upper).enabled:
        return f"'{upper.name}' is the lower bone of another chain"
    for bone in (*children_of(lower), *children_of(upper)):
        if bone != lower and chain_settings(bone).enabled:
            return f"'{upper_of(bone).name}' is also in the chain of '{bone.name}'"
    return ""


def hangs_on(ob: Object, lower: PoseBone, target: Target, dependencies: Dependencies) -> str:
    """Whether the chain itself carries its target or pole."""
    if dependencies.carriers([(target.object, target.bone)]) & {(ob, lower.name), (ob, upper_of(lower).name)}:
        name = f"Bone '{target.bone}'" if target.bone else f"'{target.object.name}'"
        return f"{name} hangs on the chain of '{lower.name}' itself: use one that does not move with it"
    return ""


def moved_by_others(ob: Object, upper: PoseBone, lower: PoseBone) -> str:
    """Which constraint or driver moves the limb besides the chain."""
    return _moved_by_constraint(upper, lower) or _moved_by_driver(ob, upper, lower)


def _not_a_number(settings: Any) -> str:
    wrong = [name for name in NUMBERS if not isfinite(getattr(settings, name))]
    return f"{wrong[0].replace('_', ' ').capitalize()} is not a number" if wrong else ""


def _moved_by_constraint(upper: PoseBone, lower: PoseBone) -> str:
    for bone in (upper, lower):
        for constraint in bone.constraints:
            if not constraint.mute and constraint.influence > 0.0:
                return f"Constraint '{constraint.name}' moves '{bone.name}' after the chain: mute or remove it"
    for bone in _below(lower):
        for constraint in bone.constraints:
            if constraint.type == "IK" and not constraint.mute and _covers(constraint, bone, lower):
                return f"Constraint '{constraint.name}' of '{bone.name}' moves '{lower.name}' too: mute or remove it"
    return ""


def _below(lower: PoseBone) -> Iterator[PoseBone]:
    for child in children_of(lower):
        yield child
        yield from _below(child)


def _covers(constraint: Any, bone: PoseBone, lower: PoseBone) -> bool:
    chain = bone.parent_recursive if not constraint.use_tail else [bone, *bone.parent_recursive]
    return lower in (chain[: constraint.chain_count] if constraint.chain_count else chain)


def _moved_by_driver(ob: Object, upper: PoseBone, lower: PoseBone) -> str:
    for curve in ob.animation_data.drivers if ob.animation_data else ():
        for bone in (upper, lower):
            if curve.data_path.startswith(f"{path_to_bone(bone.name)}.rotation"):
                return f"The rotation of '{bone.name}' is driven: remove the driver"
    return ""
