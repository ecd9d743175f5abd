"""Tests in Blender's real window, on a virtual screen: a scenario runs inside Blender, and a test judges its findings.

Start them with ``make window``. All share one Blender, because its start takes longer than most scenarios. The pictures
that they take stay in build/window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scripts.tasks import no_window
from scripts.window import Failed, Window

Play = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="session")
def window() -> Iterator[Window]:
    if why := no_window():
        pytest.skip(why)
    window = Window()
    yield window
    window.close()


@pytest.fixture
def play(window: Window) -> Play:
    """Play a scenario (of scenarios.py, or MODULE.NAME) in Blender's window and give what it returned."""

    def run(scenario: str) -> dict[str, Any]:
        try:
            return window.play(scenario)
        except Failed as why:
            said = str(why)
        pytest.fail(said, pytrace=False)

    return run
