"""Adding IK to limbs so that they stay where they are: controls, IK constraint, settings, and the foot that follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bpy.types import Context, PoseBone
from mathutils import Matrix, Vector

from ..blender.dependencies import BoneRef, Dependencies
from ..blender.types import ArmatureObject, bones_of, tag, view_layer_of
from ..finding.checking import check, check_followed
from ..finding.knees import bend_axis, upright
from ..limb.follow import Follow, matrix_of, write
from ..limb.names import ARM, LEG, says
from ..limb.rest_geometry import RestGeometry, hinge_axis, is_straight, rest_geometry
from ..limb.storage import chain_bones, limbs_of, make_limb
from ..limb.tips import foot_of
from ..limb.whole import wholly
from ..limb.words import Message, Refused
from ..poses.bend_axes import axes_seen
from ..poses.fitting import Fit, apply_fit, fit, turned_around
from ..poses.keeping import animated_frames
from ..poses.over_frames import show_in_ik
from ..poses.settling import settle, shown
from ..poses.writing import Task
from ..rigging.control_shapes import (
    HANGING,
    Drawing,
    Place,
    drawing_of_end,
    drawing_of_flat,
    drawing_of_pole,
    drawing_of_tip,
    stands,
)
from ..rigging.controls import Control, is_aligned, make_controls, make_objects, name_of_control, rig_root
from ..rigging.feet import set_feet
from ..rigging.rolling import give_roll, is_for
from ..rigging.skins import skin_of
from ..solver.matrices import unit
from .modes import put_on_rig

TARGET_SIZE, POLE_SIZE = 0.2, 0.06
"""How long the bones of controls are, in lengths of their limb."""

POLE_ALONG = 0.2
"""How far along the limb a pole is from where the knee points, in its lengths: to the tip, or to the root where that
would be on the ground."""

ALIGNED = 2e-3
"""Radians by which a foot may turn as it begins to follow."""


KEPT = 5e-4
"""How far joints may be off, in lengths of their limb, for fewer keys where Add keeps what is animated."""


class Request(NamedTuple):
    """A limb to be: its last bone and segments, and what it is to follow, each an object and the name of its bone or
    nothing; without a target, a control is made. ``plane`` may be left to what fits (``AUTO``)."""

    last: PoseBone
    segments: tuple[int, ...] = (1, 1)
    target: BoneRef | None = None
    pole: BoneRef | None = None
    plane: str = "AUTO"


class Plan(NamedTuple):
    """A limb that can be made: its rig and the name of its last bone, how it stays where it is, its shape at rest, and
    how its knee is turned around it there."""

    ob: ArmatureObject
    name: str
    request: Request
    fit: Fit
    rest: RestGeometry
    turn: float = 0.0

    @property
    def last(self) -> PoseBone:
        """The last bone as it is now: Edit Mode may have made another of it."""
        return self.ob.pose.bones[self.name]


class Added(NamedTuple):
    """The last bones of the limbs that were added, in how many frames keys keep what was animated, and warnings."""

    lasts: list[PoseBone]
    kept: int
    warnings: list[Message]


@wholly
def add(
    context: Context,
    requests: Sequence[Request],
    controls: str = "BONES",
    knee: str = "AUTO",
    foot: bool = True,
    tip: str = "FOOT",
    turn: float = 0.0,
    keyed: str = "KEEP",
    tolerance: float = KEPT,
    mode: str = "LIVE",
    foot_roll: bool = False,
    pole_follows: bool = True,
) -> Added:
    """Put IK on limbs, of one rig or several; raises `Refused`, and then nothing is done.

    What a limb is to follow and is not given is made: ``controls`` says as ``BONES`` of its rig or as objects
    (``EMPTIES``), ``knee`` with which plane where the request does not say; ``POLE`` also makes a pole, which on legs
    goes with the target if it ``pole_follows``. With ``foot``, the foot or hand below turns with the target; with
    ``foot_roll``, feet that do so roll. ``tip`` says where the tip is: where the ``FOOT`` begins, or the last bone's
    ``TAIL``. ``turn`` is by how much the knees are to be turned around the limbs, from where they point by themselves.
    Where bones, or what carries them, have keys, ``KEEP`` of ``keyed`` gives what is made keys too, so that each frame
    looks as before, to a ``tolerance`` in lengths of the limb; ``LEAVE`` does not. ``mode`` says what poses the limbs:
    their ``RIG``, or the add-on (``LIVE``).
    """
    frames = _frames_kept(requests, controls) if keyed == "KEEP" else []
    plans = _plans(context, requests, knee, tip, turn, frames)
    stands = [shown(context, request.last, request.segments) for request in requests]
    warnings: list[Message] = []
    feet = _feet(context, plans) if foot else {}
    follows = followed_by(context, plans, controls, foot, pole_follows)
    for plan, follow in zip(plans, follows, strict=True):
        _make_planned(plan, follow, tip)
    view_layer_of(context).update()
    _follow_with_feet(context, feet)
    settle(context, stands)
    if mode == "RIG":
        warnings += put_on_rig(context, [(plan.ob, plan.name) for plan in plans])
    if frames:
        lasts = [plan.last for plan in plans if plan.request.target is None]
        warnings += show_in_ik(Task(context, frames, tolerance, stays=True), lasts).warnings
    if foot_roll:
        give_roll(context, [last for plan in plans if is_for(last := plan.last)])
    return Added([plan.last for plan in plans], len(frames), warnings)


def _plans(
    context: Context, requests: Sequence[Request], knee: str, tip: str, turn: float, frames: list[int]
) -> list[Plan]:
    """Check everything before anything is done."""
    _check(requests)
    limbs = [(request.last, request.segments) for request in requests]
    axes = axes_seen(context, limbs, frames, tip) if not turn else {}
    plans = []
    for request in requests:
        last, segments = request.last, request.segments
        plane = request.plane if request.plane != "AUTO" or request.pole else knee
        plane = "POLE" if plane == "AUTO" and not hinge_axis(last) else plane
        follow = Follow(pole=request.pole[0], pole_subtarget=request.pole[1]) if request.pole else None
        is_flat = plane in ("AUTO", "HINGE") and hinge_axis(last)
        seen = None if is_flat else axes.get((last.id_data, last.name))
        axis = seen or bend_axis(last, segments, tip, turn)
        fitted = fit(context, last, segments, follow, plane, tip, axis=axis)
        rest = rest_geometry(last, segments, (), fitted.bend_axis, tip)
        if turn and not is_straight(rest):
            fitted = turned_around(fitted, turn, request.pole is not None)
        turn_around = 0.0 if is_straight(rest) else turn
        plans.append(Plan(last.id_data, last.name, request=request, fit=fitted, rest=rest, turn=turn_around))
    return plans


def _check(requests: Sequence[Request]) -> None:
    """Refuse what can't be made."""
    taken: set[PoseBone] = set()
    dependencies = Dependencies()
    for request in requests:
        last, segments = request.last, request.segments
        check(last, segments, dependencies)
        chain = chain_bones(last, segments)
        if taken.intersection(chain):
            raise Refused("The limb of '{bone}' shares bones with another one: add one of the two", bone=last.name)
        taken.update(chain)
        for followed in (request.target, request.pole):
            if followed:
                check_followed(last, segments, followed, dependencies)


