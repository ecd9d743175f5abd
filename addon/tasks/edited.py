"""Limbs whose bones were edited: in Edit Mode, by Apply, by Join, or made by Symmetrize, which copies colours, but no
drivers."""

from __future__ import annotations

from bpy.types import Context, PoseBone

from ..blender.names import other_side
from ..blender.types import ArmatureObject, can_edit_bones
from ..limb.storage import is_on_rig, limbs_of
from ..rigging.controls import coloured_as_other_side
from ..rigging.state import is_of_this_version, unfit
from .modes import rebuild


def edited_limbs(ob: ArmatureObject) -> list[PoseBone]:
    """The limbs of a rig that don't fit its bones, and those without helper bones whose controls have the colours of
    the other side, while that side has its own."""
    limbs = limbs_of(ob)
    odd = {limb.name for limb in limbs if coloured_as_other_side(limb)}
    live = [limb for limb in limbs if not is_on_rig(limb) and limb.name in odd]
    copied = [limb for limb in live if (other := other_side(limb.name)) not in odd and other in ob.pose.bones]
    return [*dict.fromkeys([*filter(is_of_this_version, unfit(limbs)), *copied])]


def rebuild_edited(context: Context, ob: ArmatureObject) -> bool:
    """Rebuild the limbs of a rig that were edited; whether there are any. Raises `Refused`."""
    limbs = edited_limbs(ob) if can_edit_bones(ob) and limbs_of(ob) else []
    if limbs:
        rebuild(context, limbs)
    return bool(limbs)
