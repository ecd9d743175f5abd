"""What keeps a chain from running on the rig, in sentences that say what to change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from bpy.types import PoseBone

from ..rig.anatomy import EVEN
from ..rig.chain_settings import holder_of
from ..rig.data.access import (
    ArmatureObject,
    chain_settings,
    children_of,
    has_chain,
    runs_on_rig,
    setting_path,
    upper_of,
)
from ..rig.data.animation import changing_paths, curves_on, drivers_on, is_shaped, strip_paths, strips_of
from ..rig.data.dependencies import Dependencies
from ..rig.kinds import Kind, Problem, Refused
from ..rig.problems import deleted, hangs_on, moved_now, overlap, unposed
from ..rig.settings import NAMES, titled
from ..rig.stretching import shears
from ..rig.targets import Target
from ..rig.tasks.setup import check_parent
from .mechanism.annex import needs_annex
from .mechanism.found import host_of
from .mechanism.parts import property_path
from .wanted import Wanted, fixed_on, read

PASSED_ON = {"FULL", "FIX_SHEAR", "ALIGNED"}
"""The ways to inherit scale by which an uneven one stays uneven."""


def check(lower: PoseBone) -> None:
    """Raise `Refused` if a chain can't be put on the rig."""
    ob = lower.id_data
    check_in_reach(ob, [], "make its chains portable")
    if runs_on_rig(lower):
        raise Refused(f"The chain of '{lower.name}' runs on the rig already")
    check_parent(lower)
    dependencies, wanted = Dependencies(), read(lower)
    _check_followed(lower, wanted, dependencies)
    shared = overlap(lower)
    if shared:
        raise Refused(f"{shared}: remove that chain first")
    if problem := unposed(ob) or moved_now(lower, dependencies):
        raise Refused(problem)
    check_kept(lower, wanted)
    check_lengths(lower)
    if needs_annex(ob):
        _check_apart(lower)
    if waits := kept_waiting(lower, dependencies):
        raise Refused(waits)


def check_live(lower: PoseBone, dependencies: Dependencies) -> None:
    """Raise `Refused` if a chain that is brought back from the rig would not pose the limb: constraints and drivers of
    the animator's own may turn a limb on the rig."""
    moved = chain_settings(lower).enabled and lower.parent and moved_now(lower, dependencies)
    if moved:
        raise Refused(moved)


def kept_waiting(lower: PoseBone, dependencies: Dependencies) -> str:
    """Which IK constraint would turn both bones: even a muted one has Blender wait for the lower bone before the upper
    one is done, on which a mechanism has the lower one hang, unless it stands in an annex."""
    ob = lower.id_data
    if needs_annex(ob):
        return ""
    solvers = dependencies.solvers(ob, upper_of(lower).name)
    for owner, each in dependencies.solvers(ob, lower.name):
        if (owner, each) in solvers:
            sentence = (
                f"Even muted, constraint '{each.name}' of '{owner.name}' keeps Blender from posing '{lower.name}' on "
                "the rig: remove it, or run on the extension"
            )
            return Problem(Kind.KEPT_WAITING, sentence)
    return ""


def check_kept(lower: PoseBone, wanted: Wanted) -> None:
    """Raise `Refused` for what no mechanism follows, however new: animation of settings that it has for good, a scale
    that mirrors the limb, and an uneven stretch below another one."""
    _check_fixed(lower)
    _check_unmirrored(lower)
    if wanted.lengthens_only:
        _check_carried(lower)


def _check_fixed(lower: PoseBone) -> None:
    """Raise `Refused` if a setting that a mechanism can't animate changes over time."""
    ob = lower.id_data
    fixed = {setting_path(lower.name, name): titled(name) for name in fixed_on(ob)}
    for path in sorted(changing_paths(ob, fixed)):
        say = _driven if drivers_on(ob, path) else _animated
        raise Refused(say(fixed[path], lower.name))


def _check_unmirrored(lower: PoseBone) -> None:
    """Raise `Refused` if a bone's own scale mirrors it: Blender's constraints on rotation take that away."""
    for bone in (upper_of(lower), lower):
        if prod(bone.scale[:]) < 0.0:
            sentence = (
                f"The scale of '{bone.name}' mirrors it, which no limb on the rig keeps: make it positive, or stay on "
                "the extension"
            )
            raise Refused(sentence)


