"""Putting a chain on a limb so that the limb stays where it is, and taking it off again."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import bpy
from bpy.types import Context, Object, PoseBone
from mathutils import Matrix, Vector

from .access import ArmatureObject, chain_settings, has_bone, scene_of, upper_of
from .anatomy import Unposable, anatomy
from .dependencies import Dependencies
from .problems import hangs_on, moved_by, moved_by_driver, movers_of, overlap, unposed
from .settings import NAMES, PREFIX
from .stretching import restore_inherit_scale
from .targets import Target

TOUCHING = 1e-3
"""How far a bone may be from its parent's tail, in its own lengths, and still count as the lower bone of a limb."""

IN_PLANE = 1e-4
"""How far off the limb's rest plane a tip may be, in lengths of the limb, and still count as in it."""


STRAIGHT = 1e-5
"""How far a knee may be off the line of root and tip, in lengths of the limb, and still count as on it."""


class Refused(Exception):
    """What was asked for can't be done; the message says what to select or set instead."""


class Posture(NamedTuple):
    """How a limb is posed now, in the world; ``aside`` points from the line of root and tip to where the knee is or
    would bend to, ``height`` is how far off its rest plane the limb is, in its own lengths."""

    root: Vector
    knee: Vector
    tip: Vector
    aside: Vector
    bend: float
    height: float


class Fitting(NamedTuple):
    """How a chain fits a limb; without a target or, where its plane needs one, a pole, it gets a new empty."""

    lower: PoseBone
    target: Target | None
    pole: Target | None
    posed: Posture
    plane: str


def is_lower(bone: PoseBone) -> bool:
    """Whether a bone looks like the lower bone of a limb: its head is on its parent's tail."""
    parent = bone.parent
    if parent is None:
        return False
    gap = (bone.bone.head_local - parent.bone.tail_local).length
    return bone.bone.use_connect or gap <= TOUCHING * bone.bone.length


def check_limb(lower: PoseBone) -> None:
    """Raise `Refused` if a chain can't be put on a bone."""
    if lower.parent is None:
        raise Refused(f"'{lower.name}' has no parent: select the lower of two bones, like a shin or a forearm")
    if chain_settings(lower).enabled:
        raise Refused(f"'{lower.name}' has a chain already: remove it first, or select another bone")
    shared = overlap(lower)
    if shared:
        raise Refused(f"{shared}: remove that chain first, or select another bone")
    ob, dependencies = lower.id_data, Dependencies()
    moved = moved_by(ob, movers_of(lower, dependencies)) or moved_by_driver(lower, dependencies)
    if unposed(ob) or moved:
        raise Refused(unposed(ob) or moved)


def check_target(ob: Object, lower: PoseBone, target: Target) -> None:
    """Raise `Refused` if a target can't be followed by a chain."""
    problem = target.problem() or hangs_on(ob, lower, target, Dependencies())
    if problem:
        raise Refused(problem)


def posture(context: Context, ob: ArmatureObject, lower: PoseBone) -> Posture:
    """How the limb of a lower bone is posed; raises `Refused` if a setting keeps it from being posed exactly."""
    evaluated = ob.evaluated_get(context.evaluated_depsgraph_get())
    lower = evaluated.pose.bones[lower.name]
    upper = upper_of(lower)
    if not all(map(isfinite, (*upper.head[:], *lower.head[:], *lower.tail[:]))):
        raise Refused(f"The pose of '{lower.name}' is not a number: clear its transforms and its parents'")
    try:
        body = anatomy(upper, lower, upper.scale[:], lower.scale[:])
    except Unposable as why:
        raise Refused(str(why)) from why
    to_axes = Matrix(body.limb.axes).to_4x4() @ body.frame.inverted()
    knee, tip, length = to_axes @ lower.head, to_axes @ lower.tail, body.limb.bones.total
    world = evaluated.matrix_world
    aside = (world @ to_axes.inverted()).to_3x3() @ aside_of(knee, tip, length)
    height = max(abs(tip.z), abs(knee.z)) / max(length, 1e-9)
    bend = -1.0 if tip.x * knee.y < tip.y * knee.x and height <= IN_PLANE else 1.0
    return Posture(world @ upper.head, world @ lower.head, world @ lower.tail, aside, bend, height)


