"""The rest of the tasks that a release is tried by, judged by numbers; people look at the pictures."""

from __future__ import annotations

import math

import pytest

pytestmark = pytest.mark.timeout(420)

NEAR = 2e-5


def test_a_metarig(play):
    found = play("metarigs.poses_a_metarig")
    assert found["limbs"] == ["forearm.L", "forearm.R", "shin.L", "shin.R"]
    assert len(found["missed"]) == 16
    assert max(found["missed"].values()) < NEAR


def test_knees_look_ahead_over_three_metres(play):
    found = play("metarigs.walks")
    assert found["gone"] > 2.9
    assert found["ahead"] > 0.0


def test_the_ways_of_a_knee(play):
    found = play("tour.sets_knees")
    for label in ("Free", "Hinge", "Pole"):
        assert found[label][:2] == [label.upper(), "REACHED"]
        assert max(found[label][2:]) < NEAR
    assert found["limited"] == pytest.approx([math.radians(70.0)] * 2, abs=1e-4)


def test_softness_and_stretch(play):
    found = play("tour.softens_and_stretches")
    assert found["softness"] > 0.05 < found["stretch"]
    assert (found["reach"], found["missed"] > 0.01) == ("TOO_FAR", True)
    assert found["left"] == []


def test_a_foot_rolls_about_a_pivot_that_was_moved(play):
    found = play("tour.rolls_a_foot")
    (ankle, toes), back, roll = found["rest"], found["Roll-40"], found["Roll120"]
    assert back[1][2] > toes[2] + 0.05  # on the heel the toes go up, and then the ankle
    assert roll[0][2] > ankle[2] + 0.05
    assert found["Bank40"][0][0] > ankle[0] + 0.02
    assert distance(found["Roll-80"], found["rest"]) < NEAR > distance(found["Bank-40"], found["rest"])
    assert distance(found["moved"], back) > 0.01


def distance(one, other):
    """How far places are from others, at most."""
    return max(math.dist(a, b) for a, b in zip(one, other, strict=True))


def test_a_knee_goes_with_a_foot(play):
    found = play("tour.turns_a_foot")
    turned = {name: abs(turn - found["before"]) for name, turn in found.items()}
    assert turned["half"] == pytest.approx(20.0, abs=3.0)
    assert turned["1"] == pytest.approx(40.0, abs=1.0)
    assert turned["0"] < 0.01


def test_a_capture_is_planted(play):
    found = play("captures.plants_a_capture")
    assert (found["limbs"], found["selected"]) == (["shin.L", "shin.R"], ["foot_ik.L", "foot_ik.R"])
    assert found["markers"] > 8
    assert found["slid"][1] < 1e-4 < 0.03 < found["slid"][0] == pytest.approx(found["slid"][2])
    assert found["undone"] == [0, []]


def test_a_capture_is_held_by_its_markers(play):
    found = play("captures.holds_in_contacts")
    assert (found["first"], found["last"]) == (1.0, 61.0)
    assert found["slid"][1] < 1e-4 < 0.03 < found["slid"][0]


def test_esc_stops_plant_feet_and_add(play):
    assert play("captures.stops_long_work") == {"plant": [True, True, []], "add": [True, True, []]}


def test_a_pose_is_mirrored(play):
    found = play("tour.mirrors")
    assert found["mirrored"] < NEAR
    assert found["flipped"] < NEAR


def test_a_constraint_is_solved_and_given_back(play):
    found = play("tour.solves_a_constraint")
    assert found["searched"]
    assert found["solved"][0]
    assert found["solved"][1] < 1e-3
    assert found["back"] == [False, False, 0.0]


def test_each_snap_moves_what_it_says(play):
    found = play("labels.snaps")
    fk, ik = found["Snap FK to IK"], found["Snap IK to FK"]
    assert min(fk["thigh.L"], fk["shin.L"]) > 0.05 > NEAR > max(fk["foot_ik.L"], fk["knee_pole.L"])
    assert ik["foot_ik.L"] > 0.05 > NEAR > max(ik["thigh.L"], ik["shin.L"])
    for which in (0, 1):
        before, after = found[f"range {which}"]
        assert before > 0.1 > NEAR > after


def test_the_search(play):
    found = play("tour.searches")
    assert [words[0] for words in found["drawings"]] == ["Switch FK/IK", "Add Planar IK"]
    assert not found["twice"]


def test_nothing_is_left(play):
    found = play("tour.removes")
    assert found.pop("moved") > 0.05 > NEAR > found.pop("fk")
    assert found == {"left": [], "properties": [], "constraints": 0}


def test_the_rest_of_the_panel(play):
    found = play("tour.presses_the_rest")
    assert [word for word, _ in found["kept"]] == ["LIVE", "RIG", "RIG", "hung"]
    assert max(moved for _, moved in found["kept"]) < NEAR
    assert found["bones"] == ["shin.L", "thigh.L"]
    plane, moved = play("tour.slides_by_the_panel")
    assert (plane, moved < NEAR) == ("SLIDE", True)


def test_fingers_below_an_arm(play):
    found = play("metarigs.adds_fingers")
    assert found["limbs"] == ["f_index.02.L", "f_ring.02.L", "forearm.L"]
    assert max(found["missed"].values()) < NEAR


def test_a_scissor_lift_by_clicks_alone(play):
    found = play("metarigs.closes_a_lift")
    assert found["limbs"] == found["clicked"] == ["cross bar", "cross bar 2", "cross bar 3", "cross bar 4"]
    assert found["parted"] < NEAR
    assert found["lifted"] > 1.0


def test_machines_by_clicks(play):
    found = play("metarigs.closes_machines")
    assert len(found) == 12
    assert {name: row for name, row in found.items() if not row[0] or row[1] > NEAR} == {}
