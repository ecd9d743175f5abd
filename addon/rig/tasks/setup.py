"""Putting a chain on a limb so that the limb stays where it is, and taking it off again."""

from __future__ import annotations

from collections.abc import Iterable
from math import degrees, isfinite
from typing import Any, NamedTuple

import bpy
from bpy.types import ID, Collection, Context, Object, PoseBone, Scene
from mathutils import Matrix, Vector

from ...solver.chain import Own
from ...solver.rotation import Quaternion, components
from ..anatomy import Unposable, anatomy, carried_by
from ..data.access import chain_settings, has_bone, object_named, runs_on_rig, scene_of, setting_path, upper_of
from ..data.animation import stop
from ..data.dependencies import Dependencies
from ..kinds import Refused
from ..problems import hangs_on, moved_now, orphaned, overlap, unposed
from ..settings import MADE, NAMES, PREFIX
from ..solver_settings import angles_of
from ..stretching import restore_inherit_scale
from ..targets import Target
from .ends import let_go_of_rotation
from .fitting import OFF_PLANE, UNTURNED, Fit, Posture, is_planar, posture
from .limbs import doubles, is_shown


class Fitting(NamedTuple):
    """How a chain fits a limb; without a target or, where its plane needs one, a pole, it gets a new empty."""

    lower: PoseBone
    target: Target | None
    pole: Target | None
    posed: Posture
    fit: Fit

    def warning(self) -> str:
        """What the chain does not keep of the limb's pose."""
        return told_turned(upper_of(self.lower), self.fit.turned) if self.fit.turned > UNTURNED else ""


def told_turned(upper: PoseBone, angle: float) -> str:
    """What to say of an upper bone that turns about its length by an angle."""
    return f"'{upper.name}' turns by {degrees(angle):.3g}° about its length: the plane Pole would keep it as it is"


def told_beside(context: Context, lower: PoseBone) -> str:
    """What to say of a target that is beside the plane that the limb's hinge bends in; nothing if it is in it, or if
    the limb can't be posed, which says more."""
    settings = chain_settings(lower)
    target = Target.read(settings.target, settings.subtarget)
    if settings.plane != "REST" or target is None or target.problem() or orphaned(lower):
        return ""
    depsgraph = context.evaluated_depsgraph_get()
    rig = lower.id_data.evaluated_get(depsgraph)
    bone = rig.pose.bones[lower.name]
    upper = upper_of(bone)
    try:
        scales, stretches = (upper.scale[:], bone.scale[:]), settings.stretch > 0.0
        body = anatomy(upper, bone, *scales, angles_of(settings.numbers()), stretches)
    except Unposable:
        return ""
    x, y, z = (rig.matrix_world @ body.frame).inverted_safe() @ target.position(depsgraph)
    beside = components((x, y, z), body.limb.axes)[2]
    if abs(beside) <= OFF_PLANE * body.limb.bones.total:
        return ""
    return f"The target of '{lower.name}' is beside the plane of its hinge: move it there, or set the plane to Free"


def check_parent(lower: PoseBone) -> None:
    """Raise `Refused` if a lower bone has no parent, without which there is no limb."""
    if orphaned(lower):
        raise Refused(orphaned(lower))


def check_limb(lower: PoseBone, has_others: bool = True) -> None:
    """Raise `Refused` if a chain can't be put on a bone, with what to click instead if others would do as well."""
    if lower.parent is None:
        raise Refused(f"'{lower.name}' has no parent: select the lower of two bones, like a shin or a forearm")
    if chain_settings(lower).enabled:
        raise Refused(f"'{lower.name}' has a chain already: remove it first, or select another bone")
    shared = overlap(lower)
    if shared:
        raise Refused(f"{shared}: remove that chain first, or select another bone")
    problem = unposed(lower.id_data) or (_moved(lower) if has_others else moved_now(lower, Dependencies()))
    if problem:
        raise Refused(problem)


