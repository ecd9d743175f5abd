"""The geometry of two-bone limbs: plain arithmetic, no Blender. Written once for floats, arrays and recorders."""

from .planar import TwoBone, solve_two_bone
from .reach import Reach

__all__ = ["Reach", "TwoBone", "solve_two_bone"]
