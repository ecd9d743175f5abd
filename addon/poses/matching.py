"""In one frame: how limbs stand, and what they have to follow to stand so by IK."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, hypot, remainder, sin, sqrt, tau
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from mathutils import Quaternion, Vector
from numpy.typing import NDArray

from ..blender.changes import Change
from ..blender.types import ArmatureObject
from ..limb.follow import follow_of
from ..limb.foot_roll import has_roll, move_of_control
from ..limb.moving import Move, check_movable, check_undriven, move
from ..limb.pole_follow import pole_goes_along
from ..limb.settings import SLIDER
from ..limb.sides import outwards
from ..limb.solving import LimbsNow, carry_of, limbs_now, solve
from ..limb.storage import bones_of_limb, by_rig, has_slider, limbs_of, read_slider, write_slider
from ..limb.table import Limb, joints_in
from ..limb.tips import foot_of
from ..limb.transforms import own_location
from ..limb.words import MOVED, Message, Refused
from ..rigging import feet
from ..rigging.rolling import turn_toes
from ..solver.limb import joints_of, line_to, roll_to
from ..solver.matrices import applied, inverted_all
from ..solver.ops import FLOATS
from ..solver.rotation import conjugate, rotate
from .fitting import EXACT, PAST_STRAIGHT, Posture, angle_of, inverse_fit, rank, turns_now

Array = NDArray[Any]

NEAR = 1e-4
"""How far joints may be from where they were, in lengths of the limb, and still count as there."""

SHOWN = 1e-3
"""How far they may be off, in lengths of the limb, without a warning."""

STILL = 1e-5
"""How much of a swivel, in radians, is none: what is less is left as it was."""


class Stance(NamedTuple):
    """How one limb stands in one frame."""

    turns: Array  # (segments, 4), w first: the rotations that its bones need by their own channels to show that
    stretch: float  # how many times as long as at rest they are
    carry: Array  # (4, 4): takes the limb from its rest pose in the armature to where it hangs in the world
    foot: Quaternion | None  # how its foot is turned in the world, if that follows the target


Stances = dict[tuple[ArmatureObject, str], Stance]
"""How several limbs stand, by rig and name of the last bone."""


class Matched(NamedTuple):
    """The properties that were changed to show a pose in another way, as they were before, and what to tell the
    person."""

    changes: list[Change]
    warnings: list[Message]


def stances_by_fk(context: Context, lasts: Sequence[PoseBone]) -> Stances:
    """How limbs stand by their own channels in this frame. Raises `Refused` where IK can't show that."""
    for last in lasts:
        _check_own(last)
    with feet.at_influence(context, lasts, 0.0):
        return _stances_now(context, lasts)


def stances_shown(context: Context, lasts: Sequence[PoseBone], segments: Sequence[tuple[int, ...]]) -> Stances:
    """How bones that are no limbs yet, with these segments, stand in this frame, whatever poses them."""
    stances: Stances = {}
    for last, own_segments in zip(lasts, segments, strict=True):
        evaluated: Any = last.id_data.evaluated_get(context.evaluated_depsgraph_get())
        turns = np.array(turns_now(evaluated, last, own_segments), float)
        first = bones_of_limb(evaluated.pose.bones[last.name], own_segments)[0]
        stances[last.id_data, last.name] = Stance(turns, 1.0, _world(evaluated) @ carry_of(first), None)
    return stances


def _stances_now(context: Context, lasts: Sequence[PoseBone]) -> Stances:
    """How limbs stand by their own channels, with feet as they are evaluated now."""
    stances: Stances = {}
    depsgraph = context.evaluated_depsgraph_get()
    for ob, limbs in by_rig(lasts).items():
        evaluated: Any = ob.evaluated_get(depsgraph)
        own = limbs_now(ob, limbs, depsgraph).own
        for row, last in enumerate(limbs):
            bones, foot = bones_of_limb(last), foot_of(last) if feet.foot_follows(last) else None
            stances[ob, last.name] = Stance(
                turns=own[row, : len(bones)],
                stretch=float(bones[0].scale[1]) if has_slider(last, "stretch") else 1.0,
                carry=_world(evaluated) @ carry_of(evaluated.pose.bones[bones[0].name]),
                foot=feet.turn_of(context, ob, foot.name) if foot else None,
            )
    return stances


