"""Operators that carry a pose over: from FK to the target and back, to the other side, and to keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from bpy.props import BoolProperty, IntProperty
from bpy.types import Context, Event, PoseBone

from ... import live
from ...rig.data.access import runs_on_rig, scene_of
from ...rig.kinds import Refused
from ...rig.tasks.mirroring import counterpart, mirror_chains
from ...rig.words import rpt_
from ..finding import selected_chains
from ..translations import told
from .adding import put_on_rig
from .chains import ChainOperator
from .matching import TO_FK, TO_IK, Matching
from .ranges import draw_range, over_range, start_from_scene

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


class RangeOperator(ChainOperator):
    """An operator that works on the current frame, or on a range of frames with keys"""

    use_range: BoolProperty(
        name="Over a Range", description="Do it on every frame of a range, with keys", options={"SKIP_SAVE"}
    )
    frame_start: IntProperty(
        name="Start", description="First frame; the scene's if none is given", options={"SKIP_SAVE"}
    )
    frame_end: IntProperty(name="End", description="Last frame; the scene's if none is given", options={"SKIP_SAVE"})
    step: IntProperty(name="Step", description="Frames from one key to the next", default=1, min=1)

    _matching: ClassVar[Matching]
    _is_asked = False

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """What a button of it says under the mouse."""
        told = rpt_(" ".join((cls.__doc__ or "").split()))
        if not properties.use_range:
            return told
        return rpt_("{what}. On every frame of a range, which a dialog asks for, with keys").format(what=told)

    def invoke(self, context: Context, _event: Event) -> set[OperatorReturnItems]:
        """Do it on the current frame, or ask for the range."""
        start_from_scene(self, context)
        if not self.use_range:
            return self.execute(context)
        self._is_asked = True
        manager: Any = context.window_manager
        title = over_range(self.bl_label)
        asked: set[OperatorReturnItems] = manager.invoke_props_dialog(self, title=title, confirm_text="Snap")
        return asked

    def draw(self, _context: Context) -> None:
        """The range, in the dialog and when the settings are adjusted afterwards."""
        layout: Any = self.layout
        layout.use_property_split = True
        if not self._is_asked:
            layout.prop(self, "use_range")
        column = layout.column()
        column.active = self.use_range
        draw_range(column, self)
        column.prop(self, "step")

    def act(self, context: Context) -> None:
        """Match every frame that was asked for, if none is refused, and come back to the current one."""
        lowers = selected_chains(context, or_off=True)
        scene = scene_of(context)
        current, subframe = scene.frame_current, scene.frame_subframe
        frames = self._frames(context)
        try:
            for step in (self._check_all, self._match_all):
                for frame in frames:
                    if self.use_range:
                        scene.frame_set(frame)
                    step(context, lowers)
        finally:
            if self.use_range:
                scene.frame_set(current, subframe=subframe)
            live.refresh(context)

    def _check_all(self, context: Context, lowers: Sequence[PoseBone]) -> None:
        for lower in lowers:
            self._matching.check(context, lower, self.use_range)

    def _match_all(self, context: Context, lowers: Sequence[PoseBone]) -> None:
        """Match, and set keys on what changed, asked or not if there are some, lest the next frame takes it back."""
        matched = self._matching.match(context, lowers)
        for change in (*matched.poses, *matched.settings):
            if self.use_range or change.is_animated:
                change.key()
        for warning in matched.warnings:
            self.report({"WARNING"}, told(warning))

    def _frames(self, context: Context) -> Sequence[int]:
        if not self.use_range:
            return (scene_of(context).frame_current,)
        start_from_scene(self, context)
        start, end = self.frame_start, self.frame_end
        if end < start:
            raise Refused(
                rpt_("The range ends at frame {end}, before it starts at {start}").format(end=end, start=start)
            )
        return range(start, end + 1, self.step)


class POSE_OT_planar_ik_snap_target(RangeOperator):
    """Move target and pole of the selected chains, and set bend side, hinge and twist, so that the solution (IK) is the
    bones' own (FK) pose"""

    bl_idname = "pose.planar_ik_snap_target"
    bl_label = "Snap IK to FK"

    _matching = TO_IK


class POSE_OT_planar_ik_snap_fk(RangeOperator):
    """Make the solved pose of the selected chains the bones' own (FK) pose"""

    bl_idname = "pose.planar_ik_snap_fk"
    bl_label = "Snap FK to IK"

    _matching = TO_FK


class POSE_OT_planar_ik_mirror(ChainOperator):
    """Give the bones on the other side the chains of the selected ones, with mirrored targets and poles"""

    bl_idname = "pose.planar_ik_mirror"
    bl_label = "Mirror Planar IK"

    def act(self, context: Context) -> None:
        """Mirror the selected chains."""
        pairs = [(lower, counterpart(lower)) for lower in selected_chains(context)]
        selected = set(context.selected_objects)
        found = mirror_chains(context, pairs)
        new = [(b.id_data, b.name) for a, b in found if runs_on_rig(a) and not runs_on_rig(b)]
        for warning in put_on_rig(context, new):
            self.report({"WARNING"}, told(warning))
        for copy in set(context.selected_objects) - selected:
            copy.select_set(False)  # which it took over, and would be moved with what it is a copy of
        live.refresh(context)


CLASSES = (
    POSE_OT_planar_ik_snap_target,
    POSE_OT_planar_ik_snap_fk,
    POSE_OT_planar_ik_mirror,
)
