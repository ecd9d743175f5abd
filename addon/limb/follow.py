"""What a limb follows: its target and its pole, each an object or a bone of one, as its IK constraint says."""

from __future__ import annotations

from typing import Any, NamedTuple

from bpy.types import Depsgraph, Object, PoseBone
from mathutils import Matrix, Vector

from ..blender.types import has_bone, is_armature
from ..blender.words import Refused
from .names import joint_of, pole_name, target_name
from .storage import check_complete, limb_constraint_of
from .tips import FOOT_GONE, foot_of, is_foot_gone


class Follow(NamedTuple):
    """The target and the pole of a limb, each an object and, of an armature, the name of a bone."""

    target: Object | None = None
    subtarget: str = ""
    pole: Object | None = None
    pole_subtarget: str = ""

    @property
    def pairs(self) -> tuple[tuple[Object | None, str], tuple[Object | None, str]]:
        """Target and pole, each as object and name of a bone."""
        return (self.target, self.subtarget), (self.pole, self.pole_subtarget)


def follow_of(limb: PoseBone) -> Follow:
    """The target and pole of a limb; a bone that does not exist counts as none."""
    constraint = limb_constraint_of(limb)
    return Follow() if constraint is None else follow_of_constraint(constraint)


def follow_of_constraint(constraint: Any) -> Follow:
    """The target and pole of an IK constraint. Its own rig without a bone is none: Blender empties the name as the bone
    is deleted in Edit Mode."""
    target, pole = constraint.target, constraint.pole_target
    target = None if target == constraint.id_data and not constraint.subtarget else target
    pole = None if pole == constraint.id_data and not constraint.pole_subtarget else pole
    bone = constraint.subtarget if is_armature(target) else ""
    return Follow(target, bone, pole, constraint.pole_subtarget if is_armature(pole) else "")


def set_follow(constraint: Any, follow: Follow) -> None:
    """Set the target and pole of an IK constraint."""
    constraint.target, constraint.subtarget = follow.target, follow.subtarget
    constraint.pole_target, constraint.pole_subtarget = follow.pole, follow.pole_subtarget


def is_gone(ob: Object | None, bone: str) -> bool:
    """Whether a target or pole is missing: there is no object, or it has no bone of this name."""
    return ob is None or (bool(bone) and not has_bone(ob, bone))


def place_of(ob: Object, bone: str, depsgraph: Depsgraph) -> Vector | None:
    """Where an object's origin or a bone's head is in the evaluated world; None for a bone that is not there."""
    evaluated: Any = ob.evaluated_get(depsgraph)
    if not bone:
        return evaluated.matrix_world.translation  # type: ignore[no-any-return]
    pose_bone = evaluated.pose.bones.get(bone) if evaluated.pose else None
    return None if pose_bone is None else evaluated.matrix_world @ pose_bone.head


def matrix_of(ob: Object, bone: str, depsgraph: Depsgraph) -> Matrix:
    """The evaluated transform of an object or of a bone that is there, in the world."""
    evaluated: Any = ob.evaluated_get(depsgraph)
    world: Matrix = evaluated.matrix_world
    return world @ evaluated.pose.bones[bone].matrix if bone else world.copy()


def check_posable(limb: PoseBone) -> None:
    """Refuse a limb that can't be posed: its bones, its foot, its target or its pole are missing."""
    check_complete(limb)
    follow = follow_of(limb)
    if is_foot_gone(limb):
        raise Refused(FOOT_GONE, bone=limb.name)
    if gone := gone_controls(limb):
        raise Refused("The control '{name}' is gone: make it anew", name=next(iter(gone.values())))
    if follow.target is None:
        raise Refused("Pick a target for '{bone}', or make one", bone=limb.name)
    if is_gone(follow.target, follow.subtarget):
        template = "'{name}' has no bone '{bone}': pick another target"
        raise Refused(template, name=follow.target.name, bone=follow.subtarget)


def gone_controls(limb: PoseBone) -> dict[str, str]:
    """What the controls of a limb were called that somebody deleted: its ``TARGET`` and its ``POLE``."""
    constraint: Any = limb_constraint_of(limb)
    follow, foot = follow_of_constraint(constraint), foot_of(limb)
    below, gone = foot.name if foot else "", dict[str, str]()
    if constraint.target != follow.target:
        gone["TARGET"] = target_name(limb.name, below)
    if constraint.pole_target != follow.pole:
        gone["POLE"] = pole_name(limb.name, below, joint_of([limb.name, below]))
    return gone
