"""What may carry a target, and what only stepping the scene follows."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from .bake_rigs import assert_ways, key_setting, make_chain, make_leg

CARRIERS = {
    "mesh": ("12", lambda: bpy.data.meshes.new("carrier")),
    "curve": ("12", lambda: curve_data(use_path=False)),
    "camera": ("12", lambda: bpy.data.cameras.new("carrier")),
    "light": ("12", lambda: bpy.data.lights.new("carrier", "POINT")),
    "lattice": ("12", lambda: bpy.data.lattices.new("carrier")),
    "path": ("", lambda: curve_data(use_path=True)),
}


def curve_data(use_path: bool) -> Any:
    data = bpy.data.curves.new("carrier", "CURVE")
    data.dimensions, data.use_path = "3D", use_path
    spline = data.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (0.4, 0.2, 0.1, 1.0)
    return data


@pytest.mark.parametrize("kind", CARRIERS)
def test_any_object_may_carry_the_target(addon, kind):
    ob = make_leg()
    chain = make_chain(ob)
    ways, make = CARRIERS[kind]
    carrier = bpy.data.objects.new("carrier", make())
    bpy.context.scene.collection.objects.link(carrier)
    for frame, turn in ((1, 0.0), (24, 0.4)):
        carrier.rotation_euler.z = turn
        carrier.keyframe_insert("rotation_euler", frame=frame)
    chain.target.parent = carrier
    assert_ways(ob, ways + "3")


def shaped() -> Any:
    """A triangle that a shape key moves."""
    mesh = bpy.data.meshes.new("skin")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    skin = bpy.data.objects.new("skin", mesh)
    bpy.context.scene.collection.objects.link(skin)
    skin.shape_key_add(name="Basis")
    key = skin.shape_key_add(name="aside")
    for point in key.data:
        point.co.x += 0.5
    for frame, value in ((1, 0.0), (24, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    return skin


def hang_on_a_vertex(ob: Any, chain: Any) -> None:
    chain.target.parent, chain.target.parent_type = shaped(), "VERTEX"


def stick_to_a_shape(ob: Any, chain: Any) -> None:
    chain.target.constraints.new("SHRINKWRAP").target = shaped()


def follow_a_group(ob: Any, chain: Any) -> None:
    skin = shaped()
    skin.vertex_groups.new(name="all").add([0, 1, 2], 1.0, "REPLACE")
    constraint = chain.target.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget, constraint.use_offset = skin, "all", True


def key_location(ob: Any, chain: Any) -> None:
    for frame, x in ((1, 0.0), (24, 0.3)):
        ob.pose.bones["thigh"].location.x = x
        ob.pose.bones["thigh"].keyframe_insert("location", frame=frame)


def drive_influence(ob: Any, chain: Any) -> None:
    ob.driver_add('pose.bones["shin"].planar_ik.influence').driver.expression = "0.5 + sin(frame / 5) / 3"


def grow_parent(ob: Any, chain: Any) -> None:
    """A bone that stretches does not inherit all of its parent's scale."""
    chain.stretch = 1.0
    for frame, size in ((1, 1.0), (24, 1.4)):
        ob.pose.bones["hip"].scale = (size, size, size)
        ob.pose.bones["hip"].keyframe_insert("scale", frame=frame)


def blend_settings(ob: Any, chain: Any) -> None:
    key_setting(ob, "influence", 1.0, 0.0)
    data = ob.animation_data
    data.nla_tracks.new().strips.new("settings", 3, data.action)
    data.action = None


@pytest.mark.parametrize(
    "change",
    [
        hang_on_a_vertex,
        stick_to_a_shape,
        follow_a_group,
        key_location,
        drive_influence,
        blend_settings,
        grow_parent,
    ],
)
def test_what_arrays_cannot_pose_goes_by_stepping(addon, change):
    ob = make_leg()
    chain = make_chain(ob)
    change(ob, chain)
    bpy.context.view_layer.update()
    assert_ways(ob, "3")


def test_a_modifier_keeps_an_object_from_a_scene_of_its_own(addon):
    """What it does there, as to a simulation's cache, would be done to the object itself."""
    ob = make_leg()
    chain = make_chain(ob)
    skin = shaped()
    skin.modifiers.new("Cloth", "CLOTH")
    chain.target.parent = skin
    assert_ways(ob, "13")
