"""Blender's own IK constraints that can be limbs, and where they have knees and tips."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from bpy.types import Context, PoseBone

from ..blender.animation import driver_of, drivers_of, is_animated, property_at
from ..blender.dependencies import Dependencies
from ..blender.types import ArmatureObject, Message, Refused, announce, path_to_bone, split_path, tag_rig, view_layer_of
from ..limb import follow, settings, storage, tolerances
from ..limb.rest_geometry import hinge_axis, rest_geometry, unlocked_axis
from .checking import CONFLICTS, check_editable, check_planar


class Solvers(NamedTuple):
    """The IK constraints of a limb: one, or as in Rigify one without a pole and one with, of which drivers mute one.
    Their ``owner`` is the limb's last bone, or with *Use Tail* off the foot below it."""

    owner: PoseBone
    limb: PoseBone
    free: Any
    poled: Any
    segments: settings.BonesPerSegment
    others: tuple[Any, ...] = ()  # IK constraints of the owner that do nothing beside the acting one
    above_count: int = 0  # how many bones above the limb they turn as well

    @property
    def bones(self) -> list[PoseBone]:
        """The limb's, from the root down."""
        return storage.hierarchy(self.limb, len(self.segments))

    @property
    def above(self) -> list[PoseBone]:
        """The bones above the limb that they turn as well, from the root down."""
        return storage.hierarchy(self.limb, len(self.segments) + self.above_count)[: self.above_count]

    @property
    def slides(self) -> bool:
        """Whether the first of two bones is locked and stretches along its line, as pistons are made that slide."""
        first, *others = self.bones
        is_locked = first.lock_ik_x and first.lock_ik_y and first.lock_ik_z
        return bool(len(others) == 1 and is_locked and first.ik_stretch > 0.0 and self.acting.use_stretch)

    @property
    def constraints(self) -> list[Any]:
        """One or two."""
        return [constraint for constraint in (self.free, self.poled) if constraint]

    @property
    def all_together(self) -> list[Any]:
        """The constraints of this limb to be, and those on its last bone that do nothing beside them."""
        return [*self.constraints, *self.others]

    @property
    def is_used(self) -> bool:
        """Whether they pose the limb, now or at times."""
        return self.acting.influence > 0.0 or _is_switched(self.owner, self.acting, "influence")

    def which_of_several(self) -> list[Message]:
        """What to tell the person where their owner has other IK constraints, muted or not."""
        several, taken = (
            [constraint for constraint in self.owner.constraints if constraint.type == "IK"],
            self.constraints,
        )
        template = "Of the IK constraints of '{bone}', '{name}' is taken"
        return [Message(template, bone=self.owner.name, name=taken[0].name)] if len(several) > len(taken) else []

    @property
    def acting(self) -> Any:
        """The constraint that poses the limb now."""
        return next((constraint for constraint in self.constraints if not constraint.mute), self.constraints[0])


def candidates(ob: ArmatureObject) -> list[PoseBone]:
    """The bones of a rig with IK constraints that may be a limb's: not those that only aim one bone, as toes do."""
    bones: Any = ob.pose.bones
    return [
        bone
        for bone in bones
        if any((constraint.chain_count or _most(bone, constraint)) > 1 for constraint in _active(bone))
        and not getattr(bone.bone, settings.MADE_FOR_LIMB)
        and not storage.is_limb(bone)
    ]


def _active(bone: PoseBone) -> list[Any]:
    """The IK constraints of a bone that pose it, or do at times."""
    constraints = [constraint for constraint in bone.constraints if constraint.type == "IK"]
    return [
        constraint
        for constraint in constraints
        if not constraint.mute or driver_of(bone.id_data, constraint.path_from_id("mute"))
    ]


def last_bone_of(owner: PoseBone) -> PoseBone:
    """The last bone that the IK constraints of a bone solve: with *Use Tail* off, the one above it."""
    is_below = any(not constraint.use_tail for constraint in _active(owner))
    return owner.parent if is_below and owner.parent else owner


