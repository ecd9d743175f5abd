"""A person's hand and eye in Blender's window: keys, mouse, and where on the screen things are.

Everything that takes time is a generator, to be used with ``yield from``: Blender handles events and draws between
the steps. Positions are in pixels from the window's lower left corner.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

from scripts import installed

Steps = Iterator[None]
Point = tuple[int, int]
Rectangle = tuple[int, int, int, int]
"""Its lower left corner, width and height."""

DIGITS = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
KEYS = {" ": "SPACE", "-": "MINUS", ".": "PERIOD", "/": "SLASH"} | {
    str(digit): name for digit, name in enumerate(DIGITS)
}
"""Blender's names of the keys that are not named as what they type."""

STEP = 16
"""Pixels between two places where a field is looked for: a little less than a field's height."""

FIRST_ROW, ROW = 99, 23
"""Pixels from the mouse down to the first field of *Adjust Last Operation*, and from each to the next one."""

FOUND: dict[str, list[int]] = {}
"""How high in the sidebar fields and buttons were found before, by any scenario."""


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

    def click(self, point: Point) -> Steps:
        """Click there."""
        yield from self.move(point)
        yield from self.key("LEFTMOUSE")

    def key(self, name: str, **held: bool) -> Steps:
        """Press and release a key, or a button of the mouse, while others are held: shift, ctrl or alt."""
        self._press(name, **held)
        yield

    def keys(self, *names: str) -> Steps:
        """Press and release several keys, each when Blender is done with the one before."""
        for name in names:
            yield from self.key(name)

    def write(self, text: str) -> Steps:
        """Type text into the field that has the focus."""
        for letter in text:
            self._press(KEYS.get(letter, letter.upper()), text=letter, shift=letter.isupper())
        yield

    def choose(self, entry: str) -> Steps:
        """Call an entry of the menus by its name, through the search that F3 opens under the mouse."""
        yield from self.key("F3")
        yield from self.write(entry)
        yield from self.key("RET")
        yield

    def adjust(self, name: str, chosen: str) -> Steps:
        """Have *Adjust Last Operation*, after Add, set a list by the wheel over it, below *More* where it is there."""
        adding = installed.addon("ui.operators.adding")
        lacking = bpy.context.window_manager.operators[-1].properties.lacks.split()
        rows = [row for row in (*adding.FIRST, "", *adding.MORE) if row not in lacking]
        yield from self.to_the_middle()
        x, top = self.mouse[0], self.mouse[1] - FIRST_ROW
        yield from self.key("F9")
        yield
        if name in adding.MORE:
            yield from self.click((x + 20, top - rows.index("") * ROW))
            yield
        yield from self.move((x + 200, top - rows.index(name) * ROW))
        for _ in range(5):
            if getattr(bpy.context.window_manager.operators[-1].properties, name) != chosen:
                self._event("WHEELDOWNMOUSE", "PRESS", ctrl=True)
                yield
                yield
        self.picture(name)
        yield from self.key("ESC")

    def picture(self, name: str, part: Rectangle | None = None) -> Path:
        """Photograph the screen, or a part of it. Blender's own screenshot is black where OpenGL is software."""
        path = self.pictures / f"{self.scenario}-{name}.png"
        if which("import"):
            how = ["-quality", "10"]  # large files, soon written
            subprocess.run(["import", "-window", "root", *self._cropping(part), *how, str(path)], check=True)
        else:
            with bpy.context.temp_override(window=self.window):
                bpy.ops.screen.screenshot(filepath=str(path))
        return path

    def _cropping(self, part: Rectangle | None) -> list[str]:
        if part is None:
            return []
        x, y, width, height = part
        return ["-crop", f"{width}x{height}+{x}+{self.window.height - y - height}", "+repage"]

    def view(self) -> tuple[bpy.types.Area, bpy.types.Region]:
        """The largest 3D view, and its region that shows the scene."""
        area = max(self._views(), key=lambda one: one.width * one.height)
        return area, next(region for region in area.regions if region.type == "WINDOW")

    def place_of_view(self) -> Rectangle:
        """Where the 3D view is."""
        _, region = self.view()
        return region.x, region.y, region.width, region.height

    def to_the_middle(self) -> Steps:
        """Move the mouse to the middle of the 3D view."""
        x, y, width, height = self.place_of_view()
        return self.move((x + width // 2, y + height // 2))

    def _views(self) -> list[bpy.types.Area]:
        return [area for area in self.window.screen.areas if area.type == "VIEW_3D"]

    def open_sidebar(self) -> Steps:
        """Open the 3D view's sidebar on the panel's tab."""
        area, _ = self.view()
        area.spaces.active.show_region_ui = True
        yield
        self.sidebar()[1].active_panel_category = "Item"
        yield

    def hover(self, name: str, across: float = 0.5) -> Steps:
        """Move the mouse over the field in the sidebar that shows the property of this name."""
        return self._search(across, lambda: _property_under_mouse().endswith(name), name)

    def hover_button(self, command: str, across: float = 0.85) -> Steps:
        """Move the mouse over the button in the sidebar that does this, as Python would; by default at its right."""
        return self._search(across, lambda: _command_under_mouse() == command, command)

    def _search(self, across: float, is_there: Callable[[], bool], name: str) -> Steps:
        """Move the mouse where this was found before, then up and down in the sidebar, from where it is on, until it is
        over what is looked for."""
        area, region = self.sidebar()
        x, near, known = region.x + round(across * region.width), self.mouse[1], FOUND.setdefault(name, [])
        region.tag_redraw()  # what a script selected shows when something draws the panel
        yield
        all_heights = sorted({near, *range(region.y, region.y + region.height, STEP)}, key=lambda y: abs(y - near))
        for y in (*known, *all_heights):
            yield from self.move((x, y))
            with bpy.context.temp_override(window=self.window, area=area, region=region):
                is_found = is_there()
            if is_found:
                if y not in known:
                    off_its_edge = STEP // 3 if y > near else -(STEP // 3) if y < near else 0
                    yield from self.move((x, y + off_its_edge))
                    known.append(self.mouse[1])
                return
        raise LookupError(f"The sidebar does not show '{name}'")

    def drag(self, by: int, last: str = "") -> Steps:
        """Press the mouse's button, move to the right, maybe press a ``last`` key, and release the button."""
        x, y = self.mouse
        self._event("LEFTMOUSE", "PRESS")
        yield
        for part in (4, 2, 1):
            yield from self.move((x + by // part, y))
        if last:
            yield from self.key(last)
        self._event("LEFTMOUSE", "RELEASE")
        yield
        yield from self.move((x, y))

    def sidebar(self) -> tuple[bpy.types.Area, bpy.types.Region]:
        """The 3D view, and its region that has the panels."""
        area, _ = self.view()
        return area, next(region for region in area.regions if region.type == "UI")

    def on_screen(self, location: Vector) -> Point:
        """Where the 3D view shows this point of the world."""
        area, region = self.view()
        x, y = location_3d_to_region_2d(region, area.spaces.active.region_3d, location)
        return region.x + round(x), region.y + round(y)

    def _press(self, name: str, text: str | None = None, **held: bool) -> None:
        self._event(name, "PRESS", unicode=text, **held)
        self._event(name, "RELEASE", **held)

    def _event(self, kind: str, value: str, **more) -> None:
        x, y = self.mouse
        self.window.event_simulate(type=kind, value=value, x=x, y=y, **more)


def _property_under_mouse() -> str:
    """The path of the property whose field the mouse is over in the context's region."""
    shown = bpy.context.property
    return shown[1].strip('"[]') if shown else ""


def _command_under_mouse() -> str:
    """What the button does that the mouse is over, as Python."""
    if not bpy.ops.ui.copy_python_command_button.poll():
        return ""
    bpy.ops.ui.copy_python_command_button()
    return bpy.context.window_manager.clipboard
