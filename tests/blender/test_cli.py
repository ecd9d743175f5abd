"""The program without a window, as a studio runs it: other processes, real files, exit codes."""

from __future__ import annotations

import json
import math
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import bpy
import pytest
from mathutils import Quaternion

from tests.blender.test_bake import make_chain, make_leg, motion

PROGRAM = Path(__file__).resolve().parents[2] / "scripts" / "bake.py"
FRAMES = range(1, 25)


def start(*words: Any, **options: Any) -> subprocess.Popen:
    command = [sys.executable, str(PROGRAM), *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, **pipes | options)


def run(*words: Any, **options: Any) -> tuple[int, list[dict[str, Any]], str]:
    """Exit code, the lines of standard output, standard error."""
    process = start(*words, **options)
    out, err = process.communicate(timeout=100)
    return process.returncode, [json.loads(line) for line in out.splitlines()], err


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    """A file with a leg whose target circles it, half of the time out of reach."""
    make_chain(make_leg())
    bpy.context.scene.frame_end = 24
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def open_file(path: Path) -> Any:
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects["leg"]


def others(path: Path) -> set[str]:
    """What is in the folder besides."""
    return {file.name for file in path.parent.iterdir()} - {path.name}


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
    assert run("report", shot, env={**os.environ, "TMPDIR": str(folder)})[0] == 0
    assert list(folder.iterdir()) == []


def test_in_place(shot):
    code, lines, _ = run("bake", "--in-place", "--frames", "3:9", "--step", "0.5", shot)
    assert (code, lines[0]["frames"]) == (0, 13)
    assert others(shot) == set()
    assert not open_file(shot).pose.bones["shin"].planar_ik.enabled


def test_report_tells_the_reach_of_every_frame_and_changes_nothing(shot):
    before = shot.read_bytes()
    code, lines, _ = run("report", shot)
    assert code == 0
    runs = lines[0]["reach"]
    assert (runs[0]["from"], runs[-1]["to"]) == (1.0, 24.0)
    assert sum(part["to"] - part["from"] + 1 for part in runs if part["is"] != "REACHED") == lines[0]["unreached"]
    assert shot.read_bytes() == before


@pytest.mark.parametrize("form", ["json", "toml"])
def test_add_puts_chains_on_limbs(tmp_path, form):
    ob = make_leg()
    ob.pose.bones["thigh"].rotation_quaternion = (0.9, 0.2, 0.0, 0.1)
    wanted = motion(ob, [1])
    shot = tmp_path / "rig.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    description = tmp_path / f"chains.{form}"
    if form == "json":
        chains = [{"object": "leg", "bone": "shin", "plane": "POLE", "softness": 0.0}]
        description.write_text(json.dumps({"chains": chains}), encoding="utf-8-sig")
    else:
        description.write_text('[[chains]]\nobject = "leg"\nbone = "shin"\nplane = "POLE"\n')
    code, lines, err = run("add", shot, description, "-o", tmp_path / "out.blend")
    assert (code, lines[0]["target"]) == (0, "target_shin"), err
    ob = open_file(tmp_path / "out.blend")
    assert ob.pose.bones["shin"].planar_ik.enabled
    assert abs(motion(ob, [1]) - wanted).max() < 1e-5


@pytest.mark.parametrize("plane", [{}, {"plane": "POLE"}])
@pytest.mark.parametrize("posed", ["to the other side", "out of its plane"])
def test_add_moves_no_limb_however_it_is_posed(tmp_path, posed, plane):
    ob = make_leg()
    thigh, shin = ob.pose.bones["thigh"], ob.pose.bones["shin"]
    if posed == "out of its plane":
        thigh.rotation_quaternion = (0.9, 0.2, 0.0, 0.1)
    else:
        hinge = shin.vector.cross(thigh.vector)
        shin.rotation_quaternion = Quaternion(shin.bone.matrix_local.to_3x3().inverted() @ hinge, 0.8)
    wanted = motion(ob, [1])
    shot = tmp_path / "rig.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    chains = [{"object": "leg", "bone": "shin", **plane}]
    (tmp_path / "chains.json").write_text(json.dumps({"chains": chains}))
    code, _, err = run("add", "--in-place", shot, tmp_path / "chains.json")
    assert code == 0, err
    assert abs(motion(open_file(shot), [1]) - wanted).max() < 1e-5


