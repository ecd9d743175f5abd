"""``report_on_file`` says how far feet slide, ``contacts_in_file`` when they stand; ``hold`` and ``plant`` plant
them."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from tests.blender import walk
from tests.blender.cli.shots import Run, linked, shot


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("captured")


@pytest.fixture
def source(folder: Path, tmp_path: Path) -> Path:
    """A walk of a capture whose feet slide in every step, with IK on its legs."""
    built, path = folder / "walk.blend", tmp_path / "walk.blend"
    if not built.exists():
        rig = walk.build()
        walk.spoil(rig)
        walk.add_legs(rig)
        bpy.ops.wm.save_as_mainfile(filepath=str(built))
    path.write_bytes(built.read_bytes())
    return path


def markers(path: Path) -> set[tuple[str, int]]:
    bpy.ops.wm.open_mainfile(filepath=str(path))
    found = set()
    for marker in bpy.context.scene.timeline_markers:
        *others, last = marker.name.split(" + ")
        foot, _, words = last.partition(" ")
        found |= {(f"{each} {words}".strip(), marker.frame) for each in (*others, foot)}
    return found


def test_a_capture_is_cleaned(run: Run, source: Path, tmp_path: Path) -> None:
    marked, held = tmp_path / "marked.blend", tmp_path / "held.blend"
    before = source.read_bytes()
    code, reported, _ = run("report", source)
    assert code == 0
    for line in reported:
        assert len(line["contacts"]) == 3
        for contact in line["contacts"]:
            frames = contact["to"] - contact["from"]
            assert contact["slide"] == pytest.approx(walk.DRIFT * frames, abs=2e-3)
        assert line["slide"] == max(contact["slide"] for contact in line["contacts"])
    for last in range(1, 6):  # however few frames
        assert run("report", source, "--frames", f"1:{last}")[0] == 0
    code, lines, _ = run("contacts", source)
    assert (code, source.read_bytes() == before) == (0, True)
    for line, same in zip(lines, reported, strict=True):
        assert [*line] == ["command", "file", "object", "limb", "mode", "slide", "contacts"]
        assert all(line[key] == same[key] for key in ("object", "limb", "mode", "contacts"))
    code, lines, _ = run("contacts", source, "-o", marked)
    assert (code, {line["output"] for line in lines}) == (0, {str(marked)})
    assert markers(marked) == {
        (f"{line['limb'].replace('shin', 'foot')} {word}", contact[end])
        for line in lines
        for contact in line["contacts"]
        for word, end in (("sole", "from"), ("up", "to"))
    }
    for path in (source, marked):
        code, lines, _ = run("hold", path, "-o", held)
        assert (code, len(lines)) == (0, 2)
        assert all(line["slid"] > 0.03 and line["slide"] < 1e-4 for line in lines)
        assert [line["contacts"][0]["from"] for line in lines] == [line["contacts"][0]["from"] for line in reported]


def test_feet_of_a_capture_are_planted(run: Run, tmp_path: Path) -> None:
    """One in FK, all of it in one call; the second time, with one leg, in place."""
    source, planted = tmp_path / "capture.blend", tmp_path / "planted.blend"
    walk.spoil(walk.build())
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    code, lines, _ = run("plant", source, "-o", planted)
    assert (code, [line["limb"] for line in lines]) == (0, ["shin.L", "shin.R"])
    for line in lines:
        assert line["slid"] > 0.03 > 1e-3 > line["slide"]
        assert line["missed"] == 0
        assert len(line["contacts"]) == 3
    assert len(markers(planted)) >= 12
    bones = bpy.data.objects["Walker"].pose.bones
    assert all(bones[line["limb"]]["IK Roll"] == pytest.approx(0.0, abs=1e-3) for line in lines)
    code, (line,), _ = run("plant", planted, "--in-place", "--bone", "*.R")
    assert (code, line["limb"], line["slid"] < 1e-3, line["slide"] < 1e-3) == (0, "shin.R", True, True)
    before = planted.read_bytes()
    code, _, said = run("plant", planted, "--in-place", "--ground", "Floor")
    assert (code, "No mesh that is shown is called 'Floor'" in said, planted.read_bytes() == before) == (1, True, True)
    code, lines, said = run("plant", planted, "--in-place", "--height", "0", "--speed", "0")
    assert (code, "no foot comes to stand" in said, planted.read_bytes() == before) == (0, True, True)
    assert [(line["limb"], line["contacts"], "output" in line) for line in lines] == [
        ("shin.L", [], False),
        ("shin.R", [], False),
    ]


def test_contacts_take_the_place_of_markers(run: Run, source: Path) -> None:
    """Those of limbs that are asked for, in the frames that are; where no foot stands, they stay and it is said."""
    bpy.ops.wm.open_mainfile(filepath=str(source))
    for name, frame in (("foot.L sole", 2), ("foot.L up", 4), ("cut", 9)):
        bpy.context.scene.timeline_markers.new(name, frame=frame)
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    own = markers(source)
    before = source.read_bytes()
    code, lines, said = run("contacts", source, "--in-place", "--height", "0", "--speed", "0")
    assert (code, [line["contacts"] for line in lines], source.read_bytes() == before) == (0, [[], []], True)
    assert "--height or --speed" in said
    code, (line,), _ = run("contacts", source, "--in-place", "--bone", "*.L", "--frames", "1:30")
    assert code == 0
    assert all(contact["to"] <= 30 for contact in line["contacts"])
    assert len(markers(source)) == 1 + 2 * len(line["contacts"])
    assert ("cut", 9) in markers(source)
    assert not own - {("cut", 9)} & markers(source)


def test_markers_of_linked_rigs_are_the_scenes(run: Run, tmp_path: Path) -> None:
    """They are found also on a character that nobody can edit here."""
    source = linked(shot(tmp_path / "library.blend"), tmp_path / "shot.blend", False)
    code, (line,), _ = run("contacts", source, "--in-place", "--height", 100, "--speed", 1000)
    assert (code, line["contacts"][0]["from"]) == (0, 1)
    assert {name for name, _ in markers(source)} == {"foot.L sole", "foot.L up"}
