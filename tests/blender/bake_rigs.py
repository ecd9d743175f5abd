"""A leg to bake, what its chain can be made to do, and where its joints are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from mathutils import Euler, Vector

from scripts import installed
from tests.blender import rigs
from tests.blender.rigs import curves, in_scene, make_empty, make_rig, rotation_name, set_keys

EXACT = 1e-6
LENGTH = 1.9
FRAMES = np.arange(1.0, 25.0)


def make_leg(name: str = "leg", mode: str = "QUATERNION") -> Any:
    """A hip that moves, a thigh, a shin."""
    ob = make_rig(name=name)
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    return ob


def make_chain(ob: Any, lower: str = "shin", **settings: Any) -> Any:
    """A chain on a target that circles the root, in and out of reach."""
    target = make_empty()
    for i in range(9):
        angle = i / 8 * 2 * math.pi
        target.location = (0.3 * math.sin(angle), 1.2 * math.sin(angle), -1.2 - 0.9 * math.cos(angle))
        target.keyframe_insert("location", frame=1 + 3 * i)
    return rigs.make_chain(ob, target, lower, **settings)


def joints(ob: Any, lower: str = "shin") -> np.ndarray:
    return np.array(rigs.joints(ob, lower))


def motion(ob: Any, frames: Any = FRAMES, lower: str = "shin") -> np.ndarray:
    """The joints on every frame."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(math.floor(frame), subframe=float(frame) % 1.0)
        found.append(joints(ob, lower))
    return np.array(found)


def channel(ob: Any, bone: str, name: str) -> np.ndarray:
    """The values of the keys of a channel, a row for each key."""
    found = curves(ob)
    columns = [found[key] for key in sorted(found) if key[0] == f'pose.bones["{bone}"].{name}']
    return np.array([[point.co[1] for point in curve.keyframe_points] for curve in columns]).T


def assert_same(got: np.ndarray, wanted: np.ndarray, within: float = EXACT * LENGTH) -> None:
    assert np.linalg.norm(got - wanted, axis=-1).max() <= within


def add_pole(chain: Any, place: tuple[float, float, float] = (1, 2, -1)) -> None:
    chain.pole_target, chain.plane = make_empty("pole", place), "POLE"


def key_hip(ob: Any) -> None:
    hip = ob.pose.bones["hip"]
    for frame, turn in ((1, 0.0), (12, 0.7), (24, -0.4)):
        hip.rotation_mode = "XYZ"
        hip.rotation_euler = Euler((turn, 0.3 * turn, -turn))
        hip.location = Vector((turn, 0.1, 0.2 * turn))
        hip.keyframe_insert("rotation_euler", frame=frame)
        hip.keyframe_insert("location", frame=frame)


def key_object(ob: Any) -> None:
    for frame, place in ((1, 0.2), (24, -0.5)):
        ob.location = (place, 0.1, -place)
        ob.rotation_euler = (place, 0.0, 2.0 * place)
        ob.keyframe_insert("location", frame=frame)
        ob.keyframe_insert("rotation_euler", frame=frame)


def key_thigh(ob: Any) -> None:
    thigh = ob.pose.bones["thigh"]
    name = rotation_name(thigh)
    for frame, turn in ((1, 0.0), (24, 1.0)):
        value = getattr(thigh, name)
        value[1] = turn
        thigh.keyframe_insert(name, frame=frame)


