"""The parts that a limb needs as it is described, the bones and objects that their roles stand for, and making them
real: helper bones, constraints and drivers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from zlib import crc32

from bpy.types import Object
from mathutils import Matrix

from ..blender.dependencies import BoneRef
from ..blender.editing import collect
from ..blender.fcurves import reset
from ..blender.names import side_sign
from ..blender.types import ArmatureObject, path_to_bone, path_to_custom
from ..limb.features import FEATURES
from ..limb.features.feature import Making
from ..limb.features.foot import SHARED
from ..limb.features.roll import PIVOTS_COLLECTION, ROLLED_TARGET
from ..limb.follow import tip_at_rest
from ..limb.parts import (
    ALL,
    CHANNEL,
    CONTROL,
    POLE,
    TARGET,
    ConstraintSpec,
    DriverSpec,
    DriverVariable,
    HelperBone,
    Parts,
)
from ..limb.settings import COLLECTION, MADE_FOR_LIMB
from ..limb.spec import Spec
from ..limb.storage import bones_of_limb
from .controls import Control
from .description import Description, LimbRef
from .parts import parts_of

NOTHING: tuple[None, str] = (None, "")


def united(parts: Mapping[str, Parts]) -> Parts:
    """Parts for several things as one."""
    return Parts(*(tuple(item for one in parts.values() for item in one[k]) for k in range(len(Parts._fields))))  # type: ignore[arg-type]


def needed_parts(ref: LimbRef, description: Description, spec: Spec | None) -> dict[str, Parts]:
    """The parts of a limb by the feature that they are for, and those of its mechanism, if it has one of this spec."""
    limb, bones = ref[0].pose.bones[ref[1]], ref[0].data.bones
    making = Making(
        value=description,
        length=limb.bone.length,
        tip=tip_at_rest(limb),
        foot_rest=bones[description.foot].matrix_local if description.foot else None,
        is_near=_is_bone_of(ref, description.target),
        is_sharing=bool(_shared_by_foot(ref, description)),
    )
    parts = {"": parts_of(spec)} if spec else {}
    besides = [feature for feature in FEATURES if not feature.is_in_mechanism and feature.of(description)]
    return parts | {feature.name: feature.made(making) for feature in besides}


def _is_bone_of(ref: LimbRef, followed: Any) -> bool:
    """Whether what a limb follows is a bone of its own rig, or is to be one."""
    if isinstance(followed, Control):
        return followed.ob == ref[0]
    return followed is not None and followed[0] == ref[0] and followed[1] in ref[0].data.bones


def _shared_by_foot(ref: LimbRef, description: Description) -> str:
    """The lowest bone on which both the foot of a limb and the bone that it follows hang, or nothing."""
    bones, foot = ref[0].pose.bones, ref[0].pose.bones.get(description.foot)
    if foot is None or not _is_bone_of(ref, description.target):
        return ""
    above: Any = (
        bones.get(description.target.parent)
        if isinstance(description.target, Control)
        else bones[description.target[1]].parent
    )
    carriers = {above, *above.parent_recursive} if above else set()
    return next((bone.name for bone in foot.parent_recursive if bone in carriers), "")


def refs_of(
    ref: LimbRef, description: Description, bones: Iterable[HelperBone], helpers: Mapping[str, str]
) -> dict[str, Any]:
    """What the roles stand for of parts with these helper bones, as far as there are ``helpers``, by role."""
    ob, name = ref
    chain = bones_of_limb(ob.pose.bones[name])
    above = chain[0].parent if chain else None
    refs: dict[str, Any] = {
        "last": ref,
        "foot": (ob, description.foot),
        SHARED: (ob, _shared_by_foot(ref, description)),
        "parent": (ob, above.name if above else ""),
    }
    refs |= {f"bone {k}": (ob, bone.name) for k, bone in enumerate(chain, 1)}
    refs |= {f"toe {k}": (ob, toe) for k, toe in enumerate(description.roll.toes if description.roll else ())}
    refs |= {"above pole": (ob, description.pole_follow.above if description.pole_follow else "")}
    refs |= {bone.role: (ob, helpers.get(bone.role, "")) for bone in bones}
    return refs | followed_refs(description.target, description.pole, refs.get(ROLLED_TARGET))


def followed_refs(target: Any, pole: Any, rolled_ref: BoneRef | None) -> dict[str, Any]:
    """What the roles stand for that follow what a limb does; nothing yet for controls that are to be made.
    ``rolled_ref`` is the helper of a foot that rolls."""
    refs = [NOTHING if ref is None or isinstance(ref, Control) else ref for ref in (target, pole)]
    return {
        CONTROL: refs[0],
        "target": refs[0],
        TARGET: rolled_ref if rolled_ref and (refs[0][0] or isinstance(target, Control)) else refs[0],
        POLE: refs[1],
        "pole": refs[1],
    }


Refs = Mapping[str, tuple[Object | None, str]]
"""The bones and objects that roles stand for, by role, each an object and the name of a bone, or nothing."""


SIDES = re.compile(r"(?i)^[lr][._ -]|^(?:left|right)|(?:[._ -][lr]|[._ -]?(?:left|right))(?=(?:\.\d+)?$)")
"""What says a side at either end of a name."""

NAME_BYTES = 32
"""How many bytes of a bone's name those of its helpers have: Blender takes 63 in all, with a number at the end."""

# bones


def helper_name(ob: ArmatureObject, limb_name: str, role: str) -> str:
    """What a helper bone of a limb is called: MCH-SHIN-turn1.L for that of shin.L, on both sides the same but for the
    side, so that Blender's mirroring finds one by the other."""
    return f"{helper_stem(ob, limb_name)}{role.replace(' ', '')}{('.R', '', '.L')[side_sign(limb_name) + 1]}"


