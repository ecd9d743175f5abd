"""What *Online Manual* opens on our buttons and fields: the guide that is in the package."""

from __future__ import annotations

from pathlib import Path

import bpy

GUIDE = (Path(__file__).parents[2] / "README.md").as_uri()
"""It is opened by the browser, and needs no network."""

PATHS = ("bpy.ops.pose.planar_ik*", "bpy.types.planarik*", "bpy.types.pose_ot_planar_ik*")
"""What of ours there are pages for, as Blender names it in small letters."""


def guide() -> tuple[str, tuple[tuple[str, str], ...]]:
    """The beginning of all addresses, and that of each path."""
    return GUIDE, tuple((path, "") for path in PATHS)


def register() -> None:
    """Have Blender ask here too."""
    bpy.utils.register_manual_map(guide)


def unregister() -> None:
    """Ask no more."""
    bpy.utils.unregister_manual_map(guide)
