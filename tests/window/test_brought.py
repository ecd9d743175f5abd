"""Characters as people bring them, each with one press of Add, and all of them in one sheet of pictures."""

from __future__ import annotations

import subprocess

import pytest

from scripts.tasks import APPLICATION
from scripts.window import PICTURES

pytestmark = pytest.mark.timeout(320)

LIMBS = {"t_pose": 4, "a_pose": 4, "human": 4, "wolf": 4, "cat": 4, "horse": 4, "mixamo": 4, "puppet": 4, "insect": 6}


@pytest.mark.parametrize("name", LIMBS)
def test_one_press(play, name):
    found = play(f"brought.{name}")
    assert len(found["limbs"]) == LIMBS[name]
    assert {*found["rest"], *found["near"]} == {"On target"}
    assert min(found["knees"]) > 0.7
    assert name != "puppet" or found["left"] < 1e-6


def test_the_sheet():
    """Above as they were added, below with their targets nearer, in the order of `LIMBS`."""
    taken = [str(PICTURES / f"{name}-{when}.png") for when in ("rest", "near") for name in LIMBS]
    words = ["montage", *taken, "-tile", f"{len(LIMBS)}x", "-geometry", "400x400+4+4", str(PICTURES / "sheet.png")]
    if subprocess.run([str(APPLICATION), "--exec", *words], check=False).returncode:  # its system has ImageMagick
        pytest.skip("There is no montage, or some pictures were not taken")
