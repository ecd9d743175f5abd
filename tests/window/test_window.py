"""A person at the window: clicks, keys and menus, judged by where the limb's tip is."""

from __future__ import annotations

import pytest

NEAR = 2e-6
"""How exactly Blender's single precision lets the tip of the scenarios' limb, 1.7 units long, be anywhere."""


def test_a_limb_opens_in_pose_mode_with_the_extension_enabled(play):
    found = play("opens_in_pose_mode")
    assert found["enabled"]
    assert found["mode"] == "POSE"
    x, y = found["lower_bone_at"]
    width, height = found["window"]
    assert 0 < x < width
    assert 0 < y < height


def test_clicking_a_bone_adding_a_chain_and_dragging_its_target(play):
    found = play("click_add_and_drag")
    assert found["clicked"] == "lower"
    assert found["added"]
    assert found["tip_after_adding"] == pytest.approx(found["tip_at_rest"], abs=NEAR)

    assert found["selected"]
    assert max(found["misses"]) < NEAR
    assert found["tip_after_drag"] == pytest.approx(found["target_after_drag"], abs=NEAR)
    assert found["tip_after_drag"] != pytest.approx(found["tip_at_rest"], abs=0.2)

    assert found["tip_after_undo"] == pytest.approx(found["tip_at_rest"], abs=NEAR)
    assert not found["chain_after_undo"]
    assert found["empties_after_undo"] == []
    assert found["chain_after_redo"]
    assert found["tip_after_redo"] == pytest.approx(found["tip_after_drag"], abs=NEAR)


def test_playback_with_the_panel_open(play):
    found = play("plays_with_the_panel_open")
    assert len(found["frames"]) > 3
    assert max(found["misses"]) < NEAR
    assert found["reach"] == "REACHED"
