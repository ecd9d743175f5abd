"""What a limb's mechanism is made of: one small plain value, from which all its parts follow."""

from __future__ import annotations

import json
from functools import lru_cache
from itertools import chain
from math import isclose, pi
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone

from ..blender.animation import clips_besides, curves_everywhere, driver_of
from ..blender.types import path_to_bone
from ..limb.rest_geometry import is_zigzag, lines_of, rest_geometry_of
from ..limb.settings import IN_ONE_PLANE
from ..limb.sides import outward_sign
from ..limb.storage import choices_of, has_slider, has_twist
from ..limb.tolerances import ON_TARGET
from ..limb.transforms import own_location

ROUGH = -0.9
"""From which component along Y of an armature's or parent's axes on Blender keeps the axes of a bone exactly. Those of
a bone that points along -Y there are off by up to 3e-4."""

ASKEW = 2e-6
"""From which cosine on two axes of a bone are not square to each other."""

Numbers = tuple[float, ...]


class Spec(NamedTuple):
    """Everything that a mechanism is a function of. Bones are the first of each segment of the limb, from the root
    down; ``last_bone`` is the limb's last, ``parent`` what the limb hangs on ("" for nothing).

    In the armature's rest space: ``frame`` is G (rows of a 4x4 matrix), ``axes`` are those of each bone at rest (rows
    of a 3x3 matrix), ``heads`` where each begins. ``angles`` are those of the bones off the line in the reference; in
    the axes of each bone there, ``normals`` is the bend plane's normal and ``directions`` that to the next joint;
    ``reference_rotations`` are the bones' own rotations there. ``axis_shift`` says along which axis of G the helper
    bones point: Y, Z or X; with ``copies_rest`` their root rests as the first bone does, whose axes are not square to
    each other; ``outward_sign`` is the sign of swivel and twist; ``is_moved`` says that the first bone's own location
    moves the root. With ``twist``, ``lines`` are the directions from each bone's joint to the next, out of the plane
    too."""

    bones: tuple[str, ...]
    last_bone: str
    parent: str
    frame: Numbers
    axes: tuple[Numbers, ...]
    heads: tuple[Numbers, ...]
    lengths: Numbers
    angles: Numbers
    normals: tuple[Numbers, ...]
    directions: tuple[Numbers, ...]
    reference_rotations: tuple[Numbers, ...]
    plane: str = "FREE"
    softness: bool = False
    stretch: bool = False
    ankle: bool = False
    pole_switch: bool = False
    stretch_max: float = 2.0
    stretch_volume: str = "LENGTH"
    min_angle: float = 0.0
    max_angle: float = pi
    axis_shift: int = 0
    outwards: float = 1.0
    copies_rest: bool = False
    twist: bool = False
    lines: tuple[Numbers, ...] = ()
    is_moved: bool = False
    root_min_angle: float = -pi
    root_max_angle: float = pi

    @property
    def is_limited(self) -> bool:
        """Whether the knee has a smallest or largest angle, or the first joint has."""
        return self.min_angle > ON_TARGET or self.max_angle < pi - ON_TARGET or self.is_root_limited

    @property
    def is_root_limited(self) -> bool:
        """Whether the first bone may not be turned about its hinge by any angle."""
        is_narrow = self.root_min_angle > ON_TARGET - pi or self.root_max_angle < pi - ON_TARGET
        return is_narrow and self.plane == "HINGE" and len(self.bones) == 2

    @property
    def slides(self) -> bool:
        """Whether the first bone slides along its line rather than turns."""
        return self.plane == "SLIDE"

    @property
    def is_flat(self) -> bool:
        """Whether the limb stays in its plane."""
        return self.plane in IN_ONE_PLANE

    @property
    def is_zigzag(self) -> bool:
        """Which bones of more than two keep together, see `limb.geometry`."""
        return is_zigzag(self.angles)

    @property
    def is_uneven(self) -> bool:
        """Whether the bones get longer, but not as much thicker."""
        return self.stretch and self.stretch_volume != "UNIFORM"

    @property
    def is_still(self) -> tuple[bool, ...]:
        """For each bone, whether its own rotation in the reference is none."""
        return tuple(max(map(abs, rotation[1:])) < 1e-9 for rotation in self.reference_rotations)


def spec_of(limb: PoseBone, is_now: bool = False) -> Spec:
    """The spec that the mechanism of a limb should have, by its armature, sliders and choices; with ``is_now``, by how
    the first bone is moved in the current frame only."""
    geometry, choices = rest_geometry_of(limb), choices_of(limb)
    first = limb.id_data.pose.bones[geometry.names[0]]
    parent = first.parent
    below = np.array(parent.bone.matrix_local, float) if parent else np.eye(4)
    plane, twist = choices["plane"], has_twist(limb)
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
        softness=has_slider(limb, "softness"),
        stretch=has_slider(limb, "stretch"),
        ankle=len(geometry.names) > 2 and has_slider(limb, "ankle"),
        pole_switch=plane == "POLE" and has_slider(limb, "pole"),
        stretch_max=float(choices["stretch_max"]),
        stretch_volume=choices["stretch_volume"] if all(geometry.points) else "UNIFORM",
        min_angle=float(choices["min_angle"]),
        max_angle=float(choices["max_angle"]),
        root_min_angle=float(choices["root_min_angle"]),
        root_max_angle=float(choices["root_max_angle"]),
        axis_shift=axis_shift_in(geometry.frame, below),
        outwards=1.0 if plane in IN_ONE_PLANE and not twist else outward_sign(limb),
        copies_rest=_is_askew(np.array(first.bone.matrix_local, float), below),
        twist=twist,
        lines=tuple(_numbers(line) for line in lines_of(geometry)) if twist else (),
        is_moved=plane == "SLIDE" or is_moved_by_location(first, sum(geometry.lengths), is_now),
    )


def _numbers(values: Any) -> Numbers:
    return tuple(float(value) for value in np.ravel(values))


def axis_shift_in(frame: Any, parent: Any) -> int:
    """Along which axis of G, counted on from Y, bones keep their axes exactly, in the armature and below a parent."""
    for axis_shift in range(3):
        direction = np.asarray(frame)[:3, (1 + axis_shift) % 3]
        if direction[1] > ROUGH and np.linalg.solve(np.asarray(parent)[:3, :3], direction)[1] > ROUGH:
            return axis_shift
    return 0


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
    root = (spec.root_min_angle, spec.root_max_angle) if spec.is_root_limited else (-pi, pi)
    limits = (spec.outwards, spec.min_angle, spec.max_angle, *root, spec.stretch_max * spec.stretch)
    kind = (
        len(spec.bones),
        spec.is_zigzag,
        spec.plane,
        spec.softness,
        spec.stretch,
        spec.ankle,
        spec.pole_switch,
        spec.is_limited,
        spec.twist,
    )
    return [*places, *directions, *spec.angles, *rows, *limits], (*kind, spec.stretch_volume if spec.stretch else "")
