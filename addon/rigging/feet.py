"""Foot Follows: the foot or hand below a limb turns as the limb's target does, as far as its IK influence goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import tau
from typing import Any, NamedTuple

import bpy
from bpy.types import Context, PoseBone
from mathutils import Euler, Matrix, Quaternion

from ..blender.animation import driver_of, drivers_of
from ..blender.editing import frame_held, mute_drivers, unkeyed_kept
from ..blender.types import own_matrix, path_to_custom, tag, view_layer_of
from ..limb.follow import Follow, follow_of, is_gone, matrix_of
from ..limb.foot_roll import FOOT, flat_toes, goal_bone, goal_of, has_roll, unrolled
from ..limb.settings import MADE_BY_US, SLIDER
from ..limb.storage import write_slider
from ..limb.tips import foot_of
from ..limb.words import Refused

OFFSET = f"{MADE_BY_US}Foot Offset"
"""The one by which it is turned off that, where it is: a transformation that always gives the same."""

OFFSET_BACK = f"{MADE_BY_US}Foot Offset Back"
"""The one that turns it by the opposite before it copies the target: so only that one blends between FK and IK, the
short way, and the offset is whole at any influence."""

CONSTRAINTS = (OFFSET_BACK, FOOT, OFFSET)
"""All of them, in the order that they act in."""

ALIKE = 1e-5
"""Radians by which a foot may be turned off its target without needing that."""


def foot_follows(last: PoseBone) -> bool:
    """Whether the foot of a limb follows its target."""
    foot = foot_of(last)
    return foot is not None and FOOT in foot.constraints


def set_feet(lasts: Sequence[PoseBone], on: bool, stands: Sequence[Matrix] = ()) -> None:
    """Have the feet of limbs turn as their targets do, or leave them to their own pose; raises `Refused` before any
    does. They go on as they stand, or as ``stands`` says, in the world: of feet that roll, without roll and bank."""
    for last in lasts:
        if not on and goal_bone(last):
            raise Refused("The foot of '{bone}' rolls with its target: switch off Foot Roll first", bone=last.name)
    for last in lasts if on else ():
        if foot_of(last) is None:
            raise Refused("No foot or hand begins at the tip of '{bone}'", bone=last.name)
        if follow_of(last).target is None:
            raise Refused("Pick a target for '{bone}', or make one", bone=last.name)
    with unkeyed_kept(bpy.context, dict.fromkeys(last.id_data for last in lasts)), frame_held():
        for i, last in enumerate(lasts):
            _set(last, on, stands[i] if stands else None)


def _set(last: PoseBone, on: bool, stand: Matrix | None) -> None:
    foot, follow = foot_of(last), goal_of(last)
    if foot is None or (on and is_gone(follow.target, follow.subtarget)):
        return
    offset = _offset(last, foot, stand) if on else None
    for name in CONSTRAINTS:
        is_wanted = on if name == FOOT else bool(offset)
        constraint = foot.constraints.get(name)
        if constraint is None and is_wanted:
            constraint = foot.constraints.new("COPY_ROTATION" if name == FOOT else "TRANSFORM")
            constraint.name = name
            _drive(last, constraint, "influence" if name == FOOT else "influence > 0")
        elif constraint is not None and not is_wanted:
            _take_off(constraint)
    for constraint in (foot.constraints.get(name) for name in CONSTRAINTS):
        if constraint is not None:
            aim_foot(constraint, follow)
    if offset:
        back: Any = offset.to_matrix().inverted()
        _turn_by(foot.constraints[OFFSET_BACK], back.to_euler("XYZ"))
        _turn_by(foot.constraints[OFFSET], offset)
        at = foot.constraints.find
        if at(OFFSET_BACK) > at(FOOT):
            foot.constraints.move(at(OFFSET_BACK), at(FOOT))


def _turn_by(constraint: Any, angles: Any) -> None:
    """Have a transformation always give the same turn, on top of what there is."""
    constraint.map_to, constraint.to_euler_order, constraint.mix_mode_rot = "ROTATION", "XYZ", "AFTER"
    for axis, angle in zip("xyz", angles, strict=True):  # as much at either end
        setattr(constraint, f"to_min_{axis}_rot", angle)
        setattr(constraint, f"to_max_{axis}_rot", angle)


def aim_foot(constraint: Any, follow: Follow) -> None:
    """Have a constraint read a bone of its own rig as it stands there, anything else as it stands in the world."""
    constraint.target = follow.target
    if follow.target is not None and follow.target.type == "ARMATURE":
        constraint.subtarget = follow.subtarget
    is_near = follow.target == constraint.id_data and bool(follow.subtarget)
    constraint.owner_space = constraint.target_space = "POSE" if is_near else "WORLD"


def _offset(last: PoseBone, foot: PoseBone, stand: Matrix | None) -> Any:
    """The turn of a foot off its target now, as angles; None if it is none."""
    depsgraph, ob, follow = bpy.context.evaluated_depsgraph_get(), foot.id_data, goal_of(last)
    target = unrolled(last, depsgraph) if stand else matrix_of(*follow[:2], depsgraph)  # type: ignore[arg-type]
    turns = [target, stand or matrix_of(ob, foot.name, depsgraph)]
    if follow.subtarget and follow.target == ob:  # in the armature
        turns = [ob.matrix_world.inverted_safe() @ turn for turn in turns]
    one, other = (turn.to_3x3().normalized() for turn in turns)
    turn: Any = (one.transposed() @ other).to_quaternion()
    return turn.to_euler("XYZ") if turn.angle > ALIKE and abs(turn.angle - tau) > ALIKE else None


class Following(NamedTuple):
    """Whether a foot turns as its limb's target does; and how it stands in the world, without roll and bank, where it
    is turned off that."""

    follows: bool
    stand: Matrix | None


def following(last: PoseBone) -> Following | None:
    """How the foot of a limb follows now; None if there is no foot."""
    foot = foot_of(last)
    if foot is None:
        return None
    if OFFSET not in foot.constraints:
        return Following(foot_follows(last), None)
    return Following(True, unrolled(last, bpy.context.evaluated_depsgraph_get()) @ offset_of(foot))


def offset_of(foot: PoseBone) -> Matrix:
    """How a foot that follows is turned off its target."""
    offset: Any = foot.constraints.get(OFFSET)
    angles = [getattr(offset, f"to_min_{axis}_rot") for axis in "xyz"] if offset else (0.0, 0.0, 0.0)
    return Euler(angles).to_matrix().to_4x4()


def stand_of(last: PoseBone) -> Matrix:
    """How the foot of a limb stands in the world now; one that follows, as it would without roll and bank."""
    depsgraph, foot = bpy.context.evaluated_depsgraph_get(), foot_of(last)
    is_rolled = goal_bone(last) or (has_roll(last) and not is_gone(*follow_of(last).pairs[0]))
    if foot_follows(last) and is_rolled:
        return unrolled(last, depsgraph) @ offset_of(foot)  # type: ignore[arg-type]  # it follows
    return matrix_of(last.id_data, foot.name, depsgraph)  # type: ignore[union-attr]  # callers know that there is one


def follow_alike(other: PoseBone, like: Following | None) -> None:
    """Have the foot of a limb follow its target like another's, off it by as much as its wanted stand is."""
    its_foot, now = foot_of(other), following(other)
    if like is None or its_foot is None or not (like.stand or now != like):
        return
    set_feet([other], like.follows, [like.stand] if like.stand else [])
    offsets = [its_foot.constraints[name] for name in (OFFSET_BACK, OFFSET) if name in its_foot.constraints]
    if not like.stand and offsets:
        with frame_held():
            for constraint in offsets:
                _take_off(constraint)


