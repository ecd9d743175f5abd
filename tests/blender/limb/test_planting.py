"""Plant Feet: a capture in FK, or with IK on some of its legs, whose feet stand where they stood."""

from __future__ import annotations

import re

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from tests.blender import rigs, snapshots, walk
from tests.blender.limb.test_holding import FRAMES


@pytest.fixture
def capture():
    """The walk that drifts, in FK, all of it selected."""
    rig = walk.build()
    walk.spoil(rig)
    for bone in rig.pose.bones:
        rigs.select(bone)
    return rig


def joints(rig):
    """The joints of both legs and the ends of their feet in each frame, (frames, 2, 5, 3)."""
    rows = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        now = rigs.evaluated(rig)
        rows.append(
            [
                [now.matrix_world @ now.pose.bones[f"{name}{side}"].head for name in ("thigh", "shin", "foot", "toe")]
                + [now.matrix_world @ now.pose.bones[f"toe{side}"].tail]
                for side in walk.BEGINS
            ]
        )
    return np.array(rows)


def knee(joints):
    """Where knees point, square to the line from hip to ankle, and how far they are bent, in degrees, by legs."""
    hip, at, ankle = joints[:, :, 0], joints[:, :, 1], joints[:, :, 2]
    thigh, shin, line = (
        (one - other) / np.linalg.norm(one - other, axis=-1, keepdims=True)
        for one, other in ((at, hip), (ankle, at), (ankle, hip))
    )
    aside = thigh - line * (thigh * line).sum(axis=-1, keepdims=True)
    aside /= np.linalg.norm(aside, axis=-1, keepdims=True)
    return aside.swapaxes(0, 1), np.degrees(np.arccos((thigh * shin).sum(axis=-1))).T


@pytest.mark.parametrize("there", [(), (".L",), (".L", ".R")])
def test_a_capture_is_planted_in_one_step(capture, there):
    """Whichever of its legs have IK already: these get Foot Roll."""
    before, bones = joints(capture), {*capture.pose.bones.keys()}
    for side in there:
        rigs.click(capture, f"shin{side}")
        bpy.ops.pose.planar_ik_add(mode="RIG")
    for bone in capture.pose.bones:
        rigs.select(bone)
    assert bpy.ops.pose.planar_ik_plant() == {"FINISHED"}
    legs = [capture.pose.bones[f"shin{side}"] for side in walk.BEGINS]
    assert all("IK Roll" in last for last in legs)
    assert sum("IK Roll" in bone for bone in capture.pose.bones) == 2
    now = joints(capture)
    for i, side in enumerate(walk.BEGINS):
        near = np.zeros(len(now), bool)
        for first, last in walk.contacts(side):
            held = now[first:last, i, 2:]
            assert np.linalg.norm(held - held[0], axis=-1).max() < 5e-3
            near[max(first - 5, 0) : last + 4] = True
        assert np.abs(now[~near, i] - before[~near, i]).max() < 2e-3
        assert np.linalg.norm(now[:, i] - before[:, i], axis=-1).max() < 0.05
    marked = {marker.name for marker in bpy.context.scene.timeline_markers}
    assert {"foot.L", "foot.R"} <= {word for name in marked for word in name.split()}
    if not there:
        bpy.ops.pose.planar_ik_bake(which="ALL", remove=True)
        assert {*capture.pose.bones.keys()} == bones  # also the controls whose keys planting changed


def test_knees_point_where_they_did(capture, capfd):
    """Though the pole hangs on the foot's control, which is laid flat as the foot comes down turned."""
    for frame in FRAMES:
        for side, phase in walk.BEGINS.items():
            foot = capture.pose.bones[f"foot{side}"]
            turned = 0.6 * np.cos(2.0 * np.pi * (frame - phase) / walk.STRIDE)
            foot.rotation_quaternion = Quaternion((0, 0.6, 0.8), turned) @ Quaternion((1, 0, 0), 0.5 * turned)
            foot.keyframe_insert("rotation_quaternion", frame=frame)
    before = joints(capture)
    assert bpy.ops.pose.planar_ik_plant() == {"FINISHED"}
    now = joints(capture)
    said = re.search(r"ankles moved by up to ([\d.]+) cm, knees by ([\d.]+) cm", capfd.readouterr().out)
    moved = 100.0 * np.linalg.norm(now - before, axis=-1).max(axis=(0, 1))
    assert [float(number) for number in said.groups()] == pytest.approx(moved[[2, 1]], abs=0.2)  # Add's tolerance
    (was, knees), (bend, bent) = zip(knee(before), knee(now), strict=True)
    assert np.degrees(np.arccos((was * knees).sum(axis=-1).min())) < 12.0
    assert (bent.min(axis=1) > bend.min(axis=1) - 0.5).all()


