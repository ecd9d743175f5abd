"""Making mechanisms real, and taking them away."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import bpy
from bpy.types import Context, PoseBone
from mathutils import Vector

from ...rig.chain_settings import holder_of
from ...rig.data import fcurves
from ...rig.data.access import ArmatureObject, is_armature, made_on
from ...rig.data.animation import bone_of_driver, clear_if_empty, drivers_of, drivers_on
from ...rig.data.editing import edit_mode
from ...rig.data.unkeyed import frame_held
from ...rig.settings import BY_NAME, ON_RIG, PART
from ...rig.targets import Target
from .expressions import LONGEST
from .found import Found, drivers_of_nothing, exposed
from .parts import COLLECTION, DISTANCE, Bone, Constraint, Driver, Mechanism, Property, property_path
from .references import collection_of, goals_left, stranded, unused_worlds
from .rest import shift_below


class RigPlan(NamedTuple):
    """Mechanisms of a rig's chains, and the armature that they are to be made in: the rig itself or its annex."""

    rig: ArmatureObject
    host: ArmatureObject
    mechanisms: list[Mechanism]


def build(context: Context, plans: list[RigPlan]) -> None:
    """Make mechanisms real, in armatures that can be edited `at_once`."""
    with edit_mode(context, *(plan.host for plan in plans)):
        for plan in plans:
            for mechanism in plan.mechanisms:
                shifts: dict[str, Vector] = {}
                for bone in mechanism.bones:
                    _make_bone(plan.host, bone, shifts)
    with frame_held():
        for plan in plans:
            _finish(*plan)


def demolish(context: Context, plans: list[RigPlan]) -> None:
    """Take away again what was made of plans before something kept them from being carried out."""
    gone: dict[ArmatureObject, set[str]] = {}
    for rig, host, mechanisms in plans:
        for driver in (each for mechanism in mechanisms for each in mechanism.drivers):
            ob = _owner(rig, host, driver.bone)
            _remove_drivers(ob, drivers_on(ob, property_path(driver.bone, driver.path)))
        for constraint in (each for mechanism in mechanisms for each in mechanism.constraints):
            bone = _owner(rig, host, constraint.bone).pose.bones.get(constraint.bone)
            if bone and constraint.name in bone.constraints:
                bone.constraints.remove(bone.constraints[constraint.name])
        for prop in (each for mechanism in mechanisms for each in mechanism.properties):
            if prop.bone in host.pose.bones:
                host.pose.bones[prop.bone].pop(ON_RIG + prop.setting, None)
        names = {bone.name for mechanism in mechanisms for bone in mechanism.bones}
        gone.setdefault(host, set()).update(names.intersection(bone.name for bone in host.data.bones))
    _remove_bones(context, gone)
    for host in gone:
        collection: Any = host.data.collections.get(COLLECTION)
        if collection and not any(collection.bones_recursive):
            host.data.collections.remove(collection)


def _finish(rig: ArmatureObject, host: ArmatureObject, mechanisms: list[Mechanism]) -> None:
    """Make what mechanisms have in Pose Mode."""
    collection = collection_of(host) or host.data.collections.new(COLLECTION)
    collection.is_visible = False
    for mechanism in mechanisms:
        for bone in mechanism.bones:
            _finish_bone(host, bone, collection)
        for prop in mechanism.properties:
            _make_property(host, prop)
        for constraint in mechanism.constraints:
            _make_constraint(_owner(rig, host, constraint.bone), constraint)
        for driver in mechanism.drivers:
            _make_driver(rig, host, driver)


def _owner(rig: ArmatureObject, host: ArmatureObject, bone: str) -> ArmatureObject:
    """Which of the two has a bone of this name: a mechanism has none of the rig's names."""
    return host if bone in host.pose.bones else rig


