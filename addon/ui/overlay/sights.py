"""Which chains the overlay shows, and what it must know of each, whatever the chain runs on."""

from __future__ import annotations

from math import cos
from typing import Any, NamedTuple

from bpy.types import Context, Depsgraph, PoseBone

from ...live import own_pose_of
from ...live.plan import plan
from ...rig.access import ArmatureObject, chain_settings, key_of, runs_on_rig, upper_of
from ...rig.anatomy import Anatomy, Unposable, anatomy, frame_of
from ...rig.settings import NUMBERS, features_of, solver_settings
from ...rig.sides import swing_side
from ...rig.targets import Target
from ...solver.chain import Features, Own
from ...solver.triangle import Settings
from ..finding import chains_meant


class Shape(NamedTuple):
    """What a chain is posed by, as the solver takes it."""

    body: Anatomy
    settings: Settings
    features: Features
    own: Own


class Sight(NamedTuple):
    """A chain to be drawn; ``scale`` is what lengthens its upper bone."""

    object: ArmatureObject
    upper: str
    lower: str
    target: Target
    pole: Target | None
    posing: Shape
    scale: tuple[float, ...]


def sights(context: Context, depsgraph: Depsgraph) -> dict[ArmatureObject, list[Sight]]:
    """The chains that are selected, or whose target or pole is, by the armatures that are to be seen."""
    found: dict[ArmatureObject, list[Sight]] = {}
    for lower in chains_meant(context):
        ob: ArmatureObject = lower.id_data
        if lower.parent and ob.visible_get():
            sight = _on_rig(lower, depsgraph) if runs_on_rig(lower) else _live(lower, depsgraph)
            if sight:
                found.setdefault(ob, []).append(sight)
    return found


def _live(lower: PoseBone, depsgraph: Depsgraph) -> Sight | None:
    chain = plan.chains.get(key_of(lower))
    if chain is None or chain.posing is None or chain.target is None:
        return None
    scale = _evaluated(lower, depsgraph).parent.scale[:]  # type: ignore[union-attr]
    shape = Shape(*chain.posing[:3], own_pose_of(lower)[0])
    return Sight(chain.object, chain.upper, chain.lower, chain.target, chain.pole, shape, scale)


def _on_rig(lower: PoseBone, depsgraph: Depsgraph) -> Sight | None:
    """Of a chain on the rig nothing is kept: it is measured."""
    posed, settings = _evaluated(lower, depsgraph), chain_settings(lower)
    target = Target.read(settings.target, settings.subtarget)
    pole = Target.read(settings.pole_target, settings.pole_subtarget) if settings.plane == "POLE" else None
    if target is None or any(goal.problem() for goal in (target, pole) if goal):
        return None
    upper = upper_of(posed)
    try:
        angles = (settings.hinge_angle, settings.lower_twist)
        body = anatomy(upper, posed, upper.scale[:], posed.scale[:], angles)
    except Unposable:
        return None
    values = solver_settings({name: getattr(settings, name) for name in NUMBERS}, swing_side(lower.name), cos)
    own = Own(_turn(upper), _turn(posed))
    inside = frame_of(upper).to_3x3().inverted_safe() @ upper.matrix.to_3x3()
    scale = tuple(axis.length for axis in inside.col)
    return Sight(
        lower.id_data,
        upper.name,
        lower.name,
        target,
        pole,
        Shape(body, values, features_of(values, settings.plane), own),
        scale,
    )


def _turn(posed: PoseBone) -> Any:
    """The animator's own rotation of a bone."""
    turn: Any = posed.matrix_basis.to_quaternion()
    return tuple(turn)


def _evaluated(lower: PoseBone, depsgraph: Depsgraph) -> PoseBone:
    bone: PoseBone = lower.id_data.evaluated_get(depsgraph).pose.bones[lower.name]
    return bone
