"""Settings of chains in annexes, given back when a file is opened.

Saved by a Blender that has not the extension, as on a farm, an override loses what that does not know. What a mechanism
is made for is kept with it.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.types import PoseBone

from ..rig.chain_settings import quietly
from ..rig.data.access import chain_settings, is_armature, runs_on_rig
from ..rig.settings import NAMES, SWITCH
from ..rig.targets import GOALS
from .mechanism.annex import needs_annex
from .mechanism.found import Found, exposed, host_of
from .resting import lacks_goal


def _restore(lower: PoseBone) -> None:
    """Give a chain in an annex the settings that it was put there with, if it has lost them."""
    chain, found = chain_settings(lower), Found(lower)
    if found.purpose is None or chain.target is not None:
        return
    settings = {name: value for name, value in found.purpose["settings"].items() if name not in exposed(lower)}
    if SWITCH in settings:
        settings[SWITCH] = lacks_goal(lower) or not any(constraint.mute for _, constraint in found.constraints)
    for names, goal in zip(GOALS, found.goals, strict=False):
        settings |= zip(names, goal, strict=True)
    with quietly():
        for name, value in settings.items():
            if name not in NAMES or getattr(chain, name) != value:
                setattr(chain, name, value)


@persistent
def _on_load(*_args: Any) -> None:
    for ob in bpy.data.objects:
        if is_armature(ob) and needs_annex(ob):
            for bone in ob.pose.bones:
                if bone.parent and runs_on_rig(bone) and host_of(bone) != ob:
                    _restore(bone)


HANDLERS = (("load_post", _on_load),)
