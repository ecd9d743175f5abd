"""The pictures of the guides, taken in Blender's real window: ``python3 -m scripts.pictures``, after ``make zip``.

They are what the window's tests photograph, played again without the tests.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .package import ROOT
from .tasks import APPLICATION
from .window import PICTURES as TAKEN
from .window import Window

DOCS = ROOT / "docs"

VIEW = "1316x776+0+28"
"""Where the 3D view is on the screen."""

PICTURES = {
    "overlay_scenarios.shows_the_geometry": {
        "reached": "overlay",
        "limits": "limits",
        "missed": "missed",
        "blended": "fk-and-ik",
        "light": "light",
    },
    "panel_scenarios.finds_the_panel_everywhere": {"limb": "panel", "pie": "pie"},
}
"""For each scenario, the pictures that the guides show and their names in docs/."""


def main() -> int:
    if not APPLICATION.exists():
        print(f"{APPLICATION} is missing: it is the Blender whose window is photographed")
        return 1
    window = Window()
    try:
        for scenario, pictures in PICTURES.items():
            window.play(scenario)
            for name, shown in pictures.items():
                crop(TAKEN / f"{scenario.rpartition('.')[2]}-{name}.png", DOCS / f"{shown}.png")
    finally:
        window.close()
    return 0


def crop(taken: Path, shown: Path) -> None:
    """Keep the 3D view, in few colours. The system that the application runs in has ImageMagick."""
    words = ["convert", str(taken), "-crop", VIEW, "+repage", "-colors", "96", f"PNG8:{shown}"]
    subprocess.run([str(APPLICATION), "--exec", *words], check=True)


if __name__ == "__main__":
    sys.exit(main())
