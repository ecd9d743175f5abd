"""A person at the window: clicks, keys and menus, judged by where the leg's joints are."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.timeout(320)

ASKED = ("Limb", "Ends At", "Bends", "Knee", "Foot Follows", "Pole Follow", "Foot Roll", "Tolerance")
"""The fields of Add."""

NEAR = 2e-5
"""How exactly joints of a leg 0.9 long are where they should be."""


def away(one: Any, other: Any) -> float:
    return max(abs(x - y) for a, b in zip(one, other, strict=True) for x, y in zip(a, b, strict=True))


def test_add_by_the_menu_drag_undo_redo_flip(play):
    found = play("adds_and_drags")
    assert found["clicked"] == "shin.L"
    assert away(found["added"], found["before"]) < NEAR
    assert (found["mode"], found["selected"], found["message"]) == ("POSE", ["foot_ik.L"], "On target")
    assert max(found["misses"]) < NEAR
    assert away(found["dragged"], found["added"]) > 0.05
    assert away(found["undone"], found["added"]) < NEAR
    assert away(found["removed"], found["before"]) < NEAR
    assert found["bones"] == ["foot.L", "hips", "root", "shin.L", "thigh.L"]
    assert away(found["redone"], found["dragged"]) < NEAR
    assert away(found["flipped"][2:], found["dragged"][2:]) < NEAR
    assert away(found["flipped"], found["dragged"]) > 0.1


def test_adjust_last_operation(play):
    found = play("adjusts_the_last_operation")
    hip, knee, tip = found["before"]
    assert found["bends"][1:4] == ["HINGE", "RIG", "REACHED"]
    assert found["plane"][1:4] == ["FREE", "RIG", "REACHED"]
    assert found["mode"][1:4] == ["FREE", "LIVE", "REACHED"]
    for name in ("bends", "plane", "mode"):
        other = found[name][4]
        assert away([other[0], other[2]], [hip, tip]) < NEAR
        assert other[1][1] > 0.1 > 0.0 > knee[1]  # on the other side of the leg
    assert found["refused"][:4] == ["1", True, "LIVE", "REACHED"]
    assert away(found["refused"][4][:2], found["before"][:2]) < NEAR
    assert found["undone"] == ["foot.L", "hips", "root", "shin.L", "thigh.L"]
    assert found["again"] == ["FOUND", "AUTO", "HINGE"]


def test_add_begins_as_the_preferences_say(play):
    found = play("begins_as_preferred")
    assert found["added"] == ["FREE", "REACHED"]
    assert found["key"] == ["NONE"]


def test_an_unkeyed_pose_stays(play):
    found = play("keeps_an_unkeyed_pose")
    before = found.pop("before")
    assert {name: away(joints, before) < NEAR for name, joints in found.items()} == dict.fromkeys(found, True)


@pytest.mark.parametrize("mode", ["the_rig", "live"])
def test_sliders(play, mode):
    found = play(f"drags_sliders_of_{mode}")
    for name in ("IK Influence", "IK Swivel", "IK Softness"):
        one = found[name]
        assert one["values"][0] != one["values"][1], name
        assert one["moved"] > 1e-3, name
        assert one["undone"] == one["values"][0], name
        assert one["back"] < NEAR, name
    assert found["keyed"] == [[1.0, 1.0]]
    assert len(found["autokeyed"]) == 2
    assert found["autokeyed"][1][0] == 20.0
    assert found["autokeyed"][1][1] < 1.0
    assert found["at_1"] == 1.0
    assert [row[0] for row in found["dotted"]] == [20.0]
    assert found["driven"] == ['pose.bones["shin.L"]["IK Softness"]']
    assert found["path"].endswith('.pose.bones["shin.L"]["IK Influence"]')


def test_angles_move_as_blender_s_own(play):
    found = play("drags_angles")
    own = found.pop("rotation_euler")
    assert own > 0.5
    assert {name: abs(moved - own) < 0.02 for name, moved in found.items()} == dict.fromkeys(found, True)


def test_the_panel_tells_while_a_target_is_dragged(play):
    found = play("tells_while_dragging")
    for mode in ("RIG", "LIVE"):
        shown, true = zip(*found[mode], strict=True)
        assert true[1] == "TOO_FAR", mode
        assert shown == true, mode


def test_rename_and_symmetrize(play):
    found = play("renames_and_symmetrizes")
    assert found["renamed"] == ["IK foot.L", "IK knee.L", "REACHED"]
    assert away(found["after"], found["before"]) < NEAR
    assert found["without"] == ["INVALID", "REACHED"]
    assert found["other"] == [True, "IK foot.R", "IK knee.R", "RIG", "REACHED"]
    assert found["reach"] == ["REACHED", "REACHED"]
    assert found["mirrored"] < 1e-4


def test_edit_mode_and_rebuild(play):
    found = play("edits_bones_and_rebuilds")
    assert found["left"][0] == "REACHED"
    assert found["left"][1] < NEAR


def test_make_and_pick_a_target(play):
    found = play("tasks.picks_by_the_search")
    assert found["without"] == "INVALID"
    assert found["made"][0] == "REACHED"
    assert found["picked"][:2] == ["REACHED", "somewhere"]
    assert found["picked"][2] < NEAR
    assert found["undone"]


def test_switch_with_keys(play):
    found = play("tasks.switches_with_keys")
    assert found["moved"] < 1e-4
    assert found["influence"] == 0.0
    assert found["selected"] == ["shin.L", "thigh.L"]
    assert {name: found[name][0] for name in ("9", "10", "30")} == {"9": 1.0, "10": 0.0, "30": 0.0}
    assert max(found[name][1] for name in ("9", "10", "30")) < 1e-4
    assert found["undone"][0] == 1.0
    assert found["undone"][1] < NEAR


def test_both_switches_between_keys(play):
    """Before, and from the target's next key on, all is as it was; and nothing jumps in between."""
    found = play("tasks.switches_between_keys")
    assert found["influence"] == [1.0, 0.0, 0.0, 1.0, 1.0]
    assert found["kept"] < 1e-4
    before, after = found["steps"]
    assert after < 4.0 * before


