"""Actions that several rigs share: what is done to the chain of one takes nothing from the others, nor gives it."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.natives import make_live, make_portable, matrices
from tests.blender.rigs import activate, curve_lists, frame_of, make_chain, make_empty, make_rig, press, select, update

FRAMES = (1, 4, 9)
LIVE, NATIVE = 'pose.bones["shin"].planar_ik_influence', 'pose.bones["shin"]["planar_ik.influence"]'


def assign(user: Any, action: Any) -> None:
    """Let an action act, by its first slot."""
    user.action = action
    if hasattr(action, "slots"):
        user.action_slot = action.slots[0]


def paths(user: Any) -> set[str]:
    """What an action, in use or in a strip, animates."""
    return {curve.data_path for each in curve_lists(user.action) for curve in each}


def users(*rigs: Any) -> list[Any]:
    """What of rigs has the shared action."""
    found = [ob.animation_data for ob in rigs]
    return [data if data.action else data.nla_tracks[0].strips[0] for data in found]


def pair(where: str = "action") -> tuple[Any, Any]:
    """Two legs whose chains have keys on their influence in one action, in use or in strips."""
    rigs = []
    for name, x in (("one", 0), ("other", 3)):
        ob = make_rig(name=name)
        ob.location.x = x
        make_chain(ob, make_empty(f"target {name}", frame_of(ob).target(0.6, 0.9)))
        rigs.append(ob)
    one, other = rigs
    bone = one.pose.bones["shin"]
    for frame, influence in ((1, 0.0), (9, 1.0)):
        bone.planar_ik.influence = influence
        bone.keyframe_insert("planar_ik_influence", frame=frame)
    action = one.animation_data.action
    if where == "strips":
        one.animation_data.action = None
    for ob in rigs if where == "strips" else [other]:
        data = ob.animation_data or ob.animation_data_create()
        if where == "strips":
            assign(data.nla_tracks.new().strips.new("shared", 1, action), action)
        else:
            assign(data, action)
    return one, other


def play(*rigs: Any) -> np.ndarray:
    """Their limbs over frames."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        found.append([matrices(ob) for ob in rigs])
    return np.array(found)


@pytest.mark.parametrize("where", ["action", "strips"])
def test_the_other_rig_keeps_its_keys_and_gets_none(where):
    one, other = pair(where)
    before = play(one, other)
    assert np.abs(before[0] - before[1]).max() > 0.1
    activate(one)
    make_portable(one)
    (mine, theirs) = users(one, other)
    assert (paths(mine), paths(theirs)) == ({NATIVE}, {LIVE})
    assert np.allclose(play(one, other), before, atol=1e-5)
    activate(other)
    make_portable(other)
    assert paths(theirs) == {NATIVE}
    activate(one)
    make_live(one)
    assert (paths(mine), paths(theirs)) == ({LIVE}, {NATIVE})
    assert np.allclose(play(one, other), before, atol=1e-5)


def test_rigs_that_are_converted_together_go_on_sharing():
    one, other = pair()
    before, actions = play(one, other), set(bpy.data.actions)
    activate(one)
    other.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    for ob in (one, other):
        for bone in ob.pose.bones:
            (bone if hasattr(bone, "select") else bone.bone).select = bone.name == "shin"
    assert bpy.ops.pose.planar_ik_make_portable() == {"FINISHED"}
    assert set(bpy.data.actions) == actions
    assert one.animation_data.action == other.animation_data.action
    assert paths(one.animation_data) == {NATIVE}
    assert np.allclose(play(one, other), before, atol=1e-5)


def test_an_action_of_a_library_is_left_alone(tmp_path):
    pair()
    bpy.data.actions[0].name = "shared"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"), copy=True)
    one, other = (bpy.data.objects[name] for name in ("one", "other"))
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, into):
        into.actions = ["shared"]
    linked = into.actions[0]
    for ob in (one, other):
        assign(ob.animation_data, linked)
    before = play(one, other)
    activate(one)
    make_portable(one)
    assert (paths(one.animation_data), paths(other.animation_data)) == ({NATIVE}, {LIVE})
    assert (one.animation_data.action.library, other.animation_data.action) == (None, linked)
    assert np.allclose(play(one, other), before, atol=1e-5)


def test_a_conversion_that_is_refused_leaves_nothing_behind():
    ob = make_rig()
    constraint = ob.pose.bones["shin"].constraints.new("IK")
    constraint.target, constraint.chain_count = make_empty("target", frame_of(ob).target(0.6, 0.9)), 2
    update()
    objects, before = set(bpy.data.objects), matrices(ob)
    select(ob, "shin")
    with pytest.raises(RuntimeError, match="set Most Change to more"):
        bpy.ops.pose.planar_ik_convert(most_change=0.0)
    update()
    assert set(bpy.data.objects) == objects
    assert np.allclose(matrices(ob), before, atol=1e-4)
    assert list(ob.pose.bones["shin"].constraints) == [constraint]


def test_converting_ik_constraints_leaves_shared_keys_to_the_other():
    rigs = []
    for name in ("one", "other"):
        ob = make_rig(name=name)
        constraint = ob.pose.bones["shin"].constraints.new("IK")
        constraint.target, constraint.chain_count = make_empty(f"target {name}", frame_of(ob).target(0.6, 0.9)), 2
        rigs.append(ob)
    one, other = rigs
    path = 'pose.bones["shin"].constraints["IK"].influence'
    for frame, influence in ((1, 0.0), (9, 1.0)):
        constraint = one.pose.bones["shin"].constraints["IK"]
        constraint.influence = influence
        one.keyframe_insert(path, frame=frame)
    assign(other.animation_data_create(), one.animation_data.action)
    bpy.context.scene.frame_set(9)
    before = play(other)
    activate(one)
    press(one, "convert", most_change=0.01)
    assert paths(other.animation_data) == {path}
    assert not paths(one.animation_data) & {path}
    assert np.allclose(play(other), before, atol=1e-6)


def test_keys_go_to_another_object_with_all_of_their_modifiers():
    """As they do to what holds the settings of an overridden rig."""
    source, to = make_empty("source", (0, 0, 0)), make_empty("to", (0, 0, 0))
    source["share"] = to["weight"] = 0.0
    for frame, number in ((1, 0.2), (20, 0.9)):
        source["share"] = number
        source.keyframe_insert('["share"]', frame=frame)
    carrying, animation = (installed.addon(f"addon.rig.data.{name}") for name in ("carrying", "animation"))
    (curve,) = animation.curves_everywhere(source)
    for kind in ("ENVELOPE", "GENERATOR", "NOISE"):
        curve.modifiers.new(kind)
    curve.modifiers[1].use_additive = True
    points = curve.modifiers[0].control_points
    for frame in (3.0, 9.0):
        points.add(frame)
    points.foreach_set("max", [3.0, 2.0])
    wanted = [curve.evaluate(frame) for frame in range(30)]
    carrying.carry_across(source, '["share"]', to, '["weight"]')
    (curve,) = animation.curves_everywhere(to)
    assert curve.data_path == '["weight"]'
    assert [curve.evaluate(frame) for frame in range(30)] == pytest.approx(wanted, abs=1e-6)
