"""The geometry of limbs: plain arithmetic, no Blender. Written once for floats and arrays."""

from .limb import Plane, Pose, Poses, Reference, Settings, pose_limb, pose_limbs, reference
from .planar import TwoBone, solve_two_bone
from .reach import Reach

__all__ = [
    "Plane",
    "Pose",
    "Poses",
    "Reach",
    "Reference",
    "Settings",
    "TwoBone",
    "pose_limb",
    "pose_limbs",
    "reference",
    "solve_two_bone",
]
