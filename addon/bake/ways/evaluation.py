"""What Blender makes of things that chains depend on over the frames: in a scene of their own, or in all of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from enum import Flag, auto
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Context, Depsgraph, Driver, Object, Scene
from numpy.typing import NDArray

from ...live.channels import SIZES
from ...rig.access import bones_of, place_on_bone, scene_of, scene_settings
from ...rig.animation import animated_paths
from ...rig.dependencies import Carrier
from ...rig.settings import PREFIX
from .stepping import frame_kept, live_as, set_frame

SHAPELESS = {"ARMATURE", "CAMERA", "EMPTY", "LIGHT", "LIGHT_PROBE", "SPEAKER"}
SHAPED = {"CURVE", "FONT", "LATTICE", "MESH", "SURFACE"}

BY_SHAPE = {"CLAMP_TO", "FOLLOW_PATH", "SHRINKWRAP"}
BY_OTHERS = {"CAMERA_SOLVER", "FOLLOW_TRACK", "GEOMETRY_ATTRIBUTE", "OBJECT_SOLVER", "SPLINE_IK", "TRANSFORM_CACHE"}
"""Constraints that look at the shape of their target, or at a scene's camera and clip, or a file."""

DEFORMING = {"ARMATURE", "CURVE", "HOOK", "LATTICE", "SUBSURF"}
"""Modifiers by which a shape hangs on nothing but the object that they name, and keep nothing of other frames."""


class Route(Flag):
    """By what a thing is followed."""

    NONE = 0
    CURVES = auto()
    SOLUTION = auto()
    EVALUATION = auto()  # in a scene of its own
    IN_SCENE = auto()  # evaluated in the scene, whose chains stand still
    LIVE = auto()  # evaluated in the scene, with its chains live


EVALUATED = Route.EVALUATION | Route.IN_SCENE | Route.LIVE
ALL = Route.CURVES | EVALUATED


class Wanted(NamedTuple):
    """What is to be evaluated: the places of objects and bones, and bones' channels and settings by path."""

    places: set[Carrier]
    channels: set[tuple[Object, str, str]]

    def objects(self) -> set[Object]:
        """The objects to which all of it belongs."""
        return {ob for ob, _ in self.places} | {ob for ob, _, _ in self.channels}


def is_separable(ob: Object) -> bool:
    """Whether an object is the same in a scene of its own: it looks neither at the scene nor at shapes that something
    changes."""
    is_carrier = ob.type in SHAPELESS or (ob.type in SHAPED and not ob.modifiers)
    if not is_carrier or (ob.parent and not _is_carried(ob)) or not is_foreseen(ob):
        return False
    if ob.hide_viewport or "hide_viewport" in animated_paths(ob):
        return False  # No scene evaluates it then, unless something else in it needs it.
    return not any(map(_reads_scene, _drivers(ob)))


def is_foreseen(ob: Object) -> bool:
    """Whether `Dependencies` knows all that moves an object."""
    if ob.rigid_body or any(modifier.type not in DEFORMING for modifier in ob.modifiers):
        return False
    if any(driver.type == "SCRIPTED" and not driver.is_simple_expression for driver in _drivers(ob)):
        return False  # Python can read anything.
    data: Any = ob.data
    keys = getattr(data, "shape_keys", None)
    if any(each and each.animation_data and each.animation_data.drivers for each in (data, keys)):
        return False
    posed = [*ob.pose.bones] if ob.pose else []
    return not any(_looks_elsewhere(constraint) for owner in (ob, *posed) for constraint in owner.constraints)


def _drivers(ob: Object) -> list[Driver]:
    curves = ob.animation_data.drivers if ob.animation_data else ()
    return [curve.driver for curve in curves if curve.driver]


def _reads_scene(driver: Driver) -> bool:
    """Whether a driver reads a scene."""
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
    return constraint.type in BY_OTHERS or bool(is_group and constraint.type not in BY_SHAPE)


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


@contextmanager
def stepped(context: Context, wanted: Wanted, route: Route) -> Iterator[tuple[Scene, Callable[[], Depsgraph]]]:
    """The scene that is stepped for what is wanted by a route, and what gives its evaluated state."""
    if route == Route.EVALUATION:
        with isolated(context, wanted.objects()) as apart:
            layer: Any = apart.view_layers[0]  # which has a depsgraph once it is evaluated
            yield apart, lambda: layer.depsgraph
        return
    scene = scene_of(context)
    with frame_kept(scene), live_as(scene, route == Route.LIVE):
        yield scene, context.evaluated_depsgraph_get


def evaluate(context: Context, wanted: Wanted, frames: NDArray[Any], route: Route) -> Generator[int, None, Evaluated]:
    """All that is wanted by a route, over the frames; yields the number of frames done."""
    evaluated = Evaluated(wanted, len(frames))
    with stepped(context, wanted, route) as (scene, depsgraph):
        for i, frame in enumerate(frames.tolist()):
            set_frame(scene, frame)
            evaluated.record(i, depsgraph())
            yield i + 1
    return evaluated


class Evaluated:
    """What was read from a scene, frame by frame."""

    def __init__(self, wanted: Wanted, count: int) -> None:
        worlds = [ob for ob, bone in wanted.places if not bone]
        self._worlds = {ob: np.zeros((count, 4, 4), np.float32) for ob in worlds}
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

    def record(self, i: int, depsgraph: Any) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        for ob, worlds in self._worlds.items():
            matrix: Any = ob.evaluated_get(depsgraph).matrix_world
            worlds[i] = [row[:] for row in matrix]
        for channel in self._channels.values():
            channel.record(i, depsgraph)
        for (ob, bone, path), values in self._settings.items():
            owner: Any = bones_of(ob.evaluated_get(depsgraph))[bone]
            holder, setting = place_on_bone(owner, path.removeprefix(PREFIX))
            value: Any = holder.path_resolve(setting)  # type: ignore[func-returns-value]  # the stubs think it gives none
            values[i] = value

    def world(self, ob: Object, rows: slice) -> NDArray[Any]:
        """What takes an object to the world, ``(frames, 4, 4)``."""
        return self._worlds[ob][rows].astype(float)

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
