"""Adding chains to what is selected."""

from __future__ import annotations

from typing import Any, NamedTuple

from bpy.types import Context, PoseBone
from mathutils import Matrix

from ... import live
from ...native.convert import make_portable, take_off
from ...rig.data.access import chain_settings, has_chain, runs_on_rig, takes_bones
from ...rig.kinds import Refused
from ...rig.targets import unsheared_turn
from ...rig.tasks.controls import Control, make_controls
from ...rig.tasks.ends import end_of, keep_rotation, world_of
from ...rig.tasks.setup import Fitting, add_fitting, fit_chain, named_target, remove_unused, reset_chain, stop_chain
from ...rig.words import rpt_
from ..meaning import misfit, selection, told_apart, told_left_out
from ..translations import told


class AddRequest(NamedTuple):
    """What the caller asked for by name; empty strings leave it to the selection and the pose."""

    plane: str
    target: str
    subtarget: str
    pole_target: str
    pole_subtarget: str
    on_rig: bool
    flip: bool
    any_bones: bool
    controls: str = "EMPTY"
    keep_rotation: bool = False


def add_chains(context: Context, request: AddRequest) -> list[str]:
    """Add a chain to every selected limb; return warnings. Raises `Refused` before anything is changed."""
    target = named_target(request.target, request.subtarget)
    pole = named_target(request.pole_target, request.pole_subtarget)
    left_out = ""
    if target and context.active_pose_bone:
        lowers = [context.active_pose_bone]
    else:
        lowers, goals = selection(context, request.any_bones)
        left_out = told_left_out(context, lowers, goals)
        target, selected_pole = told_apart(context, goals, lowers[0])
        pole = pole or selected_pole
    if target and len(lowers) > 1:
        raise Refused("Select one lower bone and a target, or several lower bones and no target")
    fittings = [fit_chain(context, lower, target, pole, request.plane) for lower in lowers]
    warnings = [left_out] if left_out else []
    warnings += [warning for fitting in fittings if (warning := fitting.warning() or misfit(fitting.lower))]
    if request.controls != "EMPTY":
        _check_bones_can_be_made(fittings)
    fittings, marks = _without_chains(context, fittings)
    if request.controls != "EMPTY":
        fittings = _with_controls(context, fittings, request.controls == "ROOT")
    ends = fittings if request.keep_rotation else []
    before = [_world_of_end(context, fitting.lower) for fitting in ends]
    for fitting in fittings:
        add_fitting(context, fitting, {"bend": -fitting.fit.bend} if request.flip else {})
    names = [(fitting.lower.id_data, fitting.lower.name) for fitting in fittings]
    if request.keep_rotation:
        warnings += _keep_rotations(context, fittings, before)
    remove_unused(marks)
    if request.on_rig:
        warnings += put_on_rig(context, names)
    live.refresh(context)
    return warnings


def _check_bones_can_be_made(fittings: list[Fitting]) -> None:
    """Raise `Refused` if a rig takes no bones for controls."""
    for ob in (fitting.lower.id_data for fitting in fittings):
        if not takes_bones(ob):
            raise Refused(
                rpt_("No bones can be added to '{rig}', which is linked: make empties instead").format(rig=ob.name)
            )


def _without_chains(context: Context, fittings: list[Fitting]) -> tuple[list[Fitting], set[Any]]:
    """Fittings of limbs without the chains that they had, switched off; and what was made for these."""
    names = [(fitting.lower.id_data, fitting.lower.name) for fitting in fittings]
    old = [(ob, name) for ob, name in names if has_chain(ob.pose.bones[name])]
    take_off(context, [ob.pose.bones[name] for ob, name in old if runs_on_rig(ob.pose.bones[name])])
    marks: set[Any] = set()
    for ob, name in old:
        stop_chain(ob.pose.bones[name])
        marks |= reset_chain(ob.pose.bones[name])
    pairs = zip(fittings, names, strict=True)
    return [fitting._replace(lower=ob.pose.bones[name]) for fitting, (ob, name) in pairs], marks


def _with_controls(context: Context, fittings: list[Fitting], under_root: bool) -> list[Fitting]:
    """Fittings with new bones of the rig for the targets and poles that they lack."""
    done: list[tuple[Fitting, Any, str]] = []
    for ob in {fitting.lower.id_data: None for fitting in fittings}:
        of_rig = [(fitting, fitting.lower.name) for fitting in fittings if fitting.lower.id_data == ob]
        for fitting, name in of_rig:
            goals = _lacking(context, fitting, name)
            root = _root_of(ob.pose.bones[name]) if under_root else ""
            made: Any = dict(zip(goals, make_controls(context, ob, goals.values(), root), strict=True))
            done.append((fitting._replace(**made), ob, name))
    return [fitting._replace(lower=ob.pose.bones[name]) for fitting, ob, name in done]


def _root_of(lower: PoseBone) -> str:
    """The bone at the top of a limb's rig; none if that is the limb's own, on which no target can hang."""
    top = lower.parent_recursive[-1]
    return "" if top == lower.parent else top.name


def _lacking(context: Context, fitting: Fitting, name: str) -> dict[str, Control]:
    """The target and the pole that a limb has none of, as bones."""
    posed, lower = fitting.posed, fitting.lower.id_data.pose.bones[name]
    found = {}
    if fitting.target is None:
        turned = world_of(context, end_of(lower) or lower)
        found["target"] = Control("target", name, posed.target, turned, posed.mark)
    if fitting.pole is None and fitting.fit.plane == "POLE":
        found["pole"] = Control("pole", name, posed.pole, Matrix(), posed.mark)
    return found


def _world_of_end(context: Context, lower: PoseBone) -> Matrix:
    """The transform in the world of the bone below a limb, if there is one."""
    end = end_of(lower)
    return world_of(context, end) if end else Matrix()


def _keep_rotations(context: Context, fittings: list[Fitting], before: list[Matrix]) -> list[str]:
    """Have the bones below the limbs, which were so, keep their targets' rotation; new empties take theirs."""
    warnings = []
    for fitting, world in zip(fittings, before, strict=True):
        target: Any = chain_settings(fitting.lower).target
        if fitting.target is None and end_of(fitting.lower):
            target.rotation_euler = unsheared_turn(world).to_euler()
        warnings.append(keep_rotation(context, fitting.lower, world))
    return [warning for warning in warnings if warning]


def put_on_rig(context: Context, names: list[tuple[Any, str]]) -> list[str]:
    """Let new chains, by their objects and lower bones, run on the rig; what can't stays live, with a warning."""
    try:
        make_portable(context, [ob.pose.bones[name] for ob, name in names])
    except Refused as why:
        if len(names) == 1:
            return [rpt_("Runs on the extension: {why}").format(why=told(str(why)))]
        return [warning for name in names for warning in put_on_rig(context, [name])]
    return []
