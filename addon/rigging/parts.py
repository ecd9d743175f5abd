"""All parts of a limb as plain data, before Blender has it: helper bones, constraints and drivers.

They refer to each other by role, and to the limb's own bones as "bone 1", "bone 2", "last" and "parent". The roles:

    root             hangs on the limb's parent as the first bone does, and does nothing; all others hang below it
    origin           (where the first bone's own location moves it) has that location; where the root is now
    target_in_frame  goes to the target: its place is that of the target in the frame G, below whatever parents; in the
                     planes FREE and POLE it points along the line from the root, and faces the pole
    turn 1           turns as the limb's first bone does from the reference: about the normal, and about the line; in
                     FREE and POLE with the line. One that slides does not turn: it has its place along the line
    turn 2           hangs on that where the second bone begins, and turns as this does: about the normal; and so on.
                     The last aims at the target, if the tip is to be there. With twist, each is turned about the bone's
                     line last, and first back about that of the bone above
    span             (softness, knee limits) holds by how much the limb spans less than straight, as its place along X
    scale            (stretch) has the scale of the limb's bones
    group 1          (three and four bones) holds how far bones that keep together are bent; and group 2
    fold             (neighbours that keep together, with an ankle) holds how far they are bent at rest
    largest share    (these) holds the largest share of that, along X
    free             (limits of the first joint) holds how the bones would be turned without limits
    ends             (these) holds how the second bone is turned with the first at either end
    misses           (these) holds how far the tip is off then, squared
    reference 1      (where the reference is a pose) is turned as the bone itself is in the reference; and reference 2

They rest in the axes of G, in the order that the spec's ``axis_shift`` says. Helper bones point along none of those
directions in which Blender is not exact. The limb's bones take over the local transforms of their turns, each in its
own axes.

What costs is what Blender evaluates in each frame: a driver, which looks up two paths each time, costs as much as two
or three constraints, a helper bone as much as two. So where bones point is left to constraints, which do it exactly.
"""

from __future__ import annotations

from cmath import exp
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from bpy.types import Object

from ..blender.dependencies import BoneRef
from ..limb import follow, formulas, storage
from ..limb.features import FEATURES, roll
from ..limb.features.feature import Making
from ..limb.features.foot import SHARED
from ..limb.settings import slider_of
from ..limb.spec import (
    AS_SET,
    BELOW_PARENT,
    CHANNEL,
    CONTROL,
    DISTANCE,
    IN_SPACE,
    LOCAL,
    MADE_BY_US,
    PLACE,
    POLE,
    PROPERTY,
    TARGET,
    Axes,
    ConstraintSpec,
    DriverRead,
    DriverSpec,
    DriverVariable,
    HelperBone,
    Parts,
    Share,
    Spec,
    axes_of,
    axes_of_turn,
    holding,
)
from ..solver.limb import MOVES_ROOT
from .controls import Control
from .description import Description, LimbRef

POSE, LINE, ROOT = (MADE_BY_US + name for name in ("Pose", "Line", "Root"))
SWING, IN_PLANE, ACROSS, FACING, NOT_NEARER = (
    MADE_BY_US + name for name in ("Swing", "In Plane", "Across", "Facing", "Not Nearer")
)
"""The names of constraints."""

OWN = (("owner_space", "LOCAL"), ("target_space", "LOCAL_OWNER_ORIENT"), ("mix_mode", "REPLACE"))


def parts_of(spec: Spec) -> Parts:
    """The parts that a spec asks for."""
    return _parts_of(spec._replace(bones=("",) * len(spec.bones), last_bone="", parent=""))


@lru_cache(4096)
def _parts_of(spec: Spec) -> Parts:
    """The helper bones, constraints and drivers of a mechanism."""
    length, shares = 0.2 * sum(spec.lengths), [one.share(spec) for one in FEATURES if spec.has(one.name)]
    share = Share(*(tuple(chain.from_iterable(parts)) for parts in zip(Share(), *shares, strict=True)))
    bones = (bone._replace(length=length) for bone in _bones(spec, share))
    return Parts(tuple(bones), tuple(_constraints(spec, share)), tuple(_drivers(spec, share)))


