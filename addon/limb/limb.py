"""``pose_bone.planar_ik``: everything of a limb by one name, for scripts and for the interface.

It is a plain Python property of the class PoseBone, which costs rigs without limbs nothing: a property group there
would make Blender 4.2 and 4.5 compare it for every bone of every library override."""

from __future__ import annotations

from contextlib import AbstractContextManager
from math import isfinite
from typing import Any

import bpy
from bpy.types import Object, PoseBone

from ..blender.transaction import all_or_nothing
from ..blender.types import tag, view_layer_of
from . import home
from .follow import follow_of
from .home import Hooks
from .settings import ALLOWED, CHOICES, GROUP, SLIDER
from .shape import hinge_axis, make_shape
from .sides import keep_side
from .status import Status, status_of
from .tasks.checking import check_planar
from .tasks.feet import refollow
from .tasks.removing import remove
from .whole import concerned
from .words import Refused


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
        return home.is_limb(self.bone)

    @enabled.setter
    def enabled(self, value: bool) -> None:
        ob, name = self.bone.id_data, self.bone.name
        with _wholly(self.bone):
            if value and not self.enabled:
                home.make_home(self.bone)
                choose_plane(self.bone)
            elif not value and GROUP in self.bone:  # type: ignore[operator]
                remove(bpy.context, [self.bone])
            tag(ob.pose.bones[name])

    @property
    def chain_count(self) -> int:
        """How many bones the limb has, twist bones included: 2 to 4."""
        return sum(home.links_of(self.bone))

    @chain_count.setter
    def chain_count(self, value: int) -> None:
        if value not in (2, 3, 4):
            raise Refused("A limb has two to four bones, not {count}", count=value)
        if value == self.chain_count and self.enabled:  # also with twist bones
            return
        links = (1,) * value
        home.check_parents(self.bone, value)
        check_planar(make_shape(self.bone, links))
        _check_structure(self.bone)
        with _wholly(self.bone):
            if not self.enabled:
                self.enabled = True
            home.make_home(self.bone, links)
            group: Any = self.bone[GROUP]
            if "stills" in group:
                del group["stills"]
            key = SLIDER["ankle"].key
            if value == 2 and key in self.bone:  # type: ignore[operator]
                del self.bone[key]
            Hooks.rebuild(self.bone)
            tag(self.bone)

    @property
    def mode(self) -> str:
        """What poses the limb: ``RIG`` or ``LIVE``."""
        mode: str = Hooks.mode(self.bone)
        return mode

    @property
    def status(self) -> Status:
        """What became of the limb, all of it at once."""
        depsgraph = view_layer_of(bpy.context).depsgraph or bpy.context.evaluated_depsgraph_get()
        return status_of(self.bone.id_data.original.pose.bones[self.bone.name], depsgraph)

    @property
    def reach(self) -> str:
        """How the target was reached: ``REACHED``, ``TOO_FAR``, ``TOO_NEAR``, ``LIMITED``, ``OFF_PLANE``,
        ``INVALID``."""
        return self.status.reach.name if self.enabled else "INVALID"

    @property
    def residual(self) -> float:
        """The distance from tip to target in the evaluated pose, in scene units."""
        return self.status.residual if self.enabled else 0.0

    @property
    def message(self) -> str:
        """What became of the limb, as a sentence."""
        return self.status.message if self.enabled else ""


def _wholly(bone: PoseBone) -> AbstractContextManager[None]:
    """What is set on a limb is set wholly or not at all."""
    return all_or_nothing(bpy.context, concerned([bone.id_data]))


def _check_structure(bone: PoseBone) -> None:
    """Refuse what changes more of a limb than sliders where Blender would not keep that."""
    ob = bone.id_data
    if ob.library or ob.override_library or (home.is_limb(bone) and Hooks.mode(bone) == "RIG" and ob.data.library):
        raise Refused("'{rig}' comes from another file: set this there", rig=ob.name)


