"""Posing limbs in one event: gather, solve all limbs of a level by arrays, borrow the channels, evaluate, restore."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import ExitStack
from typing import Any, Literal, NamedTuple

import bpy
import numpy as np
from bpy.types import Depsgraph
from numpy.typing import NDArray

from ..blender.animation import set_at, value_at
from ..blender.rotation import (
    ARRAY_ANGLES,
    SIZES,
    read_channel,
    restore_channel,
    to_channels,
    to_quaternion,
    write_channel,
)
from ..blender.types import ArmatureObject, split_path
from ..limb.solving import (
    Sliders,
    Solution,
    at_rest,
    into_limbs,
    locations_now,
    own_size,
    places,
    sliders_of,
    solve,
)
from ..solver.matrices import applied
from .plan import Level, LimbGroup, LivePlan

Array = NDArray[Any]

_busy = [False]


def is_posing() -> bool:
    """Whether limbs are being posed, so that what Blender evaluates is a consequence of it."""
    return _busy[0]


def pose(plan: LivePlan, depsgraph: Depsgraph, rigs: Collection[ArmatureObject]) -> None:
    """Pose the limbs of evaluated rigs. The solutions are the evaluated pose's only: afterwards the channels are as the
    animator set them."""
    borrowed_of_rig: dict[ArmatureObject, BorrowedChannels] = {}
    with ExitStack() as cleanup:  # which all is done of, whatever fails of it
        cleanup.callback(_set_busy, False)
        cleanup.callback(_restore_channels, borrowed_of_rig)
        _set_busy(True)
        if _is_frame_due(depsgraph):
            _evaluate(depsgraph)
        for level in plan.levels:
            groups = [group for group in level.groups if group.rig in rigs and _is_shown(group.rig, depsgraph)]
            if groups and _pose_level(plan, level, groups, depsgraph, borrowed_of_rig):
                _evaluate(depsgraph)
        if borrowed_of_rig and depsgraph.mode == "VIEWPORT":
            _evaluate_elsewhere(depsgraph)


def _set_busy(is_busy: bool) -> None:
    _busy[0] = is_busy


def _restore_channels(borrowed_of_rig: dict[ArmatureObject, BorrowedChannels]) -> None:
    """Restore the channels of rigs: of each, though it may fail for another."""
    with ExitStack() as stack:
        for borrowed in borrowed_of_rig.values():
            stack.callback(borrowed.restore)


class Inputs(NamedTuple):
    """What the n limbs of a group are solved for."""

    target: Array  # (n, 3), in G
    pole: Array  # (n, 3), in G
    sliders: Sliders
    own: Array | None  # (n, segments, 4), w first: FK rotations; None where all limbs are in IK


def _is_shown(rig: ArmatureObject, depsgraph: Depsgraph) -> bool:
    """Whether a rig is evaluated, and not in Edit Mode, where it is shown at rest, by names of before."""
    evaluated: Any = rig.evaluated_get(depsgraph)
    return bool(evaluated.is_evaluated and not rig.data.is_editmode)


def _pose_level(
    plan: LivePlan,
    level: Level,
    groups: Sequence[LimbGroup],
    depsgraph: Depsgraph,
    borrowed_of_rig: dict[ArmatureObject, BorrowedChannels],
) -> bool:
    """Solve limbs and write the solution to their rigs' channels; False if all of it is evaluated already."""
    for rig in (group.rig for group in groups if group.rig not in borrowed_of_rig):
        borrowed_of_rig[rig] = BorrowedChannels(rig, plan.paths[rig], depsgraph)
    inputs = [_gather(group, depsgraph, borrowed_of_rig[group.rig]) for group in groups]
    solution = _solve(level, groups, inputs)
    is_written = False
    for group, given in zip(groups, inputs, strict=True):
        borrowed = borrowed_of_rig[group.rig]
        evaluated = group.rig.evaluated_get(depsgraph)
        touched = _set(group, _rows_of(solution, group), given.sliders, borrowed)
        if not all(
            np.array_equal(borrowed.rows(name)[which], read_channel(evaluated, name)[which]) for name, which in touched
        ):
            borrowed.write(plan.tag)
            is_written = True
    return is_written


