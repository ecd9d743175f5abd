"""What a rig has of the parts of limbs, whole or not, however things were renamed since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..blender.types import ArmatureObject, split_path
from ..limb.follow import follow_of
from ..limb.foot_roll import PIVOTS, ROLL_CONTROL, ROLLED_TARGET, flat_toes, helpers_of
from ..limb.pole_follow import CONSTRAINT as FOLLOWING_POLE
from ..limb.pole_follow import HUNG_ON_TARGET, STILL, is_still_helper
from ..limb.settings import SLIDERS
from ..limb.storage import chain_bones, group_of, is_mechanism_constraint
from ..limb.tips import foot_of
from .inventory import Inventory, bones_turned_by_rolls, inventory_of, roll_helpers
from .parts import Parts
from .spec import Spec

OUR_PATHS = tuple({f'["{slider.key}"]' for slider in SLIDERS})
"""How the paths begin from a limb's last bone to its sliders."""


class ExistingParts(NamedTuple):
    """The parts of one limb that exist on its rig: helper bones by role, useless ones, constraints by bone and name,
    and the parents that poles with Pole Follow have without it."""

    helpers: dict[str, str]
    useless: set[str]
    constraints: set[tuple[str, str]]
    parents: dict[str, str]
    built: Spec | None

    @property
    def bones(self) -> set[str]:
        """The names of all helper bones."""
        return {*self.helpers.values()} | self.useless


class ExistingPartsOfRig:
    """The parts of all limbs that exist on one rig, complete or not, whatever they are called now."""

    def __init__(self, ob: ArmatureObject) -> None:
        self.ob = ob
        self.inventory: Inventory = inventory_of(ob)
        self.ours: list[tuple[str, Any]] = [
            (bone.name, constraint)
            for bone in ob.pose.bones
            for constraint in bone.constraints
            if is_mechanism_constraint(constraint)
        ]
        self._turned = bones_turned_by_rolls(ob)
        self._ours_by_bone: dict[str, list[str]] = {}
        self._aimed_at: dict[str, list[tuple[str, str]]] = {}
        for bone, constraint in self.ours:
            self._ours_by_bone.setdefault(bone, []).append(constraint.name)
            self._aimed_at.setdefault(getattr(constraint, "subtarget", ""), []).append((bone, constraint.name))
        self._driven: dict[str, set[tuple[str, str]]] = {}  # by the last bones of the limbs that do
        for bone, curves in self.inventory.drivers.items():
            for (path, _), curve in curves.items():
                names = [name for name in self._ours_by_bone.get(bone, ()) if path.startswith(f'constraints["{name}"]')]
                for limb in limbs_driving(curve) if names else ():
                    self._driven.setdefault(limb, set()).update((bone, name) for name in names)

    def of_limb(self, name: str) -> ExistingParts:
        """The parts of one limb."""
        limb = self.ob.pose.bones[name]
        roll = {role: bone.name for role, bone in helpers_of(limb).items()}
        if not {ROLL_CONTROL, *PIVOTS, ROLLED_TARGET} <= roll.keys():
            roll = {}
        helpers = self.inventory.helpers_of(name) | roll
        useless = roll_helpers(limb, self._turned.get(name, ())) - {*helpers.values()}
        bones = {*helpers.values()} | useless
        near = {bone.name for bone in chain_bones(limb)} | {bone.name for bone in _below(limb)}
        constraints = {*self._driven.get(name, ())}
        constraints |= {(bone, constraint) for bone in near | bones for constraint in self._ours_by_bone.get(bone, ())}
        constraints |= {pair for bone in bones for pair in self._aimed_at.get(bone, ())}
        constraints |= {
            (bone, constraint.name)  # whatever somebody called it since
            for bone in near
            for constraint in self.ob.pose.bones[bone].constraints
            if getattr(constraint, "subtarget", "") in bones and getattr(constraint, "target", None) == self.ob
        }
        pole = follow_of(limb).pole_subtarget
        carried = (pole, FOLLOWING_POLE)
        is_there = FOLLOWING_POLE in self._ours_by_bone.get(pole, ())
        if is_there and not any(carried in driven for driven in self._driven.values()):
            constraints.add(carried)
        parents: dict[str, str] = {}
        for bone in [bone for bone, constraint in constraints if constraint == FOLLOWING_POLE]:
            parents[bone], still = self._hung_on(limb, bone)
            if still:
                helpers[STILL] = still
        return ExistingParts(helpers, useless, constraints, parents, self.inventory.built_of(name))

    def _hung_on(self, limb: Any, pole: str) -> tuple[str, str]:
        """What a pole hangs on without Pole Follow, and the helper that never moves, if there is one that no other pole
        needs."""
        carrying: Any = self.ob.pose.bones[pole].constraints[FOLLOWING_POLE]
        names = [target.subtarget for target in carrying.targets]
        if len(names) != 2:
            return "", ""
        above = "" if is_still_helper(self.ob, names[0]) else names[0]
        others = {
            target.subtarget
            for bone, constraint in self.ours
            if constraint.name == FOLLOWING_POLE and bone != pole
            for target in constraint.targets
        }
        still = names[0] if not above and names[0] in self.ob.data.bones and names[0] not in others else ""
        return (names[1] if (group_of(limb) or {}).get(HUNG_ON_TARGET) else above), still


Driven = tuple[str, str, int]
"""A driver, by the name of its bone, the path from there, and the channel."""


def drivers_of_parts(inventory: Inventory, there: ExistingParts) -> list[Driven]:
    """The drivers of a limb's helper bones, and of its constraints."""
    found = {(bone, *key) for bone in there.bones for key in inventory.drivers.get(bone, ())}
    for bone, name in there.constraints:
        paths = inventory.drivers.get(bone, ())
        found |= {(bone, *key) for key in paths if key[0].startswith(f'constraints["{name}"]')}
    return sorted(found)


def is_whole(inventory: Inventory, parts: Parts, refs: Mapping[str, Any]) -> bool:
    """Whether parts are there and act; whether they do what they are to do, the pose shows."""
    ob: Any = inventory.ob
    if any(refs[bone.role][1] not in ob.data.bones for bone in parts.bones):
        return False
    if any(ob.data.bones[refs[role][1]].parent for role in parts.free):
        return False
    for driver in parts.drivers:
        curve = inventory.drivers.get(refs[driver.bone][1], {}).get((driver.path, max(driver.channel, 0)))
        if curve is None or curve.mute or not curve.driver.is_valid:
            return False
    for constraint in parts.constraints:
        real: Any = ob.pose.bones[refs[constraint.bone][1]].constraints.get(constraint.name)
        if real is None or real.type != constraint.type or real.mute or not real.enabled:
            return False
    return True


def _below(limb: Any) -> Iterator[Any]:
    """The foot of a limb and its flat toes."""
    foot = foot_of(limb)
    if foot is not None:
        yield foot
        yield from flat_toes(limb)


def limbs_driving(curve: Any) -> Iterable[str]:
    """The last bones of the limbs whose sliders a driver reads: Blender has that follow the bones' names."""
    for variable in curve.driver.variables:
        for target in variable.targets:
            bone, path = split_path(target.data_path)
            if bone and path.startswith(OUR_PATHS):
                yield bone
