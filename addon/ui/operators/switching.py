"""One click between FK and IK: the pose is carried over, and with Auto Keying the keys that make it seamless."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import EnumProperty
from bpy.types import Context, PoseBone

from ... import live
from ...rig.data.access import chain_settings, place_of_setting, scene_of, upper_of
from ...rig.data.animation import animated_paths, curves_of
from ...rig.tasks.setup import Refused
from ...rig.tasks.snapping import keep_place, key_rotation
from ..finding import goals_of, selected_chains
from .chains import ChainOperator


class POSE_OT_planar_ik_switch(ChainOperator):
    """Switch the selected chains between FK and IK without moving the limb: FK takes the solution over, or target and
    pole go to where the limb is. With Auto Keying, keys are set that hold the old state up to this frame"""

    bl_idname = "pose.planar_ik_switch"
    bl_label = "Switch FK/IK"

    to: EnumProperty(
        name="To",
        description="Which of the two to switch to",
        items=[
            ("OTHER", "The Other", "FK from IK, and IK from FK"),
            ("FK", "FK", "The bones' own pose"),
            ("IK", "IK", "The target"),
        ],
        options={"SKIP_SAVE"},
    )

    def act(self, context: Context) -> None:
        """Snap, then set the influence, of all selected chains at once."""
        lowers = selected_chains(context)
        to = self.to
        if to == "OTHER":
            to = "FK" if chain_settings(lowers[0]).influence > 0.5 else "IK"
        _snap("fk" if to == "FK" else "target")
        with_keys = scene_of(context).tool_settings.use_keyframe_insert_auto
        for lower in lowers:
            if with_keys:
                _key_pose(lower, to)
            _set_influence(context, lower, 0.0 if to == "FK" else 1.0, with_keys)
        live.refresh(context)


def _snap(what: str) -> None:
    try:
        getattr(bpy.ops.pose, f"planar_ik_snap_{what}")()
    except RuntimeError as why:
        raise Refused(str(why).partition(": ")[2].strip()) from why  # what comes before is Blender's word for an error


def _key_pose(lower: PoseBone, to: str) -> None:
    """Keys on what was snapped."""
    if to == "FK":
        for bone in (upper_of(lower), lower):
            key_rotation(bone)
        return
    for goal in goals_of(lower).values():
        keep_place(goal, True)


def _set_influence(context: Context, lower: PoseBone, influence: float, with_keys: bool) -> None:
    """Set it; keyed, it holds what it was until the frame before."""
    settings, frame = chain_settings(lower), scene_of(context).frame_current
    ob, path = place_of_setting(lower, "influence")
    keyed = with_keys or path in animated_paths(ob)
    if keyed:
        ob.keyframe_insert(path, frame=frame - 1, group=lower.name)
    settings.influence = influence
    if keyed:
        ob.keyframe_insert(path, frame=frame, group=lower.name)
        _hold(ob, path, {frame - 1, frame})


def _hold(ob: Any, path: str, frames: set[int]) -> None:
    """Let the keys of these frames hold until the next."""
    for curve in curves_of(ob.animation_data):
        if curve.data_path == path:
            for key in curve.keyframe_points:
                if round(key.co.x) in frames:
                    key.interpolation = "CONSTANT"


CLASSES = (POSE_OT_planar_ik_switch,)
