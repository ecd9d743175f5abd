"""What became of a chain that runs on the rig, worked out when it is asked for."""

from __future__ import annotations

from math import cos, isnan

import bpy
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, PoseBone, Scene

from ..rig.anatomy import Unposable, anatomy, is_nothing, nothing
from ..rig.data.access import (
    Key,
    bones_of,
    chain_settings,
    children_of,
    has_chain,
    key_of,
    runs_on_rig,
    upper_of,
    view_layer_of,
)
from ..rig.data.dependencies import SOLVERS, Dependencies, is_structural
from ..rig.kinds import Kind, Problem, Refused
from ..rig.problems import NOT_A_PLACE, deleted, hangs_on, lacking, moved_by, movers_of, not_a_number, unevaluated
from ..rig.solver_settings import angles_of, features_of, solver_settings
from ..rig.status import MISSED, away, lower_length, off, tolerance
from ..rig.targets import Target, followed
from ..solver import Reach
from ..solver.chain import solve_chain
from ..solver.ops import FLOATS
from .checking import is_out_of_reach, kept_waiting
from .mechanism.found import Found, host_of, may_switch
from .purpose import changed_since
from .wanted import read

MEND = "press Rebuild on the Rig (pose.planar_ik_rebuild)"
"""How the message ends of a chain that is mended so."""

MEND_ELSEWHERE = "rebuild it in the file that its rig is linked from"
"""The same of one whose mechanism is part of a linked armature."""


_circles: dict[int, dict[str, str]] = {}
"""What `_circle` tells of each chain that runs on a rig, by the object's session_uid and the lower bone's name."""

_sound: set[Key] = set()
"""The chains that were found without fault since a rig was last edited. As long as the tip of one is on its target, its
mechanism is not examined, which would take twenty times as long. Chains with keys on other settings than the influence
are never among them: a script may set such keys between two frames, and Blender reports no edit of a rig."""


def answer(lower: PoseBone, depsgraph: Depsgraph, dependencies: Dependencies | None = None) -> tuple[Reach, str]:
    """The reach of a chain, and why it can't be posed; nothing if it can. Whoever asks of many chains gives their
    ``dependencies``, which else are looked up for each."""
    evaluated = lower.id_data.evaluated_get(depsgraph).pose.bones[lower.name]
    settings = chain_settings(lower)
    target, pole = followed(settings, may_switch(lower))
    problem = lacking(lower, target, pole) or _deleted(target, pole) or not_a_number(settings)
    if target is None or problem:
        return Reach.INVALID, _lost(lower) or problem
    if key_of(lower) in _sound and away(evaluated, target, depsgraph) <= tolerance(evaluated):
        return Reach.REACHED, ""
    dependencies = dependencies or Dependencies()
    try:
        problem = _outdated(lower, evaluated, dependencies)
        reach = Reach.INVALID if problem else reach_of(lower, evaluated, target, depsgraph)
    except (Refused, Unposable) as why:
        return Reach.INVALID, why.args[0]
    problem = problem or _circle(lower)
    if not problem and (reach != Reach.REACHED or _is_solved_too(lower)):
        problem = unevaluated(evaluated.id_data) or moved_by(evaluated.id_data, movers_of(lower, dependencies))
        problem = problem or _hangs(lower, dependencies, target, pole) or kept_waiting(lower, dependencies)
        if reach == Reach.INVALID and not problem:
            mend = _mend(lower)
            problem = _outdated_as(mend, f"'{lower.name}' is not where its settings put it: {mend}")
    if problem:
        return Reach.INVALID, problem
    if reach == Reach.REACHED and read(lower).animated <= {"influence"}:
        _sound.add(key_of(lower))
    return reach, ""


def _deleted(*goals: Target | None) -> str:
    """Which of these goals was deleted; what is shown was not, and to look for the others takes longer."""
    objects = view_layer_of(bpy.context).objects
    return deleted(goal for goal in goals if goal and objects.get(goal.object.name) != goal.object)


def _circle(lower: PoseBone) -> str:
    """Whether what a chain follows surely hangs on it: then its tip may well be there, but where that is depends on the
    frame before. Looked up for all chains of the rig at once, as that is what takes long."""
    ob = lower.id_data
    if lower.name not in _circles.get(ob.session_uid, ()):
        dependencies = Dependencies(drivers=False)
        chains = [bone for bone in bones_of(ob) if has_chain(bone) and runs_on_rig(bone)]
        goals = {bone.name: followed(chain_settings(bone), may_switch(bone)) for bone in chains if bone.parent}
        _circles[ob.session_uid] = {name: _hangs(bones_of(ob)[name], dependencies, *of) for name, of in goals.items()}
    return _circles[ob.session_uid][lower.name]


