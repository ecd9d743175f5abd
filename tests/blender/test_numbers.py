"""The numbers in the pages' sentences are so: made here, by another test that is named here, or by `make bench`."""

from __future__ import annotations

import re
from math import asin, cos, degrees, pi, sin, sqrt
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Vector

from scripts import slide, tasks
from scripts.package import ROOT
from tests.blender import pages, rigs

BENCH = "make bench"

SAID = {
    "README.md": {
        "to a hundred-thousandth of the leg's\n  length": "test_what_the_constraint_leaves",
        "leaves a ten-thousandth": "test_what_the_constraint_leaves",
        "misses by half of the leg": "test_what_the_constraint_leaves",
        "two to four bones": "test_limits",
    },
    "CONTRIBUTING.md": {
        "Python 3.11 or 3.13": "test_versions",
        "Blender 4.2, 4.5 and 5.2": "test_versions",
        "at most 400 lines": "test_the_house_stays_small",
        "(1920 x 1080)": "test_the_still_suits_the_platform",
        "GPL, version 3": "",
    },
    "docs/animator.md": {
        "*Bones* to 3 or 4": "test_limits",
        "Five bones": "test_limits",
        "*Blending, 0.24 m*, *Eased, 8 mm*": "",  # examples, as is the next
        "*0.29 m too far*": "",
    },
    "docs/benchmarks.md": {"": BENCH},
    "docs/capture.md": {
        "*kept 250 frames*": "",  # an example
        "Three frames before and after": "test_limits",
        "*Ease*, 0 to 10": "test_limits",
        "a drift of 4 mm a frame": "test_feet_that_slide",
        "by 57 mm before": "test_feet_that_slide",
        "less than 0.001 mm after": "test_feet_that_slide",
    },
    "docs/comparison.md": {
        "off by a ten-thousandth of the limb": "test_what_the_constraint_leaves",
        "source of 2026-06": "",
    },
    "docs/farm.md": {
        "0 done, also where nothing was to be done": "test_nothing_to_do_is_done",
        "1 a file failed": "test_a_file_that_fails_does_not_stop_the_next",
        "2 the call is wrong": "test_a_wrong_call_ends_with_2_and_one_line",
        "3 `--strict` found": "test_report_counts_what_is_poses",
        "and is 3 with": "test_what_matches_nothing_is_said_and_strict_ends_with_3",
        "130 or 143 it was interrupted": "test_an_interrupted_run_leaves_nothing",
        "0.05 and 0.5": "test_limits",
    },
    "docs/limits.md": {
        "two, three or four bones": "test_limits",
        "0.35 of the limb's length": "test_limits",
        "past 120°": "test_limits",
        "less\nthan 0.06°": "test_limits",
        "within a hundred-thousandth of the limb's length": "test_what_the_constraint_leaves",
    },
    "docs/scripting.md": {
        "int, 2 to 4": "test_scripts_find_what_the_guide_names",
        "-40 to 40": "test_scripts_find_what_the_guide_names",
        "1 to 100": "test_scripts_find_what_the_guide_names",
    },
}
"""For each page what it says with a number, and the test that holds that; nothing for what is no claim."""

NO_CLAIM = r"""(?x)
    `[^`\n]+` |                                      # code: test_pages
    \]\([^)]*\) | <http[^>]+> | \[\d\] | ^\d+\.\s |  # links, footnotes and steps
    \bF9\b | 2D | \(2023-09\) |
    GPL-3\.0 | (Blender|\()\ ?4\.2\ to\ 5\.2 | Blender\ 5\.2 |   # test_versions
    (?<![\d.])[01](?!\.?\d)                          # the ends of a slider
"""


def test_every_number_is_made() -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for page in pages.PAGES:
        text, phrases = page.read_text(), SAID.get(str(page.relative_to(ROOT)), {})
        for phrase, maker in phrases.items():
            assert phrase in text, f"{page.name}: {phrase}"
            assert maker in ("", BENCH) or f"def {maker}(" in tests, maker
        if BENCH in phrases.values():
            assert f"`{BENCH}`" in text
            continue
        for words in (*phrases, *(block.text for block in pages.blocks() if block.page == page)):
            text = text.replace(words, "")
        left = re.sub(NO_CLAIM, "", text, flags=re.DOTALL | re.MULTILINE)
        assert not [line for line in left.splitlines() if re.search(r"\d", line)], page.name


def test_the_still_suits_the_platform() -> None:
    head = (ROOT / "docs" / "still.png").read_bytes()[:24]  # width and height are its last eight bytes
    assert [int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:], "big")] == [1920, 1080]


def test_versions() -> None:
    assert [*tasks.BLENDERS] == ["4.2", "4.5", "5.2", "5.3"]
    assert {*tasks.BLENDERS.values()} == {"3.11", "3.13"}
    assert (tasks.BLENDERS["4.5"], tasks.BLENDERS["5.2"]) == ("3.11", "3.13")
    assert "(3.11: 4.5 LTS, 3.13: 5.2 LTS)" in (ROOT / "README.md").read_text()
    assert 'blender_version_min = "4.2.0"' in (ROOT / "blender_manifest.toml").read_text()


def test_limits(addon) -> None:
    bones = bpy.ops.pose.planar_ik_add.get_rna_type().properties["bones"]
    assert [item.name for item in bones.enum_items] == ["As Found", "2", "3", "4"]
    assert addon("finding.checking").FLAT == 0.35
    ease = bpy.ops.pose.planar_ik_hold.get_rna_type().properties["ease"]
    assert (ease.default, ease.hard_min, ease.hard_max) == (3, 0, 10)
    contacts, groups = addon("poses.contacts"), addon("solver.groups")
    assert (contacts.HEIGHT, contacts.SPEED) == (0.05, 0.15)
    assert degrees(2.0 * asin(sqrt(groups.FOLDED))) == pytest.approx(120.0)
    assert round(degrees(asin(groups.STRAIGHT)), 2) == 0.06
    assert len(addon("limb.foot_roll").PIVOTS) == 5


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


@pytest.mark.skipif(bpy.app.version[:2] != (4, 5), reason="takes seconds, and is the same in each version of Blender")
def test_feet_that_slide() -> None:
    before, _, spans, slid = slide.paths()
    at_first = max((place - before[first - 1]).length for first, last in spans for place in before[first - 1 : last])
    assert (round(1000.0 * at_first), 1000.0 * slid < 0.001) == (61, True)
    assert slide.capture.DRIFT == 0.004
    assert (Path(ROOT) / "docs" / "slide.svg").exists()
