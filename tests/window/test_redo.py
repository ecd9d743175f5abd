"""Settings that are adjusted after an operator was called: each acts, and one undo takes all of it back."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.timeout(320)

NEAR = 1e-5

ADJUSTED = {
    "plane": {"plane": "POLE", "empties": ["pole_lower", "target_lower"]},
    "flip": {"bend": -1.0},
    "controls": {"controls": ["target_lower"], "empties": [], "mode": "POSE"},
    "keep_rotation": {"turned": 1},
    "runs_on": {"runs_on": "EXTENSION"},
    "go_to_target": {"mode": "POSE"},
}
"""What becomes another when a setting of Add is changed."""


def without_matrices(state):
    return {name: value for name, value in state.items() if name != "matrices"}


def test_every_setting_of_add_acts_when_it_is_adjusted(play):
    for name, steps in play("redo_scenarios.adjusts_adding").items():
        done = without_matrices(steps["done"])
        assert (done["mode"], done["runs_on"], done["empties"]) == ("OBJECT", "RIG", ["target_lower"])
        assert without_matrices(steps["adjusted"]) == done | ADJUSTED[name], name
        if name != "flip":
            assert steps["adjusted"]["matrices"] == pytest.approx(steps["before"]["matrices"], abs=NEAR), name
        assert steps["undone"] == steps["before"], name


def test_switching_and_snapping_are_adjusted(play):
    found = play("redo_scenarios.adjusts_switching")
    for entry, steps in found.items():
        if entry != "Snap IK to FK":
            assert steps["done"]["matrices"] == pytest.approx(steps["before"]["matrices"], abs=NEAR), entry
        assert without_matrices(steps["undone"]) == without_matrices(steps["before"]), entry
        assert steps["undone"]["matrices"] == pytest.approx(steps["before"]["matrices"], abs=NEAR), entry
    switched = found["Switch FK/IK"]
    assert (switched["done"]["influence"], switched["adjusted"]["influence"]) == (0.0, 1.0)
    for entry in ("Snap FK to IK", "Snap IK to FK"):
        assert (found[entry]["done"]["keyed"], found[entry]["adjusted"]["keyed"]) == (False, True)
