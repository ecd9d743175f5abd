"""Posing limbs in one event: gather, solve all limbs of a level by arrays, borrow the channels, evaluate, restore."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import bpy
import numpy as np
from bpy.types import Depsgraph

from ..blender import animation, rotation
from ..blender.types import ArmatureObject, split_path
from ..limb.solving import Sliders, Solution, at_rest, into_limbs, own_size, places, sliders_of, solve
from ..solver.matrices import applied
from ..solver.ops import Array, Mask
from .plan import Level, LivePlan

_busy = [False]


def is_posing() -> bool:
    """Whether limbs are being posed, so that what Blender evaluates is a consequence of it."""
    return _busy[0]


def pose(plan: LivePlan, depsgraph: Depsgraph, rigs: Collection[ArmatureObject]) -> None:
    """Pose the live limbs of these rigs, which are originals, in the depsgraph's evaluated copies. The solutions are
    the evaluated pose's only: afterwards the channels are as the animator set them."""
    with ExitStack() as cleanup:  # which all is done of, whatever fails of it
        cleanup.callback(_busy.__setitem__, 0, False)
        _busy[0] = True
        if _is_frame_due(depsgraph):
            _evaluate(depsgraph)
        borrowed = BorrowedChannels(plan, depsgraph, rigs)
        cleanup.callback(borrowed.restore)
        for level in plan.levels:
            if _pose_level(level, depsgraph, borrowed):
                _evaluate(depsgraph)
        if borrowed.is_due.any() and depsgraph.mode == "VIEWPORT":
            _evaluate_elsewhere(depsgraph)


def _pose_level(level: Level, depsgraph: Depsgraph, borrowed: BorrowedChannels) -> bool:
    """Solve the limbs of all rigs that are due and write the solution to their channels; False if all of it is
    evaluated already."""
    table = level.table
    is_due = borrowed.is_due[table.rig]
    if not is_due.any():
        return False
    rigs = borrowed.evaluated(depsgraph)
    locations = np.zeros((len(table.limbs), 3))
    locations[table.loose] = borrowed.rows("location")[table.bones[table.loose, 0]]  # not where IK moved them
    into = into_limbs(table, rigs, locations if locations.any() else None)
    target, pole = applied(into, places(table, depsgraph))
    sliders = sliders_of(table, rigs)
    is_plain = (sliders["influence"] >= 1.0) & np.isfinite(target).all(axis=-1)
    own = None if (is_plain | ~is_due).all() else _own(level, borrowed)
    solution = solve(table, target, pole, sliders, own, tolerance=None)
    is_off = np.zeros(table.ends[-1], bool)
    for channel, bones in _set(level, solution, sliders, borrowed):
        seen = rotation.read_rows(rigs, table.ends, channel)[bones]
        is_off[bones] |= (seen != borrowed.rows(channel)[bones]).any(axis=1)
    return borrowed.write(is_off)


def _own(level: Level, borrowed: BorrowedChannels) -> Any:
    """The bones' own (FK) rotations, (n, segments, 4), w first."""
    own = at_rest(level.table.bones.shape)
    for bones in level.by_mode:
        numbers = borrowed.rows(bones.channel)[bones.bones].astype(float)
        own[bones.limbs, bones.segments] = np.stack(
            rotation.to_quaternion(bones.mode, tuple(numbers.T), rotation.ARRAY_ANGLES), axis=-1
        )
    return own


def _set(level: Level, solution: Solution, sliders: Sliders, borrowed: BorrowedChannels) -> list[tuple[str, Any]]:
    """Put a solution into the rows of borrowed channels, which their `write` gives to the rigs; give which channels
    these are, and of which bones."""
    touched = []
    for mode, channel, which, limbs, segments in level.by_mode:
        rows, turns = borrowed.rows(channel), solution.turns[limbs, segments]
        if mode != "QUATERNION":
            near = rows[which].astype(float)
            turns = np.stack(rotation.to_channels(mode, tuple(turns.T), tuple(near.T), rotation.ARRAY_ANGLES), axis=-1)
        rows[which] = turns
        touched.append((channel, which))
    if level.scaled:
        scaled, limbs, powers = level.scaled
        rows = borrowed.rows("scale")
        own = own_size(rows[scaled], sliders["influence"][limbs, None])
        rows[scaled] = own * solution.stretch[limbs, None] ** powers
        touched.append(("scale", scaled))
    for channel, rest, which, limbs in level.at_rest:
        rows = borrowed.rows(channel)
        own = rows[which]
        if (own != rest).any():
            rows[which] = rest + (own - rest) * (1.0 - sliders["influence"][limbs, None].clip(0.0, 1.0))
            touched.append((channel, which))
    if solution.root is not None:
        which = [*level.table.moved_roots]
        moved = level.table.bones[which, 0]
        borrowed.rows("location")[moved] += (solution.root[which, None] @ level.table.axes[which])[:, 0]
        touched.append(("location", moved))
    return touched


def _is_frame_due(depsgraph: Depsgraph) -> bool:
    """Whether the scene that is shown may have been set to a frame, as where somebody goes to one in a window: what is
    written is then evaluated with animation in the place of the solutions, unless it was evaluated once before. Of
    other scenes, whose frame nobody goes to so, that would show the objects as they stand in the one that is shown."""
    if not depsgraph.id_type_updated("SCENE"):
        return False
    return (bpy.context.scene, bpy.context.view_layer) == (depsgraph.scene, depsgraph.view_layer)


def _evaluate(depsgraph: Depsgraph) -> None:
    """Have Blender evaluate what was written."""
    if depsgraph.id_type_updated("SCENE"):
        # Else Blender up to 5.0 loses the list of what is in the scene, and crashes when next it looks whether it is.
        depsgraph.scene.update_tag()  # type: ignore[union-attr]
    depsgraph.update()


