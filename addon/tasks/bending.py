"""Giving limbs that are there another plane, or another target or pole of their own, so that they stay where they
are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bpy.types import Context, PoseBone

from ..blender.types import bones_of, is_armature, own_matrix, tag, takes_bones, view_layer_of
from ..finding.checking import check_editable
from ..limb.follow import Follow, is_gone
from ..limb.moving import move
from ..limb.rest_geometry import rest_geometry
from ..limb.settings import FLAT
from ..limb.storage import bones_of_limb, choices_of, is_control
from ..limb.whole import wholly
from ..limb.words import Message
from ..poses.fitting import fit, with_fit
from ..rigging.apply import apply
from ..rigging.description import Description, LimbRef, describe, ref_of
from ..rigging.features import foot_turn_off
from ..rigging.feet import at_influence, foot_follows, stand_of
from ..rigging.rolling import level
from .features import pole_moves
from .following import with_pole_follow
from .hinging import targets_off_plane
from .new_controls import Seen, pole_for, skins_of, target_for


@wholly
def set_plane(context: Context, lasts: Sequence[PoseBone], plane: str) -> list[Message]:
    """Have limbs bend in another plane; those that lack a pole for it get one. Gives warnings of targets that leave the
    plane of a hinge. Raises `Refused`."""
    limbs = [ref_of(last) for last in lasts]
    _let_turn(context, [last for last in lasts if choices_of(last)["plane"] == "SLIDE" != plane])
    _refit(context, lasts, lambda limb: limb.with_choice("plane", plane))
    return targets_off_plane(context, [ob.pose.bones[name] for ob, name in limbs]) if plane in FLAT else []


def _let_turn(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Have first bones that slide be by their own location where they are now."""
    for last in lasts:
        first: Any = bones_of_limb(last)[0]
        evaluated: Any = first.id_data.evaluated_get(context.evaluated_depsgraph_get())
        first.location = own_matrix(evaluated.pose.bones[first.name]).translation
        tag(last)
    view_layer_of(context).update()


@wholly
def make_targets(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Give limbs new targets, where their tips are. Raises `Refused`."""
    level(lasts)
    view_layer_of(context).update()
    _refit(context, lasts, _without_target)


def _without_target(limb: Description) -> Description:
    """A limb that is to get a new target, and with it a pole that was made for it and hangs on that."""
    target, pole = limb.target, limb.pole
    hangs = False
    if isinstance(pole, tuple) and isinstance(target, tuple) and is_control(*pole[:2]):
        (ob, name), above = pole[:2], None
        above = bones_of(ob)[name].parent if name else ob.parent
        hangs = above is not None and ((ob, above.name) if name else (above, "")) == target
    return limb._replace(target=None, pole=None if hangs else pole)


@wholly
def make_poles(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Give limbs new poles, where their knees point. Raises `Refused`."""
    _refit(context, lasts, lambda limb: limb.with_choice("plane", "POLE")._replace(pole=None))


def _refit(context: Context, lasts: Sequence[PoseBone], changed: Callable[[Description], Description]) -> None:
    for last in lasts:
        check_editable(last)
    limbs = [ref_of(last) for last in lasts]
    before = {limb: describe(limb) for limb in limbs}
    poles = {(pole.object, pole.bone): pole for pole in pole_moves(context, lasts)}
    with at_influence(context, lasts, 1.0):
        wishes = {limb: _refitted(context, limb, changed(before[limb])) for limb in limbs}
    apply(context, wishes)
    move(context, [pole for ref, pole in poles.items() if ref in [wish.pole for wish in wishes.values()]])


def _refitted(context: Context, limb: LimbRef, wish: Description) -> Description:
    """A limb that stays as it is, with what it lacks to follow."""
    last = limb[0].pose.bones[limb[1]]
    target, pole = (None if ref is None or is_gone(*ref) else ref for ref in (wish.target, wish.pole))
    follow, plane = Follow(*(target or (None, "")), *(pole or (None, ""))), wish.choices["plane"]
    fitted = fit(context, last, wish.segments, follow, plane, wish.tip, axis=wish.bend_axis or None)
    rest = rest_geometry(last, wish.segments, (), fitted.bend_axis, wish.tip)
    control_limb, kind = Seen(last, wish.segments, fitted, rest), _kind(limb, target)
    stand = stand_of(last) if foot_follows(last) else None
    new_target: Any = target or target_for(context, control_limb, kind, stand is not None, skins_of([last]))
    new_pole: Any = pole or (pole_for(control_limb, kind, new_target) if fitted.plane == "POLE" else None)
    wish = with_fit(wish, last, fitted if new_pole is pole else fitted._replace(swivel=0.0))
    wish = wish._replace(target=new_target, pole=new_pole)
    if stand:
        wish = wish._replace(foot_turn=foot_turn_off(context, limb, new_target, stand))
    return with_pole_follow(wish, limb)


def _kind(limb: LimbRef, target: Any) -> str:
    """What is made for a limb: what its target is, else a bone where its rig takes one."""
    is_bone = takes_bones(limb[0]) if target is None else bool(target[1]) and is_armature(target[0])
    return "BONES" if is_bone and takes_bones(limb[0]) else "EMPTIES"