def _bones(spec: Spec, share: Share) -> list[HelperBone]:
    roles = [*(["span"] if spec.is_shaped else ()), *share.roles, *formulas.groups(spec)]
    base = axes_of(spec)
    rest = _flat(base.rest)
    at_rest = [0.0, 0.0, 0.0]  # where nothing is followed
    off = spec.angles[0] if spec.plane in MOVES_ROOT else 0.0
    tip = sum(length * exp(1j * (angle - off)) for length, angle in zip(spec.lengths, spec.angles, strict=True))
    at_rest[base.at("X")], at_rest[base.at("Y")] = -tip.imag, tip.real
    bones = [
        HelperBone("root", "parent", rest, "QUATERNION", like="bone 1", copies_rest=spec.copies_rest),
        *([HelperBone("origin", "root", _flat(_rest_of_first(spec)), "QUATERNION")] if spec.is_moved else ()),
        HelperBone("target_in_frame", _origin(spec), rest, "QUATERNION", tuple(at_rest)),
        *(HelperBone(role, "root", rest, "QUATERNION") for role in roles),
    ]
    above = "root"
    for k, is_still in enumerate(spec.is_still, 1):
        axes = axes_of_turn(spec, k)
        if not is_still:
            bones.append(HelperBone(f"reference {k}", above, _flat(axes.rest), "QUATERNION"))
        bones.append(HelperBone(f"turn {k}", above, _flat(axes.rest), axes.order))
        above = f"turn {k}"
    return bones


def _origin(spec: Spec) -> str:
    """The role of the helper that is where the limb's root is."""
    return "origin" if spec.is_moved else "root"


def _rest_of_first(spec: Spec) -> Any:
    """The rest pose of the first bone (4x4)."""
    rest = np.eye(4)
    rest[:3, :3], rest[:3, 3] = np.array(spec.axes[0]).reshape(3, 3), spec.heads[0]
    return rest


def _flat(matrix: Any) -> tuple[float, ...]:
    return tuple(map(float, matrix.ravel()))


def _constraints(spec: Spec, share: Share) -> list[ConstraintSpec]:
    constraints = _constraints_of_line(spec)
    if spec.is_moved:
        along = (("owner_space", "LOCAL"), ("target_space", "LOCAL_OWNER_ORIENT"), ("use_offset", True))
        constraints.append(ConstraintSpec("turn 1", ROOT, "COPY_LOCATION", "origin", along))
    constraints += share.turns
    for k, is_still in enumerate(spec.is_still, 1):
        if not is_still:
            after = (*LOCAL, ("mix_mode", "AFTER_FULL"))
            constraints.append(ConstraintSpec(f"turn {k}", POSE, "COPY_TRANSFORMS", f"reference {k}", after))
    if not spec.is_flat:
        before = (*LOCAL, ("mix_mode", "BEFORE"))
        constraints.append(ConstraintSpec("turn 1", LINE, "COPY_ROTATION", "target_in_frame", before))
    count = len(spec.bones)
    if spec.aims:
        axes = axes_of_turn(spec, count)
        constraints.append(_locked(f"turn {count}", IN_PLANE, "target_in_frame", axes, track="Y", about="Z"))
    for k in range(1, count + 1):
        constraints.append(ConstraintSpec(f"bone {k}", POSE, "COPY_TRANSFORMS", f"turn {k}", OWN))
    return [*constraints, *share.copies]


def _constraints_of_line(spec: Spec) -> list[ConstraintSpec]:
    """What takes the bone for the target there, and has it point away from the root. It swings the shortest way first,
    as far as Blender's arc cosine has that (3e-4), then exactly."""
    bone, axes = "target_in_frame", axes_of(spec)
    is_kept_off = spec.aims and formulas.nearest(spec) > 0.0
    in_plane = (*IN_SPACE, (f"use_{axes.name('Z').lower()}", False)) if spec.is_flat and is_kept_off else ()
    constraints = [ConstraintSpec(bone, POSE, "COPY_LOCATION", TARGET, in_plane, space="root" if in_plane else "")]
    if is_kept_off:
        outside = (*IN_SPACE, ("limit_mode", "LIMITDIST_OUTSIDE"), ("distance", formulas.nearest(spec)))
        constraints.append(ConstraintSpec(bone, NOT_NEARER, "LIMIT_DISTANCE", _origin(spec), outside, space="root"))
    if not spec.is_flat:
        swing = (*IN_SPACE, ("track_axis", f"TRACK_NEGATIVE_{axes.name('Y')}"))
        constraints += [
            ConstraintSpec(bone, SWING, "DAMPED_TRACK", _origin(spec), swing, space="root"),
            _locked(bone, IN_PLANE, _origin(spec), axes, track="-Y", about="Z"),
            _locked(bone, ACROSS, _origin(spec), axes, track="-Y", about="X"),
        ]
    if spec.plane == "POLE":
        constraints.append(_locked(bone, FACING, POLE, axes, track="-X", about="Y"))
    return constraints