def _moved(lower: PoseBone) -> str:
    """What else moves the bones of a limb, and which bones of the rig to take instead, if there are such. What moves
    bones that are hidden is the rig's own, and nothing to mute."""
    dependencies = Dependencies()
    moved = moved_now(lower, dependencies)
    if not moved:
        return ""
    double = next((double for double in doubles(lower) if not moved_now(double, dependencies)), None)
    if double is None:
        name = upper_of(lower).name
        hidden = f"'{lower.name}' hangs on '{name}', which is hidden and moved by the rig itself: select another limb"
        return moved if is_shown(upper_of(lower)) else hidden
    return f"'{lower.name}' is moved by the rig itself: click '{double.name}', which the rig has for posing by hand"


def check_target(lower: PoseBone, target: Target) -> None:
    """Raise `Refused` if a target can't be followed by a chain."""
    problem = target.problem() or hangs_on(lower, target, Dependencies())
    if problem:
        raise Refused(problem)


def posture_of(context: Context, lower: PoseBone, is_stretched: bool = False) -> Posture:
    """How the limb of a lower bone is posed; raises `Refused` if a setting keeps it from being posed exactly.

    With ``is_stretched`` its chain may have lengthened the upper bone, and made up for what the lower one inherits.
    """
    check_parent(lower)
    evaluated = lower.id_data.evaluated_get(context.evaluated_depsgraph_get())
    lower = evaluated.pose.bones[lower.name]
    upper = upper_of(lower)
    if not all(map(isfinite, (*upper.head[:], *lower.head[:], *lower.tail[:]))):
        raise Refused(f"The pose of '{lower.name}' is not a number: clear its transforms and its parents'")
    own = Own(own_rotation(upper), own_rotation(lower, upper.scale if is_stretched else None))
    try:
        return posture(evaluated, lower.name, own, (upper.scale[:], lower.scale[:]), can_make_up=is_stretched)
    except Unposable as why:
        raise Refused(*why.args) from why


def own_rotation(bone: PoseBone, parent_scale: Any = None) -> Quaternion:
    """The rotation (w, x, y, z) that the channels of an evaluated bone would need for its pose, whatever poses it; with
    ``parent_scale``, that its parent is lengthened by, below the parent without it."""
    carrier = None
    if bone.parent and parent_scale and min(parent_scale) > 0.0:
        carrier = bone.parent.matrix @ Matrix.Diagonal((*(1.0 / size for size in parent_scale), 1.0))
    own = bone.bone.convert_local_to_pose(bone.matrix, bone.bone.matrix_local, **carried_by(bone, carrier), invert=True)
    turn = own.to_quaternion()
    if parent_scale:  # and so sheared; but the tip is where it is
        turn = (turn @ Vector((0.0, 1.0, 0.0))).rotation_difference(own.col[1].xyz) @ turn
    return (turn.w, turn.x, turn.y, turn.z)


def named_target(name: str, bone: str, library: str = "") -> Target | None:
    """The target of these names, linked from that file, or None without a name; raises `Refused` if it is not there."""
    if not name:
        if bone:
            raise Refused(f"Name the object that bone '{bone}' belongs to as well")
        return None
    ob = object_named(name, library)
    if ob is None:
        raise Refused(f"There is no object '{name}'")
    if bone and not has_bone(ob, bone):
        raise Refused(f"'{name}' has no bone '{bone}'")
    return Target.read(ob, bone)


def fit_chain(context: Context, lower: PoseBone, target: Target | None, pole: Target | None, plane: str) -> Fitting:
    """Settle how a chain fits a limb as it is posed; raises `Refused` if it does not, and changes nothing.

    Without a ``plane``, it is the hinge's on a rig that lies in one plane, else the free one, if either keeps both
    bones as they are and there is no pole.
    """
    check_limb(lower)
    for goal in (target, pole):
        if goal:
            check_target(lower, goal)
    posed = posture_of(context, lower)
    if plane and plane not in posed.fits:
        if target is None:
            raise Refused(f"'{lower.name}' is posed out of its rest plane: choose Pole, or clear its pose first")
        # It goes elsewhere anyway.
        return Fitting(lower, target, pole, posed, Fit(plane, 1.0, 0.0, 0.0, 0.0))
    if plane or pole:
        return Fitting(lower, target, pole, posed, posed.fits[plane or "POLE"])
    wanted = ["REST", "SWING"] if is_planar(lower.id_data.data) else ["SWING"]
    fits = [posed.fits[name] for name in (*wanted, "POLE") if name in posed.fits]
    return Fitting(lower, target, pole, posed, next(fit for fit in fits if fit.turned <= UNTURNED))


