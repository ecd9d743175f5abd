"""The program without a window as a studio runs it, in processes of its own, and what it works on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import bpy

from .bake_rigs import make_chain, make_leg

PROGRAM = Path(__file__).resolve().parents[2] / "scripts" / "bake.py"


def start(*words: Any, **options: Any) -> subprocess.Popen:
    command = [sys.executable, str(PROGRAM), *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, **pipes | options)


def run(*words: Any, **options: Any) -> tuple[int, list[dict[str, Any]], str]:
    """Exit code, the lines of standard output, standard error."""
    process = start(*words, **options)
    out, err = process.communicate(timeout=100)
    return process.returncode, [json.loads(line) for line in out.splitlines()], err


def open_file(path: Path) -> Any:
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects["leg"]


def others(path: Path) -> set[str]:
    """What is in the folder besides."""
    return {file.name for file in path.parent.iterdir()} - {path.name}


def make_shot(folder: Path) -> Path:
    """A file with a leg whose target circles it, half of the time out of reach."""
    make_chain(make_leg())
    bpy.context.scene.frame_end = 24
    path = folder / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path
