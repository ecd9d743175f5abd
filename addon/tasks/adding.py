"""Adding IK to limbs so that they stay where they are: controls, IK constraint, settings, and the foot that follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bpy.types import Context, PoseBone
from mathutils import Matrix

from ..blender.dependencies import BoneRef, Dependencies
from ..finding.checking import check, check_followed
from ..finding.knees import bend_axis
from ..limb.follow import Follow, follow_of, matrix_of
from ..limb.rest_geometry import hinge_axis, is_straight, rest_geometry
from ..limb.storage import KINDS, chain_bones, limbs_of
from ..limb.tips import foot_of
from ..limb.whole import wholly
from ..limb.words import Message, Refused
from ..poses.bend_axes import axes_seen
from ..poses.fitting import fit, turned_around, with_fit
from ..poses.keeping import animated_frames
from ..poses.new_controls import Seen, pole_for, skins_of, target_for
from ..poses.over_frames import show_in_ik
from ..poses.reading import Progress
from ..poses.settling import settle, shown
from ..poses.staying import check_still, hanging_on, heads_of
from ..poses.writing import Task
from ..rigging.apply import apply
from ..rigging.controls import Control, take_up
from ..rigging.description import Description, LimbRef, describe, ref_of
from ..rigging.features import foot_turn_off, is_rolling_foot, roll_for
from ..rigging.made_keys import mark_keys
from .modes import live_for_now

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
    progress: Progress | None = None,
) -> Added:
    """Put IK on limbs, of one rig or several; raises `Refused`, and then nothing is done.

    What a limb is to follow and is not given is made: ``controls`` says as ``BONES`` of its rig or as objects
    (``EMPTIES``), ``knee`` with which plane where the request does not say; ``POLE`` also makes a pole, which on legs
    goes with the target if it ``pole_follows``. With ``foot``, the foot or hand below turns with the target; with
    ``foot_roll``, feet that do so roll. ``tip`` says where the tip is: where the ``FOOT`` begins, or the last bone's
    ``TAIL``. ``turn`` is by how much the knees are to be turned around the limbs, from where they point by themselves.
    Where bones, or what carries them, have keys, ``KEEP`` of ``keyed`` gives what is made keys too, so that each frame
    looks as before, to a ``tolerance`` in lengths of the limb; ``LEAVE`` does not. ``mode`` says what poses the limbs:
    their ``RIG``, or the add-on (``LIVE``). ``progress`` is told the part done of frames, and may raise to cancel.
    """
    dependencies = Dependencies()
    _check(requests, dependencies)
    frames = _frames_kept(requests, controls) if keyed == "KEEP" else []
    axes = axes_seen(context, requests, frames, tip) if not turn else {}
    limbs = [_seen(context, request, knee, tip, turn, axes) for request in requests]
    names = [ref_of(request.last) for request in requests]
    new = [name for name, request in zip(names, requests, strict=True) if request.target is None]
    knees = [shown(context, request.last, request.segments) for request in requests]
    heads, lengths = heads_of(context, (request.last.id_data for request in requests)), _lengths(limbs)
    free = _led(requests, turn)
    feet = _feet(context, limbs, dependencies) if foot else {}
    skins = skins_of(request.last for request in requests if request.target is None)
    wishes: dict[LimbRef, Description] = {}
    for name, request, limb in zip(names, requests, limbs, strict=True):
        target = request.target or target_for(context, limb, controls, foot, skins)
        pole: Any = request.pole
        if limb.fit.plane == "POLE" and pole is None:
            pole = pole_for(limb, controls, target if pole_follows else None)
        wish = _described(request, limb, tip)._replace(target=target, pole=pole)
        if name in feet:
            wish = wish._replace(foot_turn=foot_turn_off(context, name, wish.target, feet[name]))
            if foot_roll and is_rolling_foot(wish):
                wish = roll_for(wish, name, limb.rest, dependencies)
        wishes[name] = _with_old_controls(context, wish)
    wishes, warnings = live_for_now(wishes, dependencies) if mode == "RIG" else (wishes, [])
    apply(context, wishes)
    _let_off_feet(context, feet, wishes)
    settle(context, knees, is_shown=all(wish.mode == "RIG" for wish in wishes.values()))
    if frames:
        lasts = [ob.pose.bones[bone] for ob, bone in new]
        warnings += show_in_ik(Task(context, frames, tolerance, stays=True, progress=progress), lasts).warnings
        mark_keys(ref for limb, wish in wishes.items() for ref in _new_controls(limb, wish))
    check_still(context, heads, free, lengths, max(tolerance, KEPT))
    return Added([ob.pose.bones[bone] for ob, bone in names], len(frames), warnings)


def _with_old_controls(context: Context, wish: Description) -> Description:
    """A limb as it is to be, with controls that were made for it before and that nothing uses now."""
    target, pole = (take_up(context, ref) if isinstance(ref, Control) else ref for ref in (wish.target, wish.pole))
    return wish._replace(target=target, pole=pole)


def _new_controls(limb: LimbRef, wish: Description) -> list[BoneRef]:
    """What a limb follows of what was made for it just now."""
    pairs = follow_of(limb[0].pose.bones[limb[1]]).pairs
    both = zip(KINDS, pairs, strict=True)
    return [(ob, bone) for kind, (ob, bone) in both if ob and isinstance(getattr(wish, kind), Control)]


def _check(requests: Sequence[Request], dependencies: Dependencies) -> None:
    """Refuse what can't be made, before anything is done."""
    taken: set[PoseBone] = set()
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


