"""Way 2: step a scene that holds only what the chains depend on."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import bpy
import numpy as np
from bpy.types import Context, Depsgraph, Driver, Object, Scene
from numpy.typing import NDArray

from ...live.channels import SIZES
from ...rig.access import bones_of, chain_settings, scene_of, scene_settings
from ...rig.animation import animated_paths
from ...rig.rotation import rotation_channel
from .gathering import Course, gather
from .steady import Steady, carriers_of
from .stepping import set_frame

SHAPELESS = {"ARMATURE", "CAMERA", "EMPTY", "LIGHT", "LIGHT_PROBE", "SPEAKER"}
SHAPED = {"CURVE", "FONT", "LATTICE", "MESH", "SURFACE"}

BY_SHAPE = {"CLAMP_TO", "FOLLOW_PATH", "GEOMETRY_ATTRIBUTE", "SHRINKWRAP", "SPLINE_IK", "TRANSFORM_CACHE"}
BY_SCENE = {"CAMERA_SOLVER", "FOLLOW_TRACK", "OBJECT_SOLVER"}
"""Constraints that look at the shape of their target, or at a scene's camera and clip."""


def is_separable(chains: list[Steady]) -> bool:
    """Whether what the chains depend on is the same in a scene of its own: it looks neither at the scene nor at shapes,
    which may hang on anything."""
    return all(map(_is_separable, {ob for ob, _ in carriers_of(chains)}))


def _is_separable(ob: Object) -> bool:
    is_carrier = ob.type in SHAPELESS or (ob.type in SHAPED and not ob.modifiers)
    if ob.rigid_body or not is_carrier or (ob.parent and not _is_carried(ob)):
        return False
    if ob.hide_viewport or "hide_viewport" in animated_paths(ob):
        return False  # No scene evaluates it then, unless something else in it needs it.
    posed = [*ob.pose.bones] if ob.pose else []
    if any(_looks_elsewhere(constraint) for owner in (ob, *posed) for constraint in owner.constraints):
        return False
    curves = ob.animation_data.drivers if ob.animation_data else ()
    return not any(_may_read_scene(curve.driver) for curve in curves if curve.driver)


def _may_read_scene(driver: Driver) -> bool:
    """Whether a driver reads a scene, or may, as Python can read anything."""
    if driver.type == "SCRIPTED" and not driver.is_simple_expression:
        return True
    return any(
        variable.type == "CONTEXT_PROP" or any(isinstance(target.id, Scene) for target in variable.targets)
        for variable in driver.variables
    )


def _is_carried(ob: Object) -> bool:
    """Whether the object hangs on its parent's place, and not on its shape."""
    parent: Any = ob.parent
    return ob.parent_type in {"ARMATURE", "BONE", "OBJECT"} and not (parent.type == "CURVE" and parent.data.use_path)


def _looks_elsewhere(constraint: Any) -> bool:
    target = getattr(constraint, "target", None)
    is_group = target and target.type != "ARMATURE" and getattr(constraint, "subtarget", "")
    return constraint.type in BY_SHAPE | BY_SCENE or bool(is_group)


def step_isolated(
    context: Context, chains: list[Steady], frames: NDArray[Any]
) -> Generator[int, None, list[Course] | None]:
    """The chains over the frames; yields the number of frames done."""
    scene = bpy.data.scenes.new("Planar IK Bake")
    try:
        scene_settings(scene).live = False
        render, given = scene.render, scene_of(context).render
        render.frame_map_old, render.frame_map_new = given.frame_map_old, given.frame_map_new
        for ob in {ob for ob, _ in carriers_of(chains)} | {steady.chain.object for steady in chains}:
            scene.collection.objects.link(ob)
        recorder = _Recorder(chains, scene, len(frames))
        for i, frame in enumerate(frames):
            set_frame(scene, float(frame))
            recorder.record(i)
            yield i + 1
    finally:
        bpy.data.scenes.remove(scene)
    return gather(chains, recorder)


