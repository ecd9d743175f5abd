"""Baking limbs into keys, with progress in the window."""

from __future__ import annotations

from collections.abc import Generator
from time import perf_counter
from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty
from bpy.types import Context, Event

from ...bake.job import steps
from ...bake.request import Report, Request, frames_between
from ...blender.types import scene_of, view_layer_of
from ...limb.words import Refused, translated_text
from ...tasks.removing import refresh
from ...tasks.selection import limbs_in_view
from ..finding import limbs_meant
from .base import PoseOperator
from .switching import start_from_scene, take_given_range

SLICE = 0.1
"""Seconds of work between two looks at the keyboard."""


class POSE_OT_planar_ik_bake(PoseOperator):
    """Turn what the limbs do into keys on their bones. Esc cancels and leaves everything as it was"""

    bl_idname = "pose.planar_ik_bake"
    bl_label = "Bake Planar IK"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    which: EnumProperty(
        name="Limbs",
        description="Which limbs to bake",
        items=[("SELECTED", "Selected", "Those that are selected"), ("ALL", "All", "All limbs of the view layer")],
    )
    range: EnumProperty(
        name="Range",
        description="Which frames to bake",
        items=[
            ("SCENE", "Scene", "The scene's frame range"),
            ("PREVIEW", "Preview", "The scene's preview range"),
            ("GIVEN", "Given", "The range given below"),
        ],
    )
    frame_start: FloatProperty(name="Start", description="First frame of a given range", options={"SKIP_SAVE"})
    frame_end: FloatProperty(name="End", description="Last frame of a given range", options={"SKIP_SAVE"})
    step: FloatProperty(
        name="Step", description="Frames from one key to the next; 0.5 bakes half frames too", default=1.0, min=0.01
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="How far knee and tip may be off for fewer keys, in scene units; 0 keys every frame. Not for games",
        min=0.0,
        precision=5,
        subtype="DISTANCE",
    )
    remove: BoolProperty(name="Remove IK", description="Remove the limbs' IK afterwards; else it is switched to FK")
    new_action: BoolProperty(name="New Action", description="Write into a copy of the rig's action")
    for_game: BoolProperty(
        name="For Games", description="Leave a rig that moves by keys of its own alone, without IK and constraints"
    )

    _steps: Generator[float, None, Report] | None = None
    _timer: Any = None
    _is_asked = False

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Where there are limbs."""
        if context.mode not in {"POSE", "OBJECT"} or not limbs_in_view(context):
            cls.poll_message_set(translated_text("There is no limb to bake"))
            return False
        return True

    def invoke(self, context: Context, _event: Event) -> Any:
        """Ask for the settings."""
        take_given_range(self, "range", "GIVEN")
        start_from_scene(self, context)
        self.range = self.range  # said, so that the frames of the dialog do not mean another one
        self.which = "SELECTED" if limbs_meant(context) else "ALL"
        self._is_asked = True
        manager: Any = context.window_manager
        return manager.invoke_props_dialog(self, confirm_text="Bake")

    def draw(self, context: Context) -> None:
        """The settings that count."""
        layout: Any = self.layout
        layout.use_property_split = True
        layout.prop(self, "which")
        row = layout.row()
        row.prop(self, "range")
        if self.range != "GIVEN":
            start, end = self._ends(context)
            row.label(text=f"({start:g}-{end:g})", translate=False)
        for name in (*(("frame_start", "frame_end") if self.range == "GIVEN" else ()), "step"):
            layout.prop(self, name)
        layout.prop(self, "for_game")
        column = layout.column()
        column.active = not self.for_game
        for name in ("tolerance", "remove"):
            column.prop(self, name)
        layout.prop(self, "new_action")

    def execute(self, context: Context) -> Any:
        """Bake at once; after the dialog, a little at a time."""
        view_layer_of(context).update()
        try:
            self._steps = steps(context, self._request(context))
        except Refused as why:
            return self.refuse(why)
        except Exception as error:  # noqa: BLE001  # as in `PoseOperator.execute`
            return self.fail(error)
        if not self._is_asked:
            return self._go_on(context, float("inf"))
        self._is_asked = False  # adjusting the settings afterwards bakes at once
        manager: Any = context.window_manager
        self._timer = manager.event_timer_add(0.01, window=context.window)
        manager.progress_begin(0.0, 1.0)
        done = self._go_on(context, SLICE)  # so that what can't be baked is refused at once
        if done == {"RUNNING_MODAL"}:
            manager.modal_handler_add(self)
        return done

    def modal(self, context: Context, event: Event) -> Any:
        """Go on, unless Esc was pressed."""
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.inform("Cancelled: nothing was baked")
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

    def _go_on(self, context: Any, seconds: float) -> Any:
        """Bake for so long, and show how much is done."""
        until, done = perf_counter() + seconds, 0.0
        try:
            while perf_counter() < until:
                done = next(self._steps)  # type: ignore[arg-type]
        except StopIteration as end:
            self.cancel(context)
            return self._report_of(context, end.value)
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
        context.workspace.status_text_set(translated_text("Baking: {share}   Esc: Cancel", share=f"{done:.0%}"))
        return {"RUNNING_MODAL"}

    def _request(self, context: Context) -> Request:
        scene = scene_of(context)
        take_given_range(self, "range", "GIVEN")
        if self.range == "GIVEN":
            start_from_scene(self, context)
        if self.range == "PREVIEW" and not scene.use_preview_range:
            raise Refused("The scene has no preview range: set one in the timeline, or choose Scene")
        lasts = limbs_meant(context) if self.which == "SELECTED" else limbs_in_view(context)
        start, end = self._ends(context)
        return Request(
            lasts=lasts,
            frames=frames_between(start, end, self.step),
            tolerance=0.0 if self.for_game else self.tolerance,
            remove=self.remove,
            for_game=self.for_game,
            new_action=self.new_action,
        )

    def _ends(self, context: Context) -> tuple[float, float]:
        """The first and the last frame of the range."""
        scene = scene_of(context)
        return {
            "SCENE": (scene.frame_start, scene.frame_end),
            "PREVIEW": (scene.frame_preview_start, scene.frame_preview_end),
            "GIVEN": (self.frame_start, self.frame_end),
        }[self.range]

    def _report_of(self, context: Context, report: Report) -> Any:
        self.warn(*report.notes)
        self.report({"WARNING" if report.unreached else "INFO"}, report.sentence.translated)
        refresh(context)
        return {"FINISHED"}


CLASSES = (POSE_OT_planar_ik_bake,)
