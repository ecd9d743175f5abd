"""Baking limbs into keys, with progress in the window."""

from __future__ import annotations

from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty
from bpy.types import Context, Event

from ...blender.stepping import Steps
from ...blender.types import Refused, scene_of
from ...tasks import baking, selection
from ..finding import selected_limbs
from . import base, switching


class POSE_OT_planar_ik_bake(base.PoseOperator):
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
        name="Step",
        description="Frames from one key to the next; 0.5 bakes half frames too",
        default=1.0,
        soft_min=0.01,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="How far knee and tip may be off for fewer keys, in scene units; 0 keys every frame. Not for games",
        soft_min=0.0,
        precision=5,
        subtype="DISTANCE",
    )
    remove: BoolProperty(name="Remove IK", description="Remove the limbs' IK afterwards; else it is switched to FK")
    new_action: BoolProperty(name="New Action", description="Write into a copy of the rig's action")
    for_game: BoolProperty(
        name="For Games", description="Leave a rig that moves by keys of its own alone, without IK and constraints"
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Where there are limbs."""
        is_there = context.mode in {"POSE", "OBJECT"} and selection.limbs_in_view(context)
        return bool(is_there) or cls.cannot("There is no limb to bake")

    def invoke(self, context: Context, _event: Event) -> Any:
        """Ask for the settings."""
        limbs = selected_limbs(context)
        if not self.properties.is_property_set("range"):
            self.range = "PREVIEW" if scene_of(context).use_preview_range else "GIVEN"
        switching.start_from_keys(self, context, limbs or selection.limbs_in_view(context))
        self.which = "SELECTED" if limbs else "ALL"
        return self.ask(context, "Bake")

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

    def checked(self, context: Context) -> baking.BakeRequest:
        """What is baked."""
        scene = scene_of(context)
        switching.take_given_range(self, "range", "GIVEN")
        if self.range == "GIVEN":
            switching.start_from_scene(self, context)
        if self.range == "PREVIEW" and not scene.use_preview_range:
            raise Refused("The scene has no preview range: set one in the timeline, or choose Scene")
        limbs = selected_limbs(context) if self.which == "SELECTED" else selection.limbs_in_view(context)
        start, end = self._ends(context)
        return baking.BakeRequest(
            limbs=limbs,
            frames=baking.frames_by_step(start, end, self.step),
            tolerance=0.0 if self.for_game else self.tolerance,
            remove=self.remove,
            for_game=self.for_game,
            new_action=self.new_action,
        )

    def act(self, context: Context, request: baking.BakeRequest) -> Steps[None]:
        """Bake, and say how it went."""
        report = yield from baking.bake.steps(context, request)
        self.warn(*report.notes)
        self.report({"WARNING" if report.unreached else "INFO"}, report.sentence.translated)

    def _ends(self, context: Context) -> tuple[float, float]:
        """The first and the last frame of the range."""
        scene = scene_of(context)
        return {
            "SCENE": (scene.frame_start, scene.frame_end),
            "PREVIEW": (scene.frame_preview_start, scene.frame_preview_end),
            "GIVEN": (self.frame_start, self.frame_end),
        }[self.range]


CLASSES = (POSE_OT_planar_ik_bake,)
