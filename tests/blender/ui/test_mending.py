"""What a person can press where a chain can't be posed: each mend is offered where it helps, and mends."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial
from typing import Any

import bpy
import pytest

from scripts import installed
from tests.blender.rigs import (
    LEG,
    NEAR,
    SHIN,
    THIGH,
    Bone,
    assert_on_target,
    from_library,
    make_chain,
    make_empty,
    make_rig,
    put,
    select,
    set_keys,
)
from tests.blender.rigs import update as evaluate

FOOT = Bone("foot", SHIN.tail, (0.1, 0.6, -1.9), "shin", connected=True)
TOE = Bone("toe", FOOT.tail, (0.1, 1.0, -1.9), "foot", connected=True)
ASIDE = (LEG[0], THIGH._replace(tail=(1, 0, -0.1)), SHIN._replace(connected=False))
"""A thigh that points across, away from the knee."""


def mending() -> Any:
    return installed.addon("addon.ui.operators.mending")


def leg(is_on_rig: bool, bones=(*LEG, FOOT, TOE), **settings):
    """A leg with a pole, on its target, its shin selected."""
    ob = make_rig(bones)
    pole = make_empty("pole", (0.3, 5, -0.5))
    make_chain(ob, make_empty("target", NEAR), **{"plane": "POLE", "pole_target": pole, **settings})
    select(ob, "shin")
    if is_on_rig:
        bpy.ops.pose.planar_ik_make_portable()
    evaluate()
    return ob, ob.pose.bones["shin"]


def unset(name):
    return lambda _ob, lower: setattr(lower.planar_ik, name, None)


def delete(name):
    def spoil(_ob, lower):
        bpy.context.scene.collection.objects.unlink(getattr(lower.planar_ik, name))

    return spoil


def follow_its_own_foot(ob, lower):
    lower.planar_ik.subtarget, lower.planar_ik.target = "foot", ob


def follow_a_bone_that_is_not_there(ob, lower):
    lower.planar_ik.target, lower.planar_ik.subtarget = ob, "gone"


def move_each_others_targets(ob, lower):
    """The target hangs on the toe's chain, whose target hangs on the limb."""
    other = make_empty("other")
    other.parent, other.parent_type, other.parent_bone = ob, "BONE", "foot"
    make_chain(ob, make_empty("of other", (0, 1, -2)), lower="toe")
    lower.planar_ik.target.parent = other


def animate_and_disable(_ob, lower):
    target = lower.planar_ik.target
    set_keys(target, "location", {1: NEAR, 20: (0.1, -0.5, -1.0)})
    target.hide_viewport = True
    bpy.context.scene.frame_set(10)


def animate_and_exclude(_ob, lower):
    target, scene = lower.planar_ik.target, bpy.context.scene
    animate_and_disable(_ob, lower)
    target.hide_viewport = False
    away = bpy.data.collections.new("away")
    scene.collection.children.link(away)
    scene.collection.objects.unlink(target)
    away.objects.link(target)
    bpy.context.view_layer.layer_collection.children["away"].exclude = True
    scene.frame_set(11)


def constrain(_ob, lower):
    limit = lower.constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.min_x, limit.max_x = True, 0.5, 0.6


def keep_waiting(ob, _lower):
    solver = ob.pose.bones["foot"].constraints.new("IK")
    solver.target, solver.chain_count, solver.mute = make_empty("old"), 3, True


def drive(channel, index):
    def spoil(_ob, lower):
        lower.driver_add(channel, index).driver.expression = "1"

    return spoil


def add_a_rival(ob, _lower):
    make_chain(ob, make_empty("of foot"), lower="foot")


def mute_its_own(ob, _lower):
    for bone in ("thigh", "shin"):
        for constraint in ob.pose.bones[bone].constraints:
            constraint.mute = True


def show_rest(ob, _lower):
    ob.data.pose_position = "REST"


def shear(ob, _lower):
    ob.data.bones["shin"].inherit_scale = "FIX_SHEAR"
    ob.pose.bones["thigh"].scale = (1, 2, 1)


def carry_unevenly(ob, _lower):
    ob.data.bones["shin"].use_inherit_rotation = False
    ob.pose.bones["hip"].scale = (1, 2, 1)


