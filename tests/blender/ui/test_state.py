"""What the panel says of a limb is true at once, whatever was edited since it was last looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest

from tests.blender import rigs

from .conftest import call, select


def constrained(bone: Any) -> None:
    made = bone.parent.constraints.new("COPY_ROTATION")
    made.target, made.subtarget = bone.id_data, "hips"


def turned_off(bone: Any) -> None:
    bone.bone.use_inherit_rotation = False


def resting(bone: Any) -> None:
    bone.id_data.data.pose_position = "REST"


def freed(bone: Any) -> None:
    bone.planar_ik.target = None


EDITS: list[Callable[[Any], None]] = [constrained, turned_off, resting, freed]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_told_at_once(addon: Any, biped: Any, edit: Callable[[Any], None]) -> None:
    state = addon("ui.state")
    assert not call("add", mode="LIVE")
    last = biped.pose.bones["shin.L"]
    assert state.status_in(bpy.context, last).message == "On target"
    edit(last)
    bpy.context.view_layer.update()
    said = state.status_in(bpy.context, last).message
    state_addon = addon("ui.remembering")
    state_addon.forget()
    assert said == state.status_in(bpy.context, last).message != "On target"
    assert "Rest Position" in said or edit is not resting


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_softness_is_meant(addon: Any, biped: Any, mode: str) -> None:
    assert not call("add", mode=mode)
    limb = biped.pose.bones["shin.L"].planar_ik
    limb.softness = 0.2
    control, root = biped.pose.bones[limb.subtarget], rigs.place(biped, "thigh.L")
    for share, reach, start in ((0.95, "REACHED", "Eased, "), (1.1, "TOO_FAR", "")):
        rigs.put(control, root + rigs.Vector((0, 0, -0.905 * share)))
        bpy.context.view_layer.update()
        assert (limb.reach, limb.message.startswith("Eased, ")) == (reach, bool(start))
        assert addon("ui.state").colour_of(limb.status) == ("AMBER" if start else "RED")


def test_what_is_offered_fits_what_is_there(addon: Any, biped: Any) -> None:
    panel, bone = addon("ui.panel"), biped.pose.bones["shin.L"]

    def offered() -> str:
        bpy.context.view_layer.update()
        return str(panel.offer_of(bpy.context))

    assert offered() == "ADD"
    constraint = bone.constraints.new("IK")
    constraint.target = biped
    constraint.subtarget, constraint.chain_count = "hand.L", 2
    assert offered() == "CONVERT"


def test_titles_say_which_limb_it_is(addon: Any, biped: Any) -> None:
    titles = addon("ui.titles")
    select("shin.L", "shin.R", "forearm.R")
    assert not call("add")
    said = {name: titles.title_of(biped.pose.bones[name]) for name in ("shin.L", "shin.R", "forearm.R")}
    assert said == {"shin.L": "Left Leg", "shin.R": "Right Leg", "forearm.R": "Right Arm"}
    assert [titles.joint_label(biped.pose.bones[name]) for name in said] == ["Knee", "Knee", "Elbow"]


def test_a_target_that_is_hidden_is_shown(biped: Any) -> None:
    biped.pose.bones["shin.L"].planar_ik.target = target = rigs.empty("goal")
    select("shin.L")
    target.hide_set(True)
    target.hide_viewport = True
    assert "is hidden: show it first" in call("select", role="TARGET")
    assert (target.hide_get(), biped.mode) == (True, "POSE")
    target.hide_viewport = False
    assert not call("select", role="TARGET")
    assert (target.visible_get(), bpy.context.object) == (True, target)


@pytest.mark.parametrize("name", ["use_inherit_rotation", "use_local_location"])
def test_the_overlay_knows_of_edits_that_build_no_graph_anew(addon: Any, biped: Any, name: str) -> None:
    state, table_of = addon("ui.state"), addon("limb.table").table_of
    assert not call("add", mode="LIVE")
    last = biped.pose.bones["shin.L"]
    state.table_known(last)
    setattr(biped.data.bones["thigh.L"], name, False)
    bpy.context.view_layer.update()
    assert repr(state.table_known(last).limbs) == repr(table_of(biped, [last]).limbs)
