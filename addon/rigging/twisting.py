"""Letting bones of limbs be turned about their own lines."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import Context, PoseBone

from ..blender.types import tag
from ..limb.foot_roll import goal_of
from ..limb.settings import TWISTS
from ..limb.storage import has_twist, is_on_rig, make_slider
from . import build
from .spec import spec_of


def takes_twist(last: PoseBone) -> bool:
    """Whether a limb can get twist: Blender keeps no new property of an override, and no new bones of a linked rig."""
    ob = last.id_data
    return not (ob.library or ob.override_library or (ob.data.library and is_on_rig(last)))


def give_twist(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Give those of these limbs that have none a twist, of 0, and those on the rig a mechanism for it."""
    named = [(last.id_data, last.name) for last in lasts if not has_twist(last)]
    on_rig = [(ob, name) for ob, name in named if is_on_rig(ob.pose.bones[name])]
    for ob, name in named:
        make_slider(ob.pose.bones[name], TWISTS[0])
        tag(ob.pose.bones[name])
    if on_rig:
        build.remove(context, [ob.pose.bones[name] for ob, name in on_rig])
        limbs = [ob.pose.bones[name] for ob, name in on_rig]
        build.build(context, [(last.id_data, spec_of(last), goal_of(last)) for last in limbs])