RESTS = {
    "30 degrees out": {"thigh.L": ("Y", -0.5), "thigh.R": ("Y", 0.5)},
    "star": {"thigh.L": ("Y", -1.3), "thigh.R": ("Y", 1.3)},
    "feet pointed": {"foot.L": ("X", 1.0), "foot.R": ("X", 1.0), "toe.L": ("X", 0.4), "toe.R": ("X", 0.4)},
    "lying": {"root": ("X", -np.pi / 2.0)},
    "on its head": {"root": ("X", np.pi)},
}


@pytest.mark.parametrize("is_set", [False, True])
def test_whatever_pose_the_rig_rests_in(addon, is_set):
    """Soles lie as they do in the walk: at the same places of a foot, in the same contacts, and no foot turns; also
    where Foot Roll was set before."""
    soles, markers = [], addon("tasks.contact_markers")
    for turns in ({}, *RESTS.values()):
        rig = walk.build()
        walk.spoil(rig)
        for frame in FRAMES:  # pointed, in the air
            for side in walk.BEGINS:
                up = walk.foot_at(side, frame)[1] / walk.LIFT
                rig.pose.bones[f"foot{side}"].rotation_quaternion = Quaternion((1, 0, 0), -0.6 * up)
                rig.pose.bones[f"foot{side}"].keyframe_insert("rotation_quaternion", frame=frame)
        walk.rest_anew(rig, turns)
        for bone in rig.pose.bones:
            rigs.select(bone)
        before = turns_of_feet(rig)
        if is_set:
            walk.add_legs(rig)
            bpy.ops.pose.planar_ik_set(foot_roll=True)
        assert bpy.ops.pose.planar_ik_plant() == {"FINISHED"}
        assert np.degrees(2.0 * np.arccos(np.abs((before * turns_of_feet(rig)).sum(axis=-1)).clip(0, 1))).max() < 20.0
        rows = []
        for side in walk.BEGINS:
            limb, foot = rig.pose.bones[f"shin{side}"], rig.pose.bones[f"foot{side}"].bone
            pivots = addon("rigging.feet").pivots_of(limb)
            rows.append([foot.matrix_local.inverted() @ pivots[role].translation for role in sorted(pivots)])
            found = {
                frame
                for c in markers.marked_contacts(bpy.context.scene, limb)
                for frame in range(c.frames.first, c.last + 1)
            }
            known = {frame for first, last in walk.contacts(side) for frame in range(first, last + 1)}
            assert 2.0 * len(found & known) / (len(found) + len(known)) > 0.9
        soles.append(rows)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert np.abs(np.array(soles) - soles[0]).max() < 5e-3


def turns_of_feet(rig):
    """How feet are turned in each frame, (frames, 2, 4)."""
    rows = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        now = rigs.evaluated(rig)
        rows.append([(now.matrix_world @ now.pose.bones[f"foot{side}"].matrix).to_quaternion() for side in walk.BEGINS])
    return np.array(rows)


def test_what_would_be_worse_is_not_planted(addon, capture, monkeypatch):
    """A file of which a foot is turned, or soles slide farther, stays as it was."""
    bpy.ops.pose.planar_ik_add(mode="RIG", foot_roll=True)
    bpy.ops.pose.planar_ik_find_contacts()
    planting = addon("feet.planting")
    moved, turned = planting.moved_near, np.array(Quaternion((1, 0, 0), 1.0).to_matrix().to_4x4())
    monkeypatch.setattr(planting, "moved_near", lambda *args: (foot := moved(*args))._replace(flat=foot.flat @ turned))
    before = snapshots.snapshot()
    with pytest.raises(RuntimeError, match="would turn its foot by"):
        bpy.ops.pose.planar_ik_hold(range="CONTACTS")
    assert not snapshots.differences(before, snapshots.snapshot())


def raise_hips(rig):
    path = rig.pose.bones["hips"].path_from_id("location")
    for curve in rigs.curves(rig):
        if curve.data_path == path and curve.array_index == 1:  # which is up
            for key in curve.keyframe_points:
                key.co.y += 0.09  # 6 cm is the bend of its knees


