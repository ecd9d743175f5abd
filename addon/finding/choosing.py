"""Which limbs *Add* is to make of what is selected, and what they are to follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bpy.types import Context, Object, PoseBone
from mathutils import Vector

from ..blender.dependencies import BoneRef, Dependencies
from ..limb.follow import matrix_of
from ..limb.rest_geometry import rest_geometry
from ..limb.storage import chain_bones, is_control
from ..limb.tips import foot_of, tip_of
from ..limb.words import Message, Refused
from .branches import Suggestion, is_limb_bone, limb_at, limbs_suggested
from .checking import check

AT_TIP = 0.1
"""How far from a limb's tip what is meant as its target may begin, as a part of the limb's length."""


MOST = 12
"""So many bones are selected at most where some of them are meant as a limb's target and pole."""


class Chosen(NamedTuple):
    """What *Add* is to make of a selection."""

    limbs: list[Suggestion]
    followed: list[BoneRef]  # target and pole of a single limb, as far as they are selected
    skipped: list[tuple[str, Message]]  # the last bones of limbs that are left out, by name, with why


def chosen(context: Context, count: int = 0) -> Chosen:
    """The limbs that are selected, and the targets and poles selected with a single one, in whatever order. Where
    nothing that is selected looks like a limb, the active bone is taken for the last of one."""
    active = context.active_pose_bone
    bones = [*dict.fromkeys(filter(None, (active, *(context.selected_pose_bones or ()))))]
    limbs = limbs_suggested(bones, count)
    if len(limbs) > 1:
        choices = ((limb, _followed_with(context, limb, bones)) for limb in limbs) if len(bones) <= MOST else ()
        with_controls = next(((limb, followed) for limb, followed in choices if _are_controls(limb, followed)), None)
        return Chosen([with_controls[0]], with_controls[1], []) if with_controls else _without_refused(limbs)
    suggestion = limbs[0] if limbs else limb_at(bones[0], count)
    followed = _followed_with(context, suggestion, bones)
    if len(followed) > 2 and not limbs:
        raise Refused("No arm or leg is among what is selected: click the last bone of a limb")
    if len(followed) > 2:
        raise Refused("Besides the limb, select a target and a pole at most")
    return Chosen([suggestion], followed, [])


def _without_refused(limbs: Sequence[Suggestion]) -> Chosen:
    """Those of several limbs that IK can be put on; raises `Refused` if that is none."""
    taken: dict[PoseBone, PoseBone] = {}
    chosen_limbs = Chosen([], [], [])
    refusal: Refused | None = None
    dependencies = Dependencies()
    for last, segments in limbs:
        try:
            check(last, segments, dependencies)
            chain = chain_bones(last, segments)
            if shared := next((bone for bone in chain if bone in taken), None):
                raise Refused("It shares bones with {last}", last=taken[shared].name)
        except Refused as why:
            chosen_limbs.skipped.append((last.name, why.message))
            refusal = refusal or why
            continue
        taken |= dict.fromkeys(chain, last)
        chosen_limbs.limbs.append((last, segments))
    if not chosen_limbs.limbs and refusal:
        raise refusal
    return chosen_limbs


def _followed_with(context: Context, limb: Suggestion, bones: Sequence[PoseBone]) -> list[BoneRef]:
    """What is selected besides a limb, its foot and what carries it, and does not move with it: the nearest to its tip
    comes first."""
    last, segments = limb
    dependencies, names = Dependencies(), {bone.name for bone in chain_bones(last, segments)}
    followed: list[BoneRef] = [(bone.id_data, bone.name) for bone in bones if bone not in last.parent_recursive]
    followed = [ref for ref in followed if not dependencies.moves_with(ref, last.id_data, names)]
    followed += [(ob, "") for ob in _objects_chosen(context, last.id_data)]
    return sorted(followed, key=lambda ref: _distance_from_tip(context, last, ref))


def _distance_from_tip(context: Context, last: PoseBone, followed: BoneRef) -> float:
    """How far from the tip of a limb something is in the world."""
    depsgraph = context.evaluated_depsgraph_get()
    tip = matrix_of(last.id_data, last.name, depsgraph) @ Vector(tip_of(last).tolist())
    return float((matrix_of(followed[0], followed[1], depsgraph).translation - tip).length)


def _are_controls(limb: Suggestion, followed: Sequence[BoneRef]) -> bool:
    """Whether what is selected besides a limb is its target and pole, and not other limbs: it is no part of an arm or a
    leg, or it rests at the limb's tip, or hangs on what does."""
    last, segments = limb
    if not 1 <= len(followed) <= 2:
        return False
    tip, size = last.bone.matrix_local @ Vector(tip_of(last).tolist()), sum(rest_geometry(last, segments).lengths)
    for ob, name in followed:
        bone: Any = ob.pose.bones.get(name) if name and ob.pose else None
        if bone is None or not is_limb_bone(bone):
            continue
        near = [bone, *bone.parent_recursive] if ob == last.id_data else []
        if not any(
            (near_bone.bone.head_local - tip).length <= AT_TIP * size
            for near_bone in near
            if near_bone != foot_of(last)
        ):
            return False
    return True


def _objects_chosen(context: Context, rig: Object) -> list[Object]:
    """The selected objects that can be targets; none if a part of the character is among them: importers leave all
    that they made selected, and nobody means those."""
    objects = [ob for ob in context.selected_objects if ob.mode != "POSE"]
    return [] if any(_is_skin(ob, rig) for ob in objects) else objects


def _is_skin(ob: Object, rig: Object) -> bool:
    return rig.parent == ob or (
        ob.type == "MESH"
        and not is_control(ob, "")
        and (ob.parent == rig or any(modifier.type == "ARMATURE" for modifier in ob.modifiers))
    )