def _take_off(constraint: Any) -> None:
    ob, path = constraint.id_data, constraint.path_from_id("influence")
    foot = ob.path_resolve(path.rpartition(".constraints[")[0])
    for curve in drivers_of(ob):  # first: Blender crashes on one that lost what it drives
        if curve.data_path == path:
            ob.animation_data.drivers.remove(curve)
    foot.constraints.remove(constraint)


def _drive(last: PoseBone, constraint: Any, expression: str) -> None:
    """Have a constraint act by the influence of its limb."""
    driver: Any = constraint.driver_add("influence").driver
    driver.type = "SCRIPTED"
    variable = driver.variables.new()
    variable.name = "influence"
    variable.targets[0].id = last.id_data
    variable.targets[0].data_path = path_to_custom(last.name, SLIDER["influence"].key)
    driver.expression = expression


@contextmanager
def at_influence(context: Context, lasts: Sequence[PoseBone], influence: float) -> Iterator[None]:
    """Have limbs show FK or IK for a moment, also where drivers say which."""
    before = [last[SLIDER["influence"].key] for last in lasts]
    paths = {last: path_to_custom(last.name, SLIDER["influence"].key) for last in lasts}
    drivers = [driver_of(last.id_data, path) for last, path in paths.items()]
    acting = [curve for curve in drivers if curve is not None and not curve.mute]
    mute_drivers(context, acting, True)
    try:
        for last in lasts:
            write_slider(last, "influence", influence)
        view_layer_of(context).update()
        yield
    finally:
        for last, value in zip(lasts, before, strict=True):
            last[SLIDER["influence"].key] = value
            tag(last)
        mute_drivers(context, acting, False)
        view_layer_of(context).update()


def turn_of(context: Context, ob: Any, bone: str) -> Quaternion:
    """How an object or a bone is turned in the world now."""
    return matrix_of(ob, bone, context.evaluated_depsgraph_get()).to_quaternion()


def off_target(context: Context, last: PoseBone) -> Quaternion:
    """How the foot of a limb is turned off what it follows now: the target, or the goal of one that rolls."""
    foot: Any = foot_of(last)
    return turn_of(context, *goal_of(last)[:2]).inverted() @ turn_of(context, last.id_data, foot.name)


def following_bones(last: PoseBone) -> list[PoseBone]:
    """The foot of a limb if it turns with the target, and the toes that a roll keeps flat."""
    foot = foot_of(last) if foot_follows(last) else None
    return [foot, *flat_toes(last)] if foot else []


def turns_of_feet(context: Context, lasts: Sequence[PoseBone]) -> list[tuple[PoseBone, Any]]:
    """How feet that turn with targets, and toes that are kept flat, have to be turned by themselves, to be as in IK."""
    bones = {last: following_bones(last) for last in lasts}
    footed = [last for last in lasts if bones[last]]
    if not footed:
        return []
    with at_influence(context, footed, 1.0):
        return [(bone, shown_turn(context, bone)[:]) for last in footed for bone in bones[last]]


def shown_turn(context: Context, bone: PoseBone) -> Quaternion:
    """The rotation that a bone would have to have of its own, to be as it is evaluated."""
    evaluated: Any = bone.id_data.evaluated_get(context.evaluated_depsgraph_get())
    return own_matrix(evaluated.pose.bones[bone.name]).to_quaternion()
