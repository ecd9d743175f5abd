"""``report`` says how far feet slide, and ``hold`` plants them."""

from __future__ import annotations

import json
from typing import Any

import bpy
import pytest

from scripts import capture


@pytest.fixture
def run(addon: Any, capfd: pytest.CaptureFixture[str]) -> Any:
    """Runs the program in this Blender: its exit code and its lines of JSON."""

    def call(*words: object) -> tuple[int, list[dict[str, Any]]]:
        capfd.readouterr()
        code = addon("cli").main([*map(str, words)])
        return code, [json.loads(line) for line in capfd.readouterr().out.splitlines() if line.startswith("{")]

    return call


def test_a_capture_is_cleaned(run, tmp_path):
    source, held = tmp_path / "walk.blend", tmp_path / "held.blend"
    rig = capture.build()
    capture.spoil(rig)
    capture.add_legs(rig)
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    code, lines = run("report", source)
    assert code == 0
    for line in lines:
        assert len(line["contacts"]) == 3
        for contact in line["contacts"]:
            frames = contact["to"] - contact["from"]
            assert contact["slide"] == pytest.approx(capture.DRIFT * frames, abs=1e-4)
        assert line["slide"] == max(contact["slide"] for contact in line["contacts"])
    code, lines = run("hold", source, "-o", held)
    assert (code, len(lines)) == (0, 2)
    assert all(line["slid"] > 0.03 and line["slide"] < 1e-4 for line in lines)
