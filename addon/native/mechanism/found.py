"""Which bones a chain runs on: found again by what refers to what, which outlasts renaming, joining and mirroring."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from bpy.types import PoseBone

from ...rig.chain_settings import holder_of
from ...rig.data.access import ArmatureObject, copies_part, is_part, made_on, runs_on_rig, split_path, upper_of
from ...rig.data.animation import bone_of_driver, drivers_by_bone
from ...rig.data.rotation import rotation_channel
from ...rig.settings import CONSTRAINT, DEFAULTS, ON_RIG, PART
from .annex import is_annex_of, rig_of
from .blending import WORLD
from .references import needs_of, role_of, subtarget_of, worlds_of

Constraints = list[tuple[PoseBone, Any]]
"""Constraints, each with its bone."""


ROUNDING = 1e-5
"""Up to how much numbers in single precision differ that were meant to be the same."""


class Found:
    """What a chain on the rig is made of, looked up once; good until something is edited. Whoever looks at many chains
    of one host gives its ``drivers``, which else are sorted for each."""

    def __init__(self, lower: PoseBone, drivers: Mapping[str, list[Any]] | None = None) -> None:
        self.lower, self.host = lower, host_of(lower)
        self.constraints = constraints_of(lower)
        self._drivers = drivers_by_bone(self.host) if drivers is None else drivers

    @cached_property
    def bones(self) -> list[str]:
        """The names of the bones that a limb's visible bones depend on and that were made for that, children first;
        without those that mechanisms share."""
        ob = self.host
        if ob != self.lower.id_data and not is_annex_of(ob, self.lower.id_data):
            return []  # A copied object's constraints go on copying from the annex of the one that it comes from.
        found: set[str] = set()
        waiting = [subtarget_of(each) for _, each in self.constraints]
        while waiting:
            name = waiting.pop()
            if name not in found and is_part(ob, name) and role_of(ob, name) != WORLD:
                found.add(name)
                waiting += self._needs(name)
        if any(owner != self.lower.name for owner in self._owners(found)):
            return []  # A mirrored or copied limb's constraints go on copying what poses the limb that it came from.
        return _children_first(ob, found)

    def scattered(self) -> tuple[list[str], Constraints]:
        """All bones of the mechanism of a lower bone that lost its parent or has another one now, children first, and
        all constraints that copy them, whichever bones have these."""
        ob, host = self.lower.id_data, self.host
        found, worlds = set(self.bones), worlds_of(host)
        parts = {bone.name: {*self._needs(bone.name)} for bone in host.pose.bones if is_part(host, bone.name)}
        while more := {name for name, needs in parts.items() if name not in {*found, *worlds} and needs & found}:
            found |= more
        copying = [bone for bone in ob.pose.bones if any(subtarget_of(each) in found for each in bone.constraints)]
        constraints = [(bone, each) for bone in copying for each in made_on(bone)]
        return _children_first(host, found), constraints

    def drivers_of(self, bones: Iterable[str], constraints: Constraints) -> list[Any]:
        """The drivers of bones of the mechanism, but for those of settings, and of constraints."""
        own = [curve for name in bones for curve in self._drivers.get(name, ()) if not _is_of_setting(curve)]
        paths = [(bone.name, each.path_from_id()) for bone, each in constraints]
        of = [each for bone, path in paths for each in self._drivers.get(bone, ()) if each.data_path.startswith(path)]
        return own + of

    def lost_drivers(self) -> list[Any]:
        """The drivers of constraints of the limb that were deleted, which Blender 4.2 leaves, or whose bone was."""
        limb = [bone for bone in (self.lower.parent, self.lower) if bone and bone.id_data == self.host]
        lost = [bone.name for bone in limb if CONSTRAINT not in bone.constraints]
        drivers = _of_constraints([each for name in lost for each in self._drivers.get(name, ())])
        own = [
            each for each in drivers_of_nothing(self.host) if self.lower.name in self._owners([bone_of_driver(each)])
        ]
        return drivers + own

    @cached_property
    def is_whole(self) -> bool:
        """Whether the mechanism is as it was made, and refers to no other object, such as the one that this is a copy
        of. Blender leaves drivers behind when it joins armatures that have bones of the same names. What older files
        did not note is not compared."""
        built = (self.purpose or {}).get("made")
        if self.purpose is None or not built or self.lower.parent is None:
            return False
        if not all(_is_as(self.made.get(name), each) for name, each in built.items()):
            return False
        copying = [each for _, each in self.constraints if each.type != "LIMIT_ROTATION"]
        drivers = [curve.driver for curve in self.drivers_of(self.bones, self.constraints)]
        if not all(driver.is_valid for driver in drivers):
            return False
        variables = (variable for driver in drivers for variable in driver.variables)
        read = [target.id for variable in variables for target in variable.targets]
        is_own = all(each.target == self.host and copies_part(each) for each in copying)
        return is_own and all(ob in (self.host, self.lower.id_data) for ob in read)

    @cached_property
    def made(self) -> dict[str, Any]:
        """What does not change while a mechanism works: the number of its drivers, the constraints by which the limb
        takes it over, what its bones hang on, and the channels of these that are not driven."""
        return {
            "drivers": len(self.drivers_of(self.bones, [])),
            "constraints": [
                [each.type, 0.0 if each.type == "LIMIT_ROTATION" else each.influence] for _, each in self.constraints
            ],
            "carriers": {role_of(self.host, name): self._carrier(name) for name in self.bones},
            "channels": {role_of(self.host, name): self._held(name) for name in self.bones},
        }

    def _carrier(self, name: str) -> str:
        """What a bone of the mechanism hangs on: ``limb`` for the upper bone, ``above`` for that bone's parent, or the
        role of another bone of the mechanism. In an annex, where it copies a bone, that bone counts."""
        bone = self.host.pose.bones[name]
        copied: Any = [each for each in bone.constraints if each.type == "COPY_TRANSFORMS"]
        carrier = copied[0].target.pose.bones.get(copied[0].subtarget) if copied else bone.parent
        upper = upper_of(self.lower)
        if carrier in (upper, upper.parent):
            return "limb" if carrier == upper else "above"
        return role_of(self.host, carrier.name) if carrier and is_part(self.host, carrier.name) else ""

    def _held(self, name: str) -> list[Any]:
        """The rotation mode of a bone, how many constraints it has, and what those of its channels hold that are not
        driven."""
        bone = self.host.pose.bones[name]
        driven = {(split_path(curve.data_path)[1], curve.array_index) for curve in self._drivers.get(name, ())}
        channels = ("location", rotation_channel(bone.rotation_mode), "scale")
        numbers = [(channel, index) for channel in channels for index in range(len(getattr(bone, channel)))]
        held = (getattr(bone, channel)[index] for channel, index in numbers if (channel, index) not in driven)
        return [bone.rotation_mode, len(bone.constraints), *held]

    @property
    def place(self) -> list[float]:
        """Where the mechanism stands at rest, in the upper bone's axes."""
        first, upper = self._measures[0].bone, upper_of(self.lower).bone
        place: Any = upper.matrix_local.inverted() @ first.matrix_local
        return [number for row in place for number in row]

    @cached_property
    def purpose(self) -> dict[str, Any] | None:
        """What the mechanism was made for; None without a whole one."""
        holder = self._with_role("target")
        purpose: dict[str, Any] | None = json.loads(holder[PART]) if holder and PART in holder else None
        return purpose

    def note(self, purpose: dict[str, Any]) -> None:
        """Keep with the mechanism what it is made for."""
        self._with_role("target")[PART] = json.dumps(purpose | {"made": self.made, "place": self.place})

    @property
    def goals(self) -> list[tuple[Any, str]]:
        """What the mechanism measures the places of: the target, and the pole if it has one."""
        first: list[Any] = [bone.constraints[0] for bone in self._measures if len(bone.constraints)]
        return [(each.target, each.subtarget) for each in first]

    def aim(self, goals: list[tuple[Any, str]]) -> None:
        """Have the mechanism measure the places of as many other things."""
        for bone, (ob, name) in zip(self._measures, goals, strict=True):
            constraints: Any = bone.constraints
            for constraint in (each for each in constraints if each.type in ("COPY_LOCATION", "IK")):
                constraint.target, constraint.subtarget = ob, name

    @property
    def _measures(self) -> list[PoseBone]:
        return [bone for role in ("target", "pole") if (bone := self._with_role(role))]

    def _with_role(self, role: str) -> Any:
        """The bone of the mechanism that was made for something; None if there is none any more."""
        ob = self.host
        return next((ob.pose.bones[name] for name in self.bones if role_of(ob, name) == role), None)

    def _owners(self, bones: Collection[str]) -> Iterator[str]:
        """The lower bones whose settings the drivers of a mechanism read."""
        for variable in self._variables(bones):
            name, path = split_path(variable.targets[0].data_path)
            if path.startswith(f'["{ON_RIG}') and name not in bones:
                yield name

    def _needs(self, name: str) -> Iterator[str]:
        """What a bone of a mechanism depends on, by parent, constraints and drivers."""
        return needs_of(self.host.pose.bones[name], self._drivers.get(name, ()))

    def _variables(self, bones: Iterable[str]) -> Iterator[Any]:
        for name in bones:
            for curve in self._drivers.get(name, ()):
                yield from curve.driver.variables


