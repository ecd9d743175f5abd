"""Legs held in their contacts: where their feet are then in each frame, how they roll, and how far what carries the
legs is moved for them. A map of arrays; it knows nothing of Blender.

    held = held_legs(legs, Holding(ease=3, times=times))

A foot is known by its *end*: the frame (4, 4) that it goes by, at the tip of its limb; of one that rolls, that is its
rolled target. In a contact, the control stands still and the end is ``flat @ rolled``: see `planting`. Outside, what it
is off the capture dies away over some frames. Rows are frames, one after the other; places are in the world."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ..limb.tolerances import UNSEEN
from ..solver.curves import Segments, few, hermite
from ..solver.matrices import applied, unit_array
from ..solver.ops import Array, Column, Mask, Matrices, Points
from . import planting

ROLL_TOLERANCE = 0.007
"""How far a rolling foot may be off for fewer keys of roll and bank, in lengths of its limb."""

FULL, FULLEST = 0.995, 0.9995
"""The parts of its reach to which a leg is straightened where its foot stands: by us, and where it was so before."""

HEEL = 0.35
"""How far a heel rises more than it did for its foot to reach, in radians, at the end of a contact; in its first half
not at all."""


CARRIED = 1e-3
"""How far what carries legs may be off for fewer keys, in lengths of these."""

CARRY_ROUNDS, FARTHEST = 12, 0.3
"""How often what carries legs is moved nearer to a foot that it is too far from, and how far at most, in lengths of
these."""

UP = np.array((0.0, 0.0, 1.0))

Ground = Callable[[Array, float], tuple[Array, Array]]
"""Gives the place (3) on the ground straight below one, seen from so far above it, and the ground's normal there."""


class FootContact(NamedTuple):
    """A contact: its first row, what the foot is on in each of its rows, and the one of these in which its tip stays
    where it is, or None for moving it least."""

    first: int
    on: Sequence[str]
    at: int | None

    @property
    def rows(self) -> slice:
        """All of its rows."""
        return slice(self.first, self.first + len(self.on))


class Leg(NamedTuple):
    """What was read of a leg over rows: the end of its foot, (rows, 4, 4); roll and bank, (rows, 2); where it begins,
    (rows, 3); how far it reaches and how long it is, in the world; what its foot rolls about, or None where it does
    not; and its contacts."""

    ends: Array
    rolls: Array
    roots: Array
    reach: float
    size: float
    shape: planting.RollShape | None
    contacts: Sequence[FootContact]


class Holding(NamedTuple):
    """How legs are held: the rows over which it eases in and out; the time of each row on F-curves; over how many rows
    what carries the legs moves there and back, None if it stays; and the ground, None for floors as they are."""

    ease: int
    times: Array
    lowers: int | None = None
    ground: Ground | None = None


class HeldLeg(NamedTuple):
    """A held leg: the end of its foot, (rows, 4, 4), and which rows that changes, (rows); its contacts; roll and bank,
    with which of their rows get keys and the slopes there, (rows, 2) each; by how much where it begins is carried,
    (rows, 3); and the leg that was held: as read, or as the ground has lifted it."""

    ends: Array
    changed: Array
    contacts: list[FootContact]
    rolls: Array
    keyed: Array
    slopes: Array
    carried: Array
    leg: Leg


class Stand(NamedTuple):
    """A contact of a leg under way: where its foot is flat, and roll and bank over its rows; how far up the ground
    lifts it and about which vector that turns it, (4)."""

    contact: FootContact
    foot: planting.PlantedFoot
    lift: Array = np.zeros(4)


def held_legs(legs: Sequence[Leg], how: Holding) -> list[HeldLeg]:
    """Legs of one rig as they are held in their contacts: ends, rolls and what carries them, over all frames."""
    stands = [[_planted(leg, contact) for contact in leg.contacts] for leg in legs]
    raised = np.zeros_like(legs[0].roots)
    if how.ground:
        legs, stands, raised = _on_ground(legs, stands, how)
    held = [_held_leg(leg, of_leg, how) for leg, of_leg in zip(legs, stands, strict=True)]
    carried = raised.copy()
    if how.lowers is not None:
        carried += _carrying(legs, held, how.lowers)
    return [one._replace(carried=carried, changed=one.changed | (raised[:, 2] != 0.0)) for one in held]


