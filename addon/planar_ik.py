"""``pose_bone.planar_ik``: everything of a limb by one name, for scripts. It only calls what the rooms below it do.

It is a plain Python property of the class PoseBone, which costs rigs without limbs nothing: a property group there
would make Blender 4.5 compare it for every bone of every library override."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty
from bpy.types import PoseBone

from .limb import settings, spec
from .limb.features import BY_NAME
from .limb.settings import ALLOWED, CHOICE, CHOICES, every_slider, slider_of, to_word
from .limb.storage import choices_of, is_limb, mode_of, read_slider, segments_of
from .tasks import modes, setting
from .tasks.status import Status, side_now, status_now


class PlanarIK:
    """The limb of which a pose bone is the last bone, if it is one."""

    __slots__ = ("bone",)

    bone: PoseBone

    def __init__(self, bone: PoseBone) -> None:
        object.__setattr__(self, "bone", bone)

    def __repr__(self) -> str:
        return f"<planar_ik of {self.bone!r}: {'limb' if self.enabled else 'no limb'}>"

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(getattr(type(self), name, None), property):
            raise AttributeError(f"planar_ik has no setting '{name}'")
        object.__setattr__(self, name, value)

    @property
    def enabled(self) -> bool:
        """Whether the limb is there; setting it adds or removes the muted constraint, and all of ours with it."""
        return is_limb(self.bone)

    @enabled.setter
    def enabled(self, value: bool) -> None:
        setting.set_enabled(self.bone, value)

    @property
    def chain_count(self) -> int:
        """How many bones the limb has, twist bones included: 2 to 4."""
        return sum(segments_of(self.bone))

    @chain_count.setter
    def chain_count(self, value: int) -> None:
        setting.set_chain_count(self.bone, value)

    @property
    def twist(self) -> tuple[float, ...]:
        """By how much each bone is turned about its own line, in radians, from the root down; the joints stay."""
        return tuple(read_slider(self.bone, name) for name in BY_NAME["twist"].keys[: len(segments_of(self.bone))])

    @twist.setter
    def twist(self, value: Any) -> None:
        setting.set_twist(self.bone, value)

    @property
    def mode(self) -> str:
        """What poses the limb: ``RIG`` or ``LIVE``."""
        return mode_of(self.bone)

    @mode.setter
    def mode(self, value: str) -> None:
        setting.check_settable(self.bone, "mode")
        modes.set_mode(bpy.context, [self.bone], to_word("mode", value, ("RIG", "LIVE")))

    @property
    def status(self) -> Status:
        """What became of the limb, all of it at once."""
        return status_now(bpy.context, self.bone)

    @property
    def reach(self) -> str:
        """How the target was reached: ``REACHED``, ``TOO_FAR``, ``TOO_NEAR``, ``LIMITED``,
        ``INVALID``."""
        return self.status.reach.name if self.enabled else "INVALID"

    @property
    def residual(self) -> float:
        """The distance from tip to target in the evaluated pose, in scene units."""
        return self.status.residual if self.enabled else 0.0

    @property
    def side(self) -> int:
        """Which way it bends in the evaluated pose, counted from the front: 1 against the clock, -1 with it."""
        return side_now(bpy.context, self.bone) if self.enabled else 0

    @property
    def message(self) -> str:
        """What became of the limb, as a sentence."""
        return self.status.message if self.enabled else ""


FOLLOWED = {
    "target": "What the tip follows",
    "subtarget": "What the tip follows",
    "pole_target": "Where the knee points",
    "pole_subtarget": "Where the knee points",
}


def _followed(name: str) -> property:
    """A setting of the IK constraint: what the limb follows."""

    def write(limb: PlanarIK, value: Any) -> None:
        setting.set_followed(limb.bone, name, value)

    return property(lambda limb: setting.read_followed(limb.bone, name), write, doc=FOLLOWED[name])


def _slider(name: str) -> property:
    """A setting that animates: a custom property."""

    def write(limb: PlanarIK, value: Any) -> None:
        setting.set_slider(limb.bone, name, value)

    slider = slider_of(name)
    doc = _said(slider.description, slider.subtype == "ANGLE", slider.limits)
    return property(lambda limb: read_slider(limb.bone, name), write, doc=doc)


def _choice(name: str) -> property:
    """A setting that does not animate."""

    def write(limb: PlanarIK, value: Any) -> None:
        setting.set_choices(limb.bone, {name: value})

    return property(
        lambda limb: choices_of(limb.bone)[name],
        write,
        doc=_said(CHOICE[name].description, name.endswith("angle"), ALLOWED[name]),
    )


def _said(description: str, is_angle: bool, allowed: Any) -> str:
    """What a setting says, in which unit, and what it may be."""
    span = ""
    if allowed:
        span = " or ".join(allowed) if isinstance(allowed[0], str) else f"from {allowed[0]:.4g} to {allowed[1]:.4g}"
    return ", ".join(filter(None, (description, "in radians" if is_angle else "", span)))


SET_FOR_ALL = [slider.name for slider in every_slider() if slider.bone == spec.ALL]

for _names, _make in ((FOLLOWED, _followed), (SET_FOR_ALL, _slider), (CHOICES, _choice)):
    for _name in _names:
        setattr(PlanarIK, _name, _make(_name))


POSE_BONE: Any = bpy.types.PoseBone


MARKS: tuple[tuple[Any, str, Any], ...] = (
    (POSE_BONE, settings.LIMB_MARK, StringProperty),
    (POSE_BONE, settings.SEGMENT_MARK, IntProperty),
    (POSE_BONE, settings.TIP, BoolProperty),
    *((bpy.types.Bone, name, StringProperty) for name in (settings.MADE_FOR_LIMB, settings.SPEC)),
    *((bpy.types.EditBone, name, StringProperty) for name in (settings.MADE_FOR_LIMB, settings.SPEC)),
)
"""What is kept on bones: on which type of these, its name, and what makes it."""


def register() -> None:
    """Give the class PoseBone its property, and the types of bones those that mark them."""
    POSE_BONE.planar_ik = property(PlanarIK)
    for kind, name, make in MARKS:
        setattr(kind, name, make(options={"HIDDEN"}))


def unregister() -> None:
    """Take them away."""
    del POSE_BONE.planar_ik
    for kind, name, _ in MARKS:
        delattr(kind, name)