def _followed(name: str, title: str) -> property:
    """A setting that the home has: what the limb follows."""

    def read(self: PlanarIK) -> Any:
        constraint = home.home_of(self.bone)
        return getattr(constraint, name) if constraint else (None if "sub" not in name else "")

    def write(self: PlanarIK, value: Object | str | None) -> None:
        with _wholly(self.bone):
            if not self.enabled:
                self.enabled = True
            setattr(home.home_of(self.bone), name, value)
            if name == "pole_target" and value is not None and home.choices_of(self.bone)["plane"] != "POLE":
                self.plane = "POLE"
            Hooks.retarget(self.bone)
            refollow(self.bone)
            tag(self.bone)

    return property(read, write, doc=title)


def _slider(name: str) -> property:
    """A setting that animates: a custom property."""
    slider = SLIDER[name]

    def read(self: PlanarIK) -> Any:
        owner: Any = self.bone
        return type(slider.default)(owner.get(slider.key, slider.default))

    def write(self: PlanarIK, value: Any) -> None:
        number = type(slider.default)(value)
        if not isfinite(number):
            raise ValueError(f"{name} is a number, not {value}")
        if slider.limits:
            number = min(max(number, slider.limits[0]), slider.limits[1])
        if name == "ankle" and len(home.links_of(self.bone)) < 3:
            raise Refused("'{bone}' has two bones: limbs of three or four have an ankle", bone=self.bone.name)
        if self.enabled and home.has_slider(self.bone, name):
            self.bone[slider.key] = number
            tag(self.bone)
            return
        _check_structure(self.bone)
        with _wholly(self.bone):
            if not self.enabled:
                self.enabled = True
            is_new = not home.has_slider(self.bone, name)
            if is_new:
                home.make_slider(self.bone, slider)
            self.bone[slider.key] = number
            if is_new:
                home.align(self.bone)
                Hooks.rebuild(self.bone)
            tag(self.bone)

    return property(read, write, doc=slider.description)


def _choice(name: str) -> property:
    """A setting that does not animate: kept in the bone's group, and part of the mechanism."""
    allowed = ALLOWED[name]

    def read(self: PlanarIK) -> Any:
        return home.choices_of(self.bone)[name]

    def write(self: PlanarIK, value: Any) -> None:
        if isinstance(CHOICES[name], str):
            if value not in allowed:
                raise TypeError(f"{name} is one of {', '.join(map(str, allowed))}, not {value!r}")
        else:
            value = float(value)
            if not isfinite(value):
                raise ValueError(f"{name} is a number, not {value}")
            value = min(max(value, allowed[0]), allowed[1])
        if self.enabled and home.choices_of(self.bone)[name] == value:
            return
        _check_structure(self.bone)
        with _wholly(self.bone):
            if not self.enabled:
                self.enabled = True
            self.bone[GROUP][name] = value
            home.align(self.bone)
            Hooks.rebuild(self.bone)
            tag(self.bone)

    return property(read, write, doc=f"{name}: {allowed}")


for _name in ("target", "subtarget", "pole_target", "pole_subtarget"):
    setattr(
        PlanarIK, _name, _followed(_name, "What the tip follows" if "pole" not in _name else "Where the knee points")
    )
for _name in SLIDER:
    setattr(PlanarIK, _name, _slider(_name))
for _name in CHOICES:
    setattr(PlanarIK, _name, _choice(_name))


def choose_plane(last: PoseBone) -> None:
    """Give a new limb the plane that fits what it follows and its rig."""
    axis, group = hinge_axis(last), last[GROUP]
    group["plane"] = "POLE" if follow_of(last).pole else "HINGE" if axis else "FREE"
    if axis:
        group["bend_axis"] = axis
        keep_side(last)


POSE_BONE: Any = bpy.types.PoseBone


def register() -> None:
    """Give the class PoseBone its property."""
    POSE_BONE.planar_ik = property(PlanarIK)


def unregister() -> None:
    """Take it away."""
    del POSE_BONE.planar_ik
