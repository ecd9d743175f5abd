"""Blender's real window, in which scenarios of tests/window are played one after the other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from .package import BUILD, ROOT
from .tasks import APPLICATION

LIMIT = 300
"""Seconds for one scenario; a start takes about 9, but on a machine that others work on 90 were seen."""

PICTURES = BUILD / "window"
"""Where the pictures that scenarios take stay."""

SCREEN = "960x880x24"
"""The screen where none is named: what is drawn without a GPU takes as long as it has pixels."""

STAGE = ROOT / "tests" / "window" / "stage.py"


class Failed(Exception):
    """A scenario did not come to its end, or Blender complained."""


class Window:
    """One Blender with an empty home folder. It starts with the first scenario, which is what takes long, and again
    after one that failed, so that the others find it as they expect."""

    def __init__(self, limit: float = LIMIT) -> None:
        self._limit = limit
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = Path()
        self._played = 0
        self._read = 0

    def play(self, scenario: str) -> dict[str, Any]:
        """Play MODULE.NAME and give what it returned; raises `Failed`."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._start()
        try:
            return self._ask(scenario)
        except Failed:
            self.close()
            raise

    def close(self) -> None:
        """End Blender and its screen, whatever they are doing."""
        if self._process:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            rmtree(self._folder, ignore_errors=True)
        self._process = None

    def _start(self) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        self._folder = Path(mkdtemp(prefix="planar-ik-window-"))
        self._played = self._read = 0
        words = [str(APPLICATION), "--enable-event-simulate", "--python", str(STAGE), "--"]
        user = {"BLENDER_USER_RESOURCES": str(self._folder / "user")}  # Nobody's own preferences.
        folders = {"BLENDER_HOME": str(self._folder), "TMPDIR": str(self._folder)}
        settings = {"BLENDER_SCREEN": SCREEN, **os.environ, **user, **folders}
        with (self._folder / "log.txt").open("wb") as log:
            self._process = subprocess.Popen(
                [*words, str(self._folder), str(PICTURES)],
                cwd=ROOT, env=settings, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def _ask(self, scenario: str) -> dict[str, Any]:
        self._played += 1
        findings = self._folder / f"{self._played}.json"
        asked = self._folder / "asked"
        asked.write_text(scenario)
        asked.rename(self._folder / f"{self._played}.scenario")
        self._wait(findings.exists)
        log = self._log()
        if not findings.exists():
            raise Failed(f"Blender ended, or took over {self._limit} s, before '{scenario}' came to its end:\n{log}")
        answer: dict[str, Any] = json.loads(findings.read_text())
        if "error" in answer:
            raise Failed(f"{answer['error']}\n{log}")
        if "Traceback" in log:  # as a panel leaves that can't be drawn
            raise Failed(log)
        return answer

    def _wait(self, is_done: Callable[[], bool]) -> None:
        """Wait until something is done, Blender ended, or it took too long."""
        end = time.monotonic() + self._limit
        while not is_done() and time.monotonic() < end and self._process and self._process.poll() is None:
            time.sleep(0.05)

    def _log(self) -> str:
        """What Blender printed since it was last asked for."""
        printed = (self._folder / "log.txt").read_bytes()
        new, self._read = printed[self._read :], len(printed)
        return new.decode(errors="replace")
