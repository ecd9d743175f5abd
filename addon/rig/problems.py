"""What keeps a chain from being posed, in sentences that say what to change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite
from typing import NamedTuple

from bpy.types import Depsgraph, Object, PoseBone

from .chain_settings import ChainSettings
from .data.access import ArmatureObject, chain_settings, children_of, has_chain, made_on, runs_on_rig, upper_of
from .data.dependencies import Dependencies
from .kinds import Kind, Problem
from .settings import titled
from .targets import Target

NOT_A_PLACE = Problem(
    Kind.NOT_A_NUMBER, "The place of the target, or of what carries the limb, is not a number: set it to one"
)


class Mover(NamedTuple):
    """What moves a limb besides its chain when it acts: a constraint by the name of its bone and its own, or without
    a name of its own the chain of that bone; and what to say then."""

    bone: str
    constraint: str
    problem: str


class Obstacles(NamedTuple):
    """What keeps a chain from being posed, or may in some frames, as of the last edit."""

    lasting: str = ""  # whatever the frame
    movers: Sequence[Mover] = ()
    hidden: Sequence[Target] = ()  # targets that are animated
    driven_scales: frozenset[str] = frozenset()  # of bones of the limb

    def problem(self, evaluated: ArmatureObject, depsgraph: Depsgraph) -> str:
        """Why the chain can't be posed in the frame that is evaluated; empty if it can."""
        return self.lasting or moved_by(evaluated, self.movers) or _left_behind(self.hidden, depsgraph)


def obstacles_of(
    lower: PoseBone,
    target: Target | None,
    pole: Target | None,
    shows: Callable[[Object], bool],
    dependencies: Dependencies,
) -> Obstacles:
    """What keeps the chain of ``lower`` on an original object from being posed; ``shows`` says which objects Blender
    surely evaluates."""
    lasting = _problem_of(lower, target, pole, dependencies)
    if lower.parent is None:
        return Obstacles(lasting)
    hidden = [goal for goal in (target, pole) if goal and not shows(goal.object)]
    lasting = lasting or deleted(hidden)
    return Obstacles(
        lasting,
        movers_of(lower, dependencies),
        [goal for goal in hidden if goal.path in dependencies.animated_paths(goal.object)],
        frozenset(bone.name for bone in (upper_of(lower), lower) if _has_driver(bone, "scale", dependencies)),
    )


def _problem_of(lower: PoseBone, target: Target | None, pole: Target | None, dependencies: Dependencies) -> str:
    """Why the chain can't be posed in any frame, as it is set."""
    lack = lacking(lower, target, pole)
    if lack or target is None:
        return lack
    return (
        not_a_number(chain_settings(lower))
        or hangs_on(lower, target, dependencies)
        or (hangs_on(lower, pole, dependencies) if pole else "")
        or moved_by_driver(lower, dependencies)
    )


def lacking(lower: PoseBone, target: Target | None, pole: Target | None) -> str:
    """What a chain can't do without, whatever it runs on, and does not have."""
    if orphaned(lower) or target is None:
        return orphaned(lower) or f"'{lower.name}' has no target"
    return unposed(lower.id_data) or target.problem() or (pole.problem() if pole else "")


def orphaned(lower: PoseBone) -> str:
    """Whether a lower bone has no parent, as after somebody cleared that in Edit Mode."""
    return "" if lower.parent else f"'{lower.name}' has no parent: a chain is a bone and its parent"


def unposed(ob: ArmatureObject) -> str:
    """Whether an armature shows its rest position whatever its pose."""
    is_at_rest = ob.data.pose_position == "REST"
    return f"'{ob.name}' shows its rest position: set its armature to Pose Position" if is_at_rest else ""


def unevaluated(ob: ArmatureObject) -> str:
    """Whether Blender leaves an armature where it is, as an evaluated object tells."""
    if ob.is_evaluated:
        return ""
    sentence = (
        f"'{ob.name}' is disabled in viewports or excluded, and so is not posed: enable it, and hide it by its eye"
    )
    return Problem(Kind.DISABLED, sentence)


def overlap(lower: PoseBone) -> str:
    """Which other chain has one of this chain's bones, and poses it or, on the rig, would."""
    others = (problem for bone, problem in _rivals(lower) if chain_settings(bone).enabled or runs_on_rig(bone))
    return next(others, "")


