"""Putting live chains on the rig, and bringing them back; neither moves the limb."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
from bpy.types import Context, PoseBone

from ..rig.access import ArmatureObject, bones_of, chain_settings, path_to_bone, setting_path, upper_of
from ..rig.anatomy import Unposable, anatomy
from ..rig.animation import animated_paths
from ..rig.carrying import carry, carry_across
from ..rig.dependencies import Dependencies
from ..rig.editing import at_once, object_mode
from ..rig.problems import hangs_on
from ..rig.settings import NAMES, ON_RIG, PREFIX, SWITCH, holder_of
from ..rig.setup import Refused
from ..rig.sides import swing_side
from ..rig.stretching import avoid_shear, restore_inherit_scale, shears
from ..rig.targets import Target
from ..solver.limb import Limb
from ..solver.ops import FLOATS
from ..solver.triangle import bones
from .annex import annex_of, host_for, needs_annex, remove_if_empty
from .apart import design_apart
from .blending import is_mirrored, world_bone
from .build import Plan, build, take_away
from .checking import FIXED, check, check_in_reach
from .design import design, surroundings_of
from .found import Found, exposed, host_of
from .wanted import ALWAYS, Wanted, moving_root, needs_swing

Chains = dict[ArmatureObject, dict[str, Wanted]]
"""What chains are to do, by their objects and the names of their lower bones."""

making: list[bool] = []
"""Not empty while mechanisms are made or taken away, which sets settings too."""


@contextmanager
def _switched_off(chains: dict[ArmatureObject, list[str]]) -> Iterator[None]:
    """Chains switched off while they run on nothing, lest the extension poses them; what they are set to then stays."""
    states = {(ob, name): chain_settings(ob.pose.bones[name]).enabled for ob, names in chains.items() for name in names}
    making.append(True)
    try:
        for ob, name in states:
            setattr(ob.pose.bones[name], PREFIX + SWITCH, False)
        yield
    finally:
        for (ob, name), state in states.items():
            setattr(ob.pose.bones[name], PREFIX + SWITCH, state)
        making.pop()


def make_portable(context: Context, lowers: Iterable[PoseBone]) -> None:
    """Put chains on the rig; raises `Refused` before anything is changed."""
    chains = _by_object(lowers)
    for ob, names in chains.items():
        for name in names:
            check(ob.pose.bones[name])
    wanted = _read_all(chains)
    for ob, each in wanted.items():
        _check_sharing(ob, each)
    with object_mode(context, chains), _switched_off(chains):
        _make(context, wanted)
        _carry(wanted, onto_rig=True)


def make_live(context: Context, lowers: Iterable[PoseBone]) -> None:
    """Bring chains back from the rig; raises `Refused` before anything is changed."""
    chains = _by_object(lowers)
    for ob, names in chains.items():
        check_in_reach(ob, names, "bring its chains back")
    wanted = _read_all(chains)
    with object_mode(context, chains), _switched_off(chains):
        _carry(wanted, onto_rig=False)
        _unmake(context, wanted)
        for ob, each in wanted.items():
            for name, of in each.items():
                for setting in of.exposed - {"enabled"}:
                    setattr(chain_settings(ob.pose.bones[name]), setting, of.settings[setting])
            remove_if_empty(annex_of(ob))
            ob.update_tag()


def rebuild(context: Context, lowers: Iterable[PoseBone]) -> None:
    """Make the mechanisms of chains anew, as they are set now; raises `Refused` before anything is changed."""
    chains = _by_object(lowers)
    for ob, names in chains.items():
        check_in_reach(ob, names, "rebuild its chains")
    wanted = _read_all(chains)
    with object_mode(context, chains):
        for ob, each in wanted.items():
            _check_sharing(ob, each)
        _measure(context, wanted)
        with _switched_off(chains):
            _unmake(context, wanted)
            _make(context, wanted)


def _read_all(chains: dict[ArmatureObject, list[str]]) -> Chains:
    """What chains are to do, by their objects and their names."""
    return {ob: {name: read(ob.pose.bones[name]) for name in names} for ob, names in chains.items()}


def _carry(wanted: Chains, onto_rig: bool) -> None:
    """Let what animates settings animate custom properties in their stead, or the other way round."""
    for ob, chains in wanted.items():
        for name, each in chains.items():
            holder = holder_of(ob.pose.bones[name])
            for setting in each.exposed:
                ends = [(ob, setting_path(name, setting)), (holder.id_data, _path_on(holder, setting))]
                (source, old), (to, new) = ends if onto_rig else reversed(ends)
                if source == to:
                    both = {other for other, of in wanted.items() if name in of and setting in of[name].exposed}
                    carry(ob, old, new, both)
                else:
                    carry_across(source, old, to, new)


def _unmake(context: Context, chains: Chains) -> None:
    """Take the mechanisms of chains away."""
    take_away(context, [ob.pose.bones[name] for ob, names in chains.items() for name in names])
    for ob, names in chains.items():
        for name in names:
            restore_inherit_scale(ob.pose.bones[name])


def is_outdated(found: Found, evaluated: PoseBone) -> bool:
    """Whether the mechanism of a chain is not what its settings and its bones ask for now."""
    wanted = read(found.lower)
    if found.purpose is None or not found.is_whole or found.goals != _goals(wanted):
        return True
    return not _alike(found.purpose, _purpose(wanted, limb_of(evaluated, found.lower), found.lower))


def follow(lower: PoseBone) -> None:
    """Let the mechanism of a chain measure what it is to follow now, which needs no other bones, and so is done on
    linked rigs too; raises `Refused` if the chain itself carries that."""
    wanted, found = read(lower), Found(lower)
    goals, before = _goals(wanted), found.goals
    if goals == before or len(goals) != len(before):
        return
    for goal in (wanted.target, wanted.pole):
        problem = goal and (goal.problem() or hangs_on(lower.id_data, lower, goal, Dependencies()))
        if problem:
            raise Refused(problem)
    found.aim(goals)


def _goals(wanted: Wanted) -> list[tuple[Any, str]]:
    return [(goal.object, goal.bone) for goal in (wanted.target, wanted.pole) if goal]


def read(lower: PoseBone) -> Wanted:
    """What a chain is to do, as it is set."""
    settings = chain_settings(lower)
    animated, holder = animated_paths(lower.id_data), holder_of(lower)
    custom = animated if holder == lower else animated_paths(holder.id_data)
    moving = {
        name
        for name in NAMES
        if (setting_path(lower.name, name) in animated or _path_on(holder, name) in custom) and name not in FIXED
    }
    target = Target.read(settings.target, settings.subtarget)
    pole = Target.read(settings.pole_target, settings.pole_subtarget) if settings.plane == "POLE" else None
    values = {name: getattr(settings, name) for name in NAMES}
    for name in exposed(lower):
        values[name] = holder[ON_RIG + name]
    if target is None or (settings.plane == "POLE" and pole is None):
        raise Refused(f"'{lower.name}' has no {'pole ' if target else ''}target")
    root = moving_root(lower, animated) if lower.parent else ()
    return Wanted(target, pole, values, ALWAYS | moving, frozenset(moving), swing_side(lower.name), root)


def _make(context: Context, wanted: Chains) -> None:
    """Design and build the mechanisms of chains, whose bones have their own pose."""
    hosts = {ob: host_for(context, ob) for ob in wanted}
    rigs = {host: ob for ob, host in hosts.items()}
    lowers = [ob.pose.bones[name] for ob, chains in wanted.items() for name in chains]
    for lower in lowers:
        if hosts[lower.id_data] == lower.id_data and _stretches(wanted[lower.id_data][lower.name]):
            avoid_shear(lower)
    try:
        limbs = _measure(context, wanted)
    except Refused:
        for lower in lowers:
            restore_inherit_scale(lower)
        raise
    for together in at_once(rigs):
        build(context, [_plan(rigs[host], host, wanted[rigs[host]], limbs[rigs[host]]) for host in together])
    for ob, chains in wanted.items():
        for name, each in chains.items():
            lower = ob.pose.bones[name]
            Found(lower).note(_purpose(each, limbs[ob][name], lower) | {"settings": each.settings})
        for armature in {ob, hosts[ob]}:
            armature.update_tag()


def _plan(ob: ArmatureObject, host: ArmatureObject, chains: dict[str, Wanted], limbs: dict[str, Limb]) -> Plan:
    """Design the mechanisms of one object's chains."""
    around, designed = surroundings_of(ob, host), design if host == ob else design_apart
    mechanisms = [designed(ob.pose.bones[name], limbs[name], each, around) for name, each in chains.items()]
    return Plan(ob, host, [world_bone(host, around.world), *mechanisms])