@pytest.mark.parametrize("lowers", [True, False])
def test_hips_that_are_too_high(addon, capture, lowers):
    """They go down by as little as it takes, smoothly, by few keys; else the frames in which a foot is short are
    named."""
    bpy.ops.pose.planar_ik_add(mode="RIG", foot_roll=True)
    raise_hips(capture)
    before = joints(capture)
    find = addon("limb.follow").rolled_target
    targets = [find(capture.pose.bones[f"shin{side}"]).name for side in walk.BEGINS]
    for bone in capture.pose.bones:
        rigs.select(bone)
    bpy.ops.pose.planar_ik_plant(lower_hips=lowers)
    now, off = joints(capture), []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        seen = rigs.evaluated(capture).pose.bones
        off.append(
            [
                (seen[name].head - seen[f"foot{side}"].head).length
                for name, side in zip(targets, walk.BEGINS, strict=True)
            ]
        )
    if not lowers:
        assert np.abs(now[:, :, 0] - before[:, :, 0]).max() < 1e-5
        assert np.max(off) > 5e-3
        return
    assert np.max(off) < 1e-3
    second = [np.linalg.norm(np.diff(each[:, 0, 0], 2, axis=0), axis=1).max() for each in (before, now)]
    assert second[1] < 1.5 * second[0]
    lowered = (before - now)[:, 0, 0, 2]
    assert 0.01 < lowered.max() < 0.06
    assert knee(now)[1].min() > 1.0


def test_one_leg_alone_lowers_no_hips(capture):
    """The other leg, which is in FK, would go down with them."""
    for bone in capture.pose.bones:
        rigs.select(bone, bone.name in ("thigh.L", "shin.L"))
    bpy.ops.pose.planar_ik_add(mode="RIG", foot_roll=True)
    raise_hips(capture)
    before = joints(capture)
    assert bpy.ops.pose.planar_ik_plant() == {"FINISHED"}
    sides = [*walk.BEGINS]
    assert np.abs(joints(capture) - before)[:, sides.index(".R")].max() < 1e-6
    assert np.abs(joints(capture) - before)[:, sides.index(".L")].max() > 5e-3


GROUNDS = {
    "slope": lambda along: np.tan(np.radians(20.0)) * along,
    "steps": lambda along: 0.15 * np.floor((along + 0.09) / 0.3),  # a foot is in the middle of each
}


def ground(height):
    """A mesh across the way of the walk that is so high along it, in treads of 0.3."""
    verts, faces = [], []
    for start in np.arange(-10.0, 20.0) * 0.3 - 0.09:
        for along, share in ((start, 1e-6), (start + 0.3, -1e-6)):
            verts += [(x, -along, height(along + share)) for x in (-3.0, 3.0)]
        faces.append([len(verts) - i for i in (4, 3, 1, 2)])
    mesh = bpy.data.meshes.new("Ground")
    mesh.from_pydata(verts, [], faces)
    ob = bpy.data.objects.new("Ground", mesh)
    bpy.context.scene.collection.objects.link(ob)
    return ob


@pytest.mark.parametrize("kind", GROUNDS)
def test_on_the_ground_that_is_there(addon, capture, kind, capfd):
    """Soles are on it through each contact, and nowhere far below it."""
    ground(GROUNDS[kind])
    before = joints(capture)
    assert bpy.ops.pose.planar_ik_plant(ground="Ground") == {"FINISHED"}
    assert re.search(r"now by \S+ µm and \S+ [µm]m;", capfd.readouterr().out)  # along the ground
    markers, soles = addon("tasks.contact_markers"), addon("feet.soles")
    worst = {True: 0.0, False: 0.0}
    for side in walk.BEGINS:
        limb = capture.pose.bones[f"shin{side}"]
        spans = [contact.frames for contact in markers.marked_contacts(bpy.context.scene, limb)]
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            seen = rigs.evaluated(capture).pose.bones
            stands = any(span.first <= frame <= span.last for span in spans)
            places = [seen[bone].matrix @ at for bone, at in soles.sole_lying(limb, None)[::2]]
            above = min(place.z - GROUNDS[kind](-place.y) for place in places)
            worst[stands] = max(worst[stands], abs(above) if stands else -above)
    assert worst[True] < 3e-3
    assert worst[False] < 3e-3
    now = joints(capture)
    swung = np.degrees(np.arccos((knee(before)[0] * knee(now)[0]).sum(axis=-1)))
    assert swung.max() < 12.0
    assert knee(now)[1].min() > 1.0


