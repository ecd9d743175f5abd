"""Limbs converted from Rigify's constraints, on the rig: what most animators have, in files that need no extension."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.natives import matrices, played_alone
from tests.blender.rigify import generated
from tests.blender.rigs import press

SAME = 1e-5
"""How far bones may be from those of live chains, in lengths of a limb and in their axes."""

STRAIGHT, AS_STRAIGHT = 1e-6, 1e-4
"""How near a limb is to being straight, in its lengths, where the rounding of its reach turns the knee by the root of
that; and how far bones may be then. With its stretch off, Rigify itself keeps a target just within reach."""

FRAMES = range(1, 17)

CONTROLS = {
    "basic_human": ("foot_ik", "hand_ik", "foot_heel_ik", "thigh_ik_target", "upper_arm_ik_target", "upper_arm_ik"),
    "basic_quadruped": (
        "foot_ik",
        "front_foot_ik",
        "foot_heel_ik",
        "thigh_ik_target",
        "front_thigh_ik_target",
        "thigh_ik",
    ),
}
SWITCHES = {
    "basic_human": ("thigh_parent", "upper_arm_parent"),
    "basic_quadruped": ("thigh_parent", "front_thigh_parent"),
}
SETTINGS = {"pole_vector": (False, True), "IK_FK": (0.0, 0.0, 0.4, 1.0), "IK_Stretch": (0.0, 1.0)}
"""What an animator switches for a limb, and to what."""


def key_poses(ob: Any, metarig: str) -> None:
    """Keys on where its controls are, and on its switches, at random."""
    rng = random.Random(1)
    moved = ("torso", "hips", "chest", *(f"{name}.{side}" for name in CONTROLS[metarig] for side in "LR"))
    for frame in FRAMES:
        for name in moved:
            bone = ob.pose.bones[name]
            bone.rotation_mode = "XYZ"
            bone.location, bone.rotation_euler = ([rng.gauss(0, by) for _ in range(3)] for by in (0.08, 0.3))
            for channel in ("location", "rotation_euler"):
                bone.keyframe_insert(channel, frame=frame)
        for name in (f"{name}.{side}" for name in SWITCHES[metarig] for side in "LR"):
            for setting, values in SETTINGS.items():
                ob.pose.bones[name][setting] = rng.choice(values)
                ob.pose.bones[name].keyframe_insert(f'["{setting}"]', frame=frame)


def played(ob: Any, bones: list[str], chains: list[str], runs_on: str) -> np.ndarray:
    """The matrices of bones over the frames."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        found.append(matrices(ob, *bones))
        for name in chains:
            chain = ob.pose.bones[name].planar_ik
            assert (chain.runs_on, chain.message) == (runs_on, "")
            assert chain.plane == ("POLE" if pole_of(ob, name) else "SWING")
    return np.array(found)


def limits(ob: Any, chains: list[str]) -> np.ndarray:
    """How far bones may be from live ones, in each frame."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        posed = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        limbs = [(posed[name].parent, posed[name]) for name in chains]
        spare = [lower.bone.length + upper.bone.length - (lower.tail - upper.head).length for upper, lower in limbs]
        found.append(AS_STRAIGHT if min(map(abs, spare)) < STRAIGHT else SAME)
    return np.array(found)


def pole_of(ob: Any, lower: str) -> bool:
    """Whether the animator switched the pole of a limb on."""
    limb = next(name for name in ("front_shin", "shin", "forearm") if f"MCH-{name}_ik" in lower)
    upper = {"shin": "thigh", "front_shin": "front_thigh", "forearm": "upper_arm"}[limb]
    return bool(ob.pose.bones[f"{upper}_parent.{lower[-1]}"]["pole_vector"])


@pytest.mark.timeout(300)
@pytest.mark.parametrize("metarig", sorted(CONTROLS))
def test_all_limbs_run_on_the_rig_and_without_the_extension(metarig: str, tmp_path: Path) -> None:
    """Their live chains are the oracle, whose pole an animator's switch turns on and off by a driver."""
    ob = generated(metarig)
    assert bpy.ops.pose.planar_ik_convert(runs_on="EXTENSION") == {"FINISHED"}
    chains = [bone.name for bone in ob.pose.bones if bone.planar_ik.enabled]
    assert len(chains) == {"basic_human": 4, "basic_quadruped": 8}[metarig]
    limbs = [name for lower in chains for name in (ob.pose.bones[lower].parent.name, lower)]
    bones = limbs + [bone.name for bone in ob.data.bones if bone.use_deform]
    size = min(ob.data.bones[lower].length + ob.data.bones[lower].parent.length for lower in chains)
    key_poses(ob, metarig)
    wanted, within = played(ob, bones, chains, "EXTENSION"), limits(ob, chains)
    assert np.sum(within == SAME) > len(FRAMES) / 4
    controls = [f"{name}.{side}" for name in CONTROLS[metarig][:3] for side in "LR"]
    press(ob, "make_portable", *controls)
    on_rig = played(ob, bones, chains, "RIG")
    assert np.all(off(on_rig, wanted, size) < within)
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    alone, said = played_alone(tmp_path, [path], FRAMES, bones)
    assert off(alone[0], on_rig, size).max() < 1e-6
    assert "cycle" not in said.lower()
    ob = bpy.data.objects[ob.name]
    press(ob, "make_live", *controls)
    assert off(played(ob, bones, chains, "EXTENSION"), wanted, size).max() < 1e-6


def off(found: np.ndarray, wanted: np.ndarray, size: float) -> np.ndarray:
    """How far matrices are from others in each frame: their places in lengths of a limb, their axes."""
    apart = np.abs(found - wanted)
    apart[..., :3, 3] /= size
    return apart.max(axis=(1, 2, 3))
