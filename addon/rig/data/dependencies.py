"""What objects and bones move with: their parents, and the targets of their constraints and drivers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bpy.types import ID, Constraint, Depsgraph, Object, PoseBone

from .access import bones_of, has_bone, is_armature, split_path
from .animation import animated_paths, drivers_by_bone

Carrier = tuple[Object, str]
"""An object, or with a name a bone of it."""

ON_SHAPES = {"FOLLOW_PATH", "CLAMP_TO", "SHRINKWRAP", "SPLINE_IK"}
"""The constraints that depend on the shape of their target, not only on where it is."""

UNMOVING = ("collections", "color", "custom_shape", "display_", "hide", "layers", "show_")
"""How the paths begin, from an object, an armature or a bone, of what is driven and moves nothing."""

UNMOVED = ("[", "constraints[")
"""How the paths begin, from a bone, of what does not move with it: custom properties, and settings of constraints."""

SOLVERS = {"IK", "SPLINE_IK"}
"""The constraints that turn other bones than the one that has them."""


def is_structural(depsgraph: Depsgraph) -> bool:
    """Whether Blender has rebuilt its dependency graph: objects, parents, constraints, drivers or F-curves are new."""
    return depsgraph.id_type_updated("COLLECTION")


class Dependencies:
    """What moves what, looked up once for each object and bone; valid until something is edited.

    ``goals`` are carriers that bones will follow in addition. Drivers may read properties that nothing moves: without
    ``drivers``, only what certainly moves something counts.
    """

    def __init__(self, goals: Mapping[Carrier, Sequence[Carrier]] | None = None, drivers: bool = True) -> None:
        self._goals = goals or {}
        self._has_drivers = drivers
        self._direct: dict[Carrier, list[Carrier]] = {}
        self._solvers: dict[Object, dict[str, list[tuple[PoseBone, Constraint]]]] = {}
        self._drivers: dict[ID, dict[str, list[Any]]] = {}
        self._paths: dict[Object, set[str]] = {}

    def carriers(self, start: Iterable[Carrier]) -> set[Carrier]:
        """All objects and bones that can move those given, which are among them."""
        found: set[Carrier] = set()
        waiting = list(start)
        while waiting:
            carrier = waiting.pop()
            if carrier not in found:
                found.add(carrier)
                waiting.extend(self.direct(carrier))
        return found

    def animated_paths(self, ob: Object) -> set[str]:
        """The data paths of all F-curves and drivers that act on an object."""
        if ob not in self._paths:
            self._paths[ob] = animated_paths(ob)
        return self._paths[ob]

    def solvers(self, ob: Object, bone: str) -> list[tuple[PoseBone, Constraint]]:
        """The IK constraints that turn a bone, each with the bone that has it."""
        if ob not in self._solvers:
            found: dict[str, list[tuple[PoseBone, Constraint]]] = {}
            for owner in bones_of(ob):
                for constraint in owner.constraints:
                    if constraint.type in SOLVERS:
                        for turned in _turned_by(constraint, owner):
                            found.setdefault(turned.name, []).append((owner, constraint))
            self._solvers[ob] = found
        return self._solvers[ob].get(bone, [])

    def drivers(self, owner: Any, bone: str) -> list[tuple[str, Any]]:
        """The drivers of a bone that are not muted, each with the path from the bone to what it drives; without a name,
        those of the object itself. ``owner`` may be an armature: then they drive its bones at rest."""
        curves = (curve for curve in self.drivers_by_bone(owner).get(bone, ()) if not curve.mute)
        return [(split_path(curve.data_path)[1], curve.driver) for curve in curves]

    def drivers_by_bone(self, owner: Any) -> dict[str, list[Any]]:
        """All drivers of an object or an armature, by the bones that they drive something of, as F-curves."""
        if owner not in self._drivers:
            self._drivers[owner] = drivers_by_bone(owner)
        return self._drivers[owner]

    def read_by(self, driver: Any) -> Iterator[Carrier]:
        """The objects and bones with which the value of a driver changes. A setting of a bone does not change as the
        bone moves, but with its object's animation and with what drives it."""
        waiting, followed = [driver], set()
        while waiting:
            for ob, bone, path in properties_read(waiting.pop()):
                is_setting = bool(bone) and path.startswith(UNMOVED)
                yield (ob, "" if is_setting else bone)
                if is_setting and (ob, bone, path) not in followed:
                    followed.add((ob, bone, path))
                    waiting.extend(each for driven, each in self.drivers(ob, bone) if path.startswith(driven))

    def direct(self, carrier: Carrier) -> list[Carrier]:
        """What an object or a bone itself moves with."""
        if carrier not in self._direct:
            ob, name = carrier
            bone = bones_of(ob).get(name) if name and ob.pose else None
            found = self._of_bone(ob, bone) if bone else self._of_object(ob)
            self._direct[carrier] = [*found, *self._goals.get(carrier, ())]
        return self._direct[carrier]

    def _of_object(self, ob: Object) -> Iterator[Carrier]:
        if ob.parent:
            yield (ob.parent, ob.parent_bone if ob.parent_type == "BONE" else "")
            if ob.parent_type.startswith("VERTEX"):
                yield from _shape_carriers(ob.parent)
        for constraint in ob.constraints:
            yield from constraint_targets(constraint)
        yield from self._targets_of_drivers(ob, "")

    def _of_bone(self, ob: Object, bone: PoseBone) -> Iterator[Carrier]:
        yield (ob, "")
        if bone.parent:
            yield (ob, bone.parent.name)
        for constraint in bone.constraints:
            yield from constraint_targets(constraint)
        for _, constraint in self.solvers(ob, bone.name):
            yield from constraint_targets(constraint)
        yield from self._targets_of_drivers(ob, bone.name)

    def _targets_of_drivers(self, ob: Object, bone: str) -> Iterator[Carrier]:
        owners = (ob, ob.data) if is_armature(ob) else (ob,)
        for owner in owners if self._has_drivers else ():
            for path, driver in self.drivers(owner, bone):
                if not path.startswith(UNMOVING):
                    yield from self.read_by(driver)


