"""The sample file's figures, dragged into a scene: there with their limbs, which follow at once."""

from __future__ import annotations

import subprocess

import pytest

from scripts.environments import ROOT, blender
from scripts.package import BUILD
from scripts.tasks import FITTING

pytestmark = pytest.mark.timeout(320)


def test_the_figures_of_the_sample_file_are_dragged_in_and_posed(play):
    path = BUILD / "asset-library" / "planar_ik_sample.blend"
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([str(blender(FITTING)), "-m", "scripts.sample", str(path)], cwd=ROOT, check=True)
    found = play("asset_scenarios.drags_the_sample")
    assert set(found) == {"Biped", "Cut-out Puppet"}
    for figure in found.values():
        assert figure["is_there"]
        assert figure["said"] == ["RIG", "REACHED", ""]
        assert figure["moved"] > 0.05
        assert figure["off"] < 1e-5
