"""Limbs described with what they may have besides their mechanism: a foot that follows, foot roll, pole follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bpy.types import Context, PoseBone
from mathutils import Matrix

from ..blender import animation, keying
from ..blender.dependencies import BoneRef, Dependencies
from ..blender.types import ArmatureObject, Message, Refused, can_edit_bones
from ..finding.checking import check_solvers_above
from ..limb import names, storage, tips
from ..limb.features import BY_NAME, pole_follow
from ..limb.features.pole_follow import NEEDS, PoleFollow
from ..limb.features.roll import Roll
from ..limb.follow import change_of, follow_of, has_roll, is_gone
from ..limb.rest_geometry import RestGeometry, rest_geometry_of
from . import feet
from .controls import Control
from .description import Description, LimbRef, describe, ref_of


def foot_turn_off(
    context: Context, ref: LimbRef, target: BoneRef | Control | None, foot: Matrix
) -> tuple[float, float, float] | None:
    """How a foot that stands so in the world is turned off a target, as Euler angles; None without a target. That
    may be yet to be made."""
    if target is None:
        return None
    if not isinstance(target, Control):
        return feet.turn_off(ref[0].pose.bones[ref[1]], target, foot, context.evaluated_depsgraph_get())
    turn = target.turn or target.rest.to_3x3()
    return feet.turn_between(turn.to_quaternion().to_matrix(), ref[0].matrix_world.inverted_safe() @ foot)


def gets_foot_roll(description: Description) -> bool:
    """Whether Add makes a foot roll for this limb if asked to: its foot follows the target, and is no hand."""
    return description.foot_turn is not None and not names.has_word(description.foot, names.HANDS)


def roll_for(
    description: Description,
    ref: LimbRef,
    dependencies: Dependencies,
    geometry: RestGeometry | None = None,
    lying: feet.Lying | None = None,
) -> Description:
    """A limb with a foot roll, its pivots kept, mirrored from the other side, or found. By its ``geometry`` where it
    is yet to be made, and as its foot was seen ``lying``."""
    limb: Any = ref[0].pose.bones[ref[1]]
    pivots = (
        feet.pivots_of(limb)
        or feet.pivots_of_image(limb)
        or feet.pivots_found(limb, geometry or rest_geometry_of(limb), lying)
    )
    toes = feet.toes_free(ref[0], description.foot, dependencies)
    return description.with_sliders_of("foot_roll")._replace(roll=Roll(dict(pivots), toes))


def with_pivots_found(description: Description, ref: LimbRef, dependencies: Dependencies) -> Description:
    """A limb that has a foot roll with its pivots found anew; without it, where the foot no longer follows."""
    if description.roll is None:
        return description
    if description.foot_turn is None:
        return description.without("foot_roll")
    return roll_for(description, ref, dependencies)


def with_pivots_mirrored(
    description: Description, ob: ArmatureObject, across: Matrix, dependencies: Dependencies
) -> Description:
    """A limb with its foot roll mirrored ``across`` the armature, as it has that from the other side. Without it,
    where it has no foot."""
    roll = description.roll
    if roll is None or not description.foot:
        return description._replace(roll=None)
    pivots, toes = feet.mirrored_pivots(roll.pivots, across), feet.toes_free(ob, description.foot, dependencies)
    return description._replace(roll=Roll(pivots, toes))


def pole_follow_for(description: Description, ref: LimbRef, dependencies: Dependencies) -> Description:
    """A limb with Pole Follow; raises `Refused` where that can't be. A pole that hung on the target goes between
    that and the hips."""
    check_pole_follow(description, ref, dependencies)
    pole, hips = description.pole, _hips(description, ref)
    hung = PoleFollow(hips, True) if _is_pole_on_target(description) else PoleFollow(_above(pole), False)
    if isinstance(pole, Control):
        description = description._replace(pole=pole._replace(parent=""))
    value = description.sliders.get("pole_follow", float(hung.on_target))
    return description.with_slider("pole_follow", value)._replace(pole_follow=hung)


def half_with_hips(description: Description, ref: LimbRef) -> Description:
    """A new limb whose pole goes half with the target and half with the hips, if it would hang on the target. So it
    stays in front of the knee through a lunge, a high knee and a turn."""
    if isinstance(description.pole, Control) and _is_pole_on_target(description) and _hips(description, ref):
        return with_pole_follow(description.with_slider("pole_follow", 0.5), ref)
    return description


def _is_pole_on_target(description: Description) -> bool:
    target: Any = description.target
    return _above(description.pole) == (target.name if isinstance(target, Control) else target[1])


def _hips(description: Description, ref: LimbRef) -> str:
    """The bone that a limb hangs on, or nothing."""
    above = storage.bones_of_limb(ref[0].pose.bones[ref[1]], description.segments)[0].parent
    return above.name if above else ""


def _above(one: Any) -> str:
    """What a control hangs on that is there or is to be made, or nothing."""
    if isinstance(one, Control):
        return one.parent
    above = one[0].pose.bones[one[1]].parent
    return above.name if above else ""


def check_pole_follow(description: Description, ref: LimbRef, dependencies: Dependencies) -> None:
    """Refuse Pole Follow of a limb whose target and pole are not bones of its rig, each for itself."""
    ob, name = ref
    if not follows_own_bones(description, ref):
        raise Refused(NEEDS, bone=name)
    if isinstance(description.pole, Control):
        return
    pole = ob.pose.bones[description.pole[1]]  # type: ignore[index]  # it is there
    if pole_follow.CONSTRAINT in pole.constraints:
        template = "'{pole}' follows the target of another limb: make a pole for '{bone}'"
        raise Refused(template, pole=pole.name, bone=name)
    if not isinstance(description.target, Control) and dependencies.moves_with(description.target, ob, {pole.name}):  # type: ignore[arg-type]
        template = "'{target}' moves with the pole '{pole}': make another pole"
        raise Refused(template, target=description.target[1], pole=pole.name)  # type: ignore[index]


def follows_own_bones(description: Description, ref: LimbRef) -> bool:
    """Whether target and pole of a limb are bones of its own rig, or will be."""
    followed = (description.target, description.pole)
    return all(isinstance(one, Control) or _is_there(one, ref[0]) for one in followed)


def _is_there(ref: BoneRef | None, ob: ArmatureObject) -> bool:
    return ref is not None and ref[0] == ob and bool(ref[1]) and ref[1] in ob.pose.bones


def with_pole_follow(description: Description, ref: LimbRef) -> Description:
    """A limb with Pole Follow for the target and pole that it is to have, if it has the slider for it. Until they
    are picked there is none, and with such as can't have it, no slider."""
    if (
        description.pole_follow
        and follows_own_bones(description, ref)
        and follow_of(ref[0].pose.bones[ref[1]]).pairs[1] == description.pole
    ):
        return description
    description = description._replace(pole_follow=None)
    if "pole_follow" not in description.sliders or not (description.target and description.pole):
        return description
    try:
        return pole_follow_for(description, ref, Dependencies())
    except Refused:
        return description.without("pole_follows")