def _rows_of(solution: Solution, group: LimbGroup) -> Solution:
    rows, segments = group.rows, group.table.kinds.segments
    turns, stretch, reach, shortfall, root = solution
    own_root = root[rows] if root is not None and group.table.moved_roots else None
    return Solution(turns[rows, :segments], stretch[rows], reach[rows], shortfall[rows], own_root)


def _gather(group: LimbGroup, depsgraph: Depsgraph, borrowed: BorrowedChannels) -> Inputs:
    evaluated: Any = group.rig.evaluated_get(depsgraph)
    table = group.table
    into = into_limbs(table, evaluated, _locations(group, evaluated, borrowed))
    target, pole = places(table, evaluated, depsgraph)
    target = applied(into, target)
    if table.is_poled.any():
        pole = applied(into, pole)
    sliders = sliders_of(table, evaluated)
    is_plain = (sliders["influence"] >= 1.0).all() and np.isfinite(target).all()
    return Inputs(target, pole, sliders, None if is_plain else _own(group, borrowed))


def _solve(level: Level, groups: Sequence[LimbGroup], inputs: Sequence[Inputs]) -> Solution:
    """Solve the limbs of all rigs of a level at once, (n) in all; what is not given counts for nothing."""
    target, pole = np.zeros((2, level.size, 3))
    own = at_rest((level.size, level.kinds.segments))
    sliders = {name: np.zeros(level.size) for name in inputs[0].sliders}
    for group, given in zip(groups, inputs, strict=True):
        rows = group.rows
        target[rows], pole[rows] = given.target, given.pole
        for name, values in given.sliders.items():
            sliders[name][rows] = values
        if given.own is not None:
            own[rows, : given.own.shape[1]] = given.own
    is_plain = all(given.own is None for given in inputs)
    return solve(level.kinds, target, pole, sliders, None if is_plain else own, tolerance=None)


def _locations(group: LimbGroup, evaluated: ArmatureObject, borrowed: BorrowedChannels) -> Any:
    """The locations of first bones: of those that IK moves, not where it did."""
    if not group.table.moved_roots:
        return locations_now(group.table, evaluated)
    locations, loose = np.zeros((len(group.table.limbs), 3)), [*group.table.loose]
    locations[loose] = borrowed.rows("location")[group.table.bones[loose, 0]]
    return locations


def _own(group: LimbGroup, borrowed: BorrowedChannels) -> Any:
    """The bones' own (FK) rotations, (n, segments, 4), w first."""
    own = at_rest(group.table.bones.shape)
    for bones in group.by_mode:
        numbers = borrowed.rows(bones.channel)[bones.bones].astype(float)
        own[bones.limbs, bones.segments] = np.stack(to_quaternion(bones.mode, tuple(numbers.T), ARRAY_ANGLES), axis=-1)
    return own


