"""Rotations of every mode, and channels of whole poses lent to Blender and taken back."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from tests.blender.rigs import stack

WHOLE = ["QUATERNION", "AXIS_ANGLE"]
MODES = [*WHOLE, "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]
HALF = 0.5**0.5
SPECIAL = [(1.0, 0, 0, 0), (0, 1.0, 0, 0), (HALF, HALF, 0, 0), (HALF, 0, HALF, 0), (HALF, 0, 0, -HALF)]


@pytest.fixture
def rotation(addon):
    return addon("blender.rotation")


def distance(one, other):
    """How far two quaternions turn apart, as a length."""
    one, other = np.array(one, float), np.array(other, float)
    return min(np.abs(one - other).max(), np.abs(one + other).max())


def turns(count):
    rows = np.random.default_rng(7).normal(size=(count, 4))
    return [tuple(row) for row in (rows / np.linalg.norm(rows, axis=1)[:, None]).tolist()] + SPECIAL


@pytest.mark.parametrize("mode", MODES)
def test_a_bone_is_turned_as_blender_turns_it(rotation, mode):
    bone = stack("bone").pose.bones["bone"]
    bone.rotation_mode = mode
    for wanted in turns(20):
        rotation.set_turn(bone, wanted)
        bpy.context.view_layer.update()
        assert distance(bone.matrix_basis.to_quaternion(), wanted) < 1e-6
        assert distance(rotation.get_turn(bone), wanted) < 1e-6


@pytest.mark.parametrize("mode", MODES)
def test_there_and_back_is_exact_for_floats_and_arrays_and_near_what_was(rotation, mode):
    size, random = rotation.ROTATION_SIZES[rotation.rotation_channel(mode)], np.random.default_rng(8)
    for turn in turns(30):
        channels = rotation.to_channels(mode, turn, tuple((random.normal(size=size) * 5.0).tolist()))
        assert distance(rotation.to_quaternion(mode, channels), turn) < 1e-14
        assert rotation.to_channels(mode, turn, channels) == pytest.approx(channels, abs=1e-7)
    rows = np.transpose(rotation.to_channels(mode, tuple(np.array(turns(30)).T), (0.1,) * size, rotation.ARRAY_ANGLES))
    for turn, row in zip(turns(30), rows, strict=True):
        assert tuple(row) == pytest.approx(rotation.to_channels(mode, turn, (0.1,) * size), abs=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_rows_of_a_bake_do_not_jump(rotation, mode):
    size = rotation.ROTATION_SIZES[rotation.rotation_channel(mode)]
    way = [
        Quaternion((1.0, 0.4, 0.2), 0.11 * step) @ Quaternion((0.0, 0.3, 1.0), 0.07 * step) for step in range(1, 200)
    ]
    rows = np.array([rotation.to_channels(mode, tuple(turn), (0.0,) * size) for turn in way])
    if mode in WHOLE:
        rows[::3] *= -1.0  # the same rotations
    steady = rotation.continuous(mode, rows)
    assert np.array_equal(steady[0], rows[0])
    for turn, row in zip(way, steady, strict=True):
        assert distance(rotation.to_quaternion(mode, tuple(row)), turn) < 1e-6
    # Euler angles do turn fast close to the lock.
    assert np.abs(np.diff(steady, axis=0)).max() < (0.3 if mode in WHOLE else 1.6)


def lend(addon, ob, channel, index):
    """Lend a channel of one bone, and give what was, what was lent, and how the rig was evaluated."""
    channels = addon("blender.channels")
    given = channels.read_channel(ob, channel)
    lent = given.copy()
    lent[index] = np.linspace(0.4, 0.9, lent.shape[1])
    channels.write_channel(ob, channel, lent, given)
    ob.update_tag(refresh={"DATA"})
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return given, lent, channels.read_matrices(evaluated)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE", "location", "scale"])
def test_lent_channels_pose_the_rig_and_are_taken_back_without_a_trace(addon, rotation, mode):
    channels, ob = addon("blender.channels"), stack("a", "b", "c", "d")
    channel = rotation.rotation_channel(mode) if mode in MODES else mode
    ob.pose.bones["b"].rotation_mode = mode if mode in MODES else "QUATERNION"
    bpy.context.view_layer.update()
    rest = channels.read_matrices(ob)
    assert np.allclose(rest[2], ob.pose.bones["c"].matrix)
    given, lent, posed = lend(addon, ob, channel, 1)
    assert given.shape == (4, channels.SIZES[channel])
    assert np.abs(posed[2] - rest[2]).max() > 0.05
    channels.restore_channel(ob, channel, lent, given)
    assert np.array_equal(channels.read_channel(ob, channel), given)
    for tagged, expected in ((False, posed), (True, rest)):
        if tagged:
            ob.update_tag(refresh={"DATA"})
        bpy.context.view_layer.update()
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        assert np.allclose(channels.read_matrices(evaluated), expected, atol=1e-6)


def test_channels_of_a_linked_rig_are_lent_too(addon, tmp_path):
    channels, types = addon("blender.channels"), addon("blender.types")
    stack("a", "b", "c", name="Linked")
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, to):
        to.objects = ["Linked"]
    ob = to.objects[0]
    bpy.context.collection.objects.link(ob)
    bpy.context.view_layer.update()
    assert not types.can_edit_bones(ob)
    given, lent, posed = lend(addon, ob, "location", 1)
    assert np.allclose(posed[1][:3, 3], ob.data.bones["b"].matrix_local @ Vector(lent[1]), atol=1e-6)
    channels.restore_channel(ob, "location", lent, given)
    assert np.array_equal(channels.read_channel(ob, "location"), given)
