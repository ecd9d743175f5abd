"""Going through frames once: in the shot as it is, or in a scene that holds nothing but what limbs need.

    recording = yield from record(context, limbs, frames, Asked(controls=[(target, "foot_ik.L")], channels=[...]))

Each frame is a step, which gives the part done; whoever has more to do than one pass says by ``progress`` of what. With
``frames`` None it reads this frame as it stands, unkeyed changes included, as arrays of one frame."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import bpy
import numpy as np
from bpy.types import Context, Depsgraph, FCurve, Object, PoseBone, Scene

from ..blender import action_writer, editing
from ..blender.animation import curves_of, drivers_of, is_animated, is_by_strips, strips_of, value_at
from ..blender.dependencies import BoneRef, Dependencies, is_python
from ..blender.rotation import ARRAY_ANGLES, rotation_channel, to_quaternion
from ..blender.stepping import Steps, stepping, times_of
from ..blender.types import (
    Refused,
    bones_of,
    is_armature,
    path_to_bone,
    path_to_custom,
    scene_of,
    tag_rig,
    view_layer_of,
)
from ..limb import follow, storage, transforms
from ..limb.features.pole_follow import carried as carried_pole
from ..limb.settings import slider_of
from ..limb.tolerances import ON_TARGET, ROUNDING, UNSEEN
from ..rigging.feet import at_influence
from ..solver.matrices import rotation
from ..solver.ops import Array, Mask
from .reading import (
    NOTHING,
    Asked,
    Channel,
    Evaluated,
    Recording,
    Values,
    bones_to_read,
    new_recording,
    originals_of,
    readers_of,
)
from .thinning import Sampling

Reading = Callable[[Evaluated], Callable[[int], None]]
"""Makes what reads the frame of a number, as long as the evaluated objects are not made anew."""

Show = Callable[[float], Any]
"""Shows a frame; the graph that is evaluated there."""

AT_ONCE = 16
"""How many frames are gone through before anybody can look at the window or cancel: Blender may make its graph anew
then, and with it all that is read."""


def play(
    context: Context,
    objects: Iterable[Object],
    frames: Sequence[float],
    reading: Reading,
    is_apart: bool,
    is_live: bool,
) -> Steps[None]:
    """Go through frames once and read objects in each, ``is_live`` with live limbs posed, else in FK. What ``is_apart``
    is seen in a scene that holds these objects only; what they depend on comes along by itself. Afterwards all is as
    it was, with what was posed without keys."""
    with _apart(context, objects) if is_apart else _in_shot(context, is_live) as show:
        read: Any = None
        for i, frame in enumerate(frames):
            depsgraph = show(frame)
            if not is_apart or i % AT_ONCE == 0:
                read = reading(partial(_evaluated, depsgraph=depsgraph))
            read(i)
            if not is_apart or i % AT_ONCE == AT_ONCE - 1 or i == len(frames) - 1:
                yield (i + 1) / len(frames)


@contextmanager
def _apart(context: Context, objects: Iterable[Object]) -> Iterator[Show]:
    """Shows frames in a scene of their own, in which time runs as in the shot and no limb is live."""
    scene = bpy.data.scenes.new("Planar IK Bake")
    render, of_shot = scene.render, scene_of(context).render
    render.frame_map_old, render.frame_map_new = of_shot.frame_map_old, of_shot.frame_map_new
    for ob in objects:
        scene.collection.objects.link(ob)

    def show(frame: float) -> Any:
        editing.set_frame(scene, frame)
        return scene.view_layers[0].depsgraph

    try:
        _set_live(scene, False)
        yield show
    finally:
        bpy.data.scenes.remove(scene)


@contextmanager
def _in_shot(context: Context, is_live: bool) -> Iterator[Show]:
    """Shows frames of the shot, as playback would."""
    with posing_live(context, is_live), stepping(context) as show_frame:

        def show(frame: float) -> Any:
            show_frame(frame)
            return context.evaluated_depsgraph_get()

        yield show


@contextmanager
def posing_live(context: Context, is_live: bool = True) -> Iterator[None]:
    """Within, live limbs of the scene are posed, or not."""
    was_live = _set_live(scene_of(context), is_live)
    try:
        if was_live != is_live:
            view_layer_of(context).update()
        yield
    finally:
        _set_live(scene_of(context), was_live)


def _set_live(scene: Scene, is_live: bool) -> bool:
    """Let the extension pose the live limbs of a scene or not; give what it did."""
    settings: Any = scene.planar_ik  # type: ignore[attr-defined]
    was_live: bool = settings.live
    if was_live != is_live:
        settings.live = is_live
    return was_live


def _evaluated(ob: Object, depsgraph: Depsgraph) -> Any:
    evaluated = ob.evaluated_get(depsgraph)
    if ob.type == "ARMATURE" and not evaluated.is_evaluated:
        raise Refused("'{object}' is disabled in viewports, and so stands still: enable it to bake it", object=ob.name)
    return evaluated


# what is seen apart


OF_THE_SHOT = {"FOLLOW_TRACK", "CAMERA_SOLVER", "OBJECT_SOLVER", "TRANSFORM_CACHE"}
"""Constraints that look at the scene: its camera, or its frames per second."""


def can_be_apart(depends_on: set[BoneRef], among: Dependencies) -> bool:
    """Whether what moves with nothing else is the same in a scene of its own."""
    for ob, bone in depends_on:
        owner: Any = ob.pose.bones.get(bone) if bone and is_armature(ob) else ob
        if owner is not None and any(constraint.type in OF_THE_SHOT for constraint in owner.constraints):
            return False
        if any(_reads_shot(curve) for _, curve in among.drivers(ob, bone)):
            return False
    return not (_has_foreign_handlers() or any(_is_of_shot(ob) for ob in {ob for ob, _ in depends_on}))


def _has_foreign_handlers() -> bool:
    """Whether somebody else's handler may move things as frames change."""
    ours = __name__.removesuffix("motion.passing")  # wherever that is: as an extension, or run from the tree
    handlers = (*bpy.app.handlers.frame_change_pre, *bpy.app.handlers.frame_change_post)
    return any(not (getattr(handler, "__module__", "") or "").startswith(ours) for handler in handlers)


