"""What may carry a target, and what only stepping the scene follows."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from scripts import installed
from tests.blender.bake_rigs import (
    FRAMES,
    add_pole,
    assert_same,
    assert_ways,
    constrain,
    key_setting,
    make_chain,
    make_leg,
    motion,
)
from tests.blender.rigs import curves, in_scene, make_empty, set_keys

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
    carrier = in_scene("carrier", make())
    set_keys(carrier, "rotation_euler.z", {1: 0.0, 24: 0.4})
    chain.target.parent = carrier
    assert_ways(ob, ways + "3")


def shaped() -> Any:
    """A triangle that a shape key moves."""
    mesh = bpy.data.meshes.new("skin")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    skin = in_scene("skin", mesh)
    skin.shape_key_add(name="Basis")
    key = skin.shape_key_add(name="aside")
    for point in key.data:
        point.co.x += 0.5
    set_keys(key, "value", {1: 0.0, 24: 1.0})
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
    set_keys(ob.pose.bones["thigh"], "location.x", {1: 0.0, 24: 0.3})


def drive_influence(ob: Any, chain: Any) -> None:
    ob.driver_add('pose.bones["shin"].planar_ik.influence').driver.expression = "0.5 + sin(frame / 5) / 3"


def scale_hip(ob: Any, *scale: float) -> None:
    """In the middle; where the bake begins, it is as it was."""
    set_keys(ob.pose.bones["hip"], "scale", {1: (1.0, 1.0, 1.0), 12: scale, 24: (1.0, 1.0, 1.0)})


def grow_parent(ob: Any, chain: Any) -> None:
    chain.stretch = 1.0
    scale_hip(ob, 1.4, 1.4, 1.4)


def lengthen_parent(ob: Any, chain: Any) -> None:
    chain.stretch = 1.0
    scale_hip(ob, 1.0, 1.4, 1.0)


def flatten_parent(ob: Any, chain: Any) -> None:
    scale_hip(ob, 1.0, 0.0, 1.0)


def key_chain_of_upper_bone(ob: Any, chain: Any) -> None:
    """Which is none, and is never switched on."""
    ob.keyframe_insert('pose.bones["thigh"].planar_ik_influence', frame=1)


def put_pole_in_line(ob: Any, chain: Any) -> None:
    """In some frames, in which the plane is as it swings without a pole."""
    add_pole(chain, (0.0, 0.0, -2.0))
    chain.target.animation_data_clear()
    set_keys(chain.target, "location", {1: (0.0, 0.5, -1.0), 12: (0.0, 0.0, -1.0), 24: (0.0, -0.5, -1.0)})


def lose_target(ob: Any, chain: Any) -> None:
    """In some frames it is nowhere."""
    curve = curves(chain.target)["location", 1]
    point = curve.keyframe_points[4]
    point.co[1], point.interpolation = float("inf"), "CONSTANT"
    curve.update()


def blend_settings(ob: Any, chain: Any) -> None:
    key_setting(ob, "influence", 1.0, 0.0)
    data = ob.animation_data
    data.nla_tracks.new().strips.new("settings", 3, data.action)
    data.action = None


def drive_by_scene(ob: Any, chain: Any) -> None:
    driver = chain.target.driver_add("delta_location", 0).driver
    variable = driver.variables.new()
    variable.name, variable.targets[0].id_type = "now", "SCENE"
    variable.targets[0].id, variable.targets[0].data_path = bpy.context.scene, "frame_current"
    driver.expression = "now / 50"


def drive_by_context(ob: Any, chain: Any) -> None:
    driver = chain.target.driver_add("delta_location", 0).driver
    variable = driver.variables.new()
    variable.name, variable.type = "now", "CONTEXT_PROP"
    variable.targets[0].context_property, variable.targets[0].data_path = "ACTIVE_SCENE", "frame_current"
    driver.expression = "now / 50"


def hide_at_times(ob: Any, chain: Any) -> None:
    constrain(chain.target)
    set_keys(chain.target, "hide_viewport", {1: False, 8: True, 16: False})


def drop(ob: Any, chain: Any) -> None:
    carrier = in_scene("carrier", bpy.data.meshes.new("carrier"))
    bpy.context.view_layer.objects.active = carrier
    bpy.ops.rigidbody.object_add()
    chain.target.parent = carrier


def drive_by_python(ob: Any, chain: Any) -> None:
    bpy.app.driver_namespace["now"] = lambda: bpy.context.scene.frame_current
    chain.target.driver_add("delta_location", 0).driver.expression = "now() / 50"


SOURCE = """
import math
from math import sin
import bpy
from mathutils import noise
SIZE, SEEN, HERE = 0.3, [0.0], bpy.data.objects
def plain(frame): return SIZE * sin(frame / 5)
def by_others(frame, turns=2): return plain(frame) + math.cos(turns) if frame > 3 else noise.noise((frame / 9, 0, 0))
def by_itself(frame): return by_itself(frame - 1) + 0.01 if frame > 1 else 0.0
def by_state(frame):
    SEEN[0] += 0.01
    return SEEN[0]
def by_setting(frame):
    global SIZE
    SIZE += 0.01
    return SIZE
def by_import(frame):
    import bpy
    return bpy.context.scene.frame_current / 50
