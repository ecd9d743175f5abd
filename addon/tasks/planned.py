"""Limbs described so that they stay where they are: new ones, and such as get another plane, target or pole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bpy.types import Bone, Context, PoseBone
from mathutils import Matrix, Vector

from ..blender.dependencies import BoneRef, Dependencies
from ..blender.stepping import rate_of
from ..blender.types import (
    announce,
    bones_of,
    own_matrix,
    scene_of,
    tag_rig,
    view_layer_of,
)
from ..blender.words import Message, Refused
from ..feet.soles import lying_of
from ..finding.checking import CONFLICTS, check_addable, check_editable, check_followed, mute_constraints
from ..finding.knees import bend_axis
from ..finding.limits import joint_limits, limit_of
from ..finding.loops import Loop
from ..limb.follow import Follow, follow_of_constraint, is_gone, matrix_of
from ..limb.names import target_name
from ..limb.rest_geometry import hinge_axis, is_straight, rest_geometry
from ..limb.settings import CONSTRAINT_NAME
from ..limb.storage import bones_of_limb, chain_bones, choices_of, is_control, limbs_of
from ..limb.tips import AT_TAIL, foot_of, tip_of
from ..limb.tolerances import TURNED
from ..motion.fitting import Wish, fit, turned_around, with_fit
from ..motion.reading import Recording
from ..rigging.build import build
from ..rigging.controls import Control
from ..rigging.description import Description, LimbRef, describe, ref_of
from ..rigging.features import foot_turn_off, gets_foot_roll, half_with_hips, roll_for, with_pole_follow
from ..rigging.feet import at_influence, foot_follows, foot_matrix_of
from .bend_axes import bend_axes_seen, is_of_body
from .new_controls import FittedLimb, pole_for, skins_of, target_for


class LimbRequest(NamedTuple):
    """A limb to be added: its last bone and segments, its target and pole, each an object and the name of a bone;
    without a target, a control is made. ``plane`` may be left to what fits (``AUTO``). With a ``loop``, which its last
    bone's tail closes, it goes to the loop's pin."""

    limb: PoseBone
    segments: tuple[int, ...] = (1, 1)
    target: BoneRef | None = None
    pole: BoneRef | None = None
    plane: str = "AUTO"
    loop: Loop | None = None

    @property
    def is_led(self) -> bool:
        """Whether it follows what is there."""
        return bool(self.target or self.loop)


class AddOptions(NamedTuple):
    """Options of *Add* for all limbs. ``knee`` says with which plane where the request does not; ``POLE`` also makes a
    pole, which on legs goes with the target if it ``pole_follows``. With ``foot``, the foot or hand below turns with
    the target; with ``foot_roll``, feet that do so roll. ``tip`` says where the tip is: where the ``FOOT`` begins, or
    the last bone's ``TAIL``. ``turn`` is by how much the knees are to be turned around the limbs, from where they point
    by themselves. ``mode`` says what poses the limbs: their ``RIG``, or the add-on (``LIVE``)."""

    knee: str = "AUTO"
    foot: bool = True
    tip: str = "FOOT"
    turn: float = 0.0
    mode: str = "LIVE"
    foot_roll: bool = False
    pole_follows: bool = True


class PlannedLimb(NamedTuple):
    """A limb to be, live, the request for it, and its bones; how long these are, in the armature's unit; how its foot
    stands in the world, if that is to follow; and the constraints ``limiting`` its bones, whose limits it has then."""

    limb: LimbRef
    request: LimbRequest
    description: Description
    chain: list[PoseBone]
    length: float
    foot_matrix: Matrix | None
    limiting: list[Any]


def check_all(requests: Sequence[LimbRequest], dependencies: Dependencies) -> None:
    """Refuse what can't be added, before anything is changed."""
    taken: set[PoseBone] = set()
    for request in requests:
        limb, segments = request.limb, request.segments
        check_addable(limb, segments, dependencies)
        chain = chain_bones(limb, segments)
        if taken.intersection(chain):
            raise Refused("The limb of '{bone}' shares bones with another one: add one of the two", bone=limb.name)
        taken.update(chain)
        for followed in (request.target, request.pole):
            if followed:
                check_followed(limb, segments, followed, dependencies)