def test_without_the_extension(play):
    found = play("tasks.lives_without_the_extension")
    assert found["without"] < NEAR
    assert found["fk"] > 0.05
    assert found["dragged"] > 0.02
    assert found["back"][0] == "REACHED"
    assert found["back"][1] < NEAR


def test_enable_again(play):
    first, without, again = play("tasks.enables_the_extension_again")["misses"]
    assert first < NEAR
    assert without > 0.05
    assert again < NEAR


def test_bake_from_the_dialog(play):
    found = play("tasks.bakes_from_the_dialog")
    assert found["asking"]
    assert found["moved"] < NEAR
    assert set(found["keyed"].values()) >= {40}
    assert found["last"] <= 41  # of 250: the dialog begins with what is animated
    assert found["undone"]
    assert found["influence"] == 1.0
    assert found["redone"] < NEAR


def test_esc_cancels_a_bake(play):
    found = play("tasks.cancels_a_bake")
    assert found["after_the_dialog"]
    assert found["ran"]
    assert found["after"]


def test_esc_cancels_a_snap(play):
    assert play("tasks.cancels_a_snap") == {"ran": True, "after": True}


def test_the_panel_is_shown_on_limbs_only(play):
    found = play("tasks.shows_the_panel_last")
    assert all(found[name][0] and f"'{name}' " in found[name][1] for name in ("root", "hips"))
    assert all(found[name] == [True, "ADD"] for name in ("thigh.L", "shin.L", "foot.L"))
    assert {name for name in found["generated"] if name.startswith(("foot_ik", "hand_ik"))}
    assert not {*found["generated"]} & {"root", "torso", "chest", "head", "thigh_fk.L", "shin_fk.L"}
    assert found["asked"]
    assert "MCH-shin_ik.L" in found["solved"]  # what a menu offers first: to solve the rig's own IK exactly
    assert "shin_fk.L" not in found["solved"]
    assert max(found["moved"], found["shown"]) < NEAR


def test_the_overlay_is_drawn(play):
    found = play("tasks.shows_the_overlay")
    assert found["near"] < found["far"]
    assert found["far"] > 300


def test_the_pie_menu_opens(play):
    """Switch by it to FK, and back."""
    for influence, (value, moved) in zip((0.0, 1.0), play("tasks.opens_the_pie")["switched"], strict=True):
        assert value == influence
        assert moved < NEAR


def test_all_limbs_are_offered_and_listed(play):
    found = play("shown.offers_all_limbs")
    assert found["moved"] < NEAR
    assert found["selected"] == ["foot_ik.L", "foot_ik.R", "hand_ik.L", "hand_ik.R"]
    assert found["shown"] == ["forearm.L", "forearm.R", "shin.L", "shin.R"]
    assert found["joints"] == {"hand_ik.L": "Elbow", "foot_ik.L": "Knee"}


def test_a_hidden_target_is_shown(play):
    assert play("shown.shows_a_hidden_target") == {"selected": ["foot_ik.L"], "visible": True}


def test_hold_asks_for_a_range(play):
    found = play("shown.asks_for_a_range")
    moved = found.pop("away")
    assert found == {"asked": True, "cancelled": True, "held": True}
    assert max(moved[4:9]) < NEAR
    assert max(moved) > 0.05


def test_an_excavator(play):
    found = play("shown.adds_to_a_boom")
    assert found["moved"] < NEAR
    assert len(found["selected"]) == 1
    assert found["parent"] is None
    assert found["dragged"] > 0.05
    assert found["missed"] < NEAR


def test_what_the_library_has_is_grey(play):
    found = play("shown.greys_what_the_library_has")
    assert found["can"] == {"remove": False, "set": False, "switch": True, "mirror": True}
    assert found["keyed"]
    assert found["posed"] > 0.05 > NEAR > max(found["mirrored"], *found["missed"].values())


def test_help_opens_the_guide_that_comes_along(play):
    found = play("shown.asks_for_help")
    assert found == {"asked": ["animator.html#the-panel", "animator.html#keys"], "there": [True, True]}


def test_nothing_is_cut_off(play):
    found = play("labels.fits")
    assert len(found) == 20
    assert {name: cut for name, cut in found.items() if cut} == {}


def test_add_asks_for_what_can_be_had(play):
    found = play("labels.asks_for_what_can_be_had")
    said = {name: [word for word in words if word in ASKED] for name, words in found.items()}
    always, feet = ["Limb", "Ends At", "Bends", "Knee"], ["Foot Follows", "Pole Follow", "Foot Roll"]
    assert said == {
        "leg": [*always, *feet],
        "arm": [*always, "Foot Follows"],
        "keyed": [*always, *feet],
        "puppet": [*always, "Foot Follows", "Foot Roll"],
        "boom": always,
    }
