"""The program without a window as a studio runs it, in processes of its own, and what it works on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bpy

from .bake_rigs import make_chain, make_leg

PROGRAM = Path(__file__).resolve().parents[2] / "scripts" / "bake.py"


def start(*words: Any, **options: Any) -> subprocess.Popen:
    """The program from its first line on, which takes Blender's start of seconds."""
    command = [sys.executable, str(PROGRAM), *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, **pipes | options)


def run(*words: Any, **options: Any) -> tuple[int, list[dict[str, Any]], str]:
    """Exit code, the lines of standard output, standard error; of a process forked after Blender's start, with the
    options that `forked` takes."""
    with TemporaryDirectory() as folder:
        out, err = (Path(folder) / name for name in ("out", "err"))
        out.touch()
        forks().start(*words, **{"stdout": str(out), "stderr": str(err)} | options)
        code = forks().end()
        return code, [json.loads(line) for line in out.read_text("utf-8").splitlines()], err.read_text("utf-8")


class Forks:
    """The program as processes that can be killed, one at a time, without starting Blender for each."""

    def __init__(self) -> None:
        script = str(Path(__file__).with_name("forked.py"))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._parent = subprocess.Popen([sys.executable, script], text=True, **pipes)

    def start(self, *words: Any, **options: Any) -> int:
        """The number of the process; it stays that process's until it is ended."""
        return int(self._ask(json.dumps({"words": [str(word) for word in words], "cwd": os.getcwd(), **options})))

    def end(self) -> int:
        """Wait for the process, and give its exit status."""
        return int(self._ask(""))

    def _ask(self, line: str) -> str:
        self._parent.stdin.write(f"{line}\n")
        self._parent.stdin.flush()
        return self._parent.stdout.readline()


@cache
def forks() -> Forks:
    """Those that all tests share; they end with the tests, when nobody holds their input."""
    return Forks()


def open_file(path: Path) -> Any:
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects["leg"]


def others(path: Path) -> set[str]:
    """What is in the folder besides."""
    return {file.name for file in path.parent.iterdir()} - {path.name}


def make_shot(folder: Path) -> Path:
    """A file with a leg whose target circles it, half of the time out of reach."""
    make_chain(make_leg(), plane="SWING")
    bpy.context.scene.frame_end = 24
    path = folder / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path
