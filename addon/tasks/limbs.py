"""What limbs there are, and what each of them is, as a plain value: for whoever shows them. Nothing is changed."""

from __future__ import annotations

from typing import Any, NamedTuple

from bpy.types import PoseBone

from ..blender.words import Message
from ..finding.branches import BranchLimbs
from ..finding.knees import bends_to, upright
from ..limb.features import FEATURES
from ..limb.features.feature import Choice
from ..limb.follow import follow_of
from ..limb.names import ARM, LEG, has_word, side_sign
from ..limb.parts import ALL
from ..limb.settings import CHOICE, FEATURE_KEYS, KNEE_LIMITS, slider_of
from ..limb.storage import chain_bones, check_complete, group_of, is_converted, is_limb, limbs_of
from ..limb.tips import foot_of
from ..rigging.control_shapes import Place, is_on_ground
from ..rigging.description import Description, describe, ref_of
from ..solver.limb import IN_ONE_PLANE

__all__ = [
    "CHOICE",
    "FEATURES",
    "IN_ONE_PLANE",
    "KNEE_LIMITS",
    "Choice",
    "Description",
    "bends_to",
    "chain_bones",
    "check_complete",
    "foot_of",
    "is_converted",
    "is_limb",
    "limbs_of",
    "side_sign",
]


def description_of(limb: PoseBone) -> Description:
    """The description of a limb."""
    return describe(ref_of(limb))


def arm_or_leg(limb: PoseBone) -> str:
    """``ARM`` or ``LEG``, nothing where the bones' names don't say."""
    names = [bone.name for bone in chain_bones(limb)]
    return next(
        (kind for kind, words in (("ARM", ARM), ("LEG", LEG)) if any(has_word(name, words) for name in names)), ""
    )


def is_leg(limb: PoseBone, segments: tuple[int, ...] | None = None) -> bool:
    """Whether a limb, or what could be one, is a leg, a foreleg too: its foot rests on the ground, or its bones are
    called as a leg's and not as an arm's."""
    chain, foot = chain_bones(limb, segments), foot_of(limb)
    root, tip = chain[0].bone.head_local, foot.bone.head_local if foot else limb.bone.tail_local
    length = sum(bone.bone.length for bone in chain)
    place = Place(tip, upright(limb.id_data), length, (tip - root).normalized())
    if foot and is_on_ground(limb.id_data, foot, place):
        return True
    names = [bone.name for bone in chain]
    return any(has_word(name, LEG) for name in names) and not any(has_word(name, ARM) for name in names)


def is_arm_or_leg(bone: PoseBone) -> bool:
    """Whether a bone is of an arm or a leg of its rig, where some are clear: a finger is not."""
    limbs = BranchLimbs(bone.id_data)
    return not limbs.clear or limbs.at(bone) is not None


class Field(NamedTuple):
    """The custom property of a slider: its data path from the limb's last bone, its label, its tooltip, and whether it
    has a number for each bone."""

    path: str
    label: str
    description: str
    is_of_bones: bool


def field_of(name: str) -> Field:
    """The field of a setting."""
    slider = slider_of(name)
    return Field(slider.path, slider.label, slider.description, slider.bone != ALL)


def limb_fingerprint(limb: PoseBone) -> tuple[Any, ...]:
    """What of a limb a person may edit without Blender building its depsgraph again."""
    chain: Any = chain_bones(limb)
    bones = [bone.bone for bone in (chain[0].parent, *chain, foot_of(limb)) if bone]
    rest = [(tuple(map(tuple, bone.matrix_local)), bone.inherit_scale, bone.use_inherit_rotation) for bone in bones]
    local = tuple(bone.use_local_location for bone in bones)
    features = tuple(key in limb for key in FEATURE_KEYS)  # type: ignore[operator]
    group = str(group_of(limb).to_dict())
    return len(limb.id_data.pose.bones), tuple(rest), local, features, group, follow_of(limb)


def limbs_counted(count: int) -> Message:
    """A number of limbs, in words."""
    return Message("1 limb") if count == 1 else Message("{count} limbs", count=count)


def frames_counted(count: int) -> Message:
    """A number of frames, in words."""
    return Message("1 frame") if count == 1 else Message("{count} frames", count=count)


def contacts_counted(count: int) -> Message:
    """A number of contacts with the ground, in words."""
    return Message("1 contact") if count == 1 else Message("{count} contacts", count=count)