def helper_stem(ob: ArmatureObject, limb_name: str) -> str:
    """How the names of a limb's helper bones begin: MCH-SHIN-.

    As armatures are joined, Blender loses drivers of bones whose names have another's in them: capitals are as no bone
    has them, or if one does, eight digits of its name."""
    core = SIDES.sub("", limb_name) or limb_name
    core = core.lower() if core.isupper() else core.upper()
    core = core.encode()[:NAME_BYTES].decode(errors="ignore")
    if any(bone.name in core for bone in ob.data.bones):
        core = f"{crc32(limb_name.encode()):08x}"
    return f"MCH-{core}-"


def add_helper_bone(ob: ArmatureObject, bone: HelperBone, name: str, refs: Refs) -> str:
    """Add a helper bone in Edit Mode; returns its name. Blender takes no matrix for a bone without a length."""
    bones = ob.data.edit_bones
    laid: Any = bones.new(name)
    laid[MADE_FOR_LIMB] = bone.role
    rest = Matrix((bone.rest[:4], bone.rest[4:8], bone.rest[8:12], bone.rest[12:]))
    laid.head, laid.tail = rest.translation, rest.translation + rest.col[1].to_3d() * bone.length
    laid.matrix = rest
    laid.length = bone.length
    laid.use_deform = laid.select = laid.select_head = laid.select_tail = False
    above = refs[bone.parent][1] if bone.parent else ""
    if bone.like:
        like = bones[refs[bone.like][1]]
        if bone.copies_rest:
            laid.head, laid.tail, laid.roll = like.head, like.tail, like.roll
        laid.inherit_scale, laid.use_inherit_rotation = like.inherit_scale, like.use_inherit_rotation
    laid.parent = bones[above] if above else None
    return str(laid.name)


def finish_helper(ob: ArmatureObject, bone: HelperBone, name: str) -> None:
    """Set what a helper bone has outside of Edit Mode. A bone that is made again keeps the channels of the one before
    with its name: these are reset."""
    pose_bone: Any = ob.pose.bones[name]
    pose_bone.rotation_mode, pose_bone.location = bone.order, bone.location
    pose_bone.rotation_quaternion, pose_bone.rotation_euler = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    pose_bone.scale = (1.0, 1.0, 1.0)
    place = 2 if bone.collection == PIVOTS_COLLECTION else 1
    collect(ob, pose_bone.bone, bone.collection, COLLECTION, place).is_visible = False


# constraints


def constrain(ob: ArmatureObject, constraint: ConstraintSpec, refs: Refs) -> None:
    """Add a constraint."""
    owner: Any = ob.pose.bones[refs[constraint.bone][1]]
    real = owner.constraints.new(constraint.type)
    real.name, real.show_expanded = constraint.name, False
    followers = [real.targets.new() for _ in constraint.targets] or [real]
    for follower, role in zip(followers, constraint.targets or (constraint.target,), strict=True):
        follower.target, bone = refs[role]
        if hasattr(follower, "subtarget"):
            follower.subtarget = bone
    for name, value in constraint.settings:
        setattr(real, name, value)
    if constraint.space:
        real.space_object, real.space_subtarget = refs[constraint.space]


def put_at(ob: ArmatureObject, bone: str, names: Sequence[str], place: int) -> None:
    """Put these constraints of a bone, in their order, at a place among its others."""
    constraints: Any = ob.pose.bones[bone].constraints
    for offset, name in enumerate(names):
        constraints.move(constraints.find(name), place + offset)


# drivers


def driven_path(driver: DriverSpec, refs: Refs) -> str:
    """The data path, from its rig, of what a driver drives."""
    return f"{path_to_bone(refs[driver.bone][1])}.{driver.path}"


def drive(ob: ArmatureObject, driver: DriverSpec, refs: Refs) -> None:
    """Add a driver, and check it: Blender silently cuts expressions that are too long."""
    curve: Any = ob.driver_add(driven_path(driver, refs), driver.channel)
    reset(curve)  # its keys would round numbers near 0 and 1 (5.2)
    new = curve.driver
    new.type = driver_type(driver)
    for variable in driver.variables:
        added = new.variables.new()
        added.name, added.type = variable.letter, variable.type
        for target, read in zip(added.targets, _reads(variable, refs), strict=True):
            target.id = ob
            for name, value in read.items():
                setattr(target, name, value)
    if new.type == "SCRIPTED":
        new.expression = driver.expression
        if new.expression != driver.expression or not new.is_simple_expression:
            raise RuntimeError(f"Blender does not take the expression {driver.expression}")


def driver_type(driver: DriverSpec) -> str:
    """The type of a driver: SUM where it is just one variable, else SCRIPTED."""
    return "SUM" if [variable.letter for variable in driver.variables] == [driver.expression] else "SCRIPTED"


def _reads(variable: DriverVariable, refs: Refs) -> list[dict[str, str]]:
    """The settings of a variable's targets."""
    reads = []
    for read in variable.reads:
        bone = refs[read.bone][1]
        if not read.space:
            path = path_to_custom(bone, read.what)
            reads.append({"data_path": path if read.item == ALL else f"{path}[{read.item}]"})
        elif read.space == CHANNEL:
            reads.append({"data_path": f"{path_to_bone(bone)}.{read.what}"})
        else:
            kind = {"transform_type": read.what} if read.what else {}
            reads.append({"bone_target": bone, "transform_space": read.space} | kind)
    return reads
