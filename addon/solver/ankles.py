"""The ankles with which a limb of three or four bones stands in poses: what the solver does, backwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .groups import members, slack_at_rest, with_ankle
from .ops import ARRAYS, Array, Number
from .reference import Reference
from .rotation import Vector

TRIES, HALVINGS = 64, 40
"""In how many parts of a turn an ankle is looked for that no formula gives, and how often each is halved."""


def ankles_of(reference: Reference, joints: Sequence[Vector], side: Array) -> Iterator[Array]:
    """The ankle angles ``(rows,)`` with which a limb can have these joints, one after the other, first 0. They give
    the bend between its last bone and the one that keeps together with it. Knees and tip are arrays of rows,
    ``side`` is that of the knee; not a number in rows that have one less."""
    yield np.zeros_like(side)
    if reference.groups is None:
        return
    ends = np.stack([np.stack(np.broadcast_arrays(*joint), axis=-1) for joint in joints])
    distance = np.linalg.norm(ends[-1], axis=-1)
    bones = np.diff(ends, axis=0, prepend=0.0)
    normal = _normal_of(reference, bones, side)
    flat = bones - (bones * normal).sum(axis=-1, keepdims=True) * normal
    across, along = np.cross(flat[:-1], flat[1:]), (flat[:-1] * flat[1:]).sum(axis=-1)
    bends = np.arctan2((across * normal).sum(axis=-1), along)  # each bone against the one before
    bend = -within_half_turn(bends[-2:].sum(axis=0) if reference.groups.is_zigzag else bends[-1])
    yield from _by_share(reference, bend, distance)
    if not reference.groups.is_zigzag:
        yield from _by_halving(reference, bend, distance)


def _normal_of(reference: Reference, bones: Array, side: Array) -> Array:
    """What bones ``(bones, rows, 3)`` bend about: square to the line to the tip and to the knee, but for how far that
    is off the plane at rest."""
    tip, group = bones.sum(axis=0), [*members(len(bones), reference.groups.is_zigzag)[0]]  # type: ignore[union-attr]
    along = tip / np.maximum(np.linalg.norm(tip, axis=-1, keepdims=True), ARRAYS.tiny)
    knee = bones[group].sum(axis=0)
    aside = knee - (knee * along).sum(axis=-1, keepdims=True) * along
    size = np.maximum(np.linalg.norm(aside, axis=-1, keepdims=True), ARRAYS.tiny)
    sine = (side[:, None] * sum(reference.plane_offsets[k] for k in group) / size).clip(-1.0, 1.0)
    normal: Array = np.sqrt(1.0 - sine * sine) * np.cross(along, aside / size) + sine * aside / size
    return normal


def within_half_turn(angle: Number) -> Any:
    """The same angle within half a turn."""
    return angle - 2.0 * np.pi * np.round(angle / (2.0 * np.pi))


def _by_share(reference: Reference, bend: Array, distance: Array) -> list[Array]:
    """Of ``bend``, the sine of half is the root of the share s times that of half the rest's bend less the ankle a.
    With s = (L^2 - d^2) / (unclosed + c sin^2((closing + a) / 2)), see `SegmentGroups`::

        sin^2(bend / 2) (unclosed + c sin^2((closing + a) / 2)) = (L^2 - d^2) sin^2((rest - a) / 2)

    With sin^2(x / 2) = (1 - cos x) / 2, u = sin^2(bend / 2) c / 2 and v = (L^2 - d^2) / 2, that is::

        p cos a + q sin a = v - u - sin^2(bend / 2) unclosed
        p = v cos rest - u cos closing,  q = v sin rest + u sin closing

    Or s is 1, and the ankle is what lacks of the rest's bend."""
    groups: Any = reference.groups
    group = groups.first if groups.is_zigzag and len(reference.lengths) % 2 else groups.second
    rest, closing = (2.0 * np.arctan2(half[1], half[0]) for half in (group.bend, groups.closing))
    slack, square = np.maximum(reference.bones.total**2 - distance * distance, 0.0), np.sin(bend / 2.0) ** 2
    u, v = square * groups.slack_closing / 2.0, slack / 2.0
    p = v * np.cos(rest) - u * np.cos(closing)
    q = v * np.sin(rest) + u * np.sin(closing)
    size = np.hypot(p, q)
    is_there = size > 1e-12 * reference.bones.total**2
    cosine = (v - u - square * groups.slack_unclosed) / np.where(is_there, size, 1.0)
    middle, off = np.arctan2(q, p), np.arccos(cosine.clip(-1.0, 1.0))
    ankles = [rest - bend, *(np.where(is_there, middle + sign * off, np.nan) for sign in (1.0, -1.0))]
    return [within_half_turn(angle) for angle in ankles]


def _by_halving(reference: Reference, bend: Array, distance: Array) -> Iterator[Array]:
    """The same by trying, where neighbours bend as far as they go, and the share depends on the ankle in another
    way."""
    groups: Any = reference.groups
    slack, sine_of_bend = np.maximum(reference.bones.total**2 - distance * distance, 0.0), np.sin(bend / 2.0)

    def error(ankle: Array) -> Array:
        half = np.cos(ankle / 2.0), np.sin(ankle / 2.0)
        now = with_ankle(groups, half, len(reference.lengths), ARRAYS)
        share = np.minimum(slack / (slack_at_rest(now) + ARRAYS.tiny), now.largest_share)
        missed: Array = np.sqrt(share) * now.second.bend[1] - sine_of_bend
        return missed

    tried = np.linspace(-np.pi, np.pi, TRIES + 1)
    errors = [error(np.full_like(distance, ankle)) for ankle in tried]
    for k in range(TRIES):
        is_between = errors[k] * errors[k + 1] <= 0.0
        if not is_between.any():
            continue
        near, step = np.full_like(distance, tried[k]), tried[k + 1] - tried[k]
        for _ in range(HALVINGS):
            step *= 0.5
            near = near + np.where(error(near + step) * errors[k] > 0.0, step, 0.0)
        yield np.where(is_between, near, np.nan)
