"""Tests in Blender's real window, on a virtual screen: a scenario runs inside Blender, and a test judges its findings.

Start them with ``make window``. The pictures that a scenario takes stay in build/window.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripts.package import BUILD, ROOT
from scripts.tasks import APPLICATION

LIMIT = 300
"""Seconds for one scenario; a start takes about 9, but on a machine that others work on 90 were seen."""

Play = Callable[[str], dict[str, Any]]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Play a scenario (of scenarios.py, or MODULE.NAME) in a new Blender window and give what it returned."""
    if not APPLICATION.exists():
        pytest.skip(f"There is no Blender with a window at {APPLICATION}: name yours, BLENDER=/path/to/blender")

    def run(scenario: str) -> dict[str, Any]:
        pictures = BUILD / "window"
        pictures.mkdir(parents=True, exist_ok=True)
        findings = tmp_path / "findings.json"
        words = ["--enable-event-simulate", "--python", str(Path(__file__).with_name("stage.py")), "--"]
        log = _run([str(APPLICATION), *words, scenario, str(findings), str(pictures)], tmp_path)
        assert findings.exists(), f"Blender ended before the scenario did:\n{log}"
        found: dict[str, Any] = json.loads(findings.read_text())
        assert "error" not in found, f"{found['error']}\n{log}"
        assert "Traceback" not in log, log  # as a panel leaves that can't be drawn
        return found

    return run


def _run(words: list[str], folder: Path) -> str:
    """Run the application with an empty home folder, and end it with its screen when it hangs; give what it printed."""
    settings = {**os.environ, "BLENDER_HOME": str(folder), "TMPDIR": str(folder)}
    path = folder / "log.txt"
    with path.open("w") as log:
        process = subprocess.Popen(
            words, cwd=ROOT, env=settings, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            pytest.fail(f"Blender did not end within {LIMIT} s:\n{path.read_text()}")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return path.read_text()
