"""Rigs to test on, where their joints are, and where they should be by an oracle that knows nothing of the solver."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import bpy
import numpy as np
from hypothesis import Phase, settings
from mathutils import Matrix, Vector

EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
MODES = ("QUATERNION", *EULER_ORDERS, "AXIS_ANGLE")
INHERIT_SCALE = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
EXACT = 1e-6
"""The tip's error, in lengths of the limb, that we allow near the origin."""


few = settings(max_examples=20, phases=[Phase.explicit, Phase.generate], derandomize=True)
"""For properties in Blender, where an example takes milliseconds: shrinking would outlast the test's time."""


class Bone(NamedTuple):
    """A bone to be made, in the armature's space."""

    name: str
    head: Sequence[float]
    tail: Sequence[float]
    parent: str = ""
    connected: bool = False
    roll: float = 0.0


HIP = Bone("hip", (0, 0, 0), (0, 0, 0.3))
THIGH = Bone("thigh", (0, 0, 0), (0.1, 0.2, -1), "hip")
SHIN = Bone("shin", (0.1, 0.2, -1), (0.1, 0, -1.9), "thigh", connected=True)
LEG = (HIP, THIGH, SHIN)

IN_ITS_AXES = (HIP, Bone("thigh", (0, 0, 0), (0, -0.1, -1), "hip"), Bone("shin", (0, -0.1, -1), (0, 0, -2), "thigh"))
"""A leg whose bones bend about an axis of their own, as riggers make them."""

NEAR, NEXT = (0.2, 0.4, -1.2), (0.1, -0.5, -1.0)
"""Places within the leg's reach."""

FREE = Bone("free", NEAR, (0.2, 0.6, -1.2))


AWAY = Vector((1.0, 0.0, 0.0))
"""How far from the first limb of a rig a second one stands."""


class Joints(NamedTuple):
    """Root, knee and tip in the world."""

    root: np.ndarray
    knee: np.ndarray
    tip: np.ndarray


def beside(bones: Iterable[Bone]) -> list[Bone]:
    """The same bones once more, elsewhere, with a 2 at the end of their names."""
    return [
        Bone(f"{name}2", Vector(head) + AWAY, Vector(tail) + AWAY, f"{parent}2" if parent else "", connected)
        for name, head, tail, parent, connected, _ in bones
    ]


def make_rig(bones: Iterable[Bone] = LEG, name: str = "rig") -> Any:
    """An armature object with these bones, active and in Object Mode."""
    ob = in_scene(name, bpy.data.armatures.new(name))
    with editing(ob):
        add_bones(ob, bones)
    return ob


def add_bones(ob: Any, bones: Iterable[Bone]) -> None:
    """Make bones, in Edit Mode."""
    for bone in bones:
        made = ob.data.edit_bones.new(bone.name)
        made.head, made.tail, made.roll = bone.head, bone.tail, bone.roll
        made.parent = ob.data.edit_bones[bone.parent] if bone.parent else None
        made.use_connect = bone.connected


@contextmanager
def editing(ob: Any) -> Iterator[Any]:
    """The bones of a rig in Edit Mode, then as they are evaluated, in Object Mode."""
    activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    yield ob.data.edit_bones
    bpy.ops.object.mode_set(mode="OBJECT")
    update()


def fresh_rig(bones: Iterable[Bone] = LEG) -> Any:
    """The same in an emptied file: the examples of one property share it."""
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.armatures, *bpy.data.actions])
    return make_rig(bones)


def activate(ob: Any) -> None:
    """Make an object the only selected one, and active."""
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in bpy.context.view_layer.objects:
        other.select_set(False)
    ob.select_set(True)
    bpy.context.view_layer.objects.active = ob


def make_empty(name: str = "target", location: Sequence[float] = (0, 0, 0)) -> Any:
    """An empty in the scene."""
    empty = in_scene(name, None)
    empty.location = location
    return empty


def in_scene(name: str, data: Any) -> Any:
    """A new object in the scene."""
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def make_chain(ob: Any, target: Any = None, lower: str = "shin", **settings: Any) -> Any:
    """Enable a chain from a script and return its settings; without a target, one that is beside where the tip is."""
    chain = ob.pose.bones[lower].planar_ik
    chain.target = target or make_empty("target", frame_of(ob, lower).target(0.6, 0.4))
    for name, value in settings.items():
        setattr(chain, name, value)
    chain.enabled = True
    update()
    return chain