class _Recorder:
    """A `Source` of what was read from a scene frame by frame."""

    def __init__(self, chains: list[Steady], scene: Scene, count: int) -> None:
        self._scene = scene
        self._index: dict[Object, int] = {}
        self._worlds = np.zeros((count, len(scene.collection.objects), 16), np.float32)
        self._settings: dict[tuple[Object, str, str], NDArray[Any]] = {
            (steady.chain.object, steady.chain.lower, name): np.zeros(count)
            for steady in chains
            for name in steady.animated
        }
        names: dict[tuple[Object, str], dict[str, None]] = {}
        for ob, bone, name in _wanted(chains):
            names.setdefault((ob, name), {})[bone] = None
        self._channels = {key: _Channel(*key, list(bones), count) for key, bones in names.items()}

    def record(self, i: int) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        depsgraph: Any = self._scene.view_layers[0].depsgraph
        objects = depsgraph.view_layer_eval.objects
        self._index = self._index or {ob.original: k for k, ob in enumerate(objects)}
        objects.foreach_get("matrix_world", self._worlds[i].ravel())
        for channel in self._channels.values():
            channel.record(i, depsgraph)
        for (ob, lower, name), values in self._settings.items():
            values[i] = getattr(chain_settings(bones_of(ob.evaluated_get(depsgraph))[lower]), name)

    def world(self, ob: Object) -> NDArray[Any]:
        """As `Source` says."""
        return _matrices(self._worlds[:, self._index[ob]])

    def origin(self, ob: Object) -> NDArray[Any]:
        """As `Source` says."""
        return self._worlds[:, self._index[ob], 12:15].astype(float)

    def pose(self, ob: Object, bone: str) -> NDArray[Any]:
        """As `Source` says."""
        return _matrices(self._channels[ob, "matrix"].of(bone))

    def setting(self, ob: Object, lower: str, name: str) -> NDArray[Any]:
        """As `Source` says."""
        return self._settings[ob, lower, name]

    def rotation(self, ob: Object, bone: str) -> NDArray[Any]:
        """As `Source` says."""
        return self._channels[ob, rotation_channel(bones_of(ob)[bone].rotation_mode)].of(bone).astype(float)


class _Channel:
    """One property of some bones of an armature, frame by frame; it is read of all bones at once."""

    def __init__(self, ob: Object, name: str, bones: list[str], count: int) -> None:
        self._object = ob
        self._name = name
        self._size = SIZES.get(name, 16)
        self._column = {bone: i for i, bone in enumerate(bones)}
        everyone = {bone.name: i for i, bone in enumerate(bones_of(ob))}
        self._rows = [everyone[bone] for bone in bones]
        self._all = np.zeros((len(everyone), self._size), np.float32)
        self._values = np.zeros((count, len(bones), self._size), np.float32)

    def record(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        bones_of(self._object.evaluated_get(depsgraph)).foreach_get(self._name, self._all.ravel())
        self._values[i] = self._all[self._rows]

    def of(self, bone: str) -> NDArray[Any]:
        """Of one bone, ``(frames, numbers)``."""
        values: NDArray[Any] = self._values[:, self._column[bone]]
        return values


def _wanted(chains: list[Steady]) -> Iterator[tuple[Object, str, str]]:
    """The armatures, their bones and the properties that are to be read."""
    for steady in chains:
        chain = steady.chain
        goals = [(goal.object, goal.bone) for goal in (chain.target, chain.pole) if goal]
        yield from ((ob, bone, "matrix") for ob, bone in [(chain.object, steady.parent), *goals] if bone)
        for own in (steady.upper, steady.lower):
            if own.is_animated:
                yield chain.object, own.name, rotation_channel(own.mode)


def _matrices(columns: NDArray[Any]) -> NDArray[Any]:
    """Matrices ``(frames, 4, 4)`` of their numbers ``(frames, 16)`` as Blender stores them, column by column."""
    matrices: NDArray[Any] = columns.reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)
    return matrices