def planned(
    context: Context, requests: Sequence[LimbRequest], options: AddOptions, among: Dependencies, recording: Recording
) -> tuple[list[PlannedLimb], list[Message]]:
    """Limbs as they are to be, with what they lack to follow, which stay where they are; those that are straight at
    rest bend as they do in their ``recording``. Of several, one that can't be is left out, with a warning; raises
    `Refused` where none can be."""
    limbs, tips, left_out = _fitted(context, requests, options, recording)
    requests = [request for request in requests if any(request.limb == seen_limb.limb for seen_limb in limbs)]
    free = [limb for limb, request in zip(limbs, requests, strict=True) if not request.loop]
    feet = _feet(context, free, among) if options.foot else {}
    skins = skins_of(request.limb for request in requests if not request.is_led)
    plans = []
    for request, tip, seen_limb in zip(requests, tips, limbs, strict=True):
        limb = ref_of(request.limb)
        if request.loop:
            target: Any = _pin_of(context, request.loop, seen_limb)
        else:
            target = request.target or target_for(context, seen_limb, options.foot, skins)
        pole: Any = request.pole
        if seen_limb.fit.plane == "POLE" and pole is None:
            pole = pole_for(seen_limb, target if options.pole_follows else None)
        description = _described(request, seen_limb, tip)._replace(target=target, pole=pole)
        if limb in feet:
            description = description._replace(foot_turn=foot_turn_off(context, limb, description.target, feet[limb]))
            if options.foot_roll and gets_foot_roll(description):
                lying = lying_of(recording, request.limb, seen_limb.rest, rate_of(scene_of(context)))
                description = roll_for(description, limb, among, seen_limb.rest, lying)
            description = half_with_hips(description, limb)
        description, limiting = _with_limits(description, seen_limb)
        plan = PlannedLimb(
            limb=limb,
            request=request,
            description=description,
            chain=chain_bones(request.limb, request.segments),
            length=sum(seen_limb.rest.lengths),
            foot_matrix=feet.get(limb),
            limiting=limiting,
        )
        plans.append(plan)
    return plans, left_out


def _fitted(
    context: Context, requests: Sequence[LimbRequest], options: AddOptions, recording: Recording
) -> tuple[list[FittedLimb], list[str], list[Message]]:
    """Limbs as they are seen, with where their tips are, and warnings of those that can't be; raises `Refused` where
    none can."""
    named = [(request.limb, request.segments) for request in requests]
    axes = {} if options.turn else bend_axes_seen(recording, named, options.tip)
    bodies = {limb.id_data for limb, segments in named if is_of_body(recording, limb, segments)}
    limbs, tips, left_out, refusals = list[FittedLimb](), list[str](), list[Message](), list[Refused]()
    for request in requests:
        try:
            tip = _tip_of(context, request, options.tip)
            limbs.append(_seen(context, request, tip, options, axes, request.limb.id_data in bodies))
            tips.append(tip)
        except Refused as why:
            refusals.append(why)
            left_out.append(Message("{name} is left out: {why}", name=request.limb.name, why=why.message))
    if not limbs:
        raise refusals[0]
    return limbs, tips, left_out


def _with_limits(description: Description, seen_limb: FittedLimb) -> tuple[Description, list[Any]]:
    """A limb with the limits that *Limit Rotation* has on its bones, and these constraints; raises `Refused` where they
    are not about its hinge. One that is straight bends to the side where they let it."""
    bones = bones_of_limb(seen_limb.limb, seen_limb.segments)
    limits = [
        (k, constraint, limit)
        for k, bone in enumerate(bones)
        for constraint in bone.constraints
        if not constraint.mute and (limit := limit_of(constraint))
    ]
    for k, constraint, limit in limits:
        plane, flip = description.choices["plane"], bool(description.sliders["flip"])
        taken_over = joint_limits(seen_limb.rest, k, limit, plane, flip)
        if k and taken_over and taken_over["min_angle"] >= taken_over["max_angle"] and is_straight(seen_limb.rest):
            description, taken_over = (
                description.with_slider("flip", not flip),
                joint_limits(seen_limb.rest, k, limit, plane, not flip),
            )
        if taken_over is None:
            raise Refused(CONFLICTS, "mute", name=constraint.name, bone=bones[k].name)
        description = description._replace(choices=description.choices | taken_over)
    return description, [constraint for _, constraint, _ in limits]


def mute_limiting(plans: Sequence[PlannedLimb]) -> list[Message]:
    """Mute the constraints whose limits limbs are to have; says which."""
    constraints = [constraint for plan in plans for constraint in plan.limiting]
    mute_constraints(constraints)
    template = "'{name}' is muted: the limb has its limits now"
    return [Message(template, name=constraint.name) for constraint in constraints]


