"""A scene that holds only what chains depend on, and what Blender makes of it over the frames."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Context, Depsgraph, Driver, Object, Scene
from numpy.typing import NDArray

from ...live.channels import SIZES
from ...rig.access import bones_of, path_on_bone, scene_of, scene_settings
from ...rig.animation import animated_paths
from ...rig.dependencies import Carrier
from ...rig.settings import PREFIX
from .stepping import set_frame

SHAPELESS = {"ARMATURE", "CAMERA", "EMPTY", "LIGHT", "LIGHT_PROBE", "SPEAKER"}
SHAPED = {"CURVE", "FONT", "LATTICE", "MESH", "SURFACE"}

BY_SHAPE = {"CLAMP_TO", "FOLLOW_PATH", "GEOMETRY_ATTRIBUTE", "SHRINKWRAP", "SPLINE_IK", "TRANSFORM_CACHE"}
BY_SCENE = {"CAMERA_SOLVER", "FOLLOW_TRACK", "OBJECT_SOLVER"}
"""Constraints that look at the shape of their target, or at a scene's camera and clip."""


class Wanted(NamedTuple):
    """What is to be evaluated: the places of objects and bones, and bones' channels and settings by path."""

    places: set[Carrier]
    channels: set[tuple[Object, str, str]]

    def __bool__(self) -> bool:
        return bool(self.places or self.channels)

    def objects(self) -> set[Object]:
        """The objects to which all of it belongs."""
        return {ob for ob, _ in self.places} | {ob for ob, _, _ in self.channels}


def is_separable(ob: Object) -> bool:
    """Whether an object is the same in a scene of its own: it looks neither at the scene nor at shapes, which may hang
    on anything."""
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


@contextmanager
def isolated(context: Context, objects: Iterable[Object]) -> Iterator[Scene]:
    """A scene that holds nothing but these objects, without live chains, in which time runs as in the context's."""
    scene = bpy.data.scenes.new("Planar IK Bake")
    try:
        scene_settings(scene).live = False
        render, given = scene.render, scene_of(context).render
        render.frame_map_old, render.frame_map_new = given.frame_map_old, given.frame_map_new
        for ob in objects:
            scene.collection.objects.link(ob)
        yield scene
    finally:
        bpy.data.scenes.remove(scene)


def evaluate(context: Context, wanted: Wanted, frames: NDArray[Any]) -> Generator[int, None, Evaluated]:
    """All that is wanted, over the frames; yields the number of frames done."""
    with isolated(context, wanted.objects()) as scene:
        evaluated = Evaluated(wanted, scene, len(frames))
        for i, frame in enumerate(frames.tolist() if wanted else ()):
            set_frame(scene, frame)
            evaluated.record(i)
            yield i + 1
    return evaluated


class Evaluated:
    """What was read from a scene, frame by frame."""

    def __init__(self, wanted: Wanted, scene: Scene, count: int) -> None:
        self._scene = scene
        self._index: dict[Object, int] = {}
        has_worlds = any(not bone for _, bone in wanted.places)
        self._worlds = np.zeros((count if has_worlds else 0, len(scene.collection.objects), 16), np.float32)
        self._settings: dict[tuple[Object, str, str], NDArray[Any]] = {}
        bones: dict[tuple[Object, str], list[str]] = {}
        for ob, bone in wanted.places:
            if bone:
                bones.setdefault((ob, "matrix"), []).append(bone)
        for ob, bone, path in wanted.channels:
            if path in SIZES:
                bones.setdefault((ob, path), []).append(bone)
            else:
                self._settings[ob, bone, path] = np.zeros(count)
        self._channels = {key: _Channel(*key, names, count) for key, names in bones.items()}

    def record(self, i: int) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        depsgraph: Any = self._scene.view_layers[0].depsgraph
        if len(self._worlds):
            objects = depsgraph.view_layer_eval.objects
            self._index = self._index or {ob.original: k for k, ob in enumerate(objects)}
            objects.foreach_get("matrix_world", self._worlds[i].ravel())
        for channel in self._channels.values():
            channel.record(i, depsgraph)
        for (ob, bone, path), values in self._settings.items():
            owner: Any = bones_of(ob.evaluated_get(depsgraph))[bone]
            values[i] = owner.path_resolve(path_on_bone(owner, path.removeprefix(PREFIX)))

    def world(self, ob: Object, rows: slice) -> NDArray[Any]:
        """What takes an object to the world, ``(frames, 4, 4)``."""
        return _matrices(self._worlds[rows, self._index[ob]])

    def pose(self, ob: Object, bone: str, rows: slice) -> NDArray[Any]:
        """What takes a bone to its armature, ``(frames, 4, 4)``."""
        return _matrices(self._channels[ob, "matrix"].of(bone)[rows])

    def channel(self, ob: Object, bone: str, path: str, rows: slice) -> NDArray[Any]:
        """A channel of a bone ``(frames, numbers)``, or one of its chain's settings ``(frames,)``."""
        if path in SIZES:
            numbers: NDArray[Any] = self._channels[ob, path].of(bone)[rows].astype(float)
            return numbers
        return self._settings[ob, bone, path][rows]


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


def _matrices(columns: NDArray[Any]) -> NDArray[Any]:
    """Matrices ``(frames, 4, 4)`` of their numbers ``(frames, 16)`` as Blender stores them, column by column."""
    matrices: NDArray[Any] = columns.reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)
    return matrices
