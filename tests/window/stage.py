"""Runs inside Blender: installs the zip, then plays the scenarios it is asked for, and writes down what each found.

blender --enable-event-simulate --python stage.py -- FOLDER PICTURES/

The first scenario is named in FOLDER/1.scenario, and FOLDER/1.json has its findings; then the second, and so on.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Generator
from importlib import import_module
from pathlib import Path
from time import monotonic

import bpy

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]  # Blender knows nothing of the tree that this script is from.

from hand import Hand  # noqa: E402

from scripts import installed  # noqa: E402

QUIET = 4
"""How often Blender looks for something to do until it has handled the events of a step and drawn what became of
them: no time that a busy machine could need longer for."""

PATIENCE = 120
"""Seconds without a scenario after which whoever asks is taken for dead."""


def main() -> None:
    folder, pictures = map(Path, sys.argv[sys.argv.index("--") + 1 :])
    steps = play_all(folder, pictures)
    waited = 0

    def look() -> float | None:
        nonlocal waited
        waited += 1
        if waited < QUIET:
            return 0.0
        waited = 0
        try:
            next(steps)
        except BaseException:
            bpy.ops.wm.quit_blender()
            raise
        return 0.0

    bpy.app.timers.register(look, persistent=True)


def play_all(folder: Path, pictures: Path) -> Generator[None, None, None]:
    """The steps of every scenario that is asked for, until the folder is gone or who asked has long been silent."""
    yield
    set_preferences()
    close_other_editors()
    installed.install()
    number, since = 1, monotonic()
    while folder.exists() and monotonic() < since + PATIENCE:
        asked = folder / f"{number}.scenario"
        if asked.exists():
            found = yield from play(asked.read_text(), pictures)
            written = folder / "findings"
            written.write_text(json.dumps(found, indent=2))
            written.rename(folder / f"{number}.json")
            number, since = number + 1, monotonic()
        yield


def set_preferences() -> None:
    """Nothing that has to be waited for: smooth edges are drawn in eight passes, which takes a second without a GPU."""
    preferences = bpy.context.preferences
    preferences.view.show_splash = False
    preferences.view.smooth_view = 0
    preferences.system.viewport_aa = "OFF"
    preferences.system.use_overlay_smooth_wire = False


def close_other_editors() -> None:
    """Have new files show the 3D view only: most of a test's time goes into drawing, without a GPU."""
    window = bpy.context.window_manager.windows[0]
    for kind in ("DOPESHEET_EDITOR", "OUTLINER", "PROPERTIES"):
        area = next(area for area in window.screen.areas if area.type == kind)
        with bpy.context.temp_override(window=window, area=area, region=area.regions[-1]):
            bpy.ops.screen.area_close()
    bpy.ops.wm.save_homefile()


def play(scenario: str, pictures: Path) -> Generator[None, None, dict]:
    """The steps of a scenario, played on the extension as installed."""
    module, _, name = scenario.rpartition(".")
    try:
        scene = getattr(import_module(module or "scenarios"), name)
        return (yield from scene(Hand(bpy.context.window_manager.windows[0], name, pictures)))
    except Exception:  # noqa: BLE001 - whatever went wrong is what the test wants to know
        return {"error": traceback.format_exc()}


main()
