"""The settings behave like Blender's own, on a live limb and on one on the rig."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.timeout(320)

NEAR = 3e-6
"""How exactly single precision lets joints be, a few units from the world's origin."""


def test_keys_colours_menu_and_drivers_over_a_slider(play):
    for name, found in play("settings_scenarios.behave_like_blenders").items():
        assert found["after_i"] == [[1, 1]], name
        red, green, blue = found["on_a_key"]
        assert red > green > 2 * blue, f"{name}: not yellow"
        red, green, blue = found["on_no_key"]
        assert green > 1.5 * max(red, blue), f"{name}: not green"

        assert 0.0 < found["influence"] < 1.0
        assert found["after_drag"] == [[1, 1], [20, found["influence"]]], name
        assert found["undone"] == [[1, 1]], name
        assert found["after_menu"] == [[1, 1], [30, 1]], name
        assert found["cleared"] == [], name

        path = found["path"].removeprefix('bpy.data.objects["limb"].')
        assert path != found["path"]
        assert found["drivers"] == [path], name
        assert found["drivers_removed"] == [], name


def test_one_click_in_the_panel_changes_what_a_limb_runs_on(play):
    for name, states in play("settings_scenarios.change_what_they_run_on").items():
        assert [state["runs_on"] for state in states] == {
            "live": ["EXTENSION", "RIG", "EXTENSION", "RIG"],
            "rig": ["RIG", "EXTENSION", "RIG", "EXTENSION"],
        }[name]
        for state in states:
            assert state["joints"] == pytest.approx(states[0]["joints"], abs=NEAR), name


def test_the_list_shows_and_sets_what_acts(play):
    for name, found in play("settings_scenarios.slide_in_the_list").items():
        before, slid, is_on = found["states"]
        assert found["is_in_list"], name
        assert before == pytest.approx({"live": 1.0, "rig": 0.4}[name])
        assert 0.0 < slid < before, name
        assert not is_on, name


def test_a_knee_swings_as_its_slider_is_dragged(play):
    """On the rig, where the mechanism has to be made anew for that, as live."""
    found = play("settings_scenarios.drag_the_bend")
    for name, states in found.items():
        first, once, twice, undone = (state["bend"] for state in states)
        assert first == 1.0 > once > twice > -1.0, name
        assert undone == once, name
        assert [(state["reach"], state["message"]) for state in states] == [("REACHED", "")] * 4, name
        assert states[2]["joints"] != pytest.approx(states[0]["joints"], abs=0.01), name


def test_what_was_keyed_or_driven_can_be_dragged_at_once(play):
    """On the rig, where the setting has to become a custom property for that: before it is dragged, as Blender lets go
    of a slider that shows another property than before."""
    found = play("settings_scenarios.drag_what_was_keyed")
    for name, states in found.items():
        before, animated, dragged, escaped, undone, twice = states
        assert (before["is_exposed"], animated["is_exposed"]) == (False, name != "playing"), name
        assert before["value"] == animated["value"] == 0.0 < dragged["value"], name
        assert escaped == dragged, name
        assert undone["value"] == 0.0, name
        assert not any(state["message"] for state in states), name
        assert name == "playing" or not twice["is_exposed"], name  # where Blender has a step for playback too
