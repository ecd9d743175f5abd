"""Pole Follow: how far the pole of a limb goes with its target, from 0, with what it hangs on, to 1.

An Armature constraint with two driven weights on the pole itself, which hangs on nothing meanwhile: the pole is seen
where it acts, its own channels go on top, and a snap moves it as whatever a constraint holds. What the pole hung on is
the first of the constraint's targets, so that Blender itself keeps its name right; one that hung on nothing gets a
helper bone there that never moves."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from zlib import crc32

from bpy.types import Context, PoseBone

from ..blender.animation import drivers_of, drop_if_empty, stop
from ..blender.dependencies import Dependencies
from ..blender.editing import collect, edit_mode, frame_held, remove_bones, unkeyed_kept
from ..blender.fcurves import reset
from ..blender.types import ArmatureObject, path_to_bone, path_to_custom, split_path, tag, takes_bones, view_layer_of
from ..finding.checking import check_editable
from ..limb.follow import follow_of, is_gone, matrix_of
from ..limb.moving import Move, move
from ..limb.pole_follow import CONSTRAINT, NEEDS, STILL, has_pole_follow
from ..limb.rest_geometry import rest_geometry_of
from ..limb.settings import MADE_FOR_LIMB, SLIDER
from ..limb.storage import group_of, has_slider, make_slider, write_slider
from ..limb.whole import wholly
from ..limb.words import Refused
from .build import COLLECTION

KEY = SLIDER["pole_follow"].key

ON_TARGET = "pole_on_target"
"""What the group of a limb says whose pole hung on the target itself."""

WEIGHTS = ("1-min(max(f,0),1)", "min(max(f,0),1)")
"""What the weights of the constraint's targets are by the slider."""


