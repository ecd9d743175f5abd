"""What a handler can't do, and limbs on the rig can: what hangs on the limb, and what it hangs on, whatever that is.

The limb is compared with the same limb keyed by hand, or its tip with the place of its target.
"""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.natives import make_portable
from tests.blender.rigs import (
    activate,
    curves,
    frame_of,
    from_library,
    in_scene,
    joints,
    key_location,
    length,
    make_chain,
    make_empty,
    make_rig,
    place_of,
    press,
    put,
    rotation_name,
    select,
    set_keys,
    shown_rotation,
    update,
)
from tests.blender.test_render import dancing, images, keyed_by_hand, stage

FRAMES = range(1, 9)
SAME = 1e-5


def native_leg(**settings: Any) -> Any:
    """A leg whose foot swings, on the rig."""
    ob = make_rig()
    frame, target = frame_of(ob), make_empty("target")
    key_location(target, [frame.target(0.3 + 0.08 * i, 0.4 * i) for i in range(len(FRAMES))])
    for curve in curves(target).values():
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    make_chain(ob, target, **settings)
    make_portable(ob)
    return ob


def key_by_hand(ob: Any) -> None:
    """Take what the chain shows into keys, and the chain off the rig."""
    turns = {}
    for number in FRAMES:
        bpy.context.scene.frame_set(number)
        turns[number] = [shown_rotation(ob, name) for name in ("thigh", "shin")]
    press(ob, "remove")
    assert not any(bone.constraints for bone in ob.pose.bones)
    for number, pair in turns.items():
        for name, numbers in zip(("thigh", "shin"), pair, strict=True):
            bone = ob.pose.bones[name]
            setattr(bone, rotation_name(bone), numbers)
            bone.keyframe_insert(rotation_name(bone), frame=number)
    bpy.ops.object.mode_set(mode="OBJECT")


def on_shin(ob: Any, size: int = 4) -> Any:
    """A grid below the shin, which moves it."""
    bpy.ops.object.mode_set(mode="OBJECT")
    points = [(0.1 + 0.2 * x, 0.2 * y, -1.9) for x in range(size) for y in range(size)]
    faces = [
        (size * x + y, size * x + y + 1, size * (x + 1) + y + 1, size * (x + 1) + y)
        for x in range(size - 1)
        for y in range(size - 1)
    ]
    mesh = bpy.data.meshes.new("cloth")
    mesh.from_pydata(points, [], faces)
    cloth = in_scene("cloth", mesh)
    cloth.vertex_groups.new(name="shin").add(range(size * size), 1.0, "REPLACE")
    cloth.modifiers.new("rig", "ARMATURE").object = ob
    return cloth


def play(read: Any) -> np.ndarray:
    """What is read of the evaluated scene, from frame to frame."""
    found = []
    for number in (*FRAMES[:1], *FRAMES):  # the first one resets what is simulated
        bpy.context.scene.frame_set(number)
        found.append(read(bpy.context.evaluated_depsgraph_get()))
    return np.array(found[1:])


def assert_as_by_hand(ob: Any, read: Any) -> None:
    """What is read is the same when the limb is keyed by hand; and moves by more than a frame's error would be."""
    shown = play(read)
    key_by_hand(ob)
    by_hand = play(read)
    assert np.abs(by_hand[-1] - by_hand[0]).max() > 0.3
    assert np.abs(shown - by_hand).max() <= 1e-3  # what is simulated makes more of rounding


def test_cloth_that_is_pinned_to_the_limb():
    ob = native_leg()
    cloth = on_shin(ob)
    cloth.vertex_groups.new(name="pins").add(range(4), 1.0, "REPLACE")
    modifier = cloth.modifiers.new("cloth", "CLOTH")
    modifier.settings.vertex_group_mass = "pins"
    modifier.settings.quality = 2

    def read(depsgraph: Any) -> np.ndarray:
        mesh = cloth.evaluated_get(depsgraph).data
        return np.array([vertex.co for vertex in mesh.vertices])

    assert_as_by_hand(ob, read)


def test_particles_from_the_limb():
    ob = native_leg()
    emitter = on_shin(ob, 2)
    emitter.modifiers.new("particles", "PARTICLE_SYSTEM")
    settings = emitter.particle_systems[0].settings
    settings.count, settings.frame_start, settings.frame_end, settings.lifetime = 12, 1, 6, 50

    def read(depsgraph: Any) -> np.ndarray:
        particles = emitter.evaluated_get(depsgraph).particle_systems[0].particles
        return np.array([particle.location if particle.alive_state == "ALIVE" else (0, 0, 0) for particle in particles])

    assert_as_by_hand(ob, read)