def _turned_by(constraint: Any, owner: PoseBone) -> list[PoseBone]:
    bones = [owner, *owner.parent_recursive]
    if not getattr(constraint, "use_tail", True):
        del bones[0]
    return bones[: constraint.chain_count] if constraint.chain_count else bones


def constraint_targets(constraint: Any) -> Iterator[Carrier]:
    """The objects and bones that a constraint refers to, and those that move the shapes of these if it needs them."""
    for of in (constraint, *getattr(constraint, "targets", ())):
        target, part = getattr(of, "target", None), getattr(of, "subtarget", "")
        if target:
            yield (target, part)
            if constraint.type in ON_SHAPES or (part and not is_armature(target)):
                yield from _shape_carriers(target)
    if getattr(constraint, "pole_target", None):
        yield (constraint.pole_target, constraint.pole_subtarget)
    if constraint.space_object:  # of a custom space
        yield (constraint.space_object, constraint.space_subtarget)


def _shape_carriers(ob: Object) -> Iterator[Carrier]:
    """What the points of an object move with, by its modifiers."""
    for modifier in ob.modifiers:
        carrier = getattr(modifier, "object", None)
        if carrier and modifier.type == "ARMATURE":
            yield from ((carrier, group.name) for group in ob.vertex_groups if has_bone(carrier, group.name))
        elif carrier:
            yield (carrier, getattr(modifier, "subtarget", ""))


def driver_targets(driver: Any) -> Iterator[Carrier]:
    """The objects and bones that a driver names."""
    return ((ob, bone) for ob, bone, _ in properties_read(driver))


def properties_read(driver: Any) -> Iterator[tuple[Object, str, str]]:
    """The objects and bones that a driver names, each with the path from there to the property that it reads, if it
    reads one."""
    for variable in driver.variables if driver else ():
        for target in variable.targets:
            if isinstance(target.id, Object):
                named, path = split_path(target.data_path) if variable.type == "SINGLE_PROP" else ("", "")
                yield (target.id, named or target.bone_target, path)
