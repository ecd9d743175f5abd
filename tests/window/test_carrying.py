"""Flip, snap and snap over a range, by hand: judged by the joints, and by those of FK and IK by themselves."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.timeout(320)

NEAR = 5e-6
"""How exactly single precision lets the joints of a limb 1.7 units long be, its rotations read and written."""


def near(numbers):
    return pytest.approx(numbers, abs=NEAR)


def test_flipping_and_snapping_with_undo_and_redo(play):
    for runs_on, steps in play("carrying_scenarios.flips_and_snaps").items():
        for entry, states in steps.items():
            before, after, of = states["before"], states["after"], f"{entry}, on {runs_on}"
            for name in before:
                assert states["undone"][name] == near(before[name]), of
                assert states["redone"][name] == near(after[name]), of

        before, after = (steps["Flip Planar IK"][name] for name in ("before", "after"))
        assert after["bend"] == -before["bend"]
        assert after["joints"][3:] == near(before["joints"][3:])
        assert after["joints"][:3] != pytest.approx(before["joints"][:3], abs=0.1)
        assert after["as_fk"] == near(before["as_fk"])

        before, after = (steps["Snap IK to FK"][name] for name in ("before", "after"))
        assert before["as_ik"] != pytest.approx(before["as_fk"], abs=0.1)
        assert after["as_ik"] == near(before["as_fk"])
        assert after["joints"] == near(before["joints"])
        assert after["target"] == near(after["as_fk"][3:])

        before, after = (steps["Snap FK to IK"][name] for name in ("before", "after"))
        assert before["as_ik"] != pytest.approx(before["as_fk"], abs=0.1)
        assert after["as_fk"] == near(before["as_ik"])
        assert after["target"] == before["target"]


def test_the_dialog_of_a_range_starts_from_the_scenes(play):
    found = play("carrying_scenarios.snaps_over_a_range")
    assert found["before"] == found["cancelled"] == found["undone"] == []
    assert found["snapped"] == [3, 4, 5, 6, 7, 8]
    for as_fk, solved in zip(found["as_fk"], found["solved"], strict=True):
        assert as_fk == near(solved)