def _is_of_shot(ob: Object) -> bool:
    """Whether a simulation, modifiers, or drivers of an object's data that read the shot may move what hangs on it."""
    if ob.rigid_body or ob.soft_body or len(ob.particle_systems) or len(ob.modifiers):
        return True
    datas: list[Any] = [ob.data, getattr(ob.data, "shape_keys", None)]
    return any(_reads_shot(curve) for data in datas if data for curve in drivers_of(data))


def _reads_shot(curve: FCurve) -> bool:
    """Whether a driver may read what is in the shot only: it runs Python, or reads the scene."""
    variables = curve.driver.variables if curve.driver else ()
    targets = [target.id_type for variable in variables for target in variable.targets]
    return is_python(curve) or "SCENE" in targets or any(variable.type == "CONTEXT_PROP" for variable in variables)


PassProgress = Callable[[float], float]
"""Gives from what is done of a pass the part done of all."""


def record(
    context: Context,
    limbs: Sequence[PoseBone],
    frames: Sequence[float] | Sampling | None,
    asked: Asked = NOTHING,
    influence: float | None = None,
    progress: PassProgress = float,
    within: Callable[[], Any] = nullcontext,
) -> Steps[Recording]:
    """Step through the frames once, with these limbs at an ``influence`` if one is given, and read each ``within``
    what that makes; then the scene is as it was. None for ``frames`` reads the one that is shown, as it stands. Where
    all is known that is ``asked``, nothing is stepped; of a `Sampling`, what is halfway is only where F-curves do not
    say it."""
    times = frames.frames if isinstance(frames, Sampling) else frames
    recording = new_recording(limbs, times, bones_to_read, True, asked, ("location",))
    every = np.arange(recording.frames)
    if asked.known and times and _is_known(recording, asked.known):
        filled_in(recording, Curves(context, times, every, influence, asked.known))
        return recording
    rows, rest = (frames.rows, frames.between) if isinstance(frames, Sampling) else (every, every[:0])
    yield from read_again(context, recording, limbs, rows, influence, progress, within)
    if times and len(rest):
        checked = frames.checked()  # type: ignore[union-attr]
        if not filled_in(recording, Curves(context, times, np.union1d(rest, checked), influence), checked):
            yield from read_again(context, recording, limbs, rest, influence, progress, within)
    return recording