def _tip_of(context: Context, request: LimbRequest, tip: str) -> str:
    """Where the tip of a limb is to be: at the tail, if its target lies there and its foot begins elsewhere, as on a
    lug; so do loops end."""
    limb, target = request.limb, request.target
    if request.loop:
        return "TAIL"
    tail, near = Vector((0.0, limb.bone.length, 0.0)), AT_TAIL * limb.bone.length
    if target is None or is_gone(*target) or (Vector(tip_of(limb, tip).tolist()) - tail).length <= near:
        return tip
    depsgraph = context.evaluated_depsgraph_get()
    now, place = matrix_of(limb.id_data, limb.name, depsgraph), matrix_of(*target, depsgraph).translation
    return "TAIL" if (now @ tail - place).length <= near * now.to_scale().y else tip


def _pin_of(context: Context, loop: Loop, seen_limb: FittedLimb) -> BoneRef | Control:
    """The pin of a loop, or one that is to be made where its limb ends at rest."""
    ob = seen_limb.limb.id_data
    if loop.pin:
        return ob, loop.pin
    control, carrier = target_for(context, seen_limb, False, {}), ob.pose.bones[loop.carrier]
    now: Any = carrier.matrix @ carrier.bone.matrix_local.inverted() @ control.rest
    name = target_name(loop.limb, "")  # after no foot
    return control._replace(name=name, parent=loop.carrier, place=now.translation, turn=now.to_3x3())


def _bones_around(request: LimbRequest, plane: str) -> list[Bone]:
    """The bones besides its own that a loop goes through, or what moves the target of a hinge that a person chose."""
    bones, loop, target = request.limb.id_data.data.bones, request.loop, request.target
    if loop:
        return [bones[name] for name in loop.bones if name != loop.pin]
    if plane != "HINGE" or target is None or target[0] != request.limb.id_data or is_gone(*target):
        return []
    return [bone for bone in bones[target[1]].parent_recursive if bone not in request.limb.bone.parent_recursive]


def _seen(
    context: Context,
    request: LimbRequest,
    tip: str,
    options: AddOptions,
    axes: dict[tuple[Any, str], Any],
    is_body: bool,
) -> FittedLimb:
    """How a limb stays where it is; one that is straight at rest bends about what of these ``axes`` is its own. A limb
    of a body that rests flat is no puppet's."""
    limb, segments, turn, loop = request.limb, request.segments, options.turn, request.loop
    plane = request.plane if request.plane != "AUTO" or request.pole else options.knee
    around = _bones_around(request, plane)
    hinge = None if is_body and not loop else hinge_axis(limb, around)
    if loop and plane == "AUTO":
        plane = "SLIDE" if loop.slides else "HINGE"
    plane = "POLE" if plane == "AUTO" and not hinge else plane
    follow = Follow(pole=request.pole[0], pole_subtarget=request.pole[1]) if request.pole else None
    is_flat = plane in ("AUTO", "HINGE") and hinge
    axis: Any = hinge if around else None if is_flat else axes.get(ref_of(limb))
    axis = axis or (None if loop else bend_axis(limb, segments, tip, turn, not is_body))
    fitted = fit(context, limb, segments, follow, Wish(plane, tip, axis))
    rest = rest_geometry(limb, segments, (), fitted.bend_axis, tip, fitted.plane)
    if turn and not is_straight(rest):
        fitted = turned_around(fitted, turn, request.pole is not None)
    return FittedLimb(limb, segments, fitted, rest, 0.0 if is_straight(rest) else turn)


def _described(request: LimbRequest, seen_limb: FittedLimb, tip: str) -> Description:
    """A limb as it is to be, live, but for its foot and what it follows."""
    end = foot_of(request.limb)
    description = Description(request.segments, end.name if end else "").of_its_bones().with_choice("tip", tip)
    return with_fit(description, request.limb, seen_limb.fit._replace(swivel=0.0) if request.pole else seen_limb.fit)


def _feet(context: Context, limbs: Sequence[FittedLimb], dependencies: Dependencies) -> dict[LimbRef, Matrix]:
    """How the feet that may follow stand in the world, by limb: those that are not part of a limb, and that nothing
    else moves."""
    depsgraph = context.evaluated_depsgraph_get()
    lines = [chain_bones(limb) for ob in {seen_limb.limb.id_data for seen_limb in limbs} for limb in limbs_of(ob)]
    lines += [chain_bones(seen_limb.limb, seen_limb.segments) for seen_limb in limbs]
    taken = {bone for chain in lines for bone in chain}
    feet = {ref_of(seen_limb.limb): foot_of(seen_limb.limb) for seen_limb in limbs}
    return {
        ref: matrix_of(ref[0], end.name, depsgraph)
        for ref, end in feet.items()
        if end and end not in taken and not dependencies.constraints_and_drivers(end)
    }


