"""What controls look like: a sole on the floor, a box around a hand, a small cube or square at other tips, a small ball
at poles; and in which colour. It is how bones are drawn: a control itself stays where ankle or knee need it."""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Bone, Object, PoseBone
from mathutils import Matrix
from numpy.typing import NDArray

from ..blender.names import side_of
from ..blender.types import ArmatureObject
from ..limb.names import FEET, HANDS, says

Array = NDArray[Any]

GROUND = 0.15
"""How far above the lowest bone of a rig, in lengths of a limb, a foot may end and still stand on the ground."""

MARGIN = 1.15
"""How much larger than the foot or hand itself its control is drawn."""

SLIM, DEEP = 0.4, 0.25
"""How wide a foot and how thick a hand is drawn that no mesh shows, in its own lengths."""

PLAIN = 0.12
"""How large the control of another tip is, in lengths of its limb; on flat rigs it is `FLAT`."""

FLAT = 0.2

WEIGHT = 0.3
"""From this weight on, a vertex is of a bone."""


class Drawing(NamedTuple):
    """How a control is drawn: the kind of its shape, and what takes that, which is as large as 1, to the armature at
    rest."""

    shape: str
    matrix: Matrix


def drawing_of_target(ob: ArmatureObject, foot: PoseBone | None, rest: Matrix, length: float, normal: Any) -> Drawing:
    """How the target of a limb of this length is drawn that rests so in the armature; ``normal`` is that of the plane
    of a flat rig."""
    if normal is not None:
        across = normal.to_track_quat("Z", "Y").to_matrix().to_4x4()
        return Drawing("SQUARE", Matrix.Translation(rest.translation) @ across @ Matrix.Scale(FLAT * length, 4))
    if foot is None:
        return Drawing("CUBE", rest @ Matrix.Scale(PLAIN * length, 4))
    points = _points(ob, foot)
    if _is_on_ground(ob, foot, points, rest, length):
        return Drawing("SOLE", _sole(points, rest, foot, length))
    return Drawing("CUBE", _box(points, foot, length))


def drawing_of_pole(rest: Matrix, size: float) -> Drawing:
    """How a pole is drawn."""
    return Drawing("BALL", rest @ Matrix.Scale(size, 4))


def _is_on_ground(ob: ArmatureObject, foot: PoseBone, points: Array, rest: Matrix, length: float) -> bool:
    """Whether a foot stands on what is the floor at rest, as a front paw does too; hands do not, whatever is below."""
    up = np.array(rest.col[2][:3])
    floor = min(float(up @ np.array(bone.head_local)) for bone in ob.data.bones if bone.use_deform)
    lowest = float((points @ up).min())
    if says(foot.name, FEET - HANDS):
        return True
    return lowest - floor <= GROUND * length and not says(foot.name, HANDS - {"palm"})


def _points(ob: ArmatureObject, foot: PoseBone) -> Array:
    """What a foot or hand and all below it take up in the armature at rest, (n, 3): the vertices that they deform, or
    else their own ends."""
    vertices = _vertices(ob, {bone.name for bone in (foot.bone, *foot.bone.children_recursive)})
    return vertices if len(vertices) else _ends(foot.bone)


def _ends(foot: Bone) -> Array:
    """Where the bones of a foot or hand begin and end in the armature at rest, (n, 3)."""
    bones = [bone for bone in (foot, *foot.children_recursive) if bone.use_deform] or [foot]
    return np.array([end[:] for bone in bones for end in (bone.head_local, bone.tail_local)])


def _vertices(ob: ArmatureObject, names: set[str]) -> Array:
    """The vertices, in the armature, that bones of these names deform most."""
    rows: list[Array] = []
    for mesh in _skins(ob):
        numbers = {group.index for group in mesh.vertex_groups if group.name in names}
        data: Any = mesh.data
        if not numbers:
            continue
        into = ob.matrix_world.inverted_safe() @ mesh.matrix_world
        rows += [
            np.array(into @ vertex.co)
            for vertex in data.vertices
            if any(group.group in numbers and group.weight >= WEIGHT for group in vertex.groups)
        ]
    return np.array(rows).reshape(-1, 3)


def _skins(ob: ArmatureObject) -> list[Object]:
    """The meshes that a rig deforms."""
    meshes = (mesh for mesh in bpy.data.objects if mesh.type == "MESH")
    return [mesh for mesh in meshes if any(getattr(modifier, "object", None) == ob for modifier in mesh.modifiers)]


def _sole(points: Array, rest: Matrix, foot: PoseBone, length: float) -> Matrix:
    """Flat on the floor, from heel to toe and as wide as the foot."""
    up, ankle = np.array(rest.col[2][:3]), np.array(rest.translation)
    ahead = _ahead(_ends(foot.bone) - ankle, up, np.array(rest.col[1][:3]), length)
    across = np.cross(ahead, up)
    along, aside = (points - ankle) @ ahead, (points - ankle) @ across
    heel, toe = min(float(along.min()), 0.0), max(float(along.max()), 0.0)
    if toe - heel < 0.05 * length:  # a hoof that points down
        heel, toe = -0.06 * length, 0.06 * length
    size = toe - heel
    width = max(float(np.ptp(aside)), SLIM * size)
    middle = ankle + ahead * (heel + toe) / 2.0 + across * float(aside.max() + aside.min()) / 2.0
    middle += up * (float((points @ up).min()) - float(middle @ up))
    axes = np.column_stack((across * width * MARGIN, ahead * size * MARGIN, up * size))
    return _matrix(axes, middle)