def keeping_pose(context: Context, ref: LimbRef, description: Description) -> Description:
    """A limb that is to follow something else, as its foot and pole stand; one that gets a pole points at it."""
    before = describe(ref)
    limb, is_there = ref[0].pose.bones[ref[1]], description.target is not None and not is_gone(*description.target)
    if description.pole is not None and before.pole is None:
        description = description.with_choice("plane", "POLE")
    if description.target != before.target and before.foot_turn is not None:
        if before.roll and not can_edit_bones(ref[0]):
            template = "The foot of '{bone}' rolls with its control: change what it follows in the file of '{rig}'"
            raise Refused(template, bone=ref[1], rig=ref[0].name)
        turn = foot_turn_off(context, ref, description.target, feet.foot_matrix_of(limb)) if is_there else None
        description = description._replace(foot_turn=turn)
        if turn is None:
            description = description.without("foot_roll")
    if "pole_follow" in description.sliders and (description.target, description.pole) != (before.target, before.pole):
        if not can_edit_bones(ref[0]):
            template = "The pole of '{bone}' goes with its control: change what it follows in the file of '{rig}'"
            raise Refused(template, bone=ref[1], rig=ref[0].name)
        description = with_pole_follow(description, ref)
    return description


def with_foot(context: Context, limb: PoseBone) -> Description:
    """A limb with a foot that follows, as it does already, or as it stands now. Raises `Refused` where it can't."""
    if tips.foot_of(limb) is None:
        raise Refused("No foot or hand begins at the tip of '{bone}'", bone=limb.name)
    if is_gone(*follow_of(limb).pairs[0]):
        raise Refused("Pick a target for '{bone}', or make one", bone=limb.name)
    description = describe(ref_of(limb))
    if description.foot_turn is not None:
        return description
    target: Any = description.target
    turn = feet.turn_off(limb, target, feet.foot_matrix_of(limb), context.evaluated_depsgraph_get())
    return description._replace(foot_turn=turn)


def live_for_now(
    descriptions: Mapping[LimbRef, Description], dependencies: Dependencies
) -> tuple[dict[LimbRef, Description], list[Message]]:
    """Limbs that are to be made, on the rig; where one of them can't be, all stay live, and a warning says why."""
    try:
        for (ob, name), description in descriptions.items():
            limb = ob.pose.bones[name]
            check_solvers_above(limb, storage.chain_bones(limb, description.segments), dependencies)
    except Refused as why:
        return {**descriptions}, [Message("The limb is Live for now: {why}", why=why.message.translated)]
    return {ref: description._replace(mode="RIG") for ref, description in descriptions.items()}, []


def level_feet(limbs: Sequence[PoseBone]) -> list[keying.Change]:
    """Set roll and bank of limbs to 0 where no keys or drivers set them; returns the changes."""
    changes = []
    for limb in filter(has_roll, limbs):
        for name in BY_NAME["foot_roll"].keys:
            path = storage.path_to_slider(limb.name, name)
            is_free = not animation.is_animated(limb.id_data, path) and animation.driver_of(limb.id_data, path) is None
            if is_free and storage.read_slider(limb, name):
                changes.append(change_of(limb, name))
                storage.write_slider(limb, name, 0.0)
    return changes
