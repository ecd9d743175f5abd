"""Whether a rig stays where it is while limbs are made of its bones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context
from mathutils import Vector

from ..blender.types import ArmatureObject, view_layer_of
from ..blender.words import Refused
from ..limb.storage import is_control
from ..rigging.description import LimbRef

Heads = dict[LimbRef, Vector]
"""Where bones begin in their armature, evaluated, by rig and name."""


class Places(NamedTuple):
    """Where bones of rigs begin, but for those that may move; and how long the limbs of bones are, in the armature's
    unit."""

    heads: Heads
    lengths: dict[LimbRef, float]


def bone_places(context: Context, plans: Sequence[Any], led: Sequence[LimbRef]) -> Places:
    """Where the bones of the rigs of limbs begin before these are made as planned; those of limbs that are ``led``
    elsewhere may move, and what hangs on them."""
    lengths = {(bone.id_data, bone.name): plan.length for plan in plans for bone in plan.chain}
    free = [bone for plan in plans if plan.limb in led for bone in plan.chain]
    free += [below for bone in free for below in bone.children_recursive]
    heads = _heads_of(context, (plan.limb[0] for plan in plans))
    for bone in free:
        heads.pop((bone.id_data, bone.name), None)
    return Places(heads, lengths)


def _heads_of(context: Context, rigs: Iterable[ArmatureObject]) -> Heads:
    """Where the bones of rigs begin now, but for controls that Add made, which it may take up again."""
    view_layer_of(context).update()
    depsgraph = context.evaluated_depsgraph_get()
    evaluated: list[tuple[ArmatureObject, Any]] = [(ob, ob.evaluated_get(depsgraph)) for ob in dict.fromkeys(rigs)]
    bones = [(ob, bone) for ob, now in evaluated for bone in now.pose.bones if not is_control(ob, bone.name)]
    return {(ob, bone.name): bone.head.copy() for ob, bone in bones}


def check_still(context: Context, before: Places, tolerance: float) -> None:
    """Refuse if bones begin elsewhere than before: by more than a tolerance in lengths of their limb, or of the longest
    one of their rig."""
    heads, lengths = before
    now = _heads_of(context, (ob for ob, _ in heads))
    longest: dict[ArmatureObject, float] = {}
    for (ob, _), length in lengths.items():
        longest[ob] = max(length, longest.get(ob, 0.0))
    rough = {ob: _step_of(ob, heads) for ob in longest}
    worst, most = "", 0.0
    for (ob, name), place in heads.items():
        if (ob, name) not in now:
            continue
        length = lengths.get((ob, name), longest[ob])
        moved = (now[ob, name] - place).length / length
        if moved > max(tolerance, most, sqrt(rough[ob] / length)):
            worst, most = name, moved
    if worst:
        template = "'{bone}' would move by {moved} of the limb's length: mute what else poses it, or choose other bones"
        raise Refused(template, bone=worst, moved=f"{most:.2g}")


def _step_of(ob: ArmatureObject, heads: Heads) -> float:
    """Between which numbers Blender rounds as far out as the bones of a rig go, in its unit. A straight limb whose
    length is off by a step at either end has its knee off by up to the square root of that, both in limb lengths."""
    bones = ob.data.bones
    farthest = max(
        (place.length + bones[name].length for (rig, name), place in heads.items() if rig == ob), default=0.0
    )
    away = ob.matrix_world.translation.length / max(ob.matrix_world.median_scale, 1e-9)
    return float(np.spacing(np.float32(max(farthest, away))))
