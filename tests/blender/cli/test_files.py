"""What the command line reads and writes: links, linked characters, and what an interrupted run leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest

from scripts.package import ROOT
from tests.blender.cli.shots import constrained, linked, poses, shot


def test_a_link_stays_a_link_and_its_file_is_written(run, tmp_path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "shots").mkdir()
    stored = shot(tmp_path / "store" / "17.blend", "LIVE")
    link = tmp_path / "shots" / "walk.blend"
    link.symlink_to(Path("..") / "store" / "17.blend")
    code, (line,), _ = run("set", link, "--in-place", "--mode", "RIG")
    assert (code, line["output"], link.is_symlink()) == (0, str(link), True)
    assert run("report", stored)[1][0]["mode"] == "RIG"
    other = tmp_path / "other.blend"
    other.symlink_to(stored)
    assert run("bake", link, "-o", other)[0] == 2  # it would write over its input
    assert run("bake", link, other, "-o", tmp_path / "store")[0] == 0
    assert sorted(path.name for path in (tmp_path / "store").iterdir()) == ["17.blend", "other.blend", "walk.blend"]


def test_libraries_are_found_through_a_link(run, tmp_path) -> None:
    (tmp_path / "store").mkdir()
    library = shot(tmp_path / "library.blend")
    stored = linked(library, tmp_path / "17.blend", True)
    stored = stored.rename(tmp_path / "store" / "17.blend")
    link = tmp_path / "shot.blend"
    link.symlink_to(stored)
    before = poses(link)
    code, (line,), said = run("bake", link, "--in-place", "--strict", "--max-miss", 100)
    assert (code, line["limb"], link.is_symlink()) == (0, "shin.L", True), said
    assert np.abs(poses(link)[:, :2] - before[:, :2]).max() < 1e-4
    assert [library.filepath for library in bpy.data.libraries] == ["//library.blend"]


@pytest.mark.parametrize("is_overridden", [True, False], ids=["overridden", "linked"])
def test_a_linked_character_is_made_local_for_a_game(run, tmp_path, is_overridden) -> None:
    source = linked(shot(tmp_path / "library.blend"), tmp_path / "shot.blend", is_overridden)
    before, content = poses(source), source.read_bytes()
    output = tmp_path / "game.blend"
    code, (line,), _ = run("bake", source, "-o", output, "--for-game")
    assert (code, "--make-local" in line["error"], output.exists()) == (1, True, False)
    code, (line,), said = run("bake", source, "-o", output, "--for-game", "--make-local")
    assert (code, line["limb"], line["frames"]) == (0, "shin.L", 6), said
    assert np.abs(poses(output) - before).max() < 1e-4
    (rig,) = (ob for ob in bpy.context.view_layer.objects if ob.type == "ARMATURE")
    assert [rig.library, rig.override_library, rig.data.library] == [None] * 3
    assert not any(bone.constraints for bone in rig.pose.bones)
    assert source.read_bytes() == content


@pytest.mark.parametrize(("when", "number"), [("starting", signal.SIGTERM), ("baking", signal.SIGINT)])
def test_an_interrupted_run_leaves_nothing(tmp_path, number, when) -> None:
    source, folder = shot(tmp_path / "shot.blend"), tmp_path / "temporary"
    folder.mkdir()
    before = source.read_bytes()
    user = {name: value for name, value in os.environ.items() if name != "BLENDER_USER_RESOURCES"}
    words = [str(ROOT / "scripts" / "bake.py"), "bake", "--in-place", str(source), "--frames", "1:900000"]
    process = subprocess.Popen(
        [sys.executable, "-u", *words], env={**user, "TMPDIR": str(folder)}, stderr=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        while not any(folder.glob("blender_*")):
            assert process.poll() is None
        if when == "baking":
            assert any("Read blend" in line for line in process.stdout)
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 128 + number, said
    assert [*folder.iterdir()] == []
    assert source.read_bytes() == before


def test_a_character_that_is_not_there_is_no_success(run, tmp_path) -> None:
    source = linked(shot(tmp_path / "library.blend"), tmp_path / "shot.blend", is_overridden=True)
    (tmp_path / "library.blend").rename(tmp_path / "moved.blend")
    for words in (("report",), ("bake", "-o", tmp_path / "out.blend")):
        code, (line,), _ = run(*words, source)
        assert (code, "library.blend, which is not there" in line["error"]) == (1, True)
    assert not (tmp_path / "out.blend").exists()


def test_a_newer_file_is_not_written_over(run, tmp_path, monkeypatch, addon) -> None:
    source = shot(tmp_path / "shot.blend")
    before = source.read_bytes()
    monkeypatch.setattr(addon("cli.shots"), "VERSION", (4, 0))
    code, (line,), _ = run("bake", source, "--in-place")
    assert (code, "write it with that" in line["error"], source.read_bytes() == before) == (1, True, True)
    assert run("report", source)[0] == 0


@pytest.mark.parametrize("verb", ["bake", "hold", "convert"])
def test_what_strict_finds_is_not_written(run, tmp_path, verb) -> None:
    """So that a run with --skip-existing tries it again; what was written is left out then."""
    source = constrained(tmp_path / "a.blend") if verb == "convert" else shot(tmp_path / "a.blend")
    words = (verb, source, "-o", tmp_path / "out.blend", "--skip-existing")
    found = run(*words, "--strict", "--bone", "nobody" if verb == "hold" else "*")
    assert (found[0], "nothing was written" in found[2], (tmp_path / "out.blend").exists()) == (3, True, False)
    assert run(*words)[0] == 0
    code, (line,), _ = run(*words, "--strict")
    assert (code, line["skipped"]) == (0, True)
