"""Random limbs of all kinds and features: made as they are described, they are described so; nothing is made that is
there, whatever was there before; and taken away, nothing is left."""

from __future__ import annotations

import json
import random
import re
from itertools import pairwise
from math import pi
from typing import Any

import bpy
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector

from tests.blender import rigs
from tests.blender.snapshots import differences, snapshot

from .test_description import in_any_order

SEEDS = range(10)

CONTROLS = {
    "IK Hand": (0.4, "hips"),
    "IK Elbow": (0.6, "IK Hand"),
    "Other Hand": (0.5, ""),
    "Other Elbow": (0.8, "hips"),
}
"""Bones that a rigger made to be followed: how far ahead they are, and what they hang on."""


class Random(random.Random):
    """Draws what limbs may have."""

    def perhaps(self, value: Any, otherwise: Any = None) -> Any:
        return value if self.random() < 0.5 else otherwise

    def turn(self, size: float = 1.0) -> tuple[float, ...]:
        """Three angles, in Blender's precision."""
        return tuple(Euler([self.uniform(-size, size) for _ in range(3)])[:])


def is_converted(seed: int) -> bool:
    """Whether a limb was an IK constraint of Blender's before."""
    return seed % 5 == 4


def rig(seed: int) -> Any:
    """A limb of two to four bones with a foot and toes, in a plane of its own, below hips; and what it may follow."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    rng = Random(f"rig {seed}")
    count, where = 2 + seed % 3, Quaternion(Vector((rng.random(), rng.random(), 1.0)), rng.uniform(-3, 3))
    places, heading = [Vector((0.0, 0.0, 0.0))], -0.4
    for _ in range(count):
        places.append(places[-1] + rng.uniform(0.5, 1.0) * (Quaternion((1, 0, 0), heading) @ Vector((0, 0, -1))))
        heading += rng.uniform(0.3, 0.8)
    places += [places[-1] + Vector(step) for step in ((0.0, -0.3, -0.1), (0.0, -0.45, -0.1))]
    joints = [(where @ place)[:] for place in places]
    bones: dict[str, Any] = {"hips": ((0.0, 0.3, 0.3), (0.0, 0.3, 0.8), "")}
    above = "hips"
    for k, (head, tail) in enumerate(pairwise(joints)):
        name = f"bone {k + 1}" if k < count else ("foot", "toe")[k - count]
        bones[name], above = (head, tail, above), name
    for name, (ahead, parent) in CONTROLS.items():
        head = Vector(joints[count]) + ahead * (where @ Vector((0.2, -1.0, 0.0)))
        bones[name] = (head[:], (head + Vector((0.0, 0.0, 0.2)))[:], parent)
    ob = rigs.rig(bones)
    for name in ("Ball", "Cube"):
        rigs.empty(name, (rng.random(), rng.random(), rng.random()))
    first = ob.pose.bones["bone 1"]
    first.location = rng.perhaps(rng.turn(0.1), (0.0, 0.0, 0.0))
    if is_converted(seed):
        made = ob.pose.bones[f"bone {count}"].constraints.new("IK")
        made.target, made.chain_count = bpy.data.objects["Cube"], count
    bpy.context.view_layer.update()
    return ob


def described(addon: Any, ob: Any, seed: int, draw: int) -> Any:
    """A limb that this rig may have; of one seed another by each draw."""
    rng, count = Random(f"limb {seed} {draw}"), 2 + seed % 3
    limb, features = (ob, f"bone {count}"), addon("rigging.features")
    on_bones = rng.random() < 0.7
    targets = [("IK Hand", "IK Elbow"), ("Other Hand", "Other Elbow")]
    target, pole = (
        ((ob, name) for name in rng.choice(targets))
        if on_bones
        else ((bpy.data.objects[name], "") for name in ("Ball", "Cube"))
    )
    plane = rng.choice(("HINGE", "FREE", "POLE"))
    description = addon("rigging.description").Description(
        segments=(1,) * count,
        foot="foot",
        reference_rotations=rng.perhaps(tuple(Euler(rng.turn(0.3)).to_quaternion()[:] for _ in range(count)), ()),
        target=target,
        pole=pole if plane == "POLE" or rng.perhaps(True) else None,
        foot_turn=rng.choice((None, (0.0, 0.0, 0.0), rng.turn(0.5))),
        mode=rng.choice(("RIG", "LIVE")),
    )
    if is_converted(seed):
        before = {"acting": "IK", "muted_drivers": [], "chain_count": {"IK": count}, "mute": {"IK": False}}
        description = description._replace(constraint="IK", converted_from=json.dumps(before), foot_turn=None)
        return description._replace(target=(bpy.data.objects["Cube"], ""), pole=None).with_choice("plane", "FREE")
    choices = {"plane": plane, "tip": rng.choice(("FOOT", "FOOT", "TAIL"))}
    sliders = {name: rng.uniform(0.0, 1.0) for name in ("softness", "stretch") if rng.perhaps(True)}
    sliders |= {
        "swivel": rng.uniform(-1.0, 1.0),
        "influence": rng.choice((0.0, 0.5, 1.0)),
        "flip": rng.perhaps(True, False),
    }
    if count > 2:
        sliders["ankle"] = rng.uniform(-0.3, 0.3)
    if rng.perhaps(True):
        sliders |= {f"twist {k + 1}": rng.uniform(-1.0, 1.0) for k in range(count)}
    if plane == "POLE" and rng.perhaps(True):
        sliders["pole"] = rng.perhaps(True, False)
    if "stretch" in sliders:
        choices |= {"stretch_max": rng.uniform(1.1, 3.0), "stretch_volume": rng.choice(("LENGTH", "UNIFORM", "VOLUME"))}
    if rng.perhaps(True):
        choices |= {"min_angle": rng.uniform(0.1, 0.5), "max_angle": rng.uniform(2.0, pi)}
    if plane == "HINGE" and count == 2 and not {"softness", "stretch"} & {*sliders} and rng.perhaps(True):
        choices |= {"root_min_angle": -1.0, "root_max_angle": 2.0}
    description = description._replace(sliders=description.sliders | sliders, choices=description.choices | choices)
    dependencies = addon("blender.dependencies").Dependencies()
    if description.foot_turn is not None and rng.perhaps(True):
        rest = addon("limb.rest_geometry").rest_geometry(
            ob.pose.bones[limb[1]], description.segments, tip=description.tip
        )
        description = (
            features.roll_for(description, limb, dependencies, rest)
            .with_slider("roll", 0.2)
            .with_choice("break_angle", 0.5)
        )
    if on_bones and description.pole and "Elbow" in description.pole[1] and rng.perhaps(True):
        description = features.pole_follow_for(description, limb, dependencies)
    return description


def off(one: Any, other: Any, path: str = "") -> list[str]:
    """Where two descriptions differ, but for what Blender rounds."""
    if isinstance(one, Matrix):
        return [] if max(map(abs, (x for row in one - other for x in row))) < 1e-5 else [path]
    if isinstance(one, dict) and one.keys() == other.keys():
        return [each for key in one for each in off(one[key], other[key], f"{path}/{key}")]
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        names = getattr(one, "_fields", range(len(one)))
        return [each for name, *pair in zip(names, one, other, strict=True) for each in off(*pair, f"{path}/{name}")]
    if isinstance(one, float) and isinstance(other, float):
        return [] if abs(one - other) < 1e-5 else [f"{path}: {one} is {other}"]
    return [] if one == other else [f"{path}: {one} is {other}"]


ROUNDED = re.compile(r"/bone MCH-.*(?:/rest\[4\]\[\d\]|tail_local\[\d\]): (\S+) is (\S+)")
"""Tails of helpers that point nearly along -Y, which Blender rounds as it leaves Edit Mode."""


def seen(found: list[str]) -> list[str]:
    """Differences but those of what Edit Mode selects and rounds."""
    kept = [each for each in found if "/select" not in each and "/active" not in each]
    tails = {each: ROUNDED.search(each) for each in kept}
    return [each for each, tail in tails.items() if not tail or abs(float(tail[1]) - float(tail[2])) > 1e-4]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_limb_is_what_it_is_described_as(addon: Any, seed: int) -> None:
    build, describe = addon("rigging.build").build, addon("rigging.description").describe
    ob = rig(seed)
    limb, nothing = (ob, f"bone {2 + seed % 3}"), in_any_order(snapshot())
    description = described(addon, ob, seed, 0)
    build(bpy.context, {limb: description})
    assert not off(description, describe(limb))
    alone = in_any_order(snapshot())
    build(bpy.context, {limb: describe(limb)})
    assert not differences(alone, in_any_order(snapshot()))
    build(bpy.context, {limb: describe(limb)}, anew={limb})
    assert not seen(differences(alone, in_any_order(snapshot())))
    build(bpy.context, {limb: None})
    assert not seen(differences(nothing, in_any_order(snapshot())))
    for draw in (1, 2):
        build(bpy.context, {limb: described(addon, ob, seed, draw)})
    build(bpy.context, {limb: description})
    assert not off(description, describe(limb))
    assert not seen(differences(alone, in_any_order(snapshot())))
