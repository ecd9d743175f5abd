"""How limbs stand in frames: by their own channels, or as they are seen, whatever poses them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..blender.words import Refused
from ..limb.rest_geometry import squared
from ..limb.solving import BONE_MOVED
from ..limb.storage import bones_of_limb, has_slider
from ..limb.tips import foot_of, rest_matrix
from ..limb.tolerances import KEPT, MISS
from ..limb.transforms import own_transforms, rigid, turns_of, unposed
from ..rigging import feet
from ..rigging.description import LimbRef
from ..solver.matrices import inverted
from .reading import Recording, channel_of, limbs_read, matrices_of, poses_of, worlds_of

Array = NDArray[Any]


class LimbPoses(NamedTuple):
    """The poses of one limb in f frames."""

    turns: Array  # (f, segments, 4), w first: the rotations that its bones need by their own channels to show that
    stretch: Array  # (f): how many times as long as at rest they are
    carry: Array  # (f, 4, 4): takes the limb from its rest pose in the armature to where it hangs in the world
    foot: Array | None  # (f, 4, 4): its foot in the world, if that follows the target
    inverse: Any = None  # how the solver comes nearest to that, once it is known


def fk_poses(recording: Recording) -> dict[LimbRef, LimbPoses]:
    """The FK poses of limbs, by their own channels. Raises `Refused` where IK can't show them."""
    poses: dict[LimbRef, LimbPoses] = {}
    for rig in recording.rigs:
        limbs = limbs_read(recording, rig)
        for row, limb in enumerate(rig.limbs):
            _check_own(recording, limb, sum(rig.table.limbs[row].geometry.lengths))
            entry, foot = rig.table.limbs[row], foot_of(limb) if feet.foot_follows(limb) else None
            poses[rig.object, limb.name] = LimbPoses(
                turns=limbs.own[:, row, : len(entry.bones)],
                stretch=limbs.own_length[:, row],
                carry=limbs.frames[:, row] @ inverted(entry.geometry.frame),
                foot=matrices_of(recording, (rig.object, foot.name)) if foot else None,
            )
    return poses


def evaluated_poses(recording: Recording, limb: PoseBone, segments: tuple[int, ...]) -> LimbPoses:
    """The evaluated poses of bones that are no limb yet, whatever poses them. They, what they hang on, and the location
    of the first have been read."""
    ob, first = limb.id_data, bones_of_limb(limb, segments)[0].bone
    above = poses_of(recording, ob, first.parent.name) if first.parent else None
    location = np.zeros((recording.frames, 3))
    if not (first.use_connect and first.parent):
        location = channel_of(recording, ob, first.name, "location")
    carry = unposed(first, above, location) @ inverted(squared(rest_matrix(first)))
    turns = evaluated_turns(recording, limb, segments)
    return LimbPoses(turns, np.ones(recording.frames), worlds_of(recording, ob) @ carry, None)


def evaluated_turns(recording: Recording, limb: PoseBone, segments: tuple[int, ...]) -> Array:
    """The rotations that bones need by their own channels for their evaluated pose, (f, segments, 4), w first."""
    return np.stack([evaluated_turn(recording, bone) for bone in bones_of_limb(limb, segments)], axis=1)


def evaluated_turn(recording: Recording, bone: PoseBone) -> Array:
    """The rotation that a bone needs by its own channels to stand as it is evaluated, (f, 4), w first."""
    ob = bone.id_data
    above = poses_of(recording, ob, bone.parent.name) if bone.parent else None
    return turns_of(rigid(own_transforms(bone.bone, above, poses_of(recording, ob, bone.name)))[0])


def world_turns(matrices: Array) -> Array:
    """How matrices ``(..., 4, 4)`` turn, as quaternions ``(..., 4)``, w first."""
    return turns_of(rigid(matrices)[0])


def _check_own(recording: Recording, limb: PoseBone, length: float) -> None:
    """Refuse a limb that IK can't show: its lower bones are moved, or one is scaled but for a stretch of the first."""
    for k, bone in enumerate(bones_of_limb(limb)):
        location, scale = (channel_of(recording, limb.id_data, bone.name, name) for name in ("location", "scale"))
        moved = 0.0 if bone.bone.use_connect else float(np.linalg.norm(location, axis=1).max())
        is_scaled = bool((np.abs(scale - 1.0) > KEPT).any())
        if k and moved > MISS * length:
            raise Refused(BONE_MOVED, bone=bone.name)
        if is_scaled and not (k == 0 and has_slider(limb, "stretch")):
            raise Refused("'{bone}' is scaled by itself: clear its scale, then snap", bone=bone.name)
