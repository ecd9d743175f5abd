"""Where the tips and toes of limbs, and how their feet are turned, in each of some frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, Depsgraph, PoseBone
from mathutils import Vector
from numpy.typing import NDArray

from ..blender.stepping import stepping
from ..limb.rest_geometry import rest_geometry_of
from ..limb.storage import bones_of_limb
from ..limb.tips import foot_of
from .contacts import Path
from .reading import Progress

Array = NDArray[Any]


class TipNow(NamedTuple):
    """In one frame, in the world: where a limb begins and ends, where the toe of its foot is (or the tip, without a
    foot), and how the foot is turned (w, x, y, z), if there is one."""

    root: Array
    tip: Array
    toe: Array
    turn: Array | None


class TipReader:
    """Reads one limb, frame by frame; ``size`` is its length in the world as it was when this was made."""

    def __init__(self, last: PoseBone) -> None:
        geometry, foot = rest_geometry_of(last), foot_of(last)
        self.object, self.last, self.first = last.id_data, last.name, bones_of_limb(last)[0].name
        self.foot = foot.name if foot else ""
        self._tip = Vector(geometry.tip.tolist())
        self.size = sum(geometry.lengths) * last.id_data.matrix_world.median_scale
        toes = [child for child in foot.bone.children if child.name in self.object.pose.bones] if foot else []
        self._toe = max(toes, key=lambda bone: bone.length).name if toes else ""

    def now(self, depsgraph: Depsgraph) -> TipNow:
        """Read the frame that is evaluated."""
        evaluated: Any = self.object.evaluated_get(depsgraph)
        bones, world = evaluated.pose.bones, evaluated.matrix_world
        tip = world @ (bones[self.last].matrix @ self._tip)
        toe, turn = tip, None
        if self.foot:
            foot = bones[self.foot]
            toe = world @ (bones[self._toe].head if self._toe else foot.tail)
            turn = np.array((world @ foot.matrix).to_quaternion(), float)
        root = world @ bones[self.first].head
        return TipNow(np.array(root, float), np.array(tip, float), np.array(toe, float), turn)


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
    return Path(np.array([row.tip for row in rows]), np.array([row.toe for row in rows]), size)
