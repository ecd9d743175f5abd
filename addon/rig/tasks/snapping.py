"""Carrying a pose over between a chain's own (FK) pose and its target, pole and bend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import cos, sqrt
from typing import Any, NamedTuple

from bpy.types import PoseBone
from mathutils import Matrix, Vector

from ...solver.chain import Features, Own, solve_chain, tip_position
from ...solver.ops import FLOATS
from ...solver.rotation import combine, components, conjugate, multiply
from ...solver.triangle import Bones, Settings, limited_range
from ..anatomy import Anatomy, Unposable, anatomy
from ..chain_settings import ChainSettings
from ..data.access import ArmatureObject, bones_of, chain_settings, children_of, upper_of, with_carriers
from ..data.animation import drivers_on
from ..data.dependencies import properties_read
from ..data.sides import swing_side
from ..kinds import Refused
from ..solver_settings import angles_of, solver_settings
from ..targets import Target
from .fitting import OFF_PLANE, UNTURNED, Posture, posture
from .limbs import is_shown


class Match(NamedTuple):
    """What makes the solution show a chain's own pose: places in the world, settings by name, how far the upper bone
    turns about its length all the same, in radians, and whether the knee's limits keep the limb from the pose."""

    target: Vector
    pole: Vector | None
    settings: dict[str, float]
    turned: float
    is_limited: bool


def match(evaluated: ArmatureObject, name: str, own: Own, scales: tuple[Sequence[float], Sequence[float]]) -> Match:
    """What shows a limb's own pose in the plane of its chain; the pose is given as its bones' rotations and scales by
    the lower bone's ``name``. Raises `Refused` if nothing does."""
    lower = evaluated.pose.bones[name]
    settings = chain_settings(lower)
    may_stretch = settings.stretch > 0.0
    try:
        posed = posture(evaluated, name, own, scales, settings.hinge_angle, may_stretch)
        body = anatomy(upper_of(lower), lower, *scales, angles_of(settings.numbers()), may_stretch)
    except Unposable as why:
        raise Refused(*why.args) from why
    limbs = (body.limb._replace(r2=0.0), body.limb)
    joints = (tip_position(own, limb, uninherited=body.uninherited) for limb in limbs)
    knee, tip = (Vector(components(joint, body.limb.axes)) for joint in joints)
    length = body.limb.bones.total
    if body.uneven and _off_line(knee, tip).length > OFF_PLANE * length:
        sentence = "'{bone}' is longer than at rest and the limb is bent: clear its scale, then snap"
        raise Refused(sentence.format(bone=upper_of(lower).name))
    farther, is_limited = _farther(tip.length, body.limb.bones, settings)
    target = posed.root + (posed.target - posed.root) * farther
    fit = posed.fits.get(settings.plane)
    bend = None
    if settings.plane == "REST" and abs(tip.z) <= OFF_PLANE * length:
        bend = _bend(tip, _off_line(knee, tip), length, swing_side(name))
    if bend is not None and (fit is None or _shows(own, body, tip, bend, swing_side(name))):
        return Match(target, None, {"bend": bend}, 0.0, is_limited)
    if fit is None:
        raise Refused(f"'{name}' is posed out of its rest plane: set its plane to Pole, then snap")
    pole = _beside(posed, settings.pole_angle, evaluated.matrix_world @ body.frame) if fit.plane == "POLE" else None
    return Match(target, pole, fit.settings(), fit.turned, is_limited)


def _beside(posed: Posture, pole_angle: float, to_world: Matrix) -> Vector:
    """Where a pole is that the knee lies beside by this angle, which is one in F."""
    angle = pole_angle if to_world.determinant() < 0.0 else -pole_angle
    return posed.root + Matrix.Rotation(angle, 3, posed.target - posed.root) @ (posed.pole - posed.root)


