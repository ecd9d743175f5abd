"""What limbs may follow, and having them follow it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from bpy.types import Context, PoseBone

from ..blender.dependencies import BoneRef, Dependencies
from ..blender.types import bones_of, takes_bones, view_layer_of
from ..limb.follow import follow_of, is_gone
from ..limb.moving import move
from ..limb.settings import MADE_FOR_LIMB
from ..limb.storage import chain_bones, is_control
from ..limb.whole import wholly
from ..limb.words import Refused
from ..rigging.apply import apply
from ..rigging.description import Description, LimbRef, describe, ref_of
from ..rigging.features import ROLL_SLIDERS, are_bones, foot_turn_off, pole_follow_for
from ..rigging.feet import stand_of
from .features import pole_moves


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
    """Have limbs follow something as their ``target`` or ``pole``; raises `Refused`."""
    if followed not in [*pickable(context, lasts)]:
        raise Refused("Pick something that does not move with the limb")
    refollow(context, {ref_of(last): describe(ref_of(last)).following(role, followed) for last in lasts})


def refollow(context: Context, wishes: dict[LimbRef, Description]) -> None:
    """Have limbs follow what they are described to. A limb that gets a pole points at it; feet and poles that go along
    with something go on as they stand."""
    poles = {
        (pole.object, pole.bone): pole for pole in pole_moves(context, [ob.pose.bones[name] for ob, name in wishes])
    }
    for limb, wish in wishes.items():
        wishes[limb] = _standing(context, limb, describe(limb), wish)
    apply(context, wishes)
    move(context, [pole for ref, pole in poles.items() if ref in [wish.pole for wish in wishes.values()]])


def _standing(context: Context, limb: LimbRef, before: Description, wish: Description) -> Description:
    last, is_there = limb[0].pose.bones[limb[1]], wish.target is not None and not is_gone(*wish.target)
    if wish.pole is not None and before.pole is None:
        wish = wish.with_choice("plane", "POLE")
    if wish.target != before.target and before.foot_turn is not None:
        if before.roll and not takes_bones(limb[0]):
            template = "The foot of '{bone}' rolls with its control: change what it follows in the file of '{rig}'"
            raise Refused(template, bone=limb[1], rig=limb[0].name)
        turn = foot_turn_off(context, limb, wish.target, stand_of(last)) if is_there else None
        wish = wish._replace(foot_turn=turn)
        if turn is None:
            wish = wish._replace(roll=None).without_sliders(*ROLL_SLIDERS)
    if "pole_follow" in wish.sliders and (wish.target, wish.pole) != (before.target, before.pole):
        if not takes_bones(limb[0]):
            template = "The pole of '{bone}' goes with its control: change what it follows in the file of '{rig}'"
            raise Refused(template, bone=limb[1], rig=limb[0].name)
        wish = with_pole_follow(wish, limb)
    return wish


def with_pole_follow(wish: Description, limb: LimbRef) -> Description:
    """A limb with the Pole Follow that it has a slider for, for the target and pole that it is to have; without these
    there is none until they are picked."""
    if wish.pole_follow and are_bones(wish, limb) and follow_of(limb[0].pose.bones[limb[1]]).pairs[1] == wish.pole:
        return wish
    wish = wish._replace(pole_follow=None)
    if "pole_follow" in wish.sliders:
        with suppress(Refused):
            return pole_follow_for(wish, limb, Dependencies())
    return wish
