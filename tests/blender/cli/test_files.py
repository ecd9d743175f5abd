"""What the command line reads and writes: links, linked characters, and what an interrupted run leaves."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from itertools import product
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
def test_an_interrupted_run_leaves_whole_files_and_goes_on(run, tmp_path, number, when) -> None:
    sources, folder, out = [shot(tmp_path / "a.blend"), tmp_path / "b.blend"], tmp_path / "temporary", tmp_path / "out"
    folder.mkdir()
    bpy.context.scene.frame_end = 900000
    bpy.ops.wm.save_as_mainfile(filepath=str(sources[1]))
    before = [source.read_bytes() for source in sources]
    user = {name: value for name, value in os.environ.items() if name != "BLENDER_USER_RESOURCES"}
    words = ["bake", *map(str, sources), "-o", f"{out}/", "--skip-existing"]
    process = subprocess.Popen(
        [sys.executable, "-u", str(ROOT / "scripts" / "bake.py"), *words], env={**user, "TMPDIR": str(folder)},
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        while not any(folder.glob("blender_*")):
            assert process.poll() is None
        if when == "baking":
            assert any("Read blend" in line and "b.blend" in line for line in process.stdout)
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 128 + number, said
    assert [*folder.iterdir()] == []
    assert [source.read_bytes() for source in sources] == before
    written = ["a.blend"] if when == "baking" else []
    assert [path.name for path in tmp_path.glob("out/*")] == written
    code, lines, _ = run(*words, "--frames", "1:6")
    assert (code, [Path(line["file"]).name for line in lines if "skipped" in line]) == (0, written)
    assert sorted(path.name for path in out.iterdir()) == ["a.blend", "b.blend"]


def newer(source: Path, _: Path) -> None:
    """A file that a Blender wrote which is not there yet."""
    bpy.ops.wm.open_mainfile(filepath=str(source))
    bpy.ops.wm.save_as_mainfile(filepath=str(source), compress=False)
    source.write_bytes(re.sub(rb"v(0?\d)\d\d", rb"v\g<1>99", source.read_bytes(), count=1))


def renamed(_: Path, library: Path) -> None:
    """A character that has another name in its file now."""
    bpy.ops.wm.open_mainfile(filepath=str(library))
    bpy.data.collections["character"].name = "hero"
    bpy.ops.wm.save_as_mainfile(filepath=str(library))


FAILING = {
    "its library is gone": (lambda _, library: library.unlink(), "which is not there"),
    "its library is none": (lambda _, library: library.write_text("none"), "which is not there"),
    "renamed in its library": (renamed, "which is not there"),
    "of a newer Blender": (newer, "write it with that"),
    "read-only": (lambda source, _: source.chmod(0o444), "read-only"),
}


@pytest.mark.parametrize(("spoil", "why"), FAILING.values(), ids=FAILING)
def test_a_file_that_fails_ends_with_1_and_goes_on_once_it_is_mended(run, tmp_path, spoil, why) -> None:
    library, output = shot(tmp_path / "library.blend"), tmp_path / "out.blend"
    source = linked(library, tmp_path / "shot.blend", is_overridden=True)
    good = {path: path.read_bytes() for path in (source, library)}
    spoil(source, library)
    before = source.read_bytes()
    places = [["--in-place"]] if why == "read-only" else [["--in-place"], ["-o", output, "--skip-existing"]]
    for verb, place in product(("bake", "contacts"), places):
        more = ("--height", 100, "--speed", 1000) if verb == "contacts" else ()
        code, (line,), said = run(verb, source, *place, *more)
        assert (code, why in line["error"], why in said, "output" in line) == (1, True, True, False), line
        assert (source.read_bytes() == before, output.exists()) == (True, False)
    reads = [run("report", source), run("contacts", source, "--height", 100, "--speed", 1000)]  # which write nothing
    assert [code for code, *_ in reads] == [0 if why in ("read-only", "write it with that") else 1] * 2
    assert why != "write it with that" or all("knows more than this one" in said for *_, said in reads)
    for path, content in good.items():
        path.unlink(missing_ok=True)
        path.write_bytes(content)
    words = ("bake", source, "-o", output, "--skip-existing")
    code, (line,), _ = run(*words)
    assert (code, line["output"], output.exists()) == (0, str(output), True)
    assert "skipped" in run(*words)[1][0]


@pytest.mark.parametrize("words", ["bake", "hold", "plant", "set --mode LIVE", "add --limb shin.*", "convert"])
def test_what_only_a_linked_file_has_is_not_done(run, tmp_path, words) -> None:
    library = (constrained if words == "convert" else shot)(tmp_path / "library.blend")
    source, output = linked(library, tmp_path / "shot.blend", is_overridden=False), tmp_path / "out.blend"
    code, (line,), _ = run(*words.split(), source, "-o", output)
    assert (code, "'rig' is linked" in line["error"], output.exists()) == (1, True, False)


@pytest.mark.parametrize("verb", ["bake", "hold", "plant", "convert"])
def test_what_strict_finds_is_not_written(run, tmp_path, verb) -> None:
    """So that a run with --skip-existing tries it again; what was written is left out then."""
    source = constrained(tmp_path / "a.blend") if verb == "convert" else shot(tmp_path / "a.blend")
    words = (verb, source, "-o", tmp_path / "out.blend", "--skip-existing")
    found = run(*words, "--strict", "--bone", "nobody" if verb in ("hold", "plant") else "*")
    assert (found[0], "nothing was written" in found[2], (tmp_path / "out.blend").exists()) == (3, True, False)
    assert run(*words)[0] == 0
    code, (line,), _ = run(*words, "--strict")
    assert (code, line["skipped"]) == (0, True)
