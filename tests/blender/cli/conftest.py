"""The command line, run in this Blender."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.blender.cli.shots import Run


@pytest.fixture
def run(addon: Any, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs the program in this Blender: its exit code, its lines of JSON, and what it says to people."""

    def call(*words: object) -> tuple[int, list[dict[str, Any]], str]:
        capfd.readouterr()
        code = addon("cli").main([*map(str, words)])
        out, err = capfd.readouterr()
        return code, [json.loads(line) for line in out.splitlines() if line.startswith("{")], err

    return call