def _stretches(wanted: Wanted) -> bool:
    return bool(wanted.settings["stretch"] or "stretch" in wanted.animated)


def _check_sharing(ob: ArmatureObject, wanted: dict[str, Wanted]) -> None:
    """Raise `Refused` if limbs that stretch would change what another object's bones inherit."""
    for name in (name for name, each in wanted.items() if _stretches(each) and shears(ob.pose.bones[name])):
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
        found[ob] = {name: limb_of(posed[name], ob.pose.bones[name]) for name in names}
    return found


def limb_of(evaluated: PoseBone, lower: PoseBone) -> Limb:
    """The shape of a limb, in the unit of the bone that its targets are measured in, by its evaluated lower bone and
    the original one, whose scale is its own."""
    upper, settings = upper_of(evaluated), chain_settings(lower)
    angles = (settings.hinge_angle, settings.lower_twist)
    try:
        limb = anatomy(upper, evaluated, upper_of(lower).scale[:], lower.scale[:], angles).limb
    except Unposable as why:
        raise Refused(str(why)) from why
    if upper.parent is None or upper.bone.inherit_scale != "ALIGNED":
        return limb
    sizes = [axis.length for axis in upper.parent.matrix.to_3x3().col]
    if max(sizes) - min(sizes) > 1e-4 * max(sizes):
        raise Refused(f"'{upper.name}' takes over an uneven scale axis by axis: let it inherit scale in full")
    r1, r2 = limb.r1 / sizes[1], limb.r2 / sizes[1]
    return limb._replace(r1=r1, r2=r2, bones=bones(r1, r2, FLOATS))


