"""What all operators share: where they can run, that they refuse with a sentence and change nothing, and that long work
shows itself and can be stopped."""

from __future__ import annotations

import logging
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any

import bpy
from bpy.types import Context, Event, Operator

from ...blender import stepping, transaction
from ...blender.types import ENDLESS, Message, Refused, allowed_range, can_edit_bones, translated_text, view_layer_of
from ...tasks.modes import refresh
from ..finding import limbs_active_first, require_limbs

log = logging.getLogger("planar_ik")

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


PATIENCE = 0.5
"""Seconds of work before a window shows how much of it is done."""

SLICE = 0.1
"""Seconds of work between two looks at the keyboard from then on."""


class PoseOperator(Operator):
    """An operator in Pose Mode"""

    bl_options = {"REGISTER", "UNDO"}
    changes_limbs = True

    _steps: stepping.Steps[None] | None = None
    _timer: Any = None
    _has_window = False

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Pose Mode, with a bone; a linked rig has none."""
        ob = context.object
        if ob and ob.type == "ARMATURE" and (ob.library or (ob.data and ob.data.library and not ob.override_library)):
            template = "'{rig}' is linked from another file: add IK there, or make a library override to pose it"
            return cls.cannot(template, rig=ob.name)
        if context.mode != "POSE" or not (context.active_pose_bone or context.selected_pose_bones):
            return cls.cannot("Go to Pose Mode and click a bone of a limb")
        return True

    @classmethod
    def cannot(cls, template: str, **values: Any) -> bool:
        """Say under the mouse why the operator is grey, which is False."""
        cls.poll_message_set(translated_text(template, **values))
        return False

    @classmethod
    def purpose(cls) -> str:
        """What the class says that the operator does, on one line."""
        return translated_text(" ".join((cls.__doc__ or "").split()))

    def ask(self, context: Context, confirm_text: str = "OK") -> Any:
        """Open the dialog with the settings; what is confirmed there may take long."""
        self._has_window = True
        manager: Any = context.window_manager
        return manager.invoke_props_dialog(self, confirm_text=confirm_text)

    def invoke(self, context: Context, _event: Event) -> Any:
        """Do it for somebody at a window, who may wait."""
        self._has_window = not bpy.app.background and context.window is not None
        return self.execute(context)

    def execute(self, context: Context) -> Any:
        """Do it, or say why not: whatever is raised, nothing is changed. Long work goes on a little at a time where
        there is a window, which shows how much is done."""
        view_layer_of(context).update()  # after an undo, as for Adjust Last Operation, Blender evaluates only later
        self._steps = self._work(context)
        if not self._has_window:
            return self._go_on(context, inf)
        self._has_window = False  # adjusting the settings afterwards does it at once
        done = self._go_on(context, PATIENCE)
        if done == {"RUNNING_MODAL"}:
            manager: Any = context.window_manager
            self._timer = manager.event_timer_add(0.01, window=context.window)
            manager.progress_begin(0.0, 1.0)
            manager.modal_handler_add(self)
        return done

    def modal(self, context: Context, event: Event) -> Any:
        """Go on, unless Esc was pressed."""
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.inform("Cancelled: nothing was changed")
            return {"CANCELLED"}
        return self._go_on(context, SLICE) if event.type == "TIMER" else {"RUNNING_MODAL"}

    def cancel(self, context: Context) -> None:
        """Leave everything as it was: Esc was pressed, or Blender quits."""
        if self._steps:
            self._steps.close()
        if self._timer:
            manager: Any = context.window_manager
            manager.event_timer_remove(self._timer)
            manager.progress_end()
            context.workspace.status_text_set(None)  # type: ignore[union-attr]
        self._steps = self._timer = None

    def _work(self, context: Context) -> stepping.Steps[None]:
        self._check_numbers()
        subject = self.checked(context)  # before any copies are made: to take these back takes time
        with transaction.all_or_nothing(context):
            yield from self.act(context, subject) or ()
            if self.changes_limbs:
                refresh(context)

    def _check_numbers(self) -> None:
        """Refuse numbers out of their ranges, as the façade does: Blender keeps to soft limits in fields alone."""
        for each in self.rna_type.properties:  # type: ignore[attr-defined]
            if each.type not in {"INT", "FLOAT"}:
                continue
            (low, high), value = allowed_range(each), getattr(self, each.identifier)
            if not low <= value <= high:
                template = "{name} is a number from {low} to {high}, not {value}"
                template = template if high < ENDLESS else "{name} is a number from {low}, not {value}"
                raise Refused(template, name=each.name, low=f"{low:g}", high=f"{high:g}", value=f"{value:g}")

    def _go_on(self, context: Any, seconds: float) -> Any:
        """Work for so long, and show how much is done."""
        until, done = perf_counter() + seconds, 0.0
        try:
            while perf_counter() < until:
                done = next(self._steps)  # type: ignore[arg-type]
        except StopIteration:
            self.cancel(context)
            return {"FINISHED"}
        except Refused as why:
            self.cancel(context)
            return self.refuse(why)
        except Exception as error:  # noqa: BLE001  # raised, Blender would take it for done, with an undo step
            self.cancel(context)
            return self.fail(error)
        except BaseException:
            self.cancel(context)
            raise
        context.window_manager.progress_update(done)
        label = translated_text(self.bl_label)
        text = translated_text("{label}: {share}   Esc: Cancel", label=label, share=f"{done:.0%}")
        context.workspace.status_text_set(text)
        return {"RUNNING_MODAL"}

    def checked(self, context: Context) -> Any:
        """Check what it works on, and return that. Changes nothing; raises `Refused` if there is nothing."""
        raise NotImplementedError

    def act(self, context: Context, subject: Any) -> stepping.Steps[None] | None:
        """Do it, with what `checked` returned; in steps if it may take long. Raises `Refused`."""
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
        """Report success."""
        self.report({"INFO"}, translated_text(template, **values))

    def warn(self, *warnings: Message) -> None:
        """Report warnings."""
        for message in warnings:
            self.report({"WARNING"}, message.translated)


class LimbOperator(PoseOperator):
    """An operator on limbs, which also runs in Object Mode, on what follows a selected object"""

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Where a limb is selected, by a bone of it or by what it follows."""
        if context.mode not in {"POSE", "OBJECT"} or not limbs_active_first(context):
            return cls.cannot("Select a limb, its target or its pole")
        return True

    def checked(self, context: Context) -> Any:
        """The selected limbs, by their last bones."""
        return require_limbs(context)


class RigOperator(LimbOperator):
    """An operator on limbs that changes what their rigs are made of"""

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Where the selected limbs are of this file."""
        if not super().poll(context):
            return False
        linked = next((limb.id_data for limb in limbs_active_first(context) if not can_edit_bones(limb.id_data)), None)
        return linked is None or cls.cannot("'{rig}' comes from another file: change this there", rig=linked.name)
