"""Making mechanisms real, and taking them away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from bpy.types import Context, Object, PoseBone
from mathutils import Matrix

from ..blender.animation import drivers_of, drop_if_empty
from ..blender.editing import collect, edit_mode, frame_held, remove_bones, unkeyed_kept
from ..blender.fcurves import reset
from ..blender.types import ArmatureObject, all_objects, is_armature, path_to_bone, path_to_custom, split_path
from ..limb.follow import Follow
from ..limb.foot_roll import goal_of
from ..limb.settings import ALL, MADE_BY_US, MADE_FOR_LIMB
from ..limb.storage import align, by_rig, chain_bones, is_ours
from .inventory import SPEC, built_of, inventory_of
from .letters import LETTERS
from .parts import CHANNEL, POLE, TARGET, Constraint, Driver, Parts, Variable, parts_of
from .spec import Spec, to_json

COLLECTION = "MCH Planar IK"
"""The bone collection of all helper bones."""

HELPER_NAME = re.compile(r"MCH-[0-9a-f]{8}-\w+")
"""What helper bones are called, whose drivers stay where somebody deletes them."""

Names = dict[str, str]
"""Of bones, by role."""

Limb = tuple[ArmatureObject, Spec, Follow]


def build(context: Context, limbs: Sequence[Limb]) -> None:
    """Make mechanisms for limbs that have none, in one visit to Edit Mode for each rig."""
    mechanisms: list[Mechanism] = []
    rigs = list(dict.fromkeys(ob for ob, _, _ in limbs))
    with unkeyed_kept(context, rigs):
        for ob in rigs:
            with edit_mode(context, ob):
                for limb in limbs:
                    if limb[0] == ob:
                        mechanisms.append(Mechanism(*limb, parts_of(limb[1]), names_in(limb[1])))
                        _make_bones(mechanisms[-1])
        with frame_held():  # not around Edit Mode, which has to see the window's own scene
            for mechanism in mechanisms:
                _finish(mechanism)


def remove(context: Context, lasts: Iterable[PoseBone]) -> None:
    """Take the mechanisms of limbs away, by their last bones, and with them those on the same rigs that are no limb's
    any more."""
    removals: list[Removal] = []
    for ob, bones in by_rig(lasts).items():
        inventory = inventory_of(ob)
        removals += [
            Removal(ob, [bone.name for bone in chain_bones(last)], inventory.helpers_of(last.name).values())
            for last in bones
        ]
        removals.append(Removal(ob, (), inventory.strays))
    _take_away(context, removals)


def retarget(last: PoseBone) -> None:
    """Have the mechanism of a limb, if it has one, follow what the limb does now."""
    ob, follow = last.id_data, goal_of(last)
    inventory = inventory_of(ob)
    names, spec = inventory.helpers_of(last.name), built_of(inventory, last.name)
    for constraint in parts_of(spec).constraints if spec else ():
        if constraint.target in (TARGET, POLE) and constraint.bone in names:
            real = ob.pose.bones[names[constraint.bone]].constraints.get(constraint.name)
            if real is not None:
                _aim(real, *aim_of(constraint, ob, names, follow))


class Mechanism(NamedTuple):
    """A limb whose mechanism is being made, and the names of all bones by role, as far as they are there."""

    ob: ArmatureObject
    spec: Spec
    follow: Follow
    parts: Parts
    names: Names


def names_in(spec: Spec) -> Names:
    """The names of those bones that are there without a mechanism."""
    return {"last": spec.last, "parent": spec.parent} | {f"bone {k}": bone for k, bone in enumerate(spec.bones, 1)}


def _make_bones(mechanism: Mechanism) -> None:
    """Make the bones of a mechanism, in Edit Mode."""
    bones = mechanism.ob.data.edit_bones
    first, length = bones[mechanism.spec.bones[0]], 0.2 * sum(mechanism.spec.lengths)
    # As armatures are joined, Blender loses drivers of bones whose names have another's in them: these have none.
    prefix = f"MCH-{crc32(f'{mechanism.ob.name} {mechanism.spec.last}'.encode()):08x}-"
    for helper in mechanism.parts.bones:
        bone: Any = bones.new(f"{prefix}{helper.role.replace(' ', '')}")
        mechanism.names[helper.role] = bone.name
        bone[MADE_FOR_LIMB] = helper.role
        rest = Matrix((helper.rest[:4], helper.rest[4:8], helper.rest[8:12], helper.rest[12:]))
        bone.head, bone.tail = rest.translation, rest.translation + rest.col[1].to_3d() * length
        bone.matrix = rest
        bone.length = length
        bone.use_deform = False
        if helper.role == "root":
            if mechanism.spec.is_askew:
                bone.head, bone.tail, bone.roll = first.head, first.tail, first.roll
            bone.parent = first.parent
            bone.inherit_scale, bone.use_inherit_rotation = first.inherit_scale, first.use_inherit_rotation
        else:
            bone.parent = bones[mechanism.names[helper.parent]]


def _finish(mechanism: Mechanism) -> None:
    """Make what mechanisms have in Pose Mode."""
    ob, pose = mechanism.ob, mechanism.ob.pose.bones
    for helper in mechanism.parts.bones:
        bone = pose[mechanism.names[helper.role]]
        bone.rotation_mode, bone.location = helper.order, helper.location  # type: ignore[assignment]
        collect(ob, bone.bone, COLLECTION).is_visible = False
    ob.data.bones[mechanism.names["root"]][SPEC] = to_json(mechanism.spec)
    if mechanism.spec.is_uneven:
        align(pose[mechanism.spec.last])
    for constraint in mechanism.parts.constraints:
        _constrain(mechanism, constraint)
    for driver in mechanism.parts.drivers:
        _drive(mechanism, driver)


def _constrain(mechanism: Mechanism, constraint: Constraint) -> None:
    new: Any = mechanism.ob.pose.bones[mechanism.names[constraint.bone]].constraints.new(constraint.type)  # type: ignore[arg-type]
    new.name, new.show_expanded = constraint.name, False
    _aim(new, *aim_of(constraint, mechanism.ob, mechanism.names, mechanism.follow))
    for name, value in constraint.settings:
        setattr(new, name, value)
    if constraint.space:
        new.space_object, new.space_subtarget = mechanism.ob, mechanism.names[constraint.space]


def aim_of(constraint: Constraint, ob: ArmatureObject, names: Names, follow: Follow) -> tuple[Object | None, str]:
    """What a constraint is to follow: an object and the name of a bone of it."""
    if constraint.target in (TARGET, POLE):
        return follow.pairs[(TARGET, POLE).index(constraint.target)]
    return ob, names[constraint.target]


def _aim(constraint: Any, ob: Object | None, bone: str) -> None:
    constraint.target = ob
    constraint.subtarget = bone


def _drive(mechanism: Mechanism, driver: Driver) -> None:
    """Make a driver, and read it back: Blender cuts what is too long and says nothing."""
    path = f"{path_to_bone(mechanism.names[driver.bone])}.{driver.path}"
    curve: Any = mechanism.ob.driver_add(path, driver.channel)
    reset(curve)  # its keys would round numbers near 0 and 1 (5.2)
    new = curve.driver
    new.type = kind_of(driver)
    for variable in driver.variables:
        added = new.variables.new()
        added.name, added.type = variable.letter, variable.type
        _read(added.targets, variable, mechanism)
    if new.type == "SCRIPTED":
        new.expression = driver.expression
        if new.expression != driver.expression or not new.is_simple_expression:
            raise RuntimeError(f"Blender does not take the expression {driver.expression}")


def kind_of(driver: Driver) -> str:
    """The type of a driver: where all of it is what it reads, no expression is needed."""
    return "SUM" if driver.expression in LETTERS else "SCRIPTED"


def _read(targets: Any, variable: Variable, mechanism: Mechanism) -> None:
    for target, read in zip(targets, variable.reads, strict=True):
        target.id = mechanism.ob
        if not read.space:
            path = path_to_custom(mechanism.names[read.bone], read.what)
            target.data_path = path if read.item == ALL else f"{path}[{read.item}]"
            continue
        if read.space == CHANNEL:
            target.data_path = f"{path_to_bone(mechanism.names[read.bone])}.{read.what}"
            continue
        target.bone_target, target.transform_space = mechanism.names[read.bone], read.space
        if read.what:
            target.transform_type = read.what


class Removal(NamedTuple):
    """What is to be taken away: helper bones, and what poses some bones of the limb, all by name."""

    ob: ArmatureObject
    bones: Iterable[str]
    helpers: Iterable[str]


def _take_away(context: Context, removals: Sequence[Removal]) -> None:
    """Take away helper bones, with what is then empty."""
    helpers: dict[ArmatureObject, set[str]] = {removal.ob: set() for removal in removals}
    limbs: dict[ArmatureObject, set[str]] = {removal.ob: set() for removal in removals}
    for removal in removals:
        helpers[removal.ob].update(removal.helpers)
        limbs[removal.ob].update(removal.bones)
    with unkeyed_kept(context, helpers), frame_held():
        for ob, names in helpers.items():
            _let_go(ob, names, limbs[ob])
            if ob.data.users > 1:
                names.difference_update(_used_by_others(ob))
    remove_bones(context, helpers, COLLECTION)


def _let_go(ob: ArmatureObject, helpers: set[str], limbs: set[str]) -> None:
    """Take away the constraints of the bones of limbs, and all drivers."""
    driven = set(limbs)
    for bone in ob.pose.bones:
        for constraint in [*bone.constraints]:
            if is_ours(constraint) and (bone.name in limbs or getattr(constraint, "subtarget", "") in helpers):
                driven.add(bone.name)
                bone.constraints.remove(constraint)
    for curve in drivers_of(ob):
        name, path = split_path(curve.data_path)
        is_stray = HELPER_NAME.match(name) and name not in ob.pose.bones
        if name in helpers or is_stray or (name in driven and path.startswith(f'constraints["{MADE_BY_US}')):
            ob.animation_data.drivers.remove(curve)  # type: ignore[union-attr]  # it has drivers
    drop_if_empty(ob)


def _used_by_others(ob: ArmatureObject) -> set[str]:
    """The helper bones that limbs of other objects of the same armature take over from, and what these need."""
    used: set[str] = set()
    for other in all_objects():
        if other.data == ob.data and other != ob and is_armature(other):
            used.update(name for roles in inventory_of(other).used for name in roles.values())
    return used
