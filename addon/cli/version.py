"""Which version of the program this is."""

from __future__ import annotations

import tomllib
from pathlib import Path

import bpy

MANIFEST = Path(__file__).parents[2] / "blender_manifest.toml"
"""Where the version stands, in the tree and in the installed extension."""

MADE_BY = {
    "planar_ik": str(tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"]),
    "blender": bpy.app.version_string,
}
"""What a file that is written was made by."""

VERSION = f"planar_ik {MADE_BY['planar_ik']} (Blender {MADE_BY['blender']})"
