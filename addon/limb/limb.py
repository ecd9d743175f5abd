"""``pose_bone.planar_ik``: everything of a limb by one name, for scripts and for the interface.

It is a plain Python property of the class PoseBone, which costs rigs without limbs nothing: a property group there
would make Blender 4.2 and 4.5 compare it for every bone of every library override."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import bpy
from bpy.types import Object, PoseBone

from ..blender.types import view_layer_of
from . import home
from .follow import follow_of
from .settings import ALLOWED, CHOICES, GROUP, SLIDER
from .status import Status, status_of
from .tasks.feet import refollow
from .words import Refused

Answer = Callable[[PoseBone], Any]


class Hooks:
    """What other rooms know of a limb. ``mode`` says what poses it, ``rebuild`` makes its mechanism anew (if it has
    one), ``retarget`` lets the mechanism follow what the home says, ``remove`` takes those of several limbs away."""

    mode: Answer = staticmethod(lambda last: "LIVE")
    rebuild: Answer = staticmethod(lambda last: None)
    retarget: Answer = staticmethod(lambda last: None)
    remove: Callable[[Sequence[PoseBone]], None] = staticmethod(lambda lasts: None)


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
        if value and not self.enabled:
            home.make_home(self.bone)
            choose_plane(self.bone)
        elif not value and GROUP in self.bone:  # type: ignore[operator]
            Hooks.remove([self.bone])
            home.drop_home(self.bone)
        tag(self.bone)

    @property
    def chain_count(self) -> int:
        """How many bones the limb has."""
        return sum(home.links_of(self.bone))

    @chain_count.setter
    def chain_count(self, value: int) -> None:
        if value != 2:
            raise Refused("A limb has two bones: {count} are not possible yet", count=value)

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


def _followed(name: str, title: str) -> property:
    """A setting that the home has: what the limb follows."""

    def read(self: PlanarIK) -> Any:
        constraint = home.home_of(self.bone)
        return getattr(constraint, name) if constraint else (None if "sub" not in name else "")

    def write(self: PlanarIK, value: Object | str | None) -> None:
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
        if not self.enabled:
            self.enabled = True
        is_new = slider.key not in self.bone  # type: ignore[operator]
        if is_new:
            home.make_slider(self.bone, slider)
        self.bone[slider.key] = number
        if is_new:
            _align(self.bone)
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
        if not self.enabled:
            self.enabled = True
        if home.choices_of(self.bone)[name] != value:
            self.bone[GROUP][name] = value
            _align(self.bone)
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


def _align(last: PoseBone) -> None:
    """Let bones that get longer but not as much wider have that each along itself, also while the knee is bent."""
    if SLIDER["stretch"].key in last and home.choices_of(last)["stretch_volume"] != "UNIFORM":  # type: ignore[operator]
        home.align(last)


def choose_plane(last: PoseBone) -> None:
    """Give a new limb the plane that fits what it follows and its rig."""
    axis, group = hinge_axis(last), last[GROUP]
    group["plane"] = "POLE" if follow_of(last).pole else "HINGE" if axis else "FREE"
    if axis:
        group["bend_axis"] = axis


def hinge_axis(last: PoseBone) -> tuple[float, float, float] | None:
    """The normal, in the axes of a limb's last bone, of the plane that all bones of its rig lie in, but those of
    mechanisms, as a cut-out puppet's do; None if they don't."""
    import numpy as np

    bones = last.id_data.data.bones
    ends = np.empty((2, len(bones), 3), np.float32)
    for row, name in zip(ends, ("head_local", "tail_local"), strict=True):
        bones.foreach_get(name, row.reshape(-1))
    ends = ends[:, [not is_part(bone) for bone in bones]].reshape(-1, 3).astype(float)
    _, sizes, axes = np.linalg.svd(ends - ends.mean(axis=0), full_matrices=False)
    if len(ends) < 3 or sizes[1] <= 1e-3 * sizes[0] or sizes[2] >= 1e-4 * sizes[0]:
        return None
    x, y, z = np.array(last.bone.matrix_local, float)[:3, :3].T @ axes[2]
    side = 1.0 if (abs(x) > abs(z) and x > 0.0) or (abs(x) <= abs(z) and z > 0.0) else -1.0  # alike on every limb
    return float(side * x), float(side * y), float(side * z)


PART = "planar_ik.part"
"""The custom property of bones that were made for a limb: parts of a mechanism, and controls."""


def is_part(bone: Any) -> bool:
    """Whether a bone was made for a limb, or is of another mechanism."""
    return PART in bone or bone.name.startswith("MCH-")


def tag(bone: PoseBone) -> None:
    """Have the rig evaluated anew."""
    bone.id_data.update_tag(refresh={"DATA"})


POSE_BONE: Any = bpy.types.PoseBone


def register() -> None:
    """Give the class PoseBone its property."""
    POSE_BONE.planar_ik = property(PlanarIK)


def unregister() -> None:
    """Take it away."""
    del POSE_BONE.planar_ik