def _shows(own: Own, body: Anatomy, tip: Vector, bend: float, side: float) -> bool:
    """Whether the limb as it is set, with this bend, turns both bones as they are."""
    place = combine(tip.x, tip.y, tip.z, body.limb.axes)
    swung = Features(swung=abs(bend) < 1.0)
    solution = solve_chain(
        place, body.limb, Settings(bend, swing_side=side), swung, FLOATS, uninherited=body.uninherited
    )
    pairs = ((own.upper, solution.upper), (own.lower, solution.lower))
    turns = [multiply(conjugate(a), b) for a, b in pairs]
    return all(sqrt(x * x + y * y + z * z) <= 0.5 * UNTURNED for _, x, y, z in turns)


def _off_line(knee: Vector, tip: Vector) -> Vector:
    """The way to the knee from the line through root, which is the origin, and tip."""
    return knee - tip * (knee.dot(tip) / tip.length_squared if tip.length_squared else 0.0)


@contextmanager
def at_full_influence(lower: PoseBone) -> Iterator[bool]:
    """Have a chain show its whole solution for a while; says whether its influence had to be set for that."""
    settings = chain_settings(lower)
    influence = settings.influence
    if influence == 1.0:
        yield False
        return
    settings.influence = 1.0
    try:
        yield True
    finally:
        settings.influence = influence


def check_goal(lower: PoseBone, target: Target) -> None:
    """Raise `Refused` if a chain's target can't be put elsewhere, since it is a bone that another chain poses, or the
    limb goes where it goes."""
    problem = target.problem()
    if problem:
        raise Refused(problem)
    bone = bones_of(target.object)[target.bone] if target.bone else None
    carrier = bone or target.object
    if carrier in with_carriers(lower):
        raise Refused(f"'{carrier.name}' carries the limb of '{lower.name}': have it follow something else, then snap")
    rival = next((each for each in (bone, *children_of(bone)) if chain_settings(each).enabled), None) if bone else None
    if rival:
        follower = f"what '{lower.name}' follows"
        raise Refused(f"'{target.bone}', {follower}, is posed by the chain of '{rival.name}': snap that one instead")


def check_shown(lower: PoseBone) -> None:
    """Raise `Refused` if the rig hides the limb and has a slider of its own by which other bones show it or FK bones:
    what the limb's own bones hold nobody sees then."""
    for owner, slider in () if is_shown(lower) else _sliders(lower):
        raise Refused(
            f"The rig itself switches '{lower.name}' between FK and IK, by '{slider}' of '{owner}': use that, and snap "
            "with the rig's own buttons"
        )


def _sliders(lower: PoseBone) -> Iterator[tuple[str, str]]:
    """The properties, each with the bone that has it, that say by how much other bones of the rig copy a limb."""
    rig = lower.id_data
    copies: list[Any] = [each for bone in bones_of(rig) for each in bone.constraints]
    for each in copies:
        if (getattr(each, "target", None), getattr(each, "subtarget", "")) == (rig, lower.name):
            for curve in drivers_on(rig, each.path_from_id("influence")):
                yield from ((owner, path.strip('[]"')) for _, owner, path in properties_read(curve.driver))


def _farther(reach: float, of: Bones, settings: ChainSettings) -> tuple[float, bool]:
    """By what factor the target is farther than the tip, for softness to leave the tip where it is, which is
    `extend_shaped` back; and whether the knee's limits keep the tip from there."""
    limits = solver_settings(settings.numbers(), 1.0, cos)
    nearest, farthest, *_ = limited_range(of, limits.min_cos2, limits.max_cos2, FLOATS)
    slack, softness = OFF_PLANE * of.total, limits.softness * of.total
    if not nearest - slack <= reach <= farthest + slack:
        return 1.0, True
    gap = max(farthest - reach, 0.0)
    if limits.stretch > 0.0 or gap >= softness or reach <= 0.0:
        return 1.0, False
    return (farthest + softness - sqrt(4.0 * softness * gap)) / reach, False


def _bend(tip: Vector, off: Vector, length: float, swing_side: float) -> float | None:
    """The bend whose swing puts the knee on ``off``, its way from the root-tip line; None if no swing does."""
    if abs(off.z) <= OFF_PLANE * length:
        return 1.0 if tip.x * off.y - tip.y * off.x >= 0.0 else -1.0
    if off.z * swing_side < 0.0:
        return None
    side = Vector((-tip.y, tip.x, 0.0)).normalized()
    return float(off.normalized().dot(side))
