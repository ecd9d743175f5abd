"""What limbs may have besides their mechanism, as plain data: a foot that follows, foot roll, pole follow.

A foot that rolls: helper bones roll from the control on, and the last of them is where the limb goes, see
`limb.foot_roll`. A pole that follows: an Armature constraint with two driven weights on the pole itself, which hangs on
nothing meanwhile. The pole is seen where it acts, its own channels go on top, and a snap moves it as whatever a
constraint holds. What the pole hung on is the first of the constraint's targets, so that Blender itself keeps its name
right; one that hung on nothing gets a helper bone there that never moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from mathutils import Euler, Matrix

from ..limb.foot_roll import (
    BALL_PIVOT,
    FLAT_TOE,
    FLAT_TOE_BONE,
    FOOT,
    HEEL_PIVOT,
    INNER_PIVOT,
    OFFSET,
    OFFSET_BACK,
    OUTER_PIVOT,
    ROLL_CONTROL,
    ROLL_ROLES,
    TOE_PIVOT,
)
from ..limb.pole_follow import CONSTRAINT as FOLLOWING_POLE
from ..limb.pole_follow import STILL
from ..limb.settings import MADE_BY_US, slider_of
from .parts import (
    CONTROL,
    IN_SPACE,
    PROPERTY,
    TARGET,
    ConstraintSpec,
    DriverRead,
    DriverSpec,
    DriverVariable,
    HelperBone,
    Parts,
)

PIVOTS_COLLECTION = "IK Foot Pivots"
"""The bone collection of all pivots, which is hidden: shown, they can be moved in Edit Mode."""

GOES, TURNS = (f"{MADE_BY_US}{name}" for name in ("Goes", "Turns"))
"""Those by which the first helper of a roll goes with the control."""

LENGTH = 0.15
"""How long the helpers of a roll are, in lengths of the limb's last bone."""

READS = {
    OUTER_PIVOT: "bank",
    INNER_PIVOT: "bank",
    HEEL_PIVOT: "roll",
    TOE_PIVOT: "roll",
    BALL_PIVOT: "roll",
    FLAT_TOE_BONE: "roll",
}
"""The slider that each helper of a roll turns by."""

WEIGHTS = ("1-min(max(f,0),1)", "min(max(f,0),1)")
"""What the weights of the targets of a pole that follows are by the slider."""

UPWARDS = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
"""How the helper rests that never moves: at the origin, along Z."""


def _driven(bone: str, path: str, channel: int, expression: str, letter: str, slider: str) -> DriverSpec:
    """A driver that reads one slider of the limb."""
    return DriverSpec(
        bone,
        path,
        channel,
        expression,
        (DriverVariable(letter, PROPERTY, (DriverRead("last", slider_of(slider).key),)),),
    )


def _acting(bone: str, constraint: str, expression: str = "t") -> DriverSpec:
    """One that has a constraint act by the influence of the limb."""
    return _driven(bone, f'constraints["{constraint}"].influence', -1, expression, "t", "influence")


def _spaces(is_near: bool) -> tuple[tuple[str, Any], ...]:
    """A bone of the limb's own rig is read as it stands there, anything else as it stands in the world."""
    space = "POSE" if is_near else "WORLD"
    return ("owner_space", space), ("target_space", space)


SHARED = "shared"
"""The role of the lowest bone on which both a foot and what it follows hang."""


def foot_parts(turn: tuple[float, float, float], is_near: bool, is_sharing: bool) -> Parts:
    """What makes a foot turn with its target, offset by some angles; ``is_near`` if the target is a bone of its rig,
    ``is_sharing`` if both hang on one bone: seen from that, neither is mirrored or sheared. An offset foot is turned
    back before it copies the target: so only the copying blends between FK and IK, the short way, and the offset is
    complete at any influence."""
    spaces, space = (IN_SPACE, SHARED) if is_sharing else (_spaces(is_near), "")
    copying = ConstraintSpec("foot", FOOT, "COPY_ROTATION", TARGET, spaces, space=space)
    if not any(turn):
        return Parts((), (copying,), (_acting("foot", FOOT),))
    back: Any = Euler(turn).to_matrix().inverted().to_euler("XYZ")
    offsets = [
        ConstraintSpec("foot", name, "TRANSFORM", TARGET, (*spaces, *_turned_by(angles)), space=space)
        for name, angles in ((OFFSET_BACK, back), (OFFSET, turn))
    ]
    drivers = (_acting("foot", name, "t" if name == FOOT else "t>0") for name in (OFFSET_BACK, FOOT, OFFSET))
    return Parts((), (offsets[0], copying, offsets[1]), tuple(drivers))


