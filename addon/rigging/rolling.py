"""Foot roll in one frame: roll and bank at 0."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import PoseBone

from ..blender.animation import driver_of, is_animated
from ..blender.announcing import announce
from ..blender.changes import Change
from ..blender.types import path_to_custom, tag_rig
from ..limb.foot_roll import has_roll
from ..limb.moving import change_of
from ..limb.settings import SLIDER
from ..limb.storage import read_slider
from .features import ROLL_SLIDERS


def reset_roll(limbs: Sequence[PoseBone]) -> list[Change]:
    """Set roll and bank of limbs to 0 where no keys or drivers set them; returns the changes."""
    changes = []
    for limb in filter(has_roll, limbs):
        for name in ROLL_SLIDERS:
            path = path_to_custom(limb.name, SLIDER[name].key)
            is_free = not is_animated(limb.id_data, path) and driver_of(limb.id_data, path) is None
            if is_free and read_slider(limb, name):
                announce(limb.id_data)
                changes.append(change_of(limb, name))
                limb[SLIDER[name].key] = 0.0
                tag_rig(limb)
    return changes