def _planted(leg: Leg, contact: FootContact) -> Stand:
    """A foot where it stands in a contact: as near as can be to where it is, without straightening its leg."""
    rows, here = contact.rows, slice(0, None) if contact.at is None else slice(contact.at, contact.at + 1)
    ends, roots = leg.ends[rows], leg.roots[rows]
    if leg.shape is None:
        flat, reach = np.eye(4), inf if contact.at is not None else leg.reach * (1.0 - UNSEEN)
        flat[:3, :3] = planting.mean_of(ends[here, :3, :3])
        flat[:3, 3] = planting.place_in_reach(
            ends[here, :3, 3].mean(axis=0), roots[here], np.full(len(roots[here]), reach)
        )
        return Stand(contact, planting.PlantedFoot(flat, np.zeros((len(ends), 2))))
    foot, stands = planting.plant_foot(leg.shape, ends, contact.on, leg.size)
    at = None if contact.at is None else min(max(contact.at - stands.start, 0), stands.stop - stands.start - 1)
    contact = FootContact(contact.first + stands.start, contact.on[stands], at)
    here = stands if contact.at is None else slice(stands.start + contact.at, stands.start + contact.at + 1)
    rolls = foot.rolls[here]
    near = planting.moved_near(
        leg.shape, foot._replace(rolls=rolls), ends[here, :3, 3], roots[here], leg.reach, leg.size
    )
    return Stand(contact, near._replace(rolls=foot.rolls[stands]))


def _held_leg(leg: Leg, stands: Sequence[Stand], how: Holding) -> HeldLeg:
    """A leg that stands so in its contacts, over all rows: those beside its contacts ease in and out."""
    contacts = [stand.contact for stand in stands]
    ranges = [(one.first, one.rows.stop - 1) for one in contacts]
    changed, ends = np.zeros(len(leg.ends), bool), leg.ends.copy()
    for first, last in ranges:
        changed[max(first - how.ease, 0) : last + how.ease + 1] = True
    rolls, keyed, slopes = leg.rolls, np.zeros((len(ends), 2), bool), np.zeros((len(ends), 2))
    if leg.shape:
        off = np.zeros_like(rolls)
        for stand in stands:
            off[stand.contact.rows] = _heel_up(leg, stand, how) - rolls[stand.contact.rows]
        rolls, keyed, slopes = _few_rolls(
            leg, rolls + planting.ease_out(off, ranges, how.ease), changed, ranges, how.times
        )
    rolled_by = planting.roll_transforms(leg.shape, rolls) if leg.shape else np.tile(np.eye(4), (len(ends), 1, 1))
    for stand in stands:
        ends[stand.contact.rows] = stand.foot.flat @ rolled_by[stand.contact.rows]
    off_turn = planting.ease_out(
        planting.vectors_of(ends[:, :3, :3] @ np.linalg.inv(leg.ends[:, :3, :3])), ranges, how.ease
    )
    off_place = planting.ease_out(ends[:, :3, 3] - leg.ends[:, :3, 3], ranges, how.ease)
    eased = leg.ends.copy()
    eased[:, :3, :3] = planting.turned_by(off_turn) @ leg.ends[:, :3, :3]
    eased[:, :3, 3] = _no_straighter(leg, leg.ends[:, :3, 3] + off_place)
    for rows in (one.rows for one in contacts):
        eased[rows] = ends[rows]
    if how.ground:
        eased = _above_ground(leg, eased, rolls, contacts, how.ground)
    return HeldLeg(
        ends=eased,
        changed=changed,
        contacts=contacts,
        rolls=rolls,
        keyed=keyed,
        slopes=slopes,
        carried=np.zeros_like(leg.roots),
        leg=leg,
    )


