"""Every command of the farm's guide runs as it stands there, and every key that it answers is in its table."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import bpy
import pytest

from scripts.package import ROOT
from tests.blender import rigs
from tests.blender.cli.shots import constrained, linked, shot

PAGES = (ROOT / "README.md", ROOT / "docs" / "farm.md")
CALLS = {
    line.split("#")[0].strip()
    for page in PAGES
    for line in re.findall(r"(?m)^blender --command planar_ik (.+)$", page.read_text())
}


def make_files(folder: Path, command: str) -> None:
    """The files that the guide's commands name, so that each has something to do."""
    (folder / "shots").mkdir()
    (folder / "rigs").mkdir()
    (folder / "captures").mkdir()
    shot(folder / "shots" / "a.blend")
    shot(folder / "hero.blend")
    shot(folder / "captures" / "a.blend")
    shot(folder / "walk.blend")
    linked(shot(folder / "library.blend"), folder / "shot.blend", True)
    rig = folder / "rigs" / "a.blend"
    if command == "convert":
        constrained(rig)
        return
    shot(rig, {"add": "", "to-rig": "LIVE"}.get(command, "RIG"))
    for name, place in (("hand_ik.L", (0.6, 0, 1.3)), ("hand_ik.R", (-0.6, 0, 1.3))):
        target = bpy.data.objects.new(name, None)
        target.location = place
        bpy.context.collection.objects.link(target)
    if command == "rebuild":
        ob = bpy.data.objects["rig"]
        rigs.activate(ob, "EDIT")
        ob.data.edit_bones["shin.L"].head.y -= 0.05
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(rig))


@pytest.mark.parametrize("call", sorted(CALLS))
def test_a_command_of_the_guide_runs(run, tmp_path, monkeypatch, call) -> None:
    words = shlex.split(call)
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
    assert {call.split()[0] for call in CALLS} == {*addon("cli.arguments").DOES}
