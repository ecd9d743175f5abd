"""Putting live chains on the rig, and bringing them back; neither moves the limb."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import bpy
from bpy.types import Bone, Context, PoseBone

from ..rig.chain_settings import holder_of, quietly
from ..rig.data.access import ArmatureObject, bones_of, chain_settings, runs_on_rig, setting_path, upper_of
from ..rig.data.animation import animated_paths, drivers_by_bone
from ..rig.data.carrying import Property, carry, carry_across, redirect
from ..rig.data.dependencies import Dependencies
from ..rig.data.editing import at_once, edit_mode, object_mode
from ..rig.data.unkeyed import unkeyed_kept
from ..rig.kinds import Refused
from ..rig.settings import PREFIX, SWITCH
from ..rig.stretching import avoid_shear, restore_inherit_scale, shears
from ..rig.targets import GOALS, Target
from ..rig.tasks.ends import drive_ends
from ..rig.tasks.mirroring import flip_settings
from ..rig.tasks.setup import check_parent
from ..solver.limb import Limb
from .checking import check, check_goals, check_in_reach, check_kept, check_live
from .mechanism.annex import annex_of, host_for, needs_annex, remove_if_empty
from .mechanism.apart import DesignerApart
from .mechanism.blending import world_bone
from .mechanism.build import RigPlan, build, demolish, take_away, take_away_left
from .mechanism.design import Designer
from .mechanism.found import Found, constraints_of
from .mechanism.references import subtarget_of
from .mechanism.surroundings import surroundings_of
from .purpose import check_new_goals, limb_of, purpose_of
from .wanted import Values, Wanted, goals_wanted, path_on, read, values_of

ASKEW = 1e-3
"""How far from 1 an axis of a bone at rest may be long and be left as it is."""

Chains = dict[ArmatureObject, dict[str, Wanted]]
"""What chains are to do, by their objects and the names of their lower bones: bones move in memory where others are
made."""

Of = TypeVar("Of")


def _limbs(chains: Mapping[ArmatureObject, Mapping[str, Of]]) -> list[tuple[PoseBone, Of]]:
    """The lower bones of chains, each with what is said of it."""
    return [(ob.pose.bones[name], of) for ob, each in chains.items() for name, of in each.items()]


@contextmanager
def _switched_off(chains: dict[ArmatureObject, list[str]]) -> Iterator[None]:
    """Switch chains off while they run on nothing, lest the extension poses them, and back to what they were."""
    states = {(ob, name): chain_settings(ob.pose.bones[name]).enabled for ob, names in chains.items() for name in names}
    with quietly():
        try:
            for ob, name in states:
                setattr(ob.pose.bones[name], PREFIX + SWITCH, False)
            yield
        finally:
            for (ob, name), state in states.items():
                setattr(ob.pose.bones[name], PREFIX + SWITCH, state)


def make_portable(context: Context, lowers: Iterable[PoseBone]) -> None:
    """Put chains on the rig; raises `Refused` before anything is changed."""
    chains = _by_object(lowers)
    for ob, names in chains.items():
        for name in names:
            check(ob.pose.bones[name])
    wanted = _read_all(chains)
    _check_together(wanted)
    for ob, each in wanted.items():
        _check_sharing(ob, each)
    lowers = [ob.pose.bones[name] for ob, names in chains.items() for name in names]
    with object_mode(context, chains), _switched_off(chains), unkeyed_kept(context, chains):
        left = filter(constraints_of, lowers)  # by a chain whose lower bone was deleted
        take_away(context, dict.fromkeys(left, ()))
        _put_on_rig(context, wanted)


def clear(context: Context, left: Mapping[ArmatureObject, Iterable[str]]) -> list[Target]:
    """Take away what deleted chains left in armatures, give the bones that ``left`` names their own pose back, and
    return what the chains followed; raises `Refused` before anything is changed."""
    for ob in left:
        check_in_reach(ob, [], "take away what its chains left")
    with object_mode(context, left):
        return take_away_left(context, left)


def make_live(context: Context, lowers: Iterable[PoseBone]) -> None:
    """Bring chains back from the rig; raises `Refused` before anything is changed."""
    lowers, dependencies = [*lowers], Dependencies()
    for lower in lowers:
        check_live(lower, dependencies)
    take_off(context, lowers)


def take_off(context: Context, lowers: Iterable[PoseBone]) -> None:
    """The same for chains that are to pose their limbs no more, whatever else moves these."""
    chains = _by_object(lowers)
    for ob, names in chains.items():
        check_in_reach(ob, names, "bring its chains back")
    paths = {ob: animated_paths(ob) for ob in chains}
    wanted = {ob: {name: values_of(ob.pose.bones[name], paths[ob]) for name in names} for ob, names in chains.items()}
    with object_mode(context, chains), _switched_off(chains), unkeyed_kept(context, chains):
        _bring_back(context, wanted)


def _put_on_rig(context: Context, wanted: Chains) -> None:
    """Make the mechanisms of chains, and let what animates these animate them; if something keeps Blender from it,
    leave the chains on the extension, whole."""
    try:
        _make(context, wanted)
        redirect(_carry(wanted, onto_rig=True))
        _drive_ends(wanted)
    except Exception:
        _bring_back(context, wanted)
        raise


def _bring_back(context: Context, wanted: Mapping[ArmatureObject, Mapping[str, Values | Wanted]]) -> None:
    """Let the extension pose chains, and what animates them animate what it reads."""
    moved = _carry(wanted, onto_rig=False)
    _unmake(context, wanted)
    redirect(moved)
    _drive_ends(wanted)
    for ob in wanted:
        remove_if_empty(annex_of(ob))
        ob.update_tag()


def _drive_ends(chains: Mapping[ArmatureObject, Mapping[str, Any]]) -> None:
    """Have feet and hands that turn with their targets read what chains read now."""
    for lower, _ in _limbs(chains):
        drive_ends(lower)


def rebuild(context: Context, lowers: Iterable[PoseBone]) -> None:
    """Make the mechanisms of chains anew, as they are set now; raises `Refused` before anything is changed."""
    chains = _by_object(lowers)
    for ob, names in chains.items():
        check_in_reach(ob, names, "rebuild its chains")
        for name in names:
            check_parent(ob.pose.bones[name])
            _point_again(ob.pose.bones[name])
            _take_own_side(ob.pose.bones[name])
    wanted = _read_all(chains)
    for lower, of in _limbs(wanted):
        check_kept(lower, of)
    with object_mode(context, chains):
        for ob, each in wanted.items():
            for name, of in each.items():
                check_new_goals(Found(ob.pose.bones[name]), of)
            _check_sharing(ob, each)
        _measure_anew(context, wanted)
        with _switched_off(chains), unkeyed_kept(context, chains):
            _unmake(context, wanted, for_good=False)
            _put_on_rig(context, wanted)


def _point_again(lower: PoseBone) -> None:
    """Have a chain follow again what its mechanism measures, where it lost that: Paste Pose takes no pointers over."""
    chain = chain_settings(lower)
    with quietly():
        for names, goal in zip(GOALS, Found(lower).goals, strict=False):
            if goal[0] and getattr(chain, names[0]) is None:
                for name, value in zip(names, goal, strict=True):
                    setattr(chain, name, value)


def _take_own_side(lower: PoseBone) -> None:
    """Have a chain that Symmetrize copied from the other side, whose mechanism still poses it, follow its own side."""
    other = lower.id_data.pose.bones.get(bpy.utils.flip_name(lower.name))
    if other and other != lower and runs_on_rig(other):
        parts = set(Found(other).bones)
        if any(subtarget_of(each) in parts for _, each in constraints_of(lower)):
            with quietly():
                flip_settings(lower, other)


def _read_all(chains: dict[ArmatureObject, list[str]]) -> Chains:
    """What chains are to do, by their objects and their names."""
    return {ob: {name: read(ob.pose.bones[name]) for name in names} for ob, names in chains.items()}


def _carry(wanted: Mapping[ArmatureObject, Mapping[str, Values | Wanted]], onto_rig: bool) -> dict[Property, Property]:
    """Move the animation of settings to their custom properties, or back; return each old property with the new one."""
    moved: dict[Property, Property] = {}
    for ob, chains in wanted.items():
        for name, each in chains.items():
            holder = holder_of(ob.pose.bones[name])
            for setting in each.exposed:
                ends = [(ob, setting_path(name, setting)), (holder.id_data, path_on(holder, setting))]
                (source, old), (to, new) = ends if onto_rig else reversed(ends)
                moved[source, old] = to, new
                if source == to:
                    both = {other for other, of in wanted.items() if name in of and setting in of[name].exposed}
                    carry(ob, old, new, both)
                else:
                    carry_across(source, old, to, new)
    return moved


def _unmake(
    context: Context, chains: Mapping[ArmatureObject, Mapping[str, Values | Wanted]], for_good: bool = True
) -> None:
    """Take the mechanisms of chains away, and leave their settings on their bones. Unless ``for_good``, the custom
    properties stay for the next mechanism, so that no driver of them or on them fails meanwhile."""
    take_away(context, {lower: () if for_good else of.exposed for lower, of in _limbs(chains)})
    for lower, of in _limbs(chains):
        restore_inherit_scale(lower)
        for setting, value in of.settings.items():
            if getattr(lower, PREFIX + setting) != value:
                setattr(lower, PREFIX + setting, value)


def follow(lower: PoseBone) -> None:
    """Let the mechanism of a chain measure what it is to follow now, which needs no other bones, and so is done on
    linked rigs too; raises `Refused` if the chain itself carries that."""
    wanted, found = read(lower), Found(lower)
    check_new_goals(found, wanted)
    goals = goals_wanted(wanted)
    if goals != found.goals and len(goals) == len(found.goals):
        found.aim(goals)


def _make(context: Context, wanted: Chains) -> None:
    """Design and build the mechanisms of chains, whose bones have their own pose."""
    hosts = {ob: host_for(context, ob) for ob in wanted}
    rigs = {host: ob for ob, host in hosts.items()}
    for lower, of in _limbs(wanted):
        if hosts[lower.id_data] == lower.id_data and of.lengthens_only:
            avoid_shear(lower)
    for together in at_once({host for host in rigs if any(map(_is_askew, host.data.bones))}):
        with edit_mode(context, *together):
            pass  # Blender makes unit vectors of them, and the limbs other ones
    plans: list[RigPlan] = []
    try:
        limbs = _measure(context, wanted)
        for together in at_once(rigs):
            begun = len(plans)
            plans += (_plan(rigs[host], host, wanted[rigs[host]], limbs[rigs[host]]) for host in together)
            build(context, plans[begun:])
    except Exception:
        demolish(context, plans)
        raise
    drivers = {host: drivers_by_bone(host) for host in rigs}
    for lower, of in _limbs(wanted):
        purpose = purpose_of(of, limbs[lower.id_data][lower.name], lower)
        Found(lower, drivers[hosts[lower.id_data]]).note(purpose | {"settings": of.settings})


def _is_askew(bone: Bone) -> bool:
    """Whether the axes of a bone at rest are no unit vectors, as in files of old, by more than rounding."""
    return any(abs(axis.length - 1.0) > ASKEW for axis in bone.matrix_local.to_3x3().col)


def _plan(ob: ArmatureObject, host: ArmatureObject, chains: dict[str, Wanted], limbs: dict[str, Limb]) -> RigPlan:
    """Design the mechanisms of one object's chains."""
    around, designer = surroundings_of(ob, host), Designer if host == ob else DesignerApart
    mechanisms = [designer(ob.pose.bones[name], limbs[name], each, around).design() for name, each in chains.items()]
    return RigPlan(ob, host, [world_bone(host, around.world), *mechanisms])


