"""What the Makefile's targets do: ``python3 -m scripts.tasks TARGET``. Standard library only, for bare machines."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from . import package, release
from .environments import BLENDERS, HOME, MACHINE, ROOT, blender, environment

FITTING = {"3.11": "4.5", "3.13": "5.2"}.get(MACHINE)
"""The version of Blender to work with on this Python: the newest LTS that has a bpy for it."""

APPLICATION = Path(os.environ.get("BLENDER", "blender"))
"""Blender with its window: the one that the variable BLENDER names."""

SCREENS = {"DISPLAY", "WAYLAND_DISPLAY", "BLENDER_SCREEN"}
"""Variables of Linux that name the screen; the last one, of a Blender that brings one along, says how large."""

WHOLE = {"4.5", [*BLENDERS][-1]}
"""The versions in which the matrix runs dear tests as well."""

NOTHING_FITS = f"""\
Blender is a Python module for Python 3.11 (Blender 4.5) and Python 3.13 (5.2, 5.3), and python3 is {MACHINE}.
Install one of the two, then name it: make PYTHON=python3.11 {" ".join(sys.argv[1:2])}"""

SCRIPTS = ("bench", "demo", "sample", "pictures")
"""Targets that are a script of the same name, run in Blender with the built zip."""


def test(*arguments: str) -> int:
    """All tests on the Blender that fits this Python; without one, those that need no Blender."""
    if FITTING:
        return _test_in(FITTING, _zip(blender(FITTING)), *arguments)
    return solver(*arguments)


def solver(*arguments: str) -> int:
    """The solver's tests, which need no Blender; where none fits this Python, that is said."""
    status = _run(environment("test"), "-m", "pytest", *_in("solver"), *arguments)
    if not FITTING:
        print(f"\nOnly the solver's tests ran. {NOTHING_FITS}")
    return status


def matrix(*versions: str) -> int:
    """All tests on these versions of Blender, or on every one that we support; "others" leaves out what test runs, and
    dear tests in most. More combinations than in `test`.

    The solver's tests, the same each time, run once on each Python: the NumPy of all of its Blenders is the same.
    """
    os.environ.setdefault("PLANAR_IK_COMBINATIONS", "400")
    tried, words = set(), dict[str, list[str]]()
    if versions == ("others",):
        versions = tuple(version for version in BLENDERS if version != FITTING)
        tried.add(MACHINE)
        words = {version: ["-m", "not dear"] for version in versions if version not in WHOLE}
    pythons = {version: blender(version) for version in versions or BLENDERS}
    built = _zip(next(iter(pythons.values())))
    statuses = {}
    for version in pythons:
        folders = ["tests/blender"] if BLENDERS[version] in tried else []
        statuses[version] = _test_in(version, built, *folders, *words.get(version, []))
        tried.add(BLENDERS[version])
    for version, status in statuses.items():
        print(f"Blender {version}: {f'FAILED (status {status})' if status else 'passed'}")
    return max(statuses.values())


def build_zip() -> int:
    """Build the zip, and have it validated."""
    print(package.build(_fitting()).relative_to(ROOT))
    return 0


def check() -> int:
    """Lint, format and types."""
    python = environment("check")
    tools = [("ruff", "check"), ("ruff", "format", "--check"), ("mypy",), ("mypy", "addon/planar_ik.py")]  # has a .pyi
    return max([_run(python, "-m", *words) for words in tools])


def window(*arguments: str) -> int:
    """The tests that click in a real window, of the Blender that BLENDER=/path names."""
    if why := no_window():
        print(why)
        return int("BLENDER" in os.environ and not APPLICATION.exists())
    built = _zip(_fitting())
    return _run(environment("test"), "-m", "pytest", *_in("window"), *arguments, PLANAR_IK_ZIP=str(built))


def script(name: str, *arguments: str) -> int:
    """One of `SCRIPTS`."""
    python = _fitting()
    return _run(python, "-m", f"scripts.{name}", *arguments, PLANAR_IK_ZIP=str(_zip(python)))


def clean() -> int:
    """Remove the environments and everything that was built."""
    for folder in (HOME, package.BUILD):
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def no_window() -> str:
    """Why there is no Blender with a window on this machine; nothing where there is one."""
    if not APPLICATION.exists():
        return f"No window tests: there is no {APPLICATION}. Name your Blender: make window BLENDER=/path/to/blender"
    has_screen = sys.platform != "linux" or SCREENS & {*os.environ}
    return "" if has_screen else "No window tests: this machine has no screen; xvfb-run make window BLENDER=... has one"


def _zip(python: Path) -> Path:
    """The zip that PLANAR_IK_ZIP names, to test it as it is; else one that is built now."""
    return Path(os.environ["PLANAR_IK_ZIP"]).resolve() if "PLANAR_IK_ZIP" in os.environ else package.build(python)


def _fitting() -> Path:
    if not FITTING:
        raise SystemExit(NOTHING_FITS)
    return blender(FITTING)


def _in(folder: str) -> list[str]:
    """What has pytest run the tests of this folder, unless its other arguments name some."""
    return ["--override-ini", f"testpaths=tests/{folder}"]


def _test_in(version: str, built: Path, *arguments: str) -> int:
    print(f"\nBlender {version}, {built.name}", flush=True)
    python = blender(version)
    package.validate(python, built)
    words = ["--numprocesses=auto", "--maxprocesses=8", "--dist=loadgroup", *arguments]
    return _run(python, "-m", "pytest", *words, PLANAR_IK_ZIP=str(built))


def _run(python: Path, *arguments: str, **variables: str) -> int:
    """Run this Python at the root of the repo, and end with it all that it started."""
    settings = {**os.environ, **variables}
    process = subprocess.Popen([str(python), *arguments], cwd=ROOT, env=settings, start_new_session=True)
    try:
        return process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


TASKS = {
    "test": test,
    "solver": solver,
    "matrix": matrix,
    "zip": build_zip,
    "check": check,
    "window": window,
    "release": release.prepare,
    "clean": clean,
}

if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036 - an older one comes this far and is told what it lacks
        raise SystemExit(NOTHING_FITS)
    target, *rest = sys.argv[1:]
    sys.exit(script(target, *rest) if target in SCRIPTS else TASKS[target](*rest))
