"""What objects and bones move with: their parents, and the targets of their constraints and drivers."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from bpy.types import Constraint, FCurve, Object, PoseBone

from .animation import drivers_of, is_animated
from .types import bones_of, has_bone, is_armature, split_path

BoneRef = tuple[Object, str]
"""An object, or with a name a bone of it."""

_TRANSFORMS = ("location", "rotation", "scale", "delta_", "matrix")
"""How the paths begin, from an object or a bone, of what moves it when it is driven."""

_SETTINGS = ("[", "constraints[")
"""How the paths begin, from a bone, of what does not move with it."""


class Dependencies:
    """What moves what, looked up once for each object and bone; valid until something is edited. A muted constraint
    counts, since Blender's own graph counts it; so a limb follows its targets, whatever poses it."""

    def __init__(self) -> None:
        self._direct: dict[BoneRef, list[BoneRef]] = {}
        self._solvers: dict[Object, dict[str, list[tuple[PoseBone, Any]]]] = {}
        self._drivers: dict[Object, dict[str, list[tuple[str, Any]]]] = {}

    def dependencies_of(self, *start: BoneRef) -> set[BoneRef]:
        """All objects and bones that can move those given, which are among them."""
        refs: set[BoneRef] = set()
        waiting = [*start]
        while waiting:
            ref = waiting.pop()
            if ref not in refs:
                refs.add(ref)
                waiting.extend(self.direct(ref))
        return refs

    def moves_with(self, ref: BoneRef, rig: Object, names: Collection[str]) -> bool:
        """Whether an object or bone moves with one of these bones of a rig, or is one: they can't follow it then."""
        return any(ob == rig and name in names for ob, name in self.dependencies_of(ref))

    def direct(self, ref: BoneRef) -> list[BoneRef]:
        """What an object or a bone itself moves with."""
        if ref not in self._direct:
            ob, name = ref
            owner: Any = bones_of(ob)[name] if has_bone(ob, name) else ob
            refs: list[BoneRef] = []
            if owner != ob:
                refs = [(ob, ""), *([(ob, owner.parent.name)] if owner.parent else ())]
            elif ob.parent:
                refs = [(ob.parent, ob.parent_bone if ob.parent_type == "BONE" else "")]
            for constraint in (*owner.constraints, *(solver for _, solver in self.solvers(ob, name))):
                refs += constraint_targets(constraint)
            for path, curve in self.drivers(ob, name):
                if path.startswith((*_TRANSFORMS, "constraints[")):
                    refs += driver_targets(curve)
            self._direct[ref] = refs
        return self._direct[ref]

    def solvers(self, ob: Object, bone: str) -> list[tuple[PoseBone, Any]]:
        """The IK constraints that turn a bone, each with the bone that has it."""
        if ob not in self._solvers:
            solvers = self._solvers[ob] = {}
            for owner in bones_of(ob) if is_armature(ob) else ():
                for constraint in owner.constraints:
                    for posed in _solved_by(owner, constraint):
                        solvers.setdefault(posed.name, []).append((owner, constraint))
        return self._solvers[ob].get(bone, [])

    def drivers(self, ob: Object, bone: str) -> list[tuple[str, Any]]:
        """The drivers (as F-curves) of an object, or with a name of a bone, that are not muted, each with the path from
        there to what it drives."""
        if ob not in self._drivers:
            drivers = self._drivers[ob] = {}
            for curve in drivers_of(ob):
                name, path = split_path(curve.data_path)
                drivers.setdefault(name, []).extend([] if curve.mute else [(path, curve)])
        return self._drivers[ob].get(bone, [])

    def constraints_and_drivers(self, bone: PoseBone) -> list[Any]:
        """What moves a bone besides its own channels' values and keys, in effect now: constraints, also of bones below
        that solve it, and drivers (as F-curves); of IK, what keys or drivers have in effect at times."""
        ob: Any = bone.id_data
        constraints = [
            *bone.constraints,
            *(constraint for owner, constraint in self.solvers(ob, bone.name) if owner != bone),
        ]
        acting = [constraint for constraint in constraints if not constraint.mute and _acts(constraint)]
        return acting + [curve for path, curve in self.drivers(ob, bone.name) if path.startswith(_TRANSFORMS)]


def _acts(constraint: Constraint) -> bool:
    """Whether a constraint has an influence, or is IK that gets one."""
    path = constraint.path_from_id("influence")
    return constraint.influence > 0.0 or (constraint.type == "IK" and is_animated(constraint.id_data, path))


def constraint_targets(constraint: Any) -> Iterator[BoneRef]:
    """The objects and bones that a constraint refers to."""
    for owner in (constraint, *getattr(constraint, "targets", ())):
        if getattr(owner, "target", None):
            yield (owner.target, getattr(owner, "subtarget", ""))
    if getattr(constraint, "pole_target", None):
        yield (constraint.pole_target, constraint.pole_subtarget)
    if constraint.space_object:  # of a custom space
        yield (constraint.space_object, constraint.space_subtarget)


def driver_targets(curve: FCurve) -> Iterator[BoneRef]:
    """The objects and bones that a driver reads. A bone's settings are its object's: they don't move with it."""
    for variable in curve.driver.variables if curve.driver else ():
        for target in variable.targets:
            if isinstance(target.id, Object):
                named, path = (
                    split_path(target.data_path) if variable.type == "SINGLE_PROP" else (target.bone_target, "")
                )
                yield (target.id, "" if path.startswith(_SETTINGS) else named)


def is_python(curve: FCurve) -> bool:
    """Whether a driver runs Python, which may read whatever it wants."""
    return curve.driver is not None and curve.driver.type == "SCRIPTED" and not curve.driver.is_simple_expression


def _solved_by(owner: PoseBone, constraint: Any) -> list[PoseBone]:
    """The bones that a constraint turns if it is one that solves a row of them."""
    if constraint.type not in {"IK", "SPLINE_IK"}:
        return []
    bones = [owner, *owner.parent_recursive][0 if getattr(constraint, "use_tail", True) else 1 :]
    return bones[: constraint.chain_count] if constraint.chain_count else bones
