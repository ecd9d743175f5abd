"""What objects and bones move with: their parents, and the targets of their constraints and drivers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from bpy.types import Object, PoseBone

from .access import bones_of, split_path

Carrier = tuple[Object, str]
"""An object, or with a name a bone of it."""


class Dependencies:
    """What moves what, looked up once for each object and bone; good until something is edited."""

    def __init__(self) -> None:
        self._direct: dict[Carrier, list[Carrier]] = {}
        self._solvers: dict[Object, list[Carrier]] = {}
        self._drivers: dict[Object, dict[str, list[Carrier]]] = {}

    def carriers(self, start: Iterable[Carrier]) -> set[Carrier]:
        """All objects and bones that can move those given, which are among them."""
        found: set[Carrier] = set()
        waiting = list(start)
        while waiting:
            carrier = waiting.pop()
            if carrier not in found:
                found.add(carrier)
                waiting.extend(self._carriers_of(carrier))
        return found

    def _carriers_of(self, carrier: Carrier) -> list[Carrier]:
        if carrier not in self._direct:
            ob, name = carrier
            bone = bones_of(ob).get(name) if name and ob.pose else None
            self._direct[carrier] = list(self._of_bone(ob, bone) if bone else self._of_object(ob))
        return self._direct[carrier]

    def _of_object(self, ob: Object) -> Iterator[Carrier]:
        if ob.parent:
            yield (ob.parent, ob.parent_bone if ob.parent_type == "BONE" else "")
        yield from _constraint_targets(ob)
        yield from self._driver_targets(ob, "")

    def _of_bone(self, ob: Object, bone: PoseBone) -> Iterator[Carrier]:
        yield (ob, "")
        if bone.parent:
            yield (ob, bone.parent.name)
        yield from _constraint_targets(bone)
        yield from self._solver_targets(ob)
        yield from self._driver_targets(ob, bone.name)

    def _solver_targets(self, ob: Object) -> list[Carrier]:
        """What any bone's IK follows, which may turn any other bone."""
        if ob not in self._solvers:
            bones = [
                bone for bone in bones_of(ob) if any(each.type in {"IK", "SPLINE_IK"} for each in bone.constraints)
            ]
            self._solvers[ob] = [carrier for bone in bones for carrier in _constraint_targets(bone)]
        return self._solvers[ob]

    def _driver_targets(self, ob: Object, bone: str) -> list[Carrier]:
        """What the drivers of a bone, or with no name those of the object itself, read."""
        if ob not in self._drivers:
            found: dict[str, list[Carrier]] = {}
            for curve in ob.animation_data.drivers if ob.animation_data else ():
                found.setdefault(split_path(curve.data_path)[0], []).extend(_driver_targets(curve))
            self._drivers[ob] = found
        return self._drivers[ob].get(bone, [])


def _constraint_targets(owner: Any) -> Iterator[Carrier]:
    for constraint in owner.constraints:
        for of in (constraint, *getattr(constraint, "targets", ())):
            if getattr(of, "target", None):
                yield (of.target, getattr(of, "subtarget", ""))
        if getattr(constraint, "pole_target", None):
            yield (constraint.pole_target, constraint.pole_subtarget)


def _driver_targets(curve: Any) -> Iterator[Carrier]:
    for variable in curve.driver.variables if curve.driver else ():
        for target in variable.targets:
            if isinstance(target.id, Object):
                named = split_path(target.data_path)[0] if variable.type == "SINGLE_PROP" else ""
                yield (target.id, named or target.bone_target)
