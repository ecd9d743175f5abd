"""Where controls are drawn, and how large: a sole on the floor, a box around a hand, a small cube or square at other
tips, a small ball at poles; how large feet and hands are, the meshes say that go with them. A control's own place is
at the ankle or knee: only what is drawn is where it is seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Bone, Object, PoseBone
from mathutils import Matrix, Vector

from ..blender.types import ArmatureObject, all_objects
from ..limb.names import FEET, HANDS, has_word
from ..solver.matrices import unit_array
from ..solver.ops import Array, Points

"""Points are rows, in the armature's rest space."""

MARGIN = 1.15
"""How much larger than a foot or hand its control is drawn."""

SOLE_WIDTH, HEEL_LENGTH = 0.4, 0.3
"""How wide a foot is drawn that no mesh shows, in its own lengths, and how far it goes behind the ankle, in those from
there to the toe."""

THICK = 0.35
"""How thick a hand is drawn at least, in its own lengths."""

HOOF = 0.12
"""How long a foot is drawn that points straight down, in lengths of its limb."""

CUBE_SIZE, SQUARE_SIZE, BALL_SIZE = 0.1, 0.2, 0.05
"""How large what is drawn at other tips, on flat rigs and at poles is, in lengths of the limb."""

GROUND = 0.15
"""How far above the lowest bone, in lengths of its limb, what has no name for a foot ends that stands on the ground."""

AT_ORIGIN = 0.05
"""How far from the floor, in lengths of its limb, the foot ends that stands on it: at rest, that is at the armature's
origin."""

HANGING = 0.6
"""The least cosine between a limb that may stand on the ground and straight down."""

SKEWED = 0.8
"""The least cosine between a hand and the Y axis of its bone for it to lie along that."""

TOES_FROM = 0.7
"""From which share of the way to the farthest point on, points are of the toes or fingers."""


class Drawing(NamedTuple):
    """How a control is drawn: the kind of shape, and the matrix that places a shape of size 1 in the armature at
    rest."""

    kind: str
    matrix: Matrix


class Place(NamedTuple):
    """The end of a limb: where its tip rests, the upright axes of its armature, how long and along which direction the
    limb is from root to tip, and how high the floor is."""

    tip: Vector
    upright: Matrix
    length: float
    direction: Vector
    floor: float = 0.0


def drawing_of_pole(rest: Matrix, length: float) -> Drawing:
    """A small ball where the pole of a limb of this length rests."""
    return Drawing("BALL", rest @ Matrix.Scale(BALL_SIZE * length, 4))


def drawing_of_flat(place: Place, normal: Vector) -> Drawing:
    """A square in the plane of a flat rig, which has this normal."""
    turn = normal.to_track_quat("Z", "Y").to_matrix()
    return Drawing("SQUARE", _placed(np.array(turn) * SQUARE_SIZE * place.length, np.array(place.tip)))


def drawing_of_tip(place: Place) -> Drawing:
    """A small cube at the tip of a limb without foot or hand."""
    return Drawing("CUBE", _placed(np.array(place.upright) * CUBE_SIZE * place.length, np.array(place.tip)))


def drawing_of_end(ob: ArmatureObject, foot: PoseBone, skin: Mapping[str, Array], place: Place) -> Drawing:
    """A sole for what stands on the ground, feet and front paws; a box around a hand. ``skin`` has the points
    (n, 3) at rest, in the armature, of the mesh that moves with the bone of a name."""
    bones = [foot.bone, *foot.bone.children_recursive]
    points = skin.get(foot.name)
    ends = points if points is not None else _ends(bones)
    if is_on_ground(ob, foot, place, ends):
        return Drawing("SOLE", _drawn(_sole(ends, place, points is not None)))
    return Drawing("CUBE", _box(ends, foot.bone, place))


def _ends(bones: list[Bone], toes: Mapping[str, Matrix] | None = None) -> Array:
    """The ends of a foot or hand's bones, with ``toes`` and what is below them moved. Those that deform nothing are of
    its mechanism, unless all are."""
    deforming, ends = [bone for bone in bones if bone.use_deform] or bones, []
    for bone in deforming:
        moved = next((toes[b.name] for b in (bone, *bone.parent_recursive) if toes and b.name in toes), Matrix())
        ends += [(moved @ end)[:] for end in (bone.head_local, bone.tail_local)]
    return np.array(ends)


def is_on_ground(ob: ArmatureObject, foot: PoseBone, place: Place, points: Points | None = None) -> bool:
    """Whether a foot stands on the ground, by the mesh that moves with it, or by the ends of its bones. One that is
    called a foot always is; a hand is if its arm hangs down to the level of the armature's origin, as a front paw's;
    anything else, if its limb hangs down to the level of the lowest bone."""
    if has_word(foot.name, FEET - HANDS):
        return True
    up = np.array(place.upright)[:, 2]
    if float(np.array(place.direction) @ up) > -HANGING:
        return False
    floor = 0.0 if has_word(foot.name, HANDS) else min(float(up @ np.array(bone.head_local)) for bone in ob.data.bones)
    points = _ends([foot.bone, *foot.bone.children_recursive]) if points is None else points
    return abs(float((points @ up).min()) - floor) <= GROUND * place.length


