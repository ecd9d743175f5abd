"""The animator's own pose is never lost: judged by the channels, by what is keyed, and by where the joints are."""

from __future__ import annotations

import math

import pytest

pytestmark = pytest.mark.timeout(320)

NEAR = 3e-6
"""How exactly single precision lets joints be, up to five units from the world's origin."""

ANGLE = 3
"""Where among a limb's channels the turn of its upper bone is; that of its lower bone is 6 further on."""


def test_turning_and_moving_a_limb_leaves_what_the_animator_set(play):
    """R 1 with a key at 20 makes it 21; Esc leaves it; undo brings it back to the bit."""
    for trial in play("turning_scenarios.leaves_the_own_pose")["trials"]:
        before, expected = trial["before"], trial["expected"]
        for limb in before:
            of = f"{limb}, {trial['key']} of the {trial['role']} bone, Auto Keying {trial['auto']}"
            assert channels(trial, "dragged", limb) != channels(trial, "before", limb), of
            for state in ("cancelled", "undone", "undone_again"):
                assert channels(trial, state, limb) == channels(trial, "before", limb), f"{of}: {state}"
                assert trial[state][limb]["joints"] == pytest.approx(before[limb]["joints"], abs=NEAR), f"{of}: {state}"
            for state in ("done", "redone"):
                shown = trial[state][limb]
                if is_dragged_aside(limb, trial):
                    assert math.hypot(*shown["channels"][:3]) == pytest.approx(0.1, abs=1e-6), f"{of}: {state}"
                    assert shown["channels"][3:] == channels(trial, "before", limb)[3:], f"{of}: {state}"
                    continue
                assert shown["channels"] == pytest.approx(expected[limb]["channels"], abs=1e-6), f"{of}: {state}"
                assert shown["joints"] == pytest.approx(expected[limb]["joints"], abs=NEAR), f"{of}: {state}"
                if trial["auto"]:
                    assert shown["keys"] == pytest.approx(shown["channels"], abs=1e-6), f"{of}: {state}"
            assert bool(trial["done"][limb]["keys"]) == trial["auto"], of
        if trial["key"] == "R":
            at = ANGLE + 6 * (trial["role"] == "lower")
            for limb in ("off", "half", "full", "rig_half", "rig_full"):
                assert math.degrees(channels(trial, "before", limb)[at]) == pytest.approx(20.0, abs=1e-4)
                assert math.degrees(channels(trial, "done", limb)[at]) == pytest.approx(21.0, abs=1e-4)
            assert trial["dragged"]["full"]["miss"] < NEAR
        for state in ("before", "cancelled", "done", "undone", "redone"):
            assert trial[state]["full"]["miss"] < NEAR, state


def test_undo_brings_back_a_cleared_rotation_whatever_came_after(play):
    found = play("turning_scenarios.clears_and_undoes")
    for one, other in (("cleared", "moved_undone"), ("posed", "cleared_undone"), ("cleared", "cleared_redone"),
                       ("moved", "moved_redone")):  # fmt: skip
        for limb, was in found[one].items():
            assert found[other][limb]["channels"] == was["channels"], f"{limb}: {other}"
            assert found[other][limb]["joints"] == pytest.approx(was["joints"], abs=NEAR), f"{limb}: {other}"
    for limb in found["posed"]:
        assert found["posed"][limb]["channels"] != found["cleared"][limb]["channels"]
        assert found["cleared"][limb]["channels"] == found["moved"][limb]["channels"]


def is_dragged_aside(limb, trial):
    """Whether Blender takes what a limb on the rig has of its solution for a parent, and drags it aside."""
    return trial["key"] == "G" and limb.startswith("rig")


def channels(trial, state, limb):
    return trial[state][limb]["channels"]
