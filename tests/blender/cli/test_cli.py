"""The command line: what it makes of files, what it answers, how it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender import rigs
from tests.blender.cli.shots import Run, poses, shot


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_report_counts_what_is_poses(run: Run, tmp_path: Path, mode: str) -> None:
    source = shot(tmp_path / "in.blend", mode)
    before = source.read_bytes()
    code, (line,), _ = run("report", source)
    assert (code, line["limb"], line["mode"], line["frames"]) == (0, "shin.L", mode, 6)
    assert (line["unreached"], line["reach"][-1]["is"]) == (1, "TOO_FAR")
    assert line["miss"] > 1.0
    assert run("report", source, "--strict")[0] == 3
    needs_us = 3 if mode == "LIVE" else 0
    assert run("report", source, "--strict", "--max-miss", 100)[0] == needs_us
    assert run("report", source, "--frames", "1:5", "--strict")[0] == needs_us
    assert source.read_bytes() == before


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_bake_keeps_the_pose_that_was_poses(run: Run, tmp_path: Path, mode: str) -> None:
    source = shot(tmp_path / "in.blend", mode)
    before = poses(source)
    code, (line,), _ = run("bake", source, "-o", tmp_path / "out" / "baked.blend", "--remove")
    assert (code, line["frames"], line["unreached"]) == (0, 6, 1)
    assert np.abs(poses(Path(line["output"])) - before).max() < 1e-4
    ob = bpy.data.objects["rig"]
    assert not any(bone.planar_ik.enabled for bone in ob.pose.bones)


def test_a_stopped_run_goes_on(run: Run, tmp_path: Path) -> None:
    sources = [shot(tmp_path / name) for name in ("a.blend", "b.blend")]
    out = tmp_path / "out.blend"  # a folder, as its slash says
    assert run("bake", sources[0], "-o", f"{out}/")[0] == 0
    before = (out / "a.blend").read_bytes()
    code, lines, _ = run("bake", *sources, "-o", f"{out}/", "--skip-existing", "--strict", "--max-miss", 100)
    assert (code, [line.get("skipped", False) for line in lines]) == (0, [True, False])
    assert (out / "a.blend").read_bytes() == before
    assert (out / "b.blend").exists()


def test_a_broken_mechanism_is_reported(run: Run, tmp_path: Path) -> None:
    source = shot(tmp_path / "in.blend")
    bpy.context.view_layer.update()
    ob = bpy.data.objects["rig"]
    for constraint in ob.pose.bones["thigh.L"].constraints:
        constraint.mute = True
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    code, (line,), _ = run("report", source, "--frames", "2", "--strict")
    assert code == 3
    assert line["problem"]
    code, (line,), _ = run("rebuild", source, "--in-place")
    assert code == 0
    code, (line,), _ = run("report", source, "--frames", "2", "--strict")
    assert (code, "problem" in line) == (0, False)


def test_what_can_not_be_rebuilt_is_a_problem(run: Run, tmp_path: Path) -> None:
    source, output = shot(tmp_path / "in.blend"), tmp_path / "out.blend"
    ob = bpy.data.objects["rig"]
    rigs.click(ob, "shin.R")
    bpy.ops.pose.planar_ik_add(mode="RIG")
    for constraint in ob.pose.bones["thigh.L"].constraints:
        constraint.mute = True
    rigs.activate(ob, "EDIT")
    bones = ob.data.edit_bones
    for name in ("thigh.R", "shin.R"):
        bones[name].tail = bones[name].head + Vector((0.0, 0.0, -3e-6))
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    words = ("rebuild", source, "-o", output)
    code, lines, _ = run(*words, "--strict")
    assert (code, output.exists()) == (3, False), lines
    code, lines, _ = run(*words)
    assert (code, [(line["limb"], "problem" in line) for line in lines]) == (0, [("shin.L", False), ("shin.R", True)])


def test_add_takes_names_and_patterns_of_many_files(run: Run, tmp_path: Path) -> None:
    sources = [shot(tmp_path / f"{name}.blend", "") for name in "ab"]
    code, lines, _ = run("add", *sources, "-o", tmp_path / "out", "--limb", "shin.*", "--limb", "forearm.*")
    assert (code, len(lines), {line["mode"] for line in lines}) == (0, 8, {"RIG"})
    code, lines, _ = run("report", *sorted((tmp_path / "out").iterdir()), "--frames", "1")
    assert (code, {line["unreached"] for line in lines}) == (0, {0})


def test_add_follows_what_a_star_stands_for(run: Run, tmp_path: Path) -> None:
    source = shot(tmp_path / "a.blend", "")
    for x, name in ((0.1, "ik.L"), (-0.1, "ik.R")):
        rigs.empty(name, (x, -0.1, 0.2))
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    code, lines, _ = run("add", source, "--in-place", "--limb", "shin.*:ik.*", "--mode", "live")
    assert (code, {(line["limb"], line["target"]) for line in lines}) == (0, {("shin.L", "ik.L"), ("shin.R", "ik.R")})
    assert run("set", source, "--in-place", "--mode", "rig")[0] == 0
    assert {line["mode"] for line in run("report", source, "--frames", "1", "--strict")[1]} == {"RIG"}


WRONG = {
    "no command": (),
    "an unknown command": ("dance", "a.blend"),
    "no output": ("bake", "a.blend"),
    "both outputs": ("bake", "a.blend", "-o", "b", "--in-place"),
    "over the input": ("bake", "a.blend", "-o", "a.blend"),
    "two to one": ("bake", "x/a.blend", "y/a.blend", "-o", "out"),
    "frames that are none": ("bake", "a.blend", "--in-place", "--frames", "5:1"),
    "a miss that is none": ("report", "a.blend", "--max-miss", "nan"),
    "nothing to set": ("set", "a.blend", "--in-place"),
    "an angle that is none": ("set", "a.blend", "--in-place", "--max-angle", "4"),
    "no limb": ("add", "a.blend", "--in-place"),
    "skipping what is written over": ("bake", "a.blend", "--in-place", "--skip-existing"),
    "a folder that is a file": ("bake", "a.blend", "-o", f"{__file__}/"),
}


@pytest.mark.parametrize("words", WRONG.values(), ids=WRONG)
def test_a_wrong_call_ends_with_2_and_one_line(run: Run, words: tuple[str, ...]) -> None:
    code, lines, said = run(*words)
    assert (code, lines) == (2, [])
    assert len(said.strip().splitlines()) == 1


def test_a_file_that_fails_does_not_stop_the_next(run: Run, tmp_path: Path) -> None:
    good = shot(tmp_path / "good.blend")
    (tmp_path / "text.blend").write_text("no file of Blender's")
    (tmp_path / "empty.blend").touch()
    missing = tmp_path / "missing.blend"
    out = tmp_path / "out"
    code, lines, said = run("bake", tmp_path / "text.blend", tmp_path / "empty.blend", missing, good, "-o", out)
    assert code == 1
    assert [Path(line["file"]).name for line in lines] == ["text.blend", "empty.blend", "missing.blend", "good.blend"]
    assert [bool(line.get("error")) for line in lines] == [True, True, True, False]
    assert [path.name for path in out.iterdir()] == ["good.blend"]
    assert sum(line.startswith("planar_ik:") for line in said.splitlines()) == 3


def test_nothing_to_do_is_done(run: Run, tmp_path: Path) -> None:
    source = shot(tmp_path / "plain.blend", "")
    before = source.read_bytes()
    for command in ("bake", "rebuild", "convert", "contacts"):
        code, (line,), _ = run(command, source, "--in-place", "--strict")
        assert (code, line["file"], bool(line["nothing"])) == (0, str(source), True)
    code, (line,), _ = run("report", source)
    assert (code, line["file"], bool(line["nothing"])) == (0, str(source), True)
    assert source.read_bytes() == before
    assert run("bake", source, "-o", tmp_path / "copy.blend")[0] == 0
    assert (tmp_path / "copy.blend").exists()


def test_an_output_that_cannot_be_written_is_not_there(run: Run, tmp_path: Path) -> None:
    source = shot(tmp_path / "in.blend")
    (tmp_path / "file").touch()
    code, lines, said = run("bake", source, "-o", tmp_path / "file" / "out.blend")
    assert (code, [*lines[0]]) == (1, ["command", "file", "error"])
    assert "Traceback" not in said


def test_python_in_files_stays_off_and_that_is_said(run: Run, tmp_path: Path) -> None:
    source = shot(tmp_path / "in.blend")
    text = bpy.data.texts.new("danger.py")
    text.write(f"open({str(tmp_path / 'ran')!r}, 'w')")
    text.use_module = True
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    code, _, said = run("report", source, "--frames", "1")
    assert (code, (tmp_path / "ran").exists()) == (0, False)
    assert "danger.py" in said
    run("report", source, "--frames", "1", "--allow-scripts")
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("bake",),
        ("bake", "--remove"),
        ("rebuild",),
        ("set", "--mode", "RIG"),
        ("add", "forearm.L"),
        ("contacts", "--height", "100", "--speed", "1000"),
    ],
)
@pytest.mark.parametrize("how", ["fault", "disk"])
def test_a_file_is_written_whole_or_not_at_all(addon, run, tmp_path, monkeypatch, command, how) -> None:
    source, output = shot(tmp_path / "shot.blend", "LIVE" if command[0] == "set" else "RIG"), tmp_path / "out.blend"
    if command[0] == "rebuild":
        monkeypatch.setattr(addon("cli.verbs"), "repairs_for", lambda *_: ["REBUILD"])
    before = source.read_bytes()

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("on\npurpose")

    if how == "disk":
        monkeypatch.setattr(addon("cli.shots").os, "replace", fail)
    else:
        places = {"tasks.baking": "_report_of", "rigging.build": "_add_parts", "tasks.contact_markers": "mark_contacts"}
        for module, name in places.items():
            monkeypatch.setattr(addon(module), name, fail)
    options = ["--limb", command[1]] if command[0] == "add" else command[1:]
    for target in (["--in-place"], ["-o", output]):
        code, lines, said = run(command[0], source, *options, *target)
        assert (code, len(lines)) == (addon("cli.arguments").FAILED, 1)
        assert "purpose" in lines[0]["error"]
        *notes, why = said.strip().splitlines()
        assert not [note for note in notes if "Kept " not in note]
        assert str(source) in why
        assert "purpose" in why
    assert source.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["shot.blend"]