def hangs_on(lower: PoseBone, target: Target, dependencies: Dependencies) -> str:
    """Whether the chain itself carries its target or pole."""
    limb = {(lower.id_data, bone.name) for bone in (lower, lower.parent) if bone}
    if dependencies.carriers([(target.object, target.bone)]) & limb:
        name = f"Bone '{target.bone}'" if target.bone else f"'{target.object.name}'"
        return f"{name} hangs on the chain of '{lower.name}' itself: use one that does not move with it"
    return ""


def deleted(targets: Iterable[Target]) -> str:
    """Which of these targets was deleted: the chain alone keeps it in the file."""
    for target in targets:
        if not target.object.users_collection:
            return f"'{target.object.name}' is in no scene, or was deleted: choose something else to follow"
    return ""


def _left_behind(hidden: Iterable[Target], depsgraph: Depsgraph) -> str:
    """Which of these targets, which are hidden, Blender does not move in its animation."""
    for target in hidden:
        if target.is_left_behind(depsgraph):
            name = f"'{target.object.name}'"
            sentence = f"{name} is animated, but disabled in viewports or excluded: enable it, and hide it by its eye"
            if depsgraph.mode == "RENDER":
                sentence = f"{name} is animated, but disabled in renders: enable it"
            return Problem(Kind.DISABLED, sentence)
    return ""


def movers_of(lower: PoseBone, dependencies: Dependencies) -> list[Mover]:
    """The constraints and other chains that move the limb, whether or not they act now."""
    found = [Mover(bone.name, "", problem) for bone, problem in _rivals(lower) if has_chain(bone)]
    for bone in (upper_of(lower), lower):
        made = made_on(bone)
        for each in (each for each in bone.constraints if each not in made):
            problem = f"Constraint '{each.name}' moves '{bone.name}' after the chain: mute or remove it"
            found.append(Mover(bone.name, each.name, problem))
        for owner, each in dependencies.solvers(lower.id_data, bone.name):
            problem = f"Constraint '{each.name}' of '{owner.name}' moves '{bone.name}' too: mute or remove it"
            found.append(Mover(owner.name, each.name, problem))
    return found


def moved_by(ob: ArmatureObject, movers: Iterable[Mover]) -> str:
    """Which of these acts on an object, as it is set or as it is evaluated."""
    for mover in movers:
        bone = ob.pose.bones[mover.bone]
        if mover.constraint:
            constraint = bone.constraints.get(mover.constraint)  # Blender 4.2 does not tell of one that was removed
            acts = constraint is not None and not constraint.mute and constraint.influence > 0.0
        else:
            acts = chain_settings(bone).enabled
        if acts:
            return mover.problem
    return ""


def moved_by_driver(lower: PoseBone, dependencies: Dependencies) -> str:
    """Which of the limb's bones a driver turns besides the chain."""
    for bone in (upper_of(lower), lower):
        if _has_driver(bone, "rotation", dependencies):
            return Problem(Kind.DRIVEN, f"The rotation of '{bone.name}' is driven: remove the driver")
    return ""


def moved_now(lower: PoseBone, dependencies: Dependencies) -> str:
    """What besides its chain turns or moves the limb, as it is set."""
    return moved_by(lower.id_data, movers_of(lower, dependencies)) or moved_by_driver(lower, dependencies)


def _has_driver(bone: PoseBone, channel: str, dependencies: Dependencies) -> bool:
    """Whether a driver sets a channel of a bone."""
    return any(path.startswith(channel) for path, _ in dependencies.drivers(bone.id_data, bone.name))


def _rivals(lower: PoseBone) -> Iterator[tuple[PoseBone, str]]:
    """The bones whose chains would have one of this chain's bones, and what to say of each."""
    upper = upper_of(lower)
    yield upper, f"'{upper.name}' is the lower bone of another chain"
    for bone in (*children_of(lower), *children_of(upper)):
        if bone != lower:
            yield bone, f"'{upper_of(bone).name}' is also in the chain of '{bone.name}'"


def not_a_number(settings: ChainSettings) -> str:
    """Which setting has no value that anything could be worked out from."""
    wrong = [name for name, number in settings.numbers().items() if not isfinite(number)]
    return Problem(Kind.NOT_A_NUMBER, f"{titled(wrong[0])} is not a number: set it to one") if wrong else ""
