"""Limbs on the rig whose target or pole is gone: their constraints are muted, so that the bones' own pose shows, as of
live limbs. What measures a place that is not there has it at the root, where the limb would fold."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, Object, PoseBone, Scene

from ..rig.data.access import ArmatureObject, Key, chain_settings, has_bone, is_armature, key_of, scene_of
from ..rig.data.dependencies import is_structural
from ..rig.targets import pointed_to
from .mechanism.annex import rig_of
from .mechanism.found import Found, constraints_of, lowers_in
from .mechanism.references import measures_in

_resting: set[Key] = set()
"""The chains whose constraints are muted because something that they follow is gone: what somebody else has muted stays
so."""

_seen: set[int] = set()
"""What chains follow and was in a scene, by session_uid."""


def let_go(lower: PoseBone) -> None:
    """Have the mechanism of a chain measure nothing any more where its settings were told to follow nothing."""
    found, told = Found(lower), pointed_to(chain_settings(lower))
    goals = [goal if ob else (None, "") for (ob, _), goal in zip(told, found.goals, strict=False)]
    if goals != found.goals:
        found.aim(goals)


def switch(lower: PoseBone, is_on: bool) -> None:
    """Have the constraints of a chain act if it is on and all is there that it follows."""
    is_lacking = is_on and lacks_goal(lower)
    for _, constraint in constraints_of(lower):
        constraint.mute = is_lacking or not is_on
    (_resting.add if is_lacking else _resting.discard)(key_of(lower))


def lacks_goal(lower: PoseBone) -> bool:
    """Whether something is gone that a chain follows as it is set now."""
    goals = Found(lower).goals
    needed = goals if chain_settings(lower).plane == "POLE" else goals[:1]
    return not all(_is_there(*goal) for goal in needed)


def _is_there(ob: Object | None, bone: str) -> bool:
    """Whether an object was not deleted, and has a bone of this name, which in Edit Mode it may have only later."""
    if ob is None or _was_taken_away(ob):
        return False
    return not bone or ob.mode == "EDIT" or has_bone(ob, bone)


def _was_taken_away(ob: Object) -> bool:
    """Whether an object is in no scene any more. One that never was, as a script appends it with its rig, is followed
    where it is."""
    if _is_shown(ob) or ob.users_collection:
        _seen.add(ob.session_uid)
        return False
    return ob.session_uid in _seen


def _is_shown(ob: Object) -> bool:
    """Whether an object is in the scene that is shown: to look for it in all others takes longer."""
    scene = scene_of(bpy.context)
    return scene is not None and scene.objects.get(ob.name) == ob


def _look_again(lower: PoseBone) -> None:
    """Mute the constraints of a chain if something that it follows is gone, and let them act again once it is back."""
    acts = not all(constraint.mute for _, constraint in constraints_of(lower))
    if chain_settings(lower).enabled and (acts if lacks_goal(lower) else key_of(lower) in _resting):
        switch(lower, is_on=True)


def _look_for_goals() -> None:
    """Find the chains of which something that they follow is gone, or back."""
    for host in filter(is_armature, bpy.data.objects):
        if not host.library and host.mode != "EDIT":
            for lower in [*lowers_in(host)] if _is_any_gone(host) or _has_resting(host) else ():
                _look_again(lower)


def _is_any_gone(host: ArmatureObject) -> bool:
    """Whether any place that mechanisms in an armature measure is gone."""
    return not all(_is_there(*goal) for goal in measures_in(host))


def _has_resting(host: ArmatureObject) -> bool:
    rig = rig_of(host)
    return rig is not None and any(uid == rig.session_uid for uid, _ in _resting)


@persistent
def _on_edit(_scene: Scene, depsgraph: Depsgraph) -> None:
    """Something was edited, maybe what chains follow was deleted, or a frame shown after that."""
    if is_structural(depsgraph):
        _look_for_goals()


@persistent
def _on_load(*_args: Any) -> None:
    """Another file was opened: a Blender without the extension may have deleted what chains in it follow."""
    forget()
    _look_for_goals()


def forget() -> None:
    """Take no chain for resting."""
    _resting.clear()
    _seen.clear()


HANDLERS = (("depsgraph_update_post", _on_edit), ("frame_change_post", _on_edit), ("load_post", _on_load))
