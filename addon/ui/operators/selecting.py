"""Going from a limb to its parts."""

from __future__ import annotations

from typing import Any

from bpy.props import EnumProperty, StringProperty
from bpy.types import Context, PoseBone

from ...blender.dependencies import BoneRef
from ...blender.selecting import select
from ...blender.words import Refused, translated_text
from ...tasks import selection, status
from .. import finding, state
from .base import LimbOperator

ROLES: Any = [
    ("TARGET", "Target", "What the tip goes to"),
    ("POLE", "Pole", "What the knee points to"),
    ("LIMB", "FK Bones", "The limb's own bones"),
]

MOST_NAMED = 4
"""So many are named in a tooltip."""


class POSE_OT_planar_ik_select(LimbOperator):
    """Select this part of the limb, in the mode in which it can be moved"""

    bl_idname = "pose.planar_ik_select"
    bl_label = "Select Part of Limb"
    changes_limbs = False

    role: EnumProperty(name="Part", description="What to select", items=ROLES)
    bone: StringProperty(
        name="Limb",
        description="The last bone of a limb of the rig, instead of those selected",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    @classmethod
    def description(cls, context: Context, properties: Any) -> str:
        """What a button of it says under the mouse: what it selects, by name."""
        limbs = limbs_meant(context, properties.bone)
        refs = [bone or ob.name for limb in limbs for ob, bone in selectable_refs(limb, properties.role)]
        if not refs:
            return cls.purpose()
        names = ", ".join(refs[:MOST_NAMED]) + (", …" if len(refs) > MOST_NAMED else "")
        return translated_text("{part}: select {names}", part=_part(properties.role), names=names)

    def checked(self, context: Context) -> list[BoneRef]:
        """The part, of all limbs meant."""
        limbs = limbs_meant(context, self.bone)
        refs = dict.fromkeys(ref for limb in limbs for ref in selectable_refs(limb, self.role))
        if not refs:
            raise Refused("The limb has no {part} to select", part=_part(self.role))
        return [*refs]

    def act(self, context: Context, refs: list[BoneRef]) -> None:
        """Select it, and say what was shown for that."""
        if shown := select(context, refs):
            self.inform("Shown again: {names}", names=", ".join(shown))


def limbs_meant(context: Context, name: str) -> list[PoseBone]:
    """The limb of this last bone of the rig that is shown; those that are selected, where no name is given."""
    if not name:
        return finding.limbs_active_first(context)
    ob = finding.rig_in_view(context)
    named = ob.pose.bones.get(name) if ob else None
    return [named] if named and status.is_limb(named) else []


def _part(role: str) -> str:
    return translated_text(next(label for value, label, _ in ROLES if value == role))


def selectable_refs(limb: PoseBone, role: str) -> list[BoneRef]:
    """The objects or bones of this part of a limb; the last one is to be active."""
    return selection.refs_of_role(limb, role, is_generated=state.slider_of_rig(limb) is not None)


CLASSES = (POSE_OT_planar_ik_select,)