def _check_carried(lower: PoseBone) -> None:
    """Raise `Refused` if a limb that gets longer by another factor than it gets wide hangs on another one that does:
    scaled so by that one it would be sheared as it turns, and miss its target."""
    for other in filter(_lengthens_only, _carriers(lower)):
        sentence = (
            f"'{lower.name}' hangs on the limb of '{other.name}', which stretches unevenly too: on the rig, set "
            "Stretch Volume of one of them to Uniform, or stay on the extension"
        )
        raise Refused(Problem(Kind.STRETCHED_ASIDE, sentence))


def _lengthens_only(lower: PoseBone) -> bool:
    """Whether a limb gets longer by another factor than it gets wide; none does that has nothing to follow."""
    try:
        return read(lower).lengthens_only
    except Refused:
        return False


def _carriers(lower: PoseBone) -> Iterator[PoseBone]:
    """The lower bones of the limbs whose scale a limb takes over, axis by axis."""
    bone = upper_of(lower)
    while bone.parent and bone.bone.inherit_scale in PASSED_ON:
        bone = bone.parent
        yield from filter(has_chain, (bone, *children_of(bone)))


def check_lengths(lower: PoseBone) -> None:
    """Raise `Refused` if a limb's own channels give it other lengths over time, by more than rounding: a mechanism has
    them for good."""
    ob = lower.id_data
    own = [(upper_of(lower), "scale", {1}, 1.0), (lower, "scale", {1}, 1.0)]
    if not lower.bone.use_connect:
        own.append((lower, "location", {0, 1, 2}, lower.bone.length))
    for bone, channel, axes, size in own:
        path = property_path(bone.name, channel)
        if any(curve.array_index in axes for curve in drivers_on(ob, path)):
            raise Refused(_driven(titled(channel), bone.name))
        for curve in (curve for curve in curves_on(ob, path) if curve.array_index in axes):
            numbers = [key.co.y for key in curve.keyframe_points]
            if is_shaped(curve) or (numbers and max(numbers) - min(numbers) > EVEN * size):
                raise Refused(_animated(titled(channel), bone.name))


def _driven(setting: str, bone: str) -> str:
    return f"{setting} of '{bone}' is driven: remove its driver, or stay on the extension"


def _animated(setting: str, bone: str) -> str:
    return f"{setting} of '{bone}' is animated: remove its keys first"


def _check_followed(lower: PoseBone, wanted: Wanted, dependencies: Dependencies) -> None:
    """Raise `Refused` if a chain can't follow its target or pole."""
    goals = [goal for goal in (wanted.target, wanted.pole) if goal]
    if problem := deleted(goals):
        raise Refused(problem)
    check_goals(lower, goals, dependencies)


def check_goals(lower: PoseBone, goals: Iterable[Target | None], dependencies: Dependencies) -> None:
    """Raise `Refused` if a chain can't follow one of these, as it is not there, or hangs on the chain itself."""
    for goal in filter(None, goals):
        problem = goal.problem() or _has_no_bone(lower, goal) or hangs_on(lower, goal, dependencies)
        if problem:
            raise Refused(problem)


def _has_no_bone(lower: PoseBone, goal: Target) -> str:
    """Whether a goal is the armature in which the mechanism is: its bones' constraints can't follow its origin."""
    if goal.bone or goal.object != host_of(lower):
        return ""
    return f"On the rig, bones of '{goal.object.name}' can't follow its origin: pick one of its bones"


def check_in_reach(ob: ArmatureObject, lowers: Iterable[str], what: str) -> None:
    """Raise `Refused` if the mechanisms of a rig's chains are, or would be, in a linked armature."""
    if ob.library or any(is_out_of_reach(ob.pose.bones[name]) for name in lowers):
        raise Refused(f"'{ob.name}' is linked: {what} in the file that it is linked from")


def is_out_of_reach(lower: PoseBone) -> bool:
    """Whether the mechanism of a chain is part of an armature that is linked."""
    ob = lower.id_data
    return ob.library is not None or (needs_annex(ob) and holder_of(lower).id_data == ob)


def _check_apart(lower: PoseBone) -> None:
    """Raise `Refused` if a chain can't run in an annex."""
    in_strips = {path for strip in strips_of(lower.id_data) for path in strip_paths(strip)}
    for name in NAMES:
        if setting_path(lower.name, name) in in_strips:
            raise Refused(
                f"{titled(name)} of '{lower.name}' is animated by NLA strips, which act on the linked rig only"
            )
    if read(lower).lengthens_only and shears(lower):
        raise Refused(
            f"'{lower.name}' would be sheared by the scale that it inherits, and is linked: set Stretch Volume to "
            "Uniform, or Inherit Scale to Aligned in the file that the rig is linked from"
        )