def _frames_kept(requests: Sequence[Request], controls: str) -> list[int]:
    """The frames in which keys move those of these limbs that get a target, or what carries them."""
    new = [request for request in requests if request.target is None]
    bones = [bone for request in new for bone in chain_bones(request.last, request.segments)]
    return animated_frames(bones, goes_along=controls == "BONES")


def followed_by(context: Context, plans: list[Plan], kind: str, foot: bool, pole_follows: bool = True) -> list[Follow]:
    """Make what is lacking for limbs to follow, and say what each follows. With ``pole_follows``, new poles of legs
    hang on the targets."""
    skins = _skins([plan for plan in plans if plan.request.target is None])
    new_controls: list[Control] = []
    places: list[tuple[int, int]] = []
    for i, plan in enumerate(plans):
        target = plan.request.target
        name = target[1] if target and target[0] == plan.ob else ""
        if target is None:
            new_controls.append(_target(context, plan, foot, skins[plan.ob]))
            places.append((i, 0))
            name = new_controls[-1].name
        if plan.fit.plane == "POLE" and plan.request.pole is None:
            pole = _pole(plan)
            goes_along = bool(name) and pole_follows and _is_leg(plan)
            new_controls.append(pole._replace(parent=name) if goes_along else pole)
            places.append((i, 1))
    refs = (make_controls if kind == "BONES" else make_objects)(context, new_controls)
    pairs = [[plan.request.target, plan.request.pole] for plan in plans]
    for (i, k), ref in zip(places, refs, strict=True):
        pairs[i][k] = ref
    return [Follow(*(target or (None, "")), *(pole or (None, ""))) for target, pole in pairs]


