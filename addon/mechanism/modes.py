"""Putting limbs on the rig and back, and what the rest of the house asks of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
from bpy.types import Context, PoseBone

from ..blender.types import ArmatureObject, takes_bones, view_layer_of
from ..limb.follow import follow_of
from ..limb.home import Hooks, bones_of_limb, by_rig, check_whole, limbs_of
from ..limb.tasks.settling import settle, solved
from ..limb.tips import is_foot_gone, mark_tip
from ..limb.whole import wholly
from ..limb.words import Refused
from . import build, checking
from .found import is_on_rig
from .spec import differs, spec_of


def mode_of(last: PoseBone) -> str:
    """What poses a limb: ``RIG`` or ``LIVE``."""
    return "RIG" if is_on_rig(last) else "LIVE"


@wholly
def to_rig(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Give limbs a mechanism, in place of one that they have. Raises `Refused`."""
    named = _named(lasts)
    for last in lasts:
        check_whole(last)
    stands = solved(context, lasts)
    build.remove(context, lasts)
    if shifted := _build(context, named):
        build.remove(context, [ob.pose.bones[name] for ob, name in shifted])
        _build(context, shifted)
    view_layer_of(context).update()
    settle(context, stands, is_shown=True)


def _build(context: Context, named: Sequence[tuple[ArmatureObject, str]]) -> list[tuple[ArmatureObject, str]]:
    """Make mechanisms; the limbs that theirs do not fit, as the rest pose shifted while Blender left Edit Mode: once
    with files of 2.7x and 2.8x."""
    lasts = [ob.pose.bones[name] for ob, name in named]
    specs = [spec_of(last) for last in lasts]
    build.build(context, [(last.id_data, spec, follow_of(last)) for last, spec in zip(lasts, specs, strict=True)])
    now = [spec_of(ob.pose.bones[name]) for ob, name in named]
    return [each for each, before, after in zip(named, specs, now, strict=True) if differs(before, after)]


@wholly
def to_live(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Take the mechanisms of limbs away. Raises `Refused`."""
    _named(lasts)
    build.remove(context, lasts)


@wholly
def rebuild(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Make the mechanisms of those of these limbs anew that have one, and look for the feet of all that lost theirs.
    Raises `Refused`."""
    for last in filter(is_foot_gone, lasts):
        mark_tip(last)
    _rebuild(context, lasts)


def _rebuild(context: Context, lasts: Sequence[PoseBone]) -> None:
    if on_rig := [last for last in lasts if is_on_rig(last)]:
        to_rig(context, on_rig)


def unfit(lasts: Sequence[PoseBone]) -> list[PoseBone]:
    """The limbs on the rigs of these whose mechanisms have to be made anew, or whose foot is gone."""
    limbs = [last for ob in by_rig(lasts) for last in limbs_of(ob)]
    return [last for last in limbs if bones_of_limb(last) and (problem_of(last) or is_foot_gone(last))]


def _named(lasts: Sequence[PoseBone]) -> list[tuple[ArmatureObject, str]]:
    """Limbs by rig and name, which stay as Edit Mode makes the bones anew."""
    for last in lasts:
        if not takes_bones(last.id_data):
            raise Refused("'{rig}' comes from another file: change the mode of its limbs there", rig=last.id_data.name)
    return [(last.id_data, last.name) for last in lasts]


def problem_of(last: PoseBone) -> str:
    """What is wrong with the mechanism of a limb, as a sentence with {bone} in it; "" if nothing, or without one."""
    return problems_of([last])[0]


def problems_of(lasts: Sequence[PoseBone]) -> list[str]:
    """`problem_of` each of some limbs of one rig."""
    on_rig = {last.name: last for last in lasts if is_on_rig(last) and bones_of_limb(last)}
    if not on_rig:
        return [""] * len(lasts)
    limbs = [(spec_of(last), follow_of(last)) for last in on_rig.values()]
    found = dict(zip(on_rig, checking.problems(lasts[0].id_data, limbs), strict=True))
    return [found.get(last.name, "") for last in lasts]


def retarget(last: PoseBone) -> None:
    """Have the mechanism of a limb, if it has one, follow what its home says."""
    if is_on_rig(last):
        build.retarget(last, follow_of(last))


def register() -> None:
    """Tell `addon.limb` how to ask for mechanisms."""
    Hooks.mode = staticmethod(mode_of)
    Hooks.to_rig = staticmethod(lambda lasts: to_rig(bpy.context, lasts))
    Hooks.rebuild = staticmethod(lambda last: _rebuild(bpy.context, [last]))
    Hooks.retarget = staticmethod(retarget)
    Hooks.remove = staticmethod(lambda lasts: to_live(bpy.context, [each for each in lasts if is_on_rig(each)]))
    Hooks.problems = staticmethod(problems_of)


def unregister() -> None:
    """Nothing to take back: `planar_ik`, which asks, goes too."""
