"""Taking limbs away, with all that was made for them; the rig is as it was before."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import Context, PoseBone

from ...blender.animation import stop
from ...blender.editing import unkeyed_kept
from ...blender.types import path_to_custom
from ..follow import follow_of
from ..home import drop_home, home_of
from ..limb import Hooks, tag
from ..settings import HOME, SLIDERS
from .controls import Carrier, take_away_unused
from .feet import set_feet
from .recognising import check_editable


def remove(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Take limbs away, of one rig or several, with what animates their settings and the controls that nothing uses any
    more. The bones have their own pose again. A constraint that was there before the limb poses again."""
    for last in lasts:
        check_editable(last)
    named = [(last.id_data, last.name) for last in lasts]
    followed: list[Carrier] = []
    for ob, name in named:
        pairs = follow_of(ob.pose.bones[name]).pairs
        followed += [(target, bone) for target, bone in pairs if target is not None]
        Hooks.remove(ob.pose.bones[name])
    lasts = [ob.pose.bones[name] for ob, name in named]
    set_feet(lasts, False)
    for last in lasts:
        _drop(context, last)
    take_away_unused(context, followed)


def _drop(context: Context, last: PoseBone) -> None:
    ob, home = last.id_data, home_of(last)
    with unkeyed_kept(context, [ob]):
        stop(ob, [path_to_custom(last.name, slider.key) for slider in SLIDERS])
    if home is not None and not home.name.startswith(HOME):
        home.mute = False
    drop_home(last)
    tag(last)