def off_line(knee: Vector, tip: Vector) -> Vector:
    """The way to the knee from the line through root, which is the origin, and tip."""
    return knee - tip * (knee.dot(tip) / tip.length_squared if tip.length_squared else 0.0)


def aside_of(knee: Vector, tip: Vector, length: float) -> Vector:
    """The way from the line of root and tip to the knee, in the limb's axes; if it is on the line, to where it bends
    in its rest plane."""
    off = off_line(knee, tip)
    if off.length > STRAIGHT * length:
        return off
    side = Vector((-tip.y, tip.x, 0.0))
    return side if side.length > STRAIGHT * length else Vector((0.0, 1.0, 0.0))


def named_target(name: str, bone: str) -> Target | None:
    """The target of these names, or None without a name; raises `Refused` if there is no such."""
    if not name:
        if bone:
            raise Refused(f"Name the object that bone '{bone}' belongs to as well")
        return None
    ob = bpy.data.objects.get(name)
    if ob is None:
        raise Refused(f"There is no object '{name}'")
    if bone and not has_bone(ob, bone):
        raise Refused(f"'{name}' has no bone '{bone}'")
    return Target.read(ob, bone)


def fit_chain(context: Context, lower: PoseBone, target: Target | None, pole: Target | None, plane: str) -> Fitting:
    """Settle how a chain fits a limb as it is posed; raises `Refused` if it does not, and changes nothing.

    Without a ``plane``, it is the limb's own at rest if the limb is posed in it and there is no pole.
    """
    ob = lower.id_data
    check_limb(lower)
    for goal in (target, pole):
        if goal:
            check_target(ob, lower, goal)
    posed = posture(context, ob, lower)
    if plane == "REST" and target is None and posed.height > IN_PLANE:
        raise Refused(f"'{lower.name}' is posed out of its rest plane: choose Pole, or clear its pose first")
    return Fitting(lower, target, pole, posed, plane or ("POLE" if pole or posed.height > IN_PLANE else "REST"))


def add_fitting(context: Context, fitting: Fitting, settings: dict[str, Any]) -> None:
    """Add a chain with these settings and, where none is given, a new target at its tip and a new pole."""
    lower, target, pole, posed, plane = fitting
    size = 0.15 * (posed.tip - posed.root).length or 0.1
    target = target or Target(new_empty(context, f"target_{lower.name}", posed.tip, size), "")
    if plane == "POLE":
        pole = pole or Target(new_empty(context, f"pole_{lower.name}", pole_place(posed), size), "")
    fitted: dict[str, Any] = {"plane": plane, "bend": 1.0 if plane == "POLE" else posed.bend}
    fitted |= {"target": target.object, "subtarget": target.bone}
    if pole:
        fitted |= {"pole_target": pole.object, "pole_subtarget": pole.bone}
    add_chain(lower.id_data, lower, fitted | settings)


def add_chain(ob: Object, lower: PoseBone, settings: dict[str, Any]) -> None:
    """Switch a chain on with these settings; everything was checked before."""
    chain = chain_settings(lower)
    for name, value in settings.items():
        setattr(chain, name, value)
    chain.enabled = True
    ob.update_tag(refresh={"DATA"})


def remove_chain(ob: ArmatureObject, lower: PoseBone) -> None:
    """Switch a chain off, which gives the bones their own pose back, and forget its settings."""
    chain = chain_settings(lower)
    chain.enabled = False
    restore_inherit_scale(lower)
    chain.target = chain.pole_target = None  # so that it counts as set anew, which unsetting does not
    for name in NAMES:
        lower.property_unset(PREFIX + name)
    for prop in chain.bl_rna.properties:
        if not prop.is_readonly and prop.identifier not in {"rna_type", "name", *NAMES}:
            chain.property_unset(prop.identifier)
    ob.update_tag(refresh={"DATA"})


def new_empty(context: Context, name: str, place: Vector, size: float) -> Object:
    """A new empty at a place in the world, in the collection of the active object."""
    empty = bpy.data.objects.new(name, None)
    empty.empty_display_size = size
    empty.location = place
    (context.collection or scene_of(context).collection).objects.link(empty)
    return empty


def pole_place(posed: Posture) -> Vector:
    """A place for the pole from which the knee stays where it is: beyond it, as far off as the limb is long."""
    length = (posed.knee - posed.root).length + (posed.tip - posed.knee).length
    return posed.knee + posed.aside.normalized() * length
