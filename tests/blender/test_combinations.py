"""Any rig, moved in any way: IK is added and used, and every bone stands in every frame as before, or it is refused and
the file is as before."""

from __future__ import annotations

import os

import pytest

from tests.blender.combinations import chosen, hips_too_high, line, run

COUNT = int(os.environ.get("PLANAR_IK_COMBINATIONS", "120"))
"""`make matrix` tries 400."""


@pytest.mark.parametrize("seed", range(COUNT))
def test_nothing_is_lost(seed: int) -> None:
    try:
        run(seed)
    except AssertionError as why:
        raise AssertionError(f"{why}\n{line(seed)}") from None


WALKERS = [seed for seed in range(COUNT) if (chosen(seed)["rig"], chosen(seed)["names"]) == ("legs", "given")]


@pytest.mark.parametrize("seed", WALKERS)
def test_feet_reach_where_they_are_held(seed: int) -> None:
    run(seed, hips_too_high)