def bend_while_stretching(ob, lower):
    ob.data.bones["shin"].inherit_scale = "FIX_SHEAR"
    lower.planar_ik.stretch, lower.planar_ik.softness = 1.0, 0.1


def take_its_constraints_away(_ob, lower):
    for constraint in list(lower.constraints):
        lower.constraints.remove(constraint)


def add_while_live_is_off(ob, lower):
    target = lower.planar_ik.target
    bpy.ops.pose.planar_ik_remove()
    bpy.context.scene.planar_ik.live = False
    make_chain(ob, target, plane="SWING")


def scale_to_nothing(name):
    """That bone, or without a name the rig."""

    def spoil(ob, _lower):
        (ob.pose.bones[name] if name else ob).scale = (0, 0, 0)

    return spoil


def no_place(of):
    def spoil(ob, lower):
        carrier = make_empty("carrier")
        lower.planar_ik.target.parent = carrier
        {"target": lower.planar_ik.target, "carrier": carrier, "hip": ob.pose.bones["hip"]}[of].location.x = math.nan

    return spoil


def no_number(name):
    return lambda _ob, lower: setattr(lower.planar_ik, name, math.nan)


def disable_the_rig(ob, lower):
    """In Object Mode, where its target is moved then."""
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.hide_viewport = True
    target = lower.planar_ik.target
    target.location = (0.1, -0.5, -1.0)
    target.select_set(True)
    bpy.context.view_layer.objects.active = target


EVERYWHERE = [
    ("TARGET", unset("target")),
    ("TARGET", delete("target")),
    ("TARGET", follow_its_own_foot),
    ("TARGET", follow_a_bone_that_is_not_there),
    ("POLE", unset("pole_target")),
    ("POLE", delete("pole_target")),
    ("MUTE", constrain),
    ("POSE", show_rest),
    ("ALIGN", shear),
    *(("SCALE", scale_to_nothing(name)) for name in ("hip", "thigh", "shin", "")),
    ("NUMBER", no_place("target")),
    ("NUMBER", no_place("carrier")),
    ("NUMBER", no_place("hip")),
    ("NUMBER", no_number("bend")),
    ("NUMBER", no_number("softness")),
    ("ENABLE", disable_the_rig),
]
LIVE = [
    ("MUTE", drive("rotation_quaternion", 1)),
    ("RIVAL", add_a_rival),
    ("TARGET", move_each_others_targets),
    ("ENABLE", animate_and_disable),
    ("ENABLE", animate_and_exclude),
    ("INHERIT", carry_unevenly),
    ("ALIGN", bend_while_stretching),
    ("UNIFORM", bend_while_stretching),
    ("LIVE", add_while_live_is_off),
]
ON_RIG = [
    ("UNMUTE", mute_its_own),
    ("REBUILD", take_its_constraints_away),
    ("EXTENSION", keep_waiting),
]
CASES = [(False, *case) for case in EVERYWHERE + LIVE] + [(True, *case) for case in EVERYWHERE + ON_RIG]


@pytest.mark.parametrize(("is_on_rig", "way", "spoil"), CASES)
def test_what_is_wrong_is_mended_by_the_button_beside_it(is_on_rig, way, spoil):
    ob, lower = leg(is_on_rig)
    spoil(ob, lower)
    evaluate()
    lower = ob.pose.bones["shin"]
    assert lower.planar_ik.reach == "INVALID"
    assert lower.planar_ik.message
    assert way in mending().mends_for(lower), lower.planar_ik.message
    assert bpy.ops.pose.planar_ik_mend(way=way) == {"FINISHED"}
    evaluate()
    lower = ob.pose.bones["shin"]
    assert (lower.planar_ik.reach, lower.planar_ik.message) == ("REACHED", "")
    assert_on_target(ob, lower.planar_ik.target)
    with pytest.raises(RuntimeError, match="not help"):
        bpy.ops.pose.planar_ik_mend(way=way)


