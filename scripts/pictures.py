"""Pictures for the guides and for the extension's page, taken in Blender's real window: ``make pictures``.

docs/demo.png, the one on top of README, is a frame of the demo: ``make demo ARGS=--docs``.
"""

from __future__ import annotations

import os
import subprocess
import sys

from .package import ROOT
from .tasks import APPLICATION
from .window import PICTURES, Window

DOCS = ROOT / "docs"
LIMIT = 1500
"""Seconds for one scenario: software draws a frame of what shines in some seconds, on a busy machine in many."""

SESSIONS = (
    ("2240x1400x24", ("stills.shows_first", "stills.shows_overlay", "stills.shows_still")),
    ("960x660x24", ("first_limb.shows_steps", "moving.shows_legs")),
)
"""The size of the screen, and what is played on it."""

STILLS = {
    "first": ("shows_first-picture", "-resize 50%"),
    "overlay": ("shows_overlay-picture", "-resize 50%"),
    "panel": ("shows_overlay-panel", "-crop 584x780+0+0 +repage -resize 60%"),
    "still": ("shows_still-picture", ""),
}
"""The pictures in docs/, what was taken for each, and what ImageMagick does with it."""


def main() -> int:
    if not APPLICATION.exists():
        print(f"Left out: {APPLICATION} is missing, the Blender whose window is photographed")
        return 1
    for screen, scenarios in SESSIONS:
        os.environ["BLENDER_SCREEN"] = screen
        window = Window(LIMIT)
        try:
            for scenario in scenarios:
                print(f"{scenario}: {window.play(f'scripts.{scenario}')}", flush=True)
        finally:
            window.close()
    for name, (taken, words) in STILLS.items():
        develop([str(PICTURES / f"{taken}.png"), *words.split(), f"PNG24:{DOCS / name}.png"])
    steps = [str(PICTURES / f"shows_steps-{i}.png") for i in range(1, 5)]
    words = "-crop 664x636+0+0 +repage -resize 480x -bordercolor white -border 4"
    rows = [["(", *steps[i : i + 2], *words.split(), "+append", ")"] for i in (0, 2)]
    develop([*rows[0], *rows[1], "-append", f"PNG24:{DOCS / 'steps.png'}"])
    film = sorted(str(path) for path in PICTURES.glob("shows_legs-*.png"))
    words = "-resize 640x +dither -colors 96 -layers optimize"
    develop(["-delay", "8", "-loop", "0", *film, *words.split(), str(DOCS / "legs.gif")])
    return 0


def develop(words: list[str]) -> None:
    """Let ImageMagick make one picture; Blender's own system has it."""
    subprocess.run([str(APPLICATION), "--exec", "convert", *words], check=True)


if __name__ == "__main__":
    sys.exit(main())
