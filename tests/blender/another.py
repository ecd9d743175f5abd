"""What is done in a Blender of its own, as glTF is: going in and out of a file for it sets the window's scene, in which
Blender crashes now and then where much was done before, or as it goes on to another file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

EXPORT = """
import bpy, json, os, sys
addon, module, name, options, source, made, after = sys.argv[1:]
bpy.ops.wm.open_mainfile(filepath=source)
bpy.ops.preferences.addon_enable(module=addon)
getattr(getattr(bpy.ops, module), name)(filepath=made, **json.loads(options))
bpy.ops.wm.save_as_mainfile(filepath=after)
sys.stdout.flush()
os._exit(0)
"""

IMPORT = """
import bpy, os, sys
addon, module, name, source, made = sys.argv[1:]
bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
bpy.ops.preferences.addon_enable(module=addon)
getattr(getattr(bpy.ops, module), name)(filepath=source)
bpy.ops.wm.save_as_mainfile(filepath=made)
sys.stdout.flush()
os._exit(0)
"""


def export(addon: str, operator: str, source: Path, made: Path, after: Path, **options: Any) -> None:
    """Open a file, export it by an operator of an add-on, and save it as it is after that."""
    _run(EXPORT, addon, *operator.split("."), json.dumps(options), source, made, after)


def bring(addon: str, operator: str, source: Path, made: Path) -> None:
    """Import something by an operator of an add-on into an empty file, and save that."""
    _run(IMPORT, addon, *operator.split("."), source, made)


def _run(script: str, *words: str | Path) -> None:
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(Path(words[-1]).parent)}
    call = [sys.executable, "-c", script, *map(str, words)]
    subprocess.run(call, env=environment, check=True, capture_output=True)
