"""Adding IK to the limbs that are selected, and removing it; and cylinders, of two bones that aim at each other."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty
from bpy.types import Context, Event, PoseBone

from ...blender.editing import select_if_shown
from ...blender.stepping import Steps
from ...blender.types import Message, Refused, is_hidden, translated_text
from ...tasks import modes, selection
from ...tasks.adding import FEWER_KEYS, TURNS, Added, LimbRequest, add, as_options
from ...tasks.cylinders import Cylinder, check_cylinder, cylinder_at, is_our_cylinder, make_cylinder, remove_cylinder
from ...tasks.status import bends_to, chain_bones, description_of, frames_counted, is_leg, limbs_counted
from .. import finding, state
from ..preferences import KNEE, preference
from . import base, switching
from .base import PoseOperator

MODES = [
    ("RIG", "Rig", "Bones, constraints and drivers of the rig: works without the add-on"),
    ("LIVE", "Live", "The add-on, after each evaluation: the rig gets controls, and no helper bones"),
]

MODE: Any = {"name": "Mode", "description": "What poses the limb", "items": MODES}

OF_ONE_LIMB = ("plane", "bends", "bones", "ends_at", "foot_roll")
"""What is not kept from one limb to the next. ``SKIP_SAVE`` would keep it out of presets too."""


FIRST = ("bones", "ends_at", "bends", "plane", "foot_follows", "pole_follows", "foot_roll")
"""What people change of a limb that was added, in this order."""

MORE = ("mode", "tip", "keyed", "tolerance")
"""What few of them do."""

REDO_WIDTH = 300.0
"""Pixels across that Blender gives *Adjust Last Operation*, at a scale of 1."""


class POSE_OT_planar_ik_add(base.PoseOperator):
    """Add exact IK to the selected limbs, which stay where they are. Select a target too, to use your own"""

    bl_idname = "pose.planar_ik_add"
    bl_label = "Add Planar IK"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    plane: EnumProperty(**KNEE)
    foot_follows: BoolProperty(
        name="Foot Follows", description="Turn the foot or hand below the limb as the target is turned", default=True
    )
    foot_roll: BoolProperty(
        name="Foot Roll",
        description="Let feet roll on heel, ball and toe, and tilt on their edges",
    )
    pole_follows: BoolProperty(
        name="Pole Follow", description="Let the poles of legs go half with the feet's controls", default=True
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
    )
    bones: EnumProperty(
        name="Limb",
        description="How many bones the limb has, counted from its last one",
        items=[
            ("AUTO", "As Selected", "The bones that are selected; of one bone, the arm or leg, or the last of two"),
            ("2", "2", "Two bones"),
            ("3", "3", "Three bones that lie in one plane"),
            ("4", "4", "Four bones that lie in one plane"),
        ],
    )
    ends_at: EnumProperty(
        name="Ends At",
        description="Where the limb ends in its line",
        items=[
            ("-2", "Two Bones Further Up", ""),
            ("-1", "One Bone Further Up", ""),
            ("0", "As Selected", ""),
            ("1", "One Bone Further Down", ""),
            ("2", "Two Bones Further Down", ""),
        ],
        default="0",
    )
    limbs: StringProperty(
        name="Limbs",
        description="The last bones of limbs by name, or patterns such as shin.*, with spaces between, in place of "
        "what is selected: of the active rig, or the only one that has them",
        options={"SKIP_SAVE"},
    )
    target: StringProperty(
        name="Target",
        description="With limbs by name: the bone or object that the first one follows, others that of their own side",
        options={"SKIP_SAVE"},
    )
    pole: StringProperty(
        name="Pole", description="With limbs by name: where the knee points, named likewise", options={"SKIP_SAVE"}
    )
    taken: StringProperty(name="Taken", description="The bones of the limbs", options={"HIDDEN", "SKIP_SAVE"})
    worked: StringProperty(
        name="Worked", description="The settings of the limb that is there, as JSON", options={"HIDDEN", "SKIP_SAVE"}
    )
    lacks: StringProperty(
        name="Lacks", description="The settings that these limbs can't have", options={"HIDDEN", "SKIP_SAVE"}
    )
    why: StringProperty(name="Why", description="Why others can't be had", options={"HIDDEN", "SKIP_SAVE"})
    is_asked: BoolProperty(
        name="Asked", description="IK is to be added beside the rig's own", options={"HIDDEN", "SKIP_SAVE"}
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
            ("ALL", "Keep in All Actions", "So in each action of the rig, not only in the one in use"),
            ("LEAVE", "Leave", "Leave it to FK: with IK, only this frame looks as before"),
        ],
    )
    tolerance: FloatProperty(default=FEWER_KEYS, **switching.TOLERANCE)

    @classmethod
    def poll(cls, context: Context) -> bool:
        """In Pose Mode with a bone, and without any and in Object Mode for scripts, which name limbs."""
        is_script = context.area is None or context.area.type in {"CONSOLE", "TEXT_EDITOR"}
        return (is_script and context.mode in {"OBJECT", "POSE"}) or super().poll(context)

    def invoke(self, context: Context, event: Event) -> Any:
        """Begin as the preferences say, not as the last limb was made; on a rig that Rigify generated, offer what its
        own IK is for."""
        for name in OF_ONE_LIMB:
            if not self.properties.is_property_set(name):  # by the caller: what it was the last time is not set
                default: Any = self.properties.bl_rna.properties[name]
                setattr(self, name, preference(context, name, default.default))
        which = "" if self.is_asked else rigify_ik(context)
        if not which:
            return super().invoke(context, event)
        settings = {name: getattr(self, name) for name in OF_ONE_LIMB}

        def draw(menu: Any, _context: Context) -> None:
            menu.layout.operator_context = "INVOKE_DEFAULT"  # who waits can stop it
            menu.layout.operator("pose.planar_ik_convert", text="Solve Exactly", icon="CON_KINEMATIC").which = which
            added = menu.layout.operator(self.bl_idname, text="Add More IK")
            for name, value in {**settings, "is_asked": True}.items():
                setattr(added, name, value)

        context.window_manager.popup_menu(draw, title=translated_text("This rig has IK of its own"))  # type: ignore[union-attr]
        return {"CANCELLED"}

    def draw(self, context: Context) -> None:
        """The bones that it took, what puts another choice right, and closed, what few change."""
        layout: Any = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        for bones in self.taken.split("; "):
            layout.label(text=bones, icon="BONE_DATA", translate=False)
        lacking = self.lacks.split()
        for name in FIRST:
            if name not in lacking:
                layout.prop(self, name)
        if self.why:
            state.draw_lines(layout, context, self.why, "INFO", REDO_WIDTH)
        header, body = layout.panel("planar_ik_add_more", default_closed=True)
        header.label(text="More")
        for name in MORE if body else ():
            if name not in lacking:
                body.prop(self, name)

    def refuse(self, why: Refused) -> Any:
        """Where a setting of a limb that was added is changed to what can't be had, leave the limb as it was, and say
        why under the fields."""
        if not self.worked:
            return super().refuse(why)
        settings, self.worked = json.loads(self.worked), ""
        for name, value in settings.items():
            setattr(self, name, value)
        done = self.execute(bpy.context)
        self.why = why.message.translated
        return done

    def checked(self, context: Context) -> Any:
        """The limbs that IK can be added to, with what they are to follow; and what is skipped."""
        count = 0 if self.bones == "AUTO" else int(self.bones)
        if self.limbs:
            requests = selection.requests_by_name(context, self.limbs, (self.target, self.pole), count)
            return [request._replace(plane=self.plane) for request in requests], []
        if context.mode != "POSE":
            raise Refused("Go to Pose Mode and click a bone of a limb")
        limbs, followed, skipped, loops = selection.limbs_to_add(context, count, int(self.ends_at))
        target, pole = [*followed, None, None][:2]
        requests = [
            LimbRequest(limb, segments, target, pole, self.plane, loop=loops.get(limb.name)) for limb, segments in limbs
        ]
        return requests, skipped

    def act(self, context: Context, subject: Any) -> Steps[None]:
        """Add, and go on with the targets."""
        requests, skipped = subject
        settings = {name: getattr(self, name) for name in (*FIRST, *MORE)}
        added = yield from add.steps(context, requests, **as_options(settings))
        self.warn(*added.warnings)
        limbs = added.limbs
        self.why, self.worked, self.lacks = "", json.dumps(settings), self._lacking(added)
        self.taken = "; ".join(", ".join(bone.name for bone in chain_bones(limb)) for limb in limbs)
        select_if_shown(context, [target for limb in limbs if (target := description_of(limb).followed[0])])
        kept = translated_text(", kept {frames}", frames=frames_counted(added.kept)) if added.kept else ""
        kept += hidden_bones_note(bone for limb in limbs for bone in chain_bones(limb))
        if skipped:
            why = "; ".join(f"{name}: {why.translated}" for name, why in skipped)
            self.warn(Message("Added {count}{kept}; skipped {why}", count=len(limbs), kept=kept, why=why))
        elif len(limbs) > 1:
            self.inform("Added IK to {bones}{kept}", bones=", ".join(limb.name for limb in limbs), kept=kept)
        else:
            bones, bend = ", ".join(bone.name for bone in chain_bones(limbs[0])), bends_to(limbs[0], TURNS[self.bends])
            self.inform("Added IK to {bones}: bends {way}{kept}", bones=bones, way=translated_text(bend), kept=kept)

    def _lacking(self, added: Added) -> str:
        """The settings that none of these limbs can have: what is for feet without one, for poles without one, and for
        animation without any."""
        legs = [limb for limb in added.limbs if is_leg(limb)]
        feet = [limb for limb in added.limbs if description_of(limb).foot]
        can = {
            "foot_follows": feet,
            "foot_roll": self.foot_follows and any(limb in feet for limb in legs),
            "pole_follows": any(description_of(limb).pole for limb in legs),
            "keyed": added.kept or self.keyed == "LEAVE",
            "tolerance": added.kept,
        }
        return " ".join(name for name, there in can.items() if not there)


def hidden_bones_note(bones: Iterable[PoseBone]) -> str:
    """The end of a sentence that names bones of limbs that are hidden or locked: IK turns them all the same."""
    bones = [*bones]
    hidden = [bone.name for bone in bones if is_hidden(bone)]
    locked = [bone.name for bone in bones if all(bone.lock_rotation)]
    said = translated_text("; hidden: {bones}", bones=", ".join(hidden)) if hidden else ""
    return said + (translated_text("; locked: {bones}", bones=", ".join(locked)) if locked else "")


def rigify_ik(context: Context) -> str:
    """Which of a Rigify rig's IK constraints can be solved exactly: ``SELECTED``, ``ALL``, or "". Selected where
    such are; nothing on other rigs, or where there are none."""
    ob: Any = context.object
    if "rig_id" not in ob.data or not selection.candidates(ob):
        return ""
    return "SELECTED" if selection.convertible([*(context.selected_pose_bones or ())]) else "ALL"


class POSE_OT_planar_ik_remove(base.RigOperator):
    """Remove IK from the selected limbs, with all that was made for it. They go back to their FK pose"""

    bl_idname = "pose.planar_ik_remove"
    bl_label = "Remove Planar IK"

    def checked(self, context: Context) -> list[PoseBone]:
        """The selected limbs, those that lack bones too."""
        return finding.require_limbs(context, with_broken=True)

    def act(self, context: Context, limbs: list[PoseBone]) -> None:
        """Remove, and go on with the limbs."""
        names = [(limb.id_data, limb.name) for limb in limbs]
        kept = modes.remove(context, [ob.pose.bones[name] for ob, name in names])
        if kept:
            self.warn(Message(modes.STAYING, names=", ".join(kept)))
        if context.active_pose_bone is None or not context.selected_pose_bones:
            select_if_shown(context, names)
        self.inform("Removed IK from {limbs}", limbs=limbs_counted(len(names)))


class POSE_OT_planar_ik_cylinder(PoseOperator):
    """Have the two selected bones aim at each other's foot, as a housing and its rod do"""

    bl_idname = "pose.planar_ik_cylinder"
    bl_label = "Add Cylinder"

    remove: BoolProperty(
        name="Remove",
        description="Let the two bones of the cylinder go where they would, and remove what they aim at",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """What a button of it says under the mouse."""
        remove: Any = properties.bl_rna.properties["remove"]
        return translated_text(remove.description if properties.remove else cls.__doc__ or "")

    def checked(self, context: Context) -> Cylinder:
        """The two bones; or the cylinder that a selected bone is half of."""
        bones = [*(context.selected_pose_bones or ())]
        if not self.remove:
            return check_cylinder(bones)
        found = [cylinder for bone in bones if (cylinder := cylinder_at(bone)) and is_our_cylinder(cylinder)]
        if not found:
            raise Refused("Select a bone of a cylinder that Add Cylinder made")
        return found[0]

    def act(self, context: Context, cylinder: Cylinder) -> None:
        """Make it, or take it away."""
        if self.remove:
            remove_cylinder(context, cylinder)
            return
        names = [bone.name for bone in cylinder]
        make_cylinder(context, cylinder)
        self.inform("'{bone}' and '{other}' aim at each other's foot", bone=names[0], other=names[1])


def halves_selected(context: Context) -> list[PoseBone]:
    """The selected bones that are half of a cylinder."""
    return [bone for bone in context.selected_pose_bones or () if cylinder_at(bone)]


CLASSES = (POSE_OT_planar_ik_add, POSE_OT_planar_ik_remove, POSE_OT_planar_ik_cylinder)
