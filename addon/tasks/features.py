"""Giving limbs what they may have besides their mechanism, and taking it away: a foot that follows, foot roll, pole
follow, softness, stretch. Nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from bpy.types import Context, PoseBone

from ..blender.dependencies import Dependencies
from ..blender.words import Refused
from ..finding.checking import check_editable
from ..limb.follow import has_pole_follow, has_roll, rolled_target
from ..limb.storage import check_structure
from ..limb.transactional import transactional
from ..rigging.apply import apply
from ..rigging.description import LimbRef, describe, ref_of
from ..rigging.features import pole_follow_for, roll_for, with_foot
from ..rigging.feet import Lying
from .keeping_controls import keeping_poles, keeping_rolled_feet


@transactional
def set_feet(context: Context, limbs: Sequence[PoseBone], on: bool) -> None:
    """Turn feet with their targets, or no longer; their pose stays. Raises `Refused` before anything is changed."""
    for limb in limbs:
        if not on and rolled_target(limb):
            raise Refused("The foot of '{bone}' rolls with its target: switch off Foot Roll first", bone=limb.name)
    refs = {ref_of(limb): limb for limb in limbs}
    off = {ref: describe(ref)._replace(foot_turn=None) for ref in refs}
    apply(context, {ref: with_foot(context, limb) for ref, limb in refs.items()} if on else off)


@transactional
def add_foot_roll(
    context: Context, limbs: Sequence[PoseBone], lying: Mapping[LimbRef, Lying | None] | None = None
) -> None:
    """Add a foot roll to limbs that have none; their feet then follow their targets, and are flat as they were seen
    ``lying``. Raises `Refused`."""
    for limb in limbs:
        check_editable(limb)
    lacking, dependencies = (
        [limb for limb in limbs if rolled_target(limb) is None or not has_roll(limb)],
        Dependencies(),
    )
    refs = {ref_of(limb): with_foot(context, limb) for limb in lacking}
    lying = lying or {}
    apply(context, {ref: roll_for(refs[ref], ref, dependencies, lying=lying.get(ref)) for ref in refs})


@transactional
def remove_foot_roll(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Remove the foot roll of limbs, with its keys. The controls of limbs that are rolled now move to where the feet
    are, if they can."""
    limbs = [limb for limb in limbs if has_roll(limb)]
    for limb in limbs:
        check_editable(limb)
    refs = [ref_of(limb) for limb in limbs]
    with keeping_rolled_feet(context, limbs):
        apply(context, {ref: describe(ref).without("foot_roll") for ref in refs})


@transactional
def add_pole_follow(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Add Pole Follow, a slider for how far the pole moves with the target, to limbs without it: it is 0, or 1 for a
    pole that hung on the target. Raises `Refused`."""
    limbs, dependencies = [limb for limb in limbs if not has_pole_follow(limb)], Dependencies()
    for limb in limbs:
        check_editable(limb)
    refs = [ref_of(limb) for limb in limbs]
    apply(context, {ref: pole_follow_for(describe(ref), ref, dependencies) for ref in refs})


@transactional
def remove_pole_follow(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Remove Pole Follow: poles hang again on what they hung on, and stay where they are now."""
    limbs = [limb for limb in limbs if has_pole_follow(limb)]
    for limb in limbs:
        check_editable(limb)
    with keeping_poles(context, limbs):
        apply(context, {ref_of(limb): describe(ref_of(limb)).without("pole_follows") for limb in limbs})


ADDING: dict[str, Callable[[Context, Sequence[PoseBone]], None]] = {
    "foot_follows": partial(set_feet, on=True),
    "foot_roll": add_foot_roll,
    "pole_follows": add_pole_follow,
}
REMOVING: dict[str, Callable[[Context, Sequence[PoseBone]], None]] = {
    "foot_follows": partial(set_feet, on=False),
    "foot_roll": remove_foot_roll,
    "pole_follows": remove_pole_follow,
}
"""What adds and removes features that need more than sliders."""


@transactional
def change_feature(context: Context, limbs: Sequence[PoseBone], name: str, on: bool) -> None:
    """Give limbs a feature that they lack, or take it away, with its animation."""
    if change := (ADDING if on else REMOVING).get(name):
        change(context, limbs)
        return
    for limb in limbs:
        check_structure(limb)
    refs = [ref_of(limb) for limb in limbs]
    described = {ref: describe(ref).with_sliders_of(name) if on else describe(ref).without(name) for ref in refs}
    apply(context, described)
