"""Where the tips and soles of limbs, and how their feet are turned, in each of some frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, Depsgraph, PoseBone
from mathutils import Vector
from numpy.typing import NDArray

from ..blender.stepping import stepping
from ..limb.foot_roll import BALL, HEEL, TOE
from ..limb.names import HANDS, says
from ..limb.rest_geometry import rest_geometry_of
from ..limb.storage import bones_of_limb
from ..limb.tips import foot_of
from ..rigging.foot_pivots import pivots_found, pivots_of, toes_of
from .contacts import Path
from .reading import Progress

Array = NDArray[Any]


class TipNow(NamedTuple):
    """In one frame, in the world: where a limb begins and ends, the points of its sole (points, 3), and how the foot is
    turned (w, x, y, z), if there is one."""

    root: Array
    tip: Array
    sole: Array
    turn: Array | None


class TipReader:
    """Reads one limb, frame by frame; ``size`` is its length in the world as it was when this was made."""

    def __init__(self, last: PoseBone) -> None:
        geometry, foot = rest_geometry_of(last), foot_of(last)
        self.object, self.last, self.first = last.id_data, last.name, bones_of_limb(last)[0].name
        self.foot = foot.name if foot else ""
        self._tip = Vector(geometry.tip.tolist())
        self.size = sum(geometry.lengths) * last.id_data.matrix_world.median_scale
        self._sole = _sole_of(last, self._tip)

    def now(self, depsgraph: Depsgraph) -> TipNow:
        """Read the frame that is evaluated."""
        evaluated: Any = self.object.evaluated_get(depsgraph)
        bones, world = evaluated.pose.bones, evaluated.matrix_world
        root, tip = world @ bones[self.first].head, world @ (bones[self.last].matrix @ self._tip)
        sole = [world @ (bones[name].matrix @ point) for name, point in self._sole]
        turn = np.array((world @ bones[self.foot].matrix).to_quaternion(), float) if self.foot else None
        return TipNow(np.array(root, float), np.array(tip, float), np.array(sole, float), turn)


def _sole_of(last: PoseBone, tip: Vector) -> list[tuple[str, Vector]]:
    """The points of a limb's sole, each with the bone that it is on and where it is in that: heel, ball and toe where a
    foot roll has them, or would have them. A hand has its tip and its end, and what has neither the tip."""
    foot = foot_of(last)
    if foot is None or says(foot.name, HANDS):
        end = [(foot.name, Vector((0.0, foot.bone.length, 0.0)))] if foot else []
        return [(last.name, tip), *end]
    pivots, toes = pivots_of(last) or pivots_found(last, rest_geometry_of(last)), toes_of(foot)
    bones = {HEEL: foot.bone, BALL: foot.bone, TOE: toes[0].bone if toes else foot.bone}
    return [(bone.name, bone.matrix_local.inverted() @ pivots[role].translation) for role, bone in bones.items()]


def tips_over(
    context: Context,
    lasts: Sequence[PoseBone],
    frames: Sequence[float],
    progress: Progress | None = None,
) -> list[list[TipNow]]:
    """For each limb, its tip as it is evaluated in each of these frames."""
    readers = [TipReader(last) for last in lasts]
    rows: list[list[TipNow]] = [[] for _ in readers]
    with stepping(context) as show_frame:
        for i, frame in enumerate(frames):
            show_frame(frame)
            depsgraph = context.evaluated_depsgraph_get()
            for row, reader in zip(rows, readers, strict=True):
                row.append(reader.now(depsgraph))
            if progress:
                progress((i + 1) / len(frames))
    return rows


def path_of(rows: Sequence[TipNow], size: float) -> Path:
    """The path of a limb over frames."""
    return Path(np.array([row.tip for row in rows]), np.array([row.sole for row in rows]).transpose(1, 0, 2), size)