def _ahead(offsets: Array, up: Array, usual: Array, length: float) -> Array:
    """Where a foot points along the floor, by how far its bones go from the ankle."""
    level: Array = offsets - np.outer(offsets @ up, up)
    farthest: Array = level[np.argmax((level * level).sum(axis=1))]
    size = float(np.linalg.norm(farthest))
    if size < 0.03 * length:
        return usual
    ahead: Array = farthest / size
    return ahead


def _box(points: Array, foot: PoseBone, length: float) -> Matrix:
    """Around a hand, along its own axes."""
    axes = np.array(foot.bone.matrix_local.to_3x3())
    inside = points @ axes
    low, high = inside.min(axis=0), inside.max(axis=0)
    size = np.maximum((high - low), DEEP * max(float((high - low).max()), 0.1 * length))
    return _matrix(axes * size * MARGIN, axes @ ((low + high) / 2.0))


def _matrix(axes: Array, place: Array) -> Matrix:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = axes, place
    return Matrix(matrix.tolist())


# shapes


def _ring(count: int, squareness: float) -> list[tuple[float, float, float]]:
    """A rounded square of width 1 around the origin, as Lamé's curve."""
    points = []
    for k in range(count):
        c, s = cos(2.0 * pi * k / count), sin(2.0 * pi * k / count)
        size = (abs(c) ** squareness + abs(s) ** squareness) ** (-1.0 / squareness)
        points.append((0.5 * size * c, 0.5 * size * s, 0.0))
    return points


def _loop(count: int, first: int = 0) -> list[tuple[int, int]]:
    return [(first + k, first + (k + 1) % count) for k in range(count)]


def _ball() -> tuple[list[tuple[float, float, float]], list[tuple[int, int]]]:
    """Three circles around each other."""
    circle = _ring(16, 2.0)
    corners = [*circle, *((x, 0.0, y) for x, y, _ in circle), *((0.0, x, y) for x, y, _ in circle)]
    return corners, [*_loop(16), *_loop(16, 16), *_loop(16, 32)]


SHAPES: dict[str, tuple[list[Any], list[Any]]] = {
    "CUBE": (
        [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)],
        [(a, a | bit) for a in range(8) for bit in (1, 2, 4) if not a & bit],
    ),
    "SOLE": (_ring(32, 4.0), _loop(32)),
    "SQUARE": ([(-0.5, -0.5, 0.0), (0.5, -0.5, 0.0), (0.5, 0.5, 0.0), (-0.5, 0.5, 0.0)], _loop(4)),
    "BALL": _ball(),
}
"""The shapes, as large as 1 around the origin: their corners and edges."""


def shape_name(kind: str) -> str:
    """What the object of a shape is called."""
    return f"WGT-planar_ik_{kind.lower()}"


def shape_of(kind: str) -> Object:
    """The object of edges that bones are drawn as; it is in no scene."""
    name = shape_name(kind)
    shape = bpy.data.objects.get(name)
    if shape is None:
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(*SHAPES[kind], [])
        shape = bpy.data.objects.new(name, mesh)
    return shape


def draw_as(bone: PoseBone, drawing: Drawing) -> None:
    """Have a control bone be drawn so."""
    shown: Any = bone
    place, turn, scale = (bone.bone.matrix_local.inverted() @ drawing.matrix).decompose()
    shown.custom_shape, shown.bone.show_wire = shape_of(drawing.shape), True
    shown.use_custom_shape_bone_size = False
    shown.custom_shape_translation, shown.custom_shape_scale_xyz = place, scale
    shown.custom_shape_rotation_euler = turn.to_euler()


# colours

SETS = {1: 4, -1: 1, 0: 9}
"""Which of Blender's colour sets controls have: left blue, right red, in the middle yellow."""

LIGHTER = 0.45
"""How much white is in the colour of a pole."""


def colour_bone(bone: PoseBone, kind: str, last: str) -> None:
    """Give a control of the limb with this last bone the colour of its side; poles are lighter."""
    colour: Any = bone.bone.color
    number = SETS[side_of(last)]
    if kind == "target":
        colour.palette = f"THEME{number:02}"
        return
    colour.palette = "CUSTOM"
    for name, light in (("normal", LIGHTER), ("select", LIGHTER + 0.2), ("active", LIGHTER + 0.35)):
        setattr(colour.custom, name, _lightened(number, name, light))


def colour_object(ob: Object, kind: str, last: str) -> None:
    """The same for an object, which is seen where wires have the colours of objects."""
    ob.color = (*_lightened(SETS[side_of(last)], "normal", 0.0 if kind == "target" else LIGHTER), 1.0)


def _lightened(number: int, name: str, light: float) -> tuple[float, float, float]:
    preferences: Any = bpy.context.preferences
    red, green, blue = getattr(preferences.themes[0].bone_color_sets[number - 1], name)
    return red + (1.0 - red) * light, green + (1.0 - green) * light, blue + (1.0 - blue) * light
