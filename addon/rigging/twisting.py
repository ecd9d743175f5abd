"""Letting bones of limbs be turned about their own lines."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import Context, PoseBone

from ..limb.settings import TWISTS
from ..limb.storage import has_twist, is_on_rig
from .apply import apply
from .description import Description, LimbRef, describe, ref_of


def takes_twist(last: PoseBone) -> bool:
    """Whether a limb can get twist: Blender keeps no new property of an override, and no new bones of a linked rig."""
    ob = last.id_data
    return not (ob.library or ob.override_library or (ob.data.library and is_on_rig(last)))


def give_twist(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Give those of these limbs that have none a twist, of 0."""
    limbs = [ref_of(last) for last in lasts if not has_twist(last)]
    apply(context, {limb: _twisted(limb) for limb in limbs})


def _twisted(ref: LimbRef) -> Description:
    limb = describe(ref)
    return limb._replace(sliders=limb.sliders | {twist.name: 0.0 for twist in TWISTS[: len(limb.segments)]})
