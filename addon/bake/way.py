"""Which way limbs are baked: solved apart from the shot, or played in it; and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import bpy
from bpy.types import Object, PoseBone

from ..blender.animation import driver_of, drivers_of
from ..blender.dependencies import Carrier, Dependencies, driver_targets, is_python
from ..blender.types import is_armature
from ..limb.follow import follow_of
from ..limb.home import bones_of_limb, hierarchy, home_of, is_ours, limbs_of, links_of
from ..limb.limb import Hooks
from ..mechanism.parts import POSE

OF_THE_SHOT = {"FOLLOW_TRACK", "CAMERA_SOLVER", "OBJECT_SOLVER", "TRANSFORM_CACHE"}
"""Constraints that look at the scene: its camera, or its frames per second."""


class Way(NamedTuple):
    """Whether limbs are solved for all frames at once, from what a scene with nothing else shows; if not, why the shot
    itself has to be played."""

    is_solved: bool
    why: str = ""

    @property
    def name(self) -> str:
        """One word for reports."""
        return "solved" if self.is_solved else "played"


def way_of(lasts: Sequence[PoseBone]) -> Way:
    """The way for limbs. What is played is always right; what is solved would be the same, and takes less time."""
    if others_listen():
        return Way(False, "somebody's handler may move things as frames change")
    among = Dependencies()
    live = {bone for ob in bpy.data.objects if is_armature(ob) for bone in _live_bones(ob)}
    for last in lasts:
        why = _why_live(last, among) if is_live(last) else ""
        if not why:
            carriers = among.carriers(*_start(last, among))
            why = "it hangs on a live limb" if carriers & live else _why_carriers(carriers, among)
        if why:
            return Way(False, f"{last.name}: {why}")
    return Way(True)


def is_live(last: PoseBone) -> bool:
    """Whether the extension poses a limb, frame by frame."""
    return bool(Hooks.mode(last) == "LIVE")


def others_listen() -> bool:
    """Whether handlers of others are called as frames change."""
    ours = __name__.removesuffix("bake.way")  # wherever that is: as an extension, or run from the tree
    handlers = (*bpy.app.handlers.frame_change_pre, *bpy.app.handlers.frame_change_post)
    return any(not (getattr(each, "__module__", "") or "").startswith(ours) for each in handlers)


def strange_constraints(last: PoseBone) -> list[Any]:
    """The constraints on a limb's own bones that act there and are not of the limb, or not as far as its influence."""
    home = home_of(last)
    return [
        constraint
        for bone in bones_of_limb(last)
        for constraint in bone.constraints
        if not constraint.mute and constraint.influence > 0.0 and constraint != home and not _goes_with(constraint)
    ]


def _goes_with(constraint: Any) -> bool:
    """Whether a constraint acts only as far as the influence of a limb goes."""
    if constraint.name == POSE:
        return driver_of(constraint.id_data, constraint.path_from_id("influence")) is not None
    return is_ours(constraint)


def _live_bones(ob: Any) -> Iterable[Carrier]:
    for last in limbs_of(ob):
        if is_live(last):
            yield from ((ob, bone.name) for bone in hierarchy(last, sum(links_of(last))))


def _start(last: PoseBone, among: Dependencies) -> list[Carrier]:
    """What has to be known to bake a limb: of a live one what carries it and what it follows; of one on the rig the
    limb itself, as Blender poses it."""
    ob: Any = last.id_data
    bones = bones_of_limb(last)
    start: list[Carrier] = [(ob, "")]
    for target, name in follow_of(last).pairs:
        if target is not None:
            start += [(target, ""), (target, name)]
    for bone in {*bones, last}:
        if not is_live(last):
            start.append((ob, bone.name))
        for _, curve in among.drivers(ob, bone.name):
            start += driver_targets(curve)
    parent = bones[0].parent
    return [*start, (ob, parent.name)] if parent else start


def _why_live(last: PoseBone, among: Dependencies) -> str:
    """Why a live limb can't be solved by itself."""
    from ..limb.tasks.feet import foot_follows

    if foot_follows(last):
        return "its foot follows the target"
    if strange_constraints(last):
        return "a constraint of its own moves it"
    ob: Any = last.id_data
    for bone in {*bones_of_limb(last), last}:
        for path, curve in among.drivers(ob, bone.name):
            if not path.startswith("[") or _reads_more(curve):
                return "a driver moves it"
    return ""


def _why_carriers(carriers: set[Carrier], among: Dependencies) -> str:
    """Why what limbs hang on can't be evaluated apart from the shot."""
    for ob, bone in carriers:
        owner: Any = ob.pose.bones.get(bone) if bone and is_armature(ob) else ob
        if owner is not None and any(each.type in OF_THE_SHOT for each in owner.constraints):
            return "a constraint looks at the scene's camera or clip"
        if any(_reads_more(curve) for _, curve in among.drivers(ob, bone)):
            return "a driver runs Python or reads the scene"
    for ob in {ob for ob, _ in carriers}:
        why = _why_object(ob)
        if why:
            return why
    return ""


def _why_object(ob: Object) -> str:
    if ob.rigid_body or ob.soft_body or len(ob.particle_systems):
        return "a simulation moves what it follows"
    if len(ob.modifiers):
        return "modifiers shape what it follows"
    datas: list[Any] = [ob.data, getattr(ob.data, "shape_keys", None)]
    if any(_reads_more(curve) for data in datas if data for curve in drivers_of(data)):
        return "a driver runs Python or reads the scene"
    return ""


def _reads_more(curve: Any) -> bool:
    """Whether a driver may read what is in the shot only."""
    variables = curve.driver.variables if curve.driver else ()
    reads_scene = any(
        variable.type == "CONTEXT_PROP" or any(target.id_type == "SCENE" for target in variable.targets)
        for variable in variables
    )
    return reads_scene or is_python(curve)
