"""The foot or hand below a limb that is turned as the limb's target is, as far as the limb follows that: in FK it is
free to be posed. Its constraint goes with the chain."""

from __future__ import annotations

from math import degrees, pi
from typing import Any

from bpy.types import Context, PoseBone
from mathutils import Matrix, Quaternion

from ..chain_settings import ChainSettings, holder_of, on_change
from ..data.access import (
    bones_of,
    chain_settings,
    children_of,
    dismiss,
    is_of_library,
    place_of_setting,
    runs_on_rig,
    view_layer_of,
)
from ..data.animation import clear_if_empty, drivers_on
from ..data.rotation import CHANNELS, set_turn
from ..data.unkeyed import frame_held
from ..settings import ON_RIG
from ..targets import Target, unsheared_turn

ENDING = "Planar IK Target's Rotation"
"""What the constraint is called that turns a foot or hand as the target is turned."""

NEAR = 0.05
"""How far from a limb's tip the bone below may begin, in lengths of the lower bone."""

STILL = 1e-3
"""Radians by which an end may turn to its target's rotation, and not be said to."""


def end_of(lower: PoseBone) -> PoseBone | None:
    """The foot or hand of a limb: the bone that begins at its tip."""
    near = NEAR * lower.bone.length
    found = [child for child in children_of(lower) if (child.bone.head_local - lower.bone.tail_local).length <= near]
    return next((child for child in found if child.bone.use_connect), found[0] if found else None)


def world_of(context: Context, bone: PoseBone) -> Matrix:
    """A bone's transform in the world."""
    return Target(bone.id_data, bone.name).matrix(context.evaluated_depsgraph_get())


def keep_rotation(context: Context, lower: PoseBone, before: Matrix) -> str:
    """Have the bone below a limb copy the rotation of its chain's target, by the chain's influence while that is on;
    ``before`` was its transform in the world. Return a warning if it turns, or empty."""
    end, chain = end_of(lower), chain_settings(lower)
    if end is None:
        return f"No bone begins at the tip of '{lower.name}', to keep the target's rotation"
    made: Any = end.constraints.new("COPY_ROTATION")
    made.name = ENDING
    _follow(made, chain)
    drive_ends(lower)
    view_layer_of(context).update()
    turned = degrees(turned_by(before, world_of(context, end)))
    return f"'{end.name}' turns by {turned:.3g}° to the rotation of its target" if turned else ""


def turned_by(before: Matrix, after: Matrix) -> float:
    """The largest angle, in radians, by which an axis of a foot or hand turned in the world, or 0 if that is nothing to
    speak of."""
    axes = zip(before.to_3x3().col, after.to_3x3().col, strict=True)
    angle = max(was.angle(now, 0.0) for was, now in axes)
    return angle if angle > STILL else 0.0


def drive_ends(lower: PoseBone) -> None:
    """Have the constraints of feet and hands read what their limb's chain reads, on whatever it runs: its influence,
    and whether it is on, where that can be keyed. A library's are left as they are."""
    wanted = [place_of_setting(lower, name) for name in ("influence", "enabled")[: 1 + _is_switch_read(lower)]]
    for end, made in _made(lower):
        if is_of_library(end, made):
            continue
        curves = drivers_on(end.id_data, made.path_from_id("influence"))
        read = [each.targets[0] for curve in curves for each in curve.driver.variables]
        if [(each.id, each.data_path) for each in read] != wanted:
            with frame_held():
                driver = (curves[0] if curves else made.driver_add("influence")).driver
                driver.type = "MIN"
                for old in [*driver.variables]:
                    driver.variables.remove(old)
                for place in wanted:
                    target = driver.variables.new().targets[0]
                    target.id, target.data_path = place
    _mute_ends(lower)


def _is_switch_read(lower: PoseBone) -> bool:
    """Whether drivers can read if a chain is on: on the rig that is a property if it is animated only."""
    return not runs_on_rig(lower) or f"{ON_RIG}enabled" in holder_of(lower)


def _mute_ends(lower: PoseBone) -> None:
    """Let the constraints of feet and hands rest while a chain is off, where no driver reads that."""
    is_off = not (_is_switch_read(lower) or chain_settings(lower).enabled)
    for end, made in _made(lower):
        if made.mute != is_off and not is_of_library(end, made):
            made.mute = is_off


def let_go_of_rotation(lower: PoseBone) -> None:
    """Take away what `keep_rotation` made."""
    for end, made in _kept(lower):
        ob: Any = end.id_data
        for curve in drivers_on(ob, made.path_from_id("influence")):  # first: Blender 4.4 crashes on one that lost it
            ob.animation_data.drivers.remove(curve)  # `driver_remove` has the rig's keys undo what is posed without
        dismiss(end, made)
        clear_if_empty(ob)


