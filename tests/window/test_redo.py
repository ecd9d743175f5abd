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


def test_every_setting_of_convert_acts_when_it_is_adjusted(play):
    found = play("redo_scenarios.adjusts_converting")
    assert found["before"] == found["undone"] == {"a": "", "b": "", "c": ""}
    assert found["done"] == {"a": "RIG", "b": "RIG", "c": ""}
    assert found["chains"] == {"a": "RIG", "b": "", "c": ""}
    assert found["runs_on"] == {"a": "EXTENSION", "b": "EXTENSION", "c": ""}
    assert found["most_change"] == {"a": "RIG", "b": "RIG", "c": "RIG"}
    assert found["back"] == found["done"]


def frames(first, last, step=1):
    return [float(frame) for frame in range(first, last + 1, step)]


def test_every_setting_of_bake_acts_when_it_is_adjusted(play):
    found = play("redo_scenarios.adjusts_baking")
    before, done = found["before"], found["done"]
    assert found["undone"] == before
    assert done == before | {"a": frames(1, 20), "chain": False}
    assert found["back"] == done
    ranges = {"preview": (5, 10), "action's keys": (3, 15), "start": (4, 20), "end": (1, 8), "step": (1, 19, 2)}
    for name, given in ranges.items():
        assert found[name] == done | {"a": frames(*given)}, name
    assert found["chains"] == done | {"b": frames(1, 20)}
    assert found["action"]["action"] != done["action"]
    assert found["action"] == done | {"action": found["action"]["action"]}
    assert found["keep"] == done | {"chain": True}
    assert 2 <= len(found["tolerance"]["a"]) < 20