def solvers_of(owner: PoseBone) -> Solvers:
    """The IK constraints of a bone that can become a limb: the first that acts, as in Blender, and its bones but a
    table. Raises `Refused`."""
    check_editable(owner)
    active, limb = _active(owner), last_bone_of(owner)
    if storage.is_limb(owner) or not active:
        raise Refused("'{bone}' has no IK constraint to convert", bone=owner.name)
    if storage.is_limb(limb):
        raise Refused("'{bone}' has IK already", bone=limb.name)
    free = [constraint for constraint in active if constraint.pole_target is None]
    poled = [constraint for constraint in active if constraint.pole_target is not None]
    is_pair = len(free) == len(poled) == 1 and _reach(free[0]) == _reach(poled[0]) and muting(owner, free[0])
    others = () if is_pair else tuple(active[1:])
    is_first_at_times = muting(owner, active[0]) or _is_switched(owner, active[0], "influence")
    doubled = owner if others and is_first_at_times else None
    doubled = doubled or (limb if limb != owner and _active(limb) else None)
    if doubled:
        raise Refused("'{bone}' has several IK constraints that act in turn: leave one", bone=doubled.name)
    if others:
        active = active[:1]
        free, poled = ([constraint for constraint in active if constraint in some] for some in (free, poled))
    chain_length = active[0].chain_count or _most(owner, active[0])
    table = _is_on_table(storage.hierarchy(limb, chain_length))
    count = chain_length - table
    for constraint in active:
        _check_constraint(owner, constraint, bool(is_pair), count)
    if table and (is_pair or active[0].influence < 1.0 or _is_switched(owner, active[0], "influence")):
        template = (
            "IK of '{bone}' turns bones that keep their motion, so it has to act in full: set its influence to 1, "
            "without keys"
        )
        raise Refused(template, bone=owner.name)
    solvers = Solvers(
        owner=owner,
        limb=limb,
        free=free[0] if free else None,
        poled=poled[0] if poled else None,
        segments=(1,) * count,
        others=others,
        above_count=chain_length - count,
    )
    _check_other_bones(solvers)
    _check_driven(solvers)
    check_planar(rest_geometry(limb, solvers.segments, tip="TAIL"))
    return solvers


def _reach(constraint: Any) -> tuple[Any, ...]:
    """What a constraint follows, and with which end."""
    return (*follow.follow_of_constraint(constraint)[:2], constraint.use_tail)


def _most(owner: PoseBone, constraint: Any) -> int:
    """How many bones a constraint can solve."""
    return len(owner.parent_recursive) + int(constraint.use_tail)


def _is_switched(owner: PoseBone, constraint: Any, name: str) -> bool:
    path = constraint.path_from_id(name)
    return is_animated(owner.id_data, path) or driver_of(owner.id_data, path) is not None


def _check_other_bones(solvers: Solvers) -> None:
    """Refuse bones that an IK constraint of another bone poses as well."""
    dependencies = Dependencies()
    for bone in solvers.bones:
        for owner, constraint in dependencies.solvers(bone.id_data, bone.name):
            if owner != solvers.owner and not constraint.mute and constraint.influence > 0.0:
                raise Refused(CONFLICTS, "mute", name=constraint.name, bone=owner.name)


def _check_driven(solvers: Solvers) -> None:
    """Refuse what drivers set of bones and constraints that a limb has not, and so would leave out: the scale of the
    bones, how far they stretch or turn, and all of a constraint but its influence, and its pole angle, or its mute
    where there are two."""
    ob = solvers.limb.id_data
    carried = ["influence", "mute" if len(solvers.constraints) == 2 else "pole_angle"]
    kept = {constraint.path_from_id(name) for constraint in solvers.constraints for name in carried}
    lost = [f"{constraint.path_from_id()}." for constraint in solvers.constraints]
    lost += [
        f"{path_to_bone(bone.name)}.{name}"
        for bone in solvers.bones
        for name in ("scale", "ik_", "lock_ik_", "use_ik_")
    ]
    for curve in drivers_of(ob):
        if not curve.mute and curve.data_path.startswith((*lost,)) and curve.data_path not in kept:
            (holder, name, _), bone = property_at(ob, curve.data_path), split_path(curve.data_path)[0]
            what, slider = holder.bl_rna.properties[name].name, ", ".join(map(slider_read, read_by(curve)))
            template = "'{slider}' drives {what} of '{bone}', which limbs leave out: it stays with Blender's IK"
            raise Refused(template, slider=slider, what=what, bone=bone)


def read_by(curve: Any) -> list[Any]:
    """What a driver reads, by the targets of its variables."""
    return [target for variable in curve.driver.variables for target in variable.targets]


def slider_read(target: Any) -> str:
    """What a person sets who sets what a driver reads: a custom property, a bone or an object."""
    bone, path = split_path(target.data_path)
    return path[2:-2] if path.startswith('["') else bone or target.bone_target or getattr(target.id, "name", path)