@pytest.mark.parametrize(
    ("chain", "sentence"),
    [
        ({"object": "leg", "bone": "toe"}, "'leg' has no bone 'toe'"),
        ({"object": "nobody", "bone": "shin"}, "no object 'nobody'"),
        ({"object": "leg", "bone": "shin", "colour": 1}, "'colour', which is no setting"),
        ({"object": "leg"}, "no 'bone'"),
        ({"object": 5, "bone": "shin"}, "chain 1 has object = 5: it has to be a name in quotes"),
        ({"object": "leg", "bone": "shin", "plane": "pole"}, "plane = 'pole': it has to be one of REST, POLE"),
        ({"object": "leg", "bone": "shin", "softness": 7}, "softness = 7: it has to be a number from 0 to 1"),
        ({"object": "leg", "bone": "shin", "stretch": math.nan}, "stretch = nan: it has to be a number from 0 to 1"),
        ({"object": "leg", "bone": "shin", "stretch": True}, "stretch = True: it has to be a number"),
        ({"object": "leg", "bone": "shin", "stretch_max": 0.5}, "stretch_max = 0.5: it has to be a number from 1 on"),
        ({"object": "leg", "bone": "shin", "max_angle": 90}, "a number from 0 to 3.14159, in radians"),
        ({"object": "leg", "bone": "shin", "subtarget": "hand"}, "there is no 'target' that it is a bone of"),
        ({"object": "leg", "bone": "shin", "target": "prop", "subtarget": "hand"}, "'prop' has no bone 'hand'"),
    ],
)
def test_add_refuses_with_a_sentence_and_writes_nothing(tmp_path, chain, sentence):
    make_leg()
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("prop", None))
    shot = tmp_path / "rig.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    (tmp_path / "chains.json").write_text(json.dumps({"chains": [chain]}))
    code, lines, err = run("add", shot, tmp_path / "chains.json", "-o", tmp_path / "out.blend")
    assert (code, lines) == (2, [])
    assert sentence in err
    assert "Traceback" not in err
    assert not (tmp_path / "out.blend").exists()


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


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--step", "0"], "0 is not a number from 0.01 on"),
        (["--step", "nan"], "nan is not a number from 0.01 on"),
        (["--tolerance", "-1"], "-1 is not a number from 0 on"),
        (["--tolerance", "inf"], "inf is not a number from 0 on"),
        (["--max-unreached=-1"], "-1 is not a number of frames"),
        (["--frames", "nan:inf"], "Blender's frames go from -1048574 to 1048574"),
        (["--frames", "1:1e9"], "Blender's frames go from -1048574 to 1048574"),
        (["--in-place"], "give either -o OUT or --in-place"),
        (["b.blend"], "-o has to be a folder here, and o.blend names a file"),
    ],
)
def test_wrong_arguments_get_a_sentence(addon, capsys, words, sentence):
    from scripts import installed

    assert installed.addon("addon.cli").main(["bake", "a.blend", *words, "-o", "o.blend"]) == 2
    assert sentence in capsys.readouterr().err


def test_ctrl_c_ends_with_its_own_code_and_leaves_nothing(shot):
    open_file(shot)
    bpy.context.scene.frame_end = 1_000_000
    bpy.data.objects["target"].constraints.new("LIMIT_LOCATION")  # so that a bake steps every frame
    bpy.ops.wm.save_mainfile()
    before = shot.read_bytes()
    process = start("bake", "--in-place", shot)
    while "Read blend" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=100)
    assert (process.returncode, out) == (130, ""), err
    assert "Interrupted" in err
    assert "Traceback" not in err
    assert shot.read_bytes() == before
    assert others(shot) == {"shot.blend1"}


def test_max_unreached_ends_with_its_own_code_and_writes_nothing(shot):
    out = shot.with_name("out.blend")
    code, lines, err = run("bake", shot, "-o", out, "--max-unreached", 2)
    assert (code, lines, out.exists()) == (3, [], False)
    assert "'leg:shin' does not reach its target" in err


def test_a_chain_that_can_not_be_baked_is_no_success(shot):
    """Else the shot would play without it where the extension is not installed, and nobody would know."""
    make_chain(make_leg("other")).target = None
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    out = shot.with_name("out.blend")
    code, lines, err = run("bake", shot, "-o", out)
    assert (code, lines, out.exists()) == (2, [], False)
    assert "chain 'other:shin' can't be baked, so nothing was written: 'shin' has no target" in err
    code, lines, err = run("bake", shot, "-o", out, "--chain", "leg:shin")
    assert (code, len(lines)) == (0, 1), err
    code, lines, _ = run("report", shot)
    assert (code, [line["max_error"] is None for line in lines]) == (0, [False, True])
    assert lines[1]["problem"] == "'shin' has no target"


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


def test_bad_input_gets_a_sentence_and_a_code(shot, tmp_path):
    text = tmp_path / "notes.blend"
    text.write_text("not a blend file")
    cut = tmp_path / "cut.blend"
    cut.write_bytes(shot.read_bytes()[:200])
    cases = {
        (text,): "is not a .blend file",
        (cut,): "can't be opened",
        (tmp_path,): "can't be read",
        (shot, "--chain", "leg:toe"): "has no chain 'leg:toe': it has leg:shin",
        (shot, "--frames", "9:1"): "ends at frame 1, before it starts",
        (shot, "--frames", "all"): "is not START:END",
    }
    for words, sentence in cases.items():
        code, lines, err = run("bake", *words, "-o", tmp_path / "out" / "x.blend")
        assert (code, lines) == (2, []), err
        assert sentence in err
        assert "Traceback" not in err
    assert run("bake", shot)[0] == 2
    assert "would be written over" in run("bake", shot, "-o", shot)[2]


def test_a_file_without_a_chain(tmp_path):
    make_leg()
    shot = tmp_path / "bare.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    code, _, err = run("report", shot)
    assert code == 2
    assert "bare.blend has no chain in its scene 'Scene'" in err


