"""Solids of revolution, gathered into one mesh: all that the creature and its garden are made of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import cos, pi, sin

import bpy
from bpy.types import Material, Mesh, Object
from mathutils import Matrix, Vector

Profile = Sequence[tuple[float, float]]
"""Radii and heights along an axis, from its lower end to its upper."""

Point = Sequence[float]


class Clay:
    """A mesh in the making; every solid has a material and may belong to a bone."""

    def __init__(self) -> None:
        self.places: list[Vector] = []
        self.faces: list[list[int]] = []
        self.materials: list[Material] = []
        self.material_of: list[int] = []
        self.bones: dict[str, list[int]] = {}

    def lathe(self, profile: Profile, to: Matrix, material: Material, bone: str = "", segments: int = 32) -> None:
        """Turn a profile about the Z axis of ``to``."""
        first = len(self.places)
        rings: list[list[int]] = []
        for radius, height in profile:
            around = segments if radius > 1e-9 else 1
            rings.append([len(self.places) + i for i in range(around)])
            for i in range(around):
                angle = 2.0 * pi * i / around
                self.places.append(to @ Vector((radius * cos(angle), radius * sin(angle), height)))
        for below, above in pairwise(rings):
            for i in range(segments):
                j = (i + 1) % segments
                corners = [below[i % len(below)], below[j % len(below)], above[j % len(above)], above[i % len(above)]]
                self._face(list(dict.fromkeys(corners)), material)
        self.bones.setdefault(bone, []).extend(range(first, len(self.places)))

    def ball(self, centre: Point, radii: Point, material: Material, bone: str = "", turn: Matrix | None = None) -> None:
        """An ellipsoid, turned about its centre."""
        to = Matrix.Translation(centre) @ (turn or Matrix()) @ Matrix.Diagonal((*radii, 1.0))
        self.lathe(_arc(0.0, 1.0, -90, 90, 24), to, material, bone, 40)

    def limb(self, start: Point, end: Point, radii: tuple[float, float], material: Material, bone: str = "") -> None:
        """A tapered rod with round ends: the ends are the middles of its two spheres."""
        axis = Vector(end) - Vector(start)
        low, high = radii
        profile = [*_arc(0.0, low, -90, 0, 8), *_arc(axis.length, high, 0, 90, 8)]
        self.lathe(profile, along(start, axis), material, bone, 28)

    def band(self, place: Point, axis: Point, size: tuple[float, float], material: Material, bone: str = "") -> None:
        """A ring with rounded edges about an axis: its radius and half of its width."""
        radius, half = size
        edge = min(half, radius) * 0.5
        profile = [(0.0, -half), (radius - edge, -half), (radius, edge - half)]
        self.lathe([*profile, *[(r, -h) for r, h in reversed(profile)]], along(place, axis), material, bone, 28)

    def mesh(self, name: str, to: Matrix | None = None) -> Mesh:
        """The mesh, in the frame that ``to`` takes it to."""
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata([to @ place for place in self.places] if to else self.places, [], self.faces)
        for material in self.materials:
            mesh.materials.append(material)
        mesh.polygons.foreach_set("material_index", self.material_of)
        mesh.polygons.foreach_set("use_smooth", [True] * len(self.faces))
        mesh.update()
        return mesh

    def object(self, name: str) -> Object:
        """An object of the mesh, with a group of vertices for every bone."""
        ob = bpy.data.objects.new(name, self.mesh(name))
        for bone, vertices in self.bones.items():
            if bone:
                ob.vertex_groups.new(name=bone).add(vertices, 1.0, "REPLACE")
        return ob

    def _face(self, corners: list[int], material: Material) -> None:
        if material not in self.materials:
            self.materials.append(material)
        if len(corners) > 2:
            self.faces.append(corners)
            self.material_of.append(self.materials.index(material))


def along(place: Point, axis: Point) -> Matrix:
    """A frame with its Z axis along an axis."""
    return Matrix.Translation(place) @ Vector(axis).to_track_quat("Z", "Y").to_matrix().to_4x4()


def _arc(height: float, radius: float, start: int, end: int, steps: int) -> list[tuple[float, float]]:
    angles = [(start + (end - start) * i / steps) * pi / 180.0 for i in range(steps + 1)]
    return [(radius * cos(angle) if abs(cos(angle)) > 1e-6 else 0.0, height + radius * sin(angle)) for angle in angles]