def test_motion_paths():
    ob = native_leg()
    tips = play(lambda _: joints(ob).tip)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    select(ob, "shin")
    bpy.ops.pose.paths_calculate(range="SCENE", bake_location="TAILS")
    points = np.array([point.co for point in ob.pose.bones["shin"].motion_path.points])[: len(FRAMES)]
    assert np.abs(tips[-1] - tips[0]).max() > 0.3
    assert np.abs(points - tips).max() <= SAME * length(ob)


def sheet(name: str, height: float = 0.0) -> Any:
    """A square about the leg's reach, as a mesh."""
    mesh = bpy.data.meshes.new(name)
    corners = [(-0.5, -0.5, height), (0.8, -0.5, height), (0.8, 0.9, height), (-0.5, 0.9, height)]
    mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
    ob = bpy.data.objects.new(name, mesh)
    ob.location.z = -1.2
    bpy.context.scene.collection.objects.link(ob)
    return ob


def on_corners(ob: Any) -> Any:
    """An empty that three corners of a mesh carry, as it is evaluated."""
    empty = make_empty("target")
    empty.parent, empty.parent_type, empty.parent_vertices = ob, "VERTEX_3", (0, 1, 2)
    return empty


def on_nodes() -> Any:
    """A target on a mesh that geometry nodes move with the time."""
    ob = sheet("nodes")
    group = bpy.data.node_groups.new("move", "GeometryNodeTree")
    for side in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=side, socket_type="NodeSocketGeometry")
    names = ("NodeGroupInput", "GeometryNodeSetPosition", "NodeGroupOutput", "GeometryNodeInputSceneTime")
    start, move, end, time = (group.nodes.new(name) for name in names)
    scale = group.nodes.new("ShaderNodeVectorMath")
    scale.operation = "SCALE"
    scale.inputs[0].default_value = (0.02, 0.05, 0.06)
    for a, b in (
        (start.outputs[0], move.inputs["Geometry"]),
        (move.outputs[0], end.inputs[0]),
        (time.outputs["Frame"], scale.inputs["Scale"]),
        (scale.outputs[0], move.inputs["Offset"]),
    ):
        group.links.new(a, b)
    ob.modifiers.new("nodes", "NODES").node_group = group
    return on_corners(ob)


def on_surface() -> Any:
    """A target on a mesh that another one deforms, which a hook does."""
    below, above = sheet("below"), sheet("above", 0.1)
    hook = make_empty("hook")
    key_location(hook, [(0, 0, 0), (0.2, 0.3, 0.3)], 1, 7)
    modifier = below.modifiers.new("hook", "HOOK")
    modifier.object = hook
    modifier.vertex_indices_set([0, 1, 2, 3])
    bound = above.modifiers.new("surface", "SURFACE_DEFORM")
    bound.target = below
    bpy.context.scene.frame_set(1)
    activate(above)
    bpy.ops.object.surfacedeform_bind(modifier="surface")
    assert bound.is_bound
    return on_corners(above)


def on_camera() -> Any:
    """A target that a driver moves by a camera's lens."""
    camera = bpy.data.cameras.new("camera")
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("camera", camera))
    set_keys(camera, "lens", {1: 20.0, 8: 60.0})
    empty = make_empty("target", (0.1, 0.1, -1.2))
    driver = empty.driver_add("location", 1).driver
    variable = driver.variables.new()
    variable.name = "lens"
    variable.targets[0].id_type, variable.targets[0].id, variable.targets[0].data_path = "CAMERA", camera, "lens"
    driver.expression = "lens/80"
    return empty


@pytest.mark.parametrize("make_target", [on_nodes, on_surface, on_camera])
def test_targets_that_hang_on(make_target):
    target = make_target()
    ob = make_rig()
    make_chain(ob, target, plane="POLE", pole_target=make_empty("pole", (0.3, 5, -0.5)))
    make_portable(ob)
    chain = ob.pose.bones["shin"].planar_ik

    def read(_depsgraph: Any) -> np.ndarray:
        assert (chain.reach, chain.message) == ("REACHED", "")
        goal = place_of(target)
        assert np.linalg.norm(joints(ob).tip - goal) <= SAME * length(ob)
        return goal

    places = play(read)
    assert np.abs(places[-1] - places[0]).max() > 0.1


