"""From solutions to samples: every chain's channels, joints and reach."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...rig.rotation import ARRAYS, rotation_channel, to_channels
from ...rig.stretching import stretched
from ..samples import OFF, Joints, Sampled, Track
from .gathering import Course
from .solving import Posed, features_of, solve
from .steady import Steady


def sampled(chains: list[Steady], courses: list[Course]) -> list[Sampled] | None:
    """The chains over the frames, in their order; None if arrays can't pose one of them in some frame."""
    groups: dict[Any, list[int]] = {}
    for i, (steady, course) in enumerate(zip(chains, courses, strict=True)):
        groups.setdefault((features_of(steady, course), course.pole is not None), []).append(i)
    found: dict[int, Sampled] = {}
    for (features, _), members in groups.items():
        own = [chains[i] for i in members], [courses[i] for i in members]
        posed = solve(*own, features)
        if posed is None:
            return None
        found.update(zip(members, _samples(*own, posed), strict=True))
    return [found[i] for i in range(len(chains))]


def _samples(chains: list[Steady], courses: list[Course], posed: Posed) -> list[Sampled]:
    knee, tip = _by_chain(posed.knee), _by_chain(posed.tip)
    gap = _by_chain([np.where(posed.is_on, a - b, 0.0) for a, b in zip(posed.tip, posed.target, strict=True)])
    reach = np.where(posed.is_on, posed.reach, OFF).astype(np.int8)
    uppers, lowers = _rotations(chains, courses, posed, 0), _rotations(chains, courses, posed, 1)
    samples = []
    for i, (steady, course) in enumerate(zip(chains, courses, strict=True)):
        chain = steady.chain
        tracks = [uppers[i], lowers[i]]
        stretch, influence = (course.settings.get(name, steady.settings[name]) for name in ("stretch", "influence"))
        is_on = posed.is_on[..., i]
        if np.any(is_on & (stretch > 0.0)):
            upper, lower = _scales(steady, posed.stretch[:, i])
            tracks = [uppers[i], upper, lowers[i], lower]
        sample = Sampled(chain.object, chain.lower, chain.upper, Joints(knee[i], tip[i]), reach[:, i], gap[i], tracks)
        sample.is_blended = bool(np.any(is_on & (influence > 0.0) & (influence < 1.0)))
        samples.append(sample)
    return samples


def _rotations(chains: list[Steady], courses: list[Course], posed: Posed, which: int) -> list[Track]:
    """The upper bones' rotation channels, or the lower ones': of all ways to write them, as live chains do, the ones
    closest to the animator's, which stand there where a chain is off."""
    bones = [(steady.upper, steady.lower)[which] for steady in chains]
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
    return [tracks[i] for i in range(len(chains))]


def _scales(steady: Steady, factor: NDArray[Any]) -> list[Track]:
    """The bones' scales, lengthened: of both, or of the upper one alone if the lower one inherits it."""
    chain = steady.chain
    inherits = chain.object.data.bones[chain.lower].inherit_scale == "ALIGNED"
    volume = chain.settings.stretch_volume
    tracks = []
    for bone, grows in ((steady.upper, True), (steady.lower, not inherits)):
        lengthened: Any = factor if grows else np.ones_like(factor)
        scales = stretched(bone.scale, lengthened, volume)
        tracks.append(Track(bone.name, "scale", "", np.stack(np.broadcast_arrays(*scales), axis=-1).astype(np.float32)))
    return tracks


def _by_chain(parts: Any) -> NDArray[Any]:
    """Arrays ``(frames, chains)`` as one, ``(chains, frames, numbers)`` in single precision."""
    found = np.empty((parts[0].shape[1], parts[0].shape[0], len(parts)), np.float32)
    for i, part in enumerate(parts):
        found[:, :, i] = part.T
    return found
