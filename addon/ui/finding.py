"""Which limbs a person means: by their own bones, by target or pole, and by the foot or hand below."""

from __future__ import annotations

from typing import Any

from bpy.types import Context, PoseBone

from ..blender.types import is_armature
from ..blender.words import Refused
from ..tasks import selection
from ..tasks.limbs import check_complete, is_limb
from ..tasks.selection import followers, is_in_view, limbs_of_bones
from .remembering import bone_of, cached_until_rebuilt, name_of, selection_in


def selected_limbs(context: Context) -> list[PoseBone]:
    """The selected limbs, each once: in Pose Mode by their bones, target, pole or foot; in Object Mode by what they
    follow."""
    if context.mode == "OBJECT":
        return followers(context, [(ob, "") for ob in context.selected_objects])
    bones: list[Any] = list(context.selected_pose_bones or ()) or [context.active_pose_bone]
    return limbs_of_bones(context, [bone for bone in bones if bone and is_in_view(context, bone.id_data)], _around)


def active_limb(context: Context) -> PoseBone | None:
    """The limb that the panel shows: of the selected ones that of the active bone or object, else the first."""
    return next(iter(limbs_active_first(context)), None)


def _around(limb: PoseBone) -> frozenset[str]:
    """What `selection.bones_beside` gives, looked up once."""
    around: frozenset[str] = cached_until_rebuilt(("around", name_of(limb)), lambda: selection.bones_beside(limb))
    return around


def limbs_active_first(context: Context) -> list[PoseBone]:
    """`selected_limbs`, that of the active bone or object first; cached for a selection."""
    names = cached_until_rebuilt(
        ("limbs", selection_in(context)), lambda: [*map(name_of, _limbs_active_first(context))]
    )
    limbs = [limb for name in names if (limb := bone_of(name)) is not None and is_limb(limb)]
    return limbs if len(limbs) == len(names) else _limbs_active_first(context)


def _limbs_active_first(context: Context) -> list[PoseBone]:
    limbs = selected_limbs(context)
    if len(limbs) < 2:
        return limbs
    if context.mode == "OBJECT":
        ob = context.active_object
        active = followers(context, [(ob, "")]) if ob else []
    else:
        bone = context.active_pose_bone
        active = limbs_of_bones(context, [bone], _around) if bone else []
    return [*(limb for limb in limbs if limb in active[:1]), *(limb for limb in limbs if limb not in active[:1])]


def bones_selected(context: Context) -> list[PoseBone]:
    """The bones that are selected in Pose Mode."""
    return [*(context.selected_pose_bones or ())] if context.mode == "POSE" else []


def require_limbs(context: Context, with_broken: bool = False) -> list[PoseBone]:
    """`selected_limbs`; raises `Refused` if there is none, or one lacks bones, unless ``with_broken``."""
    limbs = selected_limbs(context)
    if not limbs:
        raise Refused("Select a limb, its target or its pole")
    for limb in () if with_broken else limbs:
        check_complete(limb)
    return limbs


def rig_in_view(context: Context) -> Any:
    """The armature of the active limb, else the active object if it is an armature."""
    limb = active_limb(context)
    ob = limb.id_data if limb else context.object
    return ob if ob and is_armature(ob) else None