FEATURES: dict[str, Callable[[Any, Any], None]] = {
    "plain": lambda ob, chain: None,
    "pole": lambda ob, chain: add_pole(chain),
    "swung plane": lambda ob, chain: setattr(chain, "plane", "SWING"),
    "bend": lambda ob, chain: setattr(chain, "bend", -1.0),
    "swing": lambda ob, chain: setattr(chain, "bend", 0.3),
    "softness": lambda ob, chain: setattr(chain, "softness", 0.2),
    "stretch": lambda ob, chain: setattr(chain, "stretch", 1.0),
    "limits": lambda ob, chain: setattr(chain, "min_angle", 1.0),
    "influence": lambda ob, chain: (setattr(chain, "influence", 0.4), key_thigh(ob)),
    "moving parent": lambda ob, chain: key_hip(ob),
    "moving object": lambda ob, chain: key_object(ob),
    "constrained target": lambda ob, chain: constrain(chain.target),
    "followed target": lambda ob, chain: follow(chain.target),
    "driven target": lambda ob, chain: drive(chain.target),
    "animated settings": lambda ob, chain: key_settings(ob),
    "no inherited rotation": lambda ob, chain: setattr(ob.data.bones["shin"], "use_inherit_rotation", False),
    "NLA": lambda ob, chain: push_down(ob),
    "on a surface": lambda ob, chain: stick_to_a_surface(chain.target),
    "driven by a formula": lambda ob, chain: drive_by_formula(chain.target),
    "driven by Python": lambda ob, chain: drive_by_python(chain.target),
    "keyed constraint": lambda ob, chain: key_constraint(ob.pose.bones["thigh"]),
    "driven constraint": lambda ob, chain: drive_constraint(ob.pose.bones["thigh"]),
}


def constrain(target: Any) -> None:
    """In part, so that only Blender tells where it is."""
    follow(target)
    target.constraints[0].influence = 0.8


def follow(target: Any) -> None:
    other = make_empty("leader")
    set_keys(other, "location.x", {1: 0.0, 20: 0.5})
    target.constraints.new("COPY_LOCATION").target = other
    target.constraints[0].use_y = target.constraints[0].use_z = False


def drive(target: Any) -> None:
    target.driver_add("delta_location", 0).driver.expression = "sin(frame / 5) / 3"


def drive_by_python(target: Any) -> None:
    """Which may read anything, also chains."""
    drive_by_formula(target)
    target.animation_data.drivers[0].driver.expression += " + 0.0 * self.location[0]"


def drive_by_formula(target: Any) -> None:
    """Which Python evaluates, but hangs on nothing else than the frame, though it might."""
    driver = target.driver_add("delta_location", 0).driver
    driver.expression, driver.use_self = "[0.3][0] * sin(frame / 5)", True


def key_constraint(bone: Any) -> None:
    """One that never acts, but might in some frame."""
    constraint = bone.constraints.new("LIMIT_ROTATION")
    constraint.influence = 0.0
    constraint.keyframe_insert("influence", frame=1)


def drive_constraint(bone: Any) -> None:
    """One of which only stepping the scene tells that it never acts."""
    bone.constraints.new("LIMIT_ROTATION").driver_add("influence").driver.expression = "frame < -10"


def stick_to_a_surface(target: Any) -> None:
    mesh = bpy.data.meshes.new("surface")
    mesh.from_pydata([(-2, -2, -1.5), (2, -2, -1.4), (0, 2, -1.6)], [], [(0, 1, 2)])
    surface = in_scene("surface", mesh)
    target.constraints.new("SHRINKWRAP").target = surface


def circling(target: Any) -> Callable[..., None]:
    """A handler that moves a target."""
    name = target.name

    def move(scene: Any, *_args: Any) -> None:
        turn = scene.frame_current_final / 4.0
        bpy.data.objects[name].location = (0.3 * math.sin(turn), 0.2, -1.2 - 0.5 * math.cos(turn))

    return move


@contextmanager
def handled(handler: Callable[..., None], event: str = "pre") -> Iterator[None]:
    """Whenever the frame is about to change, or has changed and the chains are about to be posed."""
    handlers = getattr(bpy.app.handlers, f"frame_change_{event}")
    handlers.insert(0, handler)
    try:
        yield
    finally:
        handlers.remove(handler)


def key_settings(ob: Any) -> None:
    chain = ob.pose.bones["shin"].planar_ik
    for frame, bend, enabled in ((1, 1.0, True), (12, -1.0, True), (20, 0.5, False)):
        chain.bend, chain.enabled = bend, enabled
        for name in ("bend", "enabled"):
            ob.keyframe_insert(f'pose.bones["shin"].planar_ik_{name}', frame=frame)


