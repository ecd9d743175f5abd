"""Foot Follows: the foot or hand below a limb turns as the limb's target does, as far as its IK influence goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import tau
from typing import Any

import bpy
from bpy.types import Context, PoseBone
from mathutils import Euler, Matrix, Quaternion

from ...blender.animation import drivers_of
from ...blender.editing import frame_held, unkeyed_kept
from ...blender.types import own_matrix, path_to_custom, view_layer_of
from ..follow import Follow, follow_of, is_gone, matrix_of
from ..settings import MADE_BY_US, SLIDER
from ..tips import foot_of
from ..words import Refused

FOOT = f"{MADE_BY_US}Foot"
"""The constraint by which a foot copies the rotation of its limb's target."""

OFFSET = f"{MADE_BY_US}Foot Offset"
"""The one by which it is turned off that, where it is: a transformation that always gives the same."""

ALIKE = 1e-5
"""Radians by which a foot may be turned off its target without needing that."""


def foot_follows(last: PoseBone) -> bool:
    """Whether the foot of a limb follows its target."""
    foot = foot_of(last)
    return foot is not None and FOOT in foot.constraints


def set_feet(lasts: Sequence[PoseBone], on: bool, stands: Sequence[Matrix] = ()) -> None:
    """Have the feet of limbs turn as their targets do, or leave them to their own pose; raises `Refused` before any
    does. They go on as they stand, or as ``stands`` says, in the world."""
    for last in lasts if on else ():
        if foot_of(last) is None:
            raise Refused("No foot or hand begins at the tip of '{bone}'", bone=last.name)
        if follow_of(last).target is None:
            raise Refused("Pick a target for '{bone}', or make one", bone=last.name)
    with unkeyed_kept(bpy.context, dict.fromkeys(last.id_data for last in lasts)), frame_held():
        for i, last in enumerate(lasts):
            _set(last, on, stands[i] if stands else None)


def refollow(last: PoseBone) -> None:
    """Have the foot of a limb go on as it stands, with what the limb follows now."""
    if foot_follows(last):
        set_feet([last], follow_of(last).target is not None)


def _set(last: PoseBone, on: bool, stand: Matrix | None) -> None:
    foot, follow = foot_of(last), follow_of(last)
    if foot is None or (on and is_gone(follow.target, follow.subtarget)):
        return
    offset = _offset(foot, follow, stand) if on else None
    for name, kind, is_wanted in ((FOOT, "COPY_ROTATION", on), (OFFSET, "TRANSFORM", bool(offset))):
        made = foot.constraints.get(name)
        if made is None and is_wanted:
            made = foot.constraints.new(kind)  # type: ignore[arg-type]
            made.name = name
            _drive(last, made)
        elif made is not None and not is_wanted:
            _take_off(made)
    for made in (foot.constraints.get(name) for name in (FOOT, OFFSET)):
        if made is not None:
            _aim(made, follow)
    if offset:
        turning: Any = foot.constraints[OFFSET]
        turning.map_to, turning.to_euler_order, turning.mix_mode_rot = "ROTATION", "XYZ", "AFTER"
        for axis, angle in zip("xyz", offset, strict=True):  # as much at either end: always the same
            setattr(turning, f"to_min_{axis}_rot", angle)
            setattr(turning, f"to_max_{axis}_rot", angle)


def _aim(made: Any, follow: Follow) -> None:
    """Have a constraint read a bone of its own rig as it stands there, anything else as it stands in the world."""
    made.target = follow.target
    if follow.target is not None and follow.target.type == "ARMATURE":
        made.subtarget = follow.subtarget
    is_near = follow.target == made.id_data and bool(follow.subtarget)
    made.owner_space = made.target_space = "POSE" if is_near else "WORLD"


def _offset(foot: PoseBone, follow: Follow, stand: Matrix | None) -> Any:
    """The turn of a foot off its target now, as angles; None if it is none."""
    depsgraph, ob = bpy.context.evaluated_depsgraph_get(), foot.id_data
    stand = stand or matrix_of(ob, foot.name, depsgraph)
    turns = [matrix_of(follow.target, follow.subtarget, depsgraph), stand]  # type: ignore[arg-type]  # it is there
    if follow.subtarget and follow.target == ob:  # in the armature
        turns = [ob.matrix_world.inverted_safe() @ turn for turn in turns]
    one, other = (turn.to_3x3().normalized() for turn in turns)
    turn: Any = (one.transposed() @ other).to_quaternion()
    return turn.to_euler("XYZ") if turn.angle > ALIKE and abs(turn.angle - tau) > ALIKE else None


def follow_alike(last: PoseBone, other: PoseBone, image: Callable[[Matrix], Matrix]) -> None:
    """Have the foot of another limb follow its target if that of a limb does, off it by the mirror image of that."""
    foot, its_foot, follow = foot_of(last), foot_of(other), follow_of(last)
    offset = foot.constraints.get(OFFSET) if foot else None
    if foot is None or its_foot is None or not (offset or foot_follows(last) != foot_follows(other)):
        return
    stands: list[Matrix] = []
    if offset:
        turn = Euler([getattr(offset, f"to_min_{axis}_rot") for axis in "xyz"]).to_matrix().to_4x4()
        stands = [image(matrix_of(*follow[:2], bpy.context.evaluated_depsgraph_get()) @ turn)]
    set_feet([other], foot_follows(last), stands)
    if not offset and OFFSET in its_foot.constraints:
        with frame_held():
            _take_off(its_foot.constraints[OFFSET])


def _take_off(made: Any) -> None:
    ob, path = made.id_data, made.path_from_id("influence")
    foot = ob.path_resolve(path.rpartition(".constraints[")[0])
    for curve in drivers_of(ob):  # first: Blender crashes on one that lost what it drives
        if curve.data_path == path:
            ob.animation_data.drivers.remove(curve)
    foot.constraints.remove(made)


def _drive(last: PoseBone, made: Any) -> None:
    """Have a constraint read the influence of its limb."""
    driver: Any = made.driver_add("influence").driver
    driver.type = "SCRIPTED"
    variable = driver.variables.new()
    variable.name = "influence"
    variable.targets[0].id = last.id_data
    variable.targets[0].data_path = path_to_custom(last.name, SLIDER["influence"].key)
    driver.expression = "influence"


@contextmanager
def at_influence(context: Context, lasts: Sequence[PoseBone], influence: float) -> Iterator[None]:
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
    with at_influence(context, limbs, 0.0):
        wanted = [_turned(context, foot.id_data, foot.name) for _, foot in footed]
    turns = {}
    with at_influence(context, limbs, 1.0):
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
    with at_influence(context, [last for last, _ in footed], 1.0):
        for _, foot in footed:
            evaluated: Any = foot.id_data.evaluated_get(context.evaluated_depsgraph_get())
            turns.append((foot, own_matrix(evaluated.pose.bones[foot.name]).to_quaternion()[:]))
    return turns
