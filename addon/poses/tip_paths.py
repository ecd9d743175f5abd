"""Where the tips and soles of limbs are over frames that were read."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import PoseBone
from mathutils import Vector
from numpy.typing import NDArray

from ..limb.foot_roll import BALL_PIVOT, HEEL_PIVOT, TOE_PIVOT
from ..limb.names import HANDS, has_word
from ..limb.rest_geometry import rest_geometry_of
from ..limb.tips import foot_of
from ..motion.reading import Recording, matrices_of
from ..rigging.foot_pivots import pivots_found, pivots_of, toes_of
from ..solver.matrices import applied
from .contacts import Path

Array = NDArray[Any]


def tip_path(recording: Recording, limb: PoseBone) -> Path:
    """The path of a limb over the frames of a recording that has its bones."""
    ob, geometry = limb.id_data, rest_geometry_of(limb)
    sole = [_over(recording, ob, bone, point) for bone, point in _sole_of(limb)]
    size = sum(geometry.lengths) * ob.matrix_world.median_scale
    return Path(_over(recording, ob, limb.name, geometry.tip), np.array(sole), size)


def _over(recording: Recording, ob: Any, bone: str, point: Any) -> Array:
    """Where a point of a bone is in the world, (frames, 3)."""
    return applied(matrices_of(recording, (ob, bone)), np.array(point, float))


def _sole_of(limb: PoseBone) -> list[tuple[str, Any]]:
    """The points of a limb's sole, each with the bone that it is on and where it is in that: heel, ball and toe where a
    foot roll has them, or would have them. A hand has its tip and its end, and what has neither the tip."""
    foot, tip = foot_of(limb), rest_geometry_of(limb).tip
    if foot is None or has_word(foot.name, HANDS):
        end = [(foot.name, Vector((0.0, foot.bone.length, 0.0)))] if foot else []
        return [(limb.name, tip), *end]
    pivots, toes = pivots_of(limb) or pivots_found(limb, rest_geometry_of(limb)), toes_of(foot)
    bones = {HEEL_PIVOT: foot.bone, BALL_PIVOT: foot.bone, TOE_PIVOT: toes[0].bone if toes else foot.bone}
    return [(bone.name, bone.matrix_local.inverted() @ pivots[role].translation) for role, bone in bones.items()]