def _locked(bone: str, name: str, target: str, axes: Axes, track: str, about: str) -> ConstraintSpec:
    """A constraint that points one axis of the frame of a bone at a target, turning about another."""
    sign = "NEGATIVE_" if track[0] == "-" else ""
    tracked = ("track_axis", f"TRACK_{sign}{axes.name(track[-1])}")
    locked = ("lock_axis", f"LOCK_{axes.name(about)}")
    return ConstraintSpec(bone, name, "LOCKED_TRACK", target, (*IN_SPACE, tracked, locked), space="root")


def _drivers(spec: Spec, share: Share) -> list[DriverSpec]:
    drivers: list[tuple[str, str, int, str]] = []
    axes = axes_of(spec)
    if spec.is_moved:
        drivers += [("origin", "location", axis, letter) for axis, letter in enumerate("pqr")]
    if not spec.is_flat:
        drivers.append(("turn 1", "rotation_euler", axes.at("Y"), formulas.swivel(spec)))
    if spec.pole_switch:
        drivers.append(("target_in_frame", f'constraints["{FACING}"].influence', -1, "k"))
    if spec.is_shaped:
        drivers.append(("span", "location", 0, formulas.to_straight_of(spec)))
    drivers += [*share.drivers, *holding(formulas.groups(spec)).drivers]
    for k, turn in enumerate(formulas.turn_expressions(spec), 1):
        if turn != formulas.NONE:
            drivers.append((f"turn {k}", "rotation_euler", axes_of_turn(spec, k).at("Z"), turn))
    for k, is_still in enumerate(spec.is_still, 1):
        if not is_still:
            parts = enumerate(_reference_rotation(spec, k))
            drivers += [(f"reference {k}", "rotation_quaternion", *numbered) for numbered in parts]
        drivers.append((f"bone {k}", f'constraints["{POSE}"].influence', -1, "t"))
    letters = [formulas.letters_of(expression) for *_, expression in drivers]
    return [
        DriverSpec(*driver, tuple(_variable(letter, axes) for letter in needed))
        for driver, needed in zip(drivers, letters, strict=True)
    ]


def _reference_rotation(spec: Spec, k: int) -> list[str]:
    """The own rotation of a bone in the reference, as a quaternion in the axes of the helper bone."""
    w, *about = spec.reference_rotations[k - 1]
    about_in_bone = axes_of_turn(spec, k).rest[:3, :3].T @ np.array(spec.axes[k - 1]).reshape(3, 3) @ np.array(about)
    return [formulas.number(component) for component in (w, *about_in_bone)]


def _variable(letter: str, axes: Axes) -> DriverVariable:
    match formulas.LETTERS[letter]:
        case formulas.SliderLetter(slider=slider):
            return DriverVariable(
                letter, PROPERTY, (DriverRead("last", slider_of(slider).key, item=slider_of(slider).bone),)
            )
        case formulas.LocationLetter(axis=axis):
            return DriverVariable(letter, PROPERTY, (DriverRead("bone 1", f"location[{axis}]", CHANNEL),))
        case formulas.NumberLetter(role=role, axis=axis):
            return DriverVariable(letter, PLACE, (DriverRead(role, f"LOC_{axis}", AS_SET),))
        case formulas.TargetLetter(axis=""):  # how far from where it rests: the root does not move in its own space
            return DriverVariable(
                letter, DISTANCE, (DriverRead("target_in_frame", "", BELOW_PARENT), DriverRead("root", "", AS_SET))
            )
        case formulas.TargetLetter(axis=axis):
            return DriverVariable(
                letter, PLACE, (DriverRead("target_in_frame", f"LOC_{axes.name(axis)}", BELOW_PARENT),)
            )


