"""What the sidebar says, measured where it is drawn: which words do not fit at the width that it has by default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import blf
import bpy
from hand import Hand
from leg import (
    animate,
    away,
    done,
    limb,
    limbs,
    motion,
    new_file,
    open_limb,
    open_panels,
    pictured,
    rig,
    save_and_open,
    scroll,
    select,
)
from shown import BOOM

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

RIGS_ADDED: dict[str, Any] = {
    "leg": (rigs.biped, "shin.L"),
    "arm": (rigs.biped, "forearm.L"),
    "keyed": (rigs.biped, "shin.L"),
    "puppet": (characters.puppet, "shin.L"),
    "boom": (lambda: rigs.rig({name: bone for name, bone in BOOM.items() if name != "Bone.002"}), "Bone.001"),
}
"""Rigs, and what is clicked of them, for Add to ask about."""

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
            made = found(*(vars(each)["real"] if isinstance(each, Drawing) else each for each in args), **options)
            if name == "panel":
                return tuple(self._part(each) if each else None for each in made)
            if name in ("row", "column", "split", "box"):
                return self._part(made, name in ("row", "split"), options.get("factor", 0.0))
            if name in ("label", "operator", "prop", "menu", "prop_decorator"):
                self.parts.append(words_of(name, args, options, made))
            return made

        return draw

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.real, name, value)

    def _part(self, real: Any, *shape: Any) -> Measured:
        self.parts.append(part := Measured(real, *shape))
        return part

    def commands(self) -> list[tuple[str, str]]:
        """The words of buttons, and what these do, as Python."""
        parts = [part.commands() if isinstance(part, Measured) else [(part.text, part.command)] for part in self.parts]
        return [pair for pairs in parts for pair in pairs if pair[1]]

    def drawn(self) -> list[str]:
        """The words of labels, buttons and fields, in order."""
        return [word for part in self.parts for word in (part.drawn() if isinstance(part, Measured) else [part.text])]

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


class Drawing:
    """An operator or a panel that draws itself in a layout that is measured."""

    def __init__(self, real: Any, layout: Measured) -> None:
        vars(self).update(real=real, layout=layout)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


class Words:
    """A label, a button or a field."""

    def __init__(self, text: str, icon: bool = False, name: str = "", given: Any = None) -> None:
        self.text, self.icon, self.wanted = text, icon, UNIT * (10.0 if text else 1.0)
        self._name, self._given = name, given

    @property
    def command(self) -> str:
        """What a button does, as Blender copies it."""
        if not self._name:
            return ""
        own = [each.identifier for each in self._given.bl_rna.properties if each.identifier != "rna_type"]
        names = [name for name in own if self._given.is_property_set(name)]
        values = {name: getattr(self._given, name) for name in names}
        said = ", ".join(
            f"{name}={value:g}" if type(value) is float else f"{name}={value!r}" for name, value in values.items()
        )
        return f"bpy.ops.{self._name}({said})"

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
        prop = None if custom else getattr(owner, "properties", owner).bl_rna.properties[path]  # an operator's
        value = owner[path.strip('"[]')] if custom else getattr(owner, path)
        text = options.get("text", path.strip('"[]') if prop is None else prop.name)
        if isinstance(value, bool | str):
            return Words(text, True)
        subtype = owner.id_properties_ui(path.strip('"[]')).as_dict()["subtype"] if custom else prop.subtype
        return Words(f"{text} {WIDEST.get(subtype, '0.000')}", icon)
    text = options.get("text", args[0].rpartition(".")[2] if kind == "operator" and args else "")
    if kind == "operator" and "text" not in options:
        text = made.bl_rna.name
    return Words(text, icon, args[0] if kind == "operator" else "", made)


def press(hand: Hand, label: str, which: int = 0) -> Iterator[None]:
    """Press the button of the sidebar that says this, or the one after it of those that say so."""
    found: list[str] = []
    classes = [*installed.addon("ui.panel").CLASSES, *installed.addon("ui.panel").CLASSES[:3]]
    with measured(classes, lambda layout: found.extend(what for said, what in layout.commands() if said == label)):
        hand.sidebar()[1].tag_redraw()
        yield
        yield
    command = [*dict.fromkeys(found)][which]
    for across in (0.3, 0.5, 0.75):
        try:
            yield from hand.hover_button(command, across)
        except LookupError:
            if across == 0.75:
                raise
        else:
            break
    yield from hand.key("LEFTMOUSE")
    yield


def fits(hand: Hand) -> Iterator[Any]:
    """What does not fit in our panels, of every kind of limb with all that it can have, all parts open."""
    open_panels()
    found: dict[str, list[str]] = {}
    classes = [*installed.addon("ui.panel").CLASSES, *installed.addon("ui.panel").CLASSES[:3]]
    cut: list[str] = []
    with measured(classes, lambda layout: cut.extend(layout.cut(hand.sidebar()[1].width - EDGES))):
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
    return found


@contextmanager
def measured(classes: list[Any], look: Callable[[Measured], None]) -> Iterator[None]:
    """Have each layout that these draw be looked at, while Blender has it."""
    given = [(cls, cls.draw) for cls in classes]

    def looking(draw: Any) -> Any:
        def drawn(self: Any, context: Any) -> None:
            layout = Measured(self.layout)
            draw(Drawing(self, layout), context)
            look(layout)

        return drawn

    for cls, draw in given:
        cls.draw = looking(draw)
    try:
        yield
    finally:
        for cls, draw in given:
            cls.draw = draw


def asks_for_what_can_be_had(hand: Hand) -> Iterator[Any]:
    """F9 after Add: the names of its fields, by rig; and of one with keys."""
    found: dict[str, list[str]] = {}
    drawn: list[str] = []

    def look(layout: Measured) -> None:
        drawn[:] = layout.drawn()

    with measured([installed.addon("ui.operators.adding").POSE_OT_planar_ik_add], look):
        for name, (make, clicked) in RIGS_ADDED.items():
            yield from new_file(hand)
            make().name = "rig"
            rigs.activate(bpy.data.objects["rig"])
            if name == "keyed":
                for frame, turn in ((1, 0.97), (20, 0.9)):
                    rig().pose.bones["shin.L"].rotation_quaternion.w = turn
                    rig().pose.bones["shin.L"].keyframe_insert("rotation_quaternion", frame=frame)
            yield from save_and_open(hand, f"asks {name}")
            select(clicked)
            yield from hand.to_the_middle()
            yield from hand.choose("Add Planar IK")
            yield from done(hand)
            yield from hand.key("F9")
            yield
            yield from hand.move((hand.mouse[0] + 60, hand.mouse[1] + 20))
            hand.picture(name)
            found[name] = [*drawn]
            yield from hand.key("ESC")
    return found


def snaps(hand: Hand) -> Iterator[Any]:
    """The buttons that say so: what each has moved in this frame, of the bones and of the controls; then their ranges,
    each after what it reads was animated: how far FK is off IK in any frame, before and after."""
    open_panels()
    yield from open_limb(hand, "RIG", plane="POLE")
    yield from hand.open_sidebar()
    yield from scroll(hand)
    found: dict[str, Any] = {}
    for label in ("Snap FK to IK", "Snap IK to FK"):
        before = own_channels()
        yield from press(hand, label)
        after = own_channels()
        found[label] = {name: away([one], [after[name]]) for name, one in before.items()}
        for name in ("thigh.L", "shin.L"):  # FK elsewhere than IK
            rig().pose.bones[name].rotation_quaternion = (0.98, 0.2, 0.0, 0.0)
        bpy.context.view_layer.update()
        bpy.ops.ed.undo_push(message=label)
    animate()
    for which in (1, 0):  # FK's is the second
        if which == 0:
            for frame in (1, 40):
                rig().pose.bones["thigh.L"].rotation_quaternion = (0.9, 0.3 + 0.002 * frame, 0.0, 0.0)
                rig().pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=frame)
        bpy.ops.ed.undo_push(message="Animate")
        found[f"range {which}"] = [apart()]
        yield from press(hand, "Range…", which)
        yield
        hand.picture(f"range{which}")
        yield from hand.key("RET")
        yield from done(hand)
        found[f"range {which}"].append(apart())
    return found


def apart() -> float:
    """How far FK is off IK in any frame of the animation."""
    shown = []
    for share in (0.0, 1.0):
        limb().influence = share
        shown.append(motion())
    return max(map(away, *shown))


def own_channels() -> dict[str, list[float]]:
    """Where the channels of a leg's bones and its target stand in the file."""
    bones = rig().pose.bones
    turns = {name: [*bones[name].rotation_quaternion][1:] for name in ("thigh.L", "shin.L")}
    return turns | {name: [*bones[name].location] for name in ("foot_ik.L", "knee_pole.L")}
