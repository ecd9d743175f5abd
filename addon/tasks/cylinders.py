"""Making two bones a cylinder: each aims at the other's foot, whatever moves what these stand on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bpy.types import Context, PoseBone

from ..blender import editing, transaction
from ..blender.dependencies import Dependencies
from ..blender.types import ArmatureObject, Refused, announce, can_edit_bones, view_layer_of
from ..finding.loops import Cylinder, bones_of_cylinders, cylinder_at, cylinders_of, stroke_of
from ..limb import spec, storage
from ..limb.settings import COLLECTION as ALL_OURS

__all__ = ["Cylinder", "cylinder_at", "stroke_of"]

AIMS: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("Cylinder", "DAMPED_TRACK", {"track_axis": "TRACK_Y"}),
    ("Cylinder 2", "LOCKED_TRACK", {"track_axis": "TRACK_Y", "lock_axis": "LOCK_Z"}),
    ("Cylinder 3", "LOCKED_TRACK", {"track_axis": "TRACK_Y", "lock_axis": "LOCK_X"}),
)
"""The constraints that aim a bone: the first swings it the shortest way, as exactly as Blender's arc cosine is, and the
others do so to the last digit."""

NO_LENGTH = 1e-6
"""How far apart feet are at least, as a part of a bone's length."""


def check_cylinder(bones: Sequence[PoseBone]) -> Cylinder:
    """The two bones of a cylinder to be; raises `Refused`."""
    if len(bones) != 2 or bones[0].id_data != bones[1].id_data:
        raise Refused("Select the two bones of a cylinder: its housing and its rod")
    one, other = bones
    ob = one.id_data
    if not can_edit_bones(ob):
        raise Refused("'{rig}' comes from another file: make the cylinder there", rig=ob.name)
    taken = {bone.name for limb in storage.limbs_of(ob) for bone in storage.chain_bones(limb)}
    halves = bones_of_cylinders(ob)
    for bone in bones:
        if bone.name in halves:
            raise Refused("'{bone}' is half of a cylinder already", bone=bone.name)
        if bone.name in taken or storage.is_mechanism_bone(bone.bone):
            raise Refused("'{bone}' is of a limb: a cylinder needs bones of its own", bone=bone.name)
    if (one.bone.head_local - other.bone.head_local).length <= NO_LENGTH * one.bone.length:
        raise Refused(
            "'{bone}' and '{other}' begin at one place: move one in Edit Mode", bone=one.name, other=other.name
        )
    dependencies, names = Dependencies(), {one.name, other.name}
    for bone in bones:
        if bone.parent and dependencies.moves_with((ob, bone.parent.name), ob, names):
            template = "What '{bone}' hangs on moves with the cylinder: hang it on something else"
            raise Refused(template, bone=bone.name)
    return one, other


@transaction.transactional
def make_cylinder(context: Context, bones: Sequence[PoseBone]) -> None:
    """Make two bones aim at each other's foot, by helper bones on their parents. So neither depends on the other.
    Raises `Refused`."""
    one, other = check_cylinder(bones)
    ob, names = one.id_data, (one.name, other.name)
    feet = {}
    with editing.edit_mode(context, ob):
        edited = ob.data.edit_bones
        for name in names:
            foot: Any = edited.new(f"MCH-foot-{name}")
            bone = edited[name]
            foot.head, foot.tail, foot.roll = bone.head, bone.tail, bone.roll
            foot.length, foot.parent, foot.use_deform = 0.2 * bone.length, bone.parent, False
            feet[name] = foot.name
    for name, at in (names, names[::-1]):
        editing.collect(ob, ob.data.bones[feet[name]], spec.COLLECTION, ALL_OURS, 1).is_visible = False
        for title, kind, settings in AIMS:
            aim: Any = ob.pose.bones[name].constraints.new(kind)
            aim.name, aim.target, aim.subtarget, aim.show_expanded = title, ob, feet[at], False
            for key, value in settings.items():
                setattr(aim, key, value)
    view_layer_of(context).update()


@transaction.transactional
def remove_cylinder(context: Context, bones: Sequence[PoseBone]) -> None:
    """Remove what `make_cylinder` added for these bones."""
    ob, feet = bones[0].id_data, set()
    announce(ob)
    for bone in bones:
        aims: list[Any] = [aim for aim in bone.constraints if _is_ours(aim)]
        for aim in aims:
            feet.add(aim.subtarget)
            bone.constraints.remove(aim)
    with editing.edit_mode(context, ob):
        for name in feet:
            ob.data.edit_bones.remove(ob.data.edit_bones[name])
    editing.remove_empty_collections(ob, (spec.COLLECTION, ALL_OURS))


def remove_cylinders(context: Context, ob: ArmatureObject) -> None:
    """Take away all of a rig that `make_cylinder` made."""
    bones = [bone for cylinder in cylinders_of(ob) if is_our_cylinder(cylinder) for bone in cylinder]
    if bones:
        remove_cylinder(context, bones)


def is_our_cylinder(cylinder: Cylinder) -> bool:
    """Whether a cylinder is as `make_cylinder` makes them."""
    return all(any(map(_is_ours, bone.constraints)) for bone in cylinder)


def _is_ours(aim: Any) -> bool:
    is_aim = any(aim.name.startswith(title) and aim.type == kind for title, kind, _ in AIMS)
    return is_aim and aim.subtarget.startswith("MCH-foot-")
