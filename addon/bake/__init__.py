"""Frames times limbs to keys."""

from .job import bake
from .request import BakedLimb, BakeReport, BakeRequest, frames_by_step

__all__ = ["BakeReport", "BakeRequest", "BakedLimb", "bake", "frames_by_step"]