def said_by_strips(
    context: Context, channels: Iterable[Channel], frames: Sequence[float] | None
) -> Steps[dict[Any, dict[str, Array]]]:
    """What strips of the NLA say of channels that only they animate, by object and data path, (frames, numbers) each in
    the scene's `frames_shown`: keys in ``frames`` would replace them. Empty where ``frames`` are None, or all shown."""
    shown, said = action_writer.frames_shown(scene_of(context)), dict[Any, dict[str, Array]]()
    by_strips = [key for key in channels if is_by_strips(key.object, key.path)]
    if frames and by_strips and (frames[0] > shown[0] or frames[-1] < shown[-1]):
        for key, numbers in (yield from record(context, [], shown, Asked(channels=by_strips))).channels.items():
            said.setdefault(key.object, {})[key.path] = numbers
    return said


def _is_known(recording: Recording, known: Recording) -> bool:
    """Whether all that a recording is to have is known, or does not change, or is where own channels put a control;
    influence is what one says."""
    there = {key for key, _ in arrays_of(known)}
    controls = {*recording.bases, *((ob, "") for ob, _ in recording.bases)}
    return all(
        key in there
        or (kind == "numbers" and _is_said(*key[1:]))
        or (kind == "slider" and (key[3] == "influence" or _is_said(key[1], storage.path_to_slider(key[2], key[3]))))
        or (kind in ("base", "pose", "world") and key[1:] in controls)
        for key, _ in arrays_of(recording)
        for kind in key[:1]
    )


def _is_said(ob: Object, path: str) -> bool:
    """Whether F-curves alone say a property, if anything does."""
    has_others = any(strips_of(ob)) or any(curve.data_path == path for curve in drivers_of(ob))
    return not (has_others and is_animated(ob, path))


def read_again(
    context: Context,
    recording: Recording,
    limbs: Sequence[PoseBone],
    rows: Array,
    influence: float | None = None,
    progress: PassProgress = float,
    within: Callable[[], Any] = nullcontext,
) -> Steps[None]:
    """Step through some frames, by their ``rows`` in a recording, and read them into it: see `record`."""
    with at_influence(context, limbs, influence) if influence is not None and limbs else nullcontext():
        if recording.at is None:
            with within():
                readers_of(recording, _evaluated_in(context), _as_it_is)(0)
                originals_of(recording.channels, recording.bases, is_first=True)(0)
            return
        with going_through(context, limbs, influence) as show_frame:
            read_originals = originals_of(recording.channels, recording.bases)
            for done, i in enumerate(rows.tolist()):
                show_frame(recording.at[i])
                with within():
                    readers_of(recording, _evaluated_in(context), _as_it_is)(i)
                    read_originals(i)
                yield progress((done + 1) / len(rows))


def _as_it_is(ob: Object) -> Any:
    return ob


@contextmanager
def going_through(
    context: Context, limbs: Sequence[PoseBone], influence: float | None = None
) -> Iterator[Callable[[float], None]]:
    """`stepping`, with limbs at an influence in each frame whatever keys it has; their drivers are muted already."""
    key = slider_of("influence").key
    keyed = [(limb.id_data, limb.name) for limb in limbs if is_animated(limb.id_data, path_to_custom(limb.name, key))]
    with stepping(context) as show_frame:

        def show(frame: float) -> None:
            show_frame(frame)
            other = [bones_of(ob)[name] for ob, name in keyed if influence not in (None, bones_of(ob)[name][key])]
            for limb in other:
                limb[key] = influence
                tag_rig(limb)
            if other:
                view_layer_of(context).update()

        yield show


