"""What the sidebar says, measured where it is drawn: which words do not fit at the width that it has by default."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import blf
import bpy
from hand import Hand
from leg import new_file, rig, select
from tour import limbs, open_panels, pictured, save_and_open

from scripts import installed, machines
from tests.blender import characters, rigs

UNIT, PADDING, EDGES = 20.0, 12.0, 55.0
"""Pixels at a scale of 1: a button's height, what words have beside them in it, and what of the sidebar's width is its
edges and tabs."""


def with_all(clicked: tuple[str, ...]) -> None:
    """Add IK to what is selected, and all that it can have, each at what takes the most room."""
    bpy.ops.pose.planar_ik_add()
    for name in ("foot_roll", "twist", "softness", "stretch", "pole_follows"):
        with suppress(RuntimeError):  # what this limb can't have
            bpy.ops.pose.planar_ik_set(**{name: True})
    bpy.ops.ed.undo_push(message="All of it")


RIGS: dict[str, Any] = {
    "biped": (rigs.biped, ("shin.L", "forearm.R")),
    "puppet": (characters.puppet, ("forearm.L",)),
    "wolf": (lambda: characters.metarig("wolf"), ("foot.L",)),
    "piston": (lambda: machines.build("piston", machines.ENGINE, (0.0, 0.0, 0.0), False), ("piston rod",)),
}
"""Rigs, and the last bones of limbs of theirs."""

WIDEST = {"ANGLE": "-180°", "FACTOR": "0.000"}
"""The most that a field of some kind shows."""


class Measured:
    """A layout that draws, and keeps what it drew: Blender gives each thing in a row as much more or less than it wants
    (ten units, one for an icon) as the row has."""

    def __init__(self, real: Any, across: bool = False, factor: float = 0.0) -> None:
        vars(self).update(real=real, across=across, factor=factor, parts=[])

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.real, name)
        if not callable(found):
            return found

        def draw(*args: Any, **options: Any) -> Any:
            made = found(*args, **options)
            if name in ("row", "column", "split", "box"):
                self.parts.append(part := Measured(made, name in ("row", "split"), options.get("factor", 0.0)))
                return part
            if name in ("label", "operator", "prop", "menu", "prop_decorator"):
                self.parts.append(words_of(name, args, options, made))
            return made

        return draw

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.real, name, value)

    @property
    def wanted(self) -> float:
        """How wide it would be."""
        sizes = [part.wanted for part in self.parts] or [0.0]
        return self.real.ui_units_x * UNIT or (sum(sizes) if self.across else max(sizes))

    def cut(self, width: float) -> Iterator[str]:
        """What does not fit if it is so wide."""
        if self.real.alignment != "EXPAND":
            return
        total = sum(part.wanted for part in self.parts)
        shares = [part.wanted / total if self.across and total else 1.0 for part in self.parts]
        if self.factor:
            shares = [self.factor, *len(self.parts[1:]) * [(1.0 - self.factor) / max(len(self.parts) - 1, 1)]]
        for part, share in zip(self.parts, shares, strict=True):
            yield from part.cut(share * width)


class Words:
    """A label, a button or a field."""

    def __init__(self, text: str, icon: bool = False) -> None:
        self.text, self.icon, self.wanted = text, icon, UNIT * (10.0 if text else 1.0)

    def cut(self, width: float) -> Iterator[str]:
        """Itself, if it does not fit."""
        blf.size(0, 11.0)
        need = blf.dimensions(0, self.text)[0] + PADDING + UNIT * self.icon
        if self.text and need > width:
            yield f"{self.text}: {need:.0f} of {width:.0f}"


def words_of(kind: str, args: tuple[Any, ...], options: dict[str, Any], made: Any) -> Words:
    """What a label, a button or a field shows."""
    if kind == "prop_decorator":
        return Words("")
    icon = options.get("icon", "NONE") not in ("NONE", "") or bool(options.get("icon_value"))
    if kind == "prop":
        owner, path = args[:2]
        custom = path.startswith("[")
        prop = None if custom else owner.bl_rna.properties[path]
        value = owner[path.strip('"[]')] if custom else getattr(owner, path)
        text = options.get("text", path.strip('"[]') if prop is None else prop.name)
        if isinstance(value, bool | str):
            return Words(text, True)
        subtype = owner.id_properties_ui(path.strip('"[]')).as_dict()["subtype"] if custom else prop.subtype
        return Words(f"{text} {WIDEST.get(subtype, '0.000')}", icon)
    text = options.get("text", args[0].rpartition(".")[2] if kind == "operator" and args else "")
    if kind == "operator" and "text" not in options:
        text = made.bl_rna.name
    return Words(text, icon)


def fits(hand: Hand) -> Iterator[Any]:
    """What does not fit in our panels, of every kind of limb with all that it can have, all parts open."""
    open_panels()
    found: dict[str, list[str]] = {}
    classes = [*installed.addon("ui.panel").CLASSES, *installed.addon("ui.sections").CLASSES[:3]]
    given = [(cls, cls.draw) for cls in classes]
    cut: list[str] = []

    def measuring(cls: Any, draw: Any) -> Any:
        def drawn(self: Any, context: Any) -> None:
            layout = Measured(self.layout)
            draw(SimpleNamespace(layout=layout), context)
            cut.extend(layout.cut(hand.sidebar()[1].width - EDGES))  # while Blender has it

        return drawn

    for cls, draw in given:
        cls.draw = measuring(cls, draw)
    try:
        for name, (make, clicked) in RIGS.items():
            yield from new_file(hand)
            ob = make()
            ob.name = "rig"
            rigs.activate(ob)
            yield from save_and_open(hand, f"fits {name}")
            yield from hand.open_sidebar()
            for bones in ((clicked[0], "root"), clicked, clicked, clicked[:1], (*clicked, "hand_ik.R")):
                select(*(bone for bone in bones if bone in rig().pose.bones))
                if bones is clicked and not limbs():
                    with_all(clicked)
                cut.clear()
                yield from pictured(hand, f"{name}-{len(found)}")
                found[f"{name} {len(found)}"] = [*dict.fromkeys(cut)]
    finally:
        for cls, draw in given:
            cls.draw = draw
    return found