def _purpose(wanted: Wanted, limb: Limb, lower: PoseBone) -> dict[str, Any]:
    """What a mechanism is made for, in words and numbers that can be kept with it and compared."""
    fixed = {name: value for name, value in wanted.settings.items() if name not in wanted.exposed and name != "enabled"}
    hangs = [[bone.bone.use_inherit_rotation, bone.bone.inherit_scale] for bone in (upper_of(lower), lower)]
    axes = [number for turn in (*limb.axes, *limb.knee_turns) for number in turn]
    lengths = [limb.r1, limb.r2]
    words: list[Any] = [
        hangs,
        sorted(wanted.exposed),
        [fixed["plane"], fixed["stretch_volume"]],
        needs_swing(wanted),
    ]
    words.append(list(wanted.moving))
    if not lower.bone.use_inherit_rotation:
        words.append(is_mirrored(upper_of(lower)))
    if host_of(lower) != lower.id_data:  # in an annex, where bones turn as the limb's do
        words.append([bone.rotation_mode for bone in (upper_of(lower), lower)])
    numbers = [value for _, value in sorted(fixed.items()) if isinstance(value, float)]
    return {"words": words, "numbers": numbers, "axes": axes, "lengths": lengths}


def _alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two mechanisms are made for the same, to within single precision."""
    if one["words"] != other["words"] or len(one["numbers"]) != len(other["numbers"]):
        return False
    size = max(other["lengths"])
    pairs = [(a, b, 1e-6 * max(1.0, abs(b))) for a, b in zip(one["numbers"], other["numbers"], strict=True)]
    pairs += [(a, b, 1e-4) for a, b in zip(one["axes"], other["axes"], strict=True)]
    pairs += [(a, b, 1e-5 * size) for a, b in zip(one["lengths"], other["lengths"], strict=True)]
    return all(abs(a - b) <= within for a, b, within in pairs)


def _path_on(holder: PoseBone, setting: str) -> str:
    return f'{path_to_bone(holder.name)}["{ON_RIG}{setting}"]'


def _by_object(lowers: Iterable[PoseBone]) -> dict[ArmatureObject, list[str]]:
    """Chains by their objects, by name: what is edited moves in memory."""
    found: dict[ArmatureObject, list[str]] = {}
    for lower in lowers:
        found.setdefault(lower.id_data, []).append(lower.name)
    return found