def _world(evaluated: Any) -> Array:
    return np.array(evaluated.matrix_world, float)


def _check_own(last: PoseBone) -> None:
    """Refuse a limb that IK can't show: its lower bones are moved, or one is scaled but for a stretch of the first."""
    for k, bone in enumerate(bones_of_limb(last)):
        is_scaled = max(abs(number - 1.0) for number in bone.scale[:]) > NEAR
        if k and float(np.linalg.norm(own_location(bone))) > NEAR * bone.length:
            raise Refused(MOVED, bone=bone.name)
        if is_scaled and not (k == 0 and has_slider(last, "stretch")):
            raise Refused("'{bone}' is scaled by itself: clear its scale, then snap", bone=bone.name)


def match(context: Context, lasts: Sequence[PoseBone], stances: Stances, moves_controls: bool = True) -> Matched:
    """Have limbs stand so by IK in this frame, without keys: by targets and poles (unless they stay where they are),
    flip, swivel and ankle. Raises `Refused` for what can't be seen where it has to be."""
    rotations = _turns_of_targets(context, lasts, stances) if moves_controls else {}
    plans: list[LimbMatch] = []
    for ob, limbs in by_rig(lasts).items():
        now = limbs_now(ob, limbs, context.evaluated_depsgraph_get(), is_whole=True)
        plans += [
            _match_of(Aim(now, row, last, stances[ob, last.name], moves_controls)) for row, last in enumerate(limbs)
        ]
    for plan in plans:
        changed = [name for name, value in plan.sliders.items() if read_slider(plan.last, name) != value]
        check_undriven(plan.last, *changed)
    changes = [_set(plan.last, name, value) for plan in plans for name, value in plan.sliders.items()]
    moves = [move_ for plan in plans for move_ in plan.moves]
    moves = [move_._replace(rotation=rotations.get((move_.object, move_.bone))) for move_ in moves]
    rolled: dict[Any, PoseBone] = {follow_of(last)[:2]: last for last in lasts if has_roll(last)}
    depsgraph = context.evaluated_depsgraph_get()
    for i, move_ in enumerate(moves):
        if (move_.object, move_.bone) in rolled:
            moves[i] = move_of_control(rolled[move_.object, move_.bone], move_, depsgraph)
    changes += move(context, moves)
    changes += turn_toes(context, lasts) if moves_controls else ()
    warnings = [warning for plan in plans for warning in plan.warnings]
    return Matched(changes, [*warnings, *_warnings_of_misses(context, lasts, stances)])


def _set(last: Any, name: str, value: Any) -> Change:
    """Set a slider. Returns what it was."""
    change = Change.of_property(last.id_data, last.name, f'["{SLIDER[name].key}"]')
    write_slider(last, name, value)
    return change


def _warnings_of_misses(context: Context, lasts: Sequence[PoseBone], stances: Stances) -> list[Message]:
    """Warnings of limbs that do not stand as they were to: knee limits, softness with stretch, or a plane keep them
    from it."""
    warnings = []
    for ob, limbs in by_rig(lasts).items():
        now = limbs_now(ob, limbs, context.evaluated_depsgraph_get(), is_whole=True)
        solution = solve(now.table, now.target, now.pole, now.sliders, None)
        joints = applied(now.frames[:, None], joints_in(now.table, solution.turns, solution.stretch))
        for row, last in enumerate(limbs):
            limb, stance = now.table.limbs[row], stances[ob, last.name]
            turns: Any = tuple(map(tuple, stance.turns))
            expected = np.array(joints_of(turns, now.table.singles[row].reference, stance.stretch), float)
            frame = stance.carry @ limb.geometry.frame
            off = np.linalg.norm(applied(frame[None], expected) - joints[row, : len(expected)], axis=-1).max()
            if not off <= SHOWN * sum(limb.geometry.lengths) * np.linalg.norm(frame[:3, 1]):
                warnings.append(Message("IK has not every pose of '{bone}': its joints are elsewhere", bone=last.name))
    return warnings


