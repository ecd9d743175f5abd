"""Adding IK to the limbs that are selected, and removing it."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty
from bpy.types import Context, Event, Object

from ... import live
from ...blender.dependencies import Carrier, Dependencies
from ...limb.follow import follow_of, matrix_of
from ...limb.home import line_of
from ...limb.tasks.adding import KEPT, Request, add
from ...limb.tasks.knees import bends_to
from ...limb.tasks.recognising import limb_at
from ...limb.tasks.removing import remove
from ...limb.words import Refused, told
from ...mechanism.modes import to_rig
from ..finding import Suggestion, limbs_suggested, selected_limbs
from ..preferences import CONTROLS, KNEE, preference
from .base import LimbOperator, PoseOperator
from .selecting import select_if_shown

MODES = [
    ("RIG", "Rig", "Bones, constraints and drivers of the rig: works without the add-on"),
    ("LIVE", "Live", "The add-on: nothing is added to the rig"),
]
MODE: Any = {"name": "Mode", "description": "What poses the limb", "items": MODES}

TURNS = {"FOUND": 0.0, "OTHER": pi, "LEFT": pi / 2.0, "RIGHT": -pi / 2.0}
"""By how much each choice of Bends turns the knee around the limb."""


class POSE_OT_planar_ik_add(PoseOperator):
    """Add exact IK to the selected limbs, which stay where they are. Select a target too, to use your own"""

    bl_idname = "pose.planar_ik_add"
    bl_label = "Add Planar IK"

    plane: EnumProperty(**KNEE, options={"SKIP_SAVE"})
    controls: EnumProperty(**CONTROLS, options={"SKIP_SAVE"})
    foot_follows: BoolProperty(
        name="Foot Follows", description="Turn the foot or hand below the limb as the target is turned", default=True
    )
    bends: EnumProperty(
        name="Bends",
        description="Which way the knee points",
        items=[
            ("FOUND", "As Found", "As it is bent; if it is straight, a knee to the toes and an elbow to the back"),
            ("OTHER", "The Other Way", "To the other side"),
            ("LEFT", "90°", "Turned by a quarter around the limb"),
            ("RIGHT", "-90°", "Turned by a quarter around the limb, the other way round"),
        ],
        options={"SKIP_SAVE"},
    )
    bones: EnumProperty(
        name="Bones",
        description="How many bones the limb has",
        items=[
            ("AUTO", "As Found", "Two, or three where a leg has a hock, as a dog's or a horse's"),
            ("2", "2", "A leg or an arm"),
            ("3", "3", "The clicked bone is the last of three that bend to and fro"),
            ("4", "4", "The clicked bone is the last of four that bend to and fro"),
        ],
        options={"SKIP_SAVE"},
    )
    mode: EnumProperty(**MODE)
    tip: EnumProperty(
        name="Tip",
        description="What follows the target",
        items=[
            ("FOOT", "Foot", "Where the foot or hand below begins"),
            ("TAIL", "Tail", "The tail of the limb's last bone"),
        ],
    )
    keyed: EnumProperty(
        name="Keyed Animation",
        description="What becomes of the animation that the limb has",
        items=[
            ("KEEP", "Keep", "Give the controls keys, so that every frame looks as before"),
            ("LEAVE", "Leave", "Leave it to FK: with IK, only this frame looks as before"),
        ],
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="How far joints may be off for fewer keys, as a share of the limb's length; 0 keys every frame",
        default=KEPT,
        min=0.0,
        soft_max=0.01,
        precision=4,
    )

    def invoke(self, context: Context, event: Event) -> Any:
        """Begin as the preferences say; on a rig that Rigify generated, first say what it will do."""
        for name in ("plane", "controls"):
            if not self.properties.is_property_set(name):
                setattr(self, name, preference(context, name, getattr(self, name)))
        ob: Any = context.object
        if "rig_id" in ob.data:
            question: Any = told("This rig has IK of its own. Add more, to this bone?")
            return context.window_manager.invoke_confirm(self, event, message=question)  # type: ignore[union-attr]
        return self.execute(context)

    def act(self, context: Context) -> None:
        """Add, put on the rig, and go on with the targets."""
        turn, options = TURNS[self.bends], {"controls": self.controls, "foot": self.foot_follows, "tip": self.tip}
        added = add(context, self._requests(context), **options, turn=turn, keyed=self.keyed, tolerance=self.tolerance)
        names = [(last.id_data, last.name) for last in added.lasts]
        self.warn(*added.warnings)
        if self.mode == "RIG":
            put_on_rig(self, context, names)
        live.refresh(context)
        lasts = [ob.pose.bones[name] for ob, name in names]
        select_if_shown(context, [follow_of(last).pairs[0] for last in lasts])  # type: ignore[misc]
        kept = told(", kept {frames} frames", frames=added.kept) if added.kept else ""
        if len(lasts) > 1:
            self.tell("Added IK to {bones}{kept}", bones=", ".join(last.name for last in lasts), kept=kept)
            return
        bones, way = ", ".join(bone.name for bone in line_of(lasts[0])), bends_to(lasts[0], turn)
        self.tell("Added IK to {bones}: bends {way}{kept}", bones=bones, way=told(way), kept=kept)

    def _requests(self, context: Context) -> list[Request]:
        limbs, goals = chosen(context, 0 if self.bones == "AUTO" else int(self.bones))
        target, pole = [*goals, None, None][:2]
        return [Request(last, links, target, pole, self.plane) for last, links in limbs]


def put_on_rig(operator: PoseOperator, context: Context, names: Sequence[tuple[Any, str]]) -> None:
    """Have rigs pose limbs; where one can't, say why the add-on does."""
    try:
        to_rig(context, [ob.pose.bones[name] for ob, name in names])
    except Refused as why:
        operator.warn(Refused("The limb is Live for now: {why}", why=why.translated))


