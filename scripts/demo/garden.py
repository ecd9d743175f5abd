"""The ground, with stones to step on, and what grows there."""

from __future__ import annotations

from math import hypot, pi, sin
from random import Random

import bpy
import numpy as np
from bpy.types import Collection, Material, Mesh
from mathutils import Matrix, Vector
from mathutils.bvhtree import BVHTree

from .gait import SPEED, track
from .paint import mottled, paint
from .shapes import Clay

MIDDLE = (3.0, 8.0)
"""The middle of the ground."""

CELLS = 260
"""Points of the ground along each side."""

GIANTS = (-3.0, 2.7, 1.35), (0.7, 5.7, 1.9), (-9.3, 5.6, 2.5), (-3.6, 15.0, 2.6)
"""Mushrooms as high as trees, where they stand clear of the creature's head in the film: place and height."""

DOTS = (
    (0.2, 0.40, 0.79, 0.06),
    (1.5, 0.28, 0.905, 0.075),
    (2.6, 0.42, 0.76, 0.05),
    (3.6, 0.30, 0.89, 0.06),
    (4.5, 0.41, 0.775, 0.07),
    (5.5, 0.22, 0.94, 0.055),
)
"""The dots on a mushroom's cap: the angle around it, the way out from the stem, height, size."""


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
        earth = mottled(
            "Ground", [(0.10, 0.05, 0.018), (0.27, 0.17, 0.05), (0.13, 0.24, 0.03), (0.09, 0.20, 0.02)], 0.8, 0.95, 0.5
        )
        mesh.from_pydata(points.tolist(), [], faces)
        self._lay(mesh, earth)

    def _lay_stones(self) -> None:
        stone = mottled("Stone", [(0.16, 0.15, 0.15), (0.30, 0.27, 0.24), (0.42, 0.38, 0.33)], 3.0, 0.85, 0.7)
        for _ in range(34):  # To step on, low and close to the way.
            x, y, _ = track(self.random.uniform(-30.0, 120.0))
            y += self.random.uniform(-1.7, 1.7)
            self._lay_stone(x, y, self.random.uniform(0.16, 0.34), 0.32, stone)
        for _ in range(70):  # To look at.
            x, y = self.random.uniform(-8.0, 18.0), self.random.uniform(-3.0, 22.0)
            if off_track(x, y) > 2.2:
                self._lay_stone(x, y, self.random.uniform(0.12, 0.75), 0.7, stone)

    def _lay_stone(self, x: float, y: float, size: float, flat: float, material: Material) -> None:
        clay = Clay()
        clay.ball((0.0, 0.0, 0.0), (1.0, self.random.uniform(0.7, 1.0), flat), material)
        waves = [(Vector(self.random.uniform(-2.5, 2.5) for _ in range(3)), self.random.random() * 7) for _ in range(5)]
        clay.places = [p * (1.0 + 0.09 * sum(sin(way.dot(p) + start) for way, start in waves)) for p in clay.places]
        turn = Matrix.Rotation(self.random.uniform(0, 2 * pi), 4, "Z")
        sunk = Matrix.Translation((x, y, float(relief(x, y)) - 0.1 * size))
        self._lay(clay.mesh("Stone", sunk @ turn @ Matrix.Scale(size, 4)), material)

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
            off = off_track(x, y)
            if off > 0.4:  # Low where it would hide the feet.
                tall = min(1.0, 0.25 + off / 3) * (1.0 if y > 0.0 else 0.6)
                self._plant(self.random.choice(tufts), x, y, self.random.uniform(0.3, 0.8) * tall)

    def _plant_mushrooms(self) -> None:
        caps = [
            paint("Cap", (0.62, 0.045, 0.02), 0.35, coat=0.6),
            paint("Honey Cap", (0.72, 0.30, 0.05), 0.4, coat=0.4),
        ]
        kinds = [mushroom(cap) for cap in caps]
        for i, (x, y, size) in enumerate(GIANTS):
            self._plant(kinds[i % 2], x, y, size)
        for _ in range(70):
            x, y = self.random.uniform(-6.0, 14.0), self.random.uniform(-2.6, 14.0)
            if off_track(x, y) > 1.5:
                self._plant(self.random.choice(kinds), x, y, self.random.uniform(0.12, 0.42))

    def _plant(self, mesh: Mesh, x: float, y: float, size: float) -> None:
        ob = bpy.data.objects.new(mesh.name, mesh)
        ob.location = (x, y, self.height(x, y) - 0.02 * size)
        ob.rotation_euler = (
            self.random.uniform(-0.12, 0.12),
            self.random.uniform(-0.12, 0.12),
            self.random.uniform(0, 6.3),
        )
        ob.scale = (size, size, size)
        self.collection.objects.link(ob)

    def _tuft(self, material: Material) -> Mesh:
        """A dozen blades of grass."""
        clay = Clay()
        for _ in range(13):
            foot = Vector((self.random.gauss(0, 0.09), self.random.gauss(0, 0.09), 0.0))
            lean = Vector((self.random.gauss(0, 0.3), self.random.gauss(0, 0.3), self.random.uniform(0.5, 1.0)))
            middle = foot + 0.55 * Vector((0.6 * lean.x, 0.6 * lean.y, lean.z))
            for start, end, radii in ((foot, middle, (0.022, 0.017)), (middle, foot + lean, (0.017, 0.002))):
                axis = end - start
                to = Matrix.Translation(start) @ axis.to_track_quat("Z", "Y").to_matrix().to_4x4()
                clay.lathe([(radii[0], 0.0), (radii[1], axis.length)], to, material, segments=5)
        return clay.mesh("Grass")