def hooked_path(ob: Any) -> Any:
    """A path from the origin of a rig, whose points its shin moves."""
    curve = bpy.data.curves.new("path", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (0.3, 0.3, -0.2, 1)
    path = in_scene("path", curve)
    path.location = (0, 0, -1)
    hook = path.modifiers.new("Hook", "HOOK")
    hook.object, hook.subtarget = ob, "shin"
    hook.vertex_indices_set([0, 1])
    return path


def plane_chain(ob: Any, target: Any, subtarget: str = "", lower: str = "shin") -> Any:
    """A chain whose tip can go to its target anywhere within reach."""
    pole = make_empty("pole", (0.3, 5, -0.5))
    return make_chain(ob, target, lower, subtarget=subtarget, plane="POLE", pole_target=pole)


def update() -> None:
    """Let Blender evaluate what was set, as it does after every edit in the window."""
    bpy.context.view_layer.update()


def put(owner: Any, **values: Any) -> None:
    """Set properties of something, and let Blender evaluate it."""
    for name, value in values.items():
        setattr(owner, name, value)
    update()


def select(ob: Any, *names: str) -> None:
    """Pose Mode with these bones selected, the last of them active."""
    if bpy.context.mode != "POSE":
        activate(ob)
        bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names
    ob.data.bones.active = ob.data.bones[names[-1]] if names else None


def hide(ob: Any, *names: str) -> None:
    """Hide these bones, as H does in Pose Mode."""
    for bone in map(ob.pose.bones.get, names):
        (bone if hasattr(bone, "hide") else bone.bone).hide = True


def press(ob: Any, name: str, *bones: str, **settings: Any) -> None:
    """Select bones, or else the shin, run one of our operators, and let Blender evaluate what it did."""
    select(ob, *(bones or ("shin",)))
    assert getattr(bpy.ops.pose, f"planar_ik_{name}")(**settings) == {"FINISHED"}
    update()


def joints(ob: Any, lower: str = "shin") -> Joints:
    """Where a limb's joints are in the evaluated pose."""
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bone = evaluated.pose.bones[lower]
    world = np.array(evaluated.matrix_world)
    return Joints(*(_moved(world, np.array(place)) for place in (bone.parent.head, bone.head, bone.tail)))


def copied(ob: Any, shares_data: bool = True) -> Any:
    """A copy of a rig by a script, in the scene, with the same armature or with one of its own."""
    copy = ob.copy()
    if not shares_data:
        copy.data = ob.data.copy()
    bpy.context.scene.collection.objects.link(copy)
    return copy


def from_library(path: Any, *names: str, link: bool = True) -> list[Any]:
    """Objects of another file in the scene of an empty one, linked or appended."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(path), link=link) as (_, into):
        into.objects = list(names)
    for ob in into.objects:
        bpy.context.scene.collection.objects.link(ob)
    update()
    return into.objects


def override_of(path: Any, *names: str) -> Any:
    """The first of these objects of another file, overridden in the scene of an empty one; the others are linked."""
    ob = from_library(path, *names)[0].override_create(remap_local_usages=True)
    ob.override_library.is_system_override = False
    update()
    return ob


def reopened(folder: Any) -> Any:
    """The file saved and opened again; its rig."""
    path = str(folder / "reopened.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    return next(ob for ob in bpy.data.objects if ob.name == "rig" and not ob.library)


def rig_and_twin() -> tuple[Any, Any]:
    """A leg with a foot, and another object of its armature, whose thigh is longer and whose shin is bent."""
    ob = make_rig((*LEG, Bone("foot", SHIN.tail, (0.1, 0.4, -2), "shin")))
    twin = copied(ob)
    twin.pose.bones["thigh"].scale = (1, 1.4, 1)
    twin.pose.bones["shin"].rotation_quaternion = (1, 0.5, 0, 0)
    update()
    return ob, twin


def place_of(ob: Any, bone: str = "") -> np.ndarray:
    """Where a target is in the evaluated scene: an object's origin or a bone's head."""
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = evaluated.matrix_world
    return np.array(matrix @ evaluated.pose.bones[bone].head if bone else matrix.translation)


def rotation_name(bone: Any) -> str:
    """The property in which a bone keeps its rotation."""
    return {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(
        bone.rotation_mode, "rotation_euler"
    )


def rotation(bone: Any) -> tuple[float, ...]:
    """A bone's rotation channel, as Blender keeps it."""
    return tuple(getattr(bone, rotation_name(bone)))


def set_rotation(bone: Any, numbers: Sequence[float]) -> None:
    """Set a bone's rotation channel."""
    setattr(bone, rotation_name(bone), numbers)


def shown(ob: Any, name: str) -> Any:
    """What a bone adds to what it inherits in the evaluated pose, whatever its channels hold."""
    pose_bone = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[name]
    bone, parent = pose_bone.bone, pose_bone.parent
    above = {"parent_matrix": parent.matrix, "parent_matrix_local": parent.bone.matrix_local} if parent else {}
    return bone.convert_local_to_pose(pose_bone.matrix, bone.matrix_local, invert=True, **above)


def shown_rotation(ob: Any, name: str) -> tuple[float, ...]:
    """The same as a quaternion."""
    return tuple(shown(ob, name).to_quaternion())


def channels(ob: Any) -> bytes:
    """Every channel of every bone, bit by bit."""
    names = ("location", "scale", "rotation_quaternion", "rotation_euler", "rotation_axis_angle")
    return b"".join(np.array([getattr(bone, name)[:] for bone in ob.pose.bones], "f").tobytes() for name in names)


def pose(ob: Any) -> bytes:
    """Every bone as it is evaluated, and every channel of it, bit by bit."""
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([bone.matrix for bone in evaluated.pose.bones], "f").tobytes() + channels(ob)


def length(ob: Any, lower: str = "shin") -> float:
    """The length of a posed limb in the world."""
    root, knee, tip = joints(ob, lower)
    return float(np.linalg.norm(knee - root) + np.linalg.norm(tip - knee))


def assert_on_target(ob: Any, target: Any, lower: str = "shin", bone: str = "", within: float = EXACT) -> None:
    """The tip of a limb is on its target."""
    chain = ob.pose.bones[lower].planar_ik
    assert (chain.reach, chain.message) == ("REACHED", "")
    error = np.linalg.norm(joints(ob, lower).tip - place_of(target, bone))
    assert error <= within * length(ob, lower)


def assert_refused(chain: Any, word: str) -> None:
    """The chain is invalid and says so in a sentence with this word, and its bones are as they were."""
    assert chain.reach == "INVALID"
    assert word in chain.message
    ob = chain.id_data
    assert all(tuple(bone.rotation_quaternion) == (1, 0, 0, 0) for bone in ob.pose.bones)
    assert all(abs(shown_rotation(ob, bone.name)[0]) > 1 - 1e-6 for bone in ob.pose.bones)


class Frame(NamedTuple):
    """A limb with both bones unturned, by Blender's own evaluation: its frame, and its joints in that."""

    matrix: np.ndarray  # to the world
    knee: np.ndarray
    tip: np.ndarray
    x_axis: np.ndarray  # of the lower bone

    @property
    def lengths(self) -> tuple[float, float]:
        """Of both bones."""
        return float(np.linalg.norm(self.knee)), float(np.linalg.norm(self.tip - self.knee))

    @property
    def normal(self) -> np.ndarray:
        """Of the plane at rest."""
        normal = np.cross(self.tip, self.knee)
        if np.linalg.norm(normal) < 1e-4 * np.prod(self.lengths):
            along = self.knee / np.linalg.norm(self.knee)
            normal = self.x_axis - along * (along @ self.x_axis)
        return normal / np.linalg.norm(normal)

    def inside(self, place: Sequence[float]) -> np.ndarray:
        """A place of the world in this frame."""
        return _moved(np.linalg.inv(self.matrix), np.array(place))

    def outside(self, place: np.ndarray) -> np.ndarray:
        """A place of this frame in the world."""
        return _moved(self.matrix, place)

    def target(self, share: float, angle: float, height: float = 0.0) -> Vector:
        """A place for a target: its distance as a share of the way from folded to straight, and its direction."""
        r1, r2 = self.lengths
        distance = abs(r1 - r2) + share * (r1 + r2 - abs(r1 - r2))
        along = self.knee / np.linalg.norm(self.knee)
        across = np.cross(self.normal, along)
        flat = distance * (math.cos(angle) * along + math.sin(angle) * across)
        return Vector(self.outside(flat + height * (r1 + r2) * self.normal))


def frame_of(ob: Any, lower: str = "shin") -> Frame:
    """Unturn a limb's bones without its chain and look where they are; then put everything back."""
    bone = ob.pose.bones[lower]
    upper = bone.parent
    kept = [(part, rotation(part)) for part in (bone, upper)]
    scale, inherits, was_enabled = upper.scale[:], bone.bone.use_inherit_rotation, bone.planar_ik.enabled
    bone.planar_ik.enabled, bone.bone.use_inherit_rotation = False, True
    for part, _ in kept:
        neutral = {"QUATERNION": (1, 0, 0, 0), "AXIS_ANGLE": (0, 0, 1, 0)}.get(part.rotation_mode, (0, 0, 0))
        set_rotation(part, neutral)
    update()
    unturned = _evaluated_bone(ob, lower)
    shape = [np.array(v, "d") for v in (unturned.head, unturned.tail, unturned.head + unturned.x_axis)]
    upper.scale = (1, 1, 1)
    update()
    matrix = np.array(_evaluated_bone(ob, upper.name).matrix, "d")
    knee, tip, aside = (_moved(np.linalg.inv(matrix), v) for v in shape)
    upper.scale = scale
    for part, numbers in kept:
        set_rotation(part, numbers)
    bone.bone.use_inherit_rotation, bone.planar_ik.enabled = inherits, was_enabled
    update()
    return Frame(np.array(ob.matrix_world, "d") @ matrix, knee, tip, aside - knee)


def expected(frame: Frame, target: Sequence[float], bend: float = 1.0) -> Joints:
    """The joints of a limb in its rest plane, by the law of cosines."""
    r1, r2 = frame.lengths
    along = frame.knee / r1
    across = np.cross(frame.normal, along)
    goal = frame.inside(target)
    x, y = goal @ along, goal @ across
    distance = min(max(math.hypot(x, y), abs(r1 - r2)), r1 + r2)
    cosine = (r1 * r1 + distance * distance - r2 * r2) / (2 * r1 * distance)
    at_root = math.acos(min(max(cosine, -1.0), 1.0))
    line = math.atan2(y, x)
    upper = line + bend * at_root
    knee = r1 * (math.cos(upper) * along + math.sin(upper) * across)
    tip = distance * (math.cos(line) * along + math.sin(line) * across)
    return Joints(*(frame.outside(place) for place in (np.zeros(3), knee, tip)))


def assert_joints(got: Joints, wanted: Joints, within: float = EXACT, knee_within: float = 1e-5) -> None:
    """The tip is where it should be, and the knee, which single precision moves more."""
    size = np.linalg.norm(wanted.knee - wanted.root) + np.linalg.norm(wanted.tip - wanted.knee)
    errors = [np.linalg.norm(a - b) / size for a, b in zip(got, wanted, strict=True)]
    assert errors[0] <= within, f"root: {errors}"
    assert errors[2] <= within, f"tip: {errors}"
    assert errors[1] <= knee_within, f"knee: {errors}"


def circle(frame: Frame, steps: int, share: float = 0.5, turns: int = 1) -> list[Vector]:
    """Places for a target that circles the root."""
    return [frame.target(share, 2 * math.pi * turns * i / steps + 0.1) for i in range(steps + 1)]


def curves(ob: Any) -> dict[tuple[str, int], Any]:
    """The F-curves of an object's action by what they animate."""
    return {
        (curve.data_path, curve.array_index): curve for each in curve_lists(ob.animation_data.action) for curve in each
    }


def curve_lists(action: Any) -> list[Any]:
    """The collections of an action's F-curves, for whatever they act on."""
    if not hasattr(action, "layers"):
        return [action.fcurves]
    return [bag.fcurves for layer in action.layers for strip in layer.strips for bag in strip.channelbags]


def set_keys(owner: Any, name: str, values: dict[float, Any]) -> None:
    """Set a property to values by their frames and key each; by ``location.x`` one of its numbers, and key all."""
    prop, _, part = name.partition(".")
    for frame, value in values.items():
        setattr(getattr(owner, prop) if part else owner, part or prop, value)
        owner.keyframe_insert(prop, frame=frame)


def key_location(ob: Any, places: Sequence[Sequence[float]], start: int = 1, step: int = 1) -> None:
    """Keys on where an object is."""
    for i, place in enumerate(places):
        ob.location = place
        ob.keyframe_insert("location", frame=start + i * step)


def shear_of(matrix: Matrix) -> float:
    """The largest cosine between two axes of a matrix."""
    x, y, z = (axis.normalized() for axis in matrix.to_3x3().col)
    return max(abs(x.dot(y)), abs(y.dot(z)), abs(z.dot(x)))


def _evaluated_bone(ob: Any, name: str) -> Any:
    return ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[name]


def _moved(matrix: np.ndarray, place: np.ndarray) -> np.ndarray:
    return matrix[:3, :3] @ place + matrix[:3, 3]
