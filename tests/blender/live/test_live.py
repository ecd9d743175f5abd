"""The per-frame driver: the same pose in whatever order frames come, nothing written twice, chains in their order."""

from __future__ import annotations

import logging
import random

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from scripts import installed
from tests.blender.rigs import (
    HIP,
    LEG,
    MODES,
    NEAR,
    NEXT,
    SHIN,
    THIGH,
    Bone,
    assert_on_target,
    circle,
    frame_of,
    hooked_path,
    joints,
    key_location,
    make_chain,
    make_empty,
    make_rig,
    place_of,
    pose,
    put,
    reopened,
    rotation,
    rotation_name,
    select,
    set_rotation,
    shown_rotation,
    update,
)


def walking(mode="QUATERNION", **settings):
    """A leg whose target circles the hip twice in 48 frames, while the hip moves and the leg has keys of its own."""
    ob = make_rig()
    for name in ("thigh", "shin"):
        ob.pose.bones[name].rotation_mode = mode
    target = make_empty()
    key_location(target, circle(frame_of(ob), 48, turns=2))
    hip = ob.pose.bones["hip"]
    for frame, turn in ((1, 0.0), (25, 0.8), (49, -0.4)):
        hip.rotation_quaternion = Quaternion((1, turn, 0, turn / 2))
        hip.keyframe_insert("rotation_quaternion", frame=frame)
    if settings.pop("keyed", False):
        for frame, turn in ((1, 0.4), (20, -0.5), (49, 0.9)):
            bone = ob.pose.bones["thigh"]
            numbers = {4: (1, turn, 0.2, 0), 3: (turn, 0.2, 0)}[len(getattr(bone, rotation_name(bone)))]
            set_rotation(bone, numbers)
            bone.keyframe_insert(rotation_name(bone), frame=frame)
    make_chain(ob, target, **settings)
    return ob, target


def go_to(frame):
    bpy.context.scene.frame_set(frame)


@pytest.mark.parametrize("influence", [1.0, 0.5])
@pytest.mark.parametrize("mode", MODES)
def test_a_frame_that_somebody_goes_to(mode, influence):
    """As the arrow keys and the timeline go there: the scene is told, and evaluated afterwards."""
    ob, target = walking(mode, keyed=True, influence=influence, plane="POLE", pole_target=make_empty("pole", (9, 1, 2)))
    shown = {}
    for frame in (5, 6, 30, 2):
        go_to(frame)
        shown[frame] = pose(ob)
    for frame in (6, 5, 2, 30):
        bpy.context.scene.frame_current = frame
        update()
        assert pose(ob) == shown[frame]
        if influence == 1.0:
            assert_on_target(ob, target)


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_the_same_pose_in_whatever_order(mode, keyed):
    ob, _ = walking(mode, keyed=keyed, influence=0.8)
    frames = list(range(1, 50))
    first = {}
    for frame in frames:
        go_to(frame)
        first[frame] = pose(ob)
    for seed in range(3):
        random.Random(seed).shuffle(frames)
        for frame in (*frames, frames[-1]):
            go_to(frame)
            assert pose(ob) == first[frame]


def test_the_same_pose_after_edits_in_between():
    ob, target = walking()
    go_to(10)
    wanted = pose(ob)
    put(target, location=NEAR)
    put(ob.pose.bones["hip"].location, x=0.3)
    ob.pose.bones["hip"].location.x = 0
    go_to(10)
    assert pose(ob) == wanted


def test_subframes():
    ob, target = walking(plane="POLE", pole_target=make_empty("pole", (9, 1, 2)))
    for subframe in (0.25, 0.5, 0.99):
        bpy.context.scene.frame_set(7, subframe=subframe)
        assert_on_target(ob, target)


def test_the_tip_is_on_the_target_in_every_frame():
    ob, target = walking(plane="POLE", pole_target=make_empty("pole", (9, 1, 2)))
    for frame in range(1, 50, 3):
        go_to(frame)
        assert_on_target(ob, target)


@pytest.fixture
def writes(addon, monkeypatch):
    """The names of objects whose pose was written."""
    channels = installed.addon("addon.live.channels").Channels
    written = []
    write = channels.write

    def counted(self, *arguments):
        write(self, *arguments)
        written.append(self._object.name)

    monkeypatch.setattr(channels, "write", counted)
    return written


