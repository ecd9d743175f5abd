"""What the program without a window does: other processes, real files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import bpy
import pytest

from scripts import installed
from tests.blender.bake_rigs import channel, make_chain, make_leg, motion
from tests.blender.programs import make_shot, open_file, others, run, start

FRAMES = range(1, 25)


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    return make_shot(tmp_path)


def test_bake_writes_a_file_that_plays_the_same_without_the_chain(shot):
    wanted = motion(open_file(shot), FRAMES)
    before = shot.read_bytes()
    out = shot.with_name("out.blend")
    code, lines, err = run("bake", shot, "-o", out)
    assert (code, len(lines)) == (0, 1), err
    assert (lines[0]["chain"], lines[0]["frames"]) == ("shin", 24)
    assert 0 < lines[0]["unreached"] < 24
    assert lines[0]["max_error"] > 0.1
    assert lines[0]["seconds"] > 0
    assert shot.read_bytes() == before
    assert others(shot) == {"out.blend"}
    ob = open_file(out)
    bpy.context.scene.planar_ik.live = False
    assert abs(motion(ob, FRAMES) - wanted).max() < 2e-6


def test_it_leaves_no_temporary_files(shot, tmp_path_factory):
    """A farm starts it a thousand times a day, and it leaves before Blender cleans up."""
    folder = tmp_path_factory.mktemp("temporary")
    process = start("report", shot, env={**os.environ, "TMPDIR": str(folder)})
    process.communicate(timeout=100)
    assert process.returncode == 0
    assert list(folder.iterdir()) == []


def test_in_place(shot):
    code, lines, _ = run("bake", "--in-place", "--frames", "3:9", "--step", "0.5", shot)
    assert (code, lines[0]["frames"]) == (0, 13)
    assert others(shot) == set()
    assert not open_file(shot).pose.bones["shin"].planar_ik.enabled


def test_a_bake_for_games_keys_whole_rigs_and_tells_what_it_leaves_out(shot):
    ob = open_file(shot)
    ob.pose.bones["hip"].scale = (1.5, 1.5, 1.5)
    bpy.ops.wm.save_mainfile()
    out = shot.with_name("out.blend")
    code, lines, err = run("bake", shot, "-o", out, "--for", "game")
    told = "The scale of 'hip' in 'leg' is left out: games get it at 1"
    assert (code, lines[0]["warnings"][0], lines[0]["keys_after"]) == (0, told, 24)
    assert f"{shot}: {told}" in err
    assert len(channel(open_file(out), "hip", "location")) == 24
    code, lines, err = run("bake", shot, "-o", out, "--for", "game", "--tolerance", "0.1")
    assert (code, lines) == (2, [])
    assert "leave out keep and tolerance" in err


def test_report_tells_the_reach_of_every_frame_and_changes_nothing(shot):
    before = shot.read_bytes()
    code, lines, _ = run("report", shot)
    assert code == 0
    runs = lines[0]["reach"]
    assert (runs[0]["from"], runs[-1]["to"]) == (1.0, 24.0)
    assert sum(part["to"] - part["from"] + 1 for part in runs if part["is"] != "REACHED") == lines[0]["unreached"]
    assert shot.read_bytes() == before


def test_several_files_and_one_that_is_missing(shot):
    second = shot.with_name("second.blend")
    second.write_bytes(shot.read_bytes())
    code, lines, err = run("bake", shot, shot.with_name("gone.blend"), second, "-o", shot.with_name("baked"))
    assert code == 2
    assert [Path(line["output"]).name for line in lines] == ["shot.blend", "second.blend"]
    assert "gone.blend does not exist" in err


def test_files_of_the_same_name(shot, tmp_path):
    """One would be written over the other, unless the output gets the folders of the inputs."""
    same = [tmp_path / "sq1" / "shot.blend", tmp_path / "sq2" / "shot.blend"]
    for path in same:
        path.parent.mkdir()
        path.write_bytes(shot.read_bytes())
    out = tmp_path / "out"
    code, lines, err = run("bake", *same, "-o", out)
    assert (code, lines, out.exists()) == (2, [], False)
    assert "would be written to the same file" in err
    code, lines, err = run("bake", *same, "-o", out, "--relative-to", tmp_path)
    assert code == 0, err
    assert [line["output"] for line in lines] == [str(out / "sq1" / "shot.blend"), str(out / "sq2" / "shot.blend")]
    assert all(Path(line["output"]).exists() for line in lines)
    code, _, err = run("bake", *same, "-o", out, "--relative-to", tmp_path / "sq1")
    assert code == 2
    assert f"{same[1]} is not in {tmp_path / 'sq1'}" in err


def test_an_output_that_is_no_blend_file_is_a_folder(shot):
    code, lines, err = run("bake", shot, "-o", shot.with_name("baked"))
    assert (code, lines[0]["output"]) == (0, str(shot.parent / "baked" / "shot.blend")), err


def test_links_and_images_are_found_from_another_folder(tmp_path):
    """What the shot names relative to itself, the output names relative to itself."""
    shots = tmp_path / "shots"
    shots.mkdir()
    (tmp_path / "lib").mkdir()
    prop = bpy.data.objects.new("prop", None)
    bpy.data.libraries.write(str(tmp_path / "lib" / "prop.blend"), {prop})
    bpy.data.objects.remove(prop)
    image = bpy.data.images.new("skin", 2, 2)
    image.filepath_raw = str(tmp_path / "lib" / "skin.png")
    image.save()
    make_chain(make_leg())
    bpy.ops.wm.save_as_mainfile(filepath=str(shots / "a.blend"))
    with bpy.data.libraries.load("//../lib/prop.blend", link=True, relative=True) as (_, linked):
        linked.objects = ["prop"]
    bpy.context.scene.collection.objects.link(linked.objects[0])
    image.source, image.filepath, image.use_fake_user = "FILE", "//../lib/skin.png", True
    bpy.ops.wm.save_mainfile()
    out = tmp_path / "farm" / "baked" / "deep" / "a.blend"
    code, _, err = run("bake", shots / "a.blend", "-o", out)
    assert code == 0, err
    open_file(out)
    assert bpy.data.images["skin"].filepath.startswith("//")
    assert Path(bpy.path.abspath(bpy.data.images["skin"].filepath)).resolve() == tmp_path / "lib" / "skin.png"
    assert Path(bpy.path.abspath(bpy.data.libraries[0].filepath)).resolve() == tmp_path / "lib" / "prop.blend"


def test_skip_existing_compares_content(shot):
    out = shot.with_name("out.blend")
    words = ("bake", shot, "-o", out, "--skip-existing")
    _, first, _ = run(*words)
    assert "skipped" not in first[0]
    written = out.stat().st_mtime_ns
    os.utime(shot)
    code, again, _ = run(*words)
    assert (code, again) == (0, [{**first[0], "skipped": True}])
    assert out.stat().st_mtime_ns == written
    note = shot.parent / ".out.blend.planar_ik.json"
    kept = json.loads(note.read_text())
    kept["options"].pop("planar_ik")  # as if another version had made it
    note.write_text(json.dumps(kept))
    assert "skipped" not in run(*words)[1][0]
    assert "skipped" not in run(*words, "--step", 2)[1][0]
    (shot.parent / ".out.blend.planar_ik.json.part").mkdir()
    code, _, err = run(*words, "--step", 3)
    assert code == 4
    assert ".out.blend.planar_ik.json can't be written" in err
    (shot.parent / ".out.blend.planar_ik.json.part").rmdir()
    out.write_bytes(out.read_bytes() + b" ")
    assert "skipped" not in run(*words)[1][0]
    open_file(shot).pose.bones["shin"].planar_ik.bend = -1
    bpy.ops.wm.save_mainfile()
    assert "skipped" not in run(*words)[1][0]


def test_help_says_what_the_exit_codes_mean():
    process = start("bake", "--help")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "--max-unreached" in out
    assert "exit codes:" in out


def test_help_that_nobody_reads_is_no_failure():
    process = start("--help")
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in err) == (0, False), err


def test_it_is_a_command_of_blender(addon):
    assert bpy.utils.register_cli_command
    cli = installed.addon("addon.cli")
    assert cli.main(["report", "/nowhere.blend"]) == 2
