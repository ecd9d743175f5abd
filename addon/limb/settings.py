"""What can be set on a limb: the one list of names, kinds, defaults and limits.

Sliders animate: they are custom properties of the limb's last bone, with names that read well without the extension.
Choices do not animate: they are kept in the bone's group ``planar_ik`` and become part of the mechanism.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

COLLECTION = "Planar IK"
"""The bone collection that has all others that are made here in it."""

CONSTRAINT_NAME = "Planar IK"
"""The name of the muted IK constraint that makes a bone the last of a limb. What the names of the limb's other
constraints begin with, too: `MADE_BY_US`."""

MADE_BY_US = "Planar IK "

GROUP = "planar_ik"
"""The custom property of the last bone that holds the choices and the reference shape."""

VERSION = 1
"""What is kept of limbs, and made for them, is of this version: see `rigging.state` for limbs of another."""

VERSION_KEY = "version"
"""What the group calls it."""

SEGMENT_MARK = "planar_ik_segment"
"""The custom property that marks the bones at which a limb's segments begin."""

TIP = "planar_ik_tip"
"""The custom property that marks the foot or hand below a limb, where its tip is."""

MADE_FOR_LIMB = "planar_ik.part"
"""The custom property of bones that were made for a limb: parts of a mechanism, and controls."""

CONVERTED_FROM = "converted_from"
"""The entry of a converted limb's group that says what its constraints were set to before, as JSON: ``chain_count``
and ``mute`` of each by name; ``acting``, the name of the one that posed it; the data paths of ``muted_drivers``, which
muted them; and ``on_foot`` where the bone below the limb has them."""

PLANES = ("HINGE", "FREE", "POLE", "SLIDE")
IN_ONE_PLANE = ("HINGE", "SLIDE")
"""The planes that the limb itself stays in: nothing swivels there."""
MOVES_ROOT = ("SLIDE",)
"""Those in which IK moves the limb's first joint."""

TIPS = ("FOOT", "TAIL")
VOLUMES = ("LENGTH", "UNIFORM", "VOLUME")


ALL = -1
"""The place of a slider that is set for all bones of a limb at once."""


TURN_LIMITS = (-40.0, 40.0)
"""Between which radians turns are that may go around."""


class Slider(NamedTuple):
    """A setting that animates. ``limits`` are None for a checkbox; ``is_feature`` says that the property is there only
    while the limb has the feature. Where ``bone`` is not `ALL`, the property has a value for each bone of the limb, and
    this is that of the bone at that place, from the root down."""

    name: str
    key: str
    default: float | bool
    limits: tuple[float, float] | None
    subtype: str
    description: str
    is_feature: bool = False
    bone: int = ALL

    @property
    def label(self) -> str:
        """What a field of it says."""
        return self.key.removeprefix("IK ")

    @property
    def path(self) -> str:
        """Its data path from the limb's last bone."""
        return f'["{self.key}"]'


TWISTS = tuple(
    Slider(
        f"twist {place + 1}",
        "IK Twist",
        0.0,
        TURN_LIMITS,
        "ANGLE",
        "Turn each bone about its own line; the joints stay",
        is_feature=True,
        bone=place,
    )
    for place in range(4)
)
"""By how much each bone of a limb is turned about the line from its joint to the next."""

