"""Where new targets and poles are to be, how they rest, and how they are drawn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from mathutils import Matrix, Vector

from ..blender.dependencies import BoneRef
from ..blender.types import ArmatureObject
from ..finding.knees import upright
from ..limb import tips, tolerances
from ..limb.rest_geometry import RestGeometry, hinge_axis
from ..limb.settings import BonesPerSegment
from ..motion.fitting import PAST_STRAIGHT, Fit
from ..rigging import control_shapes
from ..rigging.controls import Control, is_aligned, name_of_control, rig_root
from ..solver.limb import IN_ONE_PLANE
from ..solver.matrices import unit_array
from .status import is_leg

TARGET_SIZE, POLE_SIZE = 0.2, 0.06
"""How long the bones of controls are, in lengths of their limb."""

POLE_ALONG = 0.2
"""How far along the limb a pole is from where the knee points, in its lengths: to the tip, or to the root where that
would be on the ground."""

Skins = dict[ArmatureObject, dict[str, Any]]
"""What of meshes feet and hands carry, by rig."""


class FittedLimb(NamedTuple):
    """A limb for which controls are made: its last bone, its segments, its fit, its rest geometry, and by how much its
    knee is turned around it."""

    limb: PoseBone
    segments: BonesPerSegment
    fit: Fit
    rest: RestGeometry
    turn: float = 0.0


def skins_of(limbs: Iterable[PoseBone]) -> Skins:
    """What of meshes the feet and hands of limbs carry. Goes through each mesh once, however many limbs there are."""
    feet: dict[ArmatureObject, list[PoseBone]] = {}
    for limb in limbs:
        feet.setdefault(limb.id_data, []).extend([end] if (end := tips.foot_of(limb)) else [])
    return {ob: control_shapes.skin_of(ob, ends) for ob, ends in feet.items()}


def target_for(context: Context, seen_limb: FittedLimb, foot: bool, skins: Skins) -> Control:
    """The control that a limb's tip is to follow, turned now as the ``foot`` is that is to turn with it. It rests
    upright, or as the foot where only that lies in a flat rig's plane."""
    limb, ob = seen_limb.limb, seen_limb.limb.id_data
    axis = hinge_axis(limb) if seen_limb.fit.plane in IN_ONE_PLANE else None
    normal = limb.bone.matrix_local.to_3x3() @ Vector(axis) if axis else None
    end, now, turn = tips.foot_of(limb) if foot else None, None, upright(ob)
    if end:
        rest = end.bone.matrix_local.to_3x3()
        if normal and not is_aligned(turn.to_4x4(), normal) and is_aligned(rest.to_4x4(), normal):
            turn = rest
        evaluated: Any = ob.evaluated_get(context.evaluated_depsgraph_get())
        now = evaluated.pose.bones[end.name].matrix.to_3x3() @ rest.inverted() @ turn
    place = _place_of(seen_limb)
    return Control(
        ob=ob,
        limb_name=limb.name,
        kind="target",
        name=name_of_control(limb, "target"),
        parent=rig_root(limb, seen_limb.segments),
        rest=Matrix.Translation(place.tip) @ turn.to_4x4(),
        size=TARGET_SIZE * place.length,
        drawing=_drawing_of_target(limb, place, normal, skins.get(ob, {})),
        place=_past_rounding(seen_limb),
        turn=now,
        normal=normal,
    )


def _past_rounding(seen_limb: FittedLimb) -> Vector:
    """Where the target of a limb goes: its tip, or if that is straight so far past it as Blender rounds in the world,
    which far out is much of a small rig; short of it, the knee would bend by the root of that."""
    fitted, size, world = seen_limb.fit, sum(seen_limb.rest.lengths), seen_limb.limb.id_data.matrix_world
    root, tip = vector(fitted.frame[:3, 3]), vector(fitted.tip)
    rounded = float(np.spacing(np.float32(world.translation.length))) / max(world.median_scale * size, 1e-9)
    is_straight = (tip - root).length > size * (1.0 - tolerances.UNSEEN)
    return tip + (tip - root) * 2.0 * rounded if is_straight and 2.0 * rounded > PAST_STRAIGHT else tip


