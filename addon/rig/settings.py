"""What an animator sets on a chain: the one list of names, kinds and defaults.

The settings that animate are registered on the pose bone itself, as ``planar_ik_influence`` and so on: Blender sets
keys, draws drivers and copies data paths only of what it finds a path to, and it finds none to a bone's property group.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from bpy.props import BoolProperty, EnumProperty, FloatProperty
from bpy.types import PoseBone

PREFIX = "planar_ik_"
"""What a setting's name begins with on the pose bone."""

ON_RIG = "planar_ik."
"""What it begins with in the custom properties of a chain that runs on the rig, which work without the extension."""

PART = "planar_ik.part"
"""The custom property that tells the bones that were made for such chains, and says what they are for."""

CONSTRAINT = "Planar IK"
"""What the names of the constraints begin with by which a limb's bones copy what such a chain makes of them."""

MADE = "planar_ik_made"
"""The custom property of an empty or a control bone that was made for a chain, and goes with it."""

OVERRIDABLE: set[Literal["LIBRARY_OVERRIDABLE"]] = {"LIBRARY_OVERRIDABLE"}


class Setting(NamedTuple):
    """One that animates: its name, the function of `bpy.props` that makes it, its default, what else that wants."""

    name: str
    make: Callable[..., Any]
    default: Any
    options: dict[str, Any]

    @property
    def is_number(self) -> bool:
        """Whether it is one that may have any value in a range."""
        return self.make is FloatProperty

    @property
    def is_choice(self) -> bool:
        """Whether it is one that has one of several values, each of which Blender stores as a number."""
        return self.make is EnumProperty

    def on_bone(self, tell: Callable[[PoseBone, str], None]) -> Any:
        """The property as it is registered on the pose bone; ``tell`` is told of a bone and this name after it was
        set."""
        return self.make(
            default=self.default,
            update=lambda bone, _context: tell(bone, self.name),
            override=OVERRIDABLE,
            **self.options,
        )

    def elsewhere(self, get: Callable[[Any], Any], set: Callable[[Any, Any], None]) -> Any:  # noqa: A002 as Blender's
        """A property that reads and sets it through functions."""
        return self.make(default=self.default, get=get, set=set, **self.options)

    def number_of(self, value: Any) -> Any:
        """What Blender stores for a value: for one of several choices, its number."""
        if not self.is_choice:
            return value
        return next(item[-1] for item in self.options["items"] if item[0] == value)

    def value_of(self, number: Any) -> Any:
        """The value of what Blender stores."""
        if not self.is_choice:
            return number
        return next((item[0] for item in self.options["items"] if item[-1] == number), self.default)


def _factor(name: str, label: str, description: str, default: float = 0.0, least: float = 0.0) -> Setting:
    options = {"name": label, "description": description, "min": least, "max": 1.0, "subtype": "FACTOR"}
    return Setting(name, FloatProperty, default, options)


def _angle(name: str, label: str, description: str, default: float = 0.0, **limits: float) -> Setting:
    options = {"name": label, "description": description, "subtype": "ANGLE", **limits}
    return Setting(name, FloatProperty, default, options)


def _choice(name: str, label: str, description: str, *items: tuple[str, str, str, int]) -> Setting:
    """One of several, the first of which is the default; stored by number."""
    return Setting(
        name,
        EnumProperty,
        items[0][0],
        {
            "name": label,
            "description": description,
            "items": [(value, word, tip, "NONE", number) for value, word, tip, number in items],
        },
    )


SETTINGS = (
    Setting(
        "enabled",
        BoolProperty,
        False,
        {
            "name": "Enabled",
            "description": "Pose this bone and its parent so that this bone's tail goes to the target",
        },
    ),
    _choice(
        "plane",
        "Plane",
        "The plane that the limb bends in",
        ("REST", "Hinge", "The plane of the limb at rest; a target beside it is projected onto it", 0),
        ("SWING", "Free", "The plane of the limb at rest, swung the shortest way to where the target is", 2),
        ("POLE", "Pole", "The plane through root, target and pole", 1),
    ),
    _factor(
        "bend",
        "Bend Side",
        "Side of the line from root to target on which the knee lies: 1 as at rest or towards the pole, -1 the mirror "
        "image; between them the knee swings round the line",
        1.0,
        -1.0,
    ),
    _angle("hinge_angle", "Hinge Angle", "Turn of the axis that the limb bends about, round the upper bone at rest"),
    _angle("lower_twist", "Lower Twist", "Turn of the lower bone about its own length, besides what bends the limb"),
    _angle("pole_angle", "Pole Angle", "Turn of the knee off the pole, about the line from root to target"),
    _factor("influence", "Influence", "0 = FK, 1 = IK: share of the solution in the bones' own pose", 1.0),
    _factor("softness", "Softness", "Part of the limb's length over which it eases into full extension"),
    _factor("stretch", "Stretch", "How far the bones lengthen past reach"),
    Setting(
        "stretch_max",
        FloatProperty,
        2.0,
        {
            "name": "Stretch Limit",
            "description": "Largest factor by which the bones lengthen",
            "min": 1.0,
            "soft_max": 4.0,
        },
    ),
    _choice(
        "stretch_volume",
        "Stretch Volume",
        "What becomes of the bones' width while they lengthen",
        ("LENGTH", "Length", "Only the length changes", 0),
        ("UNIFORM", "Uniform", "The width changes with the length", 1),
        ("VOLUME", "Volume", "The bones get thinner and keep their volume", 2),
    ),
    _angle("min_angle", "Min Knee Angle", "Smallest inner angle of the knee", 0.0, min=0.0, max=math.pi),
    _angle("max_angle", "Max Knee Angle", "Largest inner angle of the knee", math.pi, min=0.0, max=math.pi),
)
"""All settings that animate, in the order in which they are documented."""

NAMES = tuple(setting.name for setting in SETTINGS)
SWITCH = NAMES[0]
SHAPING = NAMES[1:]
"""The names of those that say how a chain is posed, and so are copied to another."""

NUMBERS = tuple(setting.name for setting in SETTINGS if setting.is_number)
"""The names of those that may have any value in a range."""

CHOICES = tuple(setting.name for setting in SETTINGS if setting.is_choice)
"""The names of those that have one of several values."""

IN_SHAPE = ("hinge_angle", "lower_twist", "pole_angle")
"""The names of those that are part of the limb's shape; the other numbers are the solver's `Settings`."""

Angles = tuple[float, float, float]
"""Their values, in radians."""

BY_NAME = {setting.name: setting for setting in SETTINGS}

DEFAULTS = {setting.name: setting.default for setting in SETTINGS}


def titled(name: str) -> str:
    """The name of a setting as messages write it."""
    return name.replace("_", " ").capitalize()
