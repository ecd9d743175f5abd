"""Foot Follows: the foot or hand below a limb turns as the limb's target does, as far as its IK influence goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
from bpy.types import Context, PoseBone
from mathutils import Quaternion

from ...blender.animation import drivers_of
from ...blender.editing import frame_held, unkeyed_kept
from ...blender.types import path_to_custom, view_layer_of
from ..follow import follow_of, matrix_of
from ..settings import MADE_BY_US, SLIDER
from ..shape import foot_of as bone_below
from ..words import Refused

FOOT = f"{MADE_BY_US}Foot"
"""The constraint by which a foot copies the rotation of its limb's target."""


def foot_of(last: PoseBone) -> PoseBone | None:
    """The foot or hand below a limb, or None."""
    foot = bone_below(last.bone)
    found: PoseBone | None = last.id_data.pose.bones.get(foot.name) if foot else None
    return found


def foot_follows(last: PoseBone) -> bool:
    """Whether the foot of a limb follows its target."""
    return _constraint_of(foot_of(last)) is not None


def set_foot(last: PoseBone, on: bool) -> None:
    """Have the foot of a limb turn as its target does, or leave it to its own pose."""
    set_feet([last], on)


def set_feet(lasts: Sequence[PoseBone], on: bool) -> None:
    """The same for the feet of several limbs; raises `Refused` before anything is done."""
    for last in lasts if on else ():
        if foot_of(last) is None:
            raise Refused("No foot or hand begins at the tip of '{bone}'", bone=last.name)
        if follow_of(last).target is None:
            raise Refused("Pick a target for '{bone}', or make one", bone=last.name)
    with unkeyed_kept(bpy.context, dict.fromkeys(last.id_data for last in lasts)), frame_held():
        for last in lasts:
            foot = foot_of(last)
            if foot is not None and on and _constraint_of(foot) is None:
                foot.constraints.new("COPY_ROTATION").name = FOOT
                _drive(last, foot)
            elif foot is not None and not on:
                _take_off(foot)
    for last in lasts:
        refollow(last)


def refollow(last: PoseBone) -> None:
    """Have the foot of a limb turn as what the limb follows now: as a bone of its own rig stands there, as anything
    else stands in the world."""
    made, follow = _constraint_of(foot_of(last)), follow_of(last)
    if made is None:
        return
    made.target = follow.target
    if follow.target is not None and follow.target.type == "ARMATURE":
        made.subtarget = follow.subtarget
    is_near = follow.target == last.id_data and bool(follow.subtarget)
    made.owner_space = made.target_space = "POSE" if is_near else "WORLD"


def let_go(last: PoseBone) -> None:
    """Take away what `set_foot` made."""
    set_feet([last], False)


def _take_off(foot: PoseBone) -> None:
    made, ob = _constraint_of(foot), foot.id_data
    if made is not None:
        for curve in drivers_of(ob):  # first: Blender crashes on one that lost what it drives
            if curve.data_path == made.path_from_id("influence"):
                ob.animation_data.drivers.remove(curve)
        foot.constraints.remove(made)


def _drive(last: PoseBone, foot: PoseBone) -> None:
    """Have the constraint read the influence of its limb."""
    driver: Any = foot.constraints[FOOT].driver_add("influence").driver
    driver.type = "SCRIPTED"
    variable = driver.variables.new()
    variable.name = "influence"
    variable.targets[0].id = last.id_data
    variable.targets[0].data_path = path_to_custom(last.name, SLIDER["influence"].key)
    driver.expression = "influence"


def _constraint_of(foot: PoseBone | None) -> Any:
    return foot.constraints.get(FOOT) if foot else None


@contextmanager
def _at_influence(context: Context, lasts: Sequence[PoseBone], influence: float) -> Iterator[None]:
    """Have limbs show FK or IK for a moment."""
    before = [last.planar_ik.influence for last in lasts]  # type: ignore[attr-defined]
    for last in lasts:
        last.planar_ik.influence = influence  # type: ignore[attr-defined]
    view_layer_of(context).update()
    try:
        yield
    finally:
        for last, value in zip(lasts, before, strict=True):
            last.planar_ik.influence = value  # type: ignore[attr-defined]
        view_layer_of(context).update()


def _turned(context: Context, ob: Any, bone: str) -> Quaternion:
    return matrix_of(ob, bone, context.evaluated_depsgraph_get()).to_quaternion()


def turns_of_targets(context: Context, lasts: Sequence[PoseBone]) -> dict[Any, Quaternion]:
    """How targets are to be turned in the world, for the feet that turn with them to be as in FK."""
    footed = [(last, foot) for last in lasts if foot_follows(last) and (foot := foot_of(last))]
    if not footed:
        return {}
    limbs = [last for last, _ in footed]
    with _at_influence(context, limbs, 0.0):
        wanted = [_turned(context, foot.id_data, foot.name) for _, foot in footed]
    turns = {}
    with _at_influence(context, limbs, 1.0):
        for (last, foot), goal in zip(footed, wanted, strict=True):
            target = follow_of(last)[:2]
            off = _turned(context, *target).inverted() @ _turned(context, foot.id_data, foot.name)
            turns[target] = goal @ off.inverted()
    return turns


def turns_of_feet(context: Context, lasts: Sequence[PoseBone]) -> list[tuple[PoseBone, Any]]:
    """How feet that turn with targets have to be turned by themselves, to be as in IK."""
    footed = [(last, foot) for last in lasts if foot_follows(last) and (foot := foot_of(last))]
    if not footed:
        return []
    turns = []
    with _at_influence(context, [last for last, _ in footed], 1.0):
        for _, foot in footed:
            evaluated: Any = foot.id_data.evaluated_get(context.evaluated_depsgraph_get())
            bone = evaluated.pose.bones[foot.name]
            above = bone.parent
            local = bone.bone.convert_local_to_pose(
                bone.matrix,
                bone.bone.matrix_local,
                parent_matrix=above.matrix,
                parent_matrix_local=above.bone.matrix_local,
                invert=True,
            )
            turns.append((foot, local.to_quaternion()[:]))
    return turns
