"""What is made of limbs on a rig, as plain data, before Blender has it: helper bones, constraints and drivers. They
refer to bones by the roles that these have for the limb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

MADE_BY_US = "Planar IK "
"""What the names of all constraints begin with that are made for limbs."""

ALL = -1
"""The place of a slider that is set for all bones of a limb at once."""

PLACE, DISTANCE, PROPERTY = "TRANSFORMS", "LOC_DIFF", "SINGLE_PROP"


BELOW_PARENT, AS_SET, CHANNEL = "LOCAL_SPACE", "TRANSFORM_SPACE", "CHANNEL"
"""Where a bone is, with its constraints, seen from its parent; its channels themselves, without rounding; and what a
channel is set to, whatever poses the bone."""


TARGET, POLE, CONTROL = "follow target", "follow pole", "follow control"
"""What a constraint follows that follows what the limb does: `CONTROL` is the target itself, also of a foot that rolls,
where `TARGET` is the helper that does."""


COLLECTION = "MCH Planar IK"
"""The bone collection of all helper bones but pivots."""


class HelperBone(NamedTuple):
    """A helper bone by its role, what it hangs on, its rest pose in the armature's space (rows of a 4x4 matrix), its
    rotation mode, the location that its channels say, how long it is, and its bone collection. It inherits rotation and
    scale as the bone ``like`` does, and rests just as that one if it ``copies_rest``."""

    role: str
    parent: str
    rest: tuple[float, ...]
    order: str
    location: tuple[float, ...] = (0.0, 0.0, 0.0)
    length: float = 0.0
    collection: str = COLLECTION
    like: str = ""
    copies_rest: bool = False


class ConstraintSpec(NamedTuple):
    """A constraint of a bone. ``target`` is the role of a bone of the rig, or `TARGET`, `POLE` or `CONTROL`; ``space``
    the role of the bone in whose space it works, where that is custom; ``targets`` are the roles of bones where it has
    several, and comes first on its bone."""

    bone: str
    name: str
    type: str
    target: str
    settings: tuple[tuple[str, Any], ...] = ()
    space: str = ""
    targets: tuple[str, ...] = ()


class DriverRead(NamedTuple):
    """What a variable reads of a bone: a channel of its place in a space, a property of it (`CHANNEL`), or a custom
    property (without a space), of one with several numbers that at ``item``."""

    bone: str
    what: str
    space: str = ""
    item: int = ALL


class DriverVariable(NamedTuple):
    """What a letter of an expression stands for: one thing read, or how far two bones are from each other."""

    letter: str
    type: str
    reads: tuple[DriverRead, ...]


class DriverSpec(NamedTuple):
    """A driver of a property of a bone, at a path from the bone; of one of its numbers, or of all of it (-1)."""

    bone: str
    path: str
    channel: int
    expression: str
    variables: tuple[DriverVariable, ...]


class Parts(NamedTuple):
    """All that one limb needs, or a part of that; bones come after their parents. ``free`` are the roles of bones that
    hang on nothing meanwhile."""

    bones: tuple[HelperBone, ...] = ()
    constraints: tuple[ConstraintSpec, ...] = ()
    drivers: tuple[DriverSpec, ...] = ()
    free: tuple[str, ...] = ()


LOCAL = (("owner_space", "LOCAL"), ("target_space", "LOCAL"))


IN_SPACE = (("owner_space", "CUSTOM"), ("target_space", "CUSTOM"))


class Share(NamedTuple):
    """What a feature adds to a mechanism: helper bones that hold numbers, by role; constraints of those that turn, and
    of the limb's own bones, which copy these; and drivers by role, path, channel and expression."""

    roles: tuple[str, ...] = ()
    turns: tuple[ConstraintSpec, ...] = ()
    copies: tuple[ConstraintSpec, ...] = ()
    drivers: tuple[tuple[str, str, int, str], ...] = ()


def holding(numbers: Mapping[str, Sequence[str]]) -> Share:
    """Helper bones whose places hold what expressions say, along their own axes, by role."""
    drivers = (
        (role, "location", axis, text) for role, expressions in numbers.items() for axis, text in enumerate(expressions)
    )
    return Share(roles=tuple(numbers), drivers=tuple(drivers))


def driven(bone: str, path: str, channel: int, expression: str, letter: str, key: str) -> DriverSpec:
    """A driver of what the ``bone`` of this role has at a path: it reads the slider whose custom property is
    ``key``."""
    variable = DriverVariable(letter, PROPERTY, (DriverRead("last", key),))
    return DriverSpec(bone, path, channel, expression, (variable,))


def spaces(is_near: bool) -> tuple[tuple[str, Any], ...]:
    """A bone of the limb's own rig is read as it stands there, anything else as it stands in the world."""
    space = "POSE" if is_near else "WORLD"
    return ("owner_space", space), ("target_space", space)