def constraints_of(lower: PoseBone) -> Constraints:
    """The constraints by which the visible bones take over the solution."""
    visible = [lower] if lower.parent is None else [upper_of(lower), lower]
    return [(bone, each) for bone in visible for each in made_on(bone)]


def drivers_of_nothing(ob: ArmatureObject) -> list[Any]:
    """The drivers of constraints of bones that were deleted."""
    drivers = drivers_by_bone(ob)
    gone = [name for name in drivers if name and name not in ob.pose.bones]
    return _of_constraints([each for name in gone for each in drivers[name]])


def host_of(lower: PoseBone) -> ArmatureObject:
    """The armature that the mechanism of a chain on the rig is in: the rig's own, or its annex."""
    host: ArmatureObject = holder_of(lower).id_data
    return host


def lowers_in(host: ArmatureObject) -> Iterator[PoseBone]:
    """The lower bones of the chains whose mechanisms are in an armature."""
    rig = rig_of(host)
    for bone in rig.pose.bones if rig else ():
        if bone.parent and runs_on_rig(bone) and host_of(bone) == host:
            yield bone


def _is_as(one: Any, other: Any) -> bool:
    """Whether what was kept is the same, but for what a bone's channels lose where its matrix is read and set."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_as(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_as, one, other))
    return abs(one - other) < ROUNDING if isinstance(one, float) and isinstance(other, float) else bool(one == other)


def _of_constraints(drivers: list[Any]) -> list[Any]:
    """The drivers, of those of bones, that set a constraint made for a chain, which is known by its name."""
    start = f'constraints["{CONSTRAINT}"]'
    return [each for each in drivers if split_path(each.data_path)[1].startswith(start)]


def _children_first(ob: ArmatureObject, bones: Collection[str]) -> list[str]:
    return sorted(bones, key=lambda name: len(ob.pose.bones[name].parent_recursive), reverse=True)


def _is_of_setting(curve: Any) -> bool:
    """Whether a driver is of a setting that is a custom property."""
    return split_path(curve.data_path)[1][2 + len(ON_RIG) : -2] in DEFAULTS


def exposed(lower: PoseBone) -> list[str]:
    """The custom properties of a chain on the rig, by the names of the settings."""
    keys = holder_of(lower).keys()
    return [key.removeprefix(ON_RIG) for key in keys if key.startswith(ON_RIG)]


def may_switch(lower: PoseBone) -> bool:
    """Whether a chain has its pole measured whatever its plane is now."""
    return f"{ON_RIG}plane" in holder_of(lower) and len(Found(lower).goals) > 1
