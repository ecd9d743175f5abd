"""The program without a window where the world around it gives out: signals, closed streams, stale folders."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import bpy
import pytest

from scripts import installed
from tests.blender.bake_rigs import make_chain, make_leg
from tests.blender.programs import PROGRAM, forks, make_shot, open_file, others, run, start


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    return make_shot(tmp_path)


def test_a_relative_input_is_the_one_in_the_folder_that_the_program_runs_in(tmp_path):
    """And not the one of the same name in $PWD, which a process keeps when it is started elsewhere."""
    for name, frames in (("right", 7), ("wrong", 9)):
        folder = tmp_path / name
        folder.mkdir()
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        installed.enable()
        make_chain(make_leg())
        bpy.context.scene.frame_end = frames
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    right, wrong = tmp_path / "right" / "shot.blend", tmp_path / "wrong" / "shot.blend"
    before = wrong.read_bytes()
    elsewhere = {"cwd": str(right.parent), "env": {"PWD": str(wrong.parent)}}
    code, lines, err = run("report", "shot.blend", **elsewhere)
    assert (code, lines[0]["file"], lines[0]["frames"]) == (0, str(right), 7), err
    code, lines, err = run("bake", "--in-place", "shot.blend", **elsewhere)
    assert (code, lines[0]["output"]) == (0, str(right)), err
    assert wrong.read_bytes() == before
    assert not open_file(right).pose.bones["shin"].planar_ik.enabled


def holds_back(process: subprocess.Popen, number: int) -> bool:
    """Whether a process has blocked a signal, as the program does in its first lines."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return bool(int(status.partition("SigBlk:")[2].split()[0], 16) >> (number - 1) & 1)


@pytest.mark.parametrize(("number", "after"), [(signal.SIGINT, 0.0), (signal.SIGINT, 0.3), (signal.SIGTERM, 0.3)])
def test_a_signal_while_blender_starts_ends_the_program(shot, tmp_path_factory, number, after):
    folder = tmp_path_factory.mktemp("temporary")
    process = start("bake", "--in-place", shot, env={**os.environ, "TMPDIR": str(folder)})
    while not holds_back(process, number):  # Python itself has not started, which a busy machine takes long for.
        assert process.poll() is None
    time.sleep(after)
    process.send_signal(number)
    out, err = process.communicate(timeout=100)
    assert (process.returncode, out) == (130, ""), err
    assert "Traceback" not in err
    assert others(shot) == set()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_read_blocks_ends_the_program(shot, tmp_path, number):
    pipe = tmp_path / "chains.json"
    os.mkfifo(pipe)
    for words in (("report", pipe), ("add", "--in-place", shot, pipe)):
        errors = tmp_path / "err"
        process = forks().start(*words, stderr=str(errors))
        time.sleep(0.3)
        os.kill(process, number)
        assert forks().end() == 130
        assert "Traceback" not in errors.read_text()


@pytest.mark.parametrize("closed", ["1</dev/null", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_stop_nothing(shot, closed):
    out = shot.with_name("out.blend")
    command = f"exec {sys.executable} {PROGRAM} bake {shot} -o {out} {closed}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert not open_file(out).pose.bones["shin"].planar_ik.enabled
    if closed == "2>&-":
        assert json.loads(done.stdout)["output"] == str(out)


def test_errors_that_nobody_reads_stop_nothing(shot):
    """Neither a file that is missing nor Blender's own words."""
    process = start("bake", shot, shot.with_name("gone.blend"), "-o", shot.with_name("baked"))
    process.stderr.close()
    out = process.stdout.read()
    assert process.wait(100) == 2
    assert json.loads(out)["chain"] == "shin"


def test_what_a_killed_run_left_is_taken_away_by_the_next(shot):
    for left in (".shot.blend.part.blend", ".shot.blend.part.blend1", ".shot.blend.part.blend@", ".shot.blend.lock"):
        shot.with_name(left).write_bytes(shot.read_bytes())
    assert run("bake", "--in-place", shot)[0] == 0
    assert others(shot) == set()


def test_a_lock_whose_file_another_run_replaces_is_not_had(addon, shot, monkeypatch):
    """The run that had it takes its file away as it ends; the next one makes another of the same name."""
    files = installed.addon("addon.cli.files")
    out, others_locks = shot.with_name("out.blend"), []
    lock = files._lock

    def replaced(file):
        lock(file)
        beside = shot.with_name(".out.blend.lock")
        if not others_locks:
            beside.unlink()
            others_locks.append(beside.open("a+b"))
            lock(others_locks[0])

    monkeypatch.setattr(files, "_lock", replaced)
    with pytest.raises(Exception, match="Another run is writing"), files.locked(out):
        pass
    others_locks[0].close()


def test_the_version_is_told(addon, capsys):
    assert installed.addon("addon.cli").main(["--version"]) == 0
    assert capsys.readouterr().out == f"planar_ik 0.1.0 (Blender {bpy.app.version_string})\n"


def test_a_python_without_blender_is_told_what_it_lacks():
    """Without its installed packages, as a person's own Python is."""
    words = [sys.executable, "-S", str(PROGRAM), "report", "shot.blend"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "this Python has no Blender in it" in done.stderr
    assert "Traceback" not in done.stderr
