"""The parts of a limb as it is described, all of them, and the bones and objects that their roles stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..blender.dependencies import BoneRef
from ..limb.features import FEATURES
from ..limb.features.feature import Making
from ..limb.features.foot import SHARED
from ..limb.features.roll import ROLLED_TARGET
from ..limb.follow import tip_at_rest
from ..limb.parts import CONTROL, POLE, TARGET, HelperBone, Parts
from ..limb.spec import Spec
from ..limb.storage import bones_of_limb
from .controls import Control
from .description import Description, LimbRef
from .parts import parts_of
from .spec import differs, spec_of
from .there import ExistingParts

NOTHING: tuple[None, str] = (None, "")


class Needed(NamedTuple):
    """The parts that a limb needs, the bones and objects that their roles refer to, as far as these exist, and the spec
    of its mechanism."""

    parts: Parts
    refs: dict[str, Any]
    spec: Spec | None


NO_NEED = Needed(Parts(), {}, None)
"""Of a limb that is to be removed."""


def needed_of(ref: LimbRef, description: Description, there: ExistingParts) -> Needed:
    """The parts that a described limb needs."""
    spec = _spec_of(ref, description, there.built) if description.mode == "RIG" else None
    parts = united(needed_parts(ref, description, spec))
    return Needed(parts, refs_of(ref, description, parts.bones, there), spec)


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


def _spec_of(ref: LimbRef, value: Description, built: Spec | None) -> Spec:
    spec = spec_of(ref, value)
    if built is None or differs(built, spec):
        return spec
    return built._replace(bones=spec.bones, last_bone=spec.last_bone, parent=spec.parent)


def refs_of(
    ref: LimbRef, description: Description, bones: Iterable[HelperBone], there: ExistingParts
) -> dict[str, Any]:
    """What the roles stand for of parts with these helper bones."""
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
    refs |= {bone.role: (ob, there.helpers.get(bone.role, "")) for bone in bones}
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