def leave_out_feet(context: Context, plans: Sequence[PlannedLimb]) -> None:
    """Leave out feet that can't follow their targets without moving: below mirrors and shear."""
    depsgraph = context.evaluated_depsgraph_get()
    off = {}
    for plan in plans:
        if plan.foot_matrix is None:
            continue
        after = matrix_of(plan.limb[0], plan.description.foot, depsgraph)
        axes = zip(plan.foot_matrix.to_3x3().col, after.to_3x3().col, strict=True)
        if max(was.angle(now, 0.0) for was, now in axes) > TURNED:
            off[plan.limb] = describe(plan.limb)._replace(foot_turn=None).without("foot_roll")
    build(context, off)


# limbs as scripts make them


def new_limb(bone: PoseBone, segments: tuple[int, ...]) -> Description:
    """A limb of a bone that can be the last of one, which bends as Add has it bend."""
    foot, there = foot_of(bone), bone.constraints.get(CONSTRAINT_NAME)
    pairs = follow_of_constraint(there).pairs if there else ()
    target, pole = (ref if ref[0] else None for ref in pairs or ((None, ""), (None, "")))
    description = Description(segments, foot.name if foot else "", target=target, pole=pole)
    description = description.with_choice("plane", "POLE" if pole else "HINGE" if hinge_axis(bone) else "FREE")
    return description._replace(bend_axis=tuple(bend_axis(bone, segments, "FOOT", 0.0) or ())).of_its_bones()


def with_segments(bone: PoseBone, segments: tuple[int, ...]) -> Description:
    """A limb that is there, of other segments."""
    description = describe(ref_of(bone))._replace(segments=segments, reference_rotations=()).of_its_bones()
    return description._replace(
        bend_axis=tuple(description.bend_axis or bend_axis(bone, segments, description.tip, 0.0) or ())
    )


# limbs that are there


def without_target(limb: Description) -> Description:
    """The description without its target, and without a pole that was made for it and hangs on that."""
    target, pole = limb.target, limb.pole
    hangs = False
    if isinstance(pole, tuple) and isinstance(target, tuple) and is_control(*pole[:2]):
        (ob, name), above = pole[:2], None
        above = bones_of(ob)[name].parent
        hangs = above is not None and (ob, above.name) == target
    return limb._replace(target=None, pole=None if hangs else pole)


def refitted(
    context: Context, refs: Sequence[LimbRef], changed: Callable[[Description], Description]
) -> dict[LimbRef, Description]:
    """Changed descriptions of limbs with settings that keep the pose that IK shows, and with controls for what they
    lack."""
    limbs = [ob.pose.bones[name] for ob, name in refs]
    for limb in limbs:
        check_editable(limb)
    before = {ref: describe(ref) for ref in refs}
    with at_influence(context, limbs, 1.0):
        return {ref: _refitted(context, ref, changed(before[ref])) for ref in refs}


def _refitted(context: Context, ref: LimbRef, description: Description) -> Description:
    """A limb that stays as it is, with what it lacks to follow."""
    limb = ref[0].pose.bones[ref[1]]
    target, pole = (None if one is None or is_gone(*one) else one for one in (description.target, description.pole))
    follow, plane = Follow(*(target or (None, "")), *(pole or (None, ""))), description.choices["plane"]
    wish = Wish(plane, description.tip, description.bend_axis or None)
    fitted = fit(context, limb, description.segments, follow, wish)
    rest = rest_geometry(limb, description.segments, (), fitted.bend_axis, description.tip, plane)
    seen_limb = FittedLimb(limb, description.segments, fitted, rest)
    foot_matrix = foot_matrix_of(limb) if foot_follows(limb) else None
    new_target: Any = target or target_for(context, seen_limb, foot_matrix is not None, skins_of([limb]))
    new_pole: Any = pole or (pole_for(seen_limb, new_target) if fitted.plane == "POLE" else None)
    description = with_fit(description, limb, fitted if new_pole is pole else fitted._replace(swivel=0.0))
    description = description._replace(target=new_target, pole=new_pole)
    if foot_matrix:
        description = description._replace(foot_turn=foot_turn_off(context, ref, new_target, foot_matrix))
    return with_pole_follow(description, ref)


def let_turn(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Have first bones that slide be by their own location where they are now."""
    for limb in [limb for limb in limbs if choices_of(limb)["plane"] == "SLIDE"]:
        announce(limb.id_data)
        first: Any = bones_of_limb(limb)[0]
        evaluated: Any = first.id_data.evaluated_get(context.evaluated_depsgraph_get())
        first.location = own_matrix(evaluated.pose.bones[first.name]).translation
        tag_rig(limb)
    view_layer_of(context).update()
