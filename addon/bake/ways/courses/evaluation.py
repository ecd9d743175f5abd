"""What Blender makes of things that chains depend on over the frames: in a scene of their own, or in all of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from enum import Flag, auto
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, Driver, Object, Scene
from numpy.typing import NDArray

from ....live.channels import SIZES
from ....rig.data.access import bones_of, chain_settings, scene_of
from ....rig.data.animation import animated_paths, drivers_of
from ....rig.data.dependencies import Carrier, Dependencies
from ....rig.settings import BY_NAME, PREFIX
from ..recording import BoneValues, matrices_of
from ..stepping import frame_kept, live_as, set_frame
from .expressions import hangs_on_variables
from .isolation import isolated, stood_in

SHAPELESS = {"ARMATURE", "CAMERA", "EMPTY", "LIGHT", "LIGHT_PROBE", "SPEAKER"}
SHAPED = {"CURVE", "FONT", "LATTICE", "MESH", "SURFACE"}

BY_SHAPE = {"CLAMP_TO", "FOLLOW_PATH", "SHRINKWRAP"}
BY_OTHERS = {"CAMERA_SOLVER", "FOLLOW_TRACK", "GEOMETRY_ATTRIBUTE", "OBJECT_SOLVER", "SPLINE_IK", "TRANSFORM_CACHE"}
"""Constraints that look at the shape of their target, or at a scene's camera and clip, or a file."""

DEFORMING = {"ARMATURE", "CURVE", "HOOK", "LATTICE", "SUBSURF"}
"""Modifiers by which a shape hangs on nothing but the object that they name, and keep nothing of other frames."""

CROWDED = 16
"""How many objects are read at once in the time in which one is read by itself, with something to spare."""


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


class Needed(NamedTuple):
    """What is to be evaluated: the places of objects and bones, and what bones have by path."""

    places: set[Carrier]
    channels: set[tuple[Object, str, str]]

    def owners(self) -> set[Carrier]:
        """The objects and bones to which all of it belongs."""
        return self.places | {(ob, bone) for ob, bone, _ in self.channels}


def is_separable(ob: Object) -> bool:
    """Whether an object moves the same in a scene of its own: it depends neither on the scene nor on shapes that
    something changes."""
    is_carrier = ob.type in SHAPELESS or (ob.type in SHAPED and not ob.modifiers)
    if not is_carrier or (ob.parent and not _is_carried(ob)) or not is_foreseen(ob):
        return False
    if ob.hide_viewport or "hide_viewport" in animated_paths(ob):
        return False  # No scene evaluates it then, unless something else in it needs it.
    return not any(map(_reads_scene, [*_drivers(ob), *_drivers(ob.data)]))


def is_foreseen(ob: Object) -> bool:
    """Whether `Dependencies` knows all that moves an object."""
    if ob.rigid_body or any(modifier.type not in DEFORMING for modifier in ob.modifiers):
        return False
    drivers = [*_drivers(ob), *_drivers(ob.data)]
    if not all(map(hangs_on_variables, drivers)) or any(map(_reads_driven, drivers)):
        return False
    if _drivers(getattr(ob.data, "shape_keys", None)) or (_drivers(ob.data) and ob.type != "ARMATURE"):
        return False
    posed = [*ob.pose.bones] if ob.pose else []
    return not any(_looks_elsewhere(constraint) for owner in (ob, *posed) for constraint in owner.constraints)


def _drivers(owner: Any) -> list[Driver]:
    """The drivers of an object or its data, if it has any."""
    return [curve.driver for curve in drivers_of(owner) if curve.driver]


def _reads_driven(driver: Driver) -> bool:
    """Whether a driver reads what others drive in something else than an object."""
    ids = [target.id for variable in driver.variables for target in variable.targets]
    return any(not isinstance(each, Object) and _drivers(each) for each in ids)


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
def stepped(context: Context, objects: Iterable[Object], route: Route) -> Iterator[tuple[Scene, Callable[[], Any]]]:
    """The scene that is stepped for objects by a route, and what gives its evaluated state."""
    if route == Route.EVALUATION:
        with isolated(context, objects) as apart:
            layer: Any = apart.view_layers[0]  # which has a depsgraph once it is evaluated
            yield apart, lambda: layer.depsgraph
        return
    scene = scene_of(context)
    with frame_kept(scene), live_as(scene, route == Route.LIVE):
        yield scene, context.evaluated_depsgraph_get


