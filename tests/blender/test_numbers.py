"""What README claims with figures, measured."""

from __future__ import annotations

import os
import re
from math import cos, pi, sin
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Vector

from scripts import capture, tasks
from scripts.package import ROOT
from tests.blender import rigs


def test_pictures_have_the_sizes_that_the_listing_names() -> None:
    text = (ROOT / "docs" / "listing.md").read_text()
    sized = re.findall(r"(\d+) \W (\d+) \| \[([\w.]+)\]", text)
    assert [name for *_, name in sized] == ["icon.png", "still.png"]
    for width, height, name in sized:
        head = (ROOT / "docs" / name).read_bytes()[:24]  # width and height are its last eight bytes
        assert [int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:], "big")] == [int(width), int(height)]


def test_versions() -> None:
    assert [*tasks.BLENDERS] == ["4.5", "5.2", "5.3"]
    assert {*tasks.BLENDERS.values()} == {"3.11", "3.13"}
    assert (tasks.BLENDERS["4.5"], tasks.BLENDERS["5.2"]) == ("3.11", "3.13")
    assert "(3.11: 4.5 LTS, 3.13: 5.2 LTS)" in (ROOT / "README.md").read_text()
    assert 'blender_version_min = "4.5.0"' in (ROOT / "blender_manifest.toml").read_text()


def leg(bent: float, is_ours: bool) -> tuple[object, object, float]:
    """A leg with IK of the one kind or the other, without a pole, what it follows, and its length."""
    knee, foot = (0.0, -bent, 0.82), (0.0, 0.0, 0.14)
    bones = {"hip": ((0, 0, 1.8), (0, 0, 1.5), ""), "thigh": ((0, 0, 1.5), knee, "hip"), "shin": (knee, foot, "thigh")}
    ob = rigs.rig(bones | {"foot": (foot, (0, -0.24, 0.05), "shin")})
    target, shin = rigs.empty("target", foot), ob.pose.bones["shin"]
    if is_ours:
        shin.planar_ik.target = target
    else:
        constraint = shin.constraints.new("IK")
        constraint.target, constraint.chain_count, constraint.use_stretch = target, 2, False
    return ob, target, sum(ob.data.bones[name].length for name in ("thigh", "shin"))


def worst_miss(bent: float, is_ours: bool, swing: float = 0.3) -> float:
    """How far the foot is off at most, in lengths of the leg, while its target goes up and down between half and full
    reach and swings to the front and back."""
    ob, target, length = leg(bent, is_ours)
    missed = []
    for turn in 2.0 * pi / 48.0 * np.arange(48):
        target.location = Vector((0.0, -swing * sin(turn), 0.3 - 0.5 * cos(turn)))
        if (target.location - Vector((0.0, 0.0, 1.5))).length < 0.999 * length:
            missed.append((rigs.place(ob, "foot") - target.location).length / length)
    return max(missed)


def test_what_the_constraint_leaves() -> None:
    """On a straight leg, and on one that is bent at rest; what is ours in any other pose, test_pose holds."""
    assert worst_miss(0.0, False, 0.0) == pytest.approx(0.5, abs=0.02)
    assert 0.3e-4 < worst_miss(0.15, False) < 3e-4
    assert max(worst_miss(bent, True, swing) for bent in (0.0, 0.15) for swing in (0.0, 0.3)) < 1e-5


CAPTURE = Path(os.environ.get("WALK", ROOT / "build" / "walk01.bvh"))


@pytest.mark.skipif(not CAPTURE.exists(), reason="the capture is not part of the repository: scripts/capture.py has it")
@pytest.mark.skipif(bpy.app.version[:2] != (4, 5), reason="takes seconds, and is the same in each version of Blender")
def test_feet_of_a_capture_that_slide() -> None:
    found = capture.figures(CAPTURE)
    table = re.findall(r"([\d.]+) mm", (ROOT / "docs" / "capture.md").read_text())
    assert [f"{figure:.2g}" if figure < 5.0 else f"{figure:.0f}" for figure in found.values()] == ["9", *table, "0"]