def _turns_of_targets(context: Context, lasts: Sequence[PoseBone], stances: Stances) -> dict[Any, Quaternion]:
    """How targets are to be turned in the world for the feet that turn with them to stand so, by object and bone."""
    foot_turns = {last: stances[last.id_data, last.name].foot for last in lasts}
    footed = [last for last in lasts if foot_turns[last] is not None and feet.foot_follows(last)]
    turns: dict[Any, Quaternion] = {}
    if footed:
        with feet.at_influence(context, footed, 1.0):
            for last in footed:
                turns[follow_of(last)[:2]] = foot_turns[last] @ feet.off_target(context, last).inverted()  # type: ignore[operator]
    return turns


class LimbMatch(NamedTuple):
    """What has one limb stand so: its sliders by name, as they are to be; where its target and its pole are to be seen;
    and what to tell the person."""

    last: PoseBone
    sliders: dict[str, Any]
    moves: list[Move]
    warnings: list[Message]


class Aim(NamedTuple):
    """A limb that is to stand so: what is evaluated ``now``, of which it is a ``row``. Target and pole are to be moved
    only if ``moves_controls``."""

    now: LimbsNow
    row: int
    last: PoseBone
    stance: Stance
    moves_controls: bool

    @property
    def limb(self) -> Limb:
        """What of the limb does not change."""
        return self.now.table.limbs[self.row]

    @property
    def frame(self) -> Array:
        """The limb's frame G in the world (4, 4)."""
        frame: Array = self.stance.carry @ self.limb.geometry.frame
        return frame

    @property
    def size(self) -> float:
        """The limb's length in G."""
        return sum(self.limb.geometry.lengths)

    def slider(self, name: str) -> float:
        """A slider of the limb now."""
        return float(self.now.sliders[name][self.row])

    def move_to(self, followed: tuple[Any, str], place: Any) -> Move:
        """What has target or pole seen at a place of G."""
        frame, (ob, bone) = self.frame, followed
        return Move(ob, bone, Vector((frame @ [*place, 1.0])[:3]), size=self.size * float(np.linalg.norm(frame[:3, 1])))


def _match_of(aim: Aim) -> LimbMatch:
    """What has a limb stand as its stance says. Raises `Refused`; nothing is changed."""
    limb, flip = aim.limb, aim.slider("flip") > 0.5
    turns: Any = tuple(map(tuple, aim.stance.turns))
    joints = joints_of(turns, aim.now.table.singles[aim.row].reference)
    posture, tip = Posture(turns, joints, None), joints[-1]
    plane = "HINGE" if limb.plane == "HINGE" else "FREE"
    inverses = [inverse_fit(limb.geometry, posture, plane, -1.0 if side else 1.0) for side in (flip, not flip)]
    inverse = inverses[0] if inverses[0].error <= EXACT else min(inverses, key=rank)
    if plane == "HINGE" and aim.moves_controls and abs(tip[2]) > NEAR * aim.size:
        raise Refused(
            "'{bone}' is posed out of its hinge's plane: set its plane to Free, then snap", bone=aim.last.name
        )
    warnings = []
    if inverse.error > 1.0 and inverse.off <= SHOWN:
        warnings.append(Message("'{bone}' is turned off its hinge: IK turns it back", bone=aim.last.name))
    factor = _target_factor(aim, tip)
    target = tuple(factor * number for number in tip)
    sliders: dict[str, Any] = {"flip": inverse.side < 0.0}
    if has_slider(aim.last, "ankle"):
        sliders["ankle"] = inverse.ankle
    moves = [aim.move_to(follow_of(aim.last).pairs[0], target)] if aim.moves_controls else []
    swivel, pole_place = _roll_by(aim, inverse.swivel, target) if plane == "FREE" else (None, None)
    if swivel is not None:
        sliders["swivel"] = swivel
    if pole_place is not None:
        moves.append(aim.move_to(follow_of(aim.last).pairs[1], pole_place))
    return LimbMatch(aim.last, sliders, moves, warnings)


