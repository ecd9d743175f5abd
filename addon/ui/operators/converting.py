"""Turning Blender's IK constraints into chains, each one looked at before the constraint goes."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np
from bpy.props import EnumProperty, FloatProperty
from bpy.types import Context, PoseBone
from mathutils import Matrix

from ... import live
from ...rig.data.access import chain_settings, dismiss, is_armature, upper_of, view_layer_of
from ...rig.kinds import Refused
from ...rig.settings import SHAPING
from ...rig.targets import GOALS, Target
from ...rig.tasks.converting import (
    Solvers,
    carry_curves,
    conversion_of,
    drop_drivers,
    is_animated,
    is_stretched,
    limbs_with_solvers,
    solvers_of,
)
from ...rig.tasks.setup import add_chain, check_limb, check_target, new_empty, posture_of, remove_unused, reset_chain
from ...rig.tasks.turning import insert, is_turned_by_hand, take_out
from ...rig.words import n_, rpt_
from ...solver.ops import Array
from ..translations import told
from .adding import put_on_rig
from .chains import RUNS_ON, PoseOperator, was_last

MOVED = 1e-4
"""How far a limb's matrices may change, in lengths of the limb and in its axes, for its constraint to go."""


MOVES = n_("The chain would move '{bone}' by {moved} of its length: set Most Change to more")
STRETCHED = n_(
    "The chain would move '{bone}' by {moved} of its length, as the constraint changes the length of one of its bones "
    "more than of the other: bring it to rest, or set Most Change to more"
)
"""The latter for limbs that are stretched, or shortened: the constraint does so even where it could reach."""


