"""Legs for tests: live ones, those on their rigs, and one that walks; and whether they are where they have to be."""

from __future__ import annotations

from math import cos, sin
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from tests.blender import oracle, rigs

LEG = {
    "hips": ((0, 0, 2), (0, 0, 2.3), ""),
    "upper": ((0, 0, 2), (0.1, 0.3, 1), "hips"),
    "lower": ((0.1, 0.3, 1), (0, 0.05, 0), "upper"),
    "foot": ((0, 0.05, 0), (0, -0.3, 0), "lower"),
    "tail": ((0, 0, 2.3), (0, 0.5, 2.3), "hips"),
}
FK = {"upper": (0.9, 0.1, 0.3, -0.2), "lower": (0.8, -0.3, 0.0, 0.1)}
"""How the animator turned a live leg's own bones."""

EVERYTHING = {
    "plane": "POLE",
    "softness": 0.2,
    "stretch": 0.5,
    "stretch_volume": "VOLUME",
    "min_angle": 0.4,
    "max_angle": 2.8,
    "swivel": 0.7,
}
"""Settings that make all parts of a mechanism."""

PLACES = ((0.1, -0.2, 0.25), (0.3, 0.3, 0.4), (-0.2, -0.1, 0.1), (0.1, 0.0, -1.0), (0.12, 0.02, 0.96))
"""Where a target of a biped's leg is, in reach and out of it."""

FRAMES = range(1, 13)
LIMB = ("thigh.L", "shin.L", "foot.L")


# legs


def live_leg(name: str = "rig", bones: Any = LEG, target: Any = None) -> Any:
    """A rig with a live limb of ``lower``, blended a little towards its own pose; its last bone."""
    ob = rigs.rig(bones, {"upper": 0.4, "lower": -1.0}, name)
    ob.location.x = 0.3
    for bone, turn in FK.items():
        ob.pose.bones[bone].rotation_quaternion = turn
    last = ob.pose.bones["lower"]
    last.planar_ik.target = target or rigs.empty(f"target of {name}", (0.5, 0.4, 0.6))
    last.planar_ik.plane = "FREE"
    last.planar_ik.influence = 0.7
    bpy.context.view_layer.update()
    return last


def rig_leg(addon: Any, settings: dict[str, Any] | None = None, ob: Any = None, side: str = ".L") -> Any:
    """A leg of a biped on the rig, with a target and a pole of its own: its last bone."""
    ob = ob or rigs.biped()
    follow(ob, side, settings or {})
    to_rig(addon, ob)
    return ob.pose.bones["shin" + side]


def whole_leg(addon: Any) -> Any:
    """`rig_leg` with all parts of a mechanism, made once: its last bone."""
    rigs.opened("whole leg", lambda: rig_leg(addon, EVERYTHING))
    return bpy.data.objects["rig"].pose.bones["shin.L"]


def walker(addon: Any, mode: str = "LIVE", **settings: Any) -> Any:
    """A biped with keyed hips, whose left leg follows an empty that goes round it, now and then out of reach: the leg's
    last bone."""
    ob = rigs.biped()
    hips = ob.pose.bones["hips"]
    hips.rotation_mode = "XYZ"
    foot = rigs.empty("to foot")
    for frame in range(FRAMES[0], FRAMES[-1] + 1, 2):
        hips.rotation_euler = (0.3 * sin(frame), 0.1 * frame, 0.0)
        hips.location = (0.05 * sin(frame), 0.1, 0.0)
        hips.keyframe_insert("rotation_euler", frame=frame)
        hips.keyframe_insert("location", frame=frame)
        foot.location = (0.1 + 0.2 * sin(frame), 0.3 * cos(frame), 0.25 + 0.03 * frame)
        foot.rotation_euler = (0.5 * sin(frame), 0.3, 0.2 * frame)
        foot.keyframe_insert("location", frame=frame)
        foot.keyframe_insert("rotation_euler", frame=frame)
    limb = ob.pose.bones["shin.L"].planar_ik
    limb.target = foot
    for name, value in settings.items():
        setattr(limb, name, value)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    if mode == "RIG":
        addon("tasks.modes").to_rig(bpy.context, [ob.pose.bones["shin.L"]])
    bpy.context.scene.frame_set(5)
    return ob.pose.bones["shin.L"]


# what is done to them


