"""The form in which a feature of a limb says all of itself: what is set, what it needs, its share in the solver's
settings and in how a pose is shown, and its parts on a rig. Whoever goes through features goes through the list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..spec import ALL, DriverSpec, Parts, Share, driven

TURN_LIMITS = (-40.0, 40.0)
"""Between which radians turns are that may go around."""


class Slider(NamedTuple):
    """A setting that animates. ``limits`` are None for a checkbox; ``is_feature`` says that the property is there only
    while the limb has the feature. Where ``bone`` is not `ALL`, the property has a value for each bone of the limb, and
    this is that of the bone at that place, from the root down. ``shows_pose`` says that IK shows a pose by it."""

    name: str
    key: str
    default: float | bool
    limits: tuple[float, float] | None
    subtype: str
    description: str
    is_feature: bool = True
    bone: int = ALL
    shows_pose: bool = False

    @property
    def label(self) -> str:
        """What a field of it says."""
        return self.key.removeprefix("IK ")

    @property
    def path(self) -> str:
        """Its data path from the limb's last bone."""
        return f'["{self.key}"]'


INFLUENCE = Slider(
    "influence", "IK Influence", 1.0, (0.0, 1.0), "FACTOR", "Blend between FK (0) and IK (1)", is_feature=False
)


def acting(bone: str, constraint: str, expression: str = "t") -> DriverSpec:
    """A driver that has a constraint act by the influence of the limb."""
    return driven(bone, f'constraints["{constraint}"].influence', -1, expression, "t", INFLUENCE.key)


class Choice(NamedTuple):
    """A setting that does not animate: what it may be (one of several words, or a number from the first to the
    second), what it is called, and what it says; ``items`` are what each word is called, and says."""

    name: str
    default: Any
    allowed: tuple[Any, ...]
    label: str
    description: str
    items: tuple[tuple[str, str], ...] = ()

    @property
    def is_number(self) -> bool:
        """Whether it is one."""
        return not isinstance(self.default, str)

    @property
    def is_angle(self) -> bool:
        """Whether it is one, in radians."""
        return self.name.endswith("angle")


class Making(NamedTuple):
    """What is known where a limb is made: the limb as a value, how long its last bone is, where its tip and its foot
    rest in the armature; and whether its target is a bone of its rig (``is_near``), what its foot follows
    (``is_foot_near``), and whether these hang on one bone (``is_sharing``)."""

    value: Any
    length: float
    tip: Any
    foot_rest: Any
    is_near: bool
    is_foot_near: bool
    is_sharing: bool


class Feature(NamedTuple):
    """What a limb may have. Its ``name`` is that of a setting which adds and removes it, where that has a ``label``.

    ``value`` is the limb as a plain value, see `rigging.description`; ``batch`` its kind as the solver takes it."""

    name: str
    sliders: tuple[Slider, ...] = ()
    choices: tuple[Choice, ...] = ()
    label: str = ""
    description: str = ""
    limits: str = ""  # what the row of its choices is called; none where they stand beside its button
    is_offered: bool = False  # whether its slider is always shown, and adds it as that is moved
    fields: tuple[str, ...] = ()  # what of a value is of it besides its sliders
    least_bones: int = 2  # how many bones a limb has to have for it
    is_usual: bool = False  # whether all such limbs have it from the start
    is_in_mechanism: bool = True  # or made besides
    has_helpers: bool = False  # whether it has helper bones also without a mechanism
    is_had: Callable[[Any], bool] | None = None  # whether a value has it; by its sliders, if nothing else is said
    is_possible: Callable[[Any], bool] = lambda _value: True  # whether it is worth a button
    why_not: Callable[[Any], str] = lambda _value: ""  # why a value that is given it can't have it, with {bone} in it
    check_bones: Callable[[Any, Any], None] = lambda _value, _last_bone: None  # refuses bones that can't have it
    settings: Callable[[Any, dict[str, Any], Any], Any] = lambda settings, _sliders, _batch: settings
    still: Callable[[Sequence[Any]], dict[str, Any]] = lambda _entries: {}  # of these, what does not animate
    shown: Callable[[Any, float], dict[str, Any]] = lambda _inverse, _sign: {}  # sliders that show a pose
    lacking: str = ""  # what is said of a pose that would need these and can't have them, with {bone} in it
    share: Callable[[Any], Share] = lambda _spec: Share()  # what the mechanism of a spec has for it
    made: Callable[[Making], Parts] = lambda _making: Parts()  # and what is made for it besides
    broken: str = ""  # what is said where that is missing, with {bone} in it

    def of(self, value: Any) -> bool:
        """Whether a limb has it."""
        if self.is_had is not None:
            return self.is_had(value)
        return len(value.segments) >= self.least_bones and any(slider.name in value.sliders for slider in self.sliders)

    def is_meant(self, value: Any) -> bool:
        """Whether a limb, by its description, has this feature, or a slider or choice of it that is set."""
        is_set = any(value.choices[choice.name] != choice.default for choice in self.choices)
        return self.of(value) or is_set or any(slider.name in value.sliders for slider in self.sliders)

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of its sliders."""
        return tuple(slider.name for slider in self.sliders)
