"""What of the meshes that a rig moves goes with feet and hands: how large these are, where bones don't say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from bpy.types import Object, PoseBone
from numpy.typing import NDArray

from ..blender.types import ArmatureObject, all_objects

Array = NDArray[Any]

WEIGHT = 0.5
"""From this weight on, of all bones of a foot or hand together, a vertex goes with it."""


def skin_of(ob: ArmatureObject, feet: Iterable[PoseBone]) -> dict[str, Array]:
    """By the name of a foot or hand, the points, (n, 3), of meshes that it and all below it carry, in the armature's
    rest space. What has none is left out. Goes through each mesh once, however many feet there are."""
    return points_of(ob, {bone.name: foot.name for foot in feet for bone in (foot.bone, *foot.bone.children_recursive)})


def points_of(ob: ArmatureObject, owners: dict[str, str]) -> dict[str, Array]:
    """The points, (n, 3), of meshes that bones carry, in the armature's rest space, by what each bone is of in
    ``owners``."""
    points: dict[str, list[Any]] = {}
    for mesh in (other for other in all_objects() if other.type == "MESH" and owners):
        if mesh.parent == ob and mesh.parent_type == "BONE":
            if mesh.parent_bone in owners:
                points.setdefault(owners[mesh.parent_bone], []).extend(_corners(ob, mesh))
        elif any(getattr(modifier, "object", None) == ob for modifier in mesh.modifiers if modifier.type == "ARMATURE"):
            for foot, point in _vertices(ob, mesh, owners):
                points.setdefault(foot, []).append(point)
    return {foot: np.array([point[:] for point in rows]) for foot, rows in points.items()}


def _vertices(ob: ArmatureObject, mesh: Object, owners: dict[str, str]) -> Iterator[tuple[str, Any]]:
    """The vertices that bones deform, each with what they are of."""
    by_index = {group.index: owners[group.name] for group in mesh.vertex_groups if group.name in owners}
    data: Any = mesh.data
    to_armature = ob.matrix_world.inverted_safe() @ mesh.matrix_world
    for vertex in data.vertices if by_index else ():
        weights: dict[str, float] = {}
        for group in vertex.groups:
            if foot := by_index.get(group.group):
                weights[foot] = weights.get(foot, 0.0) + group.weight
        for foot, weight in weights.items():
            if weight >= WEIGHT:
                yield foot, to_armature @ vertex.co


def _corners(ob: ArmatureObject, mesh: Object) -> list[Any]:
    """The corners of the box around a mesh that hangs on a bone, as that rests."""
    bone = ob.pose.bones[mesh.parent_bone]
    to_rest = bone.bone.matrix_local @ (ob.matrix_world @ bone.matrix).inverted_safe() @ mesh.matrix_world
    box: Any = mesh.bound_box
    return [to_rest @ type(to_rest.translation)(corner) for corner in box]