UPRIGHT = 0.1
"""The cosine up to which the axis that a table turns about is square to those that an arm bends about."""


def _is_on_table(bones: list[PoseBone]) -> bool:
    """Whether the first bone of an arm is the table that this turns with: it turns about an axis square to those of the
    others."""
    axes = [axis for axis in map(unlocked_axis, bones) if axis is not None]
    return len(axes) == len(bones) > 2 and all(abs(axes[0].dot(axis)) <= UPRIGHT for axis in axes[1:])


def check_rest(context: Context, solvers: Solvers) -> None:
    """Refuse bones that are stretched now, by their own scale or one above, or by what else stretches them."""
    for bone in solvers.bones[1:] if solvers.slides else [*solvers.above, *solvers.bones]:
        if abs(_posed(context, bone).length / bone.bone.length - 1.0) <= tolerances.SEEN:
            continue
        for scaled in (bone, *bone.parent_recursive):
            if max(abs(size - 1.0) for size in scaled.scale[:]) > tolerances.SEEN:
                template = (
                    "'{scaled}' is scaled, which stretches '{bone}': set its scale to 1, then press Solve Exactly"
                )
                raise Refused(template, scaled=scaled.name, bone=bone.name)
        above = solvers.bones[0].parent
        if above and max(abs(size - 1.0) for size in _posed(context, above).matrix.to_scale()) > tolerances.SEEN:
            template = "'{scaled}' is stretched, and '{bone}' with it: put it to rest, then press Solve Exactly"
            raise Refused(template, scaled=above.name, bone=bone.name)
        template = "'{bone}' is stretched to its target now: move that nearer, then press Solve Exactly"
        raise Refused(template, bone=bone.name)


def _check_constraint(owner: PoseBone, constraint: Any, is_pair: bool, count: int) -> None:
    most = _most(owner, constraint)
    is_group = constraint.target and constraint.target.type != "ARMATURE" and constraint.subtarget
    is_switched = is_animated(owner.id_data, constraint.path_from_id("mute"))
    flaws = {
        "IK of '{bone}' has {count} bones: limbs have two to four": not 2 <= count <= min(4, most),
        "IK of '{bone}' has no target": constraint.target is None,
        "IK of '{bone}' also turns with its target: switch its Rotation off, then convert": constraint.use_rotation,
        "IK of '{bone}' keeps a distance: limbs don't": constraint.ik_type != "COPY_POSE",
        "IK of '{bone}' follows a vertex group: limbs follow objects and bones": bool(is_group),
        "Mute of the IK of '{bone}' is animated: animate its influence instead": is_switched and not is_pair,
    }
    for template, is_so in flaws.items():
        if is_so:
            raise Refused(template, bone=owner.name, count=count)


def muting(bone: PoseBone, constraint: Any) -> Any:
    """The driver that mutes a constraint of a bone."""
    return driver_of(bone.id_data, constraint.path_from_id("mute"))


def _posed(context: Context, bone: PoseBone) -> Any:
    evaluated: Any = bone.id_data.evaluated_get(context.evaluated_depsgraph_get())
    return evaluated.pose.bones[bone.name]


@contextmanager
def at_full_influence(context: Context, solvers: Solvers) -> Iterator[None]:
    """Within, constraints pose their limb at influence 1."""
    ob, acting = solvers.limb.id_data, solvers.acting
    announce(ob)
    curve, influence = driver_of(ob, acting.path_from_id("influence")), acting.influence
    curves = [curve] if curve and influence < 1.0 and not curve.mute else []
    for curve in curves:
        curve.mute = True
    if is_less := influence < 1.0:
        acting.influence = 1.0
        tag_rig(solvers.limb)
    view_layer_of(context).update()
    try:
        yield
    finally:
        if is_less:
            acting.influence = influence
            tag_rig(solvers.limb)
        for curve in curves:
            curve.mute = False


def plane_of(solvers: Solvers) -> str:
    """The plane of the limb: ``SLIDE``, ``POLE``, ``HINGE`` or ``FREE``. Slide if bones slide; Pole with a pole;
    Hinge if IK locks leave the first bone one axis, or the whole rig is flat."""
    if solvers.slides:
        return "SLIDE"
    if solvers.acting.pole_target:
        return "POLE"
    return "HINGE" if unlocked_axis(solvers.bones[0]) is not None or hinge_axis(solvers.limb) else "FREE"