def add_fitting(context: Context, fitting: Fitting, settings: dict[str, Any]) -> None:
    """Add a chain with these settings and, where none is given, a new target at its tip and a new pole."""
    lower, target, pole, posed, fit = fitting
    target = target or Target(new_empty(context, f"target_{lower.name}", posed.target, posed.mark), "")
    if fit.plane == "POLE":
        pole = pole or Target(new_empty(context, f"pole_{lower.name}", posed.pole, posed.mark), "")
    fitted: dict[str, Any] = {"plane": fit.plane, "pole_angle": 0.0, **fit.settings()}
    fitted |= {"target": target.object, "subtarget": target.bone}
    if pole:
        fitted |= {"pole_target": pole.object, "pole_subtarget": pole.bone}
    add_chain(lower, fitted | settings)


def make_pole(context: Context, lower: PoseBone) -> None:
    """Have a chain bend towards a new pole where the knee points now, so that the limb stays where it is."""
    settings = chain_settings(lower)
    posed = posture_of(context, lower, is_stretched=settings.stretch > 0.0 and not runs_on_rig(lower))
    fit = posed.fits["POLE"]
    for name, value in (fit.settings() | {"pole_angle": 0.0}).items():
        setattr(settings, name, value)
    settings.pole_target = new_empty(context, f"pole_{lower.name}", posed.pole, posed.mark)
    settings.pole_subtarget, settings.plane = "", fit.plane


def add_chain(lower: PoseBone, settings: dict[str, Any]) -> None:
    """Switch a chain on with these settings; everything was checked before."""
    chain = chain_settings(lower)
    for name, value in settings.items():
        if getattr(chain, name) != value:  # What is at its default need not be stored.
            setattr(chain, name, value)
    chain.enabled = True
    lower.id_data.update_tag(refresh={"DATA"})


def remove_chain(lower: PoseBone) -> None:
    """Switch a chain off for good, which gives the bones their own pose back, and forget its settings and what animates
    them."""
    stop_chain(lower)
    remove_unused(reset_chain(lower))


def stop_chain(lower: PoseBone) -> None:
    """Remove what animates a chain's settings: the next one on this bone would be animated so."""
    stop(lower.id_data, [setting_path(lower.name, name) for name in NAMES])


def reset_chain(lower: PoseBone) -> set[Any]:
    """Switch a chain off and forget its settings; return the objects that were made for it."""
    chain = chain_settings(lower)
    marks = {mark for mark in (chain.target, chain.pole_target) if mark}
    chain.enabled = False
    let_go_of_rotation(lower)
    restore_inherit_scale(lower)
    chain.target = chain.pole_target = None  # so that it counts as set anew, which unsetting does not
    for name in NAMES:
        lower.property_unset(PREFIX + name)
    for prop in chain.bl_rna.properties:
        if not prop.is_readonly and prop.identifier not in {"rna_type", "name", *NAMES}:
            chain.property_unset(prop.identifier)
    lower.id_data.update_tag(refresh={"DATA"})
    return marks


def remove_unused(marks: Iterable[Any]) -> None:
    """Remove those of the objects that were made for chains, are not animated, and nothing needs any more."""
    for mark in {*marks}:
        if MADE in mark and not mark.animation_data and not _users_of(mark):
            bpy.data.objects.remove(mark)


def _users_of(mark: Object) -> set[ID]:
    """What in the file needs an object, besides the collections and scenes that show it."""
    users: set[ID] = bpy.data.user_map(subset=[mark])[mark]  # type: ignore[call-arg]  # the others are optional
    return {user for user in users if not isinstance(user, Collection | Scene)}


def new_empty(context: Context, name: str, place: Vector, size: float) -> Object:
    """A new empty at a place in the world, in the collection of the active object."""
    empty = bpy.data.objects.new(name, None)
    empty.empty_display_size = size
    empty.location = place
    empty[MADE] = True
    (context.collection or scene_of(context).collection).objects.link(empty)
    return empty
