"""Hold: where tips are in the world, evaluated, while they are held, and everywhere else."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from tests.blender import rigs, walk

FRAMES = range(1, walk.FRAMES + 1)
NEAR, TURNED = 2e-5, 1e-4
"""How far tips may be off, in lengths of the limb (what is asked for is 1e-4), and how much feet may be turned."""


def paths(ob, side):
    """The leg's joints in the world and the axes of its foot in every frame, (frames, 6, 3)."""
    rows = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        now = rigs.evaluated(ob)
        places = [now.matrix_world @ now.pose.bones[f"{name}{side}"].head for name in ("thigh", "shin", "foot")]
        rows.append([*places, *(now.matrix_world @ now.pose.bones[f"foot{side}"].matrix).to_3x3().transposed()])
    return np.array(rows)


def is_held(ob, side, before, first, last, ease):
    """The tip and the turn of the foot stay from the first to the last frame; frames outside of the easing do not
    move, and those in it go there without a jump."""
    now, size = paths(ob, side), np.linalg.norm(np.diff(before[0, :3], axis=0), axis=1).sum()
    there = now[first - 1 : last, 2:]
    assert np.abs(there - there[0])[:, 0].max() < NEAR * size
    assert np.abs(there - there[0])[:, 1:].max() < TURNED
    outside = [frame - 1 for frame in FRAMES if not first - ease <= frame <= last + ease]
    assert np.abs(now[outside] - before[outside]).max() < NEAR * size
    moved = np.linalg.norm(now - before, axis=-1)
    assert np.abs(np.diff(moved[:, :3], axis=0)).max() < 2.0 * moved[:, :3].max() / (ease + 1.0)
    return there[0, 0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("walker")


@pytest.fixture
def walker(folder):
    """The capture that drifts, with IK on its legs again; in frame 30."""
    path = folder / "walker.blend"
    if not path.exists():
        rig = walk.build()
        walk.spoil(rig)
        walk.add_legs(rig)
        bpy.context.scene.frame_set(30)
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    rigs.activate(bpy.data.objects["Walker"])
    return bpy.data.objects["Walker"]


def legs(rig):
    return [rig.pose.bones[f"shin{side}"] for side in walk.BEGINS]


def holds(addon, lasts, *frame_ranges, **options):
    holding, contacts = addon("tasks.holding"), addon("feet.contacts")
    ranges = [holding.sole_contact(contacts.FrameRange(*span)) for span in frame_ranges]
    return holding.hold_tips(bpy.context, lasts, [ranges] * len(lasts), holding.HoldOptions(**options))


def test_two_limbs_where_they_are_now(addon, walker):
    before = {side: paths(walker, side) for side in walk.BEGINS}
    bpy.context.scene.frame_set(30)
    report = holds(addon, legs(walker), (28, 34), ease=4)
    assert not report.warnings
    assert bpy.context.scene.frame_current == 30
    for side, was in before.items():
        assert np.abs(is_held(walker, side, was, 28, 34, 4) - was[29, 2]).max() < NEAR


@pytest.mark.parametrize("ease", [0, 3, 10])
def test_contacts_that_meet_in_their_easing(addon, walker, ease):
    before, now = paths(walker, ".L"), None
    holds(addon, legs(walker)[:1], (1, 15), (25, 39), (49, 61), ease=ease, is_mean=True)
    now = paths(walker, ".L")
    for first, last in walk.contacts(".L"):
        there = now[first - 1 : last, 2:]
        assert np.abs(there - there[0])[:, 0].max() < NEAR
        assert np.abs(there[0, 0] - before[first - 1 : last, 2].mean(axis=0)).max() < NEAR
    if ease == 3:
        assert np.abs(now[[18, 19, 20]] - before[[18, 19, 20]]).max() < NEAR


def test_through_what_holds_the_control(addon, walker):
    last = legs(walker)[0]
    control = walker.pose.bones[last.planar_ik.subtarget]
    carrier = rigs.empty("Carrier")
    for frame in (1, 60):
        carrier.location.z = carrier.rotation_euler.z = 0.001 * frame
        for path in ("location", "rotation_euler"):
            carrier.keyframe_insert(path, frame=frame)
    constraint = control.constraints.new("CHILD_OF")
    constraint.target = carrier
    bpy.context.view_layer.update()
    before = paths(walker, ".L")
    bpy.context.scene.frame_set(30)
    holds(addon, [last], (27, 36), ease=2)
    is_held(walker, ".L", before, 27, 36, 2)


@pytest.mark.parametrize("what", ["foot", "softness", "live"])
def test_other_limbs(addon, walker, what):
    """One whose foot turns by itself, one that is soft, and one that is live."""
    last = legs(walker)[0]
    if what == "foot":
        addon("tasks.setting").set_feet(bpy.context, [last], False)
    elif what == "softness":
        last.planar_ik.softness = 0.2
    else:
        addon("tasks.modes").to_live(bpy.context, [last])
    bpy.context.view_layer.update()
    before = paths(walker, ".L")
    bpy.context.scene.frame_set(30)
    holds(addon, [walker.pose.bones["shin.L"]], (27, 36), ease=2)
    is_held(walker, ".L", before, 27, 36, 2)


def test_what_is_out_of_reach_is_told(addon, walker):
    report = holds(addon, legs(walker)[:1], (30, 60))
    assert [message.values["bone"] for message in report.warnings] == ["shin.L"]


def test_a_limb_in_fk_is_refused_and_nothing_changes(addon, walker):
    last = legs(walker)[0]
    last.planar_ik.influence = 0.0
    last.keyframe_insert('["IK Influence"]', frame=40)
    before, keys = paths(walker, ".L"), rigs.snapshot()
    with pytest.raises(RuntimeError, match="switch it there"):
        holds(addon, [last], (30, 50))
    assert rigs.snapshot() == keys
    assert np.abs(paths(walker, ".L") - before).max() == 0.0


def test_operators_from_markers_to_keys(addon, walker):
    markers = addon("tasks.contact_markers")
    names = markers.marker_names(legs(walker)[0])
    down, up = names["sole"], names["up"]
    scene, ops = bpy.context.scene, bpy.ops.pose
    with pytest.raises(RuntimeError, match="Find Contacts first"):
        ops.planar_ik_hold(range="CONTACTS")
    ops.planar_ik_find_contacts()
    ops.planar_ik_find_contacts()
    assert [name in (down, up) for _, name in markers.names_marked(scene)].count(True) == 6
    next(marker for marker in scene.timeline_markers if marker.name == up and marker.frame > 30).frame = 33
    before = paths(walker, ".L")
    ops.planar_ik_hold(range="CONTACTS", ease=1)
    now = paths(walker, ".L")
    assert np.abs(now[25:33, 2] - now[25, 2]).max() < NEAR
    assert np.abs(now[34:45] - before[34:45]).max() < NEAR
    for marker in [marker for marker in scene.timeline_markers if marker.name == up]:
        scene.timeline_markers.remove(marker)
    with pytest.raises(RuntimeError, match="pairs of markers"):
        ops.planar_ik_hold(range="CONTACTS")


def test_markers_name_a_rig_where_two_have_such_feet(addon, walker):
    """What somebody else calls ``wake up`` is left alone."""
    markers, scene = addon("tasks.contact_markers"), bpy.context.scene
    scene.timeline_markers.new("wake up", frame=1)
    listed = markers.find_contacts(bpy.context, legs(walker), FRAMES)
    short = markers.mark_contacts(scene, listed)
    assert max(len(marker.name) for marker in scene.timeline_markers) <= 20
    rigs.stack("foot.L", name="Other")
    assert {name for name in markers.marker_names(legs(walker)[0]).values() if name.endswith(" (Walker)")}
    assert markers.mark_contacts(scene, listed) == short
    assert {marker.name for marker in scene.timeline_markers} >= {"wake up", "foot.L up", "foot.L up (Walker)"}


def test_ranges(addon, walker):
    scene, frame_ranges, lasts = bpy.context.scene, addon("tasks.selection"), legs(walker)
    assert frame_ranges.range_to_hold(bpy.context, lasts, "CURRENT") == (30, walk.FRAMES)
    assert frame_ranges.range_source(bpy.context, lasts) == ""
    with pytest.raises(RuntimeError, match="give frame_start and frame_end"):
        bpy.ops.pose.planar_ik_hold()
    control = walker.pose.bones[lasts[0].planar_ik.subtarget]
    for curve in rigs.curves(walker):
        for key in curve.keyframe_points:
            key.select_control_point = control.name in curve.data_path and 11 <= key.co.x <= 31
    keyed = frame_ranges.selected_frames([(walker, control.name)])[0]
    assert frame_ranges.range_source(bpy.context, lasts) == "KEYS"
    assert frame_ranges.range_to_hold(bpy.context, lasts, "KEYS") == (min(keyed), max(keyed))
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 5, 9
    assert frame_ranges.range_source(bpy.context, lasts) == "PREVIEW"
    assert frame_ranges.range_to_hold(bpy.context, lasts, "PREVIEW") == (5, 9)


@pytest.fixture
def rolling(addon, walker):
    """The walker with Foot Roll on its legs, whose feet roll over heel and toe in each contact, as keys of the controls
    alone; and the pitch of the left foot in each frame."""
    addon("tasks.setting").add_foot_roll(bpy.context, legs(walker))
    for side in walk.BEGINS:
        last = walker.pose.bones[f"shin{side}"]
        control, (heel, ball) = walker.pose.bones[last.planar_ik.subtarget], soles(addon, last)[:2]
        rows = []
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            phase = (frame - walk.BEGINS[side]) % walk.STRIDE / (walk.STANDS - 1.0)
            pitch = float(np.interp(phase, (0.0, 0.2, 0.6, 1.0, 1.3, 1.6), (-0.3, 0.0, 0.0, 0.7, 0.2, -0.3)))
            pivot = Vector((heel if pitch < 0.0 else ball)[1])
            foot = walker.pose.bones[f"foot{side}"]
            place = foot.matrix @ pivot
            turn = Matrix.Rotation(pitch, 4, "X")
            rows.append(Matrix.Translation(place) @ turn @ Matrix.Translation(-place) @ control.matrix)
        for frame, matrix in zip(FRAMES, rows, strict=True):
            bpy.context.scene.frame_set(frame)
            control.matrix = matrix
            for path in ("location", "rotation_quaternion"):
                control.keyframe_insert(path, frame=frame)
    bpy.context.scene.frame_set(30)
    return walker


def soles(addon, last):
    """The points of a limb's sole, each with its bone and where it is in that."""
    return addon("feet.soles").sole_lying(last, None)


def test_a_foot_that_rolls_is_planted_as_it_stands(addon, rolling):
    markers = addon("tasks.contact_markers")
    lasts = legs(rolling)
    listed = markers.find_contacts(bpy.context, lasts, FRAMES)
    assert all([phase.on for phase in of_limb.contacts[1].phases] == ["heel", "sole", "toe"] for of_limb in listed)
    points = {last.name: [(bone, Vector(at)) for bone, at in soles(addon, last)] for last in lasts}

    def seen():
        rows = []
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            now = rigs.evaluated(rolling)
            rows.append(
                [[now.matrix_world @ now.pose.bones[bone].matrix @ at for bone, at in points[name]] for name in points]
                + [[now.pose.bones[bone].matrix.col[k].xyz for k in range(3)] for bone in ("foot.L", "foot.R")]
            )
        return np.array(rows)

    before = seen()
    holding = addon("tasks.holding")
    request = holding.HoldOptions(plants=True, is_mean=True)
    report = holding.hold_tips(bpy.context, lasts, [of_limb.contacts for of_limb in listed], request)
    now = seen()
    assert not report.warnings
    assert report.now.most < 3e-3 < 0.03 < report.before.median
    held = np.zeros((2, len(before)), bool)
    for i, of_limb in enumerate(listed):
        for contact in of_limb.contacts:
            here = slice(contact.frames.first - 1, contact.last)
            held[i, max(here.start - 3, 0) : here.stop + 3] = True
            lowest = now[here, i, :, 2].argmin(axis=1)
            steps = np.diff(now[here, i], axis=0)[np.arange(len(lowest) - 1), lowest[:-1]]
            assert np.abs(steps[:, :2]).max() < 1e-3  # a bank turns about the ground, below the bones
            if here.stop - here.start == walk.STANDS:  # flat, it lies as it did
                assert np.abs(now[here, 2 + i] - before[here, 2 + i])[4:9].max() < 0.035
            control = rolling.pose.bones[of_limb.limb.planar_ik.subtarget]
            inside = [
                key.co.x
                for curve in rigs.curves(rolling)
                if f'"{control.name}"' in curve.data_path
                for key in curve.keyframe_points
                if contact.frames.first < key.co.x < contact.last
            ]
            assert not inside
        assert np.abs(now[~held[i], i] - before[~held[i], i]).max() < NEAR
        assert np.abs(now[~held[i], 2 + i] - before[~held[i], 2 + i]).max() < TURNED
        assert np.linalg.norm(now[:, i] - before[:, i], axis=-1).max() < 0.08
        turned = np.abs(now[:, 2 + i] - before[:, 2 + i]).max()
        assert turned < 0.3


def test_no_marker_hides_another(addon, walker):
    """One is of both feet where these do the same; else one is a frame further inside its contact, all of which the
    markers still say."""
    markers, contacts = addon("tasks.contact_markers"), addon("feet.contacts")
    scene, lasts = bpy.context.scene, legs(walker)
    phases = [
        [((10, "heel"), (12, "sole"), (20, "toe")), ((40, "sole"),)],
        [((4, "heel"), (12, "sole")), ((20, "sole"), (24, "toe"))],
    ]
    ends = [(24, 60), (20, 60)]
    listed = [
        markers.Contacts(
            last,
            [
                contacts.Contact(tuple(contacts.Phase(*phase) for phase in of_contact), end)
                for of_contact, end in zip(of_limb, of_ends, strict=True)
            ],
            [0.0, 0.0],
        )
        for last, of_limb, of_ends in zip(lasts, phases, ends, strict=True)
    ]
    for _ in range(2):
        markers.mark_contacts(scene, listed)
        frames = [marker.frame for marker in scene.timeline_markers]
        assert len({*frames}) == len(frames)
        assert "foot.L + foot.R up" in {marker.name for marker in scene.timeline_markers}
        for of_limb in listed:
            marked = markers.marked_contacts(scene, of_limb.limb)
            for contact, same in zip(of_limb.contacts, marked, strict=True):
                assert [phase.on for phase in same.phases] == [phase.on for phase in contact.phases]
                assert 0 <= same.frames.first - contact.frames.first <= 1
                assert 0 <= contact.last - same.last <= 1
    markers.mark_contacts(scene, listed[:1])
    assert markers.marked_contacts(scene, lasts[1])
    assert max(len(marker.name.encode()) for marker in scene.timeline_markers) <= markers.MOST_BYTES


def keyed_frames(ob):
    return {key.co.x for curve in rigs.curves(ob) for key in curve.keyframe_points}


def test_no_key_is_before_or_after_the_scene(addon, walker):
    """Nor is what lies there held; what does not touch the scene's frames is refused."""
    keys = keyed_frames(walker)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 10, 40
    holds(addon, legs(walker), (1, 15), (36, 50))
    assert keyed_frames(walker) <= keys
    tips = paths(walker, ".L")[:, 2]
    for held in (tips[9:15], tips[35:40]):
        assert np.abs(held - held[0]).max() < NEAR
    with pytest.raises(RuntimeError, match="10 to 40"):
        holds(addon, legs(walker), (50, 60))
