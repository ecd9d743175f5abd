"""What became of a chain that runs on the rig, worked out when it is asked for."""

from __future__ import annotations

from bpy.types import Depsgraph, PoseBone
from mathutils import Matrix

from ..rig.access import chain_settings, upper_of
from ..rig.anatomy import Unposable, anatomy
from ..rig.setup import Refused
from ..rig.status import MISSED
from ..rig.targets import Target
from ..solver import Reach
from .convert import is_outdated
from .found import is_whole


def answer(lower: PoseBone, depsgraph: Depsgraph) -> tuple[Reach, str]:
    """The reach of a chain, and why it can't be posed; nothing if it can."""
    settings = chain_settings(lower)
    evaluated = lower.id_data.evaluated_get(depsgraph).pose.bones[lower.name]
    target = Target.read(settings.target, settings.subtarget)
    if target is None or target.problem():
        return Reach.INVALID, target.problem() if target else f"'{lower.name}' has no target"
    mend = "press Rebuild on the Rig (pose.planar_ik_rebuild)"
    if not is_whole(lower):
        return Reach.INVALID, f"Bones or constraints that pose '{lower.name}' are gone, or another's: {mend}"
    try:
        if is_outdated(lower, evaluated):
            return Reach.INVALID, f"'{lower.name}' or its chain was changed since it was put on the rig: {mend}"
        return _reach(lower, evaluated, target, depsgraph), ""
    except (Refused, Unposable) as why:
        return Reach.INVALID, str(why)


def _reach(lower: PoseBone, evaluated: PoseBone, target: Target, depsgraph: Depsgraph) -> Reach:
    """Whether the tip is at its target, and if not, what keeps it away."""
    settings, upper = chain_settings(lower), upper_of(lower)
    angles = (settings.hinge_angle, settings.lower_twist)
    body = anatomy(upper_of(evaluated), evaluated, upper.scale[:], lower.scale[:], angles)
    limb = body.limb
    world = lower.id_data.evaluated_get(depsgraph).matrix_world
    to_axes = Matrix(limb.axes).to_4x4() @ body.frame.inverted() @ world.inverted_safe()
    place, total = to_axes @ target.position(depsgraph), limb.bones.total
    tip = to_axes @ (world @ evaluated.tail)
    if (tip - place).length <= MISSED * total:
        return Reach.REACHED
    if settings.plane == "REST" and abs(place.z) > MISSED * total:
        return Reach.OFF_PLANE
    if settings.influence < 1.0:
        return Reach.LIMITED
    is_far = place.length > tip.length
    if settings.max_angle < 3.14159 if is_far else settings.min_angle > 0.0:
        return Reach.LIMITED
    return Reach.TOO_FAR if is_far else Reach.TOO_NEAR