def evaluate(
    context: Context, wanted: Needed, frames: NDArray[Any], route: Route, dependencies: Dependencies
) -> Generator[int, None, Evaluated]:
    """All that is wanted by a route, over the frames; yields the number of frames done."""
    carriers = dependencies.carriers(wanted.owners()) if route == Route.EVALUATION else set()
    with stood_in(carriers, len(frames)) as doubles:
        evaluated = Evaluated(wanted, len(frames), doubles)
        objects = {doubles.get(ob, ob) for ob, _ in wanted.owners()}
        with stepped(context, objects, route) as (scene, depsgraph):
            for i, frame in enumerate(frames.tolist()):
                set_frame(scene, frame)
                evaluated.record(i, depsgraph())
                yield i + 1
    return evaluated


class Evaluated:
    """What was read from a scene, frame by frame, of objects or their ``doubles``."""

    def __init__(self, wanted: Needed, count: int, doubles: dict[Object, Object]) -> None:
        self._doubles = doubles
        self._worlds = _Worlds([ob for ob, bone in wanted.places if not bone], count, doubles)
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
        self._channels = {
            (ob, name): BoneValues(doubles.get(ob, ob), name, names, count) for (ob, name), names in bones.items()
        }

    def record(self, i: int, depsgraph: Any) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        self._worlds.record(i, depsgraph)
        for (ob, _), channel in self._channels.items():
            channel.record(i, bones_of(self._doubles.get(ob, ob).evaluated_get(depsgraph)))
        for (ob, bone, path), values in self._settings.items():
            owner: Any = bones_of(self._doubles.get(ob, ob).evaluated_get(depsgraph))[bone]
            values[i] = _number_at(owner, path)

    def world(self, ob: Object, rows: slice) -> NDArray[Any]:
        """What takes an object to the world, ``(frames, 4, 4)``."""
        return matrices_of(self._worlds.of(ob)[rows])

    def pose(self, ob: Object, bone: str, rows: slice) -> NDArray[Any]:
        """What takes a bone to its armature, ``(frames, 4, 4)``."""
        return matrices_of(self._channels[ob, "matrix"].of(bone)[rows])

    def channel(self, ob: Object, bone: str, path: str, rows: slice) -> NDArray[Any]:
        """A channel of a bone ``(frames, numbers)``, or a number that its chain or a constraint has ``(frames,)``."""
        if path in SIZES:
            numbers: NDArray[Any] = self._channels[ob, path].of(bone)[rows].astype(float)
            return numbers
        return self._settings[ob, bone, path][rows]


def _number_at(owner: Any, path: str) -> Any:
    """The number at a path from an evaluated bone, that of its chain's settings wherever they are."""
    if not path.startswith(PREFIX):
        return owner.path_resolve(path)
    name = path.removeprefix(PREFIX)
    return BY_NAME[name].number_of(getattr(chain_settings(owner), name))


class _Worlds:
    """What takes objects to the world, frame by frame; read of all objects of the view layer at once, unless there are
    many more."""

    def __init__(self, objects: list[Object], count: int, doubles: dict[Object, Object]) -> None:
        self._doubles = [doubles.get(ob, ob) for ob in objects]
        self._column = {ob: i for i, ob in enumerate(objects)}
        self._values = np.zeros((count, len(objects), 16), np.float32)
        self._rows: list[int] = []
        self._all = np.zeros((0, 16), np.float32)

    def record(self, i: int, depsgraph: Any) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        everyone = depsgraph.view_layer_eval.objects
        if len(everyone) != len(self._all):
            self._look_up(everyone)
        if self._rows:
            everyone.foreach_get("matrix_world", self._all.ravel())
            self._values[i] = self._all[self._rows]
            return
        for column, ob in enumerate(self._doubles):
            matrix: Any = ob.evaluated_get(depsgraph).matrix_world
            self._values[i, column] = [number for row in matrix.col for number in row]

    def of(self, ob: Object) -> NDArray[Any]:
        """Of one object, ``(frames, 16)``."""
        values: NDArray[Any] = self._values[:, self._column[ob]]
        return values

    def _look_up(self, everyone: Any) -> None:
        """Where the objects are among all, if all of them are there and not too many others."""
        self._all = np.zeros((len(everyone), 16), np.float32)
        self._rows = []
        if len(everyone) <= CROWDED * len(self._doubles):
            found = {ob.original: row for row, ob in enumerate(everyone)}
            rows = [found[ob] for ob in self._doubles if ob in found]
            self._rows = rows if len(rows) == len(self._doubles) else []
