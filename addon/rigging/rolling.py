"""Foot roll in one frame: roll and bank at 0, and toes that look the same in IK as in FK."""

from __future__ import annotations

from collections.abc import Sequence
from math import remainder, tau
from typing import Any

from bpy.types import Context, PoseBone
from mathutils import Quaternion

from ..blender.animation import driver_of, is_animated
from ..blender.announcing import announce
from ..blender.changes import Change
from ..blender.rotation import get_turn, rotation_channel, set_turn
from ..blender.types import path_to_custom, tag
from ..limb.foot_roll import flat_toes, has_roll
from ..limb.settings import SLIDER
from ..limb.storage import read_slider
from . import feet
from .features import ROLL_SLIDERS


def level(lasts: Sequence[PoseBone]) -> list[Change]:
    """Set roll and bank of limbs to 0 where no keys or drivers say what they are; what was changed."""
    changes = []
    for last in filter(has_roll, lasts):
        for name in ROLL_SLIDERS:
            path = path_to_custom(last.name, SLIDER[name].key)
            is_free = not is_animated(last.id_data, path) and driver_of(last.id_data, path) is None
            if is_free and read_slider(last, name):
                announce(last.id_data)
                changes.append(Change.of_property(last.id_data, last.name, f'["{SLIDER[name].key}"]'))
                last[SLIDER[name].key] = 0.0
                tag(last)
    return changes


def turn_toes(context: Context, lasts: Sequence[PoseBone]) -> list[Change]:
    """Turn toes that are kept flat by their own channels so that they are in IK as these have them in FK now; what was
    changed. What keeps them flat is a turn before their own."""
    rolled = [last for last in lasts if flat_toes(last)]
    toes = [toe for last in rolled for toe in flat_toes(last)]
    if not toes:
        return []
    with feet.at_influence(context, rolled, 1.0):
        in_ik = [feet.shown_turn(context, toe) for toe in toes]
    changes = []
    for toe, in_ik_now in zip(toes, in_ik, strict=True):
        own: Any = Quaternion(get_turn(toe))
        if abs(remainder(own.rotation_difference(in_ik_now).angle, tau)) > feet.ALIKE:
            announce(toe.id_data)
            changes.append(Change.of_property(toe.id_data, toe.name, rotation_channel(toe.rotation_mode)))
            set_turn(toe, (own @ in_ik_now.inverted() @ own)[:])
            tag(toe)
    return changes