def _check_together(wanted: Chains) -> None:
    """Raise `Refused` if chains would hang on each other once all of them run on the rig."""
    bones = [(bone, of) for lower, of in _limbs(wanted) for bone in (lower, upper_of(lower))]
    dependencies = Dependencies(goals={(bone.id_data, bone.name): goals_wanted(of) for bone, of in bones})
    for lower, of in _limbs(wanted):
        check_goals(lower, (of.target, of.pole), dependencies)


def _check_sharing(ob: ArmatureObject, wanted: dict[str, Wanted]) -> None:
    """Raise `Refused` if limbs that stretch would change what another object's bones inherit."""
    for name in (name for name, each in wanted.items() if each.lengthens_only and shears(ob.pose.bones[name])):
        for other in bpy.data.objects if ob.data.users > 1 and not needs_annex(ob) else ():
            if other.data == ob.data and other != ob and not chain_settings(bones_of(other)[name]).stretch:
                what = f"Stretching '{name}' of '{ob.name}' on the rig changes what the bones of '{other.name}' inherit"
                way = "give it an armature of its own (Make Single User), or let its chain run on the extension"
                raise Refused(f"{what}, which has the same armature: {way}")


def _measure(context: Context, wanted: Chains) -> dict[ArmatureObject, dict[str, Limb]]:
    """The shapes of limbs; raises `Refused` if one can't be posed exactly."""
    depsgraph = context.evaluated_depsgraph_get()
    found = {}
    for ob, names in wanted.items():
        posed = ob.evaluated_get(depsgraph).pose.bones
        found[ob] = {name: limb_of(posed[name], ob.pose.bones[name], each) for name, each in names.items()}
    return found


def _measure_anew(context: Context, wanted: Chains) -> None:
    """Try to measure limbs whose mechanisms are to be made anew, those that no longer lengthen with the Inherit Scale
    that they had before; raises `Refused` as `_measure` does, with nothing changed."""
    limbs = _limbs(wanted)
    even = [lower for lower, of in limbs if chain_settings(lower).own_inherit_scale and not of.lengthens_only]
    for lower in even:
        restore_inherit_scale(lower)
    try:
        _measure(context, wanted)
    except Refused:
        for lower in even:
            avoid_shear(lower)
        raise


def _by_object(lowers: Iterable[PoseBone]) -> dict[ArmatureObject, list[str]]:
    """Chains by their objects, by name: what is edited moves in memory."""
    found: dict[ArmatureObject, list[str]] = {}
    for lower in lowers:
        found.setdefault(lower.id_data, []).append(lower.name)
    return found