def test_nothing_is_written_when_nothing_changed(writes):
    _, target = walking()
    other = make_empty("other")
    go_to(5)
    update()
    writes.clear()
    updates = []
    bpy.app.handlers.depsgraph_update_post.append(lambda *_: updates.append(1))
    update()
    put(target, location=target.location.copy())
    put(other.location, x=2)
    assert writes == []
    assert len(updates) <= 4
    target.location.z += 0.1
    update()
    assert writes == ["rig"]


def test_a_settled_scene_asks_for_no_more_evaluations():
    walking(stretch=1, softness=0.1, influence=0.5)
    go_to(5)
    update()
    updated = []

    def listen(_scene, depsgraph):
        updated.extend(item.id.name for item in depsgraph.updates)

    bpy.app.handlers.depsgraph_update_post.append(listen)
    update()
    update()
    assert updated == []


def test_edits_of_settings_show_at_once():
    ob, target = make_rig(), make_empty("target", NEAR)
    chain = make_chain(ob, target)
    knee = joints(ob).knee
    for name, value in (("bend", -1), ("influence", 0), ("softness", 0.9), ("min_angle", 3), ("enabled", False)):
        default = getattr(chain, name)
        setattr(chain, name, value)
        update()
        assert (Vector(joints(ob).knee) - Vector(knee)).length > 1e-4, name
        setattr(chain, name, default)
        update()
        assert (Vector(joints(ob).knee) - Vector(knee)).length < 1e-6, name


def test_keyed_and_driven_settings():
    ob, _ = walking()
    chain = ob.pose.bones["shin"].planar_ik
    for frame, bend in ((1, 1), (49, -1)):
        chain.bend = bend
        ob.keyframe_insert('pose.bones["shin"].planar_ik.bend', frame=frame)
    driver = ob.driver_add('pose.bones["shin"].planar_ik.softness').driver
    driver.expression = "frame / 100"
    seen = {}
    for frame in (1, 12, 25, 49, 25, 12):
        go_to(frame)
        at = tuple(joints(ob).knee)
        assert seen.setdefault(frame, at) == at
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["shin"].planar_ik
    assert evaluated.softness == pytest.approx(0.12)


def test_keyed_targets_and_planes_of_rigs_that_change():
    ob, target = make_rig(), make_empty("target", NEAR)
    chain = make_chain(ob, target)
    other = make_empty("other", NEXT)
    put(chain, target=other)
    wanted = place_of(other)
    chain.plane, chain.pole_target = "POLE", make_empty("pole", (0, 5, 0))
    update()
    assert Vector(joints(ob).tip - wanted).length < 1e-5


def test_a_keyed_plane():
    ob, target = make_rig(), make_empty("target", (0.5, 0.4, -1.2))
    chain = make_chain(ob, target, pole_target=make_empty("pole", (0, 5, 0)))
    path = 'pose.bones["shin"].planar_ik.plane'
    ob.keyframe_insert(path, frame=10)
    rest = joints(ob)
    chain.plane = "POLE"
    ob.keyframe_insert(path, frame=20)
    update()
    for frame in (20, 10, 30, 1):
        go_to(frame)
        if frame < 20:
            assert np.allclose(joints(ob), rest, atol=1e-6)
        else:
            assert_on_target(ob, target)
    chain.pole_target = None
    go_to(20)
    assert (chain.reach, chain.message) == ("INVALID", "'shin' has no pole target")
    go_to(10)
    assert np.allclose(joints(ob), rest, atol=1e-6)


def three_deep():
    """Three legs: the second's target hangs on the tip of the first, the third's root on the tip of the second."""
    rig_a, rig_b = make_rig(name="a"), make_rig((HIP._replace(head=(0.4, 0, -0.2)), *_at(0.4)), name="b")
    rig_c = make_rig(name="c")
    target = make_empty("target", NEAR)
    pole = make_empty("pole", (1, 9, 0))
    key_location(target, [NEAR, NEXT, (0, 0.3, -1.6)], 1, 10)
    carried = make_empty("carried", (0, 0.02, 0))
    carried.parent, carried.parent_type, carried.parent_bone = rig_a, "BONE", "shin"
    rig_c.parent, rig_c.parent_type, rig_c.parent_bone = rig_b, "BONE", "shin"
    rig_c.location = (0, 0, 0.1)
    goal = make_empty("goal", (0.3, -0.4, -2))
    settings = {"plane": "POLE", "pole_target": pole}
    make_chain(rig_c, goal, **settings)
    make_chain(rig_b, carried, **settings)
    make_chain(rig_a, target, **settings)
    return [(rig_a, target), (rig_b, carried), (rig_c, goal)]


