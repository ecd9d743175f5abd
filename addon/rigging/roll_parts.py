"""Making the helper bones of foot rolls, and taking them away: what they are is said in `limb.foot_roll`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import bpy
from bpy.types import Bone, Context, PoseBone
from mathutils import Matrix

from ..blender.animation import drivers_of, drop_if_empty
from ..blender.editing import collect, edit_mode, frame_held, remove_bones, unkeyed_kept
from ..blender.fcurves import reset
from ..blender.types import ArmatureObject, path_to_bone, path_to_custom, split_path
from ..limb.follow import Follow, follow_of
from ..limb.foot_roll import (
    BALL,
    CONTROL,
    FLAT,
    FLAT_TOE,
    GOAL,
    HEEL,
    INNER,
    OUTER,
    PIVOTS,
    ROLES,
    TOE,
    flat_toes,
    helpers_of,
    role_of,
)
from ..limb.settings import MADE_BY_US, MADE_FOR_LIMB, SLIDER
from ..limb.storage import by_rig, choices_of

COLLECTION = "IK Foot Pivots"
"""The bone collection of all pivots, which is hidden: shown, they can be moved in Edit Mode."""

GOES, TURNS = (f"{MADE_BY_US}{name}" for name in ("Goes", "Turns"))
"""Those by which the first helper goes with the control."""

LENGTH = 0.15
"""How long helpers are, in lengths of the limb's last bone."""

READS = {OUTER: "bank", INNER: "bank", HEEL: "roll", TOE: "roll", BALL: "roll", FLAT: "roll"}
"""The slider that each helper turns by."""


class FootRoll(NamedTuple):
    """A foot roll to be made: the rig and the name of the limb's last bone; in the armature as it rests, the pivots by
    role, and ``end_rest``, where the goal is, with the axes of the control where the foot rests; and the bones of toes
    that stay flat."""

    ob: ArmatureObject
    last: str
    pivots: dict[str, Matrix]
    end_rest: Matrix
    toes: tuple[str, ...]


def expression_of(role: str, break_angle: float) -> str:
    """What a helper turns by about its X axis, clamped on both sides: ``r`` is the roll, or the bank."""
    end, ball = f"{3.1415927:g}", f"{break_angle:.9g}"
    return {
        OUTER: f"min(max(r,0),{end})",
        INNER: f"max(min(r,0),-{end})",
        HEEL: f"max(min(r,0),-{end})",
        TOE: f"min(max(r-{ball},0),{end})",
        BALL: f"min(max(r,0),{ball})",
        FLAT: f"-min(max(r,0),{ball})",
    }[role]


def build(context: Context, rolls: Sequence[FootRoll]) -> list[dict[str, str]]:
    """Make the helper bones of limbs that have none, in one visit to Edit Mode for each rig, and have toes stay flat.
    The feet do not follow them yet. Returns the names of the helpers by role, for each limb."""
    names: list[dict[str, str]] = [{} for _ in rolls]
    rigs = list(dict.fromkeys(roll.ob for roll in rolls))
    with unkeyed_kept(context, rigs):
        for ob in rigs:
            with edit_mode(context, ob):
                for i, roll in enumerate(rolls):
                    if roll.ob == ob:
                        names[i] = _make_bones(roll)
        with frame_held():
            for roll, of_roll in zip(rolls, names, strict=True):
                _finish(roll, of_roll)
    return names


def _make_bones(roll: FootRoll) -> dict[str, str]:
    bones: Any = roll.ob.data.edit_bones
    names: dict[str, str] = {}
    length = LENGTH * bones[roll.last].length
    prefix = f"MCH-{crc32(f'{roll.ob.name} {roll.last} roll'.encode()):08x}-"  # see `rigging.build`
    above: Any = None
    for role in ROLES if roll.toes else ROLES[:-1]:
        bone: Any = bones.new(f"{prefix}{role.replace(' ', '_')}")
        bone.tail = (0.0, 1.0, 0.0)
        bone.matrix = roll.pivots.get(BALL if role == FLAT else role, roll.end_rest)
        bone.length, bone.use_deform = length, False
        bone.parent = bones[names[BALL]] if role == FLAT else above
        bone[MADE_FOR_LIMB] = role
        bone.select = bone.select_head = bone.select_tail = False
        names[role], above = bone.name, bone
    return names


def _finish(roll: FootRoll, names: dict[str, str]) -> None:
    pose, last = roll.ob.pose.bones, roll.ob.pose.bones[roll.last]
    for role, name in names.items():
        pose[name].rotation_mode = "XYZ"
        collect(roll.ob, pose[name].bone, COLLECTION).is_visible = False
        if role in READS:
            _drive(pose[name], "rotation_euler", 0, last, READS[role], expression_of(role, _break_angle(last)))
    aim_control(pose[names[CONTROL]], follow_of(last))
    for toe in roll.toes:
        keeping: Any = pose[toe].constraints.new("COPY_ROTATION")
        keeping.name, keeping.show_expanded = FLAT_TOE, False
        keeping.target, keeping.subtarget = roll.ob, names[FLAT]
        keeping.owner_space, keeping.target_space, keeping.mix_mode = "LOCAL", "LOCAL_OWNER_ORIENT", "BEFORE"
        _drive(keeping, "influence", -1, last, "influence", "r")


