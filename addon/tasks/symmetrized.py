"""Limbs that Blender's Symmetrize made, which copies colours, but no drivers."""

from __future__ import annotations

from bpy.types import Context, PoseBone

from ..blender.animation import drivers_of
from ..blender.names import other_side
from ..blender.types import ArmatureObject, can_edit_bones
from ..limb.storage import is_on_rig, limbs_of
from ..rigging.controls import coloured_as_other_side
from ..rigging.state import unfit
from ..rigging.there import limbs_driving
from .modes import rebuild


def symmetrized(ob: ArmatureObject) -> list[PoseBone]:
    """The limbs of a rig that lack all their drivers, while those of the other side have theirs; and those without
    helper bones whose controls have the colours of that side, while its own have them too."""
    driven = {name for curve in drivers_of(ob) for name in limbs_driving(curve)}
    limbs = [limb for limb in limbs_of(ob) if limb.name not in driven and other_side(limb.name) in driven]
    odd = {limb.name for limb in limbs_of(ob) if coloured_as_other_side(limb)}
    live = [limb for limb in limbs_of(ob) if not is_on_rig(limb) and limb.name in odd]
    copied = [limb for limb in live if (other := other_side(limb.name)) not in odd and other in ob.pose.bones]
    return [*dict.fromkeys([*(limb for limb in unfit(limbs) if limb in limbs), *copied])]


def rebuild_symmetrized(context: Context, ob: ArmatureObject) -> bool:
    """Rebuild the limbs of a rig that Symmetrize made; whether there are any. Raises `Refused`."""
    limbs = symmetrized(ob) if can_edit_bones(ob) else []
    if limbs:
        rebuild(context, limbs)
    return bool(limbs)