SLIDERS = (
    Slider("influence", "IK Influence", 1.0, (0.0, 1.0), "FACTOR", "Blend between FK (0) and IK (1)"),
    Slider("flip", "IK Flip", False, None, "NONE", "Bend to the other side"),
    Slider("swivel", "IK Swivel", 0.0, TURN_LIMITS, "ANGLE", "Turn the knee around the limb"),
    Slider(
        "softness",
        "IK Softness",
        0.0,
        (0.0, 1.0),
        "FACTOR",
        "How early the limb slows before it is straight, as a share of its length (no knee pop)",
        is_feature=True,
    ),
    Slider(
        "stretch",
        "IK Stretch",
        0.0,
        (0.0, 1.0),
        "FACTOR",
        "How much the bones lengthen towards a target out of reach",
        is_feature=True,
    ),
    Slider(
        "ankle",
        "IK Ankle",
        0.0,
        (-math.pi, math.pi),
        "ANGLE",
        "Turn the last bone of three or four; the tip stays",
        is_feature=True,
    ),
    Slider("pole", "IK Pole", True, None, "NONE", "Let the pole turn the knee", is_feature=True),
    Slider(
        "roll",
        "IK Roll",
        0.0,
        (-math.pi, math.pi),
        "ANGLE",
        "Roll the foot: below 0 on the heel, above it on the ball, then on the toe",
        is_feature=True,
    ),
    Slider(
        "bank",
        "IK Bank",
        0.0,
        (-math.pi, math.pi),
        "ANGLE",
        "Tilt the foot: above 0 on the outer edge of its sole, below 0 on the inner",
        is_feature=True,
    ),
    Slider(
        "pole_follow",
        "IK Pole Follow",
        0.0,
        (0.0, 1.0),
        "FACTOR",
        "How far the pole goes with the target: 0 with the root, 1 with the target",
        is_feature=True,
    ),
    *TWISTS,
)

_BY_NAME = {slider.name: slider for slider in SLIDERS}


def every_slider() -> tuple[Slider, ...]:
    """All settings that animate, in the order of a panel."""
    return SLIDERS


def slider_of(name: str) -> Slider:
    """A setting that animates, by its name."""
    return _BY_NAME[name]


FEATURE_KEYS = tuple(dict.fromkeys(slider.key for slider in SLIDERS if slider.is_feature))
"""The custom properties that a limb has only while it has the feature."""

CHOICES: dict[str, Any] = {
    "plane": "FREE",
    "tip": "FOOT",
    "stretch_max": 2.0,
    "stretch_volume": "LENGTH",
    "min_angle": 0.0,
    "max_angle": math.pi,
    "root_min_angle": -math.pi,
    "root_max_angle": math.pi,
    "break_angle": math.pi / 4.0,
}
"""The settings that do not animate, with their defaults."""

MEANINGS = {
    "plane": "The plane that the limb bends in",
    "tip": "What goes to the target: where the foot or hand below begins, or the last bone's tail",
    "stretch_max": "How many times its length the limb may have",
    "stretch_volume": "How thick the bones are while they are longer",
    "min_angle": "The smallest angle inside the knee, in radians",
    "max_angle": "The largest angle inside the knee, in radians",
    "root_min_angle": "The least turn of a hinge's first bone from rest, in radians: above 0 to where the knee points",
    "root_max_angle": "The largest such turn, in radians",
    "break_angle": "The roll from which on the foot rolls on its toe, in radians",
}
"""What each of them says, with its unit."""

ALLOWED = {
    "plane": PLANES,
    "tip": TIPS,
    "stretch_volume": VOLUMES,
    "stretch_max": (1.0, 100.0),
    "min_angle": (0.0, math.pi),
    "max_angle": (0.0, math.pi),
    "root_min_angle": (-math.pi, math.pi),
    "root_max_angle": (-math.pi, math.pi),
    "break_angle": (0.0, math.pi),
}
"""What a choice may be: one of several words, or a number from the first to the second."""

UNLIMITED = math.pi - 1e-6
"""The largest angle in single precision that is still no limit."""


FORMS: dict[str, tuple[int, ...] | type] = {
    "segments": (2, 3, 4),
    "constraint": str,
    "tip": str,
    "tip_at": (3,),
    "bend_axis": (3,),
    "reference_rotations": (8, 12, 16),
    "kept_on": (2,),
    "aligned": (1, 2, 3),
    VERSION_KEY: int,
    CONVERTED_FROM: str,
}
"""What has to be of a type in a limb's group, or so many numbers, for the limb to be read."""


def has_first_limits(choices: dict[str, Any]) -> bool:
    """Whether the first joint of a limb has limits."""
    low, high = choices["root_min_angle"], choices["root_max_angle"]
    return bool(low > -UNLIMITED or high < UNLIMITED)
