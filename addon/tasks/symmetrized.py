"""Limbs that Blender's Symmetrize made, which copies no drivers."""

from __future__ import annotations

from bpy.types import Context, PoseBone

from ..blender.animation import drivers_of
from ..blender.names import other_side
from ..blender.types import ArmatureObject, can_edit_bones
from ..limb.storage import limbs_of
from ..rigging.state import unfit
from ..rigging.there import limbs_driving
from .modes import rebuild


def symmetrized(ob: ArmatureObject) -> list[PoseBone]:
    """The limbs of a rig that lack all their drivers, while those of the other side have theirs."""
    driven = {name for curve in drivers_of(ob) for name in limbs_driving(curve)}
    limbs = [limb for limb in limbs_of(ob) if limb.name not in driven and other_side(limb.name) in driven]
    return [limb for limb in unfit(limbs) if limb in limbs]


def rebuild_symmetrized(context: Context, ob: ArmatureObject) -> bool:
    """Rebuild the limbs of a rig that Symmetrize made; whether there are any. Raises `Refused`."""
    limbs = symmetrized(ob) if can_edit_bones(ob) else []
    if limbs:
        rebuild(context, limbs)
    return bool(limbs)
