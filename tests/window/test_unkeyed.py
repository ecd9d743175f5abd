"""What is posed and has no key stays, in a window, where Blender goes to the frame anew after Python sets a driver."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.timeout(320)

AWAY, ANGLE, KEYED = 0.5, 0.5, 1.0
"""Where the witness is, how the bone is turned without a key, and how it is keyed on another frame."""


def near(numbers):
    return pytest.approx(numbers, abs=1e-3)  # the angle of a turn near none


def test_no_window_goes_to_its_frame_anew(play):
    found = play("unkeyed_scenarios.acts_beside_what_has_no_key")
    assert not {name: of["frames"] for name, of in found.items() if of["frames"]}
    assert {of["witness"] for of in found.values()} == {AWAY}
    del found["mend drivers"]  # after Edit Mode, Blender sets the rig to its animation by itself
    assert {name: of["turn"] for name, of in found.items()} == dict.fromkeys(found, near(ANGLE))


def test_undo_over_frames(play):
    found = play("unkeyed_scenarios.undoes_over_frames")
    done = [near([2, KEYED]), near([2, KEYED]), near([2, ANGLE]), near([2, ANGLE])]
    assert found["done"] == done
    assert found["undone"] == done[2::-1]
    assert found["redone"] == done[1:]


def test_adding_from_the_menu_undone_redone_and_adjusted(play):
    first, *steps = play("unkeyed_scenarios.adds_from_the_menu")
    for step in steps:
        assert step["turn"] == near(ANGLE)
        assert step["joints"] == near(first["joints"])


def test_switching_is_adjusted_from_what_it_was_before(play):
    to_ik, adjusted, to_fk = play("unkeyed_scenarios.adjusts_switch")
    assert to_ik["chain"] == [True, 1.0, ""]
    assert to_fk["chain"] == [True, 0.0, ""]
    assert {**adjusted, "joints": near(adjusted["joints"])} == to_fk