def _no_straighter(leg: Leg, places: Points) -> Array:
    """Places (rows, 3) on the way, brought so near to the leg that it is no straighter than it was, unless it is bent
    anyway: else its knee would be drawn straight, and pop back."""
    offsets, were = places - leg.roots, np.linalg.norm(leg.ends[:, :3, 3] - leg.roots, axis=1)
    distances = np.maximum(np.linalg.norm(offsets, axis=1), 1e-30)
    most = np.maximum(were, min(planting.STRAIGHTEST * leg.reach, float(were.max())))
    nearer: Array = leg.roots + offsets * np.minimum(most / distances, 1.0)[:, None]
    return nearer


def _few_rolls(
    leg: Leg, rolls: Array, changed: Mask, ranges: Sequence[tuple[int, int]], times: Column
) -> tuple[Array, Array, Array]:
    """Roll and bank as few keys make them: which of their rows are keyed, and the slopes there, (rows, 2) each. All
    that are eased, and the ends of each range; between these as many as the foot needs."""
    shape: Any = leg.shape
    rolls, wanted, slopes = rolls.copy(), rolls, np.gradient(rolls, times, axis=0) if len(times) > 1 else 0.0 * rolls
    keyed = np.tile(changed[:, None], 2)
    points = np.array([shape.places[2], shape.places[3], np.zeros(3)]) / leg.size  # the heel, the toe and the tip
    for first, last in ranges:
        here = slice(first, last + 1)
        seen, at = applied(planting.roll_transforms(shape, wanted[here])[:, None], points), times[here]
        for k in range(2) if last > first else ():

            def errors(rows: Segments, k: int = k, here: slice = here, seen: Array = seen, at: Array = at) -> Array:
                guess = wanted[here][rows.at]
                guess[:, k] = hermite(at, wanted[here], slopes[here], rows)[:, k]
                off = applied(planting.roll_transforms(shape, guess)[:, None], points) - seen[rows.at]
                worst: Array = np.linalg.norm(off, axis=2).max(axis=1)
                return worst

            which, every = few(errors, last + 1 - first, ROLL_TOLERANCE)[0], np.arange(last + 1 - first)
            start = np.minimum(np.searchsorted(which, every, "right") - 1, max(len(which) - 2, 0))
            between = Segments(which[start], which[np.minimum(start + 1, len(which) - 1)], every)
            rolls[here, k] = hermite(at, wanted[here], slopes[here], between)[:, k]
            keyed[here, k] = False
            keyed[first + which, k] = True
    return rolls, keyed, slopes


# within reach: first the heel, then what carries the legs


def _allowed(leg: Leg, rows: slice) -> Array:
    """How far from where it begins a leg's tip may be in some rows, (rows), in the world: up to ``FULL`` of its reach,
    or as far as it was where that is more and yet below ``FULLEST``."""
    were = np.linalg.norm(leg.ends[rows, :3, 3] - leg.roots[rows], axis=1)
    return np.where(were < FULLEST * leg.reach, np.maximum(were, FULL * leg.reach), FULL * leg.reach)


def _heel_up(leg: Leg, stand: Stand, how: Holding) -> Array:
    """Roll and bank in a contact, (rows, 2), with the heel up where the foot is out of reach: in its second half, as a
    real one rises before the foot leaves."""
    rolls, rows, shape = stand.foot.rolls, stand.contact.rows, leg.shape
    count, allowed = len(rolls), _allowed(leg, rows)
    if rows.stop == len(leg.ends) or how.lowers is None or not np.isfinite(leg.reach):
        return rolls
    share = np.clip(2.0 * np.arange(1.0, count + 1.0) / count - 1.0, 0.0, 1.0)
    most = HEEL * share * share * (3.0 - 2.0 * share)

    def off(more: Array) -> Array:
        tips = (stand.foot.flat @ planting.roll_transforms(shape, rolls + more[:, None] * (1.0, 0.0)))[:, :3, 3]  # type: ignore[arg-type]
        distances: Array = np.linalg.norm(tips - leg.roots[rows], axis=1)
        return distances - allowed

    low, high = np.zeros(count), np.where(off(np.zeros(count)) > 0.0, most, 0.0)
    for _ in range(20):
        middle = (low + high) / 2.0
        is_off = off(middle) > 0.0
        low, high = np.where(is_off, middle, low), np.where(is_off, high, middle)
    calmed = _calmed(_widest(high[:, None], how.ease), how.ease)[:, 0]
    up: Array = rolls + np.minimum(calmed, most)[:, None] * (1.0, 0.0)
    return up


