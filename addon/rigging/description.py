"""One limb as one plain value: all that it is, read from its rig or planned; and kept on its bones, and taken away
again. What is made of it is said in `parts`, `limb.features` and `controls`; `build` makes the rig so."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone

from ..blender import animation, dependencies
from ..blender.types import ArmatureObject, Refused, children_of, path_to_bone, path_to_custom
from ..limb import rest_geometry, settings, spec, storage, tips, tolerances, transforms
from ..limb.features import BY_NAME, FEATURES
from ..limb.features.pole_follow import CONSTRAINT as FOLLOWING_POLE
from ..limb.features.pole_follow import PoleFollow
from ..limb.features.roll import Roll
from ..limb.follow import (
    HUNG_ON_TARGET,
    Follow,
    flat_toes,
    follow_of,
    follow_of_constraint,
    gone_controls,
    has_pole_follow,
    has_roll,
    is_still_helper,
    set_follow,
)
from ..limb.spec import Numbers, Spec, axis_shift_in
from ..solver.limb import IN_ONE_PLANE, MOVES_ROOT
from .controls import Control
from .feet import foot_turn_of, pivots_of

LimbRef = tuple[ArmatureObject, str]
"""A limb: its rig, and the name of its last bone. It stays, as Edit Mode makes the bones anew."""

Turn = tuple[float, float, float, float]


USUAL_SLIDERS: dict[str, Any] = {
    slider.name: slider.default for slider in settings.every_slider() if not slider.is_feature
}
"""Those that every limb has."""


class Description(NamedTuple):
    """A limb. ``foot`` is the bone that begins at its tip, or nothing, and ``foot_turn`` how that is turned off what it
    follows, as Euler angles; None if it does not follow. ``target`` and ``pole`` are objects or bones, or controls to
    be made. ``bend_axis`` and ``reference_rotations`` may be none, see `limb.rest_geometry`; ``sliders`` has those that
    the limb has, by name. ``constraint`` is the name of the IK constraint that is the limb."""

    segments: settings.BonesPerSegment
    foot: str
    bend_axis: tuple[float, ...] = ()
    reference_rotations: tuple[Turn, ...] = ()
    target: dependencies.BoneRef | Control | None = None
    pole: dependencies.BoneRef | Control | None = None
    foot_turn: tuple[float, float, float] | None = None
    roll: Roll | None = None
    pole_follow: PoleFollow | None = None
    sliders: dict[str, Any] = USUAL_SLIDERS
    choices: dict[str, Any] = settings.CHOICES
    mode: str = "LIVE"
    constraint: str = settings.CONSTRAINT_NAME
    converted_from: str = ""

    @property
    def tip(self) -> str:
        """Where the tip is: where the ``FOOT`` begins, or at the ``TAIL``."""
        return str(self.choices["tip"])

    @property
    def followed(self) -> tuple[dependencies.BoneRef | None, dependencies.BoneRef | None]:
        """Its target and its pole, but for controls that are yet to be made."""
        target, pole = self.target, self.pole
        return None if isinstance(target, Control) else target, None if isinstance(pole, Control) else pole

    def has(self, name: str) -> bool:
        """Whether it has a feature."""
        return BY_NAME[name].of(self)

    def without(self, name: str) -> Description:
        """The same without a feature."""
        feature = BY_NAME[name]
        sliders = {name: value for name, value in self.sliders.items() if name not in feature.keys}
        none: dict[str, Any] = dict.fromkeys(feature.fields)
        return self._replace(sliders=sliders, **none)

    def following(self, kind: str, ref: dependencies.BoneRef | Control | None) -> Description:
        """The same with another ``target`` or ``pole``."""
        return self._replace(target=ref) if kind == "target" else self._replace(pole=ref)

    def with_slider(self, name: str, value: Any) -> Description:
        """The same with a slider, which it may have already, at a value."""
        return self._replace(sliders=self.sliders | {name: value})

    def with_sliders_of(self, name: str, **values: Any) -> Description:
        """The same with the sliders of a feature, at these values, or as they are, or else at rest."""
        sliders = [slider for slider in BY_NAME[name].sliders if slider.bone < len(self.segments)]
        return self._replace(sliders={slider.name: slider.default for slider in sliders} | self.sliders | values)

    def of_its_bones(self) -> Description:
        """The same with the features that a limb of so many bones has from the start, and without those that say
        something of each bone: there may have been others."""
        description = self
        for feature in FEATURES:
            if any(slider.bone != spec.ALL for slider in feature.sliders):
                description = description.without(feature.name)
            elif feature.is_usual:
                has_bones = len(self.segments) >= feature.least_bones
                change = description.with_sliders_of if has_bones else description.without
                description = change(feature.name)
        return description

    def with_choice(self, name: str, value: Any) -> Description:
        """The same with a setting that does not animate at another value."""
        return self._replace(choices=self.choices | {name: value})


def ref_of(limb: PoseBone) -> LimbRef:
    """A limb by its last bone."""
    return limb.id_data, limb.name


def describe(ref: LimbRef) -> Description:
    """The description of a limb, read from its rig."""
    limb: Any = ref[0].pose.bones[ref[1]]
    group, foot = storage.group_of(limb) or {}, tips.foot_of(limb)
    axis, flat = storage.stored_axes(limb)
    turns: Any = tuple(tuple(flat[i : i + 4]) for i in range(0, len(flat), 4))
    constraint = storage.limb_constraint_of(limb)
    target, pole = (ref if ref[0] is not None else None for ref in follow_of(limb).pairs)
    return Description(
        segments=storage.segments_of(limb),
        foot=foot.name if foot else "",
        bend_axis=tuple(axis),
        reference_rotations=turns,
        target=target,  # type: ignore[arg-type]  # it is there
        pole=pole,  # type: ignore[arg-type]
        foot_turn=foot_turn_of(foot),
        roll=Roll(pivots_of(limb), tuple(toe.name for toe in flat_toes(limb))) if has_roll(limb) else None,
        pole_follow=_pole_follow_of(limb) if has_pole_follow(limb) else None,
        sliders={slider.name: storage.read_slider(limb, slider.name) for slider in storage.sliders_meant(limb)},
        choices=storage.choices_of(limb),
        mode=storage.mode_of(limb),
        constraint=constraint.name if constraint else settings.CONSTRAINT_NAME,
        converted_from=group.get(settings.CONVERTED_FROM, ""),
    )


def _pole_follow_of(limb: PoseBone) -> PoleFollow | None:
    """What the pole of a limb hung on; None where that can't be told any more, and there is no Pole Follow."""
    follow, ob = follow_of(limb), limb.id_data
    pole: Any = ob.pose.bones.get(follow.pole_subtarget) if follow.pole == ob else None
    carrying: Any = pole.constraints.get(FOLLOWING_POLE) if pole else None
    if carrying is None or len(carrying.targets) != 2:
        return pole_follow_of_new(limb, pole)
    above = carrying.targets[0].subtarget
    return PoleFollow(
        "" if is_still_helper(ob, above) else above, bool((storage.group_of(limb) or {}).get(HUNG_ON_TARGET))
    )


