"""What objects and bones move with: their parents, and the targets of their constraints and drivers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from bpy.types import Constraint, Object, PoseBone

from .animation import drivers_of
from .types import bones_of, has_bone, is_armature, split_path

Carrier = tuple[Object, str]
"""An object, or with a name a bone of it."""

_TRANSFORMS = ("location", "rotation", "scale", "delta_", "bbone_", "matrix", "parent", "head", "tail", "roll")
"""How the paths begin, from an object or a bone, of what moves it when it is driven."""

_SOLVERS = {"IK", "SPLINE_IK"}
"""The constraints that turn other bones than the one that has them."""


class Dependencies:
    """What moves what, looked up once for each object and bone; valid until something is edited. A muted constraint
    counts, since Blender's own graph counts it; so a limb follows its targets, whatever poses it."""

    def __init__(self) -> None:
        self._direct: dict[Carrier, list[Carrier]] = {}
        self._solvers: dict[Object, dict[str, list[tuple[PoseBone, Any]]]] = {}

    def carriers(self, *start: Carrier) -> set[Carrier]:
        """All objects and bones that can move those given, which are among them."""
        found: set[Carrier] = set()
        waiting = [*start]
        while waiting:
            carrier = waiting.pop()
            if carrier not in found:
                found.add(carrier)
                waiting.extend(self.direct(carrier))
        return found

    def moves_with(self, carrier: Carrier, rig: Object, names: Collection[str]) -> bool:
        """Whether an object or bone moves with one of these bones of a rig, or is one: they can't follow it then."""
        return any(ob == rig and name in names for ob, name in self.carriers(carrier))

    def direct(self, carrier: Carrier) -> list[Carrier]:
        """What an object or a bone itself moves with."""
        if carrier not in self._direct:
            ob, name = carrier
            found = _of_bone(bones_of(ob)[name]) if has_bone(ob, name) else _of_object(ob)
            turned_by = self.solvers(ob, name) if name else []
            solved = [target for _, constraint in turned_by for target in constraint_targets(constraint)]
            self._direct[carrier] = [*found, *solved]
        return self._direct[carrier]

    def solvers(self, ob: Object, bone: str) -> list[tuple[PoseBone, Any]]:
        """The IK constraints that turn a bone, each with the bone that has it."""
        if ob not in self._solvers:
            found: dict[str, list[tuple[PoseBone, Any]]] = {}
            for owner in bones_of(ob) if is_armature(ob) else ():
                for constraint in owner.constraints:
                    for turned in _turned_by(owner, constraint) if constraint.type in _SOLVERS else ():
                        found.setdefault(turned.name, []).append((owner, constraint))
            self._solvers[ob] = found
        return self._solvers[ob].get(bone, [])

    def movers(self, bone: PoseBone) -> list[Any]:
        """What moves a bone besides its own channels' values and keys, in effect now: constraints, also of bones below
        that solve it, and drivers (as F-curves)."""
        constraints = [
            *bone.constraints,
            *(each for owner, each in self.solvers(bone.id_data, bone.name) if owner != bone),
        ]
        acting = [each for each in constraints if not each.mute and each.influence > 0.0]
        return [*acting, *drivers_of_bone(bone)]


def in_order(rigs: Sequence[Object], followed: Mapping[Object, Iterable[Carrier]], among: Dependencies) -> list[Object]:
    """Rigs so that each comes after those that what it follows hangs on; in a circle, as they are given."""
    ordered: list[Object] = []
    started: set[Object] = set()

    def visit(rig: Object) -> None:
        if rig in started:
            return
        started.add(rig)
        hanging_on = {ob for ob, _ in among.carriers((rig, ""), *followed.get(rig, ()))}
        for other in rigs:
            if other in hanging_on:
                visit(other)
        ordered.append(rig)

    for rig in rigs:
        visit(rig)
    return ordered


def constraint_targets(constraint: Any) -> Iterator[Carrier]:
    """The objects and bones that a constraint refers to."""
    for of in (constraint, *getattr(constraint, "targets", ())):
        if getattr(of, "target", None):
            yield (of.target, getattr(of, "subtarget", ""))
    if getattr(constraint, "pole_target", None):
        yield (constraint.pole_target, constraint.pole_subtarget)
    if constraint.space_object:  # of a custom space
        yield (constraint.space_object, constraint.space_subtarget)


def driver_targets(curve: Any) -> Iterator[Carrier]:
    """The objects and bones that a driver reads. A bone's settings are its object's: they don't move with it."""
    for variable in curve.driver.variables if curve.driver else ():
        for target in variable.targets:
            if isinstance(target.id, Object):
                named, path = (
                    split_path(target.data_path) if variable.type == "SINGLE_PROP" else (target.bone_target, "")
                )
                yield (target.id, "" if path.startswith(("[", "constraints[")) else named)


def is_python(curve: Any) -> bool:
    """Whether a driver runs Python, which may read whatever it wants."""
    return curve.driver is not None and curve.driver.type == "SCRIPTED" and not curve.driver.is_simple_expression


def drivers_of_bone(bone: PoseBone) -> list[Any]:
    """The drivers that act on a bone's own transform."""
    split = ((curve, *split_path(curve.data_path)) for curve in drivers_of(bone.id_data) if not curve.mute)
    return [curve for curve, name, path in split if name == bone.name and path.startswith(_TRANSFORMS)]


def _of_object(ob: Object) -> Iterator[Carrier]:
    if ob.parent:
        yield (ob.parent, ob.parent_bone if ob.parent_type == "BONE" else "")
    for constraint in ob.constraints:
        yield from constraint_targets(constraint)
    yield from _driven(ob, "")


def _of_bone(bone: PoseBone) -> Iterator[Carrier]:
    yield (bone.id_data, "")
    if bone.parent:
        yield (bone.id_data, bone.parent.name)
    for constraint in bone.constraints:
        yield from constraint_targets(constraint)
    yield from _driven(bone.id_data, bone.name)


def _driven(ob: Object, bone: str) -> Iterator[Carrier]:
    """What the drivers of an object's or a bone's transform and constraints read."""
    for curve in drivers_of(ob):
        name, path = split_path(curve.data_path)
        if not curve.mute and name == bone and path.startswith((*_TRANSFORMS, "constraints[")):
            yield from driver_targets(curve)


def _turned_by(owner: PoseBone, constraint: Constraint) -> list[PoseBone]:
    settings: Any = constraint
    bones = [owner, *owner.parent_recursive]
    if not getattr(settings, "use_tail", True):
        del bones[0]
    return bones[: settings.chain_count] if settings.chain_count else bones
