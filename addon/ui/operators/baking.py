"""Baking chains into keys, with progress in the window."""

from __future__ import annotations

from collections.abc import Generator
from time import perf_counter
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty
from bpy.types import Context, Event, Operator, PoseBone

from ...bake import NO_CHAIN, Refused, Report, Request, Span, bake, chains_of_scene, finish, frames_of
from ...rig.data.access import scene_of, upper_of
from ...rig.words import n_, rpt_
from ..finding import chains_in_view, selected_chains
from ..translations import told
from ..units import length_text
from .ranges import draw_range, start_from_scene

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

SLICE = 0.1
"""Seconds of work between two looks at the keyboard."""


class POSE_OT_planar_ik_bake(Operator):
    """Turn what the chains do into keys on their bones. Esc cancels and leaves everything as it was"""

    bl_idname = "pose.planar_ik_bake"
    bl_label = "Bake Planar IK"
    bl_options = {"REGISTER", "UNDO"}

    range: EnumProperty(
        name="Range",
        description="Which frames to bake",
        items=[
            ("SCENE", "Scene", "The scene's frame range"),
            ("PREVIEW", "Preview", "The scene's preview range"),
            ("ACTION", "Actions", "From the first to the last key of the rig and its targets"),
            ("GIVEN", "Given", "The range given below"),
        ],
    )
    frame_start: FloatProperty(
        name="Start", description="First frame, if the range is given", default=1.0, options={"SKIP_SAVE"}
    )
    frame_end: FloatProperty(
        name="End", description="Last frame, if the range is given", default=250.0, options={"SKIP_SAVE"}
    )
    step: FloatProperty(
        name="Step", description="Frames from one key to the next; 0.5 bakes half frames too", default=1.0, min=0.01
    )
    chains: EnumProperty(
        name="Chains",
        description="Which chains to bake",
        items=[("SELECTED", "Selected", "Those of the selected bones"), ("ALL", "All", "All chains of the scene")],
    )
    action: EnumProperty(
        name="Action",
        description="Where the keys go",
        items=[
            ("CURRENT", "Current", "The action of the rig; keys outside the range and on other channels stay"),
            ("NEW", "New", "A copy of the rig's action; the rig uses it from then on"),
        ],
    )
    keep: BoolProperty(
        name="Keep Chains On",
        description="Leave the chains on; the keys are then the pose at influence 0, without the stretch",
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="How far knee and tip may be off for the sake of fewer keys; 0 for a key on every frame",
        min=0.0,
        precision=5,
        subtype="DISTANCE",
    )

    _steps: Generator[float, None, Report] | None = None
    _timer: Any = None
    _is_asked = False

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Pose Mode or Object Mode, the latter for all chains; where there are any."""
        if context.mode not in {"POSE", "OBJECT"}:
            cls.poll_message_set(rpt_("Go to Pose Mode and select a bone with a chain"))
            return False
        if next(chains_in_view(context), None) is None:
            cls.poll_message_set(told(NO_CHAIN))
            return False
        return True

    def execute(self, context: Context) -> set[OperatorReturnItems]:
        """Bake at once; after the dialog, a little at a time."""
        try:
            steps = self._begin(context)
            if self._is_asked:
                self._is_asked = False  # Adjusting the settings afterwards bakes at once.
                return self._start(context, steps)
            return self._tell(finish(steps))
        except Refused as why:
            return self._refuse(why)

    def invoke(self, context: Context, _event: Event) -> set[OperatorReturnItems]:
        """Ask for the settings."""
        start_from_scene(self, context)
        if context.mode == "OBJECT":
            self.chains = "ALL"
        self._is_asked = True
        manager: Any = context.window_manager
        asked: set[OperatorReturnItems] = manager.invoke_props_dialog(self, confirm_text="Bake")
        return asked

    def modal(self, context: Context, event: Event) -> set[OperatorReturnItems]:
        """Go on, unless Esc was pressed."""
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.report({"INFO"}, rpt_("Cancelled: nothing was baked"))
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            self._go_on(context)
        except StopIteration as end:
            self._leave(context)
            return self._tell(end.value)
        except Refused as why:
            self._leave(context)
            return self._refuse(why)
        except BaseException:
            self._leave(context)
            raise
        return {"RUNNING_MODAL"}

    def cancel(self, context: Context) -> None:
        """Leave everything as it was: Esc was pressed during the bake or in the dialog, or Blender quits."""
        if self._steps:
            self._steps.close()
            self._leave(context)

    def draw(self, _context: Context) -> None:
        """The settings that count."""
        layout: Any = self.layout
        layout.use_property_split = True
        for name in ("chains", "range"):
            layout.prop(self, name)
        if self.range == "GIVEN":
            draw_range(layout, self)
        for name in ("step", "action", "keep", "tolerance"):
            layout.prop(self, name)

    def _begin(self, context: Context) -> Generator[float, None, Report]:
        lowers = _selected(context) if self.chains == "SELECTED" else chains_of_scene(context)
        span = Span(self.range, self.frame_start, self.frame_end, self.step)
        frames = frames_of(context, span, lowers)
        return bake(context, Request(lowers, frames, self.action == "NEW", self.keep, self.tolerance))

    def _start(self, context: Context, steps: Generator[float, None, Report]) -> set[OperatorReturnItems]:
        """Make a first step, so that what can't be baked is refused at once, and leave the rest to the timer."""
        try:
            next(steps)
        except StopIteration as end:
            return self._tell(end.value)
        self._steps = steps
        manager: Any = context.window_manager
        manager.progress_begin(0.0, 1.0)
        manager.modal_handler_add(self)
        self._timer = manager.event_timer_add(0.01, window=context.window)
        return {"RUNNING_MODAL"}

    def _go_on(self, context: Any) -> None:  # a window's, so that nothing of it is None
        until = perf_counter() + SLICE
        done = 0.0
        while perf_counter() < until:
            done = next(self._steps)  # type: ignore[arg-type]
        context.window_manager.progress_update(done)
        context.workspace.status_text_set(rpt_("Baking Planar IK: {share}   Esc: Cancel").format(share=f"{done:.0%}"))

    def _leave(self, context: Any) -> None:
        self._steps = None
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)

    def _refuse(self, why: Refused) -> set[OperatorReturnItems]:
        self.report({"ERROR"}, told(str(why)))
        return {"CANCELLED"}

    def _tell(self, report: Report) -> set[OperatorReturnItems]:
        for chain in report.skipped:
            sentence = rpt_("'{bone}' was not baked. {why}")
            self.report({"WARNING"}, sentence.format(bone=chain.lower, why=told(chain.problem)))
        words = rpt_(
            "Baked {frames} of {chains} in {seconds} s; {unreached} unreached, tips at most {away} from their targets"
        ).format(
            frames=_counted(report.frames, "frame"),
            chains=_counted(len(report.chains), "chain"),
            seconds=f"{report.seconds:.2f}",
            unreached=_counted(report.unreached, "frame"),
            away=length_text(scene_of(bpy.context), report.residual),
        )
        if report.error > 0.0:
            of = _counted(report.frames * len(report.chains), "key")
            words += rpt_("; {kept} of {keys}, at most {error} off").format(
                kept=report.keys, keys=of, error=f"{report.error:.3g}"
            )
        self.report({"INFO"}, words)
        return {"FINISHED"}


def _selected(context: Context) -> list[PoseBone]:
    """The lower bones of chains that have a selected bone, also of those that are off in this frame only."""
    selected = set(context.selected_pose_bones or ())
    found = [lower for lower in chains_of_scene(context) if lower in selected or upper_of(lower) in selected]
    return found or selected_chains(context)


COUNTED = {
    "frame": (n_("{count} frame"), n_("{count} frames")),
    "chain": (n_("{count} chain"), n_("{count} chains")),
    "key": (n_("{count} key"), n_("{count} keys")),
}


def _counted(count: int, noun: str) -> str:
    return rpt_(COUNTED[noun][count != 1]).format(count=count)


CLASSES = (POSE_OT_planar_ik_bake,)
