"""How the bones of a rig branch: what is trunk, and which branches hang on it. Sizes are measured between where bones
begin, as importers leave tails anywhere."""

from __future__ import annotations

from typing import Any

from bpy.types import Bone
from mathutils import Vector

from ..blender.types import ArmatureObject
from ..limb import names, tips
from .cylinders import bones_of_cylinders

LARGE = 0.12
"""A branch is large if it reaches so far, as a part of how far the whole rig reaches from its root; fingers don't."""


class Skeleton:
    """How the bones of a rig branch, leaving out mechanisms, by name: where they begin (``heads``), the ``trunk`` (what
    carries several large branches, and all above that), and the bones where branches ``start``."""

    def __init__(self, ob: ArmatureObject) -> None:
        self.ob = ob
        apart = bones_of_cylinders(ob)
        self._bones: dict[str, Bone] = {
            bone.name: bone for bone in ob.data.bones if not tips.looks_like_mechanism(bone) and bone.name not in apart
        }
        self.heads: dict[str, Vector] = {name: bone.head_local for name, bone in self._bones.items()}
        self._below = {name: [child.name for child in bone.children] for name, bone in self._bones.items()}
        self._below = {name: [child for child in below if child in self._bones] for name, below in self._below.items()}
        self._reach: dict[str, float] = {}
        self._depth: dict[str, int] = {}
        for name in reversed(self._bones):  # Blender lists a bone before its children
            self._measure(name)
        self.trunk = self._trunk()
        self.starts = [
            name
            for name, bone in self._bones.items()
            if name not in self.trunk and (bone.parent is None or bone.parent.name in self.trunk or self._is_out(bone))
        ]

    def length(self, name: str) -> float:
        """How long a bone is that nothing hangs on."""
        return tips.length_of(self._bones[name])

    def above(self, name: str) -> str:
        """What a bone hangs on; nothing if on none."""
        parent = self._bones[name].parent
        return parent.name if parent else ""

    def singles_below(self, name: str) -> list[str]:
        """The bones without any below them that hang on a bone, as heels do."""
        return [child for child in self._below[name] if not self._below[child]]

    def is_spread(self, name: str) -> bool:
        """Whether several rows of bones hang on a bone, as fingers do."""
        return sum(self._depth[child] > 1 for child in self._below[name]) > 1

    def _is_out(self, bone: Bone) -> bool:
        return bone.parent is not None and bone.parent.name not in self._bones

    def _measure(self, name: str) -> None:
        below = self._below[name]
        reaches = [(self.heads[child] - self.heads[name]).length + self._reach[child] for child in below]
        self._reach[name] = max(reaches, default=0.0) if below else self.length(name)
        self._depth[name] = 1 + max((self._depth[child] for child in below), default=0)

    def _trunk(self) -> set[str]:
        whole = max(self._reach.values(), default=0.0)
        trunk: set[str] = set()
        self.carrying: set[str] = set()
        for name, below in self._below.items():
            large = [child for child in below if self._depth[child] > 1 and self._reach[child] >= LARGE * whole]
            carries = len(large) > 1 and _carries(name, large)
            if carries:
                self.carrying.add(name)
            if carries or (below and names.is_trunk(name)):
                bone: Any = self._bones[name]
                while bone is not None and bone.name not in trunk:
                    trunk.add(bone.name)
                    bone = bone.parent
        return trunk


def _carries(name: str, large: list[str]) -> bool:
    """Whether names leave it to a bone with several large branches to be trunk: a hand with long fingers is called as
    one, or as on one side with all that hangs on it."""
    sides = {names.side_of(branch) for branch in large} - {""}
    if len(sides) > 1:
        return True
    return not (names.side_of(name) or names.is_limb_like(name) or names.has_word(name, names.FEET))


def skeleton_of(ob: ArmatureObject) -> Skeleton:
    """The skeleton of a rig as it rests now."""
    return Skeleton(ob)