def test_a_file_from_a_newer_blender(shot):
    bpy.ops.wm.save_as_mainfile(filepath=str(shot), compress=False)
    content = shot.read_bytes()
    major, minor = bpy.app.version[:2]
    old, new = f"{major}{minor:02}".encode(), f"{major}{minor + 1:02}".encode()
    at = content.index(old, 0, 20)
    shot.write_bytes(content[:at] + new + content[at + len(old) :])
    code, _, err = run("bake", "--in-place", shot)
    assert code == 2
    assert f"was saved by Blender {major}.{minor + 1}, which is newer than this one" in err


def test_a_read_only_file_is_not_written_over(shot):
    shot.chmod(0o444)
    before = shot.read_bytes()
    code, _, err = run("bake", "--in-place", shot)
    assert code == 4
    assert "is read-only" in err
    assert shot.read_bytes() == before


def test_a_full_disk_leaves_the_old_file(shot):
    before = shot.read_bytes()
    limit = len(before) // 2
    code, lines, err = run(
        "bake", "--in-place", shot, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    assert (code, lines) == (4, []), err
    assert "can't be written" in err
    assert "MB are free there" in err
    assert shot.read_bytes() == before
    assert others(shot) == set()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_answer_that_can_not_be_written_gets_a_sentence(shot):
    with Path("/dev/full").open("w") as full:
        process = start("report", shot, stdout=full)
        _, err = process.communicate(timeout=100)
    assert process.returncode == 4
    assert "Standard output can't be written to: No space left on device" in err
    assert "Traceback" not in err


def test_an_answer_that_nobody_reads_on_stops_nothing(shot):
    second = shot.with_name("second.blend")
    second.write_bytes(shot.read_bytes())
    process = start("bake", shot, second, "-o", shot.with_name("baked"))
    process.stdout.close()
    _, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    assert {path.name for path in shot.with_name("baked").iterdir()} == {"shot.blend", "second.blend"}


def test_two_runs_on_the_same_output(shot):
    import fcntl

    with shot.with_name(".out.blend.lock").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        code, _, err = run("bake", shot, "-o", shot.with_name("out.blend"))
    assert code == 4
    assert "Another run is writing" in err


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
    assert (process.returncode, err) == (0, "")


def test_it_is_a_command_of_blender(addon):
    assert bpy.utils.register_cli_command
    from scripts import installed

    cli = installed.addon("addon.cli")
    assert cli.main(["report", "/nowhere.blend"]) == 2


class Forks:
    """The program as processes that can be killed, one at a time, without starting Blender for each."""

    def __init__(self) -> None:
        script = str(Path(__file__).with_name("forked.py"))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._parent = subprocess.Popen([sys.executable, script], text=True, **pipes)

    def start(self, *words: Any) -> int:
        """The number of the process; it stays that process's until it is ended."""
        return int(self._ask(json.dumps([str(word) for word in words])))

    def end(self) -> int:
        """Wait for the process, and give its exit status."""
        return int(self._ask(""))

    def close(self) -> None:
        self._parent.communicate()

    def _ask(self, line: str) -> str:
        self._parent.stdin.write(f"{line}\n")
        self._parent.stdin.flush()
        return self._parent.stdout.readline()


def test_killed_at_any_moment_the_old_file_is_whole(shot):
    """Killed 50 times, by turns at a random moment of the run and of its end: the file is the old or the new one."""
    chance = random.Random(4)
    program = Forks()
    for _ in range(2):  # The first one also waits for Blender to start.
        began = time.perf_counter()
        program.start("bake", shot, "-o", shot.with_name("whole.blend"))
        assert program.end() == 0
    lasts = time.perf_counter() - began
    old, unfinished = shot.read_bytes(), shot.with_name(".shot.blend.part.blend")
    for attempt in range(50):
        unfinished.unlink(missing_ok=True)
        inode = shot.stat().st_ino
        process = program.start("bake", "--in-place", shot)
        is_late = attempt % 2
        while is_late and not unfinished.exists() and shot.stat().st_ino == inode:
            pass  # The writing has not begun.
        time.sleep(lasts * chance.uniform(0.0, 0.2 if is_late else 1.1))
        os.kill(process, signal.SIGKILL)
        program.end()
        if shot.read_bytes() != old:
            assert not open_file(shot).pose.bones["shin"].planar_ik.enabled
            shot.write_bytes(old)
    program.start("bake", "--in-place", shot)
    assert program.end() == 0
    program.close()
    assert not [name for name in others(shot) if name.endswith((".lock", ".part.blend"))]


@pytest.mark.parametrize("compress", [False, True])
def test_a_file_that_was_cut_short_is_told_from_a_whole_one(addon, tmp_path, compress):
    from scripts import installed

    files = installed.addon("addon.cli.files")
    path = tmp_path / "a.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=compress)
    assert files.is_whole(path)
    for share in (0.1, 0.5, 0.99):
        (tmp_path / "cut.blend").write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
        assert not files.is_whole(tmp_path / "cut.blend")
