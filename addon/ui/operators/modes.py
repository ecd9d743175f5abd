"""What poses a limb: its rig or the add-on; and making a mechanism anew."""

from __future__ import annotations

from typing import ClassVar

from bpy.types import Context

from ... import live
from ...limb.words import Refused
from ...mechanism import modes
from ..finding import selected_limbs
from .base import LimbOperator


class _Mode(LimbOperator):
    _from: ClassVar[str]
    _already: ClassVar[str]

    def act(self, context: Context) -> None:
        """Change those limbs that are in the other mode."""
        lasts = [last for last in selected_limbs(context) if modes.mode_of(last) == self._from]
        if not lasts:
            raise Refused(self._already)
        (modes.to_rig if self._from == "LIVE" else modes.to_live)(context, lasts)
        live.refresh(context)
        self.tell("{count} limbs on the rig" if self._from == "LIVE" else "{count} limbs live", count=len(lasts))


class POSE_OT_planar_ik_to_rig(_Mode):
    """Have the rig's own bones, constraints and drivers pose the selected limbs: works without the add-on"""

    bl_idname = "pose.planar_ik_to_rig"
    bl_label = "Put on the Rig"
    _from = "LIVE"
    _already = "The selected limbs are on the rig already"


class POSE_OT_planar_ik_to_live(_Mode):
    """Have the add-on pose the selected limbs, and take their mechanism away"""

    bl_idname = "pose.planar_ik_to_live"
    bl_label = "Make Live"
    _from = "RIG"
    _already = "The selected limbs are live already"


class POSE_OT_planar_ik_rebuild(LimbOperator):
    """Make the mechanism of the selected limbs anew, as after their bones were edited"""

    bl_idname = "pose.planar_ik_rebuild"
    bl_label = "Rebuild"

    def act(self, context: Context) -> None:
        """Rebuild those that have a mechanism."""
        lasts = [last for last in selected_limbs(context) if modes.mode_of(last) == "RIG"]
        if not lasts:
            raise Refused("The selected limbs are live: there is nothing to rebuild")
        modes.rebuild(context, lasts)
        live.refresh(context)


CLASSES = (POSE_OT_planar_ik_to_rig, POSE_OT_planar_ik_to_live, POSE_OT_planar_ik_rebuild)
