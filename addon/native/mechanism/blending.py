"""How the limb's own bones take over the solution, by any share of it, as a slerp of their own rotations.

Blender lets a constraint act by a share in the world's space, where it turns and scales apart: under what is scaled
unevenly that is no blend of rotations, and of two that are almost the same it is off by some 1e-5. So a bone is first
taken to where the bone that holds the solution would stand at the world's origin, unturned and unscaled; is turned back
from there towards no rotation at all, by the share; and is taken back. It needs no Euler angles, and where the bone's
head is, and its own scale, come out as they went in.
"""

from __future__ import annotations

from typing import Any

from bpy.types import PoseBone
from mathutils import Matrix

from ...rig.data.access import ArmatureObject
from ...rig.settings import CONSTRAINT
from .parts import Bone, Constraint, Inherit, Mechanism

WORLD = "world"
"""The role of the bone that stands at the world's origin, which all mechanisms of an armature share."""

_LIMITS = (("LIMIT_LOCATION", 0.0), ("LIMIT_ROTATION", 0.0), ("LIMIT_SCALE", 1.0))


def world_bone(ob: ArmatureObject, name: str) -> Mechanism:
    """What of the bone at the world's origin an armature does not have yet, under this name."""
    found = ob.pose.bones.get(name) if ob.pose else None  # an armature without bones has none
    bones = () if found else (Bone(WORLD, name, Matrix.Identity(4), 1.0),)
    constraints = tuple(Constraint(name, kind, kind, _limits(kind, number)) for kind, number in _LIMITS)
    return Mechanism(bones, () if found and len(found.constraints) else constraints, (), ())


def _limits(kind: str, number: float) -> dict[str, Any]:
    """Settings by which a limit leaves only one number, for all axes."""
    switches = [f"limit_{axis}" for axis in "xyz"] if kind == "LIMIT_ROTATION" else _ends()
    return {f"use_{switch}": True for switch in switches} | dict.fromkeys(_ends(), number)


def _ends() -> list[str]:
    return [f"{end}_{axis}" for end in ("min", "max") for axis in "xyz"]


def takeover(
    ob: ArmatureObject, bone: str, source: str, world: str, share: dict[str, Any], is_muted: bool
) -> list[Constraint]:
    """The constraints by which a bone takes over what ``source`` holds: the bone turned by the solution, as it would
    stand without a scale of its own. ``share`` is the influence, if that is not driven."""
    mute = {"mute": is_muted}
    full = {"target": ob, "mix_mode": "BEFORE_FULL"} | mute
    inverse = {"subtarget": world, "target_space": "CUSTOM", "space_object": ob, "space_subtarget": source}
    return [
        Constraint(bone, f"{CONSTRAINT} (from the solution)", "COPY_TRANSFORMS", full | inverse),
        Constraint(bone, CONSTRAINT, "LIMIT_ROTATION", _limits("LIMIT_ROTATION", 0.0) | mute | share),
        Constraint(bone, f"{CONSTRAINT} (and back)", "COPY_TRANSFORMS", full | {"subtarget": source}),
    ]


def holding(bone: PoseBone) -> Inherit:
    """What a bone that holds a bone's solution takes over from the same parent, to be without a scale of its own."""
    of = Inherit.of(bone)
    return of._replace(scale="NONE") if of.scale == "ALIGNED" else of


def is_mirrored(bone: PoseBone) -> bool:
    """Whether a bone is mirrored by what carries it, as that is posed now."""
    parent = bone.parent
    return parent is not None and bone.bone.use_inherit_rotation and parent.matrix.determinant() < 0.0