def _carrying(legs: Sequence[Leg], held: Sequence[HeldLeg], calm: int) -> Array:
    """By how much what carries legs has to be moved for their feet to be where they are held, (rows, 3): by as little
    as it takes; over ``calm`` rows before and after it goes there and back."""
    carried, within = np.zeros_like(legs[0].roots), [_allowed(leg, slice(None)) for leg in legs]
    for _ in range(CARRY_ROUNDS):
        more = np.zeros_like(carried)
        for _ in range(CARRY_ROUNDS):
            for leg, one, allowed in zip(legs, held, within, strict=True):
                off = leg.roots + carried + more - one.ends[:, :3, 3]
                distances = np.linalg.norm(off, axis=1)
                over = np.where(distances > allowed, distances - allowed + CARRIED * leg.size, 0.0)
                if np.isfinite(leg.reach):
                    more -= off * (over / np.maximum(distances, 1e-30))[:, None]
        if not more.any():
            break
        carried += _calmed(_widest(more, calm), calm)
    far = np.linalg.norm(carried, axis=1, keepdims=True) / min(leg.size for leg in legs)
    clipped: Array = carried * np.minimum(1.0, FARTHEST / np.maximum(far, 1e-30))
    return clipped


def _widest(vectors: Points, reach: int) -> Array:
    """The longest vector within ``reach`` rows of each, (rows, 3)."""
    padded = np.pad(vectors, [(reach, reach), (0, 0)])
    there = np.stack([padded[i : i + len(vectors)] for i in range(2 * reach + 1)])
    widest: Array = there[np.linalg.norm(there, axis=2).argmax(axis=0), np.arange(len(vectors))]
    return widest


def _calmed(numbers: Array, reach: int) -> Array:
    """A smooth mean of numbers (rows, ...) within ``reach`` rows of each: at least what all of these are."""
    weights = np.hanning(2 * reach + 3)[1:-1]
    padded = np.pad(numbers, [(reach, reach), *[(0, 0)] * (numbers.ndim - 1)], mode="edge")
    total = sum(weight * padded[i : i + len(numbers)] for i, weight in enumerate(weights))
    return np.asarray(total / weights.sum())


# on the ground


def _on_ground(
    legs: Sequence[Leg], stands: Sequence[Sequence[Stand]], how: Holding
) -> tuple[list[Leg], list[list[Stand]], Array]:
    """Legs as the ground lifts them, how they stand on it, and how far up what carries them goes along, (rows, 3)."""
    ground: Any = how.ground
    grounded, lifts, raised = list[list[Stand]](), list[Array](), np.zeros_like(legs[0].roots)
    for leg, of_leg in zip(legs, stands, strict=True):
        on_it, lift = list[Stand](), np.zeros(4)
        for stand in of_leg:
            on_it.append(_stand_on_ground(leg, stand, ground, leg.size + lift[0]))
            lift = on_it[-1].lift
        grounded.append(on_it)
        lifts.append(_lifts(on_it, len(raised)))
    if how.lowers is not None:
        raised[:, 2] = _calmed(np.mean(lifts, axis=0)[:, 0], how.lowers)
    lifted = [
        leg._replace(ends=_lifted(leg, lift), roots=leg.roots + raised) for leg, lift in zip(legs, lifts, strict=True)
    ]
    return lifted, grounded, raised


