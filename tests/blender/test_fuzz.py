"""Random sessions in which nothing crashes and no limb lies: two short ones, or as many as are asked for, so long."""

from __future__ import annotations

import os

import pytest

from tests.blender.fuzz import run

SEEDS, STEPS = map(int, os.environ.get("PLANAR_IK_FUZZ", "2 60").split())


@pytest.mark.makes_a_cycle(perhaps=True)
@pytest.mark.names_nothing
@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_session(seed: int) -> None:
    run(seed, STEPS)
