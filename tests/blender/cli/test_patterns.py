"""Which bones and limbs the command line takes: patterns as `fnmatch` has them; what is done twice is done once."""

from __future__ import annotations

from fnmatch import fnmatchcase

import bpy
import pytest

from tests.blender import rigs
from tests.blender.cli.shots import constrained, shot

NAMES = ("shin.L", "shin.R", "DEF_shin_L", "DEF_thigh_01_L", "a_b_c_L", "shin", "", "x[y]", "leg*", "shin.l", "a\nb")
PATTERNS = ("shin.*", "*_*_L", "shin.[LR]", "shin.[!L]", "shin.?", "*", "**", "?*.[!a-z]", "[]x]*", "x[[]y]", "a?b")


def test_patterns_are_those_of_fnmatch(addon) -> None:
    patterns = addon("tasks.selection")
    for pattern in PATTERNS:
        for name in NAMES:
            if name == pattern:
                continue
            letters = patterns.matches_of(pattern, [name]).get(name)
            assert (letters is not None) == fnmatchcase(name, pattern), (pattern, name)
            if letters is not None:
                assert patterns.fill_wildcards(pattern, letters) == name
    assert [*patterns.matches_of("x[y]", NAMES)] == ["x[y]"]  # a name that looks like a pattern


@pytest.mark.parametrize("pattern", ["shin.?", "shin.[LR]", "*in.*", "*.*", "thigh.*", "[st]hi*.*"])
def test_a_pattern_that_meets_both_bones_of_a_leg_makes_one_limb(run, tmp_path, pattern) -> None:
    source = shot(tmp_path / "a.blend", "")
    code, lines, said = run("add", source, "--in-place", "--strict", "--limb", pattern)
    arms = ["forearm.L", "forearm.R"] if pattern == "*.*" else []
    assert (code, sorted(line["limb"] for line in lines)) == (0, [*arms, "shin.L", "shin.R"]), said


def test_wildcards_stand_for_the_same_in_target_and_pole(run, tmp_path) -> None:
    source = shot(tmp_path / "a.blend", "")
    for name in ("L_foot", "R_foot"):
        rigs.empty(name)
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    code, lines, said = run("add", source, "--in-place", "--limb", "sh??.[LR]:[LR]_foot", "--strict")
    assert (code, lines[0].get("error") is not None) == (1, True), said  # three wildcards, of which the first is meant
    code, lines, said = run("add", source, "--in-place", "--limb", "shin.[LR]:[LR]_foot", "--strict")
    targets = {line["limb"]: line["target"] for line in lines}
    assert (code, targets) == (0, {"shin.L": "L_foot", "shin.R": "R_foot"}), said


def test_what_matches_nothing_is_said_and_strict_ends_with_3(run, tmp_path) -> None:
    source = shot(tmp_path / "in.blend")
    for words in (
        ("report", "--bone", "*_*_L"), ("report", "--object", "hero?"), ("bake", "--bone", "tail"),
        ("set", "--mode", "RIG", "--bone", "tail.*"), ("rebuild", "--object", "[!r]*"), ("convert", "--bone", "shin.R"),
        ("add", "--limb", "forearm.L", "--limb", "tail.?"),
    ):  # fmt: skip
        output = () if words[0] == "report" else ("-o", tmp_path / "out.blend")
        pattern = words[-1]
        code, _, said = run(*words, source, *output)
        assert (code, pattern in said) == (0, True), (words, said)
        assert run(*words, source, *output, "--strict")[0] == 3, words
    assert run("report", source, "--bone", "shin.[LR]", "--object", "r?g", "--strict", "--max-miss", 100)[0] == 0


def test_a_name_is_taken_at_its_word(run, tmp_path) -> None:
    source = shot(tmp_path / "a.blend", "")
    before = source.read_bytes()
    code, (line,), _ = run("add", source, "--in-place", "--limb", "hips")
    assert (code, "hips" in line["error"]) == (1, True)
    assert source.read_bytes() == before


def test_convert_names_what_it_leaves(run, tmp_path) -> None:
    source = constrained(tmp_path / "a.blend")
    code, lines, said = run("convert", source, "--in-place")
    assert (code, [line["limb"] for line in lines]) == (0, ["shin.L", "shin.R", "hand.L"]), said
    assert [("problem" in line, line.get("mode")) for line in lines] == [(False, "RIG"), (False, "RIG"), (True, None)]
    assert "hand.L" in said
    assert run("convert", source, "-o", tmp_path / "b.blend", "--strict")[0] == 3
    assert run("convert", source, "-o", tmp_path / "b.blend", "--strict", "--bone", "shin.*")[0] == 0


@pytest.mark.parametrize("command", [("add", "--limb", "shin.*"), ("add", "--limb", "thigh.L"), ("convert",)])
def test_twice_is_once(run, tmp_path, command) -> None:
    source = constrained(tmp_path / "a.blend") if command == ("convert",) else shot(tmp_path / "a.blend", "")
    first = run(*command, source, "--in-place")
    once = source.read_bytes()
    again = run(*command, source, "--in-place")
    written = [{key: value for key, value in line.items() if key != "output"} for line in first[1]]
    assert (first[0], again[0], again[1]) == (0, 0, written)
    assert source.read_bytes() == once
