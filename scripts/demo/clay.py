"""What the creatures and their garden are made of: solids of revolution, gathered into one mesh, and their paint."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import cos, pi, sin
from typing import Any

import bpy
from bpy.types import Material, Mesh
from mathutils import Matrix, Vector

Profile = Sequence[tuple[float, float]]
"""Radii and heights along an axis, from its lower end to its upper."""

Point = Sequence[float]
Colour = tuple[float, float, float]

CREAM = "Cream", (0.90, 0.78, 0.56), 0.4, 0.0, 0.3
DARK = "Graphite", (0.035, 0.04, 0.05), 0.38, 0.6
RUBBER = "Rubber", (0.02, 0.022, 0.026), 0.7
BRASS = "Brass", (0.95, 0.56, 0.16), 0.25, 1.0
WHITE = "White", (0.94, 0.94, 0.92), 0.12, 0.0, 1.0
PUPIL = "Pupil", (0.008, 0.010, 0.016), 0.05, 0.0, 1.0
LAMP = "Lamp", (1.0, 0.55, 0.06), 0.5, 0.0, 0.0, 1.6
SPARK = "Spark", (1.0, 1.0, 1.0), 0.5, 0.0, 0.0, 2.5
"""The paints that creatures share."""


class Clay:
    """A mesh in the making; every solid has a material and may belong to a bone."""

    def __init__(self) -> None:
        self.places: list[Vector] = []
        self.faces: list[list[int]] = []
        self.materials: list[Material] = []
        self.bones: dict[str, list[int]] = {}

    def lathe(self, profile: Profile, to: Matrix, material: Material, bone: str = "", segments: int = 32) -> None:
        """Turn a profile about the Z axis of ``to``."""
        first = len(self.places)
        rings: list[list[int]] = []
        for radius, height in profile:
            around = segments if radius > 1e-9 else 1
            rings.append([len(self.places) + i for i in range(around)])
            angles = [2.0 * pi * i / around for i in range(around)]
            self.places += [to @ Vector((radius * cos(angle), radius * sin(angle), height)) for angle in angles]
        for below, above in pairwise(rings):
            for i, j in pairwise([*range(segments), 0]):
                corners = [below[i % len(below)], below[j % len(below)], above[j % len(above)], above[i % len(above)]]
                corners = list(dict.fromkeys(corners))
                if len(corners) > 2:
                    self.faces.append(corners)
                    self.materials.append(material)
        self.bones.setdefault(bone, []).extend(range(first, len(self.places)))

    def ball(self, centre: Point, radii: Point, material: Material, bone: str = "", turn: Matrix | None = None) -> None:
        """An ellipsoid, turned about its centre."""
        to = Matrix.Translation(centre) @ (turn or Matrix()) @ Matrix.Diagonal((*radii, 1.0))
        self.lathe(arc(0.0, 1.0, -90, 90, 24), to, material, bone, 40)

    def limb(self, start: Point, end: Point, radii: tuple[float, float], material: Material, bone: str = "") -> None:
        """A tapered rod with round ends: the ends are the middles of its two spheres."""
        axis = Vector(end) - Vector(start)
        profile = [*arc(0.0, radii[0], -90, 0, 8), *arc(axis.length, radii[1], 0, 90, 8)]
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
        used = list(dict.fromkeys(self.materials))
        for material in used:
            mesh.materials.append(material)
        mesh.polygons.foreach_set("material_index", [used.index(material) for material in self.materials])
        mesh.polygons.foreach_set("use_smooth", [True] * len(self.faces))
        mesh.update()
        return mesh


def along(place: Point, axis: Point) -> Matrix:
    """A frame with its Z axis along an axis."""
    return Matrix.Translation(place) @ Vector(axis).to_track_quat("Z", "Y").to_matrix().to_4x4()


def arc(height: float, radius: float, start: int, end: int, steps: int) -> list[tuple[float, float]]:
    """The profile of a part of a ball, between two latitudes in degrees."""
    angles = [(start + (end - start) * i / steps) * pi / 180.0 for i in range(steps + 1)]
    return [(radius * cos(angle) if abs(cos(angle)) > 1e-6 else 0.0, height + radius * sin(angle)) for angle in angles]


def paint(
    name: str, colour: Colour, rough: float = 0.5, metal: float = 0.0, coat: float = 0.0, glow: float = 0.0
) -> Any:
    """A plain surface; ``coat`` is a layer of clear varnish, ``glow`` how strongly it shines."""
    material = bpy.data.materials.get(name)
    if material:
        return material
    material = bpy.data.materials.new(name)
    material.cycles.emission_sampling = "NONE"  # Small lamps light nothing, and looking for them doubles the time.
    material.use_nodes = True
    inputs = material.node_tree.nodes["Principled BSDF"].inputs
    inputs["Base Color"].default_value = inputs["Emission Color"].default_value = (*colour, 1.0)
    material.diffuse_color, inputs["Emission Strength"].default_value = (*colour, 1.0), glow
    inputs["Roughness"].default_value, inputs["Metallic"].default_value = rough, metal
    inputs["Coat Weight"].default_value, inputs["Coat Roughness"].default_value = coat, 0.08
    return material


def mottled(name: str, colours: list[Colour], scale: float, rough: float, bump: float) -> Material:
    """An uneven surface in several colours that wander into each other."""
    material = paint(name, colours[0], rough)
    tree: Any = material.node_tree
    surface, new = tree.nodes["Principled BSDF"], tree.links.new
    place = tree.nodes.new("ShaderNodeNewGeometry").outputs["Position"]
    coarse, fine = noise(tree, place, scale, 5.0), noise(tree, place, scale * 14.0, 3.0)
    both: Any = tree.nodes.new("ShaderNodeMath")
    both.operation, both.inputs[1].default_value = "MULTIPLY_ADD", 0.3
    new(fine, both.inputs[0])
    new(coarse, both.inputs[2])
    places = [0.51 + 0.28 * i / (len(colours) - 1) for i in range(len(colours))]
    new(ramp(tree, both.outputs[0], colours, places), surface.inputs["Base Color"])
    relief = tree.nodes.new("ShaderNodeBump")
    relief.inputs["Strength"].default_value, relief.inputs["Distance"].default_value = bump, 0.05
    new(fine, relief.inputs["Height"])
    new(relief.outputs["Normal"], surface.inputs["Normal"])
    return material


def sky() -> Any:
    """A late afternoon: warm at the horizon, blue above."""
    world: Any = bpy.data.worlds.new("Sky")
    world.use_nodes = True
    tree = world.node_tree
    split = tree.nodes.new("ShaderNodeSeparateXYZ")
    tree.links.new(tree.nodes.new("ShaderNodeTexCoord").outputs["Generated"], split.inputs[0])
    colour = ramp(
        tree, split.outputs["Z"], [(0.98, 0.74, 0.50), (0.42, 0.70, 0.90), (0.09, 0.32, 0.80)], [0.0, 0.13, 0.5]
    )
    tree.links.new(colour, tree.nodes["Background"].inputs["Color"])
    return world


def noise(tree: Any, place: Any, scale: float, detail: float) -> Any:
    """Clouds of this size."""
    node: Any = tree.nodes.new("ShaderNodeTexNoise")
    node.inputs["Scale"].default_value, node.inputs["Detail"].default_value = scale, detail
    tree.links.new(place, node.inputs["Vector"])
    return node.outputs[0]


def ramp(tree: Any, factor: Any, colours: list[Colour], places: list[float]) -> Any:
    """These colours at these values of a factor, and between them what lies between."""
    node: Any = tree.nodes.new("ShaderNodeValToRGB")
    elements = node.color_ramp.elements
    while len(elements) < len(colours):
        elements.new(1.0)
    for element, place, colour in zip(elements, places, colours, strict=True):
        element.position, element.color = place, (*colour, 1.0)
    tree.links.new(factor, node.inputs["Fac"])
    return node.outputs["Color"]
