"""Going from a chain to its parts, and the list of an armature's chains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty
from bpy.types import Context, Object, Operator, PoseBone, UIList, WindowManager

from ...rig.data.access import (
    bones_of,
    chain_settings,
    has_bone,
    has_chain,
    is_armature,
    object_named,
    place_on_bone,
    view_layer_of,
)
from ...rig.kinds import Refused
from ...rig.settings import SWITCH
from ...rig.words import rpt_
from ..finding import NOTHING_SELECTED, chain_meant, chains_meant, goals_of

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

REACH_ICONS = {
    "REACHED": "CHECKMARK",
    "TOO_FAR": "FULLSCREEN_ENTER",
    "TOO_NEAR": "FULLSCREEN_EXIT",
    "OFF_PLANE": "ORIENTATION_NORMAL",
    "LIMITED": "CON_ROTLIMIT",
    "INVALID": "ERROR",
}
"""An icon of its own shape for each `Reach`."""

BETWEEN = "ARROW_LEFTRIGHT"
"""The same where influence is what keeps a tip from its target."""

OFF = "RADIOBUT_OFF"


class POSE_OT_planar_ik_select(Operator):
    """Select this part of the chain and make it active, in the mode in which it can be moved"""

    bl_idname = "pose.planar_ik_select"
    bl_label = "Select Planar IK Part"
    bl_options = {"REGISTER", "UNDO"}

    part: EnumProperty(
        name="Part",
        description="What to select",
        items=[
            ("TARGET", "Target", "What the tip goes to"),
            ("POLE", "Pole", "What the knee points to"),
            ("LIMB", "Limb", "The lower bone"),
        ],
    )
    object: StringProperty(name="Armature", description="Name of the chain's armature; empty for the active chain")
    bone: StringProperty(name="Bone", description="Name of the chain's lower bone")
    library: StringProperty(name="Library", description="File that the armature is linked from, if it is")

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Where bones and objects can be selected."""
        if context.mode not in {"POSE", "OBJECT"}:
            cls.poll_message_set(rpt_("Go to Pose Mode or Object Mode"))
            return False
        return True

    def execute(self, context: Context) -> set[OperatorReturnItems]:
        """Select it, or say that there is none."""
        lower = self._lower(context)
        part = find_part(lower, self.part) if lower else None
        if part is None:
            self.report({"ERROR"}, rpt_("There is no {part} to select").format(part=rpt_(self.part.lower())))
            return {"CANCELLED"}
        if not part[0].visible_get():
            self.report({"ERROR"}, rpt_("'{name}' is hidden: show it first").format(name=part[0].name))
            return {"CANCELLED"}
        select(context, *part)
        return {"FINISHED"}

    def _lower(self, context: Context) -> PoseBone | None:
        if not self.object:
            return chain_meant(context)
        ob = object_named(self.object, self.library)
        return bones_of(ob)[self.bone] if ob and has_bone(ob, self.bone) else None


def find_part(lower: PoseBone, part: str) -> tuple[Object, str] | None:
    """The object and, if it is one, the bone that is this part of a chain."""
    if part == "LIMB":
        return lower.id_data, lower.name
    goal = goals_of(lower).get(part)
    return (goal.object, goal.bone) if goal else None


def select(context: Context, ob: Object, bone: str) -> None:
    """Select this object or bone and nothing else, in the mode in which it can be moved."""
    layer: Any = view_layer_of(context)
    is_posed = bool(bone) and context.mode == "POSE" and ob.mode == "POSE"
    if not is_posed:
        if context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for other in context.selected_objects:
            other.select_set(False)
        ob.select_set(True)
        layer.objects.active = ob
        if bone:
            bpy.ops.object.mode_set(mode="POSE")
    if bone:
        layer.objects.active = ob
        for posed in context.selected_pose_bones or ():
            _select_bone(posed, False)
        chosen: Any = bones_of(ob)[bone]
        _select_bone(chosen, True)
        ob.data.bones.active = chosen.bone  # type: ignore[union-attr]  # an armature's


def _select_bone(bone: Any, state: bool) -> None:
    (bone if hasattr(bone, "select") else bone.bone).select = state  # the former from 5.0 on


LIST: Any = UIList  # whose methods the stubs know by other signatures


