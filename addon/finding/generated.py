"""The bones of a generated rig, as Rigify's, that belong to a limb without being of it: FK bones, tweaks and smaller
controls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from bpy.types import Object, PoseBone

from ..limb import follow, storage


def bones_around(limb: PoseBone, control: tuple[Object | None, str]) -> frozenset[str]:
    """The names of the bones that belong to a limb of a rig with its own FK/IK slider: the bone with the slider, the
    limb's ``control`` and its children, bones that are copied where the limb is, and those in collections that have all
    these and nothing of another limb. None on other rigs."""
    slider, rig = follow.rig_slider(limb), limb.id_data
    if slider is None or control[0] not in (None, rig):
        return frozenset()
    own = {bone.name for bone in storage.bones_of_limb(limb)}
    copying = {bone.name for bone in _copying(limb)}
    around = _with_below(rig, {slider.bone, control[1], *fk_bones(limb)}) | _with_below(rig, copying) - copying
    return frozenset((around | _beside(rig, around)) - own)


def fk_bones(limb: PoseBone) -> list[str]:
    """The FK bones of a limb on a generated rig: the bones, besides its own, that are copied by those that copy the
    limb."""
    own = {bone.name for bone in storage.bones_of_limb(limb)}
    copied = dict.fromkeys(name for bone in _copying(limb) for name in _copied_by(bone))
    return [name for name in copied if name not in own]


def _copying(limb: PoseBone) -> list[PoseBone]:
    """The bones that copy those of a limb."""
    own = {bone.name for bone in storage.bones_of_limb(limb)}
    return [bone for bone in limb.id_data.pose.bones if own & {*_copied_by(bone)}]


def _copied_by(bone: PoseBone) -> list[str]:
    """The bones of its own rig that a bone copies."""
    constraints: Any = [constraint for constraint in bone.constraints if constraint.type == "COPY_TRANSFORMS"]
    return [constraint.subtarget for constraint in constraints if constraint.target == bone.id_data]


def _with_below(rig: Object, names: Iterable[str]) -> set[str]:
    """Bones and what hangs on them."""
    bones = [rig.pose.bones[name] for name in names if name in rig.pose.bones]  # type: ignore[union-attr]
    return {name for bone in bones for name in (bone.name, *(below.name for below in bone.children_recursive))}


def _beside(rig: Object, names: set[str]) -> set[str]:
    """The bones in those collections, shown or not, most of whose bones are among these."""
    counts: Counter[str] = Counter()
    collections = rig.data.collections_all  # type: ignore[union-attr]
    for collection in collections:
        bones = {bone.name for bone in collection.bones}
        if 2 * len(bones & names) > len(bones):
            counts.update(bones)
    return {*counts}
