"""Any rig, moved in any way: IK is added and used, and every bone stands in every frame as before, or it is refused and
the file is as before."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.blender.combinations import line, run

COUNT = int(os.environ.get("PLANAR_IK_COMBINATIONS", "120"))
"""`make matrix` tries 400."""

SHORT = {
    "Add: a joint or what hangs on it beside the tolerance": (147,),
}  # fmt: skip
"""What is short today, by its cause: to be mended, until this is empty and goes."""


def seeds() -> list[Any]:
    """All seeds, those that are short with the reason."""
    why = {seed: reason for reason, short in SHORT.items() for seed in short}
    marks = {seed: pytest.mark.xfail(reason=reason, strict=False) for seed, reason in why.items()}
    return [pytest.param(seed, marks=marks.get(seed, ())) for seed in range(COUNT)]


@pytest.mark.parametrize("seed", seeds())
def test_nothing_is_lost(seed: int) -> None:
    try:
        run(seed)
    except AssertionError as why:
        raise AssertionError(f"{why}\n{line(seed)}") from None
