"""Any limb, wherever it hangs and whatever carries it: its joints are where the law of cosines has them."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mathutils import Euler, Matrix, Vector

from tests.blender.rigs import (
    EULER_ORDERS,
    EXACT,
    HIP,
    INHERIT_SCALE,
    LEG,
    MODES,
    Bone,
    assert_joints,
    expected,
    few,
    frame_of,
    fresh_rig,
    joints,
    make_chain,
    make_empty,
    make_rig,
    put,
    rotation,
    set_rotation,
    shear_of,
)

unit = st.floats(-1, 1, width=32)
place = st.tuples(unit, unit, unit)
angles = st.tuples(*[st.floats(-3, 3, width=32)] * 3)
size = st.sampled_from([0.3, 0.8, 1.0, 1.7, -1.0, -0.6])
sizes = st.tuples(size, size, size)
shares = st.floats(0.05, 0.95)
directions = st.floats(-3.1, 3.1)


def follow(ob, share=0.6, direction=0.7, bend=1.0, within=EXACT):
    """Put a chain on a rig's shin and compare its joints with the oracle's."""
    frame = frame_of(ob)
    target = make_empty(location=frame.target(share, direction, 0.1))
    chain = make_chain(ob, target, bend=bend)
    assert chain.message == ""
    assert_joints(joints(ob), expected(frame, target.location, bend), within)
    return chain


def long_enough(bone):
    return (Vector(bone.tail) - Vector(bone.head)).length > 0.2


@st.composite
def legs(draw):
    """A limb of any shape, anywhere near the origin."""
    root, knee, tip = (Vector(draw(place)) for _ in range(3))
    connected = draw(st.booleans())
    head = knee if connected else knee + 0.2 * Vector(draw(place))
    upper = Bone("thigh", root, knee, "hip", roll=draw(directions))
    lower = Bone("shin", head, tip, "thigh", connected, draw(directions))
    return HIP, upper, lower


@given(bones=legs(), share=shares, direction=directions, bend=st.sampled_from([1, -1]))
@few
def test_any_shape_and_roll(bones, share, direction, bend):
    if all(long_enough(bone) for bone in bones) and (Vector(bones[2].head) - Vector(bones[1].head)).length > 0.2:
        ob = fresh_rig(bones)
        # Blender leans a bone's rest axes by up to 1e-5 if it points nearly along -Y; a turned bone is as far off.
        leaning = max(shear_of(bone.matrix_local) for bone in ob.data.bones)
        follow(ob, share, direction, bend=bend, within=EXACT + leaning)


@given(turn=angles, scale=sizes, at=place, share=shares, direction=directions)
@few
def test_a_parent_turned_scaled_unevenly_and_mirrored(turn, scale, at, share, direction):
    ob = fresh_rig()
    hip = ob.pose.bones["hip"]
    hip.matrix_basis = Matrix.LocRotScale(Vector(at), Euler(turn), Vector(scale))
    follow(ob, share, direction)


@given(turn=angles, scale=sizes, at=place, parent_turn=angles, parent_scale=sizes, direction=directions)
@few
def test_an_object_turned_scaled_unevenly_mirrored_and_parented(turn, scale, at, parent_turn, parent_scale, direction):
    ob = fresh_rig()
    ob.parent = make_empty("carrier")
    ob.parent.matrix_basis = Matrix.LocRotScale(None, Euler(parent_turn), Vector(parent_scale))
    ob.matrix_basis = Matrix.LocRotScale(Vector(at), Euler(turn), Vector(scale))
    follow(ob, 0.6, direction)


@given(turn=angles, hip_scale=sizes, ob_scale=sizes, direction=directions)
@few
def test_parents_scaled_unevenly_twice_over(turn, hip_scale, ob_scale, direction):
    ob = fresh_rig()
    ob.scale = ob_scale
    ob.pose.bones["hip"].matrix_basis = Matrix.LocRotScale(None, Euler(turn), Vector(hip_scale))
    follow(ob, 0.6, direction)


@given(upper=place, lower=place, upper_scale=st.floats(0.3, 2), lower_scale=sizes, direction=directions)
@few
def test_bones_with_location_and_scale_of_their_own(upper, lower, upper_scale, lower_scale, direction):
    ob = fresh_rig((HIP, LEG[1], LEG[2]._replace(connected=False)))
    thigh, shin = ob.pose.bones["thigh"], ob.pose.bones["shin"]
    thigh.location, shin.location = 0.3 * Vector(upper), 0.2 * Vector(lower)
    thigh.scale, shin.scale = [upper_scale] * 3, lower_scale
    follow(ob, 0.6, direction)


def test_a_location_on_a_connected_bone_counts_for_nothing():
    ob = make_rig()
    ob.pose.bones["shin"].location = (1, 2, 3)
    follow(ob)


def test_an_upper_bone_without_a_parent():
    ob = make_rig((LEG[1]._replace(parent=""), LEG[2]))
    ob.pose.bones["thigh"].location = (0.3, 0.2, 0.1)
    follow(ob)


@pytest.mark.parametrize("roll", [0, 1, 2.5])
@pytest.mark.parametrize("direction", [0, 0.0001, 1.5, math.pi])
def test_a_limb_that_is_straight_at_rest_bends_about_the_x_axis(roll, direction):
    ob = make_rig(
        (HIP, Bone("thigh", (0, 0, 0), (0, 0, -1), "hip"), Bone("shin", (0, 0, -1), (0, 0, -2), "thigh", True, roll))
    )
    follow(ob, 0.7, direction)


def test_a_limb_that_is_folded_at_rest():
    ob = make_rig(
        (HIP, Bone("thigh", (0, 0, 0), (0, 0, -1), "hip"), Bone("shin", (0, 0, -1), (0, 0, -0.2), "thigh", True))
    )
    follow(ob, 0.7, 1.0)


@pytest.mark.parametrize("short", ["thigh", "shin"])
def test_a_bone_of_almost_no_length(short):
    knee = (0, 0, -1e-5) if short == "thigh" else (0, 0, -1)
    tip = (0, 0.3, -1) if short == "thigh" else (0, 1e-6, -1 - 1e-5)
    ob = make_rig((HIP, Bone("thigh", (0, 0, 0), knee, "hip"), Bone("shin", knee, tip, "thigh", True)))
    target = make_empty(location=(0.3, 2, 1))
    chain = make_chain(ob, target)
    assert chain.reach == "TOO_FAR"
    put(target, location=(0, 1e-6, 0))
    assert chain.reach == "TOO_NEAR"
    assert np.isfinite(joints(ob)).all()


@pytest.mark.parametrize("limits", [(2.5, "TOO_FAR"), (-0.3, "TOO_NEAR")])
def test_the_closest_pose_out_of_reach(limits):
    share, reach = limits
    ob = make_rig((HIP, LEG[1], LEG[2]._replace(tail=(0.1, 0, -1.4))))
    assert follow(ob, share, 0.7).reach == reach


def test_a_target_at_the_root():
    ob = make_rig()
    frame = frame_of(ob)
    chain = make_chain(ob, make_empty(location=frame.outside(np.zeros(3))))
    assert chain.reach == "TOO_NEAR"
    assert np.linalg.norm(joints(ob).tip - joints(ob).root) == pytest.approx(abs(np.subtract(*frame.lengths)), abs=1e-6)


def exact_or_invalid(ob, names, is_measured_otherwise=False):
    """The chain is exact, or says which of the settings named is in its way."""
    frame = frame_of(ob)
    target = make_empty(location=frame.target(0.6, 0.7))
    chain = make_chain(ob, target)
    if chain.reach == "INVALID":
        assert any(name in chain.message for name in names), chain.message
        return False
    if not is_measured_otherwise:
        assert_joints(joints(ob), expected(frame, target.location))
    return True


@pytest.mark.parametrize("inherit_rotation", [True, False])
@pytest.mark.parametrize("mode", INHERIT_SCALE)
@pytest.mark.parametrize("bone", ["thigh", "shin"])
@pytest.mark.parametrize("scale", [(1, 1, 1), (1.5, 1.5, 1.5), (-1.2, 1.2, 1.2), (0.5, 1, 1.6)])
def test_every_way_to_inherit(bone, mode, inherit_rotation, scale):
    ob = make_rig()
    inheriting = ob.data.bones[bone]
    inheriting.inherit_scale, inheriting.use_inherit_rotation = mode, inherit_rotation
    hip = ob.pose.bones["hip"]
    hip.matrix_basis = Matrix.LocRotScale(Vector((0.1, 0.2, 0)), Euler((0.4, 0.8, -0.3)), Vector(scale))
    is_made_up_for = bone == "thigh" and mode == "ALIGNED" and scale == (0.5, 1, 1.6)  # in test_stretching
    is_exact = exact_or_invalid(ob, ["Inherit Scale", "Inherit Rotation"], is_made_up_for)
    assert is_exact or ((bone == "shin" or mode == "ALIGNED") and scale == (0.5, 1, 1.6))


@pytest.mark.parametrize("inherit_rotation", [True, False])
@pytest.mark.parametrize("mode", INHERIT_SCALE)
@pytest.mark.parametrize("scale", [(1, 1, 1), (0.7, 0.7, 0.7), (0.8, 1.3, 1.1)])
def test_every_way_to_inherit_an_upper_bones_own_scale(mode, inherit_rotation, scale):
    ob = make_rig()
    inheriting = ob.data.bones["shin"]
    inheriting.inherit_scale, inheriting.use_inherit_rotation = mode, inherit_rotation
    ob.pose.bones["thigh"].scale = scale
    is_made_up_for = (mode, inherit_rotation) == ("FULL", True) and scale[0] != scale[1]  # in test_stretching
    is_exact = exact_or_invalid(ob, ["Inherit Scale"], is_made_up_for)
    assert is_exact or (mode in {"FULL", "FIX_SHEAR"} and scale[0] != scale[1])


@pytest.mark.parametrize("bone", ["thigh", "shin"])
def test_use_local_location_off(bone):
    ob = make_rig((HIP, LEG[1], LEG[2]._replace(connected=False)))
    ob.data.bones[bone].use_local_location = False
    ob.pose.bones[bone].location = (0.2, -0.1, 0.15)
    ob.pose.bones["hip"].matrix_basis = Matrix.LocRotScale(None, Euler((0.4, 0.8, -0.3)), Vector((1.2, 0.8, 1)))
    assert exact_or_invalid(ob, ["Local Location"]) or bone == "shin"


def test_a_limb_scaled_to_nothing_says_so():
    ob = make_rig()
    ob.pose.bones["hip"].scale = (0, 0, 0)
    chain = make_chain(ob, make_empty(location=(0, 0, -1)), plane="SWING")
    assert chain.reach == "INVALID"
    assert "scaled to nothing" in chain.message
    put(ob.pose.bones["hip"], scale=(1, 1, 1))
    assert chain.reach == "REACHED"


def test_a_thigh_without_width_says_what_to_set():
    ob = make_rig()
    ob.pose.bones["thigh"].scale = (0, 1, 1)
    chain = make_chain(ob, plane="SWING", stretch=1.0)
    assert chain.message == "'thigh' is scaled unevenly and 'shin' inherits it: set Inherit Scale of 'shin' to Aligned"
    put(ob.pose.bones["thigh"], scale=(1, 1, 1))
    assert chain.reach == "REACHED"


@pytest.mark.parametrize("mode", MODES)
@given(direction=directions, own=place)
@few
def test_every_rotation_mode_is_written_next_to_the_animators_value(mode, direction, own):
    """So that it does not matter which frame came before."""
    ob = fresh_rig()
    limb = [ob.pose.bones[name] for name in ("thigh", "shin")]
    for bone in limb:
        bone.rotation_mode = mode
        set_rotation(bone, (*own, 0.5)[: len(rotation(bone))])
    follow(ob, 0.6, direction)
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    for bone in limb:
        mine, solved = np.array(rotation(bone)), np.array(rotation(evaluated[bone.name]))
        vectors = (mine, solved) if mode == "QUATERNION" else (mine[1:], solved[1:])
        assert mode in EULER_ORDERS or np.dot(*vectors) >= -1e-6
        assert mode == "QUATERNION" or np.abs(solved - mine)[: 3 if mode in EULER_ORDERS else 1].max() <= math.pi + 1e-5