def _evaluated_in(context: Context) -> Evaluated:
    depsgraph = context.evaluated_depsgraph_get()
    return lambda ob: ob.evaluated_get(depsgraph)


# what F-curves alone say, without stepping through frames: it counts where it is right in frames that Blender has shown


Key = tuple[Any, ...]
"""What of a recording an array is: its kind, the object, and more."""


def arrays_of(recording: Recording) -> Iterator[tuple[Key, Array]]:
    """What may change of a recording, (frames, ...) each: ``numbers`` of a data path, a ``slider`` of a limb, the
    ``base`` that own channels of a control make, the ``world`` of an object, and the ``pose`` of a bone."""
    for channel, values in recording.channels.items():
        yield ("numbers", channel.object, channel.path), values
    for rig in recording.rigs:
        for name, row, limb in rig.changing:
            yield ("slider", rig.object, limb, name), rig.sliders[name][:, row]
    for ref, bases in recording.bases.items():
        yield ("base", *ref), bases
    for ob, worlds in recording.worlds.items():
        yield ("world", ob, ""), _by_columns(worlds)
    for (ob, name), read in recording.read.items():
        for bone, row in read.changing.items():
            if name == "matrix":
                yield ("pose", ob, bone), _by_columns(read.numbers[:, row])
            else:
                yield ("numbers", ob, f"{path_to_bone(bone)}.{name}"), read.numbers[:, row]


def _by_columns(numbers: Array) -> Array:
    """Matrices as Blender stores them, as such; the same memory."""
    return numbers.reshape(-1, 4, 4).swapaxes(1, 2)


