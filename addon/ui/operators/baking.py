"""Baking limbs into keys, with progress in the window."""

from __future__ import annotations

from collections.abc import Generator
from time import perf_counter
from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty
from bpy.types import Context, Event, PoseBone

from ... import live
from ...bake.job import steps
from ...bake.request import Report, Request, frames_between
from ...blender.types import is_armature, scene_of, view_layer_of
from ...limb.home import limbs_of
from ...limb.words import Refused
from ..finding import limbs_meant
from .base import PoseOperator, told
from .switching import start_from_scene

SLICE = 0.1
"""Seconds of work between two looks at the keyboard."""


def limbs_in_view(context: Context) -> list[PoseBone]:
    """All limbs of the view layer."""
    layer: Any = view_layer_of(context)
    return [last for ob in layer.objects if is_armature(ob) for last in limbs_of(ob)]


class POSE_OT_planar_ik_bake(PoseOperator):
    """Turn what the limbs do into keys on their bones. Esc cancels and leaves everything as it was"""

    bl_idname = "pose.planar_ik_bake"
    bl_label = "Bake Planar IK"

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
        description="How far knee and tip may be off for the sake of fewer keys; 0 for a key on every frame",
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
            cls.poll_message_set(told("There is no limb to bake"))
            return False
        return True

    def invoke(self, context: Context, _event: Event) -> Any:
        """Ask for the settings."""
        start_from_scene(self, context)
        self.which = "SELECTED" if limbs_meant(context) else "ALL"
        self._is_asked = True
        manager: Any = context.window_manager
        return manager.invoke_props_dialog(self, confirm_text="Bake")

    def draw(self, _context: Context) -> None:
        """The settings that count."""
        layout: Any = self.layout
        layout.use_property_split = True
        for name in ("which", "range", *(("frame_start", "frame_end") if self.range == "GIVEN" else ()), "step"):
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
            work = steps(context, self._request(context))
            if self._is_asked:
                self._is_asked = False  # adjusting the settings afterwards bakes at once
                return self._start(context, work)
            return self._finish(context, work)
        except Refused as why:
            return self._refuse(why)

    def modal(self, context: Context, event: Event) -> Any:
        """Go on, unless Esc was pressed."""
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.tell("Cancelled: nothing was baked")
            return {"CANCELLED"}
        if event.type != "TIMER" or self._steps is None:
            return {"RUNNING_MODAL"}
        until, done, shown = perf_counter() + SLICE, 0.0, context.workspace
        try:
            while perf_counter() < until:
                done = next(self._steps)
        except StopIteration as end:
            self._leave(context)
            return self._told(context, end.value)
        except Refused as why:
            self._leave(context)
            return self._refuse(why)
        except BaseException:
            self._leave(context)
            raise
        context.window_manager.progress_update(done)  # type: ignore[union-attr]
        shown.status_text_set(told("Baking: {share}   Esc: Cancel", share=f"{done:.0%}"))  # type: ignore[union-attr]
        return {"RUNNING_MODAL"}

    def cancel(self, context: Context) -> None:
        """Leave everything as it was: Esc was pressed, or Blender quits."""
        if self._steps:
            self._steps.close()
            self._leave(context)

    def _request(self, context: Context) -> Request:
        scene = scene_of(context)
        lasts = limbs_meant(context) if self.which == "SELECTED" else limbs_in_view(context)
        start, end = scene.frame_start, scene.frame_end
        if self.range == "PREVIEW":
            start, end = scene.frame_preview_start, scene.frame_preview_end
        if self.range == "GIVEN":
            start_from_scene(self, context)
            start, end = self.frame_start, self.frame_end
        tolerance = 0.0 if self.for_game else self.tolerance
        return Request(
            lasts, frames_between(start, end, self.step), tolerance, self.remove, self.for_game, self.new_action
        )

    def _start(self, context: Context, work: Generator[float, None, Report]) -> Any:
        """Make a first step, so that what can't be baked is refused at once, and leave the rest to the timer."""
        try:
            next(work)
        except StopIteration as end:
            return self._told(context, end.value)
        self._steps = work
        manager: Any = context.window_manager
        manager.progress_begin(0.0, 1.0)
        manager.modal_handler_add(self)
        self._timer = manager.event_timer_add(0.01, window=context.window)
        return {"RUNNING_MODAL"}

    def _finish(self, context: Context, work: Generator[float, None, Report]) -> Any:
        while True:
            try:
                next(work)
            except StopIteration as end:
                return self._told(context, end.value)

    def _leave(self, context: Context) -> None:
        self._steps = None
        manager: Any = context.window_manager
        manager.event_timer_remove(self._timer)
        manager.progress_end()
        context.workspace.status_text_set(None)  # type: ignore[union-attr]

    def _refuse(self, why: Refused) -> Any:
        self.report({"ERROR"}, why.translated)
        return {"CANCELLED"}

    def _told(self, context: Context, report: Report) -> Any:
        for note in report.notes:
            self.warn(note.template, **note.values)
        sentence = report.sentence
        (self.warn if report.unreached else self.tell)(sentence.template, **sentence.values)
        live.refresh(context)
        return {"FINISHED"}


CLASSES = (POSE_OT_planar_ik_bake,)
