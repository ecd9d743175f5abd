"""The difference between what there is of one limb on its rig and what is to be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from . import making
from .description import Description, LimbRef
from .inventory import Inventory
from .needed import Needed, needed_of
from .parts import ConstraintSpec, DriverSpec, HelperBone, Parts
from .there import ExistingParts, ExistingPartsOfRig

NO_PARTS = ExistingParts({}, set(), set(), {}, None)
"""Nothing, or nothing that is to stay."""

Pair = tuple[str, str]
"""A constraint, by the names of its bone and its own."""

Driven = tuple[str, str, int]
"""A driver, by the name of its bone, the path from there, and the channel."""


class LimbChanges(NamedTuple):
    """What has to change on a rig for one limb: helper bones to add (``new`` are their roles if they don't exist) and
    to remove, constraints and drivers to add and to remove, and constraints with the wrong target (``astray``).
    ``new_controls`` are those that were made for it, by kind."""

    limb: LimbRef
    description: Description | None
    there: ExistingParts
    needed: Needed
    new: set[str]
    bones_on: list[HelperBone]
    bones_off: set[str]
    constraints_on: list[ConstraintSpec]
    constraints_off: set[Pair]
    astray: list[Pair]
    drivers_on: list[DriverSpec]
    drivers_off: set[Driven]
    new_controls: dict[str, Any]

    @property
    def is_needed(self) -> bool:
        """Whether anything has to change."""
        off = (self.bones_off, self.constraints_off, self.drivers_off)
        return self.description is None or any(
            (self.bones_on, self.constraints_on, self.drivers_on, *off, self.controls)
        )

    @property
    def controls(self) -> dict[str, Any]:
        """The controls to be made for the limb, by kind."""
        pairs = {"target": self.description.target, "pole": self.description.pole} if self.description else {}
        return {kind: ref for kind, ref in pairs.items() if hasattr(ref, "kind")}


def changes_for(
    ref: LimbRef, description: Description | None, on_rig: ExistingPartsOfRig, there: ExistingParts, anew: bool
) -> LimbChanges:
    """What has to change for a limb to be as described, or to be removed; with ``anew``, nothing that exists is
    kept."""
    stays = NO_PARTS if anew or description is None else there
    needed = needed_of(ref, description, stays) if description else Needed(Parts(), {}, None)
    parts, refs = needed.parts, needed.refs
    new = {bone.role for bone in parts.bones if not refs[bone.role][1]}
    constraints = {(_name_of(item.bone, refs), item.name): item for item in parts.constraints}
    kept = {pair for pair in stays.constraints if pair in constraints and _is_of_kind(ref, pair, constraints[pair])}
    constraints_off = there.constraints - kept
    drivers = {(_name_of(item.bone, refs), item.path, max(item.channel, 0)): item for item in parts.drivers}
    owned = _owned(on_rig.inventory, there)
    acting = {key for key in owned & {*drivers} if _drives(on_rig.inventory, key, drivers[key], refs)}
    acting -= _curves_of(on_rig.inventory, constraints_off)
    return LimbChanges(
        limb=ref,
        description=description,
        there=there,
        needed=needed,
        new=new,
        bones_on=[bone for bone in parts.bones if bone.role in new or not _rests_so(ref, bone, refs)],
        bones_off=there.bones - {refs[bone.role][1] for bone in parts.bones},
        constraints_on=[
            item for pair, item in constraints.items() if pair not in kept or not _is_so(ref, pair, item, refs)
        ],
        constraints_off=constraints_off,
        astray=[pair for pair in kept if not making.is_aimed(_made(ref, pair), constraints[pair], refs)],
        drivers_on=[item for key, item in drivers.items() if key not in acting],
        drivers_off=owned - acting,
        new_controls={},
    )


def _name_of(role: str, refs: making.Refs) -> str:
    """The name of the bone with a role, and of one that is yet to be made its role."""
    return str(refs[role][1] or f"new {role}")


def _rests_so(ref: LimbRef, bone: HelperBone, refs: making.Refs) -> bool:
    return making.rests_so(ref[0], bone, refs[bone.role][1], refs)


# constraints


def _made(ref: LimbRef, pair: Pair) -> Any:
    return ref[0].pose.bones[pair[0]].constraints[pair[1]]


def _is_of_kind(ref: LimbRef, pair: Pair, constraint: ConstraintSpec) -> bool:
    return bool(_made(ref, pair).type == constraint.type)


def _is_so(ref: LimbRef, pair: Pair, constraint: ConstraintSpec, refs: making.Refs) -> bool:
    real = _made(ref, pair)
    return making.is_aimed(real, constraint, refs) and making.is_set(real, constraint)


# drivers


def _owned(inventory: Inventory, there: ExistingParts) -> set[Driven]:
    """The drivers of helper bones, and of constraints of ours."""
    of_bones = {(bone, *key) for bone in there.bones for key in inventory.drivers.get(bone, ())}
    return of_bones | _curves_of(inventory, there.constraints)


def _curves_of(inventory: Inventory, constraints: Iterable[Pair]) -> set[Driven]:
    return {
        (bone, *key)
        for bone, name in constraints
        for key in inventory.drivers.get(bone, ())
        if key[0].startswith(f'constraints["{name}"]')
    }


def _drives(inventory: Inventory, key: Driven, driver: DriverSpec, refs: making.Refs) -> bool:
    curve = inventory.drivers[key[0]][key[1:]]
    return not curve.mute and curve.driver.is_valid and making.drives_so(inventory.ob, curve, driver, refs)
