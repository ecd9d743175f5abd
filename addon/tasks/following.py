"""What limbs follow and in which plane they bend: another target, pole or plane, and controls of their own. They stay
where they are, but for those that are given another target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bpy.types import Context, PoseBone

from ..blender.dependencies import BoneRef
from ..blender.types import view_layer_of
from ..blender.words import Refused
from ..finding.checking import pickable
from ..limb.transactional import transactional
from ..rigging.apply import apply
from ..rigging.description import Description, LimbRef, describe, ref_of
from ..rigging.features import keeping_pose
from ..rigging.rolling import reset_roll
from .keeping_controls import keeping_poles
from .planned import let_turn, refitted, without_target

__all__ = ["follow", "make_poles", "make_targets", "pickable", "refollow", "set_plane"]


@transactional
def follow(context: Context, limbs: Sequence[PoseBone], role: str, followed: BoneRef) -> None:
    """Set the ``target`` or ``pole`` of limbs. Raises `Refused`."""
    if followed not in [*pickable(context, limbs)]:
        raise Refused("Pick something that does not move with the limb")
    refollow(context, {ref_of(limb): describe(ref_of(limb)).following(role, followed) for limb in limbs})


def refollow(context: Context, descriptions: Mapping[LimbRef, Description]) -> None:
    """Set target and pole of limbs as described. A limb that gets a pole points at it; feet and poles stay where they
    are."""
    with keeping_poles(context, [ob.pose.bones[name] for ob, name in descriptions]):
        apply(context, {limb: keeping_pose(context, limb, description) for limb, description in descriptions.items()})


@transactional
def set_plane(context: Context, limbs: Sequence[PoseBone], plane: str) -> None:
    """Set the plane that limbs bend in; limbs without a pole get one if the plane needs it. Raises `Refused`."""
    if plane != "SLIDE":
        let_turn(context, limbs)
    _refit(context, limbs, lambda description: description.with_choice("plane", plane))


def make_targets(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Make a new target for each limb, at its tip. Raises `Refused`."""
    reset_roll(limbs)
    view_layer_of(context).update()
    _refit(context, limbs, without_target)


def make_poles(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Make a new pole for each limb, where its knee points. Raises `Refused`."""
    _refit(context, limbs, lambda description: description.with_choice("plane", "POLE")._replace(pole=None))


@transactional
def _refit(context: Context, limbs: Sequence[PoseBone], changed: Callable[[Description], Description]) -> None:
    with keeping_poles(context, limbs):
        apply(context, refitted(context, [ref_of(limb) for limb in limbs], changed))
