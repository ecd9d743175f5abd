"""How much of the solution a limb on the rig takes over: the slerp of its bones' own rotations, whatever carries it."""

from __future__ import annotations

from contextlib import suppress

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector

from tests.blender.natives import make_portable, matrices
from tests.blender.rigs import assert_joints, frame_of, joints, make_chain, make_empty, make_rig, put, select, update

CARRIED = {
    "plain": (1, 1, 1),
    "mirrored": (-1, 1, 1),
    "even": (1.7, 1.7, 1.7),
    "nearly even": (1, 1.05, 1),
    "uneven": (1, 1.5, 0.7),
    "flat": (1, 1, 0.01),
}
"""How what carries a limb is scaled."""

TURN = Euler((0.7, -1.9, 2.3))
LIMB = ("thigh", "shin")


def carried_rig(on: str, scale: tuple[float, float, float]):
    """A rig whose object, or whose hip, is turned and scaled."""
    ob = make_rig()
    if on == "object":
        ob.rotation_euler, ob.scale = TURN, scale
        ob.pose.bones["hip"].rotation_quaternion = Euler((0.4, 0.2, -0.5)).to_quaternion()
    else:
        ob.pose.bones["hip"].matrix_basis = Matrix.LocRotScale((0.1, 0.2, 0.3), TURN, Vector(scale))
    update()
    return ob


def turns_of(ob) -> list[Quaternion]:
    """The rotations that the limb's evaluated bones have, as if of their own."""
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bones = [evaluated.pose.bones[name] for name in LIMB]
    return [
        ob.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
        .to_quaternion()
        .normalized()
        for bone in bones
    ]


def turn(ob, turns) -> None:
    for name, each in zip(LIMB, turns, strict=True):
        ob.pose.bones[name].rotation_quaternion = each


@pytest.mark.parametrize("on", ["object", "hip"])
@pytest.mark.parametrize("scale", CARRIED.values(), ids=CARRIED)
def test_a_share_of_the_solution_is_that_of_the_bones_own_rotations(on, scale):
    ob = carried_rig(on, scale)
    chain = make_chain(ob, make_empty("target", frame_of(ob).target(0.6, 0.9)), bend=-1.0)
    make_portable(ob)
    solved = turns_of(ob)
    far = [Euler((0.3, 2.2, -0.4)).to_quaternion(), Euler((-1.3, 0.8, 0.9)).to_quaternion()]
    close = [each @ Euler((0.01, -0.015, 0.005)).to_quaternion() for each in solved]
    for own in (far, close):
        for share in (0.0, 0.25, 0.6, 1.0):
            chain.enabled = False
            turn(ob, [a.slerp(b, share) for a, b in zip(own, solved, strict=True)])
            update()
            wanted = joints(ob), matrices(ob)
            chain.enabled, chain.influence = True, share
            turn(ob, own)
            update()
            assert_joints(joints(ob), wanted[0], 1e-5)
            assert np.allclose(matrices(ob), wanted[1], atol=1e-5)


NO_ROTATION = "NO_ROTATION"
INHERITS = [
    ("FULL", NO_ROTATION),
    (NO_ROTATION, NO_ROTATION),
    ("NONE", NO_ROTATION),
    ("FIX_SHEAR", "FULL"),
    ("AVERAGE", "NONE"),
]


def let_inherit(ob, bone: str, what: str) -> None:
    """Let a bone inherit scale in a way, or no rotation."""
    if what == NO_ROTATION:
        ob.data.bones[bone].use_inherit_rotation = False
    else:
        ob.data.bones[bone].inherit_scale = what


@pytest.mark.parametrize("plane", ["REST", "POLE"])
@pytest.mark.parametrize("scale", [(-1.2, 1.2, 1.2), (1, 1.5, 0.7)], ids=["mirrored", "uneven"])
@pytest.mark.parametrize(
    "inherits",
    [
        ("FULL", NO_ROTATION),
        (NO_ROTATION, NO_ROTATION),
        ("NONE", NO_ROTATION),
        ("FIX_SHEAR", "FULL"),
        ("AVERAGE", "NONE"),
    ],
)
def test_what_bones_inherit_of_what_carries_them_is_as_live(inherits, scale, plane):
    ob = make_rig()
    for bone, what in zip(LIMB, inherits, strict=True):
        let_inherit(ob, bone, what)
    ob.pose.bones["hip"].matrix_basis = Matrix.LocRotScale((0.1, 0.2, 0.3), Euler((0.4, -0.7, 1.1)), Vector(scale))
    turn(ob, [Euler((0.3, 0.2, -0.4)).to_quaternion()] * 2)
    pole = make_empty("pole", (1, 5, 1))
    chain = make_chain(ob, make_empty("target", (0.3, 0.5, -1.1)), plane=plane, pole_target=pole)
    if chain.message:
        assert inherits[1] == NO_ROTATION  # which live does not pose under uneven scale
        return
    live = []
    for share in (1.0, 0.4):
        put(chain, influence=share)
        live.append((joints(ob), matrices(ob)))
    make_portable(ob)
    for share, (at, whole) in zip((1.0, 0.4), live, strict=True):
        put(chain, influence=share)
        assert chain.message == ""
        assert_joints(joints(ob), at, 1e-5)
        assert np.allclose(matrices(ob), whole, atol=3e-5)


def test_a_limb_that_is_scaled_to_nothing_has_a_place_and_comes_back():
    ob = make_rig()
    chain = make_chain(ob, make_empty("target", frame_of(ob).target(0.6, 0.9)), influence=0.5)
    make_portable(ob)
    before = matrices(ob)
    hip = ob.pose.bones["hip"]
    for scale in ((0, 0, 0), (1, 0, 1)):
        put(hip, scale=scale)
        assert np.isfinite(matrices(ob)).all()
    put(hip, scale=(0, 0, 0))
    assert np.allclose(joints(ob), np.array(hip.head), atol=1e-5)
    put(hip, scale=(1, 1, 1))
    assert np.array_equal(matrices(ob), before)
    assert chain.message == ""


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("inherits", ["NONE", "AVERAGE"])
def test_a_pose_that_is_not_a_number_is_said(axis, inherits):
    """As that of a lower bone may be below an upper one that is scaled to nothing along one axis: Blender inverts what
    is almost flat then."""
    ob = make_rig()
    ob.data.bones["shin"].inherit_scale = inherits
    thigh = ob.pose.bones["thigh"]
    thigh.rotation_quaternion = Euler((0.3, 0.2, -0.4)).to_quaternion()
    thigh.scale[axis] = 0.0
    chain = make_chain(ob, plane="SWING", influence=0.5)
    select(ob, "shin")
    with suppress(RuntimeError):  # a limb of no length
        bpy.ops.pose.planar_ik_make_portable()
    for number in range(4):
        put(chain.target, location=Vector((0.3 * number - 0.4, 0.5 - 0.2 * number, -1)))
        assert np.isfinite(matrices(ob)).all() or chain.reach == "INVALID"


def test_limbs_share_one_bone_at_the_worlds_origin():
    ob = make_rig()
    ob.location, ob.rotation_euler, ob.scale = (1, 2, 3), TURN, (1, 2, 0.5)
    make_chain(ob, make_empty("target", (0.3, 0.5, -1.1)))
    make_portable(ob)
    world = [bone.name for bone in ob.pose.bones if bone.name.startswith("MCH-world")]
    assert len(world) == 1
    at = np.array(ob.matrix_world) @ matrices(ob, *world)[0]
    assert np.allclose(at, np.eye(4), atol=1e-6)
