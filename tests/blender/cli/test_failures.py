"""What the program without a window says of what can't be done, and that it leaves files whole."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import bpy
import pytest

from scripts import installed
from tests.blender.bake_rigs import make_chain, make_leg
from tests.blender.programs import forks, make_shot, open_file, others, run, start


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    return make_shot(tmp_path)


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
        (["--frames", "1:1048574"], "1,048,574 frames are more than the 1,000,000 of one bake"),
        (["--frames", "1:1000000", "--step", "0.01"], "99,999,901 frames are more than"),
        (["--frames", "9:1"], "ends at frame 1, before it starts"),
        (["--in-place"], "give either -o OUT or --in-place"),
        (["b.blend"], "o.blend names a file"),
        (["b.blend", "./a.blend"], "a.blend is given twice"),
        ([""], "a name is empty, as of a variable that is not set"),
        (["--relative-to", ""], "--relative-to: a name is empty"),
        (["-o", ""], "-o/--output: a name is empty"),
        (["--bogus"], "unrecognized arguments: --bogus"),
    ],
)
def test_wrong_arguments_get_a_sentence(addon, capsys, words, sentence):
    assert installed.addon("addon.cli").main(["bake", "a.blend", *words, "-o", "o.blend"]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_end_with_their_own_code_and_leave_nothing(shot, tmp_path_factory, number):
    open_file(shot)
    bpy.context.scene.frame_end = 1_000_000
    bpy.data.objects["target"].constraints.new("LIMIT_LOCATION")  # so that a bake steps every frame
    bpy.ops.wm.save_mainfile()
    before = shot.read_bytes()
    folder = tmp_path_factory.mktemp("temporary")
    process = start("bake", "--in-place", shot, env={**os.environ, "TMPDIR": str(folder)})
    assert any("Read blend" in line for line in iter(process.stderr.readline, ""))
    process.send_signal(number)
    out, err = process.communicate(timeout=100)
    assert (process.returncode, out) == (130, ""), err
    assert "Interrupted" in err
    assert "Traceback" not in err
    assert shot.read_bytes() == before
    assert others(shot) == {"shot.blend1"}
    assert list(folder.iterdir()) == []


def test_a_signal_that_was_heeded_does_not_end_the_next_run(addon):
    interrupt = installed.addon("addon.cli.interrupt")
    with interrupt.interrupts_noted():
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            interrupt.heed()
    with interrupt.interrupts_noted():
        interrupt.heed()


@pytest.mark.parametrize("command", ["bake", "report"])
def test_links_in_a_circle_are_no_file(shot, command):
    loop = shot.with_name("loop.blend")
    loop.symlink_to(loop)
    words = ["-o", shot.with_name("o.blend")] if command == "bake" else []
    code, lines, err = run(command, loop, *words)
    assert (code, lines, "levels of symbolic links" in err, "Traceback" in err) == (2, [], True, False), err


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
    assert (code, lines, out.exists()) == (6, [], False)
    assert "chain 'other:shin' can't be posed: 'shin' has no target" in err
    assert run("bake", shot, "-o", out, "--chain", "other:shin")[:2] == (6, [])
    code, lines, err = run("bake", shot, "-o", out, "--chain", "leg:shin")
    assert (code, len(lines)) == (0, 1), err
    code, lines, _ = run("report", shot)
    assert (code, [line["max_error"] is None for line in lines]) == (0, [False, True])
    assert lines[1]["problem"] == "'shin' has no target"


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
        (shot, "--chain", "leg:t\no\ne"): r"has no chain 'leg:t\no\ne': it has leg:shin",
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


def test_the_last_frames_that_blender_has(shot):
    code, lines, err = run("report", shot, "--frames", "1048570:1048574")
    assert (code, lines[0]["frames"], lines[0]["way"]) == (0, 5, "curves"), err


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


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        (0o500, ["bake", "SHOT", "-o", "closed/out.blend"]),
        (0o500, ["bake", "SHOT", "-o", "closed"]),
        (0o000, ["bake", "SHOT", "-o", "closed/out.blend"]),
        (0o000, ["bake", "SHOT", "-o", "closed/deeper/"]),
        (0o000, ["report", "closed/shot.blend"]),
    ],
)
def test_folders_that_may_not_be_written_to_or_entered(shot, mode, words):
    closed = shot.with_name("closed")
    closed.mkdir(mode)
    given = [word.replace("SHOT", shot.name) for word in words]
    code, lines, err = run(*given, cwd=str(shot.parent), unprivileged=True)
    closed.chmod(0o700)
    assert (code, lines) == (2 if words[0] == "report" else 4, []), err
    assert ": Permission denied" in err
    assert "Traceback" not in err
    assert list(closed.iterdir()) == []


def test_a_name_too_long_for_what_is_written_beside_it(shot):
    code, lines, err = run("bake", shot, "-o", shot.with_name(f"{'x' * 240}.blend"))
    assert (code, lines) == (4, []), err
    assert "File name too long" in err
    assert "Traceback" not in err
    assert others(shot) == set()


def test_a_full_disk_leaves_the_old_file(shot):
    before = shot.read_bytes()
    code, lines, err = run("bake", "--in-place", shot, space=len(before) // 2)
    assert (code, lines) == (4, []), err
    assert "can't be written" in err
    assert "MB are free there" in err
    assert shot.read_bytes() == before
    assert others(shot) == set()


def test_a_full_disk_is_not_called_a_missing_file(addon, tmp_path):
    """Blender's error for a small tmpfs, in all versions."""
    not_written = installed.addon("addon.cli.files").not_written
    sentence = str(not_written(tmp_path / "out.blend", RuntimeError("Error: No such file or directory\n")))
    assert "No such file" not in sentence
    assert "disk is full" in sentence


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_answer_that_can_not_be_written_gets_a_sentence(shot):
    code, _, err = run("report", shot, stdout="/dev/full")
    assert code == 4
    assert "Standard output can't be written to: No space left on device" in err
    assert "Traceback" not in err


def test_an_answer_that_nobody_reads_on_stops_nothing(shot):
    second = shot.with_name("second.blend")
    second.write_bytes(shot.read_bytes())
    code, _, err = run("bake", shot, second, "-o", shot.with_name("baked"), unread=True)
    assert code == 0, err
    assert {path.name for path in shot.with_name("baked").iterdir()} == {"shot.blend", "second.blend"}


def test_two_runs_on_the_same_output(shot):
    import fcntl

    with shot.with_name(".out.blend.lock").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        code, _, err = run("bake", shot, "-o", shot.with_name("out.blend"))
    assert code == 4
    assert "Another run is writing" in err


def test_killed_at_any_moment_the_old_file_is_whole(shot):
    """Killed 50 times, by turns at a random moment of the run and of its end: the file is the old or the new one."""
    chance = random.Random(4)
    program = forks()
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
    assert not [name for name in others(shot) if name.endswith((".lock", ".part.blend"))]


@pytest.mark.parametrize("compress", [False, True])
def test_a_file_that_was_cut_short_is_told_from_a_whole_one(addon, tmp_path, compress):
    files = installed.addon("addon.cli.files")
    path = tmp_path / "a.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=compress)
    assert files.is_whole(path)
    for share in (0.1, 0.5, 0.99):
        (tmp_path / "cut.blend").write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
        assert not files.is_whole(tmp_path / "cut.blend")
