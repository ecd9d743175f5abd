"""The ground, with stones to step on, and what grows there."""

from __future__ import annotations

from math import pi, sin
from random import Random

import bpy
import numpy as np
from bpy.types import Collection, Material, Mesh
from mathutils import Matrix, Vector
from mathutils.bvhtree import BVHTree

from .clay import Clay, along, mottled, paint
from .gait import BESIDE, SPEED, track

MIDDLE = (3.0, 8.0)
"""The middle of the ground."""

CELLS = 260
"""Points of the ground along each side."""

GIANTS = (-3.0, 2.7, 1.35), (1.5, 6.6, 1.5), (-9.3, 5.6, 2.5), (-3.6, 15.0, 2.6)
"""Mushrooms as high as trees, where they stand clear of the creatures' heads in the film: place and height."""

STEM = (0.17, 0.0), (0.15, 0.06), (0.10, 0.25), (0.085, 0.5), (0.095, 0.74)
GILLS = (0.08, 0.70), (0.30, 0.66), (0.44, 0.58)
CAP = (0.44, 0.58), (0.475, 0.585), (0.47, 0.65), (0.42, 0.77), (0.32, 0.88), (0.18, 0.965), (0.08, 0.995), (0.0, 1.0)
"""The profiles of a mushroom: radii and heights."""


