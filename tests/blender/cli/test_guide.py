"""Every command that the pages show runs as it stands there, and every key that it answers is in the farm's guide."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import bpy
import pytest

from scripts.package import ROOT
from tests.blender import pages, rigs
from tests.blender.cli.shots import constrained, linked, shot

CALLS = [line.removeprefix("blender --command planar_ik ") for line in pages.lines("planar_ik")]


def make_files(folder: Path, command: str) -> None:
    """The files that the guide's commands name, so that each has something to do."""
    for name in ("shots", "rigs", "captures", "walks"):
        (folder / name).mkdir()
    animated = shot(folder / "hero.blend").read_bytes()
    for name in ("shots/a.blend", "captures/a.blend", "walks/a.blend", "walk.blend", "SHOT.blend"):
        (folder / name).write_bytes(animated)
    linked(shot(folder / "library.blend"), folder / "shot.blend", True)
    rig = folder / "rigs" / "a.blend"
    if command == "convert":
        constrained(rig)
        return
    shot(rig, {"add": "", "set": "LIVE"}.get(command, "RIG"))
    for name, place in (("hand_ik.L", (0.6, 0, 1.3)), ("hand_ik.R", (-0.6, 0, 1.3))):
        rigs.empty(name, place)
    if command == "rebuild":
        ob = bpy.data.objects["rig"]
        rigs.activate(ob, "EDIT")
        ob.data.edit_bones["shin.L"].head.y -= 0.05
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(rig))


@pytest.mark.parametrize("call", CALLS)
def test_a_command_runs(run, tmp_path, monkeypatch, call) -> None:
    words = [word for word in shlex.split(call) if word != "..."]
    make_files(tmp_path, words[0])
    monkeypatch.chdir(tmp_path)
    expanded = [str(path) for word in words for path in sorted(tmp_path.glob(word)) if "/*" in word]
    words = [word for word in words if "/*" not in word]
    code, lines, said = run(words[0], *expanded, *words[1:])
    assert code == (3 if "--strict" in words else 0), said  # its last frame is out of reach
    assert lines, said
    table = (ROOT / "docs" / "farm.md").read_text()
    assert not [key for line in lines for key in line if f"`{key}`" not in table]
    assert words[0] == "hold" or not any("error" in line for line in lines), said


def test_the_guide_has_every_command(addon) -> None:
    commands = {*addon("cli.arguments").VERBS}
    assert {call.split()[0] for call in CALLS} == commands
    assert {line.split()[1] for line in pages.lines("named")} <= commands


def test_options_are_those_of_the_commands(addon, capsys) -> None:
    for command in addon("cli.arguments").VERBS:
        addon("cli").main([command, "--help"])
    known = {*re.findall(r"(?<![\w-])--?[a-z][a-z-]*", capsys.readouterr().out)}
    named = {word for _, span in pages.spans() for word in span.split() if re.fullmatch("--?[a-z][a-z-]*", word)}
    assert named - {"--command", "-m", "-k"} <= known
