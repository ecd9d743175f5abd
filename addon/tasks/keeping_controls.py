"""Controls that are seen where they are, or where their feet are, after something is done to their limbs: in the frame
that is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, Depsgraph, PoseBone
from mathutils import Matrix
from numpy.typing import NDArray

from ..blender.dependencies import BoneRef
from ..blender.rotation import set_turn
from ..blender.stepping import Steps, finished
from ..blender.types import tag_rig, view_layer_of
from ..limb.features import BY_NAME
from ..limb.follow import flat_toes, follow_of, has_pole_follow, is_gone, matrix_of, pole_goes_along, rolled_target
from ..limb.rest_geometry import rest_geometry_of
from ..limb.storage import read_slider
from ..motion.passing import read_again, record
from ..motion.placing import ControlPlacing, parents_of, place_controls
from ..motion.reading import Asked, copied
from ..motion.writing import Task, Writing
from ..rigging import feet

Array = NDArray[Any]


class Kept(NamedTuple):
    """Where in the world a control is to be seen, and whether turned so; and how long its limb is."""

    control: BoneRef
    matrix: Matrix
    is_turned: bool
    size: float


@contextmanager
def keeping_poles(context: Context, limbs: Sequence[PoseBone]) -> Iterator[None]:
    """Have poles that go with targets seen where they are now, after something is done to their limbs: those that these
    still follow."""
    refs, depsgraph = [(limb.id_data, limb.name) for limb in limbs], context.evaluated_depsgraph_get()
    following = [limb for limb in limbs if has_pole_follow(limb) and not is_gone(*follow_of(limb).pairs[1])]
    kept = [_kept(follow_of(limb).pairs[1], limb, depsgraph) for limb in following]
    yield
    poles = [follow_of(ob.pose.bones[name]).pairs[1] for ob, name in refs]
    _put(context, [stay for stay in kept if stay.control in poles])


@contextmanager
def keeping_rolled_feet(context: Context, limbs: Sequence[PoseBone]) -> Iterator[None]:
    """Have the controls of limbs that are rolled now go where their feet are, and toes stay as they are turned, after
    their foot roll is taken away."""
    flat, kept = {toe for limb in limbs for toe in flat_toes(limb)}, _at_rolled_targets(context, limbs)
    turns = feet.turns_of_feet(context, limbs) if kept else []
    toes = [(toe.id_data, toe.name, turn) for toe, turn in turns if toe in flat]
    yield
    _put(context, kept)
    for ob, name, turn in toes:
        set_turn(ob.pose.bones[name], turn)
        tag_rig(ob.pose.bones[name])
    view_layer_of(context).update()


def _at_rolled_targets(context: Context, limbs: Sequence[PoseBone]) -> list[Kept]:
    """The controls of limbs that are rolled now, where their rolled targets are; their poles where they are."""
    kept, depsgraph = list[Kept](), context.evaluated_depsgraph_get()
    for limb in limbs:
        helper = rolled_target(limb)
        if helper and any(read_slider(limb, name) for name in BY_NAME["foot_roll"].keys):
            target, pole = follow_of(limb).pairs
            rolled = matrix_of(limb.id_data, helper.name, depsgraph)
            kept.append(_kept(target, limb, depsgraph)._replace(matrix=rolled))
            if pole_goes_along(limb):
                kept.append(_kept(pole, limb, depsgraph)._replace(is_turned=False))
    return kept


def _kept(control: Any, limb: PoseBone, depsgraph: Depsgraph) -> Kept:
    """A control of a limb where it is now."""
    ob, bone = control
    return Kept(control, matrix_of(ob, bone, depsgraph), True, sum(rest_geometry_of(limb).lengths))


def _put(context: Context, kept: Sequence[Kept]) -> None:
    """Have controls seen where they are to be, whatever carries and constrains them. Raises `Refused`."""
    if kept:  # a control of several limbs once
        finished(_put_in_steps(Task(context, None), [*{stay.control: stay for stay in kept}.values()]))


def _placing(kept: Kept) -> ControlPlacing:
    matrices, size = np.array([kept.matrix], float), np.array([kept.size])
    turns = matrices if kept.is_turned else None
    return ControlPlacing(kept.control, kept.control, matrices[:, :3, 3], size, turns)


def _put_in_steps(task: Task, kept: Sequence[Kept]) -> Steps[None]:
    controls = [stay.control for stay in kept]
    placings = [_placing(stay) for stay in kept]
    channels = [channel for placing in placings for channel in placing.channels]
    recording = yield from record(
        task.context, [], None, Asked(parents_of(controls), channels=channels, controls=controls)
    )
    before = copied(recording.channels)
    values = copied(before)
    writing = Writing(task, before, [])

    def reread(rows: Array) -> Steps[None]:
        writing.write(values)
        yield from read_again(task.context, recording, [], rows)

    yield from place_controls(placings, recording, values, reread)
    writing.finish(recording, values)