@persistent
def _on_edit(_scene: Scene, depsgraph: Depsgraph) -> None:
    """Something was edited, or a frame shown, and with it what was edited before."""
    if is_structural(depsgraph):
        forget()
    elif depsgraph.id_type_updated("ARMATURE"):
        _sound.clear()


def forget() -> None:
    """Have everything looked at anew."""
    _circles.clear()
    _sound.clear()


HANDLERS = (("depsgraph_update_post", _on_edit), ("frame_change_post", _on_edit))


def _hangs(lower: PoseBone, dependencies: Dependencies, *goals: Target | None) -> str:
    """Whether what a chain follows was made to hang on it since."""
    found = (hangs_on(lower, goal, dependencies) for goal in goals if goal)
    return next(filter(None, found), "")


def _lost(lower: PoseBone) -> str:
    """Whether a chain lost what its mechanism still measures, as Paste Pose takes no pointers over."""
    chain = chain_settings(lower)
    names = ("target", "pole_target") if chain.plane == "POLE" or may_switch(lower) else ("target",)
    for (ob, _), name in zip(Found(lower).goals, names, strict=False):
        if ob and getattr(chain, name) is None:
            mend = _mend(lower)
            return _outdated_as(
                mend, f"'{lower.name}' lost its {name.replace('_', ' ')} and follows '{ob.name}' still: {mend}"
            )
    return ""


def _outdated(lower: PoseBone, evaluated: PoseBone, dependencies: Dependencies) -> str:
    found, mend = Found(lower, dependencies.drivers_by_bone(host_of(lower))), _mend(lower)
    if not found.is_whole:
        return _outdated_as(
            mend, f"Bones or constraints that pose '{lower.name}' are gone, changed or another's: {mend}"
        )
    if changed := changed_since(found, evaluated):
        return _outdated_as(mend, f"{changed}, so {mend}")
    if any(constraint.mute for _, constraint in found.constraints):
        return Problem(Kind.MUTED, f"Constraints that pose '{lower.name}' are muted: un-mute them")
    return ""


def _is_solved_too(lower: PoseBone) -> bool:
    """Whether the limb, or a bone on it, has an IK constraint of Blender's: even where both agree, each waits for the
    other, of which Blender's log tells as of a dependency cycle."""
    bones = (upper_of(lower), lower, *children_of(lower))
    return any(each.type in SOLVERS for bone in bones for each in bone.constraints)


def _mend(lower: PoseBone) -> str:
    """What makes a mechanism anew."""
    return MEND_ELSEWHERE if is_out_of_reach(lower) else MEND


def _outdated_as(mend: str, sentence: str) -> str:
    """A sentence that ends with that, as a problem that is mended here if it is."""
    return Problem(Kind.OUTDATED, sentence) if mend == MEND else sentence


def reach_of(lower: PoseBone, evaluated: PoseBone, target: Target, depsgraph: Depsgraph) -> Reach:
    """Whether the tip is at its target, and if not, what keeps it away. Raises `Refused` if either has no place, and
    `Unposable` if the limb has no size."""
    gap = away(evaluated, target, depsgraph)
    if isnan(gap) or isnan(evaluated.matrix.determinant()):  # as Blender inverts what is scaled to nothing, or almost
        raise Refused(NOT_A_PLACE)
    if gap <= tolerance(evaluated):
        return Reach.REACHED
    settings, upper = chain_settings(lower), upper_of(lower)
    given, world = settings.numbers(), evaluated.id_data.matrix_world
    limb, _, frame, *_ = anatomy(upper_of(evaluated), evaluated, upper.scale[:], lower.scale[:], angles_of(given))
    if is_nothing(world @ frame):
        raise Unposable(nothing(upper))
    place = (world @ frame).inverted_safe() @ target.position(depsgraph)
    numbers = solver_settings(given, 1.0, cos)
    features = features_of(numbers, settings.plane)
    reach = solve_chain(place[:], limb, numbers, features, FLOATS, tolerance=MISSED).reach
    if reach != Reach.REACHED:
        return Reach(int(reach))
    return off(settings.influence, gap, lower_length(evaluated))