def push_down(ob: Any) -> None:
    key_hip(ob)
    data = ob.animation_data
    action = data.action
    strip = data.nla_tracks.new().strips.new("walk", 3, action)
    strip.scale = 0.5
    data.action = None


def key_setting(ob: Any, name: str, *values: Any) -> None:
    chain = ob.pose.bones["shin"].planar_ik
    for frame, value in zip((1, 11, 20), values, strict=False):
        setattr(chain, name, value)
        ob.keyframe_insert(f'pose.bones["shin"].planar_ik_{name}', frame=frame)


def bake_scene(frames: Any = FRAMES, **options: Any) -> Any:
    """Bake the scene's chains and give the report."""
    baking = installed.addon("addon.bake")
    chains = options.pop("chains", None) or baking.chains_of_scene(bpy.context)
    return baking.finish(baking.bake(bpy.context, baking.Request(chains, np.asarray(frames, float), **options)))


def by_ways(frames: Any = FRAMES, lowers: Any = None) -> dict[str, Any]:
    """What each way gathers of the first of the chains, if it will do: from F-curves alone (1), from what is evaluated
    in a scene of its own (2), in the scene (s) and live (l), by stepping (3); and what a bake gathers, of all these."""
    baking, ways = installed.addon("addon.bake"), installed.addon("addon.bake.ways")
    routes = installed.addon("addon.bake.ways.courses.evaluation").Route
    scene = bpy.context.scene
    frame, count = scene.frame_current, len(bpy.data.actions)
    lowers = lowers or baking.chains_of_scene(bpy.context)
    found = {}
    in_scene = routes.EVALUATION | routes.IN_SCENE
    for name, route in (("1", routes.CURVES), ("2", routes.EVALUATION), ("s", in_scene), ("l", routes.LIVE)):
        solved = baking.finish(ways.by_arrays(bpy.context, lowers, np.asarray(frames, float), route))[0]
        if solved and solved.is_known.all():
            found[name] = solved.sample
        scene.frame_set(frame)
    for name, allowed in (("3", routes.NONE), ("", ways.ALL)):
        found[name] = baking.finish(ways.sample_chains(bpy.context, lowers, np.asarray(frames, float), allowed))[0]
        scene.frame_set(frame)
    assert (len(bpy.data.scenes), len(bpy.data.actions)) == (1, count)
    return found


def names(found: dict[str, Any]) -> str:
    """Which of the ways that a test knows of will do."""
    return "".join(name for name in "123" if name in found)


def assert_ways(ob: Any, expected: str, frames: Any = FRAMES, lowers: Any = None, size: float = 1.0) -> None:
    """These ways will do, and give what the live chain does: joints, to single precision of a limb ``size`` times as
    large, reach, and every number of the channels."""
    continuous = installed.addon("addon.bake.continuity").continuous
    wanted = motion(ob, frames)
    found = by_ways(frames, lowers)
    assert names(found) == expected
    live = found["3"]
    for sample in found.values():
        assert_same(sample.joints.knee, wanted[:, 1], size * EXACT * LENGTH)
        assert_same(sample.joints.tip, wanted[:, 2], size * EXACT * LENGTH)
        assert (sample.reach == live.reach).all()
        assert (sample.misses == live.misses).all()
        assert np.allclose(sample.residual, live.residual, atol=2e-6 * size, equal_nan=True)
        tracks = [track for track in sample.tracks if track.mode or sample.is_stretched]
        assert [(t.bone, t.channel, t.mode) for t in tracks] == [(t.bone, t.channel, t.mode) for t in live.tracks]
        for track, other in zip(tracks, live.tracks, strict=True):
            both = [continuous(t.mode, t.values) if t.mode else t.values for t in (track, other)]
            assert np.allclose(*both, atol=5e-6)
