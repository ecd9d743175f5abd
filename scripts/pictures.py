"""Pictures for the guides and for the extension's page, taken in Blender's real window: ``make pictures``.

docs/demo.png, the one on top of README, is a frame of the demo: ``make demo ARGS=--docs``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from . import characters, machines
from .package import ROOT
from .tasks import APPLICATION
from .window import PICTURES, SCREEN, Window

DOCS = ROOT / "docs"
LIMIT = 1500
"""Seconds for one scenario: software draws a frame of what shines in some seconds, on a busy machine in many."""

SESSIONS = (
    ("2240x1400x24", ("portraits.shows_first", "portraits.shows_overlay", "machines.shows_boom")),
    ("3968x2560x24", ("portraits.shows_still",)),
    (
        "960x660x24",
        (
            "first_limb.shows_steps",
            "moving.shows_legs",
            "machines.shows_machines",
            "machines.shows_puppet",
            "characters.shows_characters",
        ),
    ),
)

IN_THE_WINDOW = (
    "labels.asks_for_what_can_be_had",
    "tour.softens_and_stretches",
    "captures.holds_in_contacts",
    "tour.rolls_a_foot",
)
"""Scenarios of the window's tests, whose pictures are taken on a screen of the usual size."""
"""The size of the screen, and what is played on it: last what has Rigify switched on, which shows in menus."""

PORTRAITS = {
    "first": ("shows_first-picture", "-resize 50%", 0),
    "overlay": ("shows_overlay-picture", "-resize 50%", 0),
    "panel": ("shows_overlay-panel", "-crop 584x850+0+0 +repage -resize 60%", 256),
    "tools": ("softens_and_stretches-without", "-crop 254x614+676+240 +repage", 64),
    "f9": ("asks_for_what_can_be_had-leg", "-crop 328x282+474+435 +repage", 64),
    "contacts": ("holds_in_contacts-found", "-crop 950x110+4+716 +repage", 32),
    "still": ("shows_still-picture", "-resize 50%", 256),
}
"""The pictures in docs/, what was taken for each, what ImageMagick does with it, and how many colours stay (0: all)."""

LEG = ["-resize", "50%", "-gravity", "center", "-crop", "520x640+0+0", "+repage"]
BOOM = [str(PICTURES / "shows_boom-picture.png"), "-resize", "x640"]
"""How README's first limbs are put beside each other."""

ICON = """
fill #23272e roundrectangle 8,8 248,248 44,44
fill none stroke #4a5361 stroke-width 3 stroke-dasharray 9 9 arc -26,-62 210,174 -12,128
stroke #e8ecf2 stroke-width 34 stroke-linecap round stroke-linejoin round stroke-dasharray none
polyline 92,56 172,118 92,190
stroke none fill #23272e circle 92,56 101,56 circle 172,118 181,118
fill none stroke #4aa8ff stroke-width 11 circle 92,190 122,190
stroke none fill #4aa8ff circle 92,190 99,190
fill #ff6a5a circle 222,118 232,118
"""
"""A leg that bends within its reach, its foot on the target, its knee to the pole: what ImageMagick draws."""


def main() -> int:
    if not APPLICATION.exists():
        print(f"Left out: {APPLICATION} is missing, the Blender whose window is photographed")
        return 1
    finish(photograph()["scripts.machines.shows_machines"])
    subprocess.run([sys.executable, "-m", "scripts.skin", str(PICTURES / "skin.png")], check=True)
    develop([str(PICTURES / "skin.png")], "skin.png", 128)
    subprocess.run([sys.executable, "-m", "scripts.capture", "--strip"], check=True)
    develop_strip()
    return 0


def photograph() -> dict[str, Any]:
    """Play everything, which leaves pictures in build/window; gives what each returned."""
    found = {}
    for old in PICTURES.glob("shows_*.png"):
        old.unlink()
    sessions = [(screen, [f"scripts.{name}" for name in names]) for screen, names in SESSIONS]
    for screen, scenarios in (*sessions, (SCREEN, [*IN_THE_WINDOW])):
        os.environ["BLENDER_SCREEN"] = screen
        window = Window(LIMIT)
        try:
            for scenario in scenarios:
                found[scenario] = window.play(scenario)
                print(f"{scenario}: {found[scenario]}", flush=True)
        finally:
            window.close()
    return found


