"""The job template, checked and run by Open Job Description's own tool on real files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import bpy
import pytest

from tests.blender.test_bake import make_chain, make_leg

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "scripts" / "farm" / "bake.yaml"

pytest.importorskip("openjd.cli", reason="openjd-cli is not in this environment")


def openjd(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "openjd", *words], capture_output=True, text=True, timeout=110, check=False
    )


def test_the_template_is_valid():
    checked = openjd("check", str(TEMPLATE))
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_it_bakes_every_shot_of_a_list_and_runs_again(tmp_path):
    make_chain(make_leg())
    bpy.context.scene.frame_end = 10
    names = ["one.blend", "two shots.blend", "three.blend"]
    for name in names:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / name))
    (tmp_path / "shots.txt").write_text("\n".join(names) + "\n")
    parameters = {
        "ShotFolder": tmp_path,
        "ShotList": tmp_path / "shots.txt",
        "OutputFolder": tmp_path / "out",
        "Chunk": 2,
        "Tasks": 2,
        "Command": f"{sys.executable} {ROOT / 'scripts' / 'bake.py'}",
    }
    words = ["run", str(TEMPLATE), "--step", "Bake"]
    for name, value in parameters.items():
        words += ["--job-param", f"{name}={value}"]
    for skipped in (0, 3):
        done = openjd(*words)
        said = done.stdout + done.stderr
        assert done.returncode == 0, said
        assert said.count('"skipped": true') == skipped
    assert sorted(path.name for path in (tmp_path / "out").glob("[!.]*")) == sorted(names)
