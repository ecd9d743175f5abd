"""The farm's job template, run by the program that Open Job Description has for this machine."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import bpy
import pytest
from mathutils import Vector

from scripts.package import ROOT
from tests.blender import pages, rigs

OPENJD = Path(sys.executable).with_name("openjd")

pytestmark = pytest.mark.skipif(not OPENJD.exists(), reason="openjd-cli is installed beside Blender 4.5 only")

NAMES = ("a walk.blend", "-run.blend", "it's $HOME.blend")


def write_shot(path: Path) -> None:
    """A leg whose foot goes up, as a person saves it."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    rig = rigs.biped()
    target = rigs.empty("target")
    rig.pose.bones["shin.L"].planar_ik.target = target
    for frame in (1, 10):
        target.location = Vector((0.1, -0.2, 0.1 + 0.03 * frame))
        target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = 10
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def submit(folder: Path, **parameters: object) -> subprocess.CompletedProcess[str]:
    """Run the template on the shots of a folder, by the command that its guide shows, with other parameters."""
    (line,) = pages.lines("openjd")
    line = line.replace("$PWD", str(ROOT)).replace("=/shots", f"={folder}").replace("=/baked", f"={folder}/baked")
    program, *words = shlex.split(line.replace('"python ', f'"{sys.executable} '))
    for name, value in parameters.items():
        words = [word for word in words if not word.startswith(f"{name}=")]
        words += ["--job-param", f"{name}={value}"]
    words = [word for word, after in pairwise([*words, ""]) if word != "--job-param" or "=" in after]
    user = {name: value for name, value in os.environ.items() if name != "BLENDER_USER_RESOURCES"}
    call = [str(OPENJD.with_name(program)), *words]
    return subprocess.run(call, cwd=ROOT, env=user, check=False, capture_output=True, text=True, timeout=100)


def test_the_guides_list_of_shots(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).touch()
    (line,) = pages.lines("list")
    subprocess.run(["bash", "-c", line.replace("/shots", str(tmp_path))], check=True)
    assert sorted((tmp_path / "shots.txt").read_text().splitlines()) == sorted(NAMES)


def test_a_job_bakes_every_shot(tmp_path: Path) -> None:
    for name in NAMES:
        write_shot(tmp_path / name)
    (tmp_path / "shots.txt").write_text("\r\n".join(NAMES) + "\n\n")
    done = submit(tmp_path, Chunk=2, Tasks=2, Options="--strict --remove")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in (tmp_path / "baked").iterdir()) == sorted(NAMES)
    for name in NAMES:
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "baked" / name))
        rig = bpy.data.objects["rig"]
        assert not rig.pose.bones["shin.L"].planar_ik.enabled
        for frame in (1, 4, 10):
            bpy.context.scene.frame_set(frame)
            assert (rigs.place(rig, "foot.L") - bpy.data.objects["target"].matrix_world.translation).length < 1e-4


def test_a_job_fails_with_a_shot(tmp_path: Path) -> None:
    write_shot(tmp_path / NAMES[0])
    (tmp_path / "shots.txt").write_text(f"no such.blend\n{NAMES[0]}\n")
    assert submit(tmp_path, Tasks=1).returncode != 0
    assert (tmp_path / "baked" / NAMES[0]).exists()


def test_too_few_tasks_are_told(tmp_path: Path) -> None:
    (tmp_path / "shots.txt").write_text("one.blend\ntwo.blend\nthree.blend\n")
    done = submit(tmp_path, Chunk=1, Tasks=2)
    assert done.returncode != 0
    assert not (tmp_path / "baked").exists()