class Sole(NamedTuple):
    """What of the ground is below a foot: the limb's tip; the directions ahead, to its left and up, in the armature;
    from the tip, how far it goes ahead to ``heel`` and ``toe``, and to the left to its ``outermost`` and ``innermost``
    edge; and how high the ``floor`` is, in the armature."""

    tip: Array
    ahead: Array
    across: Array
    up: Array
    heel: float
    toe: float
    outermost: float
    innermost: float
    floor: float

    def ground(self, ahead: float, across: float) -> Array:
        """The place on the floor so far ahead of the tip and to its left."""
        at = self.tip + ahead * self.ahead + across * self.across
        place: Array = at + (self.floor - at @ self.up) * self.up
        return place

    def off_tip(self, point: Any) -> tuple[float, float]:
        """How far ahead of the tip and to its left a place is."""
        off = np.array(point) - self.tip
        return float(off @ self.ahead), float(off @ self.across)


def sole_below(foot: PoseBone, skin: Mapping[str, Array], place: Place, toes: Mapping[str, Matrix]) -> Sole:
    """The sole of a foot, by its skin, or by its bones where it has none, with ``toes`` moved to where they lie."""
    points = skin.get(foot.name)
    ends = _ends([foot.bone, *foot.bone.children_recursive], toes) if points is None else points
    return _sole(ends, place, points is not None)


def _sole(points: Points, place: Place, is_skin: bool) -> Sole:
    """From heel to toe and as wide as that. Where only bones show the foot, there is more of it."""
    axes, tip = np.array(place.upright), np.array(place.tip)
    up, offsets = axes[:, 2], points - tip
    level = offsets - np.outer(offsets @ up, up)
    ahead = _far(level)
    points_down = float(np.linalg.norm(ahead)) < 0.25 * HOOF * place.length
    ahead = -axes[:, 1] if points_down else unit_array(ahead, -axes[:, 1])
    across = np.cross(up, ahead)
    heel, toe = min(float((level @ ahead).min()), 0.0), max(float((level @ ahead).max()), 0.0)
    heel = heel if is_skin else min(heel, -HEEL_LENGTH * toe)
    if toe - heel < HOOF * place.length:
        middle = (toe + heel) / 2.0
        heel, toe = middle - HOOF * place.length / 2.0, middle + HOOF * place.length / 2.0
    outermost, innermost = float((level @ across).max()), float((level @ across).min())
    wider = max(0.0, (SOLE_WIDTH if not is_skin else 0.1) * (toe - heel) - (outermost - innermost)) / 2.0
    floor = float((points @ up).min())
    if not is_skin and abs(floor - place.floor) < AT_ORIGIN * place.length:
        floor = place.floor
    return Sole(
        tip=tip,
        ahead=ahead,
        across=across,
        up=up,
        heel=heel,
        toe=toe,
        outermost=outermost + wider,
        innermost=innermost - wider,
        floor=floor,
    )


def _drawn(sole: Sole) -> Matrix:
    """Flat on the ground, somewhat larger than a sole."""
    at = sole.ground((sole.heel + sole.toe) / 2.0, (sole.outermost + sole.innermost) / 2.0)
    size, width = (sole.toe - sole.heel) * MARGIN, (sole.outermost - sole.innermost) * MARGIN
    return _placed(np.column_stack((-sole.across * width, sole.ahead * size, sole.up * size)), at)


def _box(points: Points, hand: Bone, place: Place) -> Matrix:
    """Around a hand, along the axes of its bone, or along the hand where that points elsewhere, as importers leave
    it."""
    axes = hand.matrix_local.to_3x3()
    along = Vector(_far(points - np.array(hand.head_local)).tolist())
    if along.length > 0.0 and axes.col[1].dot(along.normalized()) < SKEWED:
        axes = axes.col[1].rotation_difference(along).to_matrix() @ axes
    columns = np.array(axes)
    low, high = (points @ columns).min(axis=0), (points @ columns).max(axis=0)
    size = np.maximum(high - low, THICK * max(float((high - low).max()), CUBE_SIZE * place.length))
    return _placed(columns * size * MARGIN, columns @ ((low + high) / 2.0))


def _far(offsets: Array) -> Array:
    """The middle of the points that are farthest: of toes or fingers, whatever their corners are."""
    distances = np.linalg.norm(offsets, axis=1)
    middle: Array = offsets[distances >= TOES_FROM * distances.max()].mean(axis=0)
    return middle


def _placed(columns: Array, at: Array) -> Matrix:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = columns, at
    return Matrix(matrix.tolist())


WEIGHT = 0.5
"""From this weight on, of all bones of a foot or hand together, a vertex goes with it."""


def skin_of(ob: ArmatureObject, feet: Iterable[PoseBone]) -> dict[str, Array]:
    """The points (n, 3) of meshes that feet or hands carry, by the foot's name, in the armature's rest space. With
    all that is below them; what has none is left out. Goes through each mesh once, however many feet there are."""
    return points_of(ob, {bone.name: foot.name for foot in feet for bone in (foot.bone, *foot.bone.children_recursive)})


def points_of(ob: ArmatureObject, owners: dict[str, str]) -> dict[str, Array]:
    """The points (n, 3) of meshes that bones carry, in the armature's rest space, by what ``owners`` says of each
    bone."""
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
