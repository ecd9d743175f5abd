"""Taking limbs away, with all that was made for them; the rig is as it was before."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bpy.types import Context, PoseBone

from ..blender.animation import drivers_of, drop_if_empty, move_curves, stop
from ..blender.dependencies import BoneRef
from ..blender.editing import frame_held, unkeyed_kept
from ..blender.types import children_of, path_to_custom, tag
from ..finding.checking import check_editable
from ..limb.follow import follow_of
from ..limb.settings import CONVERTED_FROM, GROUP, SLIDER, SLIDERS
from ..limb.storage import drop_limb, is_on_rig, is_orphaned, limb_constraint_of
from ..limb.whole import wholly
from ..live import refresh
from ..rigging import build
from ..rigging.controls import made_for, take_away_unused
from ..rigging.feet import set_feet
from ..rigging.pole_follow import drop_pole_follow
from ..rigging.rolling import drop_roll


@wholly
def remove(context: Context, lasts: Sequence[PoseBone]) -> list[str]:
    """Take limbs away, of one rig or several, with what animates their settings and the controls that nothing uses any
    more; the names of controls that stay. The bones have their own pose again. A constraint that was there before the
    limb poses again."""
    for last in lasts:
        check_editable(last)
    named = [(last.id_data, last.name) for last in lasts]
    followed: list[BoneRef] = []
    for ob, name in named:
        pairs = follow_of(ob.pose.bones[name]).pairs
        followed += [(target, bone) for target, bone in pairs if target is not None]
        followed += made_for(ob.pose.bones[name]) if is_orphaned(ob.pose.bones[name]) else []
    build.remove(context, [last for last in lasts if is_on_rig(last)])
    lasts = [ob.pose.bones[name] for ob, name in named]
    drop_roll(context, lasts)
    drop_pole_follow(context, [ob.pose.bones[name] for ob, name in named])
    lasts = [ob.pose.bones[name] for ob, name in named]
    set_feet(lasts, False)
    for last in lasts:
        _drop(context, last)
    for ob in dict.fromkeys(ob for ob, _ in named):
        drop_if_empty(ob)
    kept = take_away_unused(context, followed)
    refresh(context)
    return kept


def _drop(context: Context, last: PoseBone) -> None:
    ob = last.id_data
    with unkeyed_kept(context, [ob]), frame_held():
        if GROUP in last and CONVERTED_FROM in last[GROUP]:  # type: ignore[operator]  # what is left of one may lack it
            _restore(last, json.loads(last[GROUP][CONVERTED_FROM]))
        stop(ob, [path_to_custom(last.name, slider.key) for slider in SLIDERS])
    drop_limb(last)
    tag(last)


def _restore(last: PoseBone, before: dict[str, Any]) -> None:
    """Have the constraints that a limb was converted from pose it again, by the influence that it has now."""
    ob, influence, owner = last.id_data, SLIDER["influence"].key, _owner(last, before)
    constraint, acting = limb_constraint_of(last), owner.constraints.get(before["acting"])
    if constraint is not None and owner == last:
        constraint.chain_count = before["chain_count"]
    if acting is not None:
        acting.influence = last[influence]
        move_curves(ob, path_to_custom(last.name, influence), acting.path_from_id("influence"))
    for curve in drivers_of(ob):
        if curve.data_path in before["muted_drivers"]:
            curve.mute = False
    for name, is_muted in before["mute"].items():
        if name in owner.constraints:
            owner.constraints[name].mute = is_muted


def _owner(last: PoseBone, before: dict[str, Any]) -> PoseBone:
    """The bone that has the constraints that a limb was converted from: its last, or the foot, whatever that is called
    by now."""
    below = children_of(last) if before.get("on_foot") else []
    return next((bone for bone in below if before["acting"] in bone.constraints), last)
