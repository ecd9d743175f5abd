"""What limbs may follow, and having them follow it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bpy.types import Context, PoseBone

from ..blender.dependencies import BoneRef, Dependencies
from ..blender.types import bones_of, view_layer_of
from ..limb.settings import MADE_FOR_LIMB
from ..limb.storage import chain_bones, is_control, limb_constraint_of
from ..limb.whole import wholly
from ..limb.words import Refused
from .defining import set_followed


def pickable(context: Context, lasts: Sequence[PoseBone]) -> Iterator[BoneRef]:
    """The bones of the limbs' rigs, then the objects of the view layer: but not what moves with the limbs."""
    dependencies = Dependencies()
    lines = {last: {bone.name for bone in chain_bones(last)} for last in lasts}
    rigs = dict.fromkeys(last.id_data for last in lasts)
    layer: Any = view_layer_of(context)
    bones = [(ob, bone.name) for ob in rigs for bone in bones_of(ob)]
    bones = [ref for ref in bones if MADE_FOR_LIMB not in ref[0].data.bones[ref[1]] or is_control(*ref)]
    for ref in (*bones, *((ob, "") for ob in layer.objects if ob not in rigs)):
        if not any(dependencies.moves_with(ref, last.id_data, chain) for last, chain in lines.items()):
            yield ref


@wholly
def follow(context: Context, lasts: Sequence[PoseBone], role: str, followed: BoneRef) -> None:
    """Have limbs follow something as their ``target`` or ``pole_target``; raises `Refused`."""
    if followed not in [*pickable(context, lasts)]:
        raise Refused("Pick something that does not move with the limb")
    ob, bone = followed
    for last in lasts:
        setattr(limb_constraint_of(last), role.replace("target", "subtarget"), bone)
        set_followed(last, role, ob)  # and with it all that follows
