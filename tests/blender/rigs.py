"""Rigs for tests, made bone by bone, and what is looked at on them: evaluated joints and matrices."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from itertools import accumulate
from math import cos, sin
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from tests.blender.snapshots import differences, snapshot  # noqa: F401

Place = tuple[float, float, float]


def rig(bones: dict[str, tuple[Place, Place, str]], rolls: dict[str, float] | None = None, name: str = "rig") -> Any:
    """An armature object in Pose Mode, of bones by name: head, tail and parent ("" for none). Bones that begin where
    their parent ends are connected. It is active."""
    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.collection.objects.link(ob)
    activate(ob, "EDIT")
    for bone, (head, tail, parent) in bones.items():
        made = ob.data.edit_bones.new(bone)
        made.head, made.tail, made.roll = head, tail, (rolls or {}).get(bone, 0.0)
        made.parent = ob.data.edit_bones[parent] if parent else None
        made.use_connect = bool(parent) and (made.head - made.parent.tail).length < 1e-6
    bpy.ops.object.mode_set(mode="POSE")
    return ob


def opened(name: str, make: Callable[[], Any]) -> None:
    """Open a file of this name, which is made once, from an empty one."""
    path = Path(bpy.app.tempdir) / f"{name}.blend"
    if not path.exists():
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        make()
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))


def stack(*names: str, name: str = "Rig") -> Any:
    """An armature object in Object Mode, of bones one on the other, each a unit long, up along Z; a name after a dash
    hangs on nothing. It is active, and not selected."""
    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for height, each in enumerate(names):
        bone = ob.data.edit_bones.new(each.lstrip("-"))
        bone.head, bone.tail = (0.0, 0.0, height), (0.0, 0.0, height + 1.0)
        bone.parent = None if each.startswith("-") else parent
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.select_set(False)
    return ob


def empty(name: str, place: Any = (0.0, 0.0, 0.0), parent: Any = None, bone: str = "") -> Any:
    """An empty at a place, which may hang on an object or a bone."""
    ob = bpy.data.objects.new(name, None)
    bpy.context.collection.objects.link(ob)
    ob.location, ob.parent = place, parent
    if bone:
        ob.parent_type, ob.parent_bone = "BONE", bone
    return ob


def drive(owner: Any, path: str, target: Any, read: str, index: int = -1) -> Any:
    """A driver that gives what it reads: its F-curve."""
    curve = owner.driver_add(path, index)
    curve.driver.expression = "value"
    variable = curve.driver.variables.new()
    variable.name = "value"
    variable.targets[0].id, variable.targets[0].data_path = target, read
    return curve


def activate(ob: Any, mode: str = "POSE") -> None:
    """Make an object the only active and selected one, in a mode."""
    if bpy.context.object and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for each in bpy.context.view_layer.objects:
        each.select_set(each == ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode=mode)


def click(ob: Any, *names: str) -> None:
    """Select bones, and no others; the last of them is then active."""
    for bone in ob.pose.bones:
        select(bone, bone.name in names)
    ob.data.bones.active = ob.data.bones[names[-1]]


def turn_crank(ob: Any, angles: dict[int, float]) -> None:
    """Key the bone ``crank`` of a mechanism in XZ, seen from the front: turned against the clock in these frames, which
    are then the scene's."""
    crank = ob.pose.bones["crank"]
    crank.rotation_mode = "AXIS_ANGLE"
    depth = crank.bone.matrix_local.to_3x3().inverted().col[1]  # a turn about it is with the clock
    for frame, angle in angles.items():
        crank.rotation_axis_angle = (-angle, *depth)
        crank.keyframe_insert("rotation_axis_angle", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = min(angles), max(angles)
    bpy.context.scene.frame_set(min(angles))


def select(bone: Any, state: bool = True) -> None:
    """Select a pose bone or not, in any Blender."""
    (bone if hasattr(bone, "select") else bone.bone).select = state


def put(owner: Any, place: Vector) -> None:
    """Move an object or a bone to a place in the world."""
    if isinstance(owner, bpy.types.Object):
        owner.location = place
        return
    bpy.context.view_layer.update()
    matrix = owner.matrix.copy()
    matrix.translation = owner.id_data.matrix_world.inverted() @ place
    owner.matrix = matrix


def apart(one: Any, other: Any) -> float:
    """How far two matrices differ in a number, at most."""
    return max(abs(x - y) for a, b in zip(one, other, strict=True) for x, y in zip(a, b, strict=True))


def biped() -> Any:
    """Root, hips, spine, two legs with feet and toes, two arms with hands; knees and elbows are bent a little."""
    bones = {
        "root": ((0, 0, 0), (0, 0.3, 0), ""),
        "hips": ((0, 0, 1), (0, 0, 1.1), "root"),
        "spine": ((0, 0, 1.1), (0, 0, 1.5), "hips"),
    }
    for side, x in ((".L", 1), (".R", -1)):
        bones |= {
            f"thigh{side}": ((0.1 * x, 0, 1), (0.1 * x, -0.03, 0.55), "hips"),
            f"shin{side}": ((0.1 * x, -0.03, 0.55), (0.1 * x, 0.02, 0.1), f"thigh{side}"),
            f"foot{side}": ((0.1 * x, 0.02, 0.1), (0.1 * x, -0.12, 0.02), f"shin{side}"),
            f"toe{side}": ((0.1 * x, -0.12, 0.02), (0.1 * x, -0.2, 0.02), f"foot{side}"),
            f"shoulder{side}": ((0.03 * x, 0, 1.45), (0.15 * x, 0, 1.45), "spine"),
            f"upper_arm{side}": ((0.15 * x, 0, 1.45), (0.42 * x, 0.02, 1.44), f"shoulder{side}"),
            f"forearm{side}": ((0.42 * x, 0.02, 1.44), (0.67 * x, -0.01, 1.45), f"upper_arm{side}"),
            f"hand{side}": ((0.67 * x, -0.01, 1.45), (0.75 * x, -0.01, 1.45), f"forearm{side}"),
        }
    return rig(bones)


def puppet() -> Any:
    """A flat rig in the XZ plane: body and a straight leg that bends about Y."""
    return rig(
        {
            "body": ((0, 0, 1), (0, 0, 1.5), ""),
            "thigh": ((0, 0, 1), (0, 0, 0.5), "body"),
            "shin": ((0, 0, 0.5), (0, 0, 0.1), "thigh"),
            "foot": ((0, 0, 0.1), (0.2, 0, 0), "shin"),
        }
    )


def random_limb(
    rng: random.Random,
    straight: bool = False,
    parents: str = "PLAIN",
    twist: bool = False,
    count: int = 2,
    near_y: bool = False,
    anyhow: bool = False,
) -> Any:
    """A limb ``upper``, ``lower`` (``middle.1``, ``middle.2`` between) with ``foot`` below ``root`` and ``body``,
    anywhere, of any rolls, tails anywhere: a zigzag, or bent ``anyhow`` in one plane.

    ``parents`` are PLAIN, SCALED, MIRRORED or SHEARED. With ``twist`` a bone ``upper.001`` is in line. With ``near_y``
    half of its directions are near -Y, where Blender rounds axes most.
    """
    vector = _near_y if near_y else _vector
    root, way = vector(rng), vector(rng).normalized()
    aside = way.orthogonal().normalized() * (0.0 if straight else rng.uniform(0.1, 0.6))
    places = [root]
    for heading in accumulate(rng.uniform(-2.6, 2.6) for _ in range(count if anyhow else 0)):
        bent = way * cos(heading) + way.orthogonal().normalized() * sin(heading)
        places.append(places[-1] + bent * rng.uniform(0.4, 1.2))
    for k in range(0 if anyhow else count):
        places.append(places[-1] + way * rng.uniform(0.4, 1.2) + aside * (-1.0 if k % 2 else 1.0))
        aside = aside * rng.uniform(0.7, 1.3)
    knee, tip = places[1], places[-1]
    names = ["upper", *(f"middle.{k}" for k in range(1, count - 1)), "lower"]
    body = root + vector(rng)
    off = 0.3 if rng.random() < 0.5 else 0.0
    bones = {
        "root": ((0, 0, 0), (0, 0.3, 0), ""),
        "body": (body[:], (body + vector(rng))[:], "root"),
        **{
            name: (places[k][:], (places[k + 1] + off * vector(rng))[:], names[k - 1] if k else "body")
            for k, name in enumerate(names)
        },
        "foot": (tip[:], (tip + 0.3 * vector(rng))[:], "lower"),
    }
    if twist:
        middle = root.lerp(knee, 0.5)
        bones["upper"] = (root[:], middle[:], "body")
        bones = {**bones, "upper.001": (middle[:], knee[:], "upper"), "lower": (*bones["lower"][:2], "upper.001")}
        bones["foot"] = bones.pop("foot")
        bones = {name: bones[name] for name in ("root", "body", "upper", "upper.001", "lower", "foot")}
    ob = rig(bones, {name: rng.uniform(-3, 3) for name in bones})
    ob.matrix_world = Matrix.LocRotScale(vector(rng), Euler(vector(rng)), None)
    scale = {"SCALED": (1.4, 1.4, 1.4), "MIRRORED": (-0.8, 0.8, 0.8), "SHEARED": (0.7, 1.5, 1.1)}.get(parents)
    for name in ("root", "body"):
        ob.pose.bones[name].location = vector(rng)
        ob.pose.bones[name].rotation_quaternion = turn(rng)
    if scale:
        ob.pose.bones["body"].scale = scale
    bpy.context.view_layer.update()
    return ob


def turn(rng: random.Random, most: float = 1.0) -> Quaternion:
    """A random rotation by at most so many radians."""
    return Quaternion(_vector(rng).normalized(), rng.uniform(-most, most))


def _vector(rng: random.Random) -> Vector:
    return Vector(rng.uniform(-1, 1) for _ in range(3))


def _near_y(rng: random.Random) -> Vector:
    x, y, z = _vector(rng)
    return Vector((0.12 * x, -0.7 - 0.3 * abs(y), 0.12 * z)) if rng.random() < 0.5 else Vector((x, y, z))


def evaluated(ob: Any) -> Any:
    """The rig as Blender evaluates it now."""
    bpy.context.view_layer.update()
    return ob.evaluated_get(bpy.context.evaluated_depsgraph_get())


def matrices(ob: Any, names: Iterable[str]) -> np.ndarray:
    """The evaluated matrices of bones in the armature, (n, 4, 4)."""
    pose = evaluated(ob).pose.bones
    return np.array([pose[name].matrix for name in names], float)


def place(ob: Any, name: str) -> Vector:
    """Where a bone begins, evaluated, in the world."""
    now = evaluated(ob)
    return now.matrix_world @ now.pose.bones[name].head


def curves(ob: Any) -> list[Any]:
    """The F-curves of an object's action."""
    action = ob.animation_data.action
    return [curve for bag in action.layers[0].strips[0].channelbags for curve in bag.fcurves]
