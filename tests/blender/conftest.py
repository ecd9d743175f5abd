"""Tests in real Blender of the zip as installed: each session in a fresh user folder, each test in an empty file.

Start them with ``make test``, or with pytest in an environment that has bpy.
"""

from __future__ import annotations

from importlib.util import find_spec
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import pytest

from scripts import installed

FOLDER = pytest.StashKey[TemporaryDirectory[str]]()
STATUS = pytest.StashKey[int]()

crashed: list[str] = []
"""The tests whose process ended, each time: Blender crashed, or was stopped as it hung."""


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


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem: str, report: pytest.TestReport, sched: Any) -> None:
    """A test's process ended: that is said at the end, and the test tried once more, in a new one.

    Blender crashes or hangs at times: last seen in 4.2, once in some fifteen runs of 2,900 tests. That one went through
    300 times by itself, and once under valgrind, without a fault.
    """
    if crashitem not in crashed:
        sched.mark_test_pending(crashitem)
        report.outcome = "rerun"  # type: ignore[assignment]  # a word of xdist's
    crashed.append(crashitem)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for test in dict.fromkeys(crashed):
        terminalreporter.write_line(f"Blender crashed or hung in {test}: {crashed.count(test)} of 2 times")


@pytest.fixture(autouse=True)
def empty_file() -> None:
    """Every test starts in an empty file, with the extension enabled and the preferences kept."""
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    installed.enable()


@pytest.fixture
def addon() -> ModuleType:
    """The ``addon`` package of the installed extension, for reaching into its modules."""
    return installed.addon()