@pytest.mark.parametrize("is_on_rig", [False, True])
@pytest.mark.parametrize(("part", "goal"), [("TARGET", "new"), ("TARGET", "control"), ("POLE", "new")])
def test_what_is_picked_is_followed(is_on_rig, part, goal):
    ob, lower = leg(is_on_rig, bones=(*LEG, FOOT, Bone("control", (0.1, -0.5, -1.0), (0.1, -0.3, -1.0))))
    name = "target" if part == "TARGET" else "pole_target"
    new = make_empty("new", (0.1, -0.5, -1.0))
    unset(name)(ob, lower)
    evaluate()
    assert lower.planar_ik.reach == "INVALID"
    assert mending().wrong_goals(lower) == [part]
    picked = f"{ob.name}\ncontrol" if goal == "control" else "new\n"
    assert bpy.ops.pose.planar_ik_pick(part=part, goal=picked) == {"FINISHED"}
    evaluate()
    lower = ob.pose.bones["shin"]
    assert lower.planar_ik.reach == "REACHED"
    if part == "TARGET":
        assert_on_target(ob, ob if goal == "control" else new, bone="control" if goal == "control" else "")


def test_what_can_be_picked_is_told_apart_and_none_of_it_is_the_limb_or_made_for_it():
    ob, _ = leg(is_on_rig=True)
    (_, *rest) = installed.addon("addon.ui.operators.picking")._items(None, bpy.context)
    found = [identifier for identifier, _, _ in rest]
    assert len(found) == len(set(found))
    assert {f"{ob.name}\ntoe", "target\n", "pole\n"} <= set(found)
    assert not [name for name in found if name.split("\n")[1] in {"thigh", "shin"} or "MCH" in name]


def test_of_two_objects_of_one_name_a_linked_one_can_be_picked_and_selected(tmp_path):
    make_empty("new", (0.1, -0.5, -1.0))
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    (linked,) = from_library(path, "new")
    _, lower = leg(is_on_rig=False)
    local = make_empty("new", NEAR)
    found = [identifier for identifier, *_ in installed.addon("addon.ui.operators.picking")._items(None, bpy.context)]
    ours, other = sorted((identifier for identifier in found if identifier.startswith("new\n")), key=len)
    for picked in (linked, local, linked):
        assert bpy.ops.pose.planar_ik_pick(goal=ours if picked == local else other) == {"FINISHED"}
        assert lower.planar_ik.target == picked
    assert bpy.ops.pose.planar_ik_select(part="TARGET") == {"FINISHED"}
    assert bpy.context.active_object == linked


def test_of_two_rigs_of_one_name_the_panel_selects_parts_of_the_one_it_shows(tmp_path):
    leg(is_on_rig=False)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    linked, *_ = from_library(path, "rig", "target", "pole")
    leg(is_on_rig=False)
    for library, ob in ((path, linked), ("", bpy.data.objects["rig", None])):
        settings = {"object": "rig", "bone": "shin", "library": library}
        assert bpy.ops.pose.planar_ik_select(part="TARGET", **settings) == {"FINISHED"}
        assert bpy.context.active_object == ob.pose.bones["shin"].planar_ik.target


def test_what_the_chain_itself_carries_is_refused_when_it_is_picked():
    ob, lower = leg(is_on_rig=False)
    with pytest.raises(RuntimeError, match="hangs on the chain"):
        bpy.ops.pose.planar_ik_pick(part="TARGET", goal=f"{ob.name}\nfoot")
    assert lower.planar_ik.target.name == "target"


def test_a_limb_that_is_moved_after_its_chain_is_put_on_the_rig():
    """What moves the bones' own pose, as another extension's handler may, moves no limb that runs on the rig."""
    ob, lower = leg(is_on_rig=False)
    target = lower.planar_ik.target

    def turn_away(*_):
        ob.pose.bones["shin"].rotation_quaternion = (1, 0.2, 0, 0)

    bpy.app.handlers.depsgraph_update_post.append(turn_away)
    target.location = (0.1, -0.5, -1.0)
    evaluate()
    assert lower.planar_ik.reach == "INVALID"
    assert "RIG" in mending().mends_for(lower)
    assert bpy.ops.pose.planar_ik_mend(way="RIG") == {"FINISHED"}
    evaluate()
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.runs_on, chain.reach) == ("RIG", "REACHED")
    target.location = NEAR
    evaluate()
    assert_on_target(ob, target)


ASKED = (
    "bake",
    "convert",
    "flip",
    "make_live",
    "make_portable",
    "mirror",
    "pole",
    "rebuild",
    "snap_fk",
    "snap_target",
    "switch",
)