def pole_follow_of_new(limb: PoseBone, pole: PoseBone | None) -> PoleFollow | None:
    """Pole Follow for a pole that hangs on a bone of its own rig, or on nothing; None without a pole."""
    if pole is None:
        return None
    above, follow = pole.parent, follow_of(limb)
    if above is not None and follow.target == limb.id_data and above.name == follow.subtarget:
        hips = storage.bones_of_limb(limb)[0].parent
        return PoleFollow(hips.name if hips else "", True)
    return PoleFollow(above.name if above else "", False)


# the spec of its mechanism


ASKEW = 2e-6
"""From which cosine on two axes of a bone are not square to each other."""


def spec_of(ref: dependencies.BoneRef, value: Description, is_now: bool = False) -> Spec:
    """The spec that the mechanism of a limb should have, as its armature and its value say. With ``is_now``, by how
    the first bone is moved in the current frame only."""
    ob, name = ref  # type: Any, str
    limb = ob.pose.bones[name]
    geometry, choices, plane = rest_geometry.rest_geometry_of(limb), value.choices, value.choices["plane"]
    features = [feature for feature in FEATURES if feature.is_in_mechanism and feature.of(value)]
    has_twist = any(slider.bone != spec.ALL for feature in features for slider in feature.sliders)
    first = ob.pose.bones[geometry.names[0]]
    parent = first.parent
    below = np.array(parent.bone.matrix_local, float) if parent else np.eye(4)
    kept = {
        one.name: choices[one.name] for one in (*settings.KNEE_LIMITS, *(one for of in features for one in of.choices))
    }
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
        outwards=1.0 if plane in IN_ONE_PLANE and not has_twist else storage.outward_sign(limb),
        copies_rest=_is_askew(np.array(first.bone.matrix_local, float), below),
        lines=tuple(_numbers(line) for line in rest_geometry.lines_of(geometry)) if has_twist else (),
        is_moved=plane in MOVES_ROOT or is_moved_by_location(first, sum(geometry.lengths), is_now),
    )


