"""Between FK and IK, and to the other side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty
from bpy.types import Context, Event, PoseBone

from ...blender import editing, stepping
from ...blender.types import ENDLESS, Message, Refused, all_objects, scene_of, translated_text
from ...tasks import contact_markers, mirroring, parenting, selection, snapping, status
from ..finding import selected_limbs
from .base import LimbOperator, PoseOperator

TOLERANCE: Any = {
    "name": "Tolerance",
    "description": "How far joints may be off for fewer keys, as a share of the limb's length; 0 keys every frame",
    "soft_min": 0.0,
    "soft_max": 0.01,
    "max": ENDLESS,
    "precision": 4,
}


IN_RANGE = "{what}. In every frame of a range, with keys"


class _OverRange(LimbOperator):
    use_range: BoolProperty(
        name="Over a Range", description="Do it in every frame of a range, with keys", options={"SKIP_SAVE"}
    )
    frame_start: IntProperty(
        name="Start", description="First frame; the scene's if none is given", options={"SKIP_SAVE"}
    )
    frame_end: IntProperty(name="End", description="Last frame; the scene's if none is given", options={"SKIP_SAVE"})
    step: IntProperty(name="Step", description="Frames from one key to the next", default=1, soft_min=1)
    tolerance: FloatProperty(**TOLERANCE)

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """What a button of it says under the mouse."""
        what = cls.purpose()
        return translated_text(IN_RANGE, what=what) if properties.use_range else what

    def invoke(self, context: Context, event: Event) -> Any:
        """Do it on the current frame, or ask for the range."""
        take_given_range(self, "use_range", True)
        if not self.use_range:
            return super().invoke(context, event)
        start_from_keys(self, context, selected_limbs(context))
        return self.ask(context, self.bl_label)

    def frames_meant(self, context: Context) -> range | None:
        """The range, or None for this frame."""
        take_given_range(self, "use_range", True)
        if not self.use_range:
            return None
        start_from_scene(self, context)
        check_range(self.frame_start, self.frame_end)
        return range(self.frame_start, self.frame_end + 1, self.step)

    def tell(self, template: str, count: int, frames: range | None) -> None:
        """Say of how many limbs it was done, and in how many frames."""
        self.inform(template, limbs=status.limbs_counted(count), frames=status.frames_counted(len(frames or [0])))


class POSE_OT_planar_ik_switch(_OverRange):
    """Switch between FK and IK; the limb stays where it is. Auto Keying keys the switch; the pose before it stays"""

    bl_idname = "pose.planar_ik_switch"
    bl_label = "Switch FK/IK"

    to: EnumProperty(
        name="To",
        description="Which of the two to switch to",
        items=[
            ("OTHER", "Toggle", "FK from IK, and IK from FK"),
            ("FK", "FK", "The bones' own pose"),
            ("IK", "IK", "The target"),
        ],
        options={"SKIP_SAVE"},
    )
    insert_keys: BoolProperty(name="Insert Keys", description="Set keys though Auto Keying is off")

    def act(self, context: Context, limbs: list[PoseBone]) -> stepping.Steps[None]:
        """Switch, and go on with what is animated next; over a range, with what it was."""
        frames, to = self.frames_meant(context), None if self.to == "OTHER" else self.to
        if frames is None:
            done = snapping.switch(context, limbs, to, self.insert_keys)
            self.warn(*done.warnings)
            editing.select_if_shown(context, done.select)
            self.inform("{limbs} in {to}", limbs=status.limbs_counted(len(limbs)), to=done.to)
            return
        to = to or snapping.other_mode(limbs)
        self.warn(*(yield from snapping.switch_over.steps(context, limbs, to, frames, self.tolerance)))
        template = "{limbs} in {to} in {frames}"
        self.inform(template, limbs=status.limbs_counted(len(limbs)), to=to, frames=status.frames_counted(len(frames)))


class _Snap(_OverRange):
    _snap: ClassVar[stepping.Stepwise[..., list[Message]]]

    def act(self, context: Context, limbs: list[PoseBone]) -> stepping.Steps[None]:
        """Snap this frame, or all of the range."""
        frames = self.frames_meant(context)
        warnings = yield from type(self)._snap.steps(context, limbs, frames, self.tolerance)
        self.warn(*warnings)
        self.tell("Snapped {limbs} in {frames}", len(limbs), frames)


def take_given_range(operator: Any, name: str, value: object) -> None:
    """Set an operator's property to ``value`` if a first or last frame was passed, and it was not passed itself."""
    is_given = any(operator.properties.is_property_set(end) for end in ("frame_start", "frame_end"))
    if is_given and not operator.properties.is_property_set(name):
        setattr(operator, name, value)


