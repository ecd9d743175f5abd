"""What all operators share: where they can run, and that they refuse with a sentence and change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpy.app import translations
from bpy.types import Context, Operator

from ...blender.types import view_layer_of
from ...limb.words import Refused
from ..finding import limbs_meant

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

SCRIPTS_ONLY: Any = {"HIDDEN", "SKIP_SAVE"}
"""Options of a property that is not shown among an operator's settings, nor kept from one call to the next."""

_translations: Any = translations


def told(template: str, **values: Any) -> str:
    """A sentence in the language of the interface."""
    sentence: str = _translations.pgettext_rpt(template).format(**values)
    return sentence


class PoseOperator(Operator):
    """An operator in Pose Mode"""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Pose Mode, with a bone."""
        if context.mode != "POSE" or not (context.active_pose_bone or context.selected_pose_bones):
            cls.poll_message_set(told("Go to Pose Mode and click a bone of a limb"))
            return False
        return True

    def execute(self, context: Context) -> set[OperatorReturnItems]:
        """Do it, or refuse with a sentence and change nothing."""
        view_layer_of(context).update()  # after an undo, as for Adjust Last Operation, Blender evaluates only later
        try:
            self.act(context)
        except Refused as why:
            self.report({"ERROR"}, why.translated)
            return {"CANCELLED"}
        return {"FINISHED"}

    def act(self, context: Context) -> None:
        """What the operator does; raises `Refused`."""
        raise NotImplementedError

    def tell(self, template: str, **values: Any) -> None:
        """Report what was done."""
        self.report({"INFO"}, told(template, **values))

    def warn(self, template: str, **values: Any) -> None:
        """Report what people should know of what was done."""
        self.report({"WARNING"}, told(template, **values))


class LimbOperator(PoseOperator):
    """An operator on limbs, which also runs in Object Mode, on what follows a selected object"""

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Where a limb is selected, by a bone of it or by what it follows."""
        if context.mode not in {"POSE", "OBJECT"} or not limbs_meant(context):
            cls.poll_message_set(told("Select a limb, its target or its pole"))
            return False
        return True