def _seen(
    context: Context, request: Request, knee: str, tip: str, turn: float, axes: dict[tuple[Any, str], Any]
) -> Seen:
    """How a limb stays where it is; one that is straight at rest bends about what of these ``axes`` is its own."""
    last, segments = request.last, request.segments
    plane = request.plane if request.plane != "AUTO" or request.pole else knee
    plane = "POLE" if plane == "AUTO" and not hinge_axis(last) else plane
    follow = Follow(pole=request.pole[0], pole_subtarget=request.pole[1]) if request.pole else None
    is_flat = plane in ("AUTO", "HINGE") and hinge_axis(last)
    axis = (None if is_flat else axes.get(ref_of(last))) or bend_axis(last, segments, tip, turn)
    fitted = fit(context, last, segments, follow, plane, tip, axis=axis)
    rest = rest_geometry(last, segments, (), fitted.bend_axis, tip)
    if turn and not is_straight(rest):
        fitted = turned_around(fitted, turn, request.pole is not None)
    return Seen(last, segments, fitted, rest, 0.0 if is_straight(rest) else turn)


def _frames_kept(requests: Sequence[Request], controls: str) -> list[int]:
    """The frames in which keys move those of these limbs that get a target, or what carries them."""
    new = [request for request in requests if request.target is None]
    bones = [bone for request in new for bone in chain_bones(request.last, request.segments)]
    return animated_frames(bones, goes_along=controls == "BONES")


def _lengths(limbs: Sequence[Seen]) -> dict[LimbRef, float]:
    """How long the limbs of bones are, in the armature's unit."""
    return {ref_of(bone): sum(limb.rest.lengths) for limb in limbs for bone in chain_bones(limb.last, limb.segments)}


def _led(requests: Sequence[Request], turn: float) -> set[LimbRef]:
    """The bones of limbs that go to a target or pole they are given, or whose knees are turned around them, and what
    hangs on them."""
    led = [request for request in requests if turn or request.target or request.pole]
    return hanging_on(bone for request in led for bone in chain_bones(request.last, request.segments))


def _feet(context: Context, limbs: Sequence[Seen], dependencies: Dependencies) -> dict[LimbRef, Matrix]:
    """How the feet that may follow stand in the world, by limb: those that are not part of a limb, and that nothing
    else moves."""
    depsgraph = context.evaluated_depsgraph_get()
    lines = [chain_bones(last) for ob in {limb.last.id_data for limb in limbs} for last in limbs_of(ob)]
    lines += [chain_bones(limb.last, limb.segments) for limb in limbs]
    taken = {bone for chain in lines for bone in chain}
    feet = {ref_of(limb.last): foot_of(limb.last) for limb in limbs}
    return {
        limb: matrix_of(limb[0], end.name, depsgraph)
        for limb, end in feet.items()
        if end and end not in taken and not dependencies.movers(end)
    }


def _described(request: Request, limb: Seen, tip: str) -> Description:
    """A limb as it is to be, live, but for its foot and what it follows."""
    end = foot_of(request.last)
    wish = Description(request.segments, end.name if end else "").with_choice("tip", tip)
    if len(request.segments) > 2:
        wish = wish.with_slider("ankle", 0.0)
    return with_fit(wish, request.last, limb.fit._replace(swivel=0.0) if request.pole else limb.fit)


def _let_off_feet(context: Context, feet: dict[LimbRef, Matrix], wishes: dict[LimbRef, Description]) -> None:
    """Let feet be that can't follow as they stand: below mirrors and shear."""
    depsgraph = context.evaluated_depsgraph_get()
    off = {}
    for limb, before in feet.items():
        after = matrix_of(limb[0], wishes[limb].foot, depsgraph)
        axes = zip(before.to_3x3().col, after.to_3x3().col, strict=True)
        if max(was.angle(now, 0.0) for was, now in axes) > ALIGNED:
            off[limb] = describe(limb)._replace(foot_turn=None, roll=None).without_sliders("roll", "bank")
    apply(context, off)
