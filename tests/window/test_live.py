"""Live limbs in a window, as they are drawn."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.timeout(320)

NEAR = 2e-5


def test_frames_drags_and_undo(play):
    found = play("living.plays_and_drags")
    assert max(found["misses"]) < NEAR
    assert found["frame"] == 1
    assert found["again"] == found["start"] == found["end"]


def test_two_windows_come_to_rest(play):
    found = play("living.shows_two_view_layers")
    assert max(*found["shown"], *found["moved"]) < NEAR
    assert 1 <= found["times"] <= 4