def take_away(context: Context, lowers: Mapping[PoseBone, Collection[str]]) -> None:
    """Take mechanisms away with all that was made for them. ``lowers`` names, for the lower bone of each chain, the
    settings whose custom properties stay, because the next mechanism will have them too."""
    gone: dict[ArmatureObject, set[str]] = {}
    for lower, kept in lowers.items():
        found = Found(lower)
        bones, constraints, host = found.bones, found.constraints, found.host
        if bones and len({bone.name for bone, _ in constraints}) == 1:  # the upper bone is the parent no more
            bones, constraints = found.scattered()
        of = found.drivers_of(bones, constraints if host == lower.id_data else [])
        _remove_drivers(host, [*of, *found.lost_drivers()])
        holder = holder_of(lower)
        for name in exposed(lower) if bones or holder == lower else ():
            if name not in kept:
                del holder[ON_RIG + name]
        for bone, constraint in constraints:
            bone.constraints.remove(constraint)
        free = gone.setdefault(host, set())
        if not _are_held_by_others(host, bones):
            free.update(bones)
            continue
        for name in bones:
            own = host.pose.bones[name].constraints
            for each in [*own]:
                own.remove(each)
    _remove_bones(context, gone)


def take_away_left(context: Context, left: Mapping[ArmatureObject, Iterable[str]]) -> list[Target]:
    """Take away what chains whose bones were deleted left in armatures, and the constraints by which it still poses the
    bones ``left`` names; return what the chains followed."""
    goals: list[Target] = []
    for host, names in left.items():
        for bone in (host.pose.bones[name] for name in names):
            posed = [(bone, each) for each in made_on(bone)]
            _remove_drivers(host, Found(bone).drivers_of([], posed))
            for _, constraint in posed:
                bone.constraints.remove(constraint)
        _remove_drivers(host, drivers_of_nothing(host))
        goals += goals_left(host)
    _remove_bones(context, {host: set() for host in left})
    return goals


def _remove_bones(context: Context, gone: dict[ArmatureObject, set[str]]) -> None:
    """Remove bones from armatures, with the bones that only they needed, and collections and animation data that are
    then empty."""
    collections = {host.data: collection_of(host) for host in gone}
    editing = {host.data: host for host in gone}  # of the objects that share an armature, one
    bones: dict[Any, set[str]] = {armature: set() for armature in editing}
    for host, names in gone.items():
        left = stranded(host, names)
        _remove_drivers(host, [curve for curve in drivers_of(host) if bone_of_driver(curve) in left])
        bones[host.data] |= names | left
    for armature, host in editing.items():
        bones[armature].update(unused_worlds(host, bones[armature]))
    if hosts := [host for armature, host in editing.items() if bones[armature]]:
        with edit_mode(context, *hosts):
            for host in hosts:
                for name in bones[host.data]:
                    host.data.edit_bones.remove(host.data.edit_bones[name])
    for armature, collection in collections.items():
        if collection and not any(collection.bones_recursive):
            armature.collections.remove(collection)
    for host in gone:
        clear_if_empty(host)


def _remove_drivers(ob: ArmatureObject, curves: list[Any]) -> None:
    for curve in curves:
        ob.animation_data.drivers.remove(curve)  # type: ignore[union-attr]  # it has drivers


def _are_held_by_others(host: ArmatureObject, bones: Collection[str]) -> bool:
    """Whether limbs of another object of the same armature take over what these bones hold."""
    for other in bpy.data.objects:
        if other.data == host.data and other != host and is_armature(other):
            constraints: Any = [each for bone in other.pose.bones for each in bone.constraints]
            if any(getattr(each, "target", None) == other and each.subtarget in bones for each in constraints):
                return True
    return False


def _make_bone(ob: ArmatureObject, bone: Bone, shifts: dict[str, Vector]) -> None:
    """Make a bone in Edit Mode; ``shifts`` are those of what hangs on the mechanism's bones made before."""
    made = ob.data.edit_bones.new(bone.name)
    shift = shifts[bone.parent] if bone.parent in shifts else shift_below(ob.data.bones.get(bone.parent))
    shifts[bone.name] = shift
    made.head = bone.matrix.translation - shift
    made.tail = made.head + bone.matrix.to_3x3().col[1].normalized() * bone.length
    made.roll = bone.roll
    made.parent = ob.data.edit_bones[bone.parent] if bone.parent else None
    made.use_deform = False
    made.use_inherit_rotation, made.inherit_scale, made.use_local_location = bone.inherit


