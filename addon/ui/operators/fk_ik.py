"""Operators that carry a pose over: from FK to the target and back, to the other side, and to keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bpy.props import BoolProperty, IntProperty
from bpy.types import Context, Event, PoseBone

from ... import live
from ...native import convert
from ...native.own import adopt, own_pose
from ...rig.data.access import bones_of, chain_settings, runs_on_rig, scene_of, upper_of, view_layer_of
from ...rig.data.animation import animated_paths
from ...rig.targets import Target
from ...rig.tasks.fitting import UNTURNED
from ...rig.tasks.mirroring import counterpart, mirror_chain
from ...rig.tasks.setup import Refused, check_parent, told_turned
from ...rig.tasks.snapping import Match, check_goal, keep_place, keep_setting, key_rotation, key_scale, match, place
from ...rig.words import rpt_
from ..finding import goals_of, selected_chains
from ..translations import told
from .chains import ChainOperator
from .ranges import draw_range, over_range, start_from_scene

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

OFF_PLACE = 1e-4
"""How far a target may stay from where it was put, next to how far it is from the world's origin."""


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
        """Run `snap` on every frame that was asked for, if none is refused, and come back to the current one."""
        lowers = selected_chains(context, or_off=True)
        for lower in lowers:
            check_parent(lower)
        scene = scene_of(context)
        current, subframe = scene.frame_current, scene.frame_subframe
        frames = self._frames(context)
        try:
            for step in (self.examine, self.snap):
                for frame in frames:
                    if self.use_range:
                        scene.frame_set(frame)
                    for lower in lowers:
                        step(context, lower)
        finally:
            if self.use_range:
                scene.frame_set(current, subframe=subframe)
            live.refresh(context)

    def examine(self, context: Context, lower: PoseBone) -> None:
        """Raise `Refused` if the pose of a chain can't be carried over on the current frame."""
        raise NotImplementedError

    def snap(self, context: Context, lower: PoseBone) -> None:
        """Carry the pose of a chain over on the current frame, over a range with keys."""
        raise NotImplementedError

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

    def examine(self, context: Context, lower: PoseBone) -> None:
        """Whether some target, pole and bend show the own pose."""
        settings = chain_settings(lower)
        target = Target.read(settings.target, settings.subtarget)
        if target is None:
            raise Refused(rpt_("'{bone}' has no target").format(bone=lower.name))
        check_goal(lower, target)
        if "POLE" in goals_of(lower):
            check_goal(lower, goals_of(lower)["POLE"])
        _match(context, lower)

    def snap(self, context: Context, lower: PoseBone) -> None:
        """Match target, pole and bend to the own pose."""
        found, goals = _match(context, lower), goals_of(lower)
        places: list[Any] = [(goals["TARGET"], found.target)]
        if found.pole is not None and "POLE" in goals:
            places.append((goals["POLE"], found.pole))
        for target, position in places:
            place(target, position)
        settings = chain_settings(lower)
        for name, value in found.settings.items():
            if getattr(settings, name) != value:
                setattr(settings, name, value)
            keep_setting(lower, name, self.use_range)
        if found.turned > UNTURNED:
            self.report({"WARNING"}, told(told_turned(upper_of(lower), found.turned)))
        for target, _ in places:
            keep_place(target, self.use_range)
        view_layer_of(context).update()
        for target, position in places:
            off = target.position(context.evaluated_depsgraph_get()) - position
            if off.length > OFF_PLACE * (1.0 + position.length):
                name = target.bone or target.object.name
                sentence = rpt_("Something else moves '{name}': mute its constraints and drivers, snap again")
                self.report({"WARNING"}, sentence.format(name=name))


def _match(context: Context, lower: PoseBone) -> Match:
    """The target, pole and bend that show a chain's own pose; raises `Refused`."""
    rig = lower.id_data.evaluated_get(context.evaluated_depsgraph_get())
    own = own_pose(rig.pose.bones[lower.name]) if runs_on_rig(lower) else live.own_pose_of(lower)
    return match(rig, lower.name, *own)


class POSE_OT_planar_ik_snap_fk(RangeOperator):
    """Make the solved pose of the selected chains the bones' own (FK) pose"""

    bl_idname = "pose.planar_ik_snap_fk"
    bl_label = "Snap FK to IK"

    def examine(self, context: Context, lower: PoseBone) -> None:
        """Whether there is a solution."""
        if not runs_on_rig(lower):
            live.chain_of(context, lower)
        problem = chain_settings(lower).message
        if problem:
            raise Refused(problem)

    def snap(self, context: Context, lower: PoseBone) -> None:
        """Take the whole solution over, whatever the influence."""
        if runs_on_rig(lower):
            self._keep(lower, {bone.name for bone in adopt(context, lower)})
            return
        chain = live.chain_of(context, lower)
        settings = chain_settings(lower)
        influence = settings.influence
        if influence != 1.0:
            settings.influence = 1.0
            live.solve_now(context)
            chain = live.chain_of(context, lower)
        lengthened = {slot.index for slot in live.take_over(chain) if slot.channel == "scale"}
        bones = bones_of(lower.id_data)
        self._keep(lower, {bones[index].name for index in lengthened})
        if influence != 1.0:
            settings.influence = influence
            live.solve_now(context)

    def _keep(self, lower: PoseBone, lengthened: set[str]) -> None:
        """Set keys on the bones' own pose, asked or not if there are some."""
        for bone in (upper_of(lower), lower):
            if self.use_range or _has_keys(bone):
                key_rotation(bone)
                if bone.name in lengthened:
                    key_scale(bone)


class POSE_OT_planar_ik_mirror(ChainOperator):
    """Give the bones on the other side the chains of the selected ones, with mirrored targets and poles"""

    bl_idname = "pose.planar_ik_mirror"
    bl_label = "Mirror Planar IK"

    def act(self, context: Context) -> None:
        """Mirror the selected chains."""
        pairs = [(lower, counterpart(lower)) for lower in selected_chains(context)]
        selected = set(context.selected_objects)
        for lower, other in pairs:
            mirror_chain(context, lower, other)
            if runs_on_rig(lower) and not runs_on_rig(other):
                convert.make_portable(context, [other])
        for copy in set(context.selected_objects) - selected:
            copy.select_set(False)  # which it took over, and would be moved with what it is a copy of
        live.refresh(context)


def _has_keys(bone: PoseBone) -> bool:
    path = bone.path_from_id()
    return any(curve.startswith(f"{path}.rotation") for curve in animated_paths(bone.id_data))


CLASSES = (
    POSE_OT_planar_ik_snap_target,
    POSE_OT_planar_ik_snap_fk,
    POSE_OT_planar_ik_mirror,
)
