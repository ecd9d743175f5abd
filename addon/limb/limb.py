"""``pose_bone.planar_ik``: everything of a limb by one name, for scripts and for the interface.

It is a plain Python property of the class PoseBone, which costs rigs without limbs nothing: a property group there
would make Blender 4.2 and 4.5 compare it for every bone of every library override."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import bpy
from bpy.types import Object, PoseBone

from ..blender.dependencies import Dependencies
from ..blender.transaction import all_or_nothing
from ..blender.types import has_bone, tag, view_layer_of
from . import home, values
from .follow import follow_of, is_gone
from .home import Hooks
from .settings import ALLOWED, CHOICES, GROUP, SLIDER
from .shape import hinge_axis, make_shape
from .sides import keep_side
from .status import Status, status_of
from .tasks.adding import check_followed
from .tasks.checking import check, check_planar
from .tasks.feet import refollow
from .tasks.knees import bend_axis
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
        value = values.to_flag("enabled", value)
        if value and not self.enabled:
            check(self.bone, NEW)
            with _wholly(self.bone):
                _make(self.bone)
        elif not value and GROUP in self.bone:  # type: ignore[operator]
            with _wholly(self.bone):
                remove(bpy.context, [self.bone])
                tag(ob.pose.bones[name])

    @property
    def chain_count(self) -> int:
        """How many bones the limb has, twist bones included: 2 to 4."""
        return sum(home.links_of(self.bone))

    @chain_count.setter
    def chain_count(self, value: int) -> None:
        value = values.to_count("chain_count", value, 2, 4)
        if value == self.chain_count and self.enabled:
            return
        links = (1,) * value
        _check_chain(self.bone, links)
        with _wholly(self.bone):
            if not self.enabled:
                _make(self.bone, links)
                return
            home.make_home(self.bone, links)
            group: Any = self.bone[GROUP]
            if "stills" in group:
                del group["stills"]
            key = SLIDER["ankle"].key
            if value == 2 and key in self.bone:  # type: ignore[operator]
                del self.bone[key]
            if "bend_axis" not in group:
                _keep_axis(self.bone)
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


NEW = (1, 1)
"""The links of a limb that is made without saying how many bones it is to have."""


def _wholly(bone: PoseBone) -> AbstractContextManager[None]:
    """What is set on a limb is set wholly or not at all."""
    return all_or_nothing(bpy.context, concerned([bone.id_data]))


def _make(bone: PoseBone, links: tuple[int, ...] = NEW) -> None:
    """Make a bone that can be one the last of a limb, which bends as Add has it bend."""
    home.make_home(bone, links)
    bone[GROUP]["plane"] = "POLE" if follow_of(bone).pole else "HINGE" if hinge_axis(bone) else "FREE"
    _keep_axis(bone)
    tag(bone)


def _keep_axis(bone: PoseBone) -> None:
    """Note what a limb bends about where it is straight."""
    group: Any = bone[GROUP]
    axis = bend_axis(bone, home.links_of(bone), group.get("tip", "FOOT"), 0.0)
    if axis:
        group["bend_axis"] = axis
        keep_side(bone)


def _check_limb(bone: PoseBone, name: str) -> None:
    """Refuse to set something on a bone that is none, or of a rig that keeps nothing of what is set."""
    if not home.is_limb(bone):
        template = "'{bone}' has no IK, so it has no {name}: set enabled, target or chain_count first"
        raise Refused(template, bone=bone.name, name=name)
    if bone.id_data.library:
        raise Refused(ELSEWHERE, rig=bone.id_data.name)


def _check_structure(bone: PoseBone) -> None:
    """Refuse what changes more of a limb than sliders where Blender would not keep that."""
    ob = bone.id_data
    if ob.library or ob.override_library or (home.is_limb(bone) and Hooks.mode(bone) == "RIG" and ob.data.library):
        raise Refused(ELSEWHERE, rig=ob.name)


ELSEWHERE = "'{rig}' comes from another file: set this there"


def _check_chain(bone: PoseBone, links: tuple[int, ...]) -> None:
    """Refuse what can't be a limb of so many links, whether it is one already or not."""
    if not home.is_limb(bone):
        check(bone, links)
        return
    _check_structure(bone)
    home.check_parents(bone, sum(links))
    line = {*home.line_of(bone, links)}
    for other in home.limbs_of(bone.id_data):
        if other != bone and (shared := line & {*home.line_of(other)}):
            name = min(each.name for each in shared)
            raise Refused("'{bone}' is part of the limb of '{last}': remove that first", bone=name, last=other.name)
    check_planar(make_shape(bone, links))
    for followed in follow_of(bone).pairs:
        if not is_gone(*followed):
            check_followed(bone, links, followed, Dependencies())  # type: ignore[arg-type]  # it is there