def by_name(frame): return getattr(bpy.context, "scene").frame_current / 50
def by_objects(frame): return 0.1 * HERE["leg"].pose.bones["shin"].tail.x
def by_default(frame, here=HERE): return 0.1 * here["leg"].pose.bones["shin"].tail.x
def by_lambda(frame): return (lambda: bpy.context.scene.frame_current)() / 50
def caller(frame): return by_objects(frame)
"""


@pytest.mark.parametrize("name", ["plain", "by_others"])
def test_what_a_function_moves_that_reads_nothing_else_is_evaluated_apart(addon, name):
    ob = make_leg()
    drive_by_function(make_chain(ob).target, name)
    assert_ways(ob, "23")


@pytest.mark.parametrize(
    "name",
    ["by_itself", "by_state", "by_setting", "by_import", "by_name", "by_objects", "by_default", "by_lambda", "caller"],
)
def test_a_function_that_may_read_anything_is_not_trusted(addon, name):
    ob = make_leg()
    target = make_chain(ob).target
    drive_by_function(target, name)
    hangs_on_variables = installed.addon("addon.bake.ways.courses.expressions").hangs_on_variables
    assert not hangs_on_variables(target.animation_data.drivers[0].driver)


def drive_by_function(target: Any, name: str) -> None:
    """One that a text of the file registers."""
    text = bpy.data.texts.new("functions.py")
    text.write(SOURCE)
    bpy.app.driver_namespace[name] = getattr(text.as_module(), name)
    target.driver_add("delta_location", 0).driver.expression = f"{name}(frame)"
    bpy.context.view_layer.update()


def follow_a_chain(ob: Any, chain: Any) -> None:
    leader = make_leg("leader")
    leader.location.z = -0.4
    make_chain(leader)
    chain.target, chain.subtarget = leader, "shin"


def follow_a_chain_out_of_sight(ob: Any, chain: Any) -> None:
    """In no collection that is shown, but evaluated, because something that is shown needs it."""
    follow_a_chain(ob, chain)
    leader = chain.target
    bpy.context.scene.collection.objects.unlink(leader)
    make_empty("follower").constraints.new("COPY_LOCATION").target = leader


@pytest.mark.parametrize(
    "change",
    [
        hang_on_a_vertex,
        follow_a_group,
        lose_target,
        drive_by_scene,
        drive_by_python,
        drive_by_context,
        hide_at_times,
        drop,
    ],
)
def test_what_arrays_cannot_pose_goes_by_stepping(addon, change):
    ob = make_leg()
    chain = make_chain(ob)
    change(ob, chain)
    bpy.context.view_layer.update()
    assert_ways(ob, "3")


@pytest.mark.parametrize(
    ("change", "ways"),
    [
        (key_location, "123"),
        (grow_parent, "123"),
        (lengthen_parent, "123"),
        (drive_influence, "23"),
        (blend_settings, "23"),
        (stick_to_a_shape, "23"),
        (put_pole_in_line, "123"),
        (key_chain_of_upper_bone, "123"),
    ],
)
def test_what_need_not_be_stepped_goes_by_arrays(addon, change, ways):
    ob = make_leg()
    change(ob, make_chain(ob))
    bpy.context.view_layer.update()
    assert_ways(ob, ways)


@pytest.mark.parametrize(("change", "ways"), [(follow_a_chain, "13"), (follow_a_chain_out_of_sight, "3")])
def test_a_chain_that_follows_a_chain_goes_after_it(addon, change, ways):
    ob = make_leg()
    change(ob, make_chain(ob))
    bpy.context.view_layer.update()
    assert_ways(ob, ways, lowers=[ob.pose.bones["shin"]])


def test_a_flat_frame_is_stepped_alone(addon):
    ob = make_leg()
    flatten_parent(ob, make_chain(ob))
    bpy.context.view_layer.update()
    wanted = motion(ob)
    baking, ways = installed.addon("addon.bake"), installed.addon("addon.bake.ways")
    solved = baking.finish(ways.by_arrays(bpy.context, [ob.pose.bones["shin"]], FRAMES))[0]
    assert (solved.is_known == (FRAMES != 12)).all()
    assert_same(solved.sample.joints.tip[solved.is_known], wanted[solved.is_known, 2])


def test_a_hidden_rig_is_baked_by_curves(addon):
    baking = installed.addon("addon.bake")
    ob = make_leg()
    make_chain(ob)
    wanted = motion(ob)
    ob.hide_viewport = True
    baking.finish(baking.bake(bpy.context, baking.Request(baking.chains_of_scene(bpy.context), FRAMES)))
    ob.hide_viewport = False
    assert_same(motion(ob), wanted)


def test_a_hidden_rig_that_would_need_stepping_is_refused(addon):
    baking = installed.addon("addon.bake")
    ob = make_leg()
    make_chain(ob)
    constrain(ob.pose.bones["hip"])
    ob.hide_viewport = True
    bpy.context.view_layer.update()
    with pytest.raises(baking.Refused, match="disabled in viewports"):
        baking.finish(baking.bake(bpy.context, baking.Request(baking.chains_of_scene(bpy.context), FRAMES)))


def test_a_hidden_target_goes_by_stepping(addon):
    """Whether it moves depends on what else in the scene needs it."""
    ob = make_leg()
    chain = make_chain(ob)
    constrain(chain.target)
    chain.target.hide_viewport = True
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


@pytest.mark.parametrize("bone", ["hip", "thigh"])
@pytest.mark.parametrize("influence", [1.0, 0.5])
def test_a_rotation_of_no_length_is_the_half_turn_that_blender_takes_it_for(addon, bone, influence):
    ob = make_leg()
    make_chain(ob, influence=influence)
    ob.pose.bones[bone].rotation_quaternion = (0.0, 0.0, 0.0, 0.0)
    ob.pose.bones["hip"].keyframe_insert("location", frame=1)
    assert_ways(ob, "123")
