"""Putting chains on the rig, and bringing them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpy.types import Context, PoseBone

from ... import live
from ...native import convert
from ...rig.data.access import runs_on_rig
from ...rig.kinds import Refused
from ...rig.words import n_, rpt_
from ..finding import selected_chains
from .chains import ChainOperator

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

ALREADY_ON_RIG = n_("The selected chains run on the rig already")
ALREADY_ON_EXTENSION = n_("The selected chains run on the extension")


class _Switch(ChainOperator):
    """What a click on either choice of *Runs On* does; on the one that is on already, nothing"""

    to_rig: bool

    def execute(self, context: Context) -> set[OperatorReturnItems]:
        """Change what the selected chains run on, if any runs on the other."""
        if all(runs_on_rig(lower) == self.to_rig for lower in selected_chains(context, or_off=True)):
            words = ALREADY_ON_RIG if self.to_rig else ALREADY_ON_EXTENSION
            self.report({"INFO"}, rpt_(words))
            return {"CANCELLED"}
        return super().execute(context)


class POSE_OT_planar_ik_make_portable(_Switch):
    """Let the rig's own bones, constraints and drivers pose the selected limbs: without the extension, and with their
    own channels free"""

    bl_idname = "pose.planar_ik_make_portable"
    bl_label = "Run on the Rig"
    to_rig = True

    def act(self, context: Context) -> None:
        """Put the selected chains that are live on the rig."""
        chains = [lower for lower in selected_chains(context, or_off=True) if not runs_on_rig(lower)]
        convert.make_portable(context, chains)
        live.refresh(context)


class POSE_OT_planar_ik_make_live(_Switch):
    """Let the extension pose the selected limbs, and take away what ran on the rig"""

    bl_idname = "pose.planar_ik_make_live"
    bl_label = "Run on the Extension"
    to_rig = False

    def act(self, context: Context) -> None:
        """Bring the selected chains that run on the rig back."""
        convert.make_live(context, _on_rig(context))
        live.refresh(context)


class POSE_OT_planar_ik_rebuild(ChainOperator):
    """Make what poses the selected limbs on the rig anew, as their chains are set now"""

    bl_idname = "pose.planar_ik_rebuild"
    bl_label = "Rebuild on the Rig"

    def act(self, context: Context) -> None:
        """Mend the selected chains that run on the rig."""
        convert.rebuild(context, _on_rig(context))


def _on_rig(context: Context) -> list[PoseBone]:
    chains = [lower for lower in selected_chains(context, or_off=True) if runs_on_rig(lower)]
    if not chains:
        raise Refused(ALREADY_ON_EXTENSION)
    return chains


CLASSES = (POSE_OT_planar_ik_make_portable, POSE_OT_planar_ik_make_live, POSE_OT_planar_ik_rebuild)
