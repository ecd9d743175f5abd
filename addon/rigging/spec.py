"""What a limb's mechanism is made of: one small plain value, from which all its parts follow."""

from __future__ import annotations

import json
from functools import lru_cache
from itertools import chain
from math import isclose
from typing import Any

import numpy as np
from bpy.types import PoseBone

from ..blender.animation import clips_besides, curves_everywhere, driver_of
from ..blender.dependencies import BoneRef
from ..blender.types import path_to_bone
from ..limb.features import FEATURES
from ..limb.parts import ALL
from ..limb.rest_geometry import lines_of, rest_geometry_of
from ..limb.settings import KNEE_LIMITS
from ..limb.spec import Numbers, Spec, axis_shift_in
from ..limb.storage import outward_sign
from ..limb.tolerances import ON_TARGET
from ..limb.transforms import own_location
from ..solver.limb import IN_ONE_PLANE, MOVES_ROOT

ASKEW = 2e-6
"""From which cosine on two axes of a bone are not square to each other."""


def spec_of(ref: BoneRef, value: Any, is_now: bool = False) -> Spec:
    """The spec that the mechanism of a limb should have, as its armature and its value say; with ``is_now``, by how
    the first bone is moved in the current frame only."""
    ob, name = ref  # type: Any, str
    limb = ob.pose.bones[name]
    geometry, choices, plane = rest_geometry_of(limb), value.choices, value.choices["plane"]
    features = [feature for feature in FEATURES if feature.is_in_mechanism and feature.of(value)]
    has_twist = any(slider.bone != ALL for feature in features for slider in feature.sliders)
    first = ob.pose.bones[geometry.names[0]]
    parent = first.parent
    below = np.array(parent.bone.matrix_local, float) if parent else np.eye(4)
    kept = {one.name: choices[one.name] for one in (*KNEE_LIMITS, *(one for of in features for one in of.choices))}
    if "stretch_volume" in kept and not all(geometry.points):
        kept["stretch_volume"] = "UNIFORM"
    return Spec(
        bones=geometry.names,
        last_bone=limb.name,
        parent=parent.name if parent else "",
        frame=_numbers(geometry.frame),
        axes=tuple(_numbers(rest[:3, :3]) for rest in geometry.rest),
        heads=tuple(_numbers(rest[:3, 3]) for rest in geometry.rest),
        lengths=_numbers(geometry.lengths),
        angles=_numbers(geometry.angles),
        normals=tuple(_numbers(normal) for normal in geometry.normals),
        directions=tuple(_numbers(direction) for direction in geometry.bone_directions),
        reference_rotations=tuple(_numbers(rotation) for rotation in geometry.reference_rotations),
        plane=plane,
        features=tuple(feature.name for feature in features),
        choices=tuple(kept.items()),
        pole_switch=plane == "POLE" and "pole" in value.sliders,
        axis_shift=axis_shift_in(geometry.frame, below),
        outwards=1.0 if plane in IN_ONE_PLANE and not has_twist else outward_sign(limb),
        copies_rest=_is_askew(np.array(first.bone.matrix_local, float), below),
        lines=tuple(_numbers(line) for line in lines_of(geometry)) if has_twist else (),
        is_moved=plane in MOVES_ROOT or is_moved_by_location(first, sum(geometry.lengths), is_now),
    )


def _numbers(values: Any) -> Numbers:
    return tuple(float(value) for value in np.ravel(values))


def _is_askew(first: Any, parent: Any) -> bool:
    """Whether the axes of a bone are not square to each other in those of its parent, but are in the armature."""
    axes = np.linalg.solve(parent[:3, :3], first[:3, :3])
    return bool(first[1, 1] > -0.99 and abs(axes.T @ axes - np.eye(3)).max() > ASKEW)


def is_moved_by_location(first: PoseBone, size: float, is_now: bool = False) -> bool:
    """Whether a bone is moved by its own location: now, or in any frame of what is animated, or is to be as another
    action is picked."""
    if first.bone.use_connect and first.parent:
        return False
    is_off = bool(np.abs(own_location(first)).max() > ON_TARGET * size)
    if is_off or is_now:
        return is_off
    ob, path = first.id_data, f"{path_to_bone(first.name)}.location"
    if any(driver_of(ob, path, index) for index in range(3)):
        return True
    curves = chain(curves_everywhere(ob), *(clip.curves for clip in clips_besides(ob, (path,))))
    keys = (key for curve in curves if curve.data_path == path for key in curve.keyframe_points)
    return any(abs(key.co.y) > ON_TARGET * size for key in keys)


def to_json(spec: Spec) -> str:
    """A spec as text."""
    return json.dumps(spec._asdict(), separators=(",", ":"))


@lru_cache(4096)
def from_json(text: str) -> Spec | None:
    """The spec that a text is of; None if it is of none. What is not known of it is left out: it may be of another
    version of the extension."""
    try:
        kept = json.loads(text).items()
        return Spec(**{name: _frozen(value) for name, value in kept if name in Spec._fields})
    except (TypeError, ValueError, AttributeError):
        return None


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def differs(a: Spec, b: Spec) -> bool:
    """Whether a mechanism made of one spec does not fit another. Blender itself follows renames, so that names do not
    count, nor does ``axis_shift``."""
    if a[3:] == b[3:]:
        return False
    numbers, kinds = zip(*map(_compared, (a, b)), strict=True)
    if kinds[0] != kinds[1]:
        return True
    return not all(isclose(*pair, rel_tol=ON_TARGET, abs_tol=ON_TARGET) for pair in zip(*numbers, strict=True))


def _compared(spec: Spec) -> tuple[list[float], tuple[Any, ...]]:
    """What of a spec may differ by `CLOSE`, lengths as parts of the limb's, and what has to be the same exactly."""
    size = max(sum(spec.lengths), 1e-30)
    places = [place / size for place in (*spec.frame[3:12:4], *chain(*spec.heads), *spec.lengths, size * size)]
    directions = chain(*spec.axes, *spec.normals, *spec.directions, *spec.reference_rotations, *spec.lines)
    rows = (number for i, number in enumerate(spec.frame[:12]) if i % 4 != 3)
    numbers = (value for _, value in spec.choices if not isinstance(value, str))
    words = tuple((name, value if isinstance(value, str) else "") for name, value in spec.choices)
    kind = (len(spec.bones), spec.is_zigzag, spec.plane, spec.features, spec.pole_switch, spec.is_limited, words)
    return [*places, *directions, *spec.angles, *rows, spec.outwards, *numbers], kind
