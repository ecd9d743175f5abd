"""The outlines that controls are drawn as, and their colours: left blue, right red, middle yellow, poles lighter."""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

import bpy
from bpy.types import Object, PoseBone
from mathutils import Matrix, Vector

from .control_shapes import Drawing

PREFIX = "WGT-planar_ik_"
"""What the names of outlines begin with."""

WIDTH = 2.0
"""How wide the lines of controls are, in pixels: they lie on meshes."""

SETS = {1: 4, -1: 1, 0: 9}
"""Which of Blender's theme colour sets controls have: left blue, right red, in the middle yellow."""

CORNER = 0.01
"""How much a colour may be off that Blender keeps in bytes."""

LIGHTER = {"normal": 0.45, "select": 0.6, "active": 0.75}
"""How much white is in the colours of a pole."""

Outline = tuple[list[tuple[float, float, float]], list[tuple[int, int]]]


def _ring(count: int, squareness: float) -> list[tuple[float, float]]:
    """A circle, or with more squareness than 2 a rounded square (Lamé's curve), from -0.5 to 0.5."""
    ring = []
    for k in range(count):
        c, s = cos(2.0 * pi * k / count), sin(2.0 * pi * k / count)
        size = 0.5 * (abs(c) ** squareness + abs(s) ** squareness) ** (-1.0 / squareness)
        ring.append((size * c, size * s))
    return ring


def _loop(count: int, first: int = 0) -> list[tuple[int, int]]:
    return [(first + k, first + (k + 1) % count) for k in range(count)]


def _sole() -> Outline:
    """A foot's outline: Y from heel to toe, narrower at the heel."""
    return [(x * min(1.0, 0.9 + 0.35 * y), y, 0.0) for x, y in _ring(32, 3.0)], _loop(32)


def _ball() -> Outline:
    """Three circles around each other."""
    ring = _ring(16, 2.0)
    corners = [*((x, y, 0.0) for x, y in ring), *((x, 0.0, y) for x, y in ring), *((0.0, x, y) for x, y in ring)]
    return corners, [*_loop(16), *_loop(16, 16), *_loop(16, 32)]


OUTLINES: dict[str, Outline] = {
    "CUBE": (
        [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)],
        [(a, a | bit) for a in range(8) for bit in (1, 2, 4) if not a & bit],
    ),
    "SOLE": _sole(),
    "SQUARE": ([(-0.5, -0.5, 0.0), (0.5, -0.5, 0.0), (0.5, 0.5, 0.0), (-0.5, 0.5, 0.0)], _loop(4)),
    "BALL": _ball(),
}
"""By kind, corners and edges, as large as 1 around the origin."""


def widget_of(kind: str) -> Object:
    """The object of edges that bones are drawn as, of this file; it is in no scene."""
    name = f"{PREFIX}{kind.lower()}"
    objects: Any = bpy.data.objects
    widget: Object | None = objects.get((name, None))
    return widget or bpy.data.objects.new(name, _mesh(kind))


def _mesh(kind: str) -> Any:
    mesh = bpy.data.meshes.new(f"{PREFIX}{kind.lower()}")
    mesh.from_pydata(*OUTLINES[kind], [])
    return mesh


def kind_of(block: Any) -> str:
    """Of which kind the outline of an object or mesh is, which Blender may have numbered; nothing of others."""
    name = block.name if block else ""
    return next((kind for kind in OUTLINES if name.startswith(f"{PREFIX}{kind.lower()}")), "")


def draw_bone(bone: PoseBone, drawing: Drawing) -> None:
    """Have a control bone be drawn so."""
    drawn: Any = bone
    place, turn, scale = (bone.bone.matrix_local.inverted() @ drawing.matrix).decompose()
    drawn.custom_shape, drawn.bone.show_wire = widget_of(drawing.kind), True
    drawn.use_custom_shape_bone_size, drawn.custom_shape_wire_width = False, WIDTH
    drawn.custom_shape_translation, drawn.custom_shape_scale_xyz = place, scale
    drawn.custom_shape_rotation_euler = turn.to_euler()


def drawn_bone(bone: PoseBone) -> Drawing | None:
    """How a control bone is drawn, if as ours are."""
    drawn: Any = bone
    kind = kind_of(drawn.custom_shape)
    turn = drawn.custom_shape_rotation_euler.to_quaternion()
    in_bone = Matrix.LocRotScale(drawn.custom_shape_translation, turn, drawn.custom_shape_scale_xyz)
    return Drawing(kind, bone.bone.matrix_local @ in_bone) if kind else None


def remove_unused_shapes() -> None:
    """Remove all outlines that nothing is drawn as any more."""
    blocks: Any = bpy.data
    for ob in [ob for ob in blocks.objects if kind_of(ob) and not ob.users and not ob.library]:
        mesh = ob.data
        blocks.objects.remove(ob)
        if kind_of(mesh) and not mesh.users:
            blocks.meshes.remove(mesh)


def colour_bone(bone: PoseBone, kind: str, side: int) -> None:
    """Give a control bone the colour of its side: 1 left, -1 right, 0 middle; poles are lighter."""
    colour: Any = bone.bone.color
    colour.palette = f"THEME{SETS[side]:02}" if kind == "target" else "CUSTOM"
    if kind == "pole":
        for name in LIGHTER:
            setattr(colour.custom, name, _colour(side, kind, name))


def is_coloured(bone: PoseBone, kind: str, side: int) -> bool:
    """Whether a control bone has the colour of a side."""
    colour: Any = bone.bone.color
    if kind == "target":
        return bool(colour.palette == f"THEME{SETS[side]:02}")
    of_side = Vector(_colour(side, kind, "normal"))
    return colour.palette == "CUSTOM" and (Vector(colour.custom.normal) - of_side).length < CORNER


def _colour(side: int, kind: str, name: str) -> tuple[float, float, float]:
    preferences: Any = bpy.context.preferences
    red, green, blue = getattr(preferences.themes[0].bone_color_sets[SETS[side] - 1], name)
    light = LIGHTER[name] if kind == "pole" else 0.0
    return red + (1.0 - red) * light, green + (1.0 - green) * light, blue + (1.0 - blue) * light