def _sole_of(leg: Leg) -> Array:
    """The heel and the toe of a leg in the frame of its end, (2, 3); the end itself of one that does not roll."""
    return leg.shape.places[2:4] if leg.shape else np.zeros((2, 3))


def _stand_on_ground(leg: Leg, stand: Stand, ground: Ground, above: float) -> Stand:
    """A foot whose sole lies on the ground below or above the middle of it."""
    flat = stand.foot.flat.copy()
    middle = applied(flat, _sole_of(leg).mean(axis=0)[None])[0]
    place, normal = ground(middle, above)
    turn, level = planting.shortest_turn(UP, normal), np.eye(3)
    if leg.shape:
        level = planting.shortest_turn(unit_array(flat[:3, :3] @ leg.shape.sole[:, 1], UP), UP)
    flat[:3, :3] = turn @ level @ flat[:3, :3]
    flat[:3, 3] += place - applied(flat, _sole_of(leg).mean(axis=0)[None])[0]
    lift = np.array([place[2] - middle[2], *planting.vectors_of(turn[None])[0]])
    return Stand(stand.contact, stand.foot._replace(flat=flat), lift)


def _lifts(stands: Sequence[Stand], count: int) -> Array:
    """By how much the ground lifts and turns a foot, (rows, 4): in a contact as there, between two it goes over from
    one to the next."""
    rows = [row for stand in stands for row in (stand.contact.rows.start, stand.contact.rows.stop - 1)]
    if not rows:
        return np.zeros((count, 4))
    ends, every = np.repeat([stand.lift for stand in stands], 2, axis=0), np.arange(count)
    after = np.searchsorted(rows, every, "right").clip(1, len(rows) - 1)
    start, end = np.array(rows)[after - 1], np.array(rows)[after]
    share = ((every - start) / np.maximum(end - start, 1)).clip(0.0, 1.0)[:, None]
    lifts: Array = ends[after - 1] + share * share * (3.0 - 2.0 * share) * (ends[after] - ends[after - 1])
    return lifts


def _lifted(leg: Leg, lift: Array) -> Array:
    """The ends of a leg, (rows, 4, 4), after the ground lifts them and turns them about the middle of the sole.
    ``lift`` (rows, 4) is how high, then the rotation vector, in the world."""
    ends, middle = leg.ends.copy(), _sole_of(leg).mean(axis=0)[None]
    before = applied(ends, middle)
    ends[:, :3, :3] = planting.turned_by(lift[:, 1:]) @ ends[:, :3, :3]
    ends[:, :3, 3] += (before - applied(ends, middle)) + lift[:, :1] * UP
    return ends


def _above_ground(leg: Leg, ends: Matrices, rolls: Array, contacts: Sequence[FootContact], ground: Ground) -> Array:
    """Ends of a leg, (rows, 4, 4), with its sole, rolled so, nowhere below the ground on the way: up where it would be,
    and before and after as far as it stands."""
    rows, stands, soles = np.arange(len(ends)), np.zeros(len(ends), bool), applied(ends[:, None], _sole_of(leg))
    if leg.shape:  # toes stay flat as the foot rolls about the ball
        ball, back = (
            leg.shape.places[4],
            planting.turned_by(-leg.shape.axes[4] * leg.shape.ball_of(rolls[:, 0])[:, None]),
        )
        soles[:, 1] = applied(ends, ball + back @ (_sole_of(leg)[1] - ball))
    for contact in contacts:
        stands[contact.rows] = True
    up, on = np.zeros(len(ends)), rows[stands] if stands.any() else np.array([-len(ends)])
    for row in rows[~stands]:
        below = max(ground(point, leg.size)[0][2] - point[2] for point in soles[row])
        share = (np.abs(rows - row) / np.abs(on - row).min()).clip(0.0, 1.0)
        up = np.maximum(up, below * (1.0 - share * share * (3.0 - 2.0 * share)))
    ends = ends.copy()
    ends[:, 2, 3] += up
    return ends