def _numbers(values: Any) -> Numbers:
    return tuple(float(value) for value in np.ravel(values))


def _is_askew(first: Any, parent: Any) -> bool:
    """Whether the axes of a bone are not square to each other in those of its parent, but are in the armature."""
    axes = np.linalg.solve(parent[:3, :3], first[:3, :3])
    return bool(first[1, 1] > -0.99 and abs(axes.T @ axes - np.eye(3)).max() > ASKEW)


def is_moved_by_location(first: PoseBone, size: float, is_now: bool = False) -> bool:
    """Whether a bone's own location moves it now, next to the ``size`` of its limb; or, unless ``is_now`` is all that
    counts, in any frame of any action that animates it or may be picked."""
    if first.bone.use_connect and first.parent:
        return False
    is_off = bool(np.abs(transforms.own_location(first)).max() > tolerances.ON_TARGET * size)
    if is_off or is_now:
        return is_off
    ob, path = first.id_data, f"{path_to_bone(first.name)}.location"
    if any(animation.driver_of(ob, path, index) for index in range(3)):
        return True
    curves = chain(animation.curves_everywhere(ob), *(clip.curves for clip in animation.clips_besides(ob, (path,))))
    keys = (key for curve in curves if curve.data_path == path for key in curve.keyframe_points)
    return any(abs(key.co.y) > tolerances.ON_TARGET * size for key in keys)


# keeping it


USUAL: dict[str, Any] = settings.CHOICES | {"bend_axis": [], "reference_rotations": [], HUNG_ON_TARGET: False}
USUAL |= {settings.CONVERTED_FROM: ""}
"""What need not be kept: Blender copies all of it each time that it evaluates a rig anew."""

KEPT_PROPERTIES = {
    *USUAL,
    settings.VERSION_KEY,
    storage.MAKING,
    storage.KEPT_ON,
    tips.AT,
    "segments",
    "constraint",
    "aligned",
    storage.LOCKED,
}
"""All that a limb's group may have; what another version of the extension kept besides goes."""


def keep_settings(ref: LimbRef, before: Description | None, description: Description) -> None:
    """Write a limb's description on its bones, in place of what was there ``before``; the limb is made if there is
    none. It follows what is there; what is yet to be made, later."""
    limb: Any = ref[0].pose.bones[ref[1]]
    if before is None or (before.segments, before.constraint) != (description.segments, description.constraint):
        _keep_chain(limb, before, description)
    foot = tips.foot_of(limb)
    if description.foot and (foot is None or foot.name != description.foot):
        tips.mark_tip(limb, ref[0].data.bones[description.foot])
    _keep_group(limb, before, description)
    for key in ended_sliders(before, description):
        if key in limb:
            del limb[key]
    for name, value in description.sliders.items():
        if settings.slider_of(name).key not in limb:
            storage.make_slider(limb, settings.slider_of(name))
        if storage.read_slider(limb, name) != value:
            storage.write_slider(limb, name, value)
    if description.mode == "RIG" and not storage.is_on_rig(limb):
        storage.keep(limb, **{storage.MAKING: True})
    storage.use_aligned_scale(limb)
    first = storage.chain_bones(limb)[0]
    is_free = description.choices["plane"] in MOVES_ROOT or is_moved_by_location(
        first, sum(rest_geometry.rest_geometry_of(limb).lengths)
    )
    storage.lock_location(limb, description.mode == "RIG" and not is_free)
    constraint = storage.limb_constraint_of(limb)
    pairs = [
        ref if isinstance(ref, tuple) and len(ref) == 2 else (None, "")
        for ref in (description.target, description.pole)
    ]
    if follow_of_constraint(constraint) != (follow := Follow(*pairs[0], *pairs[1])) or gone_controls(limb):
        set_follow(constraint, follow)


