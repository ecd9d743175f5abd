"""What the mechanisms of a rig's chains find in the armature that they are made in."""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from ...rig.data.access import ArmatureObject, has_chain, is_part
from .references import worlds_of

SPARSE = 5
"""With so many bones to each limb besides its own, it pays to keep them from being evaluated."""

LONGEST = 63
"""How many bytes a bone's name may have: Blender cuts what is longer, and says nothing."""


class Surroundings(NamedTuple):
    """What a mechanism finds in its armature: names of bones that are taken, to which its own are added; that of the
    bone at the world's origin; and whether there are far more bones than those of limbs."""

    host: ArmatureObject
    taken: set[str]
    world: str
    is_sparse: bool


def surroundings_of(rig: ArmatureObject, host: ArmatureObject) -> Surroundings:
    """What the mechanisms of a rig's chains find in the armature that they are made in, which may be an annex."""
    limbs = sum(map(has_chain, rig.pose.bones))
    others = sum(not is_part(host, bone.name) for bone in host.data.bones) - 2 * limbs
    taken = {bone.name for armature in (rig, host) for bone in armature.data.bones}
    world = next(iter(worlds_of(host)), "") or free_name("world", "", taken)
    return Surroundings(host, taken, world, others > SPARSE * limbs)


def free_name(role: str, end: str, taken: set[str]) -> str:
    """A name for a bone by its role that no other has, which is taken from now on."""
    names = (f"MCH-{role}{number or ''}{end}".encode()[:LONGEST].decode(errors="ignore") for number in count())
    name = next(name for name in names if name not in taken)
    taken.add(name)
    return name
