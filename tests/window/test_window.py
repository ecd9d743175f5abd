"""A person at the window: clicks, keys and menus, judged by where the limb's tip is."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.timeout(320)

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
    assert (found["mode_of_the_search"], found["bend_after_search"]) == ("OBJECT", -1.0)


def test_what_was_added_is_adjusted_with_its_target_selected(play):
    found = play("panel_scenarios.adjusts_what_was_added")
    for state in ("", "_turned"):
        assert (found[f"mode{state}"], found[f"selected{state}"]) == ("OBJECT", "target_lower")
    assert (found["bend"], found["bend_turned"]) == (1.0, -1.0)
    assert found["knee"] == pytest.approx((0, -0.3, 1), abs=NEAR)
    assert found["knee_turned"] == pytest.approx((0, 0.3, 1), abs=NEAR)
    assert found["tip_turned"] == pytest.approx((0, 0, 0.2), abs=NEAR)
    assert found["undone"] == ["POSE", False, []]


def test_bones_are_made_to_end_at_joints_through_the_search(play):
    assert max(play("panel_scenarios.ends_bones_at_joints")["off"]) < 1e-6


def test_playback_with_the_panel_open(play):
    found = play("plays_with_the_panel_open")
    assert len(found["frames"]) > 3
    assert max(found["misses"]) < NEAR
    assert found["reach"] == "REACHED"


def test_baking_from_the_dialog_is_one_undo_step(play):
    found = play("bakes_from_the_dialog")
    before, baked = found["before"], found["baked"]
    assert found["with_the_dialog_open"] == before
    assert found["moved"] < NEAR
    assert before["chain"]
    assert not baked["chain"]
    assert baked["limb_action"]
    kept = ("scenes", "selected", "selected_bones", "active")
    assert [baked[name] for name in kept] == [before[name] for name in kept]
    assert found["undone"] == before
    assert found["redone"] == baked
    assert found["adjusted"] == baked
    assert not found["runs_on"]


def test_a_live_limb_with_keys_on_its_bones_is_posed_on_each_frame_gone_to(play):
    seen = play("goes_through_frames")
    assert [frame for frame, *_ in seen][:3] == [2, 3, 2]
    assert [of for _, *of in seen] == [[pytest.approx(0.0, abs=NEAR), "REACHED"]] * len(seen)


def test_a_live_limb_is_posed_when_the_extension_is_enabled_again(play):
    posed, off, again = play("enables_the_extension_again")
    assert (posed, again) == (pytest.approx(0.0, abs=NEAR), pytest.approx(0.0, abs=NEAR))
    assert off > 0.1


def test_a_live_limb_is_posed_in_what_a_window_comes_to_show(play):
    assert play("shows_another_view_layer") == [pytest.approx(0.0, abs=NEAR)] * 3


def test_each_view_layer_that_a_window_shows_is_posed_when_a_file_is_opened(play):
    found = play("panel_scenarios.opens_two_view_layers")
    assert len(found) == 2
    assert all(len(misses) == 1 and misses[0] < NEAR for misses in found.values()), found


def test_esc_leaves_everything_as_it_was(play):
    found = play("cancels_a_bake")
    assert found["after_the_dialog"] == found["before"]
    assert not found["bakes_after_the_dialog"]
    assert found["baked_for_long"]
    assert found["during"]["scenes"] != found["before"]["scenes"]
    assert found["after"] == found["before"]


def test_the_overlay_shows_every_state(play):
    found = play("overlay_scenarios.shows_the_geometry")
    assert {name: seen["limbs"] for name, seen in found.items()} == dict.fromkeys(found, 1)


def test_the_overlay_makes_nothing_anew_while_nothing_changes(play):
    found = play("overlay_scenarios.costs_little")
    assert found["still"] == found["still"] | {"made": 0, "kept": True}
    assert found["moving"]["made"] > 0
    assert found["off"] == found["off"] | {"made": 0, "kept": False}


def test_the_panel_is_where_people_look(play):
    found = play("panel_scenarios.finds_the_panel_everywhere")
    assert (found["mode"], found["active"]) == ("OBJECT", "target_lower")
    assert found["reach_while_dragged"] == "TOO_FAR"
    assert found["reach_after_esc"] == "REACHED"


def test_what_is_wrong_is_mended_by_a_click(play):
    found = play("panel_scenarios.mends_by_clicks")
    assert found["message"] == "'lower' has no target"
    assert found["made"] == "REACHED"
    assert found["tip"] == pytest.approx(found["before"], abs=NEAR)
    assert (found["picked"], found["reach"]) == ("somewhere", "REACHED")
    assert found["tip_on_picked"] == pytest.approx((0, 0.3, 0.6), abs=NEAR)
    assert found["undone"]


def test_presets_are_chosen_and_saved_by_clicks(play):
    found = play("panel_scenarios.chooses_and_saves_presets")
    assert (found["insect"][0], found["insect"][1:]) == ("REST", pytest.approx([0.01, 20]))
    assert found["machine"] == ["REST", 0, 0]
    assert (found["leg"][0], found["leg"][1:]) == ("SWING", pytest.approx([0.04, 30]))
    assert found["saved"] == ["my_leg.py"]


def test_the_interface_speaks_chinese(play):
    found = play("panel_scenarios.speaks_chinese")
    assert found["label"] == "弯曲方向"
    assert "'lower' 的名称没有左右之分" in found["refusal"]


def test_switching_to_fk_with_auto_keying(play):
    found = play("panel_scenarios.switches_with_keys")
    assert (found["influence"], found["influence_before"], found["influence_undone"]) == (0.0, 1.0, 1.0)
    for state in ("switched", "frame_before", "undone"):
        assert found[state] == pytest.approx(found["before"], abs=NEAR)