class POSE_OT_planar_ik_convert(PoseOperator):
    """Turn IK constraints of two bones into chains, without moving the limbs"""

    bl_idname = "pose.planar_ik_convert"
    bl_label = "Convert IK Constraints to Planar IK"

    chains: EnumProperty(
        name="Limbs",
        description="Which constraints to convert",
        items=[
            ("ALL", "All", "Those of all bones of the armature"),
            ("SELECTED", "Selected", "Those of the selected bones and of their children"),
        ],
    )

    runs_on: EnumProperty(**RUNS_ON)

    most_change: FloatProperty(
        name="Most Change",
        description="How far a limb may move for its constraint to go, in its lengths and in the axes of its bones",
        default=MOVED,
        min=0.0,
        soft_max=0.1,
        precision=4,
        step=0.1,
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """An armature whose pose is shown, with something to convert, or all of it just converted."""
        ob = context.object
        if ob is None or not is_armature(ob) or context.mode not in {"POSE", "OBJECT"}:
            cls.poll_message_set(rpt_("Select an armature, in Pose Mode or Object Mode"))
            return False
        if not limbs_with_solvers(ob.pose.bones) and not was_last(cls, context):
            cls.poll_message_set(rpt_("No bone of this armature has an IK constraint to convert"))
            return False
        return True

    def act(self, context: Context) -> None:
        """Convert what can be, and name what can't."""
        lowers = self._lowers(context)
        if not lowers:
            raise Refused("There is no IK constraint on these bones: select one that has, or choose All")
        refused, converted = [], []
        names = [(lower.id_data, lower.name) for lower in lowers]
        for ob, name in names:
            try:
                lost = convert(context, ob.pose.bones[name], self.most_change)
            except Refused as why:
                refused.append(str(why))
                continue
            converted.append((ob, name))
            if lost:
                sentence = rpt_("'{bone}' is converted, but {what}")
                self.report({"WARNING"}, sentence.format(bone=name, what="; ".join(map(told, lost))))
        for sentence in refused if converted else refused[1:]:
            self.report({"WARNING"}, rpt_("Left alone. {why}").format(why=told(sentence)))
        if not converted:
            raise Refused(refused[0])
        for warning in put_on_rig(context, converted) if self.runs_on == "RIG" else []:
            self.report({"WARNING"}, warning)
        live.refresh(context)
        words = rpt_("Converted {count} of {all} limbs")
        self.report({"INFO"}, words.format(count=len(converted), all=len(lowers)))

    def _lowers(self, context: Context) -> list[PoseBone]:
        ob: Any = context.object
        if self.chains == "ALL":
            return limbs_with_solvers(ob.pose.bones)
        selected = set(context.selected_pose_bones or ())
        chosen = (bone for bone in ob.pose.bones if bone in selected or bone.parent in selected)
        return limbs_with_solvers(chosen)


def convert(context: Context, lower: PoseBone, limit: float = MOVED) -> list[str]:
    """Put a chain in the place of a limb's IK constraints; return what was not carried over. Raises `Refused`, also if
    that would change the limb's matrices by more than ``limit``; whatever is raised as it tries, all is as it was."""
    solvers = _solvers(lower)
    if not is_turned_by_hand(solvers):
        return _convert(context, solvers, limit)
    turned = insert(context, lower)
    try:
        view_layer_of(context).update()
        return _convert(context, _solvers(turned.object.pose.bones[turned.lower]), limit)
    except Exception:
        take_out(context, turned)
        view_layer_of(context).update()
        raise


def _solvers(lower: PoseBone) -> Solvers:
    found = solvers_of(lower)
    if found is None:
        raise Refused(rpt_("'{bone}' has no IK constraint").format(bone=lower.name))
    return found


def _convert(context: Context, solvers: Solvers, limit: float) -> list[str]:
    """The same, on a limb that has the bones that it needs."""
    lower = solvers.lower
    depsgraph = context.evaluated_depsgraph_get()
    before = _matrices(context, lower)
    settings, lost = conversion_of(solvers, depsgraph)
    posed = posture_of(context, lower)
    with ExitStack() as undo:
        undo.callback(view_layer_of(context).update)
        undo.callback(_switch_on, _switch_off(solvers))
        check_limb(lower, has_others=False)
        check_target(lower, Target(settings["target"], settings["subtarget"]))
        undo.callback(_put_back, lower, _settings_of(lower))
        influence = settings.pop("influence")
        why = is_stretched(lower, depsgraph)
        moved = _try(context, lower, settings, before)
        if moved > limit and solvers.poled is None:
            made = new_empty(context, f"pole_{lower.name}", posed.pole, posed.mark)
            _hang(context, made, lower.id_data, upper_of(lower).parent)
            settings |= {"plane": "POLE", "pole_target": made, "pole_subtarget": ""}
            turned = rpt_("its knee points at '{name}' now, and does not turn with the target")
            lost.append(turned.format(name=made.name))
            moved = _try(context, lower, settings, before)
        if moved > limit:
            raise Refused(rpt_(STRETCHED if why else MOVES).format(bone=lower.name, moved=f"{moved:.2g}"))
        undo.pop_all()
    _replace(context, solvers, influence)
    return lost


def _settings_of(lower: PoseBone) -> dict[str, Any]:
    """What a chain is set to, but for whether it is on."""
    names = (*SHAPING, *(name for names in GOALS for name in names))
    return {name: getattr(chain_settings(lower), name) for name in names}


def _put_back(lower: PoseBone, settings: dict[str, Any]) -> None:
    """Take a chain off, and leave its bone the settings that it had, of a chain that was switched off."""
    remove_unused(reset_chain(lower))
    for name, value in settings.items():
        if getattr(chain_settings(lower), name) != value:
            setattr(chain_settings(lower), name, value)


def _hang(context: Context, mark: Any, ob: Any, bone: PoseBone | None) -> None:
    """Let an object hang on a bone of an armature, or on the armature itself, where it is."""
    mark.parent = ob
    if bone:
        mark.parent_type, mark.parent_bone = "BONE", bone.name
    place = mark.location.copy()
    view_layer_of(context).update()
    mark.matrix_world = Matrix.Translation(place)


def _try(context: Context, lower: PoseBone, settings: dict[str, Any], before: Array) -> float:
    """Pose the limb by a chain, and say how far that moved it; raises `Refused` if the chain can't be posed."""
    add_chain(lower, settings)
    live.refresh(context)
    live.solve_now(context)
    chain = chain_settings(lower)
    if chain.reach == "INVALID":
        raise Refused(chain.message)
    return float(np.abs(_matrices(context, lower) - before).max())


def _replace(context: Context, solvers: Solvers, influence: float) -> None:
    """Remove the constraints, and let the chain have what animated them."""
    lower = solvers.lower
    carry_curves(solvers)
    drop_drivers(solvers)
    for each in solvers.all:
        dismiss(lower, each)
    lower.planar_ik.influence = influence  # type: ignore[attr-defined]  # addon.rig.properties adds it
    lower.id_data.update_tag(refresh={"OBJECT", "DATA"})
    live.refresh(context)


def _switch_off(solvers: Solvers) -> list[tuple[Any, str, Any]]:
    """Let the constraints act no more, whatever drives them; return what was set."""
    kept = []
    for each in solvers.all:
        name, off = ("influence", 0.0) if is_animated(solvers.lower, each, "mute") else ("mute", True)
        kept.append((each, name, getattr(each, name)))
        setattr(each, name, off)
    return kept


def _switch_on(kept: list[tuple[Any, str, Any]]) -> None:
    for constraint, name, value in kept:
        setattr(constraint, name, value)


def _matrices(context: Context, lower: PoseBone) -> Array:
    """Both bones' whole matrices, their places in lengths of the limb."""
    view_layer_of(context).update()
    evaluated = lower.id_data.evaluated_get(context.evaluated_depsgraph_get()).pose.bones[lower.name]
    pair = [np.array(bone.matrix) for bone in (upper_of(evaluated), evaluated)]
    length = upper_of(lower).bone.length + lower.bone.length
    for matrix in pair:
        matrix[:3, 3] /= length
    return np.array(pair)


CLASSES = (POSE_OT_planar_ik_convert,)
