"""Seeded sessions of two hundred steps: nothing but sentences is raised, what limbs say is so, and nothing moves that
should not."""

from __future__ import annotations

import pytest

from tests.blender import sessions

STEPS = 200


@pytest.mark.parametrize("seed", range(4))
def test_session(seed, capfd):
    done = sessions.run(seed, STEPS, lambda: capfd.readouterr().err)
    assert len(done) == STEPS
