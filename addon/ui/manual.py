"""What *Online Manual* opens on our buttons and sliders: the guide that is in the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

FOLDER = (Path(__file__).parents[2] / "guide").as_uri() + "/"
"""The pages are opened by the browser, and need no network."""

GUIDE = f"{FOLDER}animator.html"

PAGES = (
    ("bpy.ops.pose.planar_ik_bake*", "animator.html#keys"),
    ("bpy.ops.pose.planar_ik_switch*", "animator.html#keys"),
    ("bpy.ops.pose.planar_ik_rebuild*", "animator.html#after-you-edit-bones"),
    ("bpy.ops.pose.planar_ik_convert*", "animator.html#from-blenders-own-ik-and-back"),
    ("bpy.ops.pose.planar_ik_unconvert*", "animator.html#from-blenders-own-ik-and-back"),
    ("bpy.ops.pose.planar_ik_hold*", "capture.html#feet-that-slide"),
    ("bpy.ops.pose.planar_ik_find_contacts*", "capture.html#feet-that-slide"),
    ("bpy.ops.pose.planar_ik_plant*", "capture.html#feet-that-slide"),
    ("bpy.ops.pose.planar_ik_cylinder*", "machines.html#cylinders"),
    ("bpy.ops.pose.planar_ik*", "animator.html"),
    ("bpy.types.planarik*", "animator.html"),
)
"""Operators and settings, as Blender names them in small letters, and their pages; the first that fits."""

ON_PROPERTIES = ("bpy.types.bpy_struct", "animator.html#the-panel")
"""What Blender calls each custom property, ours too."""


def guide() -> tuple[str, tuple[tuple[str, str], ...]]:
    """The beginning of all addresses, and the rest of each; that of sliders if the mouse is over one of a limb."""
    under_mouse: Any = bpy.context.property
    is_ours = bool(under_mouse) and under_mouse[1].rpartition('["')[2].startswith("IK ")
    return FOLDER, (*PAGES, ON_PROPERTIES) if is_ours else PAGES


def register() -> None:
    """Have Blender ask here too."""
    bpy.utils.register_manual_map(guide)


def unregister() -> None:
    """Ask no more."""
    bpy.utils.unregister_manual_map(guide)