def _keep_chain(limb: Any, before: Description | None, description: Description) -> None:
    """Have the limb be of these bones. Its constraint stays the shorter of two chains until the helper bones are made
    anew: those that are there hang on what a longer one reaches."""
    if before:
        storage.undo_aligned_scale(limb)
    constraint = storage.make_limb(limb, description.segments, limb.constraints.get(description.constraint))
    if before and storage.is_on_rig(limb):
        constraint.chain_count = min(sum(before.segments), sum(description.segments))


def _keep_group(limb: Any, before: Description | None, description: Description) -> None:
    group = storage.group_of(limb) or {}
    unknown = (
        dict.fromkeys(group.keys() - KEPT_PROPERTIES) if group.get(settings.VERSION_KEY) != settings.VERSION else {}
    )
    kept = description.choices | {
        "bend_axis": [*description.bend_axis],
        "reference_rotations": [number for turn in description.reference_rotations for number in turn],
        HUNG_ON_TARGET: bool(description.pole_follow and description.pole_follow.on_target),
        settings.CONVERTED_FROM: description.converted_from,
    }
    axes = ("bend_axis", "reference_rotations")
    if before and all(getattr(before, name) == getattr(description, name) for name in axes):
        kept = {name: value for name, value in kept.items() if name not in axes}  # on whichever side they were found
    values = {name: None if value == USUAL[name] else value for name, value in kept.items()}
    storage.keep(limb, **unknown, **values, **{settings.VERSION_KEY: settings.VERSION})
    if axes[0] in kept or storage.KEPT_ON not in group:
        storage.keep_side(limb)


def ended_sliders(before: Description | None, description: Description | None) -> list[str]:
    """The custom properties that a limb no more has."""
    there = {
        settings.slider_of(name).key
        for name in ([every.name for every in settings.every_slider()] if before is None else before.sliders)
    }
    return sorted(there - {settings.slider_of(name).key for name in (description.sliders if description else ())})


# what was converted


def restore_settings(limb: PoseBone) -> None:
    """Have the constraint that a limb was converted from pose it again, by the influence that the limb has now."""
    owner: Any = limb
    text = (storage.group_of(limb) or {}).get(settings.CONVERTED_FROM, "")
    if not text:  # what is left of one may lack it
        return
    before: dict[str, Any] = json.loads(text)
    ob, influence, holder = limb.id_data, settings.slider_of("influence").key, _holder(limb, before)
    acting = holder.constraints.get(before["acting"])
    if acting is not None:
        acting.influence = owner[influence]
        animation.move_curves(ob, path_to_custom(limb.name, influence), acting.path_from_id("influence"))
    for curve in animation.drivers_of(ob):
        if curve.data_path in before["muted_drivers"]:
            curve.mute = False
    for name in before["mute"].keys() & {*holder.constraints.keys()}:
        constraint = holder.constraints[name]
        constraint.chain_count, constraint.mute = before["chain_count"][name], before["mute"][name]


def _holder(limb: PoseBone, before: dict[str, Any]) -> PoseBone:
    """The bone that has the constraints that a limb was converted from: its last, or the foot, whatever that is called
    by now."""
    below = children_of(limb) if before.get("on_foot") else []
    return next((bone for bone in below if before["acting"] in bone.constraints), limb)


def check_features(ref: LimbRef, before: Description | None, value: Description) -> None:
    """Refuse what features a limb is given, or how they are set, where that does not go."""
    is_set = before is None or before.choices != value.choices or before.sliders.keys() != value.sliders.keys()
    for feature in FEATURES:
        if feature.of(value):
            feature.check_bones(value, ref[0].data.bones[ref[1]])
        if is_set and feature.is_meant(value) and (why := feature.why_not(value)):
            raise Refused(why, bone=ref[1])