def key_at(ob, *places):
    for frame, place in zip((1, 9), places, strict=False):
        ob.location[1] = place
        ob.keyframe_insert("location", frame=frame)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda ob: key_at(ob, 0.5, 0.5), ""),
        (lambda ob: ob.modifiers.new("", "TRIANGULATE"), ""),
        (lambda ob: key_at(ob, 0.0, 0.5), "moves in frame"),
        (lambda ob: key_at(ob, 30.0), "is not below a foot at"),
        (lambda ob: setattr(ob, "name", "Floor"), "pick another Ground"),
        (lambda ob: setattr(ob, "hide_viewport", True), "pick another Ground"),
    ],
)
def test_a_ground_that_is_none(capture, spoil, says):
    spoil(ground(lambda along: 0.0))
    before = snapshots.snapshot()
    if not says:
        assert bpy.ops.pose.planar_ik_plant(ground="Ground") == {"FINISHED"}
        return
    with pytest.raises(RuntimeError, match=says):
        bpy.ops.pose.planar_ik_plant(ground="Ground")
    assert not snapshots.differences(before, snapshots.snapshot())


@pytest.mark.parametrize("has_ik", [False, True])
def test_forelegs_in_fk_stay_where_they_are(capture, has_ik):
    """Hips do not go down for the hind legs alone."""
    rigs.activate(capture, "EDIT")
    bones = capture.data.edit_bones
    for side in walk.BEGINS:
        for name, (head, tail, parent) in walk.LEG.items():
            bone = bones.new(f"front_{name}{side}")
            x = bones[f"{name}{side}"].head.x
            bone.head, bone.tail = (x, head[1] - 0.7, head[2]), (x, tail[1] - 0.7, tail[2])
            bone.parent = bones["spine" if parent in walk.BONES else f"front_{parent}{side}"]
    rigs.activate(capture)
    fore = [bone.name for bone in capture.pose.bones if bone.name.startswith("front_")]
    if has_ik:
        rigs.click(capture, "front_shin.L")
        walk.add_legs(capture, "front_shin.L", "front_shin.R")
        for side in walk.BEGINS:
            capture.pose.bones[f"front_shin{side}"]["IK Influence"] = 0.0
    walk.add_legs(capture, foot_roll=True)
    raise_hips(capture)
    before = [rigs.matrices(capture, fore) for frame in FRAMES if not bpy.context.scene.frame_set(frame)]
    assert bpy.ops.pose.planar_ik_plant() == {"FINISHED"}
    after = [rigs.matrices(capture, fore) for frame in FRAMES if not bpy.context.scene.frame_set(frame)]
    assert np.abs(np.array(after) - before).max() < 1e-6


def test_curves_that_no_longer_repeat_are_named(capture, capfd):
    """The hips go down in the scene's frames alone."""
    bpy.ops.pose.planar_ik_add(mode="RIG", foot_roll=True)
    raise_hips(capture)
    for curve in rigs.curves(capture):
        curve.modifiers.new("CYCLES")
    bpy.ops.pose.planar_ik_plant()
    left = {curve.data_path.split('"')[1] for curve in rigs.curves(capture) if curve.modifiers}
    (said,) = re.findall(r"Warning: (.*) got keys in the scene's frames", capfd.readouterr().out)
    assert "'hips'" in said
    assert not left & set(re.findall("'(.*?)'", said))


@pytest.mark.parametrize("is_hold", [False, True])
def test_frames_outside_the_scene_stay(capture, is_hold):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 10, 45
    if is_hold:
        bpy.ops.pose.planar_ik_add(mode="RIG", foot_roll=True)
        bpy.ops.pose.planar_ik_find_contacts()
    before = joints(capture)
    assert (bpy.ops.pose.planar_ik_hold(range="CONTACTS") if is_hold else bpy.ops.pose.planar_ik_plant()) == {
        "FINISHED"
    }
    off = np.linalg.norm(joints(capture) - before, axis=-1).max(axis=(1, 2))
    assert off[:9].max() < 2e-3 > off[45:].max()
    assert off[9:45].max() > 5e-3


def test_where_no_foot_stands_nothing_is_changed(capture):
    before = snapshots.snapshot()
    with pytest.raises(RuntimeError, match="Height or Speed"):
        bpy.ops.pose.planar_ik_plant(height=0.0, speed=0.0)
    assert not snapshots.differences(before, snapshots.snapshot())


def test_where_nothing_moves_nothing_is_planted(addon, capture):
    """Neither in FK, nor with IK."""
    capture.animation_data_clear()
    for has_ik in (False, True):
        if has_ik:
            bpy.ops.pose.planar_ik_add(mode="RIG")
        before = snapshots.snapshot()
        with pytest.raises(RuntimeError, match="keep still"):
            bpy.ops.pose.planar_ik_plant()
        assert not snapshots.differences(before, snapshots.snapshot())


def test_arms_are_no_legs(capture):
    rigs.click(capture, "hips", "spine")
    rigs.click(rigs.biped(), "forearm.R", "forearm.L")
    with pytest.raises(RuntimeError, match="No leg is selected"):
        bpy.ops.pose.planar_ik_plant()
