"""What a rig has of mechanisms: their bones by role, and whose they are, however things were renamed since."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from bpy.types import Bone, PoseBone

from ..blender.animation import drivers_of
from ..blender.types import ArmatureObject, split_path
from ..limb.foot_roll import ROLL_ROLES, helpers_of, role_of
from ..limb.settings import MADE_FOR_LIMB, SLIDER
from .parts import MECHANISM_ROLES
from .spec import Spec, from_json

ROLES_IN_NAMES = "|".join(role.replace(" ", "") for role in (*MECHANISM_ROLES, *ROLL_ROLES))
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
        elif role in MECHANISM_ROLES:
            lost.append(helper.name)
    roots: dict[str, str] = {}
    for root, helpers in roles.items():
        flipped = helpers.get("free", helpers.get("turn 1", ""))
        for curve in drivers.get(flipped, {}).values():
            limb = _reads_slider(curve)
            if limb in ob.pose.bones:
                roots.setdefault(limb, root)
    return Inventory(ob, roles, roots, lost, drivers)


ROLLING = tuple(f'["{SLIDER[name].key}"]' for name in ("roll", "bank"))
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
        if bone and SLIDER["flip"].key in path:
            return bone
    return ""