def _is_leg(plan: Plan) -> bool:
    """Whether a limb is a leg: by the names of its bones, or as its foot stands on the ground."""
    end, names = foot_of(plan.last), [bone.name for bone in chain_bones(plan.last, plan.request.segments)]
    if any(says(name, ARM) for name in names):
        return False
    return any(says(name, LEG) for name in names) or (end is not None and stands(plan.ob, end, _place_of(plan)))


def _skins(plans: list[Plan]) -> dict[ArmatureObject, dict[str, Any]]:
    """What of meshes the feet and hands of limbs carry, by rig."""
    feet: dict[ArmatureObject, list[PoseBone]] = {plan.ob: [] for plan in plans}
    for plan in plans:
        if end := foot_of(plan.last):
            feet[plan.ob].append(end)
    return {ob: skin_of(ob, ends) for ob, ends in feet.items()}


def _target(context: Context, plan: Plan, foot: bool, skin: dict[str, Any]) -> Control:
    """The control that a limb's tip is to follow: it rests upright, or as the foot where only that lies in a flat rig's
    plane, and is turned now as the foot is that is to turn with it."""
    ob, last, geometry = plan.ob, plan.last, plan.rest
    axis = hinge_axis(last) if plan.fit.plane == "HINGE" else None
    normal = last.bone.matrix_local.to_3x3() @ Vector(axis) if axis else None
    end, now, turn = foot_of(last) if foot else None, None, upright(ob)
    if end:
        rest = end.bone.matrix_local.to_3x3()
        if normal and not is_aligned(turn.to_4x4(), normal) and is_aligned(rest.to_4x4(), normal):
            turn = rest
        evaluated: Any = ob.evaluated_get(context.evaluated_depsgraph_get())
        now = evaluated.pose.bones[end.name].matrix.to_3x3() @ rest.inverted() @ turn
    length, tip = sum(geometry.lengths), last.bone.matrix_local @ vector(geometry.tip)
    return Control(
        ob=ob,
        last=last.name,
        kind="target",
        name=name_of_control(last, "target"),
        parent=rig_root(last, plan.request.segments),
        rest=Matrix.Translation(tip) @ turn.to_4x4(),
        size=TARGET_SIZE * length,
        drawing=_drawing_of_target(plan, normal, skin),
        place=vector(plan.fit.tip),
        turn=now,
        normal=normal,
    )


def _place_of(plan: Plan) -> Place:
    """The end of a limb."""
    geometry, tip = plan.rest, plan.last.bone.matrix_local @ vector(plan.rest.tip)
    return Place(tip, upright(plan.ob), sum(geometry.lengths), vector(geometry.frame[:3, 1]))


def _drawing_of_target(plan: Plan, normal: Vector | None, skin: dict[str, Any]) -> Drawing:
    """How the control of a limb's tip is drawn; ``normal`` is that of a flat rig's plane."""
    place = _place_of(plan)
    if normal is not None:
        return drawing_of_flat(place, normal)
    end = foot_of(plan.last)
    return drawing_of_end(plan.ob, end, skin, place) if end else drawing_of_tip(place)