@wholly
def give_pole_follow(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Let the poles of limbs that do not do so yet go with their targets as far as a slider says: 0, or 1 of a pole
    that hung on the target. Nothing moves. Raises `Refused`."""
    lasts = [last for last in lasts if not has_pole_follow(last)]
    for last in lasts:
        _check(last)
    for ob, name in [(last.id_data, last.name) for last in lasts]:
        last = ob.pose.bones[name]
        make_slider(last, SLIDER["pole_follow"])
        pole, target = _ends(last)
        write_slider(last, "pole_follow", pole.parent == target)
        _make(context, last)
    view_layer_of(context).update()


@wholly
def take_pole_follow(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Have poles hang on what they hung on before, where they are now."""
    lasts = [last for last in lasts if has_pole_follow(last)]
    for last in lasts:
        check_editable(last)
    moves = _moves(context, lasts)
    drop_pole_follow(context, lasts)
    move(context, moves)


def drop_pole_follow(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Take the constraints, sliders and keys of Pole Follow away."""
    for ob, name in [(last.id_data, last.name) for last in lasts if has_pole_follow(last)]:
        _unmake(context, ob.pose.bones[name])
        with unkeyed_kept(context, [ob]), frame_held():
            stop(ob, [path_to_custom(name, KEY)])
        last = ob.pose.bones[name]
        if has_slider(last, "pole_follow"):
            del last[KEY]
        drop_if_empty(ob)
        tag(last)
    view_layer_of(context).update()


def rebuild_pole_follow(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Make Pole Follow of limbs anew, for the target and pole that they have now; without these there is none until
    they are picked."""
    for ob, name in [(last.id_data, last.name) for last in lasts if has_pole_follow(last)]:
        last = ob.pose.bones[name]
        if not takes_bones(ob):
            template = "The pole of '{bone}' goes with its control: change what it follows in the file of '{rig}'"
            raise Refused(template, bone=name, rig=ob.name)
        moves = _moves(context, [last])
        _unmake(context, last)
        with suppress(Refused):
            _check(ob.pose.bones[name])
            _make(context, ob.pose.bones[name])
        move(context, moves)
    view_layer_of(context).update()


def _check(last: PoseBone) -> None:
    check_editable(last)
    follow, ob = follow_of(last), last.id_data
    for followed, bone in follow.pairs:
        if followed != ob or not bone or is_gone(followed, bone):
            raise Refused(NEEDS, bone=last.name)
    pole, target = _ends(last)
    if CONSTRAINT in pole.constraints:
        template = "'{pole}' follows the target of another limb: make a pole for '{bone}'"
        raise Refused(template, pole=pole.name, bone=last.name)
    if Dependencies().moves_with((ob, target.name), ob, {pole.name}):
        template = "'{target}' moves with the pole '{pole}': make another pole"
        raise Refused(template, target=target.name, pole=pole.name)


def _ends(last: PoseBone) -> tuple[PoseBone, PoseBone]:
    """The pole and the target of a limb, which are bones of its rig."""
    follow, bones = follow_of(last), last.id_data.pose.bones
    return bones[follow.pole_subtarget], bones[follow.subtarget]


def _moves(context: Context, lasts: Sequence[PoseBone]) -> list[Move]:
    """What has the poles of limbs seen where they are now."""
    depsgraph = context.evaluated_depsgraph_get()
    moves = []
    for last in lasts:
        pole = follow_of(last).pairs[1]
        if not is_gone(*pole):
            matrix = matrix_of(*pole, depsgraph)  # type: ignore[arg-type]  # it is there
            size = sum(rest_geometry_of(last).lengths)
            moves.append(Move(*pole, matrix.translation, matrix.to_quaternion(), size))  # type: ignore[arg-type]
    return moves


def _make(context: Context, last: PoseBone) -> None:
    ob, name = last.id_data, last.name
    pole, target = (bone.name for bone in _ends(last))
    group: Any = group_of(last)
    above = ob.pose.bones[pole].parent
    if above is not None and above.name == target:
        group[ON_TARGET] = True
        above = above.parent
    root = above.name if above else ""
    with unkeyed_kept(context, [ob]):
        with edit_mode(context, ob):
            if not root:
                root = _make_still(ob, name)
            ob.data.edit_bones[pole].parent = None
        with frame_held():
            if _is_still(ob, root):
                collect(ob, ob.data.bones[root], COLLECTION).is_visible = False
            _constrain(ob, name, pole, (root, target))
    tag(ob.pose.bones[name])


def _make_still(ob: ArmatureObject, last: str) -> str:
    bone: Any = ob.data.edit_bones.new(f"MCH-{crc32(f'{ob.name} {last} pole'.encode()):08x}-still")
    bone.tail = (0.0, 0.0, ob.data.edit_bones[last].length)
    bone[MADE_FOR_LIMB] = STILL
    bone.use_deform = bone.select = bone.select_head = bone.select_tail = False
    return str(bone.name)


def _constrain(ob: ArmatureObject, last: str, pole: str, followed: tuple[str, str]) -> None:
    constraints = ob.pose.bones[pole].constraints
    carrying: Any = constraints.new("ARMATURE")
    carrying.name, carrying.show_expanded = CONSTRAINT, False
    constraints.move(len(constraints) - 1, 0)
    carrying = constraints[CONSTRAINT]
    for bone, weight in zip(followed, WEIGHTS, strict=True):
        target = carrying.targets.new()
        target.target, target.subtarget = ob, bone
        curve = target.driver_add("weight")
        reset(curve)
        curve.driver.type = "SCRIPTED"
        variable = curve.driver.variables.new()
        variable.name = "f"
        variable.targets[0].id = ob
        variable.targets[0].data_path = path_to_custom(last, KEY)
        curve.driver.expression = weight


def _unmake(context: Context, last: PoseBone) -> None:
    """Take the constraints away that were made for a limb, on its pole and on one that it had before."""
    ob, group = last.id_data, group_of(last)
    key, on_target = path_to_custom(last.name, KEY), bool(group.pop(ON_TARGET, False))
    poles = {follow_of(last).pole_subtarget}
    for curve in drivers_of(ob):
        bone, path = split_path(curve.data_path)
        reads = any(target.data_path == key for variable in curve.driver.variables for target in variable.targets)
        if reads and path.startswith(f'constraints["{CONSTRAINT}"]'):
            poles.add(bone)
    parents: dict[str, str] = {}
    with unkeyed_kept(context, [ob]), frame_held():
        for pole in poles & set(ob.pose.bones.keys()):
            constraint: Any = ob.pose.bones[pole].constraints.get(CONSTRAINT)
            if constraint is None:
                continue
            names = [target.subtarget for target in constraint.targets]
            parents[pole] = names[1] if on_target else names[0]
            prefix = f'{path_to_bone(pole)}.constraints["{CONSTRAINT}"]'
            for curve in [curve for curve in drivers_of(ob) if curve.data_path.startswith(prefix)]:
                ob.animation_data.drivers.remove(curve)
            ob.pose.bones[pole].constraints.remove(constraint)
    still = {name for name in parents.values() if _is_still(ob, name)}
    with edit_mode(context, ob):
        edited = ob.data.edit_bones
        for pole, parent in parents.items():
            edited[pole].parent = None if parent in still else edited.get(parent)
    used = {
        target.subtarget
        for bone in ob.pose.bones
        for constraint in bone.constraints
        if constraint.name == CONSTRAINT
        for target in getattr(constraint, "targets", ())
    }
    remove_bones(context, {ob: still - used}, COLLECTION)


def _is_still(ob: ArmatureObject, name: str) -> bool:
    bone: Any = ob.data.bones.get(name)
    return bone is not None and bone.get(MADE_FOR_LIMB) == STILL