@pytest.fixture
def handlers():
    """Handlers of another extension, taken off after the test."""
    posts = bpy.app.handlers.frame_change_post
    before = list(posts)
    yield posts
    for handler in [handler for handler in posts if handler not in before]:
        posts.remove(handler)


@pytest.mark.parametrize("place", [0, -1])
def test_a_handler_that_moves_the_hip(handlers, place):
    ob = native_leg(plane="POLE", pole_target=make_empty("pole", (0.3, 5, -0.5)))
    target = bpy.data.objects["target"]

    def move(scene: Any, _depsgraph: Any) -> None:
        ob.pose.bones["hip"].location = (0.03 * scene.frame_current, 0, 0.02 * math.sin(scene.frame_current))

    handlers.insert(place if place == 0 else len(handlers), move)
    roots = []
    for number in FRAMES:
        bpy.context.scene.frame_set(number)
        assert np.linalg.norm(joints(ob).tip - place_of(target)) <= SAME * length(ob)
        roots.append(joints(ob).root)
    assert np.linalg.norm(roots[-1] - roots[0]) > 0.15


@pytest.mark.parametrize("place", [0, -1])
def test_a_handler_that_reads_the_tip(handlers, place):
    ob = native_leg()
    seen: list[Any] = []

    def look(_scene: Any, depsgraph: Any) -> None:
        seen.append(np.array(ob.evaluated_get(depsgraph).pose.bones["shin"].tail))

    handlers.insert(place if place == 0 else len(handlers), look)
    tips = play(lambda _: joints(ob).tip)
    assert np.abs(np.array(seen)[-len(FRAMES) :] - tips).max() <= 1e-6
    assert np.abs(tips[-1] - tips[0]).max() > 0.3


def test_a_linked_rig_without_override(tmp_path):
    ob = native_leg()
    tips = play(lambda _: joints(ob).tip)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    (linked,) = from_library(tmp_path / "library.blend", "rig")
    assert linked.library
    assert np.abs(play(lambda _: joints(linked).tip) - tips).max() <= 1e-6
    assert linked.pose.bones["shin"].planar_ik.runs_on == "RIG"


def test_nothing_of_ours_poses_or_looks_at_it(addon):
    ob = native_leg()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.scene.frame_set(3)
    put(ob.location, x=1)
    plan = addon.live.plan.plan
    assert (plan.chains, plan.levels, plan.watchers) == ({}, [], {})


def test_posing_it_looks_for_no_chains(addon, monkeypatch):
    ob = native_leg()
    plan = addon.live.plan
    looked: list[str] = []
    monkeypatch.setattr(plan, "chains_of_file", lambda: looked.append("looked") or {})
    put(ob.pose.bones["hip"], rotation_quaternion=(1, 0.1, 0, 0))
    assert not looked
    ob.pose.bones["thigh"].planar_ik_enabled = True  # as by Paste Pose: another chain, which is live
    update()
    assert looked


@pytest.mark.parametrize("is_overridden", [False, True])
def test_a_render_with_motion_blur(tmp_path, is_overridden):
    ob = dancing("one" if is_overridden else "deep")
    if is_overridden:
        ob = overridden(tmp_path)
    lowers = ["shin"] if is_overridden else ["shin", "shin1"]
    make_portable(ob, *lowers)
    stage(True)
    frames = (6, 7)
    native = images(tmp_path / "native", frames)
    select(ob, *lowers)
    keyed_by_hand(ob, lowers)
    by_hand = images(tmp_path / "hand", frames)
    for seen, wanted in zip(native, by_hand, strict=True):
        assert wanted.max() > 0.5
        assert np.abs(seen - wanted).max() < 0.02
    assert np.abs(native[0] - native[1]).max() > 0.2


def overridden(folder: Any) -> Any:
    """All that there is in this file, as a library that a new one overrides."""
    collection = bpy.data.collections.new("character")
    for ob in list(bpy.context.scene.collection.objects):
        collection.objects.link(ob)
        bpy.context.scene.collection.objects.unlink(ob)
    bpy.context.scene.collection.children.link(collection)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "library.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(folder / "library.blend"), link=True) as (_, into):
        into.collections = ["character"]
    scene = bpy.context.scene
    made = into.collections[0].override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    update()
    rig = next(ob for ob in made.all_objects if ob.type == "ARMATURE")
    data = rig.animation_data
    data.action = data.action.copy()  # which takes keys
    if hasattr(data, "action_slot"):
        data.action_slot = data.action.slots[0]
    return rig
