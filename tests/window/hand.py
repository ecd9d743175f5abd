"""A person's hand and eye in Blender's window: keys, mouse, and where on the screen things are.

Everything that takes time is a generator, to be used with ``yield from``: Blender handles events and draws between
the steps. Positions are in pixels from the window's lower left corner.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

Steps = Iterator[None]
Point = tuple[int, int]

DIGITS = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
KEYS = {" ": "SPACE", "-": "MINUS", ".": "PERIOD", "/": "SLASH"} | {
    str(digit): name for digit, name in enumerate(DIGITS)
}
"""Blender's names of the keys that are not named as what they type."""


class Hand:
    """One window, with the mouse somewhere in it."""

    def __init__(self, window: bpy.types.Window, scenario: str, pictures: Path) -> None:
        self.window = window
        self.scenario = scenario
        self.pictures = pictures
        self.mouse: Point = (window.width // 2, window.height // 2)

    def move(self, point: Point) -> Steps:
        """Move the mouse there."""
        self.mouse = point
        self._event("MOUSEMOVE", "NOTHING")
        yield

    def click(self, point: Point, *, shift: bool = False) -> Steps:
        """Click there."""
        yield from self.move(point)
        yield from self.key("LEFTMOUSE", shift=shift)

    def key(self, name: str, *, ctrl: bool = False, shift: bool = False, text: str | None = None) -> Steps:
        """Press and release a key that types this text, or a button of the mouse."""
        self._event(name, "PRESS", ctrl=ctrl, shift=shift, unicode=text)
        self._event(name, "RELEASE", ctrl=ctrl, shift=shift)
        yield

    def write(self, text: str) -> Steps:
        """Type text into the field that has the focus."""
        for letter in text:
            yield from self.key(KEYS.get(letter, letter.upper()), shift=letter.isupper(), text=letter)

    def choose(self, entry: str) -> Steps:
        """Call an entry of the menus by its name, through the search that F3 opens under the mouse."""
        yield from self.key("F3")
        yield from self.write(entry)
        yield
        self.picture(f"search-{entry.lower().replace(' ', '-').replace('/', '-')}")
        yield from self.key("RET")
        yield

    def picture(self, name: str) -> None:
        """Photograph the screen. Blender's own screenshot is black where OpenGL is software."""
        path = self.pictures / f"{self.scenario}-{name}.png"
        if which("import"):
            subprocess.run(["import", "-window", "root", str(path)], check=True)
        else:
            with bpy.context.temp_override(window=self.window):
                bpy.ops.screen.screenshot(filepath=str(path))

    def view(self) -> tuple[bpy.types.Area, bpy.types.Region]:
        """The largest 3D view, and its region that shows the scene."""
        areas = [area for area in self.window.screen.areas if area.type == "VIEW_3D"]
        area = max(areas, key=lambda one: one.width * one.height)
        return area, next(region for region in area.regions if region.type == "WINDOW")

    def on_screen(self, location: Vector) -> Point:
        """Where the 3D view shows this point of the world."""
        area, region = self.view()
        x, y = location_3d_to_region_2d(region, area.spaces.active.region_3d, location)
        return region.x + round(x), region.y + round(y)

    def bone_on_screen(self, ob: bpy.types.Object, bone: str, along: float = 0.5) -> Point:
        """Where the 3D view shows a point of a bone as posed; ``along`` is 0 at its head and 1 at its tail."""
        posed = ob.pose.bones[bone]
        return self.on_screen(ob.matrix_world @ posed.head.lerp(posed.tail, along))

    def _event(self, kind: str, value: str, **more) -> None:
        x, y = self.mouse
        self.window.event_simulate(type=kind, value=value, x=x, y=y, **more)