def _place_of(seen_limb: FittedLimb) -> control_shapes.Place:
    """The end of a limb."""
    geometry, tip = seen_limb.rest, seen_limb.limb.bone.matrix_local @ vector(seen_limb.rest.tip)
    return control_shapes.Place(
        tip, upright(seen_limb.limb.id_data), sum(geometry.lengths), vector(geometry.frame[:3, 1])
    )


def _drawing_of_target(
    limb: PoseBone, place: control_shapes.Place, normal: Vector | None, skin: dict[str, Any]
) -> control_shapes.Drawing:
    """How the control of a limb's tip is drawn; ``normal`` is that of a flat rig's plane."""
    if normal is not None:
        return control_shapes.drawing_of_flat(place, normal)
    end = tips.foot_of(limb)
    return (
        control_shapes.drawing_of_end(limb.id_data, end, skin, place) if end else control_shapes.drawing_of_tip(place)
    )


def pole_for(seen_limb: FittedLimb, target: BoneRef | Control | None = None) -> Control:
    """The control that a limb's knee is to point at, in its plane. Somewhat along it, lest it hide the knee from who
    looks at that from where it points. That of a leg hangs on the ``target``, if that is a bone of its rig."""
    limb, ob, fitted, frame = seen_limb.limb, seen_limb.limb.id_data, seen_limb.fit, seen_limb.rest.frame
    size, up = sum(seen_limb.rest.lengths), upright(ob).col[2]
    root, line = vector(frame[:3, 3]), vector(frame[:3, 1])
    ahead = Matrix.Rotation(seen_limb.turn, 3, line) @ vector(-frame[:3, 0])
    knee, tip = vector(seen_limb.rest.rest[1][:3, 3]), limb.bone.matrix_local @ vector(seen_limb.rest.tip)
    place = _before_knee(root, line, ahead, knee, size, POLE_ALONG)
    if line.dot(up) < -control_shapes.HANGING and (place - tip).dot(up) < POLE_ALONG * size:
        place = _before_knee(root, line, ahead, knee, size, -POLE_ALONG)
    along = (place - knee).dot(line) / size
    now, root_now = vector(unit_array(fitted.tip - fitted.frame[:3, 3], frame[:3, 1])), vector(fitted.frame[:3, 3])
    to_pole = vector(fitted.pole) - root_now
    ahead_now = (to_pole - now * to_pole.dot(now)).normalized()
    rest = Matrix.Translation(place) @ upright(ob).to_4x4()
    return Control(
        ob=ob,
        limb_name=limb.name,
        kind="pole",
        name=name_of_control(limb, "pole"),
        parent=_name_beside(seen_limb, target) or rig_root(limb, seen_limb.segments),
        rest=rest,
        size=POLE_SIZE * size,
        drawing=control_shapes.drawing_of_pole(rest, size),
        place=_before_knee(root_now, now, ahead_now, vector(fitted.knee), size, along),
    )


def _name_beside(seen_limb: FittedLimb, target: BoneRef | Control | None) -> str:
    """The name of a leg's target that a pole may hang on; nothing of others."""
    if target is None or not is_leg(seen_limb.limb, seen_limb.segments):
        return ""
    if isinstance(target, Control):
        return target.name
    return target[1] if target[0] == seen_limb.limb.id_data else ""


def _before_knee(root: Vector, line: Vector, ahead: Vector, knee: Vector, size: float, along: float) -> Vector:
    """A place for a pole: in the plane of a limb's line and where the knee points, a limb's ``size`` ahead of the knee,
    which may lie beside that plane, and a share of it along the line."""
    off = knee - root
    return root + line * (off.dot(line) + along * size) + ahead * (off.dot(ahead) + size)


def vector(numbers: Any) -> Vector:
    """An array as Blender's vector."""
    return Vector(numbers.tolist())
