"""Limbs on the rig for tests, and whether they are where they have to be."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from tests.blender import oracle, rigs

EVERYTHING = {
    "plane": "POLE",
    "softness": 0.2,
    "stretch": 0.5,
    "stretch_volume": "VOLUME",
    "min_angle": 0.4,
    "max_angle": 2.8,
    "swivel": 0.7,
}


def leg(addon: Any, settings: dict[str, Any] | None = None, ob: Any = None, side: str = ".L") -> Any:
    """A leg of a biped on the rig, with a target and a pole of its own: its last bone."""
    ob = ob or rigs.biped()
    follow(ob, side, settings or {})
    to_rig(addon, ob)
    return ob.pose.bones["shin" + side]


def follow(ob: Any, side: str, settings: dict[str, Any]) -> None:
    """Make a leg a limb, live."""
    limb = ob.pose.bones["shin" + side].planar_ik
    limb.enabled = True
    x = 0.1 if side == ".L" else -0.1
    limb.target = empty("target" + side, (x + 0.05, -0.2, 0.25))
    if settings.get("plane") == "POLE":
        limb.pole_target = empty("pole" + side, (x + 0.2, -2.0, 0.6))
    for name, value in settings.items():
        setattr(limb, name, value)


def to_rig(addon: Any, ob: Any, names: tuple[str, ...] = ()) -> None:
    """Put limbs of a rig on it: those named, or all."""
    lasts = [bone for bone in ob.pose.bones if "planar_ik" in bone and (not names or bone.name in names)]
    addon("tasks.modes").to_rig(bpy.context, lasts)


def empty(name: str, place: Any) -> Any:
    ob = bpy.data.objects.new(name, None)
    bpy.context.collection.objects.link(ob)
    ob.location = place
    return ob


def move(name: str, place: Any) -> None:
    """Put a target or a pole elsewhere."""
    bpy.data.objects[name].location = Vector(place)


PLACES = ((0.1, -0.2, 0.25), (0.3, 0.3, 0.4), (-0.2, -0.1, 0.1), (0.1, 0.0, -1.0), (0.12, 0.02, 0.96))


def off(last: Any) -> float:
    """By how much a limb is not where it has to be, as a fraction of its length: the worst of joints and axes."""
    bpy.context.view_layer.update()
    want = oracle.expected(last)
    joints, axes, _ = oracle.seen(last)
    joint = np.linalg.norm(joints - want.joints, axis=1).max() / want.length
    turned = max(float(np.abs(a - b).max()) for a, b in zip(axes, want.axes, strict=True))
    return float(max(joint, 0.1 * turned))


def worst(last: Any, target: str = "target.L") -> float:
    """The worst `off` while the target goes to some places, in reach and out of it."""
    found = []
    for place in PLACES:
        move(target, place)
        found.append(off(last))
    return max(found) if np.isfinite(found).all() else np.inf


def parts(ob: Any) -> list[str]:
    """The names of all parts of mechanisms."""
    return [bone.name for bone in ob.data.bones if bone.name.startswith("MCH-")]


def problem(addon: Any, last: Any) -> str:
    """What is wrong with a limb's mechanism."""
    return addon("tasks.modes").problem_of(last)
