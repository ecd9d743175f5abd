"""What a rig has of the parts of limbs, whole or not, however things were renamed since."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from bpy.types import Bone, PoseBone

from ..blender.animation import drivers_of
from ..blender.types import ArmatureObject, split_path
from ..limb.features.pole_follow import CONSTRAINT as FOLLOWING_POLE
from ..limb.features.pole_follow import STILL
from ..limb.features.roll import PIVOTS, ROLL_CONTROL, ROLL_ROLES, ROLLED_TARGET
from ..limb.follow import HUNG_ON_TARGET, flat_toes, follow_of, helpers_of, is_still_helper, role_of
from ..limb.parts import Parts
from ..limb.settings import MADE_FOR_LIMB, every_slider, slider_of
from ..limb.spec import Spec
from ..limb.storage import chain_bones, group_of, is_mechanism_constraint
from ..limb.tips import foot_of
from .spec import from_json

OUR_PATHS = tuple({slider.path for slider in every_slider()})
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


ROLES: tuple[str, ...] = (
    "root",
    "origin",
    "target_in_frame",
    "span",
    "group 1",
    "group 2",
    "scale",
    "fold",
    "largest share",
    "free",
)
ROLES += ("ends", "misses", *(f"{kind} {k}" for kind in ("turn", "reference") for k in range(1, 5)))
ALL_ROLES = (*ROLES, *ROLL_ROLES)
ROLES_IN_NAMES = "|".join(role.replace(" ", "") for role in ALL_ROLES)
HELPER_NAME = re.compile(rf"MCH-.+-(?:{ROLES_IN_NAMES})(?:\.[LR])?(?:\.\d+)?$")
"""What helper bones are called, whose drivers stay where somebody deletes them."""

SPEC = "planar_ik.spec"
"""The custom property of a root helper that holds the spec it was made of."""


class Inventory(NamedTuple):
    """The mechanisms of a rig. ``roles`` has, for each root helper, its helpers' names by role; ``roots`` the root of
    each limb that has one, by the limb's last bone; ``lost`` the helpers without a root; ``drivers`` those of each
    bone, by path from there and channel."""

    ob: ArmatureObject
    roles: dict[str, dict[str, str]]
    roots: dict[str, str]
    lost: list[str]
    drivers: dict[str, dict[tuple[str, int], Any]]

    def helpers_of(self, limb_name: str) -> dict[str, str]:
        """The names of a limb's helper bones by role; empty without a mechanism."""
        return self.roles.get(self.roots.get(limb_name, ""), {})

    def built_of(self, limb_name: str) -> Spec | None:
        """The spec that the mechanism of a limb was made of."""
        root = self.roots.get(limb_name)
        bone: Any = self.ob.data.bones[root] if root else {}
        return from_json(bone.get(SPEC, ""))

    @property
    def used(self) -> list[dict[str, str]]:
        """The names of helper bones by role, of all mechanisms that are a limb's."""
        return [self.roles[root] for root in self.roots.values()]

    @property
    def strays(self) -> list[str]:
        """Helpers that are no limb's any more: its bones were deleted, or theirs."""
        roots = set(self.roots.values())
        return self.lost + [name for root, roles in self.roles.items() if root not in roots for name in roles.values()]


def inventory_of(ob: ArmatureObject) -> Inventory:
    """Look for the mechanisms of a rig."""
    drivers: dict[str, dict[tuple[str, int], Any]] = {}
    for curve in drivers_of(ob):
        bone, path = split_path(curve.data_path)
        drivers.setdefault(bone, {})[path, curve.array_index] = curve
    roles: dict[str, dict[str, str]] = {}
    lost: list[str] = []
    for helper in ob.data.bones:
        role, root = role_of(helper), root_of(helper)
        if root is not None:
            roles.setdefault(root.name, {})[role] = helper.name  # of whichever version
        elif role in ROLES:
            lost.append(helper.name)
    roots: dict[str, str] = {}
    for root, helpers in roles.items():
        flipped = helpers.get("free", helpers.get("turn 1", ""))
        for curve in drivers.get(flipped, {}).values():
            limb = _reads_slider(curve)
            if limb in ob.pose.bones:
                roots.setdefault(limb, root)
    return Inventory(ob, roles, roots, lost, drivers)


ROLLING = tuple(slider_of(name).path for name in ("roll", "bank"))
"""The paths from a limb's last bone to what rolls its foot."""


def bones_turned_by_rolls(ob: ArmatureObject) -> dict[str, set[str]]:
    """The names of bones that are turned by the foot rolls of limbs, by the names of these limbs' last bones."""
    by_limb: dict[str, set[str]] = {}
    for curve in drivers_of(ob):
        for variable in curve.driver.variables:
            limb, path = split_path(variable.targets[0].data_path)
            if limb and path in ROLLING:
                by_limb.setdefault(limb, set()).add(split_path(curve.data_path)[0])
    return by_limb


def roll_helpers(limb: PoseBone, rolled: Iterable[str] | None = None) -> set[str]:
    """The names of all bones that were made for the foot roll of a limb, also where some are missing: those that it
    turns (``rolled``, if that is known), and what hangs together with these."""
    names = {bone.name for bone in helpers_of(limb).values()}
    names |= {*(bones_turned_by_rolls(limb.id_data).get(limb.name, ()) if rolled is None else rolled)}
    bones = [bone for bone in bones_named(limb, names) if role_of(bone) in ROLL_ROLES]
    tops = {[bone, *bone.parent_recursive][-1] for bone in bones}
    return {bone.name for top in tops for bone in (top, *top.children_recursive) if role_of(bone) in ROLL_ROLES}


def bones_named(limb: PoseBone, names: Iterable[str]) -> list[Bone]:
    """The bones of a limb's armature that have these names."""
    bones = limb.id_data.data.bones
    return [bones[name] for name in names if name in bones]


def root_of(bone: Any) -> Any:
    """The root helper that a bone of an armature hangs on, or is; None for a bone that is no helper."""
    while bone is not None and MADE_FOR_LIMB in bone:
        if bone[MADE_FOR_LIMB] == "root":
            return bone
        bone = bone.parent
    return None


def _reads_slider(curve: Any) -> str:
    """The name of the last bone whose sliders a driver reads: Blender has that follow the bone's name."""
    for variable in curve.driver.variables:
        bone, path = split_path(variable.targets[0].data_path)
        if bone and slider_of("flip").key in path:
            return bone
    return ""