class Garden:
    """A piece of ground that tells its height: that of the mesh itself, as a foot finds it."""

    def __init__(self, collection: Collection, seed: int = 7) -> None:
        self.collection = collection
        self.random = Random(seed)  # noqa: S311 (a garden, no secret)
        self.places: list[Vector] = []
        self.faces: list[list[int]] = []
        self._lay_ground()
        self._lay_stones()
        self._tree = BVHTree.FromPolygons(self.places, self.faces)
        self._plant_grass()
        self._plant_mushrooms()

    def height(self, x: float, y: float) -> float:
        """The height of the ground, or of the stone that lies there."""
        place, *_ = self._tree.ray_cast((x, y, 20.0), (0.0, 0.0, -1.0))
        return float(place.z)

    def _lay_ground(self) -> None:
        steps = np.linspace(-1.0, 1.0, CELLS)
        steps = 0.3 * steps + 0.7 * steps**5  # Fine in the middle, coarse far out.
        x, y = np.meshgrid(MIDDLE[0] + 46.0 * steps, MIDDLE[1] + 46.0 * steps - 5.0 * (1.0 - steps**2))
        points = np.stack([x, y, relief(x, y)], axis=-1).reshape(-1, 3)
        corner = (np.arange(CELLS - 1)[:, None] * CELLS + np.arange(CELLS - 1)).reshape(-1, 1)
        mesh = bpy.data.meshes.new("Ground")
        faces = (corner + np.array([0, 1, CELLS + 1, CELLS])).tolist()
        # In triangles: what Blender makes of a bent quad is its own choice, and feet must stand on what is seen.
        faces = [half for a, b, c, d in faces for half in ([a, b, c], [a, c, d])]
        greens = [(0.10, 0.05, 0.018), (0.27, 0.17, 0.05), (0.13, 0.24, 0.03), (0.09, 0.20, 0.02)]
        mesh.from_pydata(points.tolist(), [], faces)
        self._lay(mesh, mottled("Ground", greens, 0.8, 0.95, 0.5))

    def _lay_stones(self) -> None:
        stone = mottled("Stone", [(0.16, 0.15, 0.15), (0.30, 0.27, 0.24), (0.42, 0.38, 0.33)], 3.0, 0.85, 0.7)
        for _ in range(40):  # To step on, low and close to the way.
            x, y, _ = track(self.random.uniform(-30.0, 120.0))
            y, size = y + self.random.uniform(-1.7, 1.7), self.random.uniform(0.16, 0.36)
            clay = Clay()
            clay.ball((0.0, 0.0, 0.0), (1.0, self.random.uniform(0.7, 1.0), 0.32), stone)
            offset = Vector(self.random.uniform(-2.5, 2.5) for _ in range(3))
            clay.places = [place * (1.0 + 0.2 * sin(offset.dot(place))) for place in clay.places]
            turn = Matrix.Rotation(self.random.uniform(0, 2 * pi), 4, "Z")
            sunk = Matrix.Translation((x, y, float(relief(x, y)) - 0.1 * size))
            self._lay(clay.mesh("Stone", sunk @ turn @ Matrix.Scale(size, 4)), stone)

    def _lay(self, mesh: Mesh, material: Material) -> None:
        """Put a mesh in world space into the scene, and under the feet."""
        mesh.materials.clear()
        mesh.materials.append(material)
        mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
        mesh.calc_loop_triangles()
        first = len(self.places)
        self.places.extend(vertex.co.copy() for vertex in mesh.vertices)
        self.faces.extend([first + i for i in triangle.vertices] for triangle in mesh.loop_triangles)
        self.collection.objects.link(bpy.data.objects.new(mesh.name, mesh))

    def _plant_grass(self) -> None:
        greens = [(0.06, 0.22, 0.02), (0.16, 0.33, 0.03), (0.36, 0.38, 0.05)]
        tufts = [self._tuft(paint(f"Grass {i}", green, 0.6)) for i, green in enumerate(greens)]
        for _ in range(1100):
            x, y = self.random.uniform(-7.0, 16.0), self.random.uniform(-3.2, 17.0)
            off = aside(x, y)
            if off > 0.4:  # Low where it would hide the feet.
                tall = min(1.0, 0.25 + off / 3) * (1.0 if y > 0.0 else 0.6)
                self._plant(self.random.choice(tufts), x, y, self.random.uniform(0.3, 0.8) * tall)

    def _plant_mushrooms(self) -> None:
        caps = {"Cap": (0.62, 0.045, 0.02), "Honey Cap": (0.72, 0.30, 0.05)}
        kinds = [mushroom(paint(name, colour, 0.35, coat=0.6)) for name, colour in caps.items()]
        for i, (x, y, size) in enumerate(GIANTS):
            self._plant(kinds[i % 2], x, y, size)
        for _ in range(70):
            x, y = self.random.uniform(-6.0, 14.0), self.random.uniform(-2.6, 14.0)
            if aside(x, y) > 0.8:
                self._plant(self.random.choice(kinds), x, y, self.random.uniform(0.12, 0.42))

    def _plant(self, mesh: Mesh, x: float, y: float, size: float) -> None:
        ob = bpy.data.objects.new(mesh.name, mesh)
        ob.location = (x, y, self.height(x, y) - 0.02 * size)
        ob.rotation_euler = [self.random.uniform(-limit, limit) for limit in (0.12, 0.12, pi)]
        ob.scale = (size, size, size)
        self.collection.objects.link(ob)

    def _tuft(self, material: Material) -> Mesh:
        """A dozen blades of grass."""
        clay = Clay()
        for _ in range(13):
            foot = Vector((self.random.gauss(0, 0.09), self.random.gauss(0, 0.09), 0.0))
            lean = Vector((self.random.gauss(0, 0.3), self.random.gauss(0, 0.3), self.random.uniform(0.5, 1.0)))
            profile = [(0.022, 0.0), (0.017, 0.55 * lean.length), (0.002, lean.length)]
            clay.lathe(profile, along(foot, lean), material, segments=5)
        return clay.mesh("Grass")


def aside(x: float, y: float) -> float:
    """How far a place is off the creatures' ways."""
    off = y - track(x / SPEED)[1]
    return min(abs(off), abs(off - BESIDE[1]))


def relief(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The height of the bare earth: waves across waves, and hills at the back."""
    waves = 0.20 * np.sin(0.62 * x + 0.4) * np.cos(0.5 * y + 0.8)
    waves += 0.085 * np.sin(1.45 * x + 0.9 * y) + 0.06 * np.sin(2.3 * x - 1.6 * y + 2.0)
    waves += 0.025 * np.sin(4.9 * x + 3.7 * y)
    beyond = np.maximum(0.0, y - 13.0)
    return (
        waves + 0.012 * beyond**1.6 * (1.0 + 0.5 * np.sin(0.21 * x + 1.0)) + 0.10 * np.sin(0.33 * x) * np.sin(0.4 * y)
    )


def mushroom(cap: Material) -> Mesh:
    """A mushroom one metre high."""
    clay = Clay()
    pale = paint("Stem", (0.80, 0.72, 0.58), 0.7)
    for profile, material in ((STEM, pale), (GILLS, pale), (CAP, cap)):
        clay.lathe(profile, Matrix(), material)
    return clay.mesh("Mushroom")
