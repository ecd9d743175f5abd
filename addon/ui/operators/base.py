"""What all operators share: where they can run, and that they refuse with a sentence and change nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bpy.types import Context, Operator

from ...blender.transaction import all_or_nothing
from ...blender.types import takes_bones, view_layer_of
from ...limb.words import Message, Refused, translated_text
from ...tasks.removing import refresh
from ..finding import limbs_shown, selected_limbs

log = logging.getLogger("planar_ik")

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


@contextmanager
def progress_shown(context: Context) -> Iterator[Callable[[float], None]]:
    """Gives what shows at the mouse how much of a task is done."""
    manager: Any = context.window_manager
    manager.progress_begin(0.0, 1.0)
    try:
        yield manager.progress_update
    finally:
        manager.progress_end()


class PoseOperator(Operator):
    """An operator in Pose Mode"""

    bl_options = {"REGISTER", "UNDO"}
    changes_limbs = True

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Pose Mode, with a bone; a linked rig has none."""
        ob = context.object
        if ob and ob.type == "ARMATURE" and (ob.library or (ob.data and ob.data.library and not ob.override_library)):
            template = "'{rig}' is linked from another file: add IK there, or make a library override to pose it"
            cls.poll_message_set(translated_text(template, rig=ob.name))
            return False
        if context.mode != "POSE" or not (context.active_pose_bone or context.selected_pose_bones):
            cls.poll_message_set(translated_text("Go to Pose Mode and click a bone of a limb"))
            return False
        return True

    def execute(self, context: Context) -> set[OperatorReturnItems]:
        """Do it, or say why not: whatever is raised, nothing is changed."""
        view_layer_of(context).update()  # after an undo, as for Adjust Last Operation, Blender evaluates only later
        try:
            subject = self.checked(context)  # before any copies are made: to take these back takes time
            with all_or_nothing(context):
                self.act(context, subject)
                if self.changes_limbs:
                    refresh(context)
        except Refused as why:
            return self.refuse(why)
        except Exception as error:  # noqa: BLE001  # raised, Blender would take it for done, with an undo step
            return self.fail(error)
        return {"FINISHED"}

    def checked(self, context: Context) -> Any:
        """What it is to be done to. Changes nothing; raises `Refused` if there is nothing."""
        raise NotImplementedError

    def act(self, context: Context, subject: Any) -> None:
        """What the operator does, to what was checked; raises `Refused`."""
        raise NotImplementedError

    def refuse(self, why: Refused) -> set[OperatorReturnItems]:
        """Report why nothing was done."""
        self.report({"ERROR"}, why.message.translated)
        return {"CANCELLED"}

    def fail(self, error: Exception) -> set[OperatorReturnItems]:
        """Report what went wrong, which the console tells in full."""
        log.error("%s failed", self.bl_idname, exc_info=error)
        text = f"{type(error).__name__}: {error}"
        self.report(
            {"ERROR"},
            translated_text("A fault of Planar IK; nothing was changed. The console says more: {error}", error=text),
        )
        return {"CANCELLED"}

    def inform(self, template: str, **values: Any) -> None:
        """Report what was done."""
        self.report({"INFO"}, translated_text(template, **values))

    def warn(self, *warnings: Message) -> None:
        """Report what people should know of what was done."""
        for message in warnings:
            self.report({"WARNING"}, message.translated)


class LimbOperator(PoseOperator):
    """An operator on limbs, which also runs in Object Mode, on what follows a selected object"""

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Where a limb is selected, by a bone of it or by what it follows."""
        if context.mode not in {"POSE", "OBJECT"} or not limbs_shown(context):
            cls.poll_message_set(translated_text("Select a limb, its target or its pole"))
            return False
        return True

    def checked(self, context: Context) -> Any:
        """The selected limbs, by their last bones."""
        return selected_limbs(context)


class RigOperator(LimbOperator):
    """An operator on limbs that changes what their rigs are made of"""

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Where the selected limbs are of this file."""
        if not super().poll(context):
            return False
        linked = next((last.id_data for last in limbs_shown(context) if not takes_bones(last.id_data)), None)
        if linked is not None:
            template = "'{rig}' comes from another file: change this there"
            cls.poll_message_set(translated_text(template, rig=linked.name))
        return linked is None
