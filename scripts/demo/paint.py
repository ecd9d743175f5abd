"""Materials and the sky."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Material, NodeTree

Colour = tuple[float, float, float]

HAZE: Colour = (0.98, 0.74, 0.50)
"""The colour that far things fade into: that of the sky at the horizon."""


def paint(name: str, colour: Colour, rough: float = 0.5, metal: float = 0.0, coat: float = 0.0) -> Material:
    """A plain surface; ``coat`` is a layer of clear varnish."""
    return _surface(
        name,
        {
            "Base Color": (*colour, 1.0),
            "Roughness": rough,
            "Metallic": metal,
            "Coat Weight": coat,
            "Coat Roughness": 0.08,
        },
    )


def glow(name: str, colour: Colour, strength: float) -> Material:
    """A surface that shines."""
    return _surface(
        name, {"Base Color": (*colour, 1.0), "Emission Color": (*colour, 1.0), "Emission Strength": strength}
    )


def mottled(name: str, colours: list[Colour], scale: float, rough: float, bump: float) -> Material:
    """An uneven surface in several colours that wander into each other, and into the haze far away."""
    material = _surface(name, {"Roughness": rough})
    tree = material.node_tree
    surface = tree.nodes["Principled BSDF"]
    place = _add(tree, "ShaderNodeNewGeometry").outputs["Position"]
    coarse = _noise(tree, place, scale, 5.0)
    fine = _noise(tree, place, scale * 14.0, 3.0)
    ramp = _add(tree, "ShaderNodeValToRGB")
    _colour(ramp.color_ramp, colours)
    both = _add(tree, "ShaderNodeMath", operation="MULTIPLY_ADD")
    both.inputs[1].default_value = 0.3
    tree.links.new(fine, both.inputs[0])
    tree.links.new(coarse, both.inputs[2])
    less = _add(tree, "ShaderNodeMath", operation="SUBTRACT")
    less.inputs[1].default_value = 0.15
    tree.links.new(both.outputs[0], less.inputs[0])
    tree.links.new(less.outputs[0], ramp.inputs["Fac"])
    tree.links.new(ramp.outputs["Color"], surface.inputs["Base Color"])
    relief = _add(tree, "ShaderNodeBump")
    relief.inputs["Strength"].default_value = bump
    relief.inputs["Distance"].default_value = 0.05
    tree.links.new(fine, relief.inputs["Height"])
    tree.links.new(relief.outputs["Normal"], surface.inputs["Normal"])
    _fade(tree, surface.outputs["BSDF"])
    return material


def sky(scene: Any) -> None:
    """A late afternoon: warm at the horizon, blue above."""
    world = bpy.data.worlds.new("Sky")
    scene.world = world
    world.use_nodes = True
    tree = world.node_tree
    where = _add(tree, "ShaderNodeTexCoord").outputs["Generated"]
    split = _add(tree, "ShaderNodeSeparateXYZ")
    tree.links.new(where, split.inputs[0])
    ramp = _add(tree, "ShaderNodeValToRGB")
    _colour(ramp.color_ramp, [HAZE, (0.42, 0.70, 0.90), (0.09, 0.32, 0.80)], [0.0, 0.13, 0.5])
    tree.links.new(split.outputs["Z"], ramp.inputs["Fac"])
    background = tree.nodes["Background"]
    background.inputs["Strength"].default_value = 1.0
    tree.links.new(ramp.outputs["Color"], background.inputs["Color"])


def _surface(name: str, values: dict[str, Any]) -> Material:
    material = bpy.data.materials.new(name)
    material.cycles.emission_sampling = "NONE"  # Small lamps light nothing, and looking for them doubles the time.
    material.use_nodes = True
    inputs = material.node_tree.nodes["Principled BSDF"].inputs
    for key, value in values.items():
        inputs[key].default_value = value
    if "Base Color" in values:
        material.diffuse_color = values["Base Color"]
    return material


def _fade(tree: NodeTree, surface: Any) -> None:
    """Let the surface fade into the haze with its distance from the camera."""
    depth = _add(tree, "ShaderNodeMapRange")
    for key, value in (("From Min", 8.0), ("From Max", 42.0), ("To Max", 0.75)):
        depth.inputs[key].default_value = value
    tree.links.new(_add(tree, "ShaderNodeCameraData").outputs["View Distance"], depth.inputs["Value"])
    haze = _add(tree, "ShaderNodeEmission")
    haze.inputs["Color"].default_value = (*HAZE, 1.0)
    mix = _add(tree, "ShaderNodeMixShader")
    tree.links.new(depth.outputs["Result"], mix.inputs[0])
    tree.links.new(surface, mix.inputs[1])
    tree.links.new(haze.outputs["Emission"], mix.inputs[2])
    tree.links.new(mix.outputs["Shader"], tree.nodes["Material Output"].inputs["Surface"])


def _noise(tree: NodeTree, place: Any, scale: float, detail: float) -> Any:
    noise = _add(tree, "ShaderNodeTexNoise")
    noise.inputs["Scale"].default_value = scale
    noise.inputs["Detail"].default_value = detail
    tree.links.new(place, noise.inputs["Vector"])
    return noise.outputs[0]


def _colour(ramp: Any, colours: list[Colour], places: list[float] | None = None) -> None:
    places = places or [0.36 + 0.28 * i / (len(colours) - 1) for i in range(len(colours))]
    while len(ramp.elements) < len(colours):
        ramp.elements.new(1.0)
    for element, place, colour in zip(ramp.elements, places, colours, strict=True):
        element.position = place
        element.color = (*colour, 1.0)


def _add(tree: NodeTree, kind: str, **settings: Any) -> Any:
    node = tree.nodes.new(kind)
    for name, value in settings.items():
        setattr(node, name, value)
    return node
