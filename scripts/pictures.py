"""The pictures of the guides, taken in Blender's real window: ``make pictures``.

What they show is set up in tests/window/picture_scenarios.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from .package import ROOT
from .tasks import APPLICATION
from .window import PICTURES as TAKEN
from .window import Window

DOCS = ROOT / "docs"

SCREEN = "1600x1100x24"
"""High enough for the whole panel."""

LIMB = "780x732+300+28"
"""Where the limb and what the overlay draws of it are in a picture of the 3D view."""

PICTURES = {
    "shows_the_overlay": {
        "reached": ("overlay", LIMB),
        "limits": ("limits", LIMB),
        "missed": ("missed", LIMB),
        "blended": ("fk-and-ik", LIMB),
        "light": ("light", LIMB),
    },
    "shows_menu_panel_and_pie": {
        "menu": ("add", "430x520+80+70"),
        "panel": ("panel", "264x553+0+374"),
        "pie": ("pie", "800x440+0+0"),
    },
    "shows_sides_and_softness": {
        "sides": ("bend-side", "780x420+300+270"),
        "softness": ("softness", "860x280+270+350"),
    },
}
"""For each scenario, the pictures that the guides show, their names in docs/, and what part of them is shown."""


def main() -> int:
    if not APPLICATION.exists():
        print(f"{APPLICATION} is missing: it is the Blender whose window is photographed")
        return 1
    os.environ.setdefault("BLENDER_SCREEN", SCREEN)
    window = Window()
    try:
        for scenario, pictures in PICTURES.items():
            window.play(f"picture_scenarios.{scenario}")
            for name, (shown, part) in pictures.items():
                reduce(TAKEN / f"{scenario}-{name}.png", DOCS / f"{shown}.png", part)
    finally:
        window.close()
    return 0


def reduce(taken: Path, shown: Path, part: str) -> None:
    """Keep a part of a picture, in few colours. The application's system has ImageMagick."""
    words = ["convert", str(taken), "-crop", part, "+repage", "+dither", "-colors", "96", f"PNG8:{shown}"]
    subprocess.run([str(APPLICATION), "--exec", *words], check=True)
    print(f"{shown.relative_to(ROOT)}: {shown.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    sys.exit(main())