def follow(ob: Any, side: str, settings: dict[str, Any]) -> None:
    """Make a leg of a biped a limb, live."""
    limb = ob.pose.bones["shin" + side].planar_ik
    limb.enabled = True
    x = 0.1 if side == ".L" else -0.1
    limb.target = rigs.empty("target" + side, (x + 0.05, -0.2, 0.25))
    if settings.get("plane") == "POLE":
        limb.pole_target = rigs.empty("pole" + side, (x + 0.2, -2.0, 0.6))
    for name, value in settings.items():
        setattr(limb, name, value)


def to_rig(addon: Any, ob: Any, names: tuple[str, ...] = ()) -> None:
    """Put limbs of a rig on it: those named, or all."""
    lasts = [bone for bone in ob.pose.bones if bone.planar_ik_limb and (not names or bone.name in names)]
    addon("tasks.modes").to_rig(bpy.context, lasts)


def move(name: str, place: Any) -> None:
    """Put a target or a pole elsewhere."""
    bpy.data.objects[name].location = Vector(place)


def key(owner: Any, path: str, *values: Any) -> None:
    """Key a property to these values, from frame 1 on, ten frames apart."""
    for i, value in enumerate(values):
        holder, _, name = path.rpartition(".") if "[" not in path else ("", "", path)
        if name.startswith("["):
            owner[name[2:-2]] = value
        else:
            setattr(owner.path_resolve(holder) if holder else owner, name, value)
        owner.keyframe_insert(path, frame=1 + 10 * i)


def bake(addon: Any, *lasts: Any, frames: Any = FRAMES, progress: Any = None, **options: Any) -> Any:
    """Bake limbs: the report."""
    steps = addon("tasks.baking").bake.steps(
        bpy.context, addon("tasks.baking").BakeRequest(lasts, list(frames), **options)
    )
    return addon("blender.stepping").finished(steps, progress)


# what is seen of them


def off(last: Any, depsgraph: Any = None) -> float:
    """By how much a limb is not where it has to be, as a fraction of its length: the worst of joints and axes."""
    bpy.context.view_layer.update()
    expected = oracle.expected(last, depsgraph)
    joints, axes, _ = oracle.seen(last, depsgraph)
    joint = np.linalg.norm(joints - expected.joints, axis=1).max() / expected.length
    axis = max(float(np.abs(one - other).max()) for one, other in zip(axes, expected.axes, strict=True))
    return float(max(joint, 0.1 * axis))


def worst(last: Any, target: str = "target.L") -> float:
    """The worst `off` while the target goes to `PLACES`."""
    offs = []
    for place in PLACES:
        move(target, place)
        offs.append(off(last))
    return max(offs) if np.isfinite(offs).all() else np.inf


def own(last: Any) -> list[tuple[float, ...]]:
    """The channels of the limb's own bones, as they stand in the file."""
    return [tuple(round(x, 5) for x in bone.rotation_quaternion) for bone in (last.parent, last)]


def seen(ob: Any, names: Any = LIMB, frames: Any = FRAMES) -> np.ndarray:
    """The matrices of bones in the world (frames, bones, 4, 4), as playback shows them."""
    scene, now, matrices = bpy.context.scene, bpy.context.scene.frame_current, []
    for frame in frames:
        scene.frame_set(int(frame // 1), subframe=frame % 1)
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        matrices.append([evaluated.matrix_world @ evaluated.pose.bones[name].matrix for name in names])
    scene.frame_set(now)
    return np.array(matrices, float)


def joints(ob: Any, names: Any = LIMB, frames: Any = FRAMES) -> np.ndarray:
    """Where bones begin in the world (frames, bones, 3)."""
    return seen(ob, names, frames)[..., :3, 3]


def curves(addon: Any, ob: Any) -> dict[tuple[str, int], list[tuple[float, ...]]]:
    """All keys of an object's action: frame, value, interpolation."""
    return {
        (curve.data_path, curve.array_index): [(*key.co, key.interpolation) for key in curve.keyframe_points]
        for curve in addon("blender.animation").curves_of(ob)
    }


def parts(ob: Any) -> list[str]:
    """The names of all parts of mechanisms."""
    return [bone.name for bone in ob.data.bones if bone.name.startswith("MCH-")]


def problem(addon: Any, last: Any) -> str:
    """What is wrong with a limb's mechanism."""
    return addon("tasks.status").mechanism_problem(last)