def _set(group: LimbGroup, solution: Solution, sliders: Sliders, borrowed: BorrowedChannels) -> list[tuple[str, Any]]:
    """Put a solution into the rows of borrowed channels, which their `write` gives to the rig; give which channels
    these are, and of which bones."""
    touched = []
    for bones in group.by_mode:
        rows = borrowed.rows(bones.channel)
        turns = solution.turns.reshape(-1, 4) if bones.has_all else solution.turns[bones.limbs, bones.segments]
        if bones.mode != "QUATERNION":
            near = rows[bones.bones].astype(float)
            turns = np.stack(to_channels(bones.mode, tuple(turns.T), tuple(near.T), ARRAY_ANGLES), axis=-1)
        rows[bones.bones] = turns
        touched.append((bones.channel, bones.bones))
    if group.scaled:
        scaled, limbs, powers = group.scaled
        rows = borrowed.rows("scale")
        own = own_size(rows[scaled], sliders["influence"][limbs, None])
        rows[scaled] = own * solution.stretch[limbs, None] ** powers
        touched.append(("scale", scaled))
    for channel, rest, which, limbs in group.at_rest:
        own = borrowed.as_they_are(channel)[which]
        if (own != rest).any():
            borrowed.rows(channel)[which] = rest + (own - rest) * (
                1.0 - sliders["influence"][limbs, None].clip(0.0, 1.0)
            )
            touched.append((channel, which))
    if solution.root is not None:
        which = [*group.table.moved_roots]
        moved = group.table.bones[which, 0]
        borrowed.rows("location")[moved] += (solution.root[which, None] @ group.table.axes[which])[:, 0]
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


Rows = NDArray[np.float32]


class BorrowedChannels:
    """The channels of one rig while it is posed: as they are, and as they are to be evaluated.

    The window writes the animated values of a frame to the original rig as well. A render does not, nor does a scene
    that no window shows. When an original rig is written to, Blender copies it for evaluation again, and its animated
    values would be those of the window's frame. So the values of the evaluated frame are written to it too, until then.
    """

    def __init__(self, rig: ArmatureObject, paths: Collection[str], depsgraph: Depsgraph) -> None:
        self.rig = rig
        self._before: dict[str, Rows] = {}
        self._rows: dict[str, Rows] = {}
        self._read: dict[str, Rows] = {}
        evaluated: Any = rig.evaluated_get(depsgraph)
        if paths and is_at_other_frame(rig, evaluated, depsgraph):
            self._write_animation(paths, evaluated)

    def rows(self, channel: str) -> Rows:
        """The numbers of all bones (bones, numbers), to be read, and set in place."""
        if channel not in self._rows:
            self._before[channel] = read_channel(self.rig, channel)
            self._rows[channel] = self._before[channel].copy()
        return self._rows[channel]

    def as_they_are(self, channel: str) -> Rows:
        """The same to be read only, which costs less where nothing is set then."""
        if channel not in self._read:
            self._read[channel] = read_channel(self.rig, channel)
        return self._rows.get(channel, self._read[channel])

    def write(self, tag: Literal["OBJECT", "DATA"]) -> None:
        """Write all that was set, for Blender to evaluate."""
        for channel, rows in self._rows.items():
            write_channel(self.rig, channel, rows, self._before[channel])
        self.rig.update_tag(refresh={tag})  # which foreach_set does not do

    def restore(self) -> None:
        """Restore the channels; the evaluated pose stays."""
        with ExitStack() as stack:  # each of them, though another may fail
            for channel, rows in self._rows.items():
                stack.callback(restore_channel, self.rig, channel, rows, self._before[channel])

    def _write_animation(self, paths: Collection[str], evaluated: Any) -> None:
        for path in paths:
            bone, channel = split_path(path)
            if bone and channel in SIZES:
                index = self.rig.pose.bones.find(bone)
                if index >= 0:
                    self.rows(channel)[index] = getattr(evaluated.pose.bones[index], channel)[:]
            elif (value := value_at(evaluated, path)) is not None and value != value_at(self.rig, path):
                # It stays, for Blender would notice as it is restored; a window's next frame sets it again.
                set_at(self.rig, path, value)


def is_at_other_frame(rig: ArmatureObject, evaluated: ArmatureObject, depsgraph: Depsgraph) -> bool:
    """Whether the original rig is not in the frame that was evaluated."""
    if depsgraph.mode == "RENDER":
        return True
    here, there = (np.empty(3 * len(ob.pose.bones), np.float32) for ob in (rig, evaluated))
    rig.pose.bones.foreach_get("tail", here)
    evaluated.pose.bones.foreach_get("tail", there)
    return here.tobytes() != there.tobytes()
