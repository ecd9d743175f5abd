"""Frames times limbs to keys."""

from .job import bake
from .request import Baked, Report, Request, frames_between

__all__ = ["Baked", "Report", "Request", "bake", "frames_between"]