def relief(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The height of the bare earth: waves across waves, and hills at the back."""
    waves = 0.20 * np.sin(0.62 * x + 0.4) * np.cos(0.5 * y + 0.8)
    waves += (
        0.085 * np.sin(1.45 * x + 0.9 * y) + 0.06 * np.sin(2.3 * x - 1.6 * y + 2.0) + 0.025 * np.sin(4.9 * x + 3.7 * y)
    )
    far = np.maximum(0.0, y - 13.0)
    return waves + 0.012 * far**1.6 * (1.0 + 0.5 * np.sin(0.21 * x + 1.0)) + 0.10 * np.sin(0.33 * x) * np.sin(0.4 * y)


def off_track(x: float, y: float) -> float:
    """How far a place is from the way that the body takes."""
    return min(hypot(x - a, y - b) for a, b, _ in (track((x + d) / SPEED) for d in (-1.0, -0.5, 0.0, 0.5, 1.0)))


def mushroom(cap: Material) -> Mesh:
    """A mushroom one metre high."""
    clay = Clay()
    pale = bpy.data.materials.get("Stem") or paint("Stem", (0.80, 0.72, 0.58), 0.7)
    stem = [(0.17, 0.0), (0.15, 0.06), (0.10, 0.25), (0.085, 0.5), (0.095, 0.74)]
    clay.lathe(stem, Matrix(), pale)
    under = [(0.08, 0.70), (0.30, 0.66), (0.44, 0.58)]
    clay.lathe(under, Matrix(), pale)
    top = [
        (0.44, 0.58),
        (0.475, 0.585),
        (0.47, 0.65),
        (0.42, 0.77),
        (0.32, 0.88),
        (0.18, 0.965),
        (0.08, 0.995),
        (0.0, 1.0),
    ]
    clay.lathe(top, Matrix(), cap)
    for turn, radius, height, size in DOTS:
        place = Matrix.Rotation(turn, 4, "Z") @ Vector((radius, 0.0, height))
        out = (place - Vector((0.0, 0.0, 0.45))).to_track_quat("Z", "Y").to_matrix().to_4x4()
        clay.ball(place, (size, size, 0.018), pale, turn=out)
    return clay.mesh("Mushroom")
