"""By which method limbs are baked: solved apart from the shot, or played in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import bpy
from bpy.types import Object, PoseBone

from ..blender.animation import driver_of, drivers_of
from ..blender.dependencies import BoneRef, Dependencies, driver_targets, is_python
from ..blender.types import is_armature
from ..limb.follow import follow_of
from ..limb.foot_roll import solver_follow
from ..limb.settings import IN_ONE_PLANE
from ..limb.storage import (
    bones_of_limb,
    chain_bones,
    choices_of,
    is_control,
    is_mechanism_constraint,
    limb_constraint_of,
    limbs_of,
    mode_of,
)
from ..live.plan import is_posed, levels_of
from ..rigging.parts import POSE

OF_THE_SHOT = {"FOLLOW_TRACK", "CAMERA_SOLVER", "OBJECT_SOLVER", "TRANSFORM_CACHE"}
"""Constraints that look at the scene: its camera, or its frames per second."""


class Method(NamedTuple):
    """How limbs are baked: *solved*, stepping frames in a scene that holds only what limbs need; or *played* in the
    shot itself. ``depends_on`` is all that limbs depend on."""

    is_solved: bool
    depends_on: set[BoneRef]

    @property
    def name(self) -> str:
        """What reports call it."""
        return "solved" if self.is_solved else "played"


def method_of(limbs: Sequence[PoseBone]) -> Method:
    """The method for limbs. What is played is always right; solved, it is the same and takes less time."""
    among = Dependencies()
    depends_on = among.dependencies_of(*(ref for limb in limbs for ref in _moving(limb, among)))
    return Method(not _has_foreign_handlers() and not _needs_shot(depends_on, among), depends_on)


def levels_among(depends_on: set[BoneRef]) -> list[list[PoseBone]]:
    """The live limbs among these dependencies, by what they hang on: each in a later list."""
    rigs: list[Any] = [ob for ob in dict.fromkeys(ob for ob, _ in depends_on) if is_armature(ob)]
    live = [limb for ob in rigs for limb in limbs_of(ob) if is_posed(limb)]
    return levels_of(
        [limb for limb in live if any((limb.id_data, bone.name) in depends_on for bone in chain_bones(limb))]
    )


def is_live_limb(limb: PoseBone) -> bool:
    """Whether the extension poses a limb, frame by frame."""
    return bool(mode_of(limb) == "LIVE")


def closes_loop(limb: PoseBone) -> bool:
    """Whether a limb that stays in its plane has a target on its own rig, as in linkages: there people see where joints
    part."""
    target, bone = follow_of(limb).pairs[0]
    is_own = target == limb.id_data and bool(bone) and not is_control(limb.id_data, bone)
    return is_own and choices_of(limb)["plane"] in IN_ONE_PLANE


def strange_constraints(limb: PoseBone) -> list[Any]:
    """The constraints on a limb's own bones that act there and are not of the limb, or not as far as its influence."""
    constraints = [constraint for bone in bones_of_limb(limb) for constraint in bone.constraints]
    acting = [constraint for constraint in constraints if not constraint.mute and constraint.influence > 0.0]
    ours = limb_constraint_of(limb)
    return [constraint for constraint in acting if constraint != ours and not _goes_with(constraint)]


def _goes_with(constraint: Any) -> bool:
    """Whether a constraint acts only as far as the influence of a limb goes."""
    if constraint.name == POSE:
        is_driven = driver_of(constraint.id_data, constraint.path_from_id("influence")) is not None
        return is_driven and constraint.owner_space == "LOCAL"  # else it also moves the bone
    return is_mechanism_constraint(constraint)


def _has_foreign_handlers() -> bool:
    """Whether somebody else's handler may move things as frames change."""
    ours = __name__.removesuffix("bake.method")  # wherever that is: as an extension, or run from the tree
    handlers = (*bpy.app.handlers.frame_change_pre, *bpy.app.handlers.frame_change_post)
    return any(not (getattr(handler, "__module__", "") or "").startswith(ours) for handler in handlers)


def _moving(limb: PoseBone, among: Dependencies) -> Iterator[BoneRef]:
    """What has to be known to bake a limb: what it follows, and what moves its own bones."""
    ob: Any = limb.id_data
    for target, name in solver_follow(limb).pairs:
        if target is not None:
            yield from ((target, ""), (target, name))
    for bone in chain_bones(limb):
        yield (ob, bone.name)
        for _, curve in among.drivers(ob, bone.name):
            yield from driver_targets(curve)


def _needs_shot(depends_on: set[BoneRef], among: Dependencies) -> bool:
    """Whether what limbs hang on can be evaluated in the shot only."""
    for ob, bone in depends_on:
        owner: Any = ob.pose.bones.get(bone) if bone and is_armature(ob) else ob
        if owner is not None and any(constraint.type in OF_THE_SHOT for constraint in owner.constraints):
            return True
        if any(_reads_shot(curve) for _, curve in among.drivers(ob, bone)):
            return True
    return any(_is_of_shot(ob) for ob in {ob for ob, _ in depends_on})


def _is_of_shot(ob: Object) -> bool:
    """Whether a simulation, modifiers, or drivers of an object's data that read the shot may move what hangs on it."""
    if ob.rigid_body or ob.soft_body or len(ob.particle_systems) or len(ob.modifiers):
        return True
    datas: list[Any] = [ob.data, getattr(ob.data, "shape_keys", None)]
    return any(_reads_shot(curve) for data in datas if data for curve in drivers_of(data))


def _reads_shot(curve: Any) -> bool:
    """Whether a driver may read what is in the shot only: it runs Python, or reads the scene."""
    variables = curve.driver.variables if curve.driver else ()
    targets = [target.id_type for variable in variables for target in variable.targets]
    return is_python(curve) or "SCENE" in targets or any(variable.type == "CONTEXT_PROP" for variable in variables)
