"""One pass over frames, which reads all that a task needs of its limbs.

    recording = yield from record(context, limbs, frames, controls=[(target, "foot_ik.L")], channels=[...])

Each frame is a step, which gives the part done; whoever has more to do than one pass says by ``progress`` of what. With
``frames`` None it reads this frame as it stands, unkeyed changes included, as arrays of one frame. Whoever needs more
than limbs names it: objects and bones as ``refs``, those that are to be moved as ``controls``, properties as
``channels``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ..blender.animation import drivers_of, is_animated, strips_of
from ..blender.dependencies import BoneRef
from ..blender.stepping import Steps, stepping
from ..blender.types import bones_of, path_to_custom, tag_rig, view_layer_of
from ..limb.settings import SLIDER
from ..rigging.feet import at_influence
from .by_curves import Curves, arrays_of, filled_in
from .channels import Channel, originals_of
from .reading import Evaluated, Recording, bones_to_read, new_recording, readers_of
from .thinning import Sampling

Array = NDArray[Any]

PassProgress = Callable[[float], float]
"""Gives from what is done of a pass the part done of all."""


def record(
    context: Context,
    limbs: Sequence[PoseBone],
    frames: Sequence[float] | None,
    refs: Iterable[BoneRef] = (),
    channels: Iterable[Channel] = (),
    controls: Sequence[BoneRef] = (),
    influence: float | None = None,
    progress: PassProgress = float,
    within: Callable[[], Any] = nullcontext,
    bones: Iterable[PoseBone] = (),
    known: Recording | None = None,
    sampling: Sampling | None = None,
) -> Steps[Recording]:
    """Step through the frames once, with these limbs at an ``influence`` if one is given, and read each ``within``
    what that makes; then the scene is as it was. None for ``frames`` reads the one that is shown, as it stands.
    ``bones`` are read as those of limbs are. Where all is in what is ``known`` of the same frames, nothing is stepped;
    of a ``sampling``, what is halfway is only where F-curves do not say it."""
    count = 1 if frames is None else len(frames)
    recording = new_recording(
        limbs, count, bones_to_read, True, [*refs, *controls], channels, ("location",), controls, bones
    )
    if known and frames and _is_known(recording, known):
        filled_in(recording, Curves(context, frames, np.arange(count), influence, known))
        return recording._replace(is_computed=True)
    rows, rest = (sampling.rows, sampling.between) if sampling else (np.arange(count), np.arange(0))
    yield from read_again(context, recording, limbs, frames, rows, influence, progress, within)
    if sampling and frames and len(rest):
        curves = Curves(context, frames, np.arange(count), influence)
        if not filled_in(recording, curves, rows):
            yield from read_again(context, recording, limbs, frames, rest, influence, progress, within)
    return recording


def _is_known(recording: Recording, known: Recording) -> bool:
    """Whether all that a recording is to have is known, or does not change, or is where own channels put a control;
    influence is what one says."""
    there = {key for key, _ in arrays_of(known)}
    controls = {*recording.bases, *((ob, "") for ob, _ in recording.bases)}
    return all(
        key in there
        or (kind == "numbers" and _is_said(*key[1:]))
        or (
            kind == "slider" and (key[3] == "influence" or _is_said(key[1], path_to_custom(key[2], SLIDER[key[3]].key)))
        )
        or (kind in ("base", "pose", "world") and key[1:] in controls)
        for key, _ in arrays_of(recording)
        for kind in key[:1]
    )


def _is_said(ob: Any, path: str) -> bool:
    """Whether F-curves alone say a property, if anything does."""
    has_others = any(strips_of(ob)) or any(curve.data_path == path for curve in drivers_of(ob))
    return not (has_others and is_animated(ob, path))


def read_again(
    context: Context,
    recording: Recording,
    limbs: Sequence[PoseBone],
    frames: Sequence[float] | None,
    rows: Array,
    influence: float | None = None,
    progress: PassProgress = float,
    within: Callable[[], Any] = nullcontext,
) -> Steps[None]:
    """Step through some frames, by their ``rows`` in a recording, and read them into it: see `record`."""
    with at_influence(context, limbs, influence) if influence is not None and limbs else nullcontext():
        if frames is None:
            with within():
                readers_of(recording, _evaluated_in(context), _as_it_is)(0)
                originals_of(recording.channels, recording.bases, is_first=True)(0)
            return
        with going_through(context, limbs, influence) as show_frame:
            read_originals = originals_of(recording.channels, recording.bases)
            for done, i in enumerate(rows.tolist()):
                show_frame(frames[i])
                with within():
                    readers_of(recording, _evaluated_in(context), _as_it_is)(i)
                    read_originals(i)
                yield progress((done + 1) / len(rows))


def _as_it_is(ob: Any) -> Any:
    return ob


@contextmanager
def going_through(
    context: Context, limbs: Sequence[PoseBone], influence: float | None = None
) -> Iterator[Callable[[float], None]]:
    """`stepping`, with limbs at an influence in each frame whatever keys it has; their drivers are muted already."""
    key = SLIDER["influence"].key
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