def _at(x):
    return (
        THIGH._replace(head=(x, 0, -0.2), tail=(x, 0.3, -1)),
        SHIN._replace(head=(x, 0.3, -1), tail=(x, 0, -1.9)),
    )


def on_targets(pairs):
    for ob, target in pairs:
        chain = ob.pose.bones["shin"].planar_ik
        assert chain.message == ""
        if chain.reach == "REACHED":
            assert_on_target(ob, target, within=3e-6)
        assert chain.residual == pytest.approx((Vector(joints(ob).tip - place_of(target))).length, abs=1e-5)


def test_chains_on_three_rigs_that_depend_on_each_other():
    pairs = three_deep()
    seen = {}
    for frame in (1, 11, 21, 5, 16, 1, 5, 11):
        go_to(frame)
        on_targets(pairs)
        now = [pose(ob) for ob, _ in pairs]
        assert seen.setdefault(frame, now) == now
    put(bpy.data.objects["target"], location=(0.1, 0.1, -1.4))
    on_targets(pairs)
    bpy.data.objects["goal"].location.x -= 0.2
    update()
    on_targets(pairs)


def test_chains_on_one_rig_that_depend_on_each_other():
    bones = [*LEG]
    for i, end in ((1, SHIN.tail), (2, (0.1, 0.3, -3.3))):
        middle = (0.1, end[1] + 0.3, end[2] - 0.7)
        parent = "shin" if i == 1 else "shin1"
        bones += [
            Bone(f"thigh{i}", end, middle, parent),
            Bone(f"shin{i}", middle, (0.1, 0.3, end[2] - 1.4), f"thigh{i}"),
        ]
    ob = make_rig(bones)
    pole = make_empty("pole", (1, 9, 0))
    pairs = []
    for i, place in (("2", (0.3, 0.5, -3.2)), ("1", (0.2, 0.4, -2.3)), ("", (0.1, 0.3, -1.4))):
        target = make_empty(f"target{i}", place)
        key_location(target, [place, Vector(place) + Vector((0.1, -0.2, 0.1))], 1, 10)
        make_chain(ob, target, f"shin{i}", plane="POLE", pole_target=pole)
        pairs.append((target, f"shin{i}"))
    for frame in (1, 11, 6, 3, 1):
        go_to(frame)
        for target, lower in pairs:
            assert_on_target(ob, target, lower, within=3e-6)


def test_a_target_on_a_path_that_another_chain_moves():
    ahead, behind = make_rig(name="ahead"), make_rig(name="behind")
    target, rider = make_empty("target"), make_empty("rider")
    key_location(target, [NEAR, (0.3, 0.5, -0.8)], 1, 10)
    constraint = rider.constraints.new("FOLLOW_PATH")
    constraint.target, constraint.use_fixed_location = hooked_path(behind), True
    settings = {"plane": "POLE", "pole_target": make_empty("pole", (0, 3, -1))}
    make_chain(ahead, rider, **settings)
    make_chain(behind, target, **settings)
    for frame in (1, 11, 6, 1):
        go_to(frame)
        assert_on_target(behind, target)
        assert_on_target(ahead, rider)


def test_chains_in_a_circle_end_and_are_still_posed(capfd):
    a, b = make_rig(name="a"), make_rig(name="b")
    for ob, other in ((a, b), (b, a)):
        target = make_empty(f"target of {ob.name}", (0, 0.2, 0))
        target.parent, target.parent_type, target.parent_bone = other, "BONE", "shin"
        make_chain(ob, target)
    go_to(2)
    assert "Traceback" not in capfd.readouterr().err


def test_one_failing_chain_stops_no_other_and_is_reported_once(caplog, capfd):
    good, bad = make_rig(name="good"), make_rig(name="bad")
    target = make_empty("target", NEAR)
    pole = make_empty("pole", (1, 9, 0))
    key_location(target, [NEAR, NEXT], 1, 10)
    with caplog.at_level(logging.WARNING, "planar_ik"):
        bad.pose.bones["shin"].planar_ik.enabled = True
        make_chain(good, target, plane="POLE", pole_target=pole)
        caplog.clear()
        bad.pose.bones["shin"].planar_ik.target = bad.pose.bones["shin"].planar_ik.target
        for frame in range(1, 11):
            go_to(frame)
            assert_on_target(good, target)
    assert len(caplog.records) <= 1
    assert "Traceback" not in capfd.readouterr().err


