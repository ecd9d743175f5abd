"""Hinge angles and twists that are animated on the rig, which turn the plane at rest and the lower bone."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from scripts import installed
from tests.blender.natives import make_live, make_portable, matrices, parts, played_alone, rebuild
from tests.blender.rigs import frame_of, length, make_chain, make_empty, make_rig, press, update

curve_lists_of = installed.addon("addon.rig.data.animation").curve_lists_of
IN_SHAPE = installed.addon("addon.rig.settings").IN_SHAPE
FRAMES = range(1, 22, 4)
SETTINGS = [
    {},
    {"bend": -1.0},
    {"bend": 0.4},
    {"influence": 0.4, "softness": 0.1},
    {"stretch": 1.0, "min_angle": 0.5},
]


def animated_leg(place=(0.7, 0.4), scale=(1, 1, 1), names=IN_SHAPE, plane="REST", **settings):
    """A leg below a hip that is turned and scaled, with keys on what shapes it."""
    ob = make_rig()
    if "stretch" in settings:
        ob.data.bones["shin"].inherit_scale = "ALIGNED"
    ob.pose.bones["hip"].matrix_basis = Matrix.LocRotScale(None, Euler((0.3, -0.5, 0.8)), Vector(scale))
    ob.pose.bones["thigh"].rotation_quaternion = Euler((0.2, 0.1, -0.3)).to_quaternion()
    update()
    pole = make_empty("pole", (1, 5, 0))
    target = make_empty(location=frame_of(ob).target(*place, 0.05))
    make_chain(ob, target, plane=plane, pole_target=pole, **settings)
    shin = ob.pose.bones["shin"]
    for name, ends in (("hinge_angle", (-1.8, 2.4)), ("lower_twist", (1.1, -0.9)), ("pole_angle", (0.9, -2.6))):
        for frame, value in zip((1, 21), ends, strict=True) if name in names else ():
            setattr(shin, f"planar_ik_{name}", value)
            shin.keyframe_insert(f"planar_ik_{name}", frame=frame)
    return ob


def played(ob):
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        found.append(matrices(ob))
    return np.array(found)


@pytest.mark.parametrize("plane", ["REST", "SWING", "POLE"])
@pytest.mark.parametrize("settings", SETTINGS)
def test_they_turn_the_limb_as_on_a_live_chain_there_and_back(plane, settings):
    ob = animated_leg(plane=plane, **settings)
    had, live = parts(ob), played(ob)
    make_portable(ob)
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.runs_on, chain.message) == ("RIG", "")
    assert np.allclose(played(ob), live, rtol=0, atol=1e-5 * length(ob))
    make_live(ob)
    assert np.allclose(played(ob), live, rtol=0, atol=1e-5 * length(ob))
    assert parts(ob) == had


@pytest.mark.parametrize("name", IN_SHAPE)
@pytest.mark.parametrize("scale", [(-1, 1, 1), (1, 1.5, 0.7), (0.5, 0.5, -0.5)])
def test_each_alone_below_what_is_mirrored_or_scaled_unevenly(scale, name):
    ob = animated_leg(scale=scale, names=(name,), plane="POLE" if name == "pole_angle" else "REST")
    live, total = played(ob), length(ob)
    make_portable(ob)
    assert np.allclose(played(ob), live, rtol=0, atol=1e-5 * total)


@pytest.mark.parametrize("scale", [(1, 1, 1), (-1, 1, 1)])
def test_a_shin_that_does_not_inherit_rotation_is_twisted_too(scale):
    ob = make_rig()
    ob.data.bones["shin"].use_inherit_rotation = False
    ob.pose.bones["hip"].scale = scale
    update()
    chain = make_chain(ob, make_empty(location=frame_of(ob).target(0.7, 0.4)))
    shin = ob.pose.bones["shin"]
    shin.keyframe_insert("planar_ik_lower_twist", frame=1)
    shin.planar_ik_lower_twist = 1.2
    shin.keyframe_insert("planar_ik_lower_twist", frame=21)
    live, total = played(ob), length(ob)
    make_portable(ob)
    assert (chain.runs_on, chain.message) == ("RIG", "")
    assert np.allclose(played(ob), live, rtol=0, atol=1e-5 * total)


@pytest.mark.parametrize("plane", ["REST", "SWING", "POLE"])
@pytest.mark.parametrize("share", [0.0, 0.02, 1.3])
@pytest.mark.parametrize("direction", [0.0, np.pi])
def test_they_turn_straight_folded_and_opposite_limbs(plane, share, direction):
    ob = animated_leg((share, direction), names=("hinge_angle",), plane=plane)
    live, total = played(ob), length(ob)
    make_portable(ob)
    assert np.allclose(played(ob), live, rtol=0, atol=1e-5 * total)


@pytest.mark.parametrize("plane", ["REST", "SWING", "POLE"])
def test_they_are_baked_as_they_turn(plane):
    ob = animated_leg(plane=plane)
    make_portable(ob)
    wanted = played(ob)
    press(ob, "bake", range="GIVEN", frame_start=1, frame_end=21, tolerance=0.0)
    assert not ob.pose.bones["shin"].planar_ik.enabled
    assert np.allclose(played(ob), wanted, rtol=0, atol=2e-5 * length(ob))


def test_they_act_without_the_extension(tmp_path):
    ob = animated_leg(plane="SWING", bend=0.4)
    make_portable(ob)
    here = played(ob)
    path = str(tmp_path / "hinged.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    alone, said = played_alone(tmp_path, [path], FRAMES)
    assert "ERROR" not in said
    assert np.allclose(alone[0], here, atol=1e-6)


@pytest.mark.parametrize(("name", "ends"), [("hinge_angle", (-0.5, 0.8)), ("softness", (0.0, 0.3))])
def test_what_is_keyed_once_the_limb_is_on_the_rig_acts_when_it_is_rebuilt(name, ends):
    ob = make_rig()
    chain = make_chain(ob, make_empty(location=frame_of(ob).target(0.9, 0.4)))
    shin = ob.pose.bones["shin"]
    make_portable(ob)
    for frame in (1, 21):
        shin.keyframe_insert(f"planar_ik_{name}", frame=frame)
    (curve,) = (each for curves in curve_lists_of(ob.animation_data.action) for each in curves)
    for key, value in zip(curve.keyframe_points, ends, strict=True):
        key.co.y = value
    update()
    assert "press Rebuild on the Rig" in chain.message
    rebuild(ob)
    assert chain.message == ""
    rig = played(ob)
    make_live(ob)
    assert np.allclose(played(ob), rig, rtol=0, atol=1e-5 * length(ob))
    assert not np.allclose(rig[0], rig[-1], atol=0.01)
