"""Runs inside Blender: installs the zip, plays one scenario step by step, writes down what it found, and quits.

blender --enable-event-simulate --python stage.py -- MODULE.SCENARIO FINDINGS.json PICTURES/
"""

from __future__ import annotations

import json
import sys
import traceback
from importlib import import_module
from pathlib import Path

import bpy

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]  # Blender knows nothing of the tree that this script is from.

from hand import Hand  # noqa: E402

from scripts import installed  # noqa: E402

PAUSE = 0.02
"""Seconds between two looks at whether Blender is done with a step."""

QUIET = 4
"""Looks that it takes until Blender has handled the events of a step and drawn what became of them."""


def main() -> None:
    scenario, findings, pictures = sys.argv[sys.argv.index("--") + 1 :]
    view = bpy.context.preferences.view
    view.show_splash = False
    view.smooth_view = 0  # A view that turns at once needs no waiting for.
    steps = play(scenario, Path(pictures))
    waited = 0

    def look() -> float | None:
        nonlocal waited
        waited += 1
        if waited < QUIET:
            return PAUSE
        waited = 0
        try:
            next(steps)
            return PAUSE
        except StopIteration as end:
            finish(Path(findings), end.value)
        except Exception:  # noqa: BLE001 - whatever went wrong is what the test wants to know
            finish(Path(findings), {"error": traceback.format_exc()})
        return None

    bpy.app.timers.register(look, persistent=True)


def play(scenario: str, pictures: Path):
    """The steps of a scenario, played on the extension as installed."""
    yield
    installed.install()
    yield
    module, _, name = scenario.rpartition(".")
    scenes = import_module(module or "scenarios")
    return (yield from getattr(scenes, name)(Hand(bpy.context.window_manager.windows[0], name, pictures)))


def finish(findings: Path, found: dict) -> None:
    findings.write_text(json.dumps(found, indent=2))
    bpy.ops.wm.quit_blender()


main()
