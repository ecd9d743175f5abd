"""What the panel says of a limb is true at once, whatever was edited since it was last looked at."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
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
    state_addon = addon("ui.finding")
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
        assert addon("ui.state").COLOUR_OF.get(limb.status.outcome, "RED") == ("AMBER" if start else "RED")


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_a_tip_that_is_seen_to_miss_is_not_on_target(biped: Any, mode: str) -> None:
    """By a third of a millimetre, of a leg of 0.9 m."""
    assert not call("add", mode=mode)
    limb = biped.pose.bones["shin.L"].planar_ik
    bones = (biped.data.bones[name] for name in ("thigh.L", "shin.L"))
    reach = sum((bone.tail_local - bone.head_local).length for bone in bones)
    control, root = biped.pose.bones[limb.subtarget], rigs.place(biped, "thigh.L")
    for past, is_reached in ((-3e-4, True), (3e-4, False)):
        rigs.put(control, root + rigs.Vector((0, 0, -reach - past)))
        bpy.context.view_layer.update()
        assert (limb.message == "On target", limb.reach == "REACHED") == (is_reached, is_reached)


SLIDERS = {
    "influence": "Influence", "flip": "Flip", "swivel": "Swivel", "softness": "Softness", "stretch": "Stretch",
    "ankle": "Ankle", "pole": "Pole", "roll": "Roll", "bank": "Bank", "pole_follow": "Pole Follow",
    **{f"twist {place}": "Twist" for place in (1, 2, 3, 4)},
}  # fmt: skip


def test_what_sliders_are_called(addon: Any) -> None:
    assert {slider.name: slider.label for slider in addon("limb.settings").SLIDERS} == SLIDERS


class Layout:
    """Records the buttons that a panel draws."""

    def __init__(self) -> None:
        self.buttons: list[tuple[str, str]] = []

    def row(self, **_options: Any) -> Layout:
        return self

    column = row

    def operator(self, name: str, text: str = "", **_options: Any) -> Any:
        self.buttons.append((name, text))
        return SimpleNamespace()


def test_the_snaps_are_what_they_are_called(addon: Any, biped: Any) -> None:
    layout = Layout()
    addon("ui.panel").VIEW3D_PT_planar_ik_tools.draw(SimpleNamespace(layout=layout), bpy.context)
    snaps = [(name, text) for name, text in layout.buttons if text.startswith("Snap")]
    assert snaps == [("pose.planar_ik_snap_target", "Snap IK to FK"), ("pose.planar_ik_snap_fk", "Snap FK to IK")]
    assert not call("add", mode="RIG")
    control, thigh = biped.pose.bones["foot_ik.L"], biped.pose.bones["thigh.L"]
    control.location = (0.1, 0.05, 0.1)
    bpy.context.view_layer.update()
    own, placed = thigh.matrix_basis.copy(), control.location.copy()
    assert not call("snap_fk")
    assert (control.location == placed, thigh.matrix_basis == own) == (True, False)
    own = thigh.matrix_basis.copy()
    thigh.rotation_euler.x += 0.2
    bpy.context.view_layer.update()
    own = thigh.matrix_basis.copy()
    assert not call("snap_target")
    assert (control.location == placed, thigh.matrix_basis == own) == (False, True)


def test_a_live_limb_is_not_held_while_live_is_off(biped: Any) -> None:
    assert not call("add", mode="LIVE")
    bpy.context.scene.planar_ik.live = False
    assert "Live is off" in call("hold", frame_start=1, frame_end=3)


@pytest.mark.parametrize("kind", ["bone", "object"])
@pytest.mark.parametrize("is_muted", [False, True])
def test_a_driver_that_is_muted_drives_nothing(biped: Any, kind: str, is_muted: bool) -> None:
    assert not call("add", mode="RIG")
    limb, owner = biped.pose.bones["shin.L"].planar_ik, biped.pose.bones["foot_ik.L"]
    if kind == "object":
        limb.target = owner = rigs.empty("goal", (0.1, 0.0, 0.2))
    rigs.drive(owner, "location", biped, "scale[0]", index=0).mute = is_muted
    bpy.context.view_layer.update()
    select("shin.L")
    assert ("Something else moves" in call("snap_target")) != is_muted


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
    titles = addon("ui.state")
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
    state.structure_known(last)
    setattr(biped.data.bones["thigh.L"], name, False)
    bpy.context.view_layer.update()
    assert repr(state.structure_known(last).table.limbs) == repr(table_of([last]).limbs)