def _break_angle(last: PoseBone) -> float:
    return float(choices_of(last)["break_angle"])


def _drive(owner: Any, path: str, index: int, last: PoseBone, slider: str, expression: str) -> None:
    """Have a number follow a slider of a limb."""
    curve: Any = owner.driver_add(path, index)
    reset(curve)
    new = curve.driver
    new.type = "SUM" if expression == "r" else "SCRIPTED"
    variable = new.variables.new()
    variable.name = "r"
    variable.targets[0].id = last.id_data
    variable.targets[0].data_path = path_to_custom(last.name, SLIDER[slider].key)
    if new.type == "SCRIPTED":
        new.expression = expression


def aim_control(helper: PoseBone, follow: Follow) -> None:
    """Have the first helper go where the control does. What is scaled in the rig itself scales the roll too; of an
    object, whose size may be anything, it does not."""
    is_near = follow.target == helper.id_data and bool(follow.subtarget)
    kinds = {GOES: "COPY_TRANSFORMS"} if is_near else {GOES: "COPY_LOCATION", TURNS: "COPY_ROTATION"}
    for constraint in [*helper.constraints]:
        helper.constraints.remove(constraint)
    for name, kind in kinds.items():
        copying: Any = helper.constraints.new(kind)  # type: ignore[arg-type]
        copying.name, copying.target, copying.show_expanded = name, follow.target, False
        if follow.target is not None and follow.target.type == "ARMATURE":
            copying.subtarget = follow.subtarget
        copying.owner_space = copying.target_space = "POSE" if is_near else "WORLD"


def set_break_angle(last: PoseBone) -> None:
    """Have the helpers of a limb turn by the break angle that it is set to."""
    helpers = helpers_of(last)
    names = {bone.name: role for role, bone in helpers.items()}
    with unkeyed_kept(bpy.context, [last.id_data]), frame_held():
        for curve in drivers_of(last.id_data):
            role = names.get(split_path(curve.data_path)[0], "")
            if READS.get(role) == "roll":
                curve.driver.expression = expression_of(role, _break_angle(last))


def remove(context: Context, helpers: Sequence[tuple[PoseBone, set[str]]]) -> None:
    """Take the helper bones of limbs away, which are named beside each, and what keeps their toes flat."""
    bones: dict[ArmatureObject, set[str]] = {}
    for ob, limbs in by_rig(last for last, _ in helpers).items():
        bones[ob] = {name for last, names in helpers if last in limbs for name in names}
        with unkeyed_kept(context, [ob]), frame_held():
            for last in limbs:
                for toe in flat_toes(last):
                    _let_go(toe)
            for curve in [curve for curve in drivers_of(ob) if split_path(curve.data_path)[0] in bones[ob]]:
                ob.animation_data.drivers.remove(curve)  # type: ignore[union-attr]  # it has drivers
            drop_if_empty(ob)
    remove_bones(context, bones, COLLECTION)


def _let_go(toe: PoseBone) -> None:
    constraint = toe.constraints[FLAT_TOE]
    path = constraint.path_from_id("influence")
    for curve in [curve for curve in drivers_of(toe.id_data) if curve.data_path == path]:
        toe.id_data.animation_data.drivers.remove(curve)
    toe.constraints.remove(constraint)


def bones_named(last: PoseBone, names: Iterable[str]) -> list[Bone]:
    """The bones of a limb's armature that have these names."""
    bones = last.id_data.data.bones
    return [bones[name] for name in names if name in bones]


def all_helpers(last: PoseBone) -> set[str]:
    """The names of all bones that were made for the roll of a limb, also where some are missing: those that its sliders
    turn, and what hangs together with these."""
    paths = {path_to_custom(last.name, SLIDER[name].key) for name in ("roll", "bank")}
    names = {bone.name for bone in helpers_of(last).values()}
    for curve in drivers_of(last.id_data):
        if any(target.data_path in paths for variable in curve.driver.variables for target in variable.targets):
            names.add(split_path(curve.data_path)[0])
    bones = [bone for bone in bones_named(last, names) if role_of(bone) in ROLES]
    tops = {[bone, *bone.parent_recursive][-1] for bone in bones}
    return {bone.name for top in tops for bone in (top, *top.children_recursive) if role_of(bone) in ROLES}


def problem_of(last: PoseBone) -> str:
    """What is wrong with the foot roll of a limb, as a sentence with {bone} in it; "" if nothing, or without one."""
    helpers, ob, follow = helpers_of(last), last.id_data, follow_of(last)
    if not {CONTROL, *PIVOTS, GOAL} <= helpers.keys():
        return MISSING
    goes: Any = ob.pose.bones[helpers[CONTROL].name].constraints.get(GOES)
    if (
        goes is None
        or goes.mute
        or goes.target != follow.target
        or (follow.subtarget and goes.subtarget != follow.subtarget)
    ):
        return MISSING
    drivers = ob.animation_data.drivers if ob.animation_data else None
    for role in READS.keys() & helpers.keys():
        curve: Any = drivers.find(f"{path_to_bone(helpers[role].name)}.rotation_euler", index=0) if drivers else None
        if curve is None or curve.mute or not curve.driver.is_valid:
            return MISSING
    return ""


MISSING = "The foot roll of '{bone}' is missing or edited: rebuild the limb"