class Curves:
    """What F-curves say in some rows of frames, ``(rows, ...)``, or ``(1, ...)`` of what nothing changes; and what is
    ``known`` there but of bones and objects that have ``moved``, or is set to ``new_values``. Limbs are at an
    ``influence``, if one is given."""

    def __init__(
        self,
        context: Context,
        frames: Sequence[float],
        rows: Array,
        influence: float | None = None,
        known: Recording | None = None,
        new_values: Values | None = None,
        moved: Collection[BoneRef] = (),
    ) -> None:
        self.rows, self._influence, self._moved_refs = rows, influence, moved
        self._times = times_of(scene_of(context), [frames[row] for row in rows]).tolist()
        self._curves: dict[Any, dict[str, dict[int, Any]]] = {}
        said = arrays_of(known) if known else ()
        self._arrays: dict[Key, Array] = {key: numbers[rows] for key, numbers in said if self._may_know(key)}
        for channel, numbers in (new_values or {}).items():
            self._arrays["numbers", channel.object, channel.path] = numbers[rows]

    def _may_know(self, key: Key) -> bool:
        return not (key[1:] in self._moved_refs or (self._influence is not None and key[-1] == "influence"))

    def array_of(self, kind: str, *about: Any) -> Array:
        """One of `arrays_of` a recording."""
        key = (kind, *about)
        if key not in self._arrays:
            self._arrays[key] = getattr(self, f"_{kind}")(*about)
        return self._arrays[key]

    def _numbers(self, ob: Object, path: str) -> Array:
        now, curves = value_at(ob, path), self._of_paths(ob).get(path, {})
        numbers = np.tile(np.array(now, float).ravel(), (len(self._times) if curves else 1, 1))
        for index, curve in curves.items():
            numbers[:, index] = [curve.evaluate(time) for time in self._times]
        return (numbers >= 1.0 - ROUNDING).astype(float) if isinstance(now, bool) else numbers  # as Blender has it

    def _slider(self, ob: Object, limb: str, name: str) -> Array:
        """What the slider of this name of a limb says, (rows) or (1)."""
        if name == "influence" and self._influence is not None:
            return np.array([self._influence])
        slider = slider_of(name)
        numbers = self.array_of("numbers", ob, path_to_custom(limb, slider.key))
        return numbers[:, slider.bone] if 0 <= slider.bone < numbers.shape[1] else numbers[:, 0]

    def _base(self, ob: Object, bone: str) -> Array:
        owner: Any = bones_of(ob)[bone] if bone else ob
        before = f"{path_to_bone(bone)}." if bone else ""
        paths = [before + name for name in ("location", rotation_channel(owner.rotation_mode), "scale")]
        if not any(path in self._of_paths(ob) or ("numbers", ob, path) in self._arrays for path in paths):
            return np.array(owner.matrix_basis)[None]
        place, turn, scale = (self.array_of("numbers", ob, path) for path in paths)
        quaternion = np.broadcast_arrays(*to_quaternion(owner.rotation_mode, [*turn.T], ARRAY_ANGLES))
        base = np.repeat(rotation(quaternion), 1 if len(turn) > 1 else max(len(place), len(scale)), axis=0)
        base[:, :3, :3] *= scale[:, None]
        base[:, :3, 3] = place
        return base

    def _pose(self, ob: Object, bone: str) -> Array:
        owner, own = bones_of(ob)[bone].bone, self.array_of("base", ob, bone)
        if owner.use_connect and owner.parent:
            own = own.copy()
            own[:, :3, 3] = 0.0
        if following := follow.following_pole(ob, bone):
            share = self.array_of("slider", ob, following.limb.name, "pole_follow")[:, None, None]
            above, target = (self._moved(ob, name) for name in following[1:])
            moved: Array = carried_pole(above, target, share)
            return moved @ transforms.posed(owner, None, own)
        return transforms.posed(owner, self.array_of("pose", ob, owner.parent.name) if owner.parent else None, own)

    def _moved(self, ob: Object, bone: str) -> Array:
        """How a bone is moved from its rest, in the armature."""
        moved: Array = self.array_of("pose", ob, bone) @ np.linalg.inv(np.array(bones_of(ob)[bone].bone.matrix_local))
        return moved

    def _world(self, ob: Any, _: str) -> Array:
        if not ob.parent:
            return self.array_of("base", ob, "")
        above = self.array_of("world", ob.parent, "")
        if ob.parent_type == "BONE":
            above = above @ self.array_of("pose", ob.parent, ob.parent_bone)
            above[:, :3, 3] += above[:, :3, 1] * ob.parent.data.bones[ob.parent_bone].length
        in_world: Array = above @ np.array(ob.matrix_parent_inverse) @ self.array_of("base", ob, "")
        return in_world

    def _of_paths(self, ob: Object) -> dict[str, dict[int, Any]]:
        """The F-curves that act on an object, by data path and index."""
        if ob not in self._curves:
            paths = self._curves[ob] = {}
            for curve in curves_of(ob):
                if not curve.mute:
                    paths.setdefault(curve.data_path, {})[curve.array_index] = curve
        return self._curves[ob]


def filled_in(
    recording: Recording, curves: Curves, checked: Mask | None = None, refs: Collection[BoneRef] | None = None
) -> bool:
    """Fill what curves say into their rows of a recording, if that is what was read in the rows ``checked`` (None: in
    no rows), else nothing; says whether it was. Of bones only those that ``refs`` name, if any."""
    pairs, among = [], np.searchsorted(curves.rows, [] if checked is None else checked)
    for key, numbers in arrays_of(recording):
        if key[0] == "pose" and refs is not None and key[1:] not in refs:
            continue
        own = curves.array_of(*key)
        shown = 1.0 * numbers[curves.rows[among]]
        size = max(float(np.abs(shown).max(initial=0.0)), UNSEEN)
        if not (np.abs(own[among if len(own) > 1 else ...] - shown) <= ON_TARGET * size).all():
            return False
        pairs.append((numbers, own))
    for numbers, own in pairs:
        numbers[curves.rows] = own
    return True