@pytest.mark.parametrize("has_target", [True, False])
@pytest.mark.parametrize("is_on_rig", [False, True])
def test_of_a_lower_bone_that_lost_its_parent_all_is_said_in_sentences(is_on_rig, has_target, capfd):
    ob, _ = leg(is_on_rig)
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones["shin"].parent = None
    bpy.ops.object.mode_set(mode="POSE")
    lower = ob.pose.bones["shin"]
    if not has_target:
        lower.planar_ik.target = None
    evaluate()
    assert lower.planar_ik.reach == "INVALID"
    ways = [partial(bpy.ops.pose.planar_ik_mend, way=way) for way in mending().mends_for(lower)]
    ways += [getattr(bpy.ops.pose, f"planar_ik_{name}") for name in ASKED]
    assert bool(mending().wrong_goals(lower)) != has_target
    for act in ways:
        with suppress(RuntimeError):
            act()
    lower.planar_ik.target, lower.planar_ik.softness = make_empty("other", NEAR), 0.1
    evaluate()
    assert "has no parent" in lower.planar_ik.message
    assert bpy.ops.pose.planar_ik_remove() == {"FINISHED"}
    assert "Traceback" not in "".join(capfd.readouterr())


def test_a_limb_that_can_not_get_just_longer_stretches_uniformly():
    ob = make_rig(ASIDE)
    chain = make_chain(ob, make_empty("target", (0, 0.3, -3)), plane="SWING", stretch=1)
    select(ob, "shin")
    evaluate()
    assert "UNIFORM" in mending().mends_for(ob.pose.bones["shin"])
    assert bpy.ops.pose.planar_ik_mend(way="UNIFORM") == {"FINISHED"}
    evaluate()
    assert chain.reach == "REACHED"
    assert_on_target(ob, chain.target)


def test_what_was_excluded_is_hidden_by_its_collections_eye_once_it_is_enabled():
    ob, lower = leg(False)
    animate_and_exclude(ob, lower)
    bpy.context.scene.collection.children.link(bpy.data.collections.new("other"))
    layers = bpy.context.view_layer.layer_collection.children
    layers["other"].exclude = True
    assert bpy.ops.pose.planar_ik_mend(way="ENABLE") == {"FINISHED"}
    evaluate()
    assert (layers["away"].exclude, layers["away"].hide_viewport, lower.planar_ik.message) == (False, True, "")
    assert layers["other"].exclude


def test_what_was_disabled_is_hidden_by_its_eye_once_it_is_enabled():
    """So that it stays out of the view, and is evaluated."""
    ob, lower = leg(False)
    target = lower.planar_ik.target
    target.keyframe_insert("location", frame=1)
    target.location.x += 0.2
    target.keyframe_insert("location", frame=11)
    target.hide_viewport = True
    bpy.context.scene.frame_set(6)
    assert bpy.ops.pose.planar_ik_mend(way="ENABLE") == {"FINISHED"}
    evaluate()
    assert (target.hide_viewport, target.hide_get(), lower.planar_ik.message) == (False, True, "")
    assert not ob.hide_get()


@pytest.mark.parametrize("name", ["thigh", "shin"])
def test_a_limb_on_the_rig_that_is_scaled_to_nothing_is_not_rebuilt_so(name):
    ob, lower = leg(is_on_rig=True)
    scale_to_nothing(name)(ob, lower)
    evaluate()
    with pytest.raises(RuntimeError, match=f"'{name}', or what carries it, is scaled to nothing"):
        bpy.ops.pose.planar_ik_rebuild()
    ob.pose.bones[name].scale = (1, 1, 1)
    evaluate()
    assert (lower.planar_ik.reach, lower.planar_ik.message) == ("REACHED", "")


@pytest.mark.parametrize("is_on_rig", [False, True])
def test_a_target_is_made_where_the_tip_is_in_the_bones_own_pose(is_on_rig):
    ob, lower = leg(is_on_rig)
    ob.pose.bones["thigh"].rotation_quaternion = (0.98, 0.2, 0, 0)
    put(lower.planar_ik, influence=0.0)
    posed = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    tip = posed.matrix_world @ posed.pose.bones["shin"].tail
    put(lower.planar_ik, influence=1.0)
    delete("target")(ob, lower)
    unset("target")(ob, lower)
    evaluate()
    assert bpy.ops.pose.planar_ik_mend(way="TARGET") == {"FINISHED"}
    evaluate()
    assert (lower.planar_ik.target.matrix_world.translation - tip).length < 1e-5