def _evaluate_elsewhere(depsgraph: Depsgraph) -> None:
    """Have windows that show another scene or view layer evaluate what was written too: each would else have the other
    pose the same rig again, for ever."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager and len(manager.windows) > 1 else ():
        layer = window.view_layer
        if layer.depsgraph and (window.scene, layer) != (depsgraph.scene, depsgraph.view_layer):
            layer.depsgraph.update()


class BorrowedChannels:
    """The channels of all bones of a plan's rigs while some of these are posed: as they are, and as they are to be
    evaluated. Of other rigs nothing is read or written.

    The window writes the animated values of a frame to the original rig as well. A render does not, nor does a scene
    that no window shows. When an original rig is written to, Blender copies it for evaluation again, and its animated
    values would be those of the window's frame. So the values of the evaluated frame are written to it too, until then.
    """

    def __init__(self, plan: LivePlan, depsgraph: Depsgraph, rigs: Collection[ArmatureObject]) -> None:
        self._tag = plan.tag
        self._rigs = [rig if rig in rigs and _is_shown(rig, depsgraph) else None for rig in plan.fingerprints]
        self.is_due = np.array([rig is not None for rig in self._rigs], bool)
        self._ends = plan.levels[0].table.ends if plan.levels else ()
        self._before: dict[str, rotation.Rows] = {}
        self._rows: dict[str, rotation.Rows] = {}
        for rig, evaluated, first in zip(self._rigs, self.evaluated(depsgraph), (0, *self._ends), strict=False):
            if rig and plan.paths[rig] and is_at_other_frame(rig, evaluated, depsgraph):
                self._write_animation(rig, plan.paths[rig], evaluated, first)

    def evaluated(self, depsgraph: Depsgraph) -> list[Any]:
        """The rigs as they are evaluated now; None for one that is not due."""
        evaluated_one: Any = depsgraph.id_eval_get
        return [rig and evaluated_one(rig) for rig in self._rigs]

    def rows(self, channel: str) -> rotation.Rows:
        """The numbers of a property (``location``, ``rotation_euler``, …) of all bones of all rigs in turn, (bones,
        numbers): to be read, and set in place."""
        if channel not in self._rows:
            self._before[channel] = rotation.read_rows(self._rigs, self._ends, channel)
            self._rows[channel] = self._before[channel].copy()
        return self._rows[channel]

    def write(self, is_off: Mask) -> bool:
        """Write the numbers that were set to the channels of all rigs of which some bone does not stand yet as solved,
        as ``is_off`` (bones of all rigs) says, for Blender to evaluate; False if there is none."""
        due = {rig for rig, _, _ in self._of_rigs(is_off)}
        for channel, rows in self._rows.items():
            for rig, bones, which in self._of_rigs(_differing(rows, self._before[channel])):
                if rig in due:
                    rotation.write_rows(rig, channel, rows[bones], which)
        for rig in due:
            rig.update_tag(refresh={self._tag})  # which foreach_set does not do
        return bool(due)

    def restore(self) -> None:
        """Restore the channels; the evaluated pose stays."""
        with ExitStack() as stack:  # each of them, though another may fail
            for channel, rows in self._rows.items():
                before = self._before[channel]
                for rig, bones, which in self._of_rigs(_differing(rows, before)):
                    stack.callback(rotation.restore_rows, rig, channel, before[bones], which)

    def _of_rigs(self, is_one: Mask) -> Iterator[tuple[ArmatureObject, slice, list[int]]]:
        """Those of all bones (bones) that are one, by rigs that are due: the rig, where its bones are, and which of
        these are one."""
        bones = is_one.nonzero()[0]
        limits = np.searchsorted(bones, (0, *self._ends)).tolist()
        for rig, start, end, span in zip(self._rigs, (0, *self._ends), self._ends, pairwise(limits), strict=False):
            if rig is not None and span[0] < span[1]:
                yield rig, slice(start, end), (bones[slice(*span)] - start).tolist()

    def _write_animation(self, rig: ArmatureObject, paths: Collection[str], evaluated: Any, first: int) -> None:
        for path in paths:
            bone, channel = split_path(path)
            if bone and channel in rotation.CHANNELS:
                index = rig.pose.bones.find(bone)
                if index >= 0:
                    self.rows(channel)[first + index] = getattr(evaluated.pose.bones[index], channel)[:]
            elif (value := animation.value_at(evaluated, path)) is not None and value != animation.value_at(rig, path):
                # It stays, for Blender would notice as it is restored; a window's next frame sets it again.
                animation.set_at(rig, path, value)


def _differing(rows: rotation.Rows, others: rotation.Rows) -> Array:
    """Whether the numbers of each bone are others, to the bit, (bones)."""
    is_other: Array = (rows.view(np.int32) != others.view(np.int32)).any(axis=1)
    return is_other


def _is_shown(rig: ArmatureObject, depsgraph: Depsgraph) -> bool:
    """Whether a rig is evaluated, and not in Edit Mode, where it is shown at rest, by names of before."""
    evaluated: Any = rig.evaluated_get(depsgraph)
    return bool(evaluated.is_evaluated and not rig.data.is_editmode)


def is_at_other_frame(rig: ArmatureObject, evaluated: ArmatureObject, depsgraph: Depsgraph) -> bool:
    """Whether the original rig is not in the frame that was evaluated."""
    if depsgraph.mode == "RENDER":
        return True
    ends = (len(rig.pose.bones),)
    here, there = (rotation.read_rows([ob], ends, "tail") for ob in (rig, evaluated))
    return here.tobytes() != there.tobytes()