def check_range(first: int, last: int) -> None:
    """Raise `Refused` for a range that ends before it starts."""
    if last < first:
        raise Refused("The range ends at frame {end}, before it starts at {start}", end=last, start=first)


def start_from_scene(operator: Any, context: Context) -> None:
    """Set an operator's range to the scene's, where none was given."""
    scene = scene_of(context)
    _start_with(operator, contact_markers.FrameRange(scene.frame_start, scene.frame_end))


def start_from_keys(operator: Any, context: Context, bones: Sequence[PoseBone]) -> None:
    """Let the range of a dialog be what is animated of bones, where none was given."""
    _start_with(operator, selection.range_animated(context, bones))


def _start_with(operator: Any, frames: contact_markers.FrameRange) -> None:
    for name, frame in zip(("frame_start", "frame_end"), frames, strict=True):
        if not operator.properties.is_property_set(name):
            setattr(operator, name, frame)


class POSE_OT_planar_ik_snap_target(_Snap):
    """Move target and pole of the selected limbs, and set Flip and Swivel, so that IK shows the FK pose"""

    bl_idname = "pose.planar_ik_snap_target"
    bl_label = "Snap IK to FK"
    _snap = snapping.snap_target


class POSE_OT_planar_ik_snap_fk(_Snap):
    """Give the selected limbs' bones the pose that IK shows as their own"""

    bl_idname = "pose.planar_ik_snap_fk"
    bl_label = "Snap FK to IK"
    _snap = snapping.snap_fk


class POSE_OT_planar_ik_mirror(_OverRange):
    """Give the limbs of the other side what the selected ones have, mirrored, with the pose of their bones"""

    bl_idname = "pose.planar_ik_mirror"
    bl_label = "Mirror Planar IK"

    def act(self, context: Context, limbs: list[PoseBone]) -> stepping.Steps[None]:
        """Mirror this frame, or all of the range."""
        frames = self.frames_meant(context)
        mirrored = yield from mirroring.mirror.steps(context, limbs, frames, self.tolerance)
        self.warn(*mirrored.warnings)
        self.tell("Mirrored {limbs} in {frames}", len(mirrored.pairs), frames)


_parents: list[tuple[str, str, str]] = []
"""Blender keeps no words of a list that is made while it is shown."""


def _items(_operator: Any, context: Context | None) -> list[tuple[str, str, str]]:
    if context is not None:
        refs = parenting.possible_parents(context, [*(context.selected_pose_bones or ())])
        _parents[:] = [(f"{ob.name_full}\n{bone}", bone or ob.name_full, "") for ob, bone in refs]
    return _parents


class POSE_OT_planar_ik_parent(_OverRange):
    """Hang the selected controls on a bone or an object, by a Child Of constraint with a keyed influence; they stand
    where they stood"""

    bl_idname = "pose.planar_ik_parent"
    bl_label = "Parent Control"

    parent: EnumProperty(name="Parent", description="The bone or object to hang on", items=_items)

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Where bones are selected."""
        return PoseOperator.poll.__func__(cls, context)  # type: ignore[attr-defined, no-any-return]

    def invoke(self, context: Context, _event: Event) -> Any:
        """Ask what to hang on, and in which frames."""
        self.use_range = self.use_range  # said, so that the frames of the dialog do not mean one
        start_from_keys(self, context, [*(context.selected_pose_bones or ())])
        return self.ask(context, self.bl_label)

    def checked(self, context: Context) -> Any:
        """The selected bones."""
        bones = [*(context.selected_pose_bones or ())]
        if not bones or not self.parent:
            raise Refused("Select the controls, and pick what they are to hang on")
        return bones

    def act(self, context: Context, bones: list[PoseBone]) -> stepping.Steps[None]:
        """Hang them on it."""
        name, bone = self.parent.split("\n")
        ob: Any = next((ob for ob in all_objects() if ob.name_full == name), None)
        names, frames = ", ".join(control.name for control in bones), self.frames_meant(context)
        self.warn(*(yield from parenting.parent_controls.steps(context, bones, (ob, bone), frames)))
        self.inform("{names} hang on {parent}", names=names, parent=bone or name)


CLASSES = (
    POSE_OT_planar_ik_switch,
    POSE_OT_planar_ik_snap_target,
    POSE_OT_planar_ik_snap_fk,
    POSE_OT_planar_ik_mirror,
    POSE_OT_planar_ik_parent,
)
