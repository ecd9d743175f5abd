"""What a person can press when a chain can't be posed: each mend that helps, as a button beside the message."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from bpy.props import EnumProperty
from bpy.types import Context, PoseBone

from .. import live
from ..native.convert import rebuild
from ..rig.access import bones_of, chain_settings
from ..rig.dependencies import Dependencies
from ..rig.problems import movers_of
from ..rig.setup import Refused, make_pole, new_empty, posture_of
from ..rig.words import rpt_
from .finding import selected_chains
from .operators import ChainOperator


class Mend(NamedTuple):
    """What a button says, when it helps, and what it does."""

    label: str
    helps: Callable[[PoseBone], bool]
    act: Callable[[Context, PoseBone], None]


def mends_for(lower: PoseBone) -> list[str]:
    """The names of the mends that help a chain now."""
    return [name for name, mend in MENDS.items() if mend.helps(lower)]


def _lacks_target(lower: PoseBone) -> bool:
    return chain_settings(lower).target is None


def _make_target(context: Context, lower: PoseBone) -> None:
    posed = posture_of(context, lower)
    settings = chain_settings(lower)
    settings.target, settings.subtarget = new_empty(context, f"target_{lower.name}", posed.target, posed.mark), ""


def _lacks_pole(lower: PoseBone) -> bool:
    settings = chain_settings(lower)
    return settings.plane == "POLE" and settings.pole_target is None


def _moving_constraints(lower: PoseBone) -> list[tuple[str, str]]:
    """The bones and names of constraints that move the limb."""
    if lower.parent is None:
        return []
    found = [(mover.bone, mover.constraint) for mover in movers_of(lower, Dependencies()) if mover.constraint]
    bones = bones_of(lower.id_data)
    acting = [(bone, name, bones[bone].constraints[name]) for bone, name in found]
    return [(bone, name) for bone, name, each in acting if not each.mute and each.influence > 0.0]


def _mute(_context: Context, lower: PoseBone) -> None:
    for bone, name in _moving_constraints(lower):
        bones_of(lower.id_data)[bone].constraints[name].mute = True


def _is_at_rest(lower: PoseBone) -> bool:
    return bool(lower.id_data.data.pose_position == "REST")


def _show_pose(_context: Context, lower: PoseBone) -> None:
    lower.id_data.data.pose_position = "POSE"


def _inherits_unevenly(lower: PoseBone) -> bool:
    return "Inherit Scale of" in str(chain_settings(lower).message)


def _align_scale(_context: Context, lower: PoseBone) -> None:
    lower.bone.inherit_scale = "ALIGNED"


def _is_carried_unevenly(lower: PoseBone) -> bool:
    return "inherit in full" in str(chain_settings(lower).message)


def _inherit_all(_context: Context, lower: PoseBone) -> None:
    lower.bone.inherit_scale, lower.bone.use_inherit_rotation = "FULL", True


def _is_changed(lower: PoseBone) -> bool:
    return "pose.planar_ik_rebuild" in str(chain_settings(lower).message)


def _rebuild(context: Context, lower: PoseBone) -> None:
    rebuild(context, [lower])


MENDS = {
    "TARGET": Mend("Make a Target", _lacks_target, _make_target),
    "POLE": Mend("Make a Pole", _lacks_pole, make_pole),
    "MUTE": Mend("Mute What Moves It", lambda lower: bool(_moving_constraints(lower)), _mute),
    "POSE": Mend("Show Pose Position", _is_at_rest, _show_pose),
    "ALIGN": Mend("Set Inherit Scale to Aligned", _inherits_unevenly, _align_scale),
    "REBUILD": Mend("Rebuild on the Rig", _is_changed, _rebuild),
    "INHERIT": Mend("Inherit in Full", _is_carried_unevenly, _inherit_all),
}


class POSE_OT_planar_ik_mend(ChainOperator):
    """Take away what keeps the selected chains from being posed"""

    bl_idname = "pose.planar_ik_mend"
    bl_label = "Mend Planar IK"

    way: EnumProperty(
        name="Way",
        description="What to do",
        items=[(name, mend.label, mend.label) for name, mend in MENDS.items()],
    )

    def act(self, context: Context) -> None:
        """Mend every selected chain that this helps."""
        mend = MENDS[self.way]
        lowers = [lower for lower in selected_chains(context, or_off=True) if mend.helps(lower)]
        if not lowers:
            raise Refused(
                rpt_("{mend}: this would not help, as nothing of the kind is in the way").format(mend=rpt_(mend.label))
            )
        for lower in lowers:
            mend.act(context, lower)
        live.refresh(context)


CLASSES = (POSE_OT_planar_ik_mend,)
