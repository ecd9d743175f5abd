"""The sliders of a rig that turn a limb by what is not its IK: at either end of each, the limb has to be as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context
from numpy.typing import NDArray

from ..blender import animation, dependencies
from ..blender.types import bones_of, has_bone, path_to_bone, split_path, view_layer_of
from ..blender.words import Message, Refused
from ..finding.constraints import read_by, slider_read
from ..rigging.description import LimbRef
from .converted import Conversion

Array = NDArray[Any]

ENDLESS = 1e3
"""From where on the end of a slider is none: it is moved by 1 then."""

SCALES = (0.7, 1.3)
"""What bones are scaled by that may lengthen a limb."""

LENGTHENED = 0.05
"""From which part of a limb's length on their scale counts as lengthening it."""


NONE: Array = np.empty(0)


class State(NamedTuple):
    """A slider of a datablock, by its data path and as people call it, at a value; of nothing, all as it is now.
    Up to ``told`` of a limb's length, how it moves it otherwise is only told."""

    owner: Any = None
    path: str = ""
    name: str = ""
    value: Any = None
    told: float = 0.0


class Limb(NamedTuple):
    """The names of a limb's bones, and where these are in each state that may turn them: their heads, and the ends of
    their three axes, in lengths of the limb and the armature's space (bones, 4, 3)."""

    bones: tuple[str, ...]
    seen: dict[State, Array]


def seen_by_sliders(context: Context, plans: Sequence[Conversion]) -> dict[LimbRef, Limb]:
    """Where limbs are now and with the sliders of their rigs at either end; only those that have such. All is set
    back."""
    limbs = {plan.name: Limb(plan.bones, dict.fromkeys([State(), *_states_of(plan)], NONE)) for plan in plans}
    return _seen(context, {ref: limb for ref, limb in limbs.items() if len(limb.seen) > 1})


def lost_sliders(
    context: Context, before: dict[LimbRef, Limb], tolerance: float
) -> tuple[dict[LimbRef, Refused], list[Message]]:
    """Why limbs can't be made, of those that a slider no more moves as it did, by more than a tolerance; and warnings
    of others."""
    refused, warnings = dict[LimbRef, Refused](), list[Message]()
    for ref, limb in _seen(context, before).items():
        off = {state: float(np.abs(seen - before[ref].seen[state]).max()) for state, seen in limb.seen.items()}
        most = max(tolerance, 2.0 * off[State()])
        worst = max(off, key=lambda state: (off[state] > max(most, state.told), off[state]))
        if off[worst] > most:
            values = {"slider": worst.name, "bone": ref[1], "moved": f"{off[worst]:.2g}"}
            if off[worst] > worst.told:
                refused[ref] = Refused(f"{OTHERWISE}: leave it to Blender's", **values)
            else:
                warnings.append(Message(OTHERWISE, **values))
    return refused, warnings


OTHERWISE = "'{slider}' moves '{bone}' by up to {moved} of its length otherwise than IK"


def _seen(context: Context, limbs: dict[LimbRef, Limb]) -> dict[LimbRef, Limb]:
    """The same limbs as they are now in their states."""
    seen = {ref: Limb(limb.bones, {}) for ref, limb in limbs.items()}
    for state in dict.fromkeys(state for limb in limbs.values() for state in limb.seen):
        before = animation.value_at(state.owner, state.path) if state.owner else None
        try:
            _set(context, state, state.value)
            for ref in [ref for ref, limb in limbs.items() if state in limb.seen]:
                seen[ref].seen[state] = _frames_of(context, ref[0], limbs[ref].bones)
        finally:
            _set(context, state, before)
    return seen


def _states_of(plan: Conversion) -> Iterator[State]:
    """The ends of the sliders that drivers of a limb's bones read, but for those of its IK constraints' influence and
    mute, of which it has its own; and scales of bones that others of its constraints follow."""
    limb = plan.solvers.limb
    acting = plan.solvers.all_acting
    for constraint in [one for bone in plan.solvers.bones for one in bone.constraints if one not in acting]:
        for owner, name in dependencies.constraint_targets(constraint):
            if not constraint.mute and has_bone(owner, name) and not all(bones_of(owner)[name].lock_scale):
                for scale in SCALES:
                    yield State(owner, f"{path_to_bone(name)}.scale", name, (scale,) * 3, LENGTHENED)
    own = [constraint.path_from_id() for constraint in acting]
    left_out = {f"{path}.{name}" for path in own for name in ("influence", "mute")}
    for curve in animation.drivers_of(limb.id_data):
        bone, path = split_path(curve.data_path)
        if bone not in plan.bones or curve.mute or path.startswith("[") or curve.data_path in left_out:
            continue
        for target in read_by(curve):
            value = animation.value_at(target.id, target.data_path) if target.data_path and target.id else None
            if isinstance(value, bool | int | float) and not animation.is_animated(target.id, target.data_path):
                for end in _ends(target.id, target.data_path, value):
                    yield State(target.id, target.data_path, slider_read(target), end)


def _ends(owner: Any, path: str, value: Any) -> tuple[Any, Any]:
    """The least and the largest that a slider may be set to."""
    if isinstance(value, bool):
        return False, True
    holder, name, is_custom = animation.property_at(owner, path)
    if is_custom:
        says = holder.id_properties_ui(name).as_dict()
        low, high = says["min"], says["max"]
    else:
        prop = holder.bl_rna.properties[name]
        low, high = prop.soft_min, prop.soft_max
    return (low if low > -ENDLESS else value - 1), (high if high < ENDLESS else value + 1)


def _set(context: Context, state: State, value: Any) -> None:
    if state.owner:
        animation.set_at(state.owner, state.path, value)
        state.owner.update_tag()
        view_layer_of(context).update()


def _frames_of(context: Context, ob: Any, names: tuple[str, ...]) -> Array:
    """Where bones are now, as `Limb` has them."""
    bones = [ob.evaluated_get(context.evaluated_depsgraph_get()).pose.bones[name] for name in names]
    lengths = np.array([bone.bone.length for bone in bones])
    matrices = np.array([bone.matrix for bone in bones], float)
    heads, axes = matrices[:, None, :3, 3], matrices[:, :3, :3].swapaxes(1, 2) * lengths[:, None, None]
    seen: Array = np.concatenate((heads, heads + axes), axis=1) / lengths.sum()
    return seen