def _turned_by(angles: Any) -> tuple[tuple[str, Any], ...]:
    """A transformation that always gives the same turn, on top of what there is: as much at either end."""
    ends = (
        (f"to_{end}_{axis}_rot", angle) for axis, angle in zip("xyz", angles, strict=True) for end in ("min", "max")
    )
    return ("map_to", "ROTATION"), ("to_euler_order", "XYZ"), ("mix_mode_rot", "AFTER"), *ends


def roll_parts(
    pivots: Mapping[str, Matrix], rolled_rest: Matrix, toes: int, break_angle: float, length: float, is_near: bool
) -> Parts:
    """A foot roll with ``pivots`` that rest in the armature, by role. ``rolled_rest`` is where the rolled target does,
    with the axes of the control where the foot rests; ``toes`` how many stay flat; ``length`` that of the limb's last
    bone; ``is_near`` says that the control is a bone of the rig: what is scaled in the rig itself scales the roll too;
    of an object, whose size may be anything, it does not."""
    bones, above = [], ""
    for role in ROLL_ROLES if toes else ROLL_ROLES[:-1]:
        rest: Any = pivots.get(BALL_PIVOT if role == FLAT_TOE_BONE else role, rolled_rest)
        bones.append(
            HelperBone(
                role,
                BALL_PIVOT if role == FLAT_TOE_BONE else above,
                tuple(map(float, np.ravel(rest))),
                "XYZ",
                length=LENGTH * length,
                collection=PIVOTS_COLLECTION,
            )
        )
        above = role
    kinds = {GOES: "COPY_TRANSFORMS"} if is_near else {GOES: "COPY_LOCATION", TURNS: "COPY_ROTATION"}
    constraints = [ConstraintSpec(ROLL_CONTROL, name, kind, CONTROL, _spaces(is_near)) for name, kind in kinds.items()]
    drivers = [
        _driven(bone.role, "rotation_euler", 0, roll_expression(bone.role, break_angle), "r", READS[bone.role])
        for bone in bones
        if bone.role in READS
    ]
    flat = (("owner_space", "LOCAL"), ("target_space", "LOCAL_OWNER_ORIENT"), ("mix_mode", "BEFORE"))
    for toe in (f"toe {k}" for k in range(toes)):
        constraints.append(ConstraintSpec(toe, FLAT_TOE, "COPY_ROTATION", FLAT_TOE_BONE, flat))
        drivers.append(_acting(toe, FLAT_TOE))
    return Parts(tuple(bones), tuple(constraints), tuple(drivers))


def roll_expression(role: str, break_angle: float) -> str:
    """What a helper turns by about its X axis, clamped on both sides: ``r`` is the roll, or the bank."""
    end, ball = f"{3.1415927:g}", f"{break_angle:.9g}"
    return {
        OUTER_PIVOT: f"min(max(r,0),{end})",
        INNER_PIVOT: f"max(min(r,0),-{end})",
        HEEL_PIVOT: f"max(min(r,0),-{end})",
        TOE_PIVOT: f"min(max(r-{ball},0),{end})",
        BALL_PIVOT: f"min(max(r,0),{ball})",
        FLAT_TOE_BONE: f"-min(max(r,0),{ball})",
    }[role]


def pole_follow_parts(hangs: bool, length: float) -> Parts:
    """What has the pole of a limb go with its target as far as a slider says, else with the bone that it ``hangs`` on,
    or with nothing; ``length`` is that of the limb's last bone."""
    still = () if hangs else (HelperBone(STILL, "", UPWARDS, "QUATERNION", length=length),)
    targets = ("above pole" if hangs else STILL, "target")
    carrying = ConstraintSpec("pole", FOLLOWING_POLE, "ARMATURE", "", targets=targets)
    drivers = [
        _driven("pole", f'constraints["{FOLLOWING_POLE}"].targets[{i}].weight', -1, weight, "f", "pole_follow")
        for i, weight in enumerate(WEIGHTS)
    ]
    return Parts(still, (carrying,), tuple(drivers), free=("pole",))