def test_a_chain_that_raises_stops_no_other_and_is_reported_once(caplog, capfd, monkeypatch):
    good, bad = make_rig(name="good"), make_rig(name="bad")
    target = make_empty("target", NEAR)
    key_location(target, [NEAR, NEXT], 1, 10)
    for ob in (bad, good):
        make_chain(ob, target, plane="POLE", pole_target=bpy.data.objects.get("pole") or make_empty("pole", (1, 9, 0)))
    group = installed.addon("addon.live.group")
    posed = group.pose

    def raising(chain, *arguments):
        if chain.object.name == "bad":
            raise ZeroDivisionError("a fault of ours")
        posed(chain, *arguments)

    monkeypatch.setattr(group, "pose", raising)
    with caplog.at_level(logging.WARNING, "planar_ik"):
        for frame in range(1, 11):
            go_to(frame)
            assert_on_target(good, target)
    assert len(caplog.records) == 1
    assert "a fault of ours" in bad.pose.bones["shin"].planar_ik.message
    assert "Error in bpy.app.handlers" not in capfd.readouterr().err
    monkeypatch.undo()
    put(bad.pose.bones["shin"].planar_ik, bend=1)
    assert_on_target(bad, target)


def test_live_off_leaves_the_pose_alone_and_on_takes_it_up(writes):
    ob, target = walking()
    bpy.context.scene.planar_ik.live = False
    writes.clear()
    put(target, location=NEAR)
    go_to(7)
    assert writes == []
    put(bpy.context.scene.planar_ik, live=True)
    assert pose(ob) == posed_anew(ob, 7)


def posed_anew(ob, frame):
    go_to(frame)
    return pose(ob)


def test_disabling_stops_and_enabling_takes_up_again():
    ob, target = make_rig(), make_empty("target", NEAR)
    make_chain(ob, target, plane="POLE", pole_target=make_empty("pole", (1, 9, 0)))
    for _ in range(3):
        bpy.ops.preferences.addon_disable(module=installed.MODULE)
        put(target, location=NEXT)
        installed.enable()
        update()
        assert_on_target(ob, target)
        put(target, location=NEAR)
        assert_on_target(ob, target)


def test_a_saved_file_is_right_as_soon_as_it_is_open(tmp_path):
    ob, _ = walking(plane="SWING")
    go_to(9)
    wanted = pose(ob)
    ob = reopened(tmp_path)
    assert pose(ob) == wanted
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.reach, chain.message) == ("REACHED", "")
    go_to(30)
    go_to(9)
    assert pose(ob) == wanted


def test_undo_and_redo():
    ob, target = make_rig(), make_empty("target", NEAR)
    make_chain(ob, target, plane="POLE", pole_target=make_empty("pole", (1, 9, 0)))
    select(ob, "shin")
    bpy.ops.ed.undo_push(message="start")
    places = [NEAR, NEXT, (0, 0.2, -1.5)]
    for place in places[1:]:
        put(bpy.data.objects["target"], location=place)
        bpy.ops.ed.undo_push(message="drag")
    for step in (bpy.ops.ed.undo, bpy.ops.ed.undo, bpy.ops.ed.redo, bpy.ops.ed.redo, bpy.ops.ed.undo):
        step()
        update()
        assert_on_target(bpy.data.objects["rig"], bpy.data.objects["target"])
    assert tuple(bpy.data.objects["target"].location) == pytest.approx(NEXT)


def test_two_scenes_that_share_a_rig():
    ob, target = walking(plane="POLE", pole_target=make_empty("pole", (9, 1, 2)))
    other = bpy.data.scenes.new("other")
    for shared in (ob, target, bpy.data.objects["pole"]):
        other.collection.objects.link(shared)
    go_to(7)
    other.frame_set(20)
    update()
    assert_on_target(ob, target)
    bpy.context.window.scene = other
    for frame in (21, 30, 30, 9):
        other.frame_set(frame)
        assert_on_target(ob, target)
    other.planar_ik.live = False
    before = rotation(ob.pose.bones["shin"])
    assert before != (1, 0, 0, 0)
    other.frame_set(30)
    assert rotation(ob.pose.bones["shin"]) == before
    assert np.allclose(np.abs(shown_rotation(ob, "shin")), np.abs(before), atol=1e-6)


def test_two_view_layers_one_without_the_rig():
    ob, target = walking(plane="POLE", pole_target=make_empty("pole", (9, 1, 2)))
    away = bpy.context.scene.view_layers.new("away")
    collection = bpy.data.collections.new("rigs")
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(ob)
    collection.objects.link(ob)
    away.layer_collection.children["rigs"].exclude = True
    for frame in (5, 9):
        go_to(frame)
        away.update()
        assert_on_target(ob, target)
