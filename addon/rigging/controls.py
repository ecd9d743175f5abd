"""What is made for limbs to follow: control bones of its rig, and how they are drawn and coloured: left blue, right
red, middle yellow, poles lighter. They go once nothing uses them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from math import cos, pi, sin
from typing import Any, NamedTuple

import bpy
from bpy.types import Bone, Object, PoseBone
from mathutils import Matrix, Quaternion, Vector

from ..blender import editing, rotation
from ..blender.animation import curves_everywhere, drivers_of, remove_animation
from ..blender.dependencies import BoneRef, Dependencies, constraint_targets, driver_targets
from ..blender.types import ArmatureObject, all_objects, announce, bones_of, can_edit_bones, is_armature, split_path
from ..limb import follow, tips
from ..limb.names import drawn_side, is_trunk, joint_of, moves_all, pole_name, target_name
from ..limb.settings import COLLECTION as ALL_OURS
from ..limb.settings import MADE_FOR_LIMB, BonesPerSegment
from ..limb.storage import CONTROL_KINDS, chain_bones, is_control, is_mechanism_bone
from .control_shapes import Drawing

COLLECTIONS = {"target": "IK Controls", "pole": "IK Poles"}
"""The bone collections of control bones, by kind: poles may be hidden, as they need not be touched."""

AT_ORIGIN = 0.1
"""How far from the armature's origin a bone that moves the whole rig may begin, in lengths of a limb's last bone."""

ALONG_NORMAL = 0.9999
"""The least cosine between an axis of a control and the normal of the plane that it is to stay in."""


class Control(NamedTuple):
    """A control to be made: for which limb, as ``target`` or ``pole``, its name, the bone it hangs on or nothing, its
    rest matrix in the armature, the length of its bone, and how it is drawn; its ``place`` in the world now, and its
    ``turn`` there if it differs from rest; the ``normal`` of the plane that it stays in, if it does."""

    ob: ArmatureObject
    limb_name: str
    kind: str
    name: str
    parent: str
    rest: Matrix
    size: float
    drawing: Drawing
    place: Vector
    turn: Matrix | None = None
    normal: Vector | None = None


def name_of_control(limb: PoseBone, kind: str) -> str:
    """The name for a control of a limb."""
    end = tips.foot_of(limb)
    foot = end.name if end else ""
    if kind == "target":
        return target_name(limb.name, foot)
    return pole_name(limb.name, foot, joint_of([bone.name for bone in (limb, limb.parent, end) if bone]))


def add_control_bone(control: Control, parent: str) -> str:
    """Make the bone of a control, in Edit Mode; its name. Blender takes no matrix for one without a length."""
    bones = control.ob.data.edit_bones
    bone = bones.new(control.name)
    bone.tail = (0.0, 1.0, 0.0)
    bone.matrix, bone.length, bone.use_deform = control.rest, control.size, False
    bone.select = bone.select_head = bone.select_tail = False
    bone.parent = bones[parent] if parent else None
    return bone.name


def rig_root(limb: PoseBone, segments: BonesPerSegment) -> str:
    """The name of the bone above a limb that moves the whole rig, for controls to hang on; "" if there is none. It
    is called so, or it begins at the armature's origin and one bone that hangs on it carries this limb and all
    others; and it does not move with the limb."""
    ob, chain = limb.id_data, chain_bones(limb, segments)
    top = [limb, *limb.parent_recursive][-1]
    if Dependencies().moves_with((ob, top.name), ob, {bone.name for bone in chain}):
        return ""
    is_root = moves_all(top.name) or (
        top.bone.head_local.length <= AT_ORIGIN * limb.bone.length
        and not is_trunk(top.name)
        and sum(bool(_children(child)) for child in _children(top.bone)) == 1
        and top.bone not in _carrying_alone(chain[0].bone)
    )
    return top.name if is_root else ""


def _carrying_alone(first: Bone) -> list[Bone]:
    """The first bone of a limb and all above it, up to and with the nearest one from which more hangs than this
    limb."""
    bones = [first]
    while (above := bones[-1].parent) is not None:
        bones.append(above)
        if len(_children(above)) > 1:
            break
    return bones


def _children(bone: Bone) -> list[Bone]:
    """What hangs on a bone and was not made for limbs."""
    return [child for child in bone.children if not is_mechanism_bone(child)]


def finish_control(control: Control, name: str, moved: Matrix | None) -> Matrix:
    """Give a new control bone its shape, collection, locks and pose; returns its pose matrix in the
    armature. ``moved`` is how what it hangs on or goes with has moved there from its rest; None for not at all."""
    ob, bone = control.ob, control.ob.pose.bones[name]  # type: Any, Any
    setattr(bone.bone, MADE_FOR_LIMB, control.kind)
    bone.matrix_basis = Matrix()
    draw_bone(bone, control.drawing)
    colour_bone(bone, control.kind, drawn_side(control.limb_name))
    editing.collect(ob, bone.bone, COLLECTIONS[control.kind], ALL_OURS, [*COLLECTIONS].index(control.kind))
    if control.normal is not None and is_aligned(control.rest, control.normal):
        bone.rotation_mode = "XYZ"
        for i, axis in enumerate(control.rest.to_3x3().col):
            bone.lock_location[i] = abs(axis.dot(control.normal)) > ALONG_NORMAL
            bone.lock_rotation[i] = not bone.lock_location[i]
    carried: dict[str, Any] = {} if moved is None else {"parent_matrix": moved, "parent_matrix_local": Matrix()}
    unposed = bone.bone.convert_local_to_pose(Matrix(), bone.bone.matrix_local, **carried)
    _place(control, bone, unposed.inverted_safe())
    posed: Matrix = bone.bone.convert_local_to_pose(bone.matrix_basis, bone.bone.matrix_local, **carried)
    return posed


def coloured_as_other_side(limb: PoseBone) -> list[tuple[str, PoseBone]]:
    """The control bones of a limb that have the colour of the other side, as Symmetrize copies it, and what each is."""
    side, followed = drawn_side(limb.name), zip(CONTROL_KINDS, follow.follow_of(limb).pairs, strict=True)
    bones = [
        (kind, bones_of(ob)[name]) for kind, (ob, name) in followed if side and ob and name and is_control(ob, name)
    ]
    return [(kind, bone) for kind, bone in bones if is_coloured(bone, kind, -side)]


def recolour(limb: PoseBone) -> None:
    """Give the controls of a limb the colour of its side, where they have that of the other."""
    for kind, bone in coloured_as_other_side(limb):
        announce(bone.id_data)
        colour_bone(bone, kind, drawn_side(limb.name))


def is_aligned(matrix: Matrix, normal: Vector) -> bool:
    """Whether an axis of a matrix lies along a normal."""
    return any(abs(axis.dot(normal)) > ALONG_NORMAL for axis in matrix.to_3x3().col)


def _place(control: Control, bone: Any, from_armature: Matrix) -> None:
    """Pose a new control bone: its place exactly, whatever its parent is scaled by."""
    place = from_armature @ control.place
    if place.length > 1e-7 * control.size:
        bone.location = place
    turn: Any = (from_armature.to_3x3() @ control.turn).to_quaternion() if control.turn else Quaternion()
    if turn.angle > 1e-6:
        rotation.set_turn(bone, tuple(turn))


def made_for(limb: PoseBone) -> list[BoneRef]:
    """The controls that, by their names, were made for a limb whose constraint no longer names them."""
    ob, names = limb.id_data, [name_of_control(limb, kind) for kind in CONTROL_KINDS]
    return [(ob, name) for name in names if is_control(ob, name)]


class Unused(NamedTuple):
    """Controls that nothing uses any more, by their rigs; and the names of those that stay."""

    bones: dict[ArmatureObject, set[str]]
    kept: list[str]


def unused_of(refs: Iterable[BoneRef], with_keys: bool) -> Unused:
    """Those of these controls that nothing uses: nothing hangs on them, no constraint or driver reads them. Nor have
    they keys, unless ``with_keys``."""
    bones: list[tuple[Any, str]] = [ref for ref in dict.fromkeys(refs) if is_control(*ref)]
    used = {(ob.data, bone) for ob, bone in _used_bones()} if bones else set()
    free = {(ob.data, bone) for ob, bone in bones if with_keys or not _curves_of(ob, {bone})} - used
    while carrying := {
        (data, name) for data, name in free if any((data, bone.name) not in free for bone in data.bones[name].children)
    }:
        free -= carrying
    unused = Unused({}, [])
    for ob, bone in bones:
        if (ob.data, bone) in free and can_edit_bones(ob):
            unused.bones.setdefault(ob, set()).add(bone)
        else:
            unused.kept.append(bone)
    return unused


def _used_bones() -> Iterator[tuple[Any, str]]:
    """The bones that objects hang on, that constraints or drivers of objects name, and that have drivers."""
    for ob in all_objects():
        owners = [ob, *(ob.pose.bones if is_armature(ob) else ())]
        refs = [(ob.parent, ob.parent_bone), *((ob, split_path(curve.data_path)[0]) for curve in drivers_of(ob))]
        refs += [ref for owner in owners for constraint in owner.constraints for ref in constraint_targets(constraint)]
        refs += [ref for curve in drivers_of(ob) for ref in driver_targets(curve)]
        yield from ((owner, bone) for owner, bone in refs if bone and is_armature(owner))


def _curves_of(ob: ArmatureObject, bones: Collection[str]) -> set[str]:
    """The data paths of these bones that have F-curves, in the actions that act on their rig."""
    return {path for curve in curves_everywhere(ob) if split_path(path := curve.data_path)[0] in bones}


def remove_keys(ob: ArmatureObject, bones: Collection[str]) -> None:
    """Remove the F-curves of bones from the actions that act on their rig."""
    remove_animation(ob, _curves_of(ob, bones))


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
    """The kind of outline that an object or mesh is, which Blender may have numbered; "" of others."""
    name = block.name if block else ""
    return next((kind for kind in OUTLINES if name.startswith(f"{PREFIX}{kind.lower()}")), "")


def draw_bone(bone: PoseBone, drawing: Drawing) -> None:
    """Give a control bone its custom shape, where that is and how large."""
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
    """Give a control bone the colour of its side: 1 left, -1 right, 0 middle. Its ``kind`` is ``target`` or ``pole``;
    poles are lighter."""
    colour: Any = bone.bone.color
    colour.palette = f"THEME{SETS[side]:02}" if kind == "target" else "CUSTOM"
    if kind == "pole":
        for name in LIGHTER:
            setattr(colour.custom, name, _colour(side, kind, name))


def is_coloured(bone: PoseBone, kind: str, side: int) -> bool:
    """Whether a control bone, a ``target`` or ``pole`` by its kind, has the colour of a side: 1, -1 or 0 as above."""
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
