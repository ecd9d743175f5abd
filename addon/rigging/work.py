"""The difference between what there is of one limb on its rig and what is to be."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..limb.storage import chain_bones
from . import making
from .description import Description, LimbRef
from .needed import Needed, needed_of
from .parts import Constraint, Driver, Parts
from .spec import differs, spec_of
from .there import PartsThere, There

NONE = There({}, set(), set(), {}, None)
"""Nothing, or nothing that is to stay."""


class Work:
    """What is to be done for one limb: helper bones to be laid, and to be removed, by name; constraints and drivers to
    be made, and to be taken off, those by the names of their bones and their own names or paths."""

    def __init__(self, limb: LimbRef, wish: Description | None, on_rig: PartsThere, there: There, anew: bool) -> None:
        self.limb, self.wish, self.there = limb, wish, there
        self.new_controls: dict[str, Any] = {}  # the controls that were made for it, by what they are
        stays = NONE if anew or wish is None else there
        self.needed = needed_of(limb, wish, stays) if wish else Needed(Parts(), {}, None)
        self._on_rig, self._rest = on_rig, self._rest_now()
        parts, refs = self.needed.parts, self.needed.refs
        self.new = {bone.role for bone in parts.bones if not refs[bone.role][1]}
        moved = {bone.role for bone in parts.bones if bone.role not in self.new and not self._rests_so(bone)}
        self.bones_on = [bone for bone in parts.bones if bone.role in self.new | moved]
        self.bones_off = there.bones - {refs[bone.role][1] for bone in parts.bones}
        constraints = {(self._name_of(item.bone), item.name): item for item in parts.constraints}
        there_now = {pair for pair in stays.constraints if pair in constraints and self._is_kind(*pair, constraints)}
        self.constraints_off = there.constraints - there_now
        self.constraints_on = [
            item for pair, item in constraints.items() if pair not in there_now or not self._is_so(*pair, item)
        ]
        self.astray = [pair for pair in there_now if not making.is_aimed(self._made(*pair), constraints[pair], refs)]
        drivers = {(self._name_of(item.bone), item.path, max(item.channel, 0)): item for item in parts.drivers}
        owned = set(self._curves_owned())
        stay = {key for key in owned & {*drivers} if self._drives(key, drivers[key])} - self._curves_of(
            self.constraints_off
        )
        self.drivers_off = owned - stay
        self.drivers_on = [item for key, item in drivers.items() if key not in stay]

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to do."""
        lists = (
            self.bones_on,
            self.bones_off,
            self.constraints_on,
            self.constraints_off,
            self.drivers_on,
            self.drivers_off,
        )
        return self.wish is None or any(lists) or bool(self.controls)

    @property
    def controls(self) -> dict[str, Any]:
        """The controls that are to be made for the limb, by what they are."""
        pairs = {"target": self.wish.target, "pole": self.wish.pole} if self.wish else {}
        return {kind: ref for kind, ref in pairs.items() if hasattr(ref, "kind")}

    @property
    def has_shifted(self) -> bool:
        """Whether the limb rests so much elsewhere that its new mechanism does not fit: Blender does that once as it
        leaves Edit Mode, with files of 2.7x and 2.8x."""
        spec = self.needed.spec
        if spec is None or np.array_equal(self._rest, self._rest_now()):
            return False
        return differs(spec, spec_of(self.limb[0].pose.bones[self.limb[1]]))

    def _name_of(self, role: str) -> str:
        """The name of the bone with a role, and of one that is yet to be made its role."""
        return str(self.needed.refs[role][1] or f"new {role}")

    def _rest_now(self) -> Any:
        last = self.limb[0].pose.bones[self.limb[1]]
        return np.array([bone.bone.matrix_local for bone in chain_bones(last)])

    def _rests_so(self, bone: Any) -> bool:
        refs = self.needed.refs
        return making.rests_so(self.limb[0], bone, refs[bone.role][1], refs)

    def _made(self, bone: str, name: str) -> Any:
        return self.limb[0].pose.bones[bone].constraints[name]

    def _is_kind(self, bone: str, name: str, constraints: dict[tuple[str, str], Constraint]) -> bool:
        return bool(self._made(bone, name).type == constraints[bone, name].type)

    def _is_so(self, bone: str, name: str, constraint: Constraint) -> bool:
        constraint_now = self._made(bone, name)
        is_aimed = making.is_aimed(constraint_now, constraint, self.needed.refs)
        return is_aimed and making.is_set(constraint_now, constraint)

    def _curves_owned(self) -> set[tuple[str, str, int]]:
        """The drivers of helper bones, and of constraints of ours."""
        drivers = self._on_rig.inventory.drivers
        of_bones = {(bone, *key) for bone in self.there.bones for key in drivers.get(bone, ())}
        return of_bones | self._curves_of(self.there.constraints)

    def _curves_of(self, constraints: set[tuple[str, str]]) -> set[tuple[str, str, int]]:
        drivers = self._on_rig.inventory.drivers
        return {
            (bone, *key)
            for bone, name in constraints
            for key in drivers.get(bone, ())
            if key[0].startswith(f'constraints["{name}"]')
        }

    def _drives(self, key: tuple[str, str, int], driver: Driver) -> bool:
        curve = self._on_rig.inventory.drivers[key[0]][key[1:]]
        return (
            not curve.mute and curve.driver.is_valid and making.drives_so(self.limb[0], curve, driver, self.needed.refs)
        )