# all that a limb needs


Refs = Mapping[str, tuple[Object | None, str]]
"""The bones and objects that roles stand for, by role, each an object and the name of a bone, or nothing."""

NOTHING: tuple[None, str] = (None, "")


def united(parts: Mapping[str, Parts]) -> Parts:
    """Parts for several things, by whatever names, one after the other as one."""
    return Parts(*(tuple(item for one in parts.values() for item in one[k]) for k in range(len(Parts._fields))))  # type: ignore[arg-type]


def needed_parts(ref: LimbRef, description: Description, spec: Spec | None) -> dict[str, Parts]:
    """The parts of a limb by the feature that they are for, and those of its mechanism, if it has one of this spec."""
    limb, bones, is_near = ref[0].pose.bones[ref[1]], ref[0].data.bones, _is_bone_of(ref, description.target)
    making = Making(
        value=description,
        length=limb.bone.length,
        tip=follow.tip_at_rest(limb),
        foot_rest=bones[description.foot].matrix_local if description.foot else None,
        is_near=is_near,
        is_foot_near=is_near or description.roll is not None,
        is_sharing=bool(_shared_by_foot(ref, description)),
    )
    parts = {"": parts_of(spec)} if spec else {}
    besides = [feature for feature in FEATURES if not feature.is_in_mechanism and feature.of(description)]
    return parts | {feature.name: feature.made(making) for feature in besides}


def _is_bone_of(ref: LimbRef, followed: Any) -> bool:
    """Whether what a limb follows is a bone of its own rig, or is to be one."""
    if isinstance(followed, Control):
        return followed.ob == ref[0]
    return followed is not None and followed[0] == ref[0] and followed[1] in ref[0].data.bones


def _shared_by_foot(ref: LimbRef, description: Description) -> str:
    """The lowest bone on which both the foot of a limb and the bone that it follows hang, or nothing."""
    bones, foot = ref[0].pose.bones, ref[0].pose.bones.get(description.foot)
    if foot is None or not _is_bone_of(ref, description.target):
        return ""
    above: Any = (
        bones.get(description.target.parent)
        if isinstance(description.target, Control)
        else bones[description.target[1]].parent
    )
    carriers = {above, *above.parent_recursive} if above else set()
    return next((bone.name for bone in foot.parent_recursive if bone in carriers), "")


def refs_of(
    ref: LimbRef, description: Description, bones: Iterable[HelperBone], helpers: Mapping[str, str]
) -> dict[str, Any]:
    """The objects and bones that the roles of a limb's parts stand for; of helper bones those that are there."""
    ob, name = ref
    chain = storage.bones_of_limb(ob.pose.bones[name])
    above = chain[0].parent if chain else None
    refs: dict[str, Any] = {
        "last": ref,
        "foot": (ob, description.foot),
        SHARED: (ob, _shared_by_foot(ref, description)),
        "parent": (ob, above.name if above else ""),
    }
    refs |= {f"bone {k}": (ob, bone.name) for k, bone in enumerate(chain, 1)}
    refs |= {f"toe {k}": (ob, toe) for k, toe in enumerate(description.roll.toes if description.roll else ())}
    refs |= {"above pole": (ob, description.pole_follow.above if description.pole_follow else "")}
    refs |= {bone.role: (ob, helpers.get(bone.role, "")) for bone in bones}
    return refs | followed_refs(description.target, description.pole, refs.get(roll.ROLLED_TARGET))


def followed_refs(target: Any, pole: Any, rolled_ref: BoneRef | None) -> dict[str, Any]:
    """The objects and bones that the roles of target, pole and control stand for. Nothing yet for controls that are
    to be made. ``rolled_ref`` is the helper of a foot that rolls."""
    refs = [NOTHING if ref is None or isinstance(ref, Control) else ref for ref in (target, pole)]
    return {
        CONTROL: refs[0],
        "target": refs[0],
        TARGET: rolled_ref if rolled_ref and (refs[0][0] or isinstance(target, Control)) else refs[0],
        POLE: refs[1],
        "pole": refs[1],
    }