def _pole(plan: Plan) -> Control:
    """The control that a limb's knee is to point at: in its plane, but somewhat along it, lest it hide the knee from
    who looks at that from where it points."""
    size, frame, up, fitted = sum(plan.rest.lengths), plan.rest.frame, upright(plan.ob).col[2], plan.fit
    root, line = vector(frame[:3, 3]), vector(frame[:3, 1])
    ahead = Matrix.Rotation(plan.turn, 3, line) @ vector(-frame[:3, 0])
    knee, tip = vector(plan.rest.rest[1][:3, 3]), plan.last.bone.matrix_local @ vector(plan.rest.tip)
    place = _before_knee(root, line, ahead, knee, size, POLE_ALONG)
    if line.dot(up) < -HANGING and (place - tip).dot(up) < POLE_ALONG * size:
        place = _before_knee(root, line, ahead, knee, size, -POLE_ALONG)
    along = (place - knee).dot(line) / size
    now, root_now = vector(unit(fitted.tip - fitted.frame[:3, 3], frame[:3, 1])), vector(fitted.frame[:3, 3])
    to_pole = vector(fitted.pole) - root_now
    ahead_now = (to_pole - now * to_pole.dot(now)).normalized()
    rest = Matrix.Translation(place) @ upright(plan.ob).to_4x4()
    return Control(
        ob=plan.ob,
        last=plan.name,
        kind="pole",
        name=name_of_control(plan.last, "pole"),
        parent=rig_root(plan.last, plan.request.segments),
        rest=rest,
        size=POLE_SIZE * size,
        drawing=drawing_of_pole(rest, size),
        place=_before_knee(root_now, now, ahead_now, vector(fitted.knee), size, along),
    )


def _before_knee(root: Vector, line: Vector, ahead: Vector, knee: Vector, size: float, along: float) -> Vector:
    """A place for a pole: in the plane of a limb's line and where the knee points, a limb's ``size`` ahead of the knee,
    which may lie beside that plane, and a share of it along the line."""
    off = knee - root
    return root + line * (off.dot(line) + along * size) + ahead * (off.dot(ahead) + size)


def vector(numbers: Any) -> Vector:
    """An array as Blender's vector."""
    return Vector(numbers.tolist())


def _make_planned(plan: Plan, follow: Follow, tip: str) -> None:
    """Make a limb of a bone, whose target and pole are there."""
    last = plan.last
    constraint = make_limb(last, plan.request.segments)
    write(constraint, follow)
    apply_fit(last, plan.fit._replace(swivel=0.0) if plan.request.pole else plan.fit, tip)
    tag(last)


def _feet(context: Context, plans: list[Plan]) -> dict[BoneRef, Matrix]:
    """How the feet that may follow stand in the world, by rig and last bone: those that are not part of a limb, and
    that nothing else moves."""
    depsgraph, dependencies = context.evaluated_depsgraph_get(), Dependencies()
    lines = [chain_bones(last) for ob in {plan.ob for plan in plans} for last in limbs_of(ob)]
    lines += [chain_bones(plan.last, plan.request.segments) for plan in plans]
    taken = {bone for chain in lines for bone in chain}
    feet = {(plan.ob, plan.name): foot_of(plan.last) for plan in plans}
    return {
        (ob, name): matrix_of(ob, end.name, depsgraph)
        for (ob, name), end in feet.items()
        if end and end not in taken and not dependencies.movers(end)
    }


def _follow_with_feet(context: Context, feet: dict[BoneRef, Matrix]) -> None:
    """Have feet follow as they stand, but those that can't: below mirrors and shear."""
    lasts = [bones_of(ob)[name] for ob, name in feet]
    set_feet(lasts, True, [*feet.values()])
    view_layer_of(context).update()
    pairs = zip(lasts, feet.values(), strict=True)
    if off_by_a_turn := [last for last, before in pairs if _turn_of_foot(context, last, before) > ALIGNED]:
        set_feet(off_by_a_turn, False)
        view_layer_of(context).update()


def _turn_of_foot(context: Context, last: PoseBone, before: Matrix) -> float:
    """By how much an axis of a limb's foot has turned in the world, in radians."""
    foot: Any = foot_of(last)
    after = matrix_of(foot.id_data, foot.name, context.evaluated_depsgraph_get())
    axes = zip(before.to_3x3().col, after.to_3x3().col, strict=True)
    return float(max(was.angle(now, 0.0) for was, now in axes))