class PLANARIK_UL_chains(LIST):  # type: ignore[misc]
    """All chains of an armature, as its bones are sorted"""

    def draw_item(
        self,
        _context: Context,
        layout: Any,
        _data: Any,
        bone: PoseBone,
        _icon: int,
        _active_data: Any,
        _active_property: str,
    ) -> None:
        """A row: reach, name, plane, what it runs on, influence, and an eye that switches it."""
        settings = chain_settings(bone)
        row = layout.row(align=True)
        row.label(text=bone.name, icon=icon_of(settings), translate=False)
        side = row.row(align=True)
        side.alignment = "RIGHT"
        side.label(text="", icon=_plane_icon(settings.plane))
        if getattr(settings, "runs_on", "EXTENSION") == "RIG":
            side.label(text="", icon="OUTLINER_OB_ARMATURE")
        slider = row.row(align=True)
        slider.ui_units_x = 3.5
        slider.prop(*place_on_bone(bone, "influence"), text="", slider=True, emboss=False)
        eye = "HIDE_OFF" if settings.enabled else "HIDE_ON"
        row.prop(*place_on_bone(bone, SWITCH), text="", emboss=False, icon=eye)

    def filter_items(self, _context: Context, data: Any, prop: str) -> tuple[list[int], list[int]]:
        """Only bones that have a chain, and among these those that the search names."""
        wanted = self.filter_name.lower()
        shown = self.bitflag_filter_item
        bones = getattr(data, prop)
        return [shown if has_chain(bone) and wanted in bone.name.lower() else 0 for bone in bones], []


def icon_of(settings: Any) -> Any:
    """The icon of what became of a chain."""
    return reach_icon(settings, settings.reach) if settings.enabled else OFF


def reach_icon(settings: Any, reach: str) -> Any:
    """The same of a chain that is switched on, whose reach was read: on the rig each reading works it out anew."""
    return BETWEEN if is_held_back(settings, reach) else REACH_ICONS[reach]


def is_held_back(settings: Any, reach: str) -> bool:
    """Whether only an influence below 1 keeps a tip from its target."""
    return bool(settings.influence < 1.0 and reach == "LIMITED")


def _plane_icon(plane: str) -> str:
    return {"REST": "ORIENTATION_GIMBAL", "SWING": "CON_ROTLIKE", "POLE": "CON_TRACKTO"}[plane]


def armature_in_view(context: Context) -> Any:
    """The armature whose chains are listed: the active one, or that of the chain which is meant."""
    ob = context.active_object
    if ob and is_armature(ob):
        return ob
    lower = chain_meant(context)
    return lower.id_data if lower else None


def _listed(_manager: Any) -> int:
    """The row of the chain that is meant."""
    lower = chain_meant(bpy.context)
    return bones_of(lower.id_data).find(lower.name) if lower else -1


class _Shown:
    """The settings of the chain that is meant; what is set, as saved presets do, all selected chains get."""

    def __init__(self, lowers: list[PoseBone]) -> None:
        vars(self)["chains"] = [chain_settings(lower) for lower in lowers]

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["chains"][0], name)

    def __setattr__(self, name: str, value: Any) -> None:
        for each in vars(self)["chains"]:
            setattr(each, name, value)


def _shown(_manager: Any) -> _Shown:
    """The settings of the chains that are selected; raises `Refused` if there are none."""
    lower = chain_meant(bpy.context)
    if lower is None:
        raise Refused(NOTHING_SELECTED)
    return _Shown(list(dict.fromkeys((lower, *chains_meant(bpy.context, or_off=True)))))


def _click(_manager: Any, row: int) -> None:
    """A click on a row selects the limb."""
    ob = armature_in_view(bpy.context)
    if ob and 0 <= row < len(ob.pose.bones) and ob.visible_get():
        select(bpy.context, ob, ob.pose.bones[row].name)
        bpy.ops.ed.undo_push(message="Select Planar IK Chain")


CLASSES = (POSE_OT_planar_ik_select, PLANARIK_UL_chains)

# The stubs don't know what extensions add.
MANAGER: Any = WindowManager


def register() -> None:
    """Let Blender's list have a row that is active, and saved presets the chain that the panel shows."""
    MANAGER.planar_ik_row = IntProperty(
        name="Chain", description="Select this limb", get=_listed, set=_click, options={"SKIP_SAVE"}
    )
    MANAGER.planar_ik_chain = property(_shown)


def unregister() -> None:
    """Take it away."""
    del MANAGER.planar_ik_chain
    del MANAGER.planar_ik_row
