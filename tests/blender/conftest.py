"""Tests in real Blender of the zip as installed: each session in a fresh user folder, each test in an empty file.

Start them with ``make test``, or with pytest in an environment that has bpy; with ``PLANAR_IK_SOURCE=1`` they run on
the tree as it is, without a zip.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import pytest

from scripts import installed

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for matrices of four rows; two processes with two each wait for each other
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as each command in a process of its own imports all anew
sys.dont_write_bytecode = False

FOLDER = pytest.StashKey[TemporaryDirectory[str]]()
STATUS = pytest.StashKey[int]()

CYCLE = "ependency cycle"
"""What Blender prints where things depend on each other."""

LOST = "Failed to add relation"
"""What it prints where something names what is not there."""


def pytest_configure(config: pytest.Config) -> None:
    if find_spec("bpy") is None:
        raise pytest.UsageError("tests/blender needs Blender as a module (bpy): run `make test`, or only tests/solver")
    config.stash[FOLDER] = installed.fresh_user_folder()
    try:
        installed.install()
    except RuntimeError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    session.config.stash[STATUS] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """The reports are written and pytest's closing line is printed: leave before bpy's destructors can hang."""
    if STATUS in config.stash:
        installed.leave(config.stash[STATUS], config.stash[FOLDER])


@pytest.hookimpl(wrapper=True, trylast=True)  # inside of pytest's own, which takes what is printed meanwhile
def pytest_runtest_call() -> Iterator[None]:
    """Have Blender print what it has to say while the test runs that it is about."""
    try:
        return (yield)
    finally:
        ctypes.CDLL(None).fflush(None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Fail a test while which Blender tells of a dependency cycle, or of what names nothing; one that is marked for a
    cycle, if it does not, unless it is only ``perhaps``."""
    report: Any = yield
    if report.when == "call" and report.passed and item.config.option.capture != "no":
        told = "".join(text for title, text in report.sections if title.endswith("call"))
        marker = item.get_closest_marker("makes_a_cycle")
        if marker is None if CYCLE in told else marker is not None and not marker.kwargs.get("perhaps"):
            report.outcome, report.longrepr = "failed", f"Dependency cycles that Blender found:\n{told}"
        elif LOST in told and item.get_closest_marker("names_nothing") is None:
            report.outcome, report.longrepr = "failed", f"Blender looked for what is not there:\n{told}"
    return report


@pytest.fixture(autouse=True)
def empty_file() -> None:
    """Every test starts in an empty file, with the extension enabled and the preferences kept."""
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    installed.enable()


@pytest.fixture(scope="session")
def addon() -> Callable[..., ModuleType]:
    """Gives modules of the extension by their names inside it, such as ``addon("limb.rest_geometry")``."""
    return installed.addon


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """Gives the rig that Rigify makes of one of its metarigs, in Pose Mode: generated once, then its file is opened."""
    folder = tmp_path_factory.mktemp("generated")

    def opened(name: str) -> Any:
        import bpy

        from tests.blender.characters import metarig

        path = folder / f"{name}.blend"
        if not path.exists():
            metarig(name)
            bpy.ops.pose.rigify_generate()
            bpy.ops.object.mode_set(mode="POSE")
            bpy.ops.wm.save_as_mainfile(filepath=str(path))
        bpy.ops.wm.open_mainfile(filepath=str(path), use_scripts=True)
        return bpy.context.object

    return opened
