"""Foot roll in one frame: roll and bank at 0, and toes that look the same in IK as in FK."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bpy.types import Context, PoseBone

from ..blender.animation import driver_of, is_animated
from ..blender.announcing import announce
from ..blender.changes import Change
from ..blender.rotation import set_turn
from ..blender.types import path_to_custom, tag, view_layer_of
from ..limb.follow import follow_of, matrix_of
from ..limb.foot_roll import flat_toes, has_roll, rolled_target
from ..limb.moving import Move, change_of, move
from ..limb.pole_follow import pole_goes_along
from ..limb.rest_geometry import rest_geometry_of
from ..limb.settings import SLIDER
from ..limb.storage import read_slider
from . import feet
from .features import ROLL_SLIDERS


def reset_roll(limbs: Sequence[PoseBone]) -> list[Change]:
    """Set roll and bank of limbs to 0 where no keys or drivers say what they are; what was changed."""
    changes = []
    for limb in filter(has_roll, limbs):
        for name in ROLL_SLIDERS:
            path = path_to_custom(limb.name, SLIDER[name].key)
            is_free = not is_animated(limb.id_data, path) and driver_of(limb.id_data, path) is None
            if is_free and read_slider(limb, name):
                announce(limb.id_data)
                changes.append(change_of(limb, name))
                limb[SLIDER[name].key] = 0.0
                tag(limb)
    return changes


@contextmanager
def keeping_rolled_feet(context: Context, limbs: Sequence[PoseBone]) -> Iterator[None]:
    """Have the controls of limbs that are rolled now go where their feet are, and toes stay as they are turned, after
    their foot roll is taken away."""
    flat, moves = {toe for limb in limbs for toe in flat_toes(limb)}, _moves_to_rolled_targets(context, limbs)
    turns = feet.turns_of_feet(context, limbs) if moves else []
    toes = [(toe.id_data, toe.name, turn) for toe, turn in turns if toe in flat]
    yield
    move(context, moves)
    for ob, name, turn in toes:
        set_turn(ob.pose.bones[name], turn)
        tag(ob.pose.bones[name])
    view_layer_of(context).update()


def _moves_to_rolled_targets(context: Context, limbs: Sequence[PoseBone]) -> list[Move]:
    """What has the controls of limbs that are rolled now go where their rolled targets are."""
    moves, depsgraph = [], context.evaluated_depsgraph_get()
    for limb in limbs:
        helper = rolled_target(limb)
        if helper and any(read_slider(limb, name) for name in ROLL_SLIDERS):
            matrix, size = matrix_of(limb.id_data, helper.name, depsgraph), sum(rest_geometry_of(limb).lengths)
            moves.append(Move(*follow_of(limb).pairs[0], matrix.translation, matrix.to_quaternion(), size))  # type: ignore[arg-type]
            if pole_goes_along(limb):
                ob, bone = follow_of(limb).pairs[1]
                moves.append(Move(ob, bone, matrix_of(ob, bone, depsgraph).translation, size=size))  # type: ignore[arg-type]
    return moves