def turned_ends(lower: PoseBone) -> list[PoseBone]:
    """The feet or hands of a limb that are turned as its target is."""
    return [end for end, made in _kept(lower) if made.target]


def goal_of_own(context: Context, lower: PoseBone, end: PoseBone) -> Matrix:
    """The transform in the world as which a limb's target is to be turned, for its foot or hand to be turned as by its
    own pose alone."""
    goal, space = _goal_as_copied(context, lower, end)
    rig = end.id_data.evaluated_get(context.evaluated_depsgraph_get())
    evaluated = rig.pose.bones[end.name]
    basis: Any = evaluated.matrix_basis
    own: Matrix = rig.convert_space(pose_bone=evaluated, matrix=basis, from_space="LOCAL", to_space=space)
    if goal.is_negative:
        own = _misread(unsheared_turn(own), end).to_matrix().to_4x4()
    return rig.matrix_world @ own if space == "POSE" else own


def adopt_turn(context: Context, lower: PoseBone, end: PoseBone) -> None:
    """Make the rotation of a limb's target the own pose of its foot or hand."""
    goal, space = _goal_as_copied(context, lower, end)
    turn = _misread(unsheared_turn(goal), end) if goal.is_negative else unsheared_turn(goal)
    rig = end.id_data.evaluated_get(context.evaluated_depsgraph_get())
    evaluated = rig.pose.bones[end.name]
    shown = evaluated.matrix if space == "POSE" else rig.matrix_world @ evaluated.matrix
    place, _, size = shown.decompose()
    turned = Matrix.LocRotScale(place, turn, size)
    own = rig.convert_space(pose_bone=evaluated, matrix=turned, from_space=space, to_space="LOCAL")
    own_turn: Any = unsheared_turn(own)
    set_turn(end, own_turn[:])


def _goal_as_copied(context: Context, lower: PoseBone, end: PoseBone) -> tuple[Matrix, str]:
    """The transform that a foot or hand copies the rotation of, in the space in which it does, and that space."""
    made = next(made for bone, made in _kept(lower) if bone == end)
    goal = Target(made.target, made.subtarget)
    depsgraph = context.evaluated_depsgraph_get()
    if made.owner_space == "POSE":
        return bones_of(goal.object.evaluated_get(depsgraph))[goal.bone].matrix, "POSE"
    return goal.matrix(depsgraph), "WORLD"


def _misread(turn: Quaternion, bone: PoseBone) -> Quaternion:
    """What *Copy Rotation* makes of a mirrored transform that is turned so, and the other way round: it goes by the
    Euler angles, which Blender reads off the mirrored axes."""
    order = bone.rotation_mode if bone.rotation_mode not in CHANNELS else "XYZ"
    angles = turn.to_euler(order)
    first, middle, last = map("XYZ".index, order)
    angles[first] += pi
    angles[middle] *= -1.0
    angles[last] += pi
    return angles.to_quaternion()


def _follow(made: Any, chain: ChainSettings) -> None:
    """Have a constraint copy the rotation of a chain's target: of a bone of the same rig as the rig has it, since in
    the world Blender reads the rotation of a mirrored transform as another one; of anything else in the world."""
    made.target, made.subtarget = chain.target, chain.subtarget
    is_of_rig = bool(chain.subtarget) and chain.target == made.id_data
    made.owner_space = made.target_space = "POSE" if is_of_rig else "WORLD"


def _made(lower: PoseBone) -> list[tuple[PoseBone, Any]]:
    """What `keep_rotation` made below a limb, with the bones that have it."""
    found: list[Any] = [(end, each) for end in children_of(lower) for each in end.constraints]
    return [(end, each) for end, each in found if each.name.startswith(ENDING)]


def _kept(lower: PoseBone) -> list[tuple[PoseBone, Any]]:
    """The same without what was dismissed of a library."""
    return [(end, each) for end, each in _made(lower) if not (each.mute and is_of_library(end, each))]


def _on_change(changed: ChainSettings, is_aim: bool) -> None:
    """A chain follows something else now, or may be on or off: so does the rotation of its foot or hand."""
    if changed.bone.id_data.is_evaluated:
        return
    if is_aim:
        for _, made in _kept(changed.bone):
            _follow(made, changed)
    else:
        _mute_ends(changed.bone)


def register() -> None:
    """Start to listen."""
    on_change.append(_on_change)


def unregister() -> None:
    """Stop listening."""
    on_change.remove(_on_change)