def _followed(name: str, title: str) -> property:
    """A setting that the home has: what the limb follows."""
    role, is_bone = name.replace("subtarget", "target"), name.endswith("subtarget")
    bone_of_role = role.replace("target", "subtarget")

    def read(self: PlanarIK) -> Any:
        constraint = home.home_of(self.bone)
        return getattr(constraint, name) if constraint else ("" if is_bone else None)

    def write(self: PlanarIK, value: Any) -> None:
        value = values.to_name(name, value) if is_bone else values.to_object(name, value)
        if name == "target" and not self.enabled:
            if value is None:
                return
            check(self.bone, NEW)
        else:
            _check_limb(self.bone, name)
        ob = getattr(self, role) if is_bone else value
        bone = value if is_bone else getattr(self, bone_of_role)
        if not is_bone and not has_bone(ob, bone):
            bone = ""
        _check_goal(self.bone, role, (ob, bone), is_bone)
        if to_pole := role == "pole_target" and ob is not None and home.choices_of(self.bone)["plane"] != "POLE":
            _check_structure(self.bone)
        with _wholly(self.bone):
            if not self.enabled:
                _make(self.bone)
            constraint = home.home_of(self.bone)
            setattr(constraint, role, ob)
            setattr(constraint, bone_of_role, bone)
            if to_pole:
                self.plane = "POLE"
            Hooks.retarget(self.bone)
            refollow(self.bone)
            tag(self.bone)

    return property(read, write, doc=title)


def _check_goal(last: PoseBone, role: str, goal: tuple[Object | None, str], is_whole: bool) -> None:
    """Refuse what a limb can't follow, as Add does. While this is not ``is_whole``, the rig's own object is one of
    whose bones one is yet to be named."""
    ob, bone = goal
    if ob is None:
        if bone:
            raise Refused("'{last}' has no {role}: set that, then its bone", last=last.name, role=role)
    elif is_whole or bone or ob != last.id_data:
        links = home.links_of(last) if home.is_limb(last) else NEW
        check_followed(last, links, (ob, bone), Dependencies())


def _slider(name: str) -> property:
    """A setting that animates: a custom property."""
    slider = SLIDER[name]

    def read(self: PlanarIK) -> Any:
        owner: Any = self.bone
        return type(slider.default)(owner.get(slider.key, slider.default))

    def write(self: PlanarIK, value: Any) -> None:
        limits = slider.limits
        number = values.to_number(name, value, limits) if limits else values.to_flag(name, value)
        _check_limb(self.bone, name)
        if name == "ankle" and len(home.links_of(self.bone)) < 3:
            raise Refused("'{bone}' has two bones: limbs of three or four have an ankle", bone=self.bone.name)
        if home.has_slider(self.bone, name):
            self.bone[slider.key] = number
            tag(self.bone)
            return
        _check_structure(self.bone)
        with _wholly(self.bone):
            home.make_slider(self.bone, slider)
            self.bone[slider.key] = number
            home.align(self.bone)
            Hooks.rebuild(self.bone)
            tag(self.bone)

    return property(read, write, doc=slider.description)


def _choice(name: str) -> property:
    """A setting that does not animate: kept in the bone's group, and part of the mechanism."""
    allowed: Any = ALLOWED[name]
    to_value: Any = values.to_word if isinstance(CHOICES[name], str) else values.to_number

    def read(self: PlanarIK) -> Any:
        return home.choices_of(self.bone)[name]

    def write(self: PlanarIK, value: Any) -> None:
        value = to_value(name, value, allowed)
        _check_limb(self.bone, name)
        if home.choices_of(self.bone)[name] == value:
            return
        _check_structure(self.bone)
        with _wholly(self.bone):
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


POSE_BONE: Any = bpy.types.PoseBone


def register() -> None:
    """Give the class PoseBone its property."""
    POSE_BONE.planar_ik = property(PlanarIK)


def unregister() -> None:
    """Take it away."""
    del POSE_BONE.planar_ik