def _finish_bone(ob: ArmatureObject, bone: Bone, collection: Any) -> None:
    """Set what a bone has in Pose Mode."""
    made = ob.pose.bones[bone.name]
    made.bone[PART] = bone.role
    for each in list(made.bone.collections):
        each.unassign(made.bone)
    collection.assign(made.bone)
    made.bone.hide = made.bone.hide_select = True
    made.rotation_mode = bone.rotation_mode
    made.lock_location = made.lock_rotation = made.lock_scale = (True, True, True)
    made.lock_rotation_w = made.lock_rotations_4d = True


def _make_property(ob: ArmatureObject, prop: Property) -> None:
    bone: Any = ob.pose.bones[prop.bone]
    name = ON_RIG + prop.setting
    bone[name] = prop.value
    described = _describe(bone, prop.setting)
    bone.id_properties_ui(name).update(**described)
    bone.property_overridable_library_set(f'["{bpy.utils.escape_identifier(name)}"]', True)


def _describe(bone: Any, setting: str) -> dict[str, Any]:
    """Limits or choices, default and tooltip of a setting, as the extension's own property has them."""
    made, prop = BY_NAME[setting], bone.planar_ik.bl_rna.properties[setting]
    described = {"default": made.number_of(made.default), "description": prop.description}
    if made.is_choice:
        return described | {"items": made.options["items"]}
    if not made.is_number:
        return described
    limits = {"min": prop.hard_min, "max": prop.hard_max, "soft_min": prop.soft_min, "soft_max": prop.soft_max}
    return described | limits | {"subtype": prop.subtype}


def _make_constraint(ob: ArmatureObject, constraint: Constraint) -> None:
    made: Any = ob.pose.bones[constraint.bone].constraints.new(constraint.type)  # type: ignore[arg-type]
    made.name = constraint.name
    made.show_expanded = False
    for name, value in constraint.settings.items():
        setattr(made, name, value)


def _make_driver(rig: ArmatureObject, host: ArmatureObject, driver: Driver) -> None:
    """Make a driver, and read it back: Blender cuts what is too long and says nothing."""
    ob = _owner(rig, host, driver.bone)
    path = property_path(driver.bone, driver.path)
    if driver.path.startswith("["):
        holder: Any = ob.pose.bones[driver.bone]
        holder[driver.path[2:-2]] = 0.0
    curve: Any = ob.driver_add(path, driver.channel) if driver.channel >= 0 else ob.driver_add(path)
    fcurves.clear(curve)
    made = curve.driver
    made.type = "SCRIPTED"
    for variable in driver.variables:
        each = made.variables.new()
        each.name, owner = variable.name, _owner(rig, host, variable.bone)
        if variable.path == DISTANCE:
            each.type = DISTANCE
            for target, space in zip(each.targets, ("LOCAL_SPACE", "TRANSFORM_SPACE"), strict=True):
                target.id, target.bone_target, target.transform_space = owner, variable.bone, space
        elif variable.path.startswith("LOC_"):
            each.type = "TRANSFORMS"
            target = each.targets[0]
            target.id, target.bone_target, target.transform_type = owner, variable.bone, variable.path
            target.transform_space = "LOCAL_SPACE"
        else:
            each.type = "SINGLE_PROP"
            each.targets[0].id, each.targets[0].data_path = owner, property_path(variable.bone, variable.path)
    made.expression = driver.expression
    if len(driver.expression) > LONGEST or made.expression != driver.expression or not made.is_simple_expression:
        raise RuntimeError(f"Blender does not take the expression {driver.expression}")
