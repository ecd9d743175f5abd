"""What the solver of a limb follows, where that is not what people see as its target: a foot that rolls.

The limb's IK constraint goes on naming the control. So all that is done to a limb (picking, mirroring, removing,
Symmetrize, overrides, Blender's own line to the root) means the control, and knows nothing of rolls. From the control
on, helper bones roll, and the last of them, which rests at the tip, is where the limb goes: the solver, the mechanism
and the foot follow that one in the place of the control. What these read is `solver_follow`; what people see,
`follow_of`.

The helpers, by their roles, each a child of the one before, none a child of a bone that somebody animates:

    roll control  goes where the control goes, and is turned and scaled as that is
    outer pivot   turns about the outer edge of the sole, if the bank is above 0; and so on
    inner pivot
    heel pivot
    toe pivot
    ball pivot
    rolled        does nothing: the rolled target
    flat toe      a child of the ball pivot: turns back by as much, which the toes copy

A pivot turns about its own X axis, at its own place: these are all that is kept of it, so that it can be moved in Edit
Mode. Nothing names a limb's helpers but its foot, which copies the rotation of the rolled target: Blender keeps that
right through renames, joins and appends. A foot that was made by Symmetrize copies the rolled target of the other side,
which does not rest at its tip: that is how the limb knows that it has to be rebuilt.

A roll is rigid to the control: with the rolled target at K R, where K is the control, R is the same wherever the
control goes. For that to be at W, the control goes to W R⁻¹."""

from __future__ import annotations

from typing import Any

from bpy.types import Bone, Depsgraph, PoseBone
from mathutils import Matrix, Vector

from ..blender.types import children_of
from .follow import Follow, follow_of, matrix_of
from .settings import MADE_BY_US, MADE_FOR_LIMB
from .storage import group_of, has_slider
from .tips import foot_of, tip_of

FOOT = f"{MADE_BY_US}Foot"
"""The constraint by which a foot copies the rotation of what its limb follows."""

OFFSET = f"{MADE_BY_US}Foot Offset"
"""The one by which it is turned off that, where it is: a transformation that always gives the same."""

OFFSET_BACK = f"{MADE_BY_US}Foot Offset Back"
"""The one that turns it by the opposite before it copies the target: so only that one blends between FK and IK, the
short way, and the offset is whole at any influence."""

FLAT_TOE = f"{MADE_BY_US}Flat Toe"
"""The one by which a toe stays flat on the ball."""

ROLL_CONTROL, OUTER_PIVOT, INNER_PIVOT, HEEL_PIVOT, TOE_PIVOT, BALL_PIVOT, ROLLED_TARGET, FLAT_TOE_BONE = ROLL_ROLES = (
    "roll control",
    "outer pivot",
    "inner pivot",
    "heel pivot",
    "toe pivot",
    "ball pivot",
    "rolled",
    "flat toe",
)
"""The roles of the helper bones of a foot roll, from the control on."""

PIVOTS = (OUTER_PIVOT, INNER_PIVOT, HEEL_PIVOT, TOE_PIVOT, BALL_PIVOT)

OFF_TIP = 1e-3
"""How far from the tip the rolled target may rest, in lengths of the limb's last bone."""


def has_roll(limb: PoseBone) -> bool:
    """Whether a limb has a foot roll, complete or not."""
    return has_slider(limb, "roll")


def solver_follow(limb: PoseBone) -> Follow:
    """The target and pole that the solver uses: the limb's own, but with a foot roll the helper bone that rolls with
    the target."""
    follow = follow_of(limb)
    end_bone = rolled_target(limb) if follow.target is not None and has_roll(limb) else None
    return follow if end_bone is None else follow._replace(target=limb.id_data, subtarget=end_bone.name)


def rolled_target(limb: PoseBone) -> Bone | None:
    """The helper bone that the solver uses as target of a limb with a foot roll; None if it is missing or belongs to
    another limb."""
    foot = foot_of(limb)
    copying: Any = foot.constraints.get(FOOT) if foot else None
    if copying is None or copying.target != limb.id_data:
        return None
    bone = limb.id_data.data.bones.get(copying.subtarget)
    if bone is None or role_of(bone) != ROLLED_TARGET:
        return None
    return bone if (bone.head_local - tip_at_rest(limb)).length <= OFF_TIP * limb.bone.length else None


def role_of(bone: Any) -> str:
    """The role that a helper bone was made for; "" if it was not made for a limb."""
    return str(bone.get(MADE_FOR_LIMB, ""))


def tip_at_rest(limb: PoseBone) -> Vector:
    """The rest position of a limb's tip, in the armature."""
    place: Vector = limb.bone.matrix_local @ Vector(tip_of(limb, (group_of(limb) or {}).get("tip", "FOOT")).tolist())
    return place


def helpers_of(limb: PoseBone) -> dict[str, Bone]:
    """The helper bones of a limb's foot roll by role; if it is incomplete, those above its rolled target; none without
    one."""
    end_bone: Any = rolled_target(limb) if has_roll(limb) else None
    if end_bone is None:
        return {}
    bones = [end_bone, *end_bone.parent_recursive, *(end_bone.parent.children if end_bone.parent else ())]
    return {role: bone for bone in bones if (role := role_of(bone)) in ROLL_ROLES}


def flat_toes(limb: PoseBone) -> list[PoseBone]:
    """The toe bones that a foot roll keeps flat on the ground."""
    foot = foot_of(limb)
    return [toe for toe in children_of(foot) if FLAT_TOE in toe.constraints] if foot else []


def unrolled(limb: PoseBone, depsgraph: Depsgraph) -> Matrix:
    """The evaluated world matrix that the solver's target would have without roll and bank."""
    helpers = helpers_of(limb)
    if ROLL_CONTROL not in helpers:
        return matrix_of(*follow_of(limb)[:2], depsgraph)  # type: ignore[arg-type]  # it is there
    control, end_bone = helpers[ROLL_CONTROL], helpers[ROLLED_TARGET]
    at_rest = control.matrix_local.inverted() @ end_bone.matrix_local
    return matrix_of(limb.id_data, control.name, depsgraph) @ at_rest