def finish(clicks: dict[str, list[list[int]]]) -> None:
    """Make the pictures in docs/ of what was taken; bones of machines get numbers where they are."""
    develop(["-size", "256x256", "xc:none", "-draw", ICON], "icon.png")
    for name, (taken, words, colours) in PORTRAITS.items():
        develop([str(PICTURES / f"{taken}.png"), *words.split()], f"{name}.png", colours)
    develop(["(", str(PICTURES / "shows_first-picture.png"), *LEG, ")", "(", *BOOM, ")", "+append"], "first-limbs.png")
    develop(sheet(), "characters.png", 64)
    shots = {name: f"shows_machines-{name}" for name in machines.SHOTS} | {"puppet": "shows_puppet-picture"}
    for name, taken in shots.items():
        words = [str(PICTURES / f"{taken}.png"), "-resize", "440x", *numbers(clicks.get(name, []), 440 / 660)]
        develop(words, f"machine-{name}.png", 64)
    cropping = "-crop 664x636+0+0 +repage -resize 480x -bordercolor white -border 4"
    develop(rows([f"shows_steps-{i}" for i in range(1, 5)], 2, cropping), "steps.png", 256)
    rolled = rows(
        [f"rolls_a_foot-{name}" for name in ("Roll-40", "Roll-80", "Roll120")], 3, "-crop 270x400+215+320 +repage"
    )
    develop(rolled, "roll.png", 64)
    film = sorted(str(path) for path in PICTURES.glob("shows_legs-*.png"))
    words = "-resize 680x +dither -colors 80 -fuzz 1% -layers optimize"
    develop(["-delay", "8", "-loop", "0", *film, *words.split()], "legs.gif")


def develop_strip() -> None:
    """Draw docs/planting.png."""
    drawn = (PICTURES / "planting.mvg").read_text(encoding="utf-8")
    words = ["-size", "900x260", "xc:#3a3f47", "-font", "DejaVu-Sans", "-pointsize", "14", "-draw", drawn]
    develop(words, "planting.png", 32)


def sheet() -> list[str]:
    """What has ImageMagick put the characters in two rows, each with what it is."""
    words: list[str] = ["-font", "DejaVu-Sans", "-pointsize", "17", "-fill", "white"]
    for k, (name, label) in enumerate(characters.LABELS.items()):
        taken = str(PICTURES / f"shows_characters-{name}.png")
        words += ["("] * (k % 3 == 0) + ["(", taken, "-resize", "360x", "-annotate", "+12+26", label, ")"]
        words += ["+append", ")"] * (k % 3 == 2)
    return [*words, "-append"]


def numbers(places: list[list[int]], scale: float) -> list[str]:
    """What has ImageMagick draw a number in a circle at each place, in order."""
    words = ["-font", "DejaVu-Sans-Bold", "-pointsize", "13"]
    for k, (x, y) in enumerate([[scale * x, scale * y] for x, y in places]):
        words += ["-fill", "white", "-draw", f"circle {x:.0f},{y:.0f} {x + 10:.0f},{y:.0f}"]
        words += ["-fill", "black", "-draw", f"text {x - 4:.0f},{y + 5:.0f} '{k + 1}'"]
    return words


def rows(taken: list[str], columns: int, change: str) -> list[str]:
    """What has ImageMagick put pictures in rows, after it changed each."""
    words: list[str] = []
    for i in range(0, len(taken), columns):
        paths = [str(PICTURES / f"{name}.png") for name in taken[i : i + columns]]
        words += ["(", *paths, *change.split(), "+append", ")"]
    return [*words, "-append"]


def develop(words: list[str], name: str, colours: int = 0) -> None:
    """Let ImageMagick make one picture in docs/, maybe in few colours; Blender's own system has it. Without
    dates: what looks the same is the same file."""
    few = ["-colors", str(colours)] if colours else []
    path = DOCS / name
    to = str(path) if path.suffix == ".gif" else f"PNG{8 if colours else 32 if name == 'icon.png' else 24}:{path}"
    subprocess.run([str(APPLICATION), "--exec", "convert", *words, *few, "-strip", to], check=True)


if __name__ == "__main__":
    sys.exit(main())
