"""The geometry of limbs: plain arithmetic, no Blender. Written once for floats and arrays."""

from .limb import Plane, Pose, Poses, Settings, pose_limb, pose_limbs
from .planar import Solved, TwoBone, solve_limb, solve_two_bone
from .reference import Reference, reference
from .triangle import Reach

__all__ = [
    "Plane",
    "Pose",
    "Poses",
    "Reach",
    "Reference",
    "Settings",
    "Solved",
    "TwoBone",
    "pose_limb",
    "pose_limbs",
    "reference",
    "solve_limb",
    "solve_two_bone",
]