def _roll_by(aim: Aim, roll: float, target: Any) -> tuple[float | None, Any]:
    """What turns the knee by ``roll`` about the line to the target: the swivel that the slider is to have, or the place
    in G that the pole is to have where that can be moved; each None where it is to stay."""
    now, row, sign = aim.now, aim.row, outwards(aim.last.name)
    swivel, size, length = sign * aim.slider("swivel"), aim.size, float(np.linalg.norm(target))
    line = line_to(target, length, FLOATS)
    by_pole = 0.0
    if now.table.is_poled[row] and aim.slider("pole") > 0.5:
        in_world = applied(now.frames[row][None], now.pole[row][None])
        pole: Any = tuple(map(float, applied(inverted_all(aim.frame[None]), in_world)[0]))
        by_pole = angle_of(roll_to(line, pole, FLOATS))
        if abs(remainder(roll - swivel - by_pole, tau)) <= STILL:
            stays = aim.moves_controls and pole_goes_along(aim.last) and is_pole_movable(aim.last)
            return None, pole if stays else None
        if aim.moves_controls and is_pole_movable(aim.last):
            x, y, z = rotate(conjugate(line), pole)
            away, angle = hypot(x, z), roll - swivel
            away = away if away > 0.1 * size else size
            along = y if abs(y) < 10.0 * size else 0.5 * length
            return None, rotate(line, (-away * cos(angle), along, away * sin(angle)))
    lacking = remainder(roll - by_pole - swivel, tau)
    return (sign * (swivel + lacking) if abs(lacking) > STILL else None), None


def is_pole_movable(last: PoseBone) -> bool:
    """Whether the pole of a limb can be moved, and only turns this one."""
    follow = follow_of(last)
    if follow.pole is None:
        return False
    of_others = [follow_of(other)[2:] for other in limbs_of(last.id_data) if other != last]
    if follow[2:] in of_others:
        return False
    try:
        check_movable(last, follow.pole, follow.pole_subtarget)
    except Refused:
        return False
    return True


def _target_factor(aim: Aim, tip: Any) -> float:
    """How many times as far from the root as the tip of the limb at its rest lengths, which is at ``tip`` in G, its
    target has to be: with softness, for the tip to stay there (`extend_shaped` backwards), and with stretch, for the
    bones to be as many times as long as the stance has them."""
    _, reference, settings = aim.now.table.singles[aim.row]
    length, total = sqrt(sum(number * number for number in tip)), reference.bones.total
    nearest = max(settings.nearest, reference.bones.nearest if reference.groups is None else 0.0)
    farthest = min(settings.farthest, total)
    softness, slack = aim.slider("softness") * total, NEAR * total
    stretch, share, factor = aim.stance.stretch, aim.slider("stretch"), 1.0
    to_farthest = max(farthest - length, 0.0)
    if not nearest - slack <= length <= farthest + slack:
        factor = 1.0  # the knee's limits keep it from there
    elif share > 0.0:
        factor = 1.0 + max(stretch - 1.0, 0.0) / share
    elif to_farthest < softness and length > 0.0:
        factor = (farthest + softness - sqrt(4.0 * softness * to_farthest)) / length
    if abs(stretch - 1.0) > NEAR and not (share > 0.0 and stretch > 1.0 and to_farthest <= max(softness, slack)):
        raise Refused(
            "'{bone}' is longer by its scale than IK makes it there: clear its scale, then snap", bone=aim.last.name
        )
    return max(factor, 1.0 + PAST_STRAIGHT) if length > total * (1.0 - PAST_STRAIGHT) else factor