def chosen(context: Context, count: int = 0) -> tuple[list[Suggestion], list[Carrier]]:
    """The limbs that are selected, and the targets and poles selected with a single one, in whatever order. What does
    not look like a limb is taken for one only if nothing else that is selected does."""
    active = context.active_pose_bone
    bones = [*dict.fromkeys(filter(None, (active, *(context.selected_pose_bones or ()))))]
    limbs = limbs_suggested(bones, count) or [limb_at(bones[0], count)]
    if len(limbs) > 1:
        return limbs, []
    last, links = limbs[0]
    line = line_of(last, links)
    dependencies, names = Dependencies(), {bone.name for bone in line}
    goals: list[Carrier] = [(bone.id_data, bone.name) for bone in bones if bone not in last.parent_recursive]
    goals = [goal for goal in goals if not dependencies.moves_with(goal, last.id_data, names)]
    goals += [(ob, "") for ob in _objects_chosen(context, last.id_data)]
    if len(goals) > 2:
        raise Refused("Besides the limb, select a target and a pole at most")
    depsgraph, tip = context.evaluated_depsgraph_get(), last.id_data.matrix_world @ last.tail
    goals.sort(
        key=lambda goal: (matrix_of(goal[0], goal[1], depsgraph).translation - tip).length
    )  # the target is nearer
    return limbs, goals


def _objects_chosen(context: Context, rig: Object) -> list[Object]:
    """The selected objects that can be targets; none if a part of the character is among them: importers leave all
    that they made selected, and nobody means those."""
    objects = [ob for ob in context.selected_objects if ob.mode != "POSE"]
    return [] if any(_is_skin(ob, rig) for ob in objects) else objects


def _is_skin(ob: Object, rig: Object) -> bool:
    return rig.parent == ob or (
        ob.type == "MESH" and (ob.parent == rig or any(each.type == "ARMATURE" for each in ob.modifiers))
    )


class POSE_OT_planar_ik_remove(LimbOperator):
    """Remove IK from the selected limbs, with all that was made for it. They go back to their FK pose"""

    bl_idname = "pose.planar_ik_remove"
    bl_label = "Remove Planar IK"

    def act(self, context: Context) -> None:
        """Remove, and go on with the limbs."""
        names = [(last.id_data, last.name) for last in selected_limbs(context, with_broken=True)]
        kept = remove(context, [ob.pose.bones[name] for ob, name in names])
        if kept:
            self.warn(Refused("Kept {names}: something uses or animates it", names=", ".join(kept)))
        live.refresh(context)
        if context.active_pose_bone is None or not context.selected_pose_bones:
            select_if_shown(context, names)
        self.tell("Removed IK from {count} limbs", count=len(names))


CLASSES = (POSE_OT_planar_ik_add, POSE_OT_planar_ik_remove)
