"""From solutions to samples: every chain's channels, joints and reach."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...rig.data.rotation import ARRAYS, rotation_channel, to_channels
from ..samples import OFF, Joints, Sampled, Track
from .courses.gathering import Course
from .lengths import Grown, lengthen
from .solving import Posed, features_needed, solve
from .subjects import Subject


class Solved(NamedTuple):
    """A chain over the frames, where that is what it does ``(frames,)``, for elsewhere only stepping tells, and where
    its pole is in the world ``(frames, 3)``, None without one."""

    subject: Subject
    sample: Sampled
    is_known: NDArray[Any]
    pole: NDArray[Any] | None


def sampled(subjects: list[Subject], courses: list[Course], count: int) -> list[Solved]:
    """The chains over so many frames, in their order."""
    groups: dict[Any, list[int]] = {}
    found: dict[int, Solved] = {}
    for i, (subject, course) in enumerate(zip(subjects, courses, strict=True)):
        is_uninherited = any(body and body.uninherited for body in course.shapes.bodies)
        kind = (is_uninherited, course.shapes.which is None)
        groups.setdefault((features_needed(subject, course), *kind), []).append(i)
    for (features, *_), members in groups.items():
        own = [subjects[i] for i in members], [courses[i] for i in members]
        found.update(zip(members, _samples(*own, solve(*own, features, count)), strict=True))
    return [found[i] for i in range(len(subjects))]


def joined(parts: list[Solved]) -> Solved:
    """A chain over all frames, of parts one after the other."""
    if len(parts) == 1:
        return parts[0]
    samples = [part.sample for part in parts]
    joints = Joints(*(np.concatenate([getattr(s.joints, name) for s in samples]) for name in ("knee", "tip")))
    sample = replace(
        samples[0],
        joints=joints,
        reach=np.concatenate([s.reach for s in samples]),
        gap=np.concatenate([s.gap for s in samples]),
        influence=np.concatenate([s.influence for s in samples]),
        is_stretched=any(s.is_stretched for s in samples),
        tracks=_joined_tracks(samples),
    )
    poles = [part.pole for part in parts if part.pole is not None]
    are_known = np.concatenate([part.is_known for part in parts])
    return Solved(parts[0].subject, sample, are_known, np.concatenate(poles) if poles else None)


def _joined_tracks(samples: list[Sampled]) -> list[Track]:
    """The channels over all frames."""
    pairs = zip(*(s.tracks for s in samples), strict=True)
    return [replace(tracks[0], values=np.concatenate([track.values for track in tracks])) for tracks in pairs]


def _samples(subjects: list[Subject], courses: list[Course], posed: Posed) -> list[Solved]:
    knee, tip = _by_chain(posed.knee), _by_chain(posed.tip)
    pole = None if posed.pole is None else _by_chain(posed.pole)
    gap = _by_chain([np.where(posed.is_on, a - b, 0.0) for a, b in zip(posed.tip, posed.target, strict=True)])
    reach = np.where(posed.is_on, posed.reach, OFF).astype(np.int8)
    posed, grown = lengthen(subjects, courses, posed)
    uppers, lowers = _rotations(subjects, courses, posed, 0), _rotations(subjects, courses, posed, 1)
    samples = []
    for i, (subject, course) in enumerate(zip(subjects, courses, strict=True)):
        tracks = [uppers[i], lowers[i]]
        stretch, influence = (course.settings.get(name, subject.settings[name]) for name in ("stretch", "influence"))
        is_on = posed.is_on[..., i]
        own = grown[i]
        if own is not None:
            upper, lower = _scales(subject, course, own)
            tracks = [uppers[i], upper, lowers[i], lower]
        sample = Sampled(
            subject.object,
            subject.lower.name,
            subject.upper.name,
            Joints(knee[i], tip[i]),
            reach[:, i],
            gap[i],
            np.full(len(reach), influence, np.float32),
            tracks,
        )
        sample.is_stretched = bool(np.any(is_on & (stretch > 0.0)))
        samples.append(Solved(subject, sample, posed.is_solved[:, i], None if pole is None else pole[i]))
    return samples


def _rotations(subjects: list[Subject], courses: list[Course], posed: Posed, which: int) -> list[Track]:
    """The upper bones' rotation channels, or the lower ones': of all ways to write them, as live chains do, the ones
    closest to the animator's, which stand there where a chain is off."""
    bones = [(subject.upper, subject.lower)[which] for subject in subjects]
    rows = [(course.upper, course.lower)[which] for course in courses]
    is_on = np.broadcast_to(posed.is_on, posed.stretch.shape)
    tracks: dict[int, Track] = {}
    for mode in {bone.mode for bone in bones}:
        members = [i for i, bone in enumerate(bones) if bone.mode == mode]
        count = max(len(rows[i]) for i in members)
        near = np.stack([np.broadcast_to(rows[i], (count, rows[i].shape[1])).T for i in members], axis=-1)
        turned: Any = tuple(part[:, members] for part in posed.turns[which])
        written = to_channels(mode, turned, [*near], ARRAYS)
        if not is_on.all():
            written = tuple(np.where(is_on[:, members], a, b) for a, b in zip(written, near, strict=True))
        for i, values in zip(members, _by_chain(written), strict=True):
            tracks[i] = Track(bones[i].name, rotation_channel(mode), mode, values)
    return [tracks[i] for i in range(len(subjects))]


def _scales(subject: Subject, course: Course, grown: Grown) -> list[Track]:
    """The bones' scales, lengthened."""
    bones = zip((subject.upper, subject.lower), course.scales, grown, strict=True)
    return [Track(bone.name, "scale", "", (own * grows.T).astype(np.float32)) for bone, own, grows in bones]


def _by_chain(parts: Any) -> NDArray[Any]:
    """Arrays ``(frames, chains)`` as one, ``(chains, frames, numbers)`` in single precision."""
    found = np.empty((parts[0].shape[1], parts[0].shape[0], len(parts)), np.float32)
    for i, part in enumerate(parts):
        found[:, :, i] = part.T
    return found
