"""What is kept of a limb on its bones: written as described, and taken away again."""

from __future__ import annotations

import json
from typing import Any

from bpy.types import PoseBone

from ..blender.animation import drivers_of, move_curves
from ..blender.types import children_of, path_to_custom
from ..blender.words import Refused
from ..limb.features import FEATURES
from ..limb.follow import HUNG_ON_TARGET, Follow, follow_of_constraint, gone_controls, set_follow
from ..limb.rest_geometry import rest_geometry_of
from ..limb.settings import CHOICES, CONVERTED_FROM, GROUP, VERSION, VERSION_KEY, every_slider, slider_of
from ..limb.sides import KEPT_ON, keep_side
from ..limb.storage import (
    LOCKED,
    MAKING,
    chain_bones,
    group_of,
    is_on_rig,
    limb_constraint_of,
    lock_location,
    make_limb,
    make_slider,
    read_slider,
    undo_aligned_scale,
    use_aligned_scale,
    write_slider,
)
from ..limb.tips import AT, foot_of, mark_tip
from ..solver.limb import MOVES_ROOT
from .description import Description, LimbRef
from .spec import is_moved_by_location

USUAL: dict[str, Any] = CHOICES | {"bend_axis": [], "reference_rotations": [], HUNG_ON_TARGET: False}
USUAL |= {CONVERTED_FROM: ""}
"""What need not be kept: Blender copies all of it each time that it evaluates a rig anew."""

KEPT_PROPERTIES = {*USUAL, VERSION_KEY, MAKING, KEPT_ON, AT, "segments", "constraint", "aligned", LOCKED}
"""All that a limb's group may have; what another version of the extension kept besides goes."""


def keep_settings(ref: LimbRef, before: Description | None, description: Description) -> None:
    """Write what is described of a limb on its bones; it is made where there is none. It follows what is there; what is
    yet to be made, later."""
    limb: Any = ref[0].pose.bones[ref[1]]
    if before is None or (before.segments, before.constraint) != (description.segments, description.constraint):
        _keep_chain(limb, before, description)
    foot = foot_of(limb)
    if description.foot and (foot is None or foot.name != description.foot):
        mark_tip(limb, ref[0].data.bones[description.foot])
    _keep_version(limb[GROUP])
    _keep_group(limb, before, description)
    for key in ended_sliders(before, description):
        if key in limb:
            del limb[key]
    for name, value in description.sliders.items():
        if slider_of(name).key not in limb:
            make_slider(limb, slider_of(name))
        if read_slider(limb, name) != value:
            write_slider(limb, name, value)
    if description.mode == "RIG" and not is_on_rig(limb):
        limb[GROUP][MAKING] = True
    use_aligned_scale(limb)
    first = chain_bones(limb)[0]
    is_free = description.choices["plane"] in MOVES_ROOT or is_moved_by_location(
        first, sum(rest_geometry_of(limb).lengths)
    )
    lock_location(limb, description.mode == "RIG" and not is_free)
    constraint = limb_constraint_of(limb)
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
        undo_aligned_scale(limb)
    constraint = make_limb(limb, description.segments, limb.constraints.get(description.constraint))
    if before and is_on_rig(limb):
        constraint.chain_count = min(sum(before.segments), sum(description.segments))


def _keep_version(group: Any) -> None:
    if group.get(VERSION_KEY) != VERSION:
        for name in [name for name in group if name not in KEPT_PROPERTIES]:
            del group[name]
        group[VERSION_KEY] = VERSION


def _keep_group(limb: Any, before: Description | None, description: Description) -> None:
    group = limb[GROUP]
    kept = description.choices | {
        "bend_axis": [*description.bend_axis],
        "reference_rotations": [number for turn in description.reference_rotations for number in turn],
        HUNG_ON_TARGET: bool(description.pole_follow and description.pole_follow.on_target),
        CONVERTED_FROM: description.converted_from,
    }
    axes = ("bend_axis", "reference_rotations")
    if before and all(getattr(before, name) == getattr(description, name) for name in axes):
        kept = {name: value for name, value in kept.items() if name not in axes}  # on whichever side they were found
    for name, value in kept.items():
        if value == USUAL[name]:
            if name in group:
                del group[name]
        elif name not in group or _as_python(group[name]) != value:
            group[name] = value
    if axes[0] in kept or KEPT_ON not in group:
        keep_side(limb)


def _as_python(value: Any) -> Any:
    return value.to_list() if hasattr(value, "to_list") else value


def ended_sliders(before: Description | None, description: Description | None) -> list[str]:
    """The custom properties that a limb no more has."""
    there = {
        slider_of(name).key for name in ([every.name for every in every_slider()] if before is None else before.sliders)
    }
    return sorted(there - {slider_of(name).key for name in (description.sliders if description else ())})


# what was converted


def restore_settings(limb: PoseBone) -> None:
    """Have the constraints that a limb was converted from pose it again, by the influence that it has now. A constraint
    that was there before the limb poses again."""
    owner: Any = limb
    text = (group_of(limb) or {}).get(CONVERTED_FROM, "")
    if not text:  # what is left of one may lack it
        return
    before: dict[str, Any] = json.loads(text)
    ob, influence, holder = limb.id_data, slider_of("influence").key, _holder(limb, before)
    acting = holder.constraints.get(before["acting"])
    if acting is not None:
        acting.influence = owner[influence]
        move_curves(ob, path_to_custom(limb.name, influence), acting.path_from_id("influence"))
    for curve in drivers_of(ob):
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
