"""The panels: of the chain that is meant, of all chains of the armature, and of the scene.

They are where people look: in the sidebar's Item tab, on the limb, on what it follows and on the bone below it, in Pose
Mode and Object Mode; and among the bone's properties, beside Inverse Kinematics.
"""

from __future__ import annotations

from typing import Any

from bpy.types import Context, Panel

from ...rig.data.access import has_chain, place_on_bone, scene_of, scene_settings
from ...rig.settings import SWITCH
from ..finding import chain_meant, left_behind
from ..operators.presets import PLANARIK_PT_presets
from ..operators.selecting import armature_in_view
from .redrawing import TAB
from .sections import draw_adding, draw_each, draw_operators, draw_parts, draw_result, draw_settings

MOST_ROWS = 6


class _ChainPanel:
    bl_label = "Planar IK"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.mode == "POSE" or (
            context.mode == "OBJECT" and bool(chain_meant(context) or left_behind(context))
        )

    def draw_header(self, context: Context) -> None:
        lower = chain_meant(context)
        if lower:
            self.layout.prop(*place_on_bone(lower, SWITCH), text="")  # type: ignore[attr-defined]

    def draw_header_preset(self, context: Context) -> None:
        if chain_meant(context):
            PLANARIK_PT_presets.draw_panel_header(self.layout)  # type: ignore[attr-defined]

    def draw(self, context: Context) -> None:
        layout = self.layout  # type: ignore[attr-defined]
        lower = chain_meant(context)
        if lower is None:
            draw_adding(layout, context)
            return
        draw_parts(layout, lower)
        draw_result(layout, context, lower)
        layout.use_property_split = True
        draw_settings(layout, lower)
        draw_operators(layout)


class _AnglesPanel:
    """What is set once for a limb, closed until somebody looks for it"""

    bl_label = "Angles"
    bl_options: Any = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return chain_meant(context) is not None

    def draw(self, context: Context) -> None:
        layout = self.layout  # type: ignore[attr-defined]
        layout.use_property_split = True
        lower = chain_meant(context)
        if lower:
            draw_each(layout, lower, "min_angle", "max_angle")
            draw_each(layout, lower, "hinge_angle", "lower_twist")


class _InSidebar:
    bl_space_type: Any = "VIEW_3D"
    bl_region_type: Any = "UI"
    bl_category: Any = TAB


class _InProperties:
    bl_space_type: Any = "PROPERTIES"
    bl_region_type: Any = "WINDOW"
    bl_context: Any = "bone"


class VIEW3D_PT_planar_ik(_ChainPanel, _InSidebar, Panel):
    """Sidebar panel"""


class BONE_PT_planar_ik(_ChainPanel, _InProperties, Panel):
    """Properties panel"""

    bl_options: Any = {"DEFAULT_CLOSED"}


class VIEW3D_PT_planar_ik_angles(_AnglesPanel, _InSidebar, Panel):
    """Limits of the knee, and how the bones are turned, in the sidebar"""

    bl_parent_id = "VIEW3D_PT_planar_ik"


class BONE_PT_planar_ik_angles(_AnglesPanel, _InProperties, Panel):
    """The same among the bone's properties"""

    bl_parent_id = "BONE_PT_planar_ik"


class VIEW3D_PT_planar_ik_chains(_InSidebar, Panel):
    """All chains of the armature"""

    bl_label = "Chains"
    bl_parent_id = "VIEW3D_PT_planar_ik"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """An armature with chains."""
        ob = armature_in_view(context)
        return bool(ob and any(map(has_chain, ob.pose.bones)))

    def draw(self, context: Context) -> None:
        """The list."""
        ob = armature_in_view(context)
        manager = context.window_manager
        count = sum(map(has_chain, ob.pose.bones))
        layout: Any = self.layout
        layout.template_list(
            "PLANARIK_UL_chains", "", ob.pose, "bones", manager, "planar_ik_row", rows=min(count, MOST_ROWS)
        )


class VIEW3D_PT_planar_ik_scene(_InSidebar, Panel):
    """What is set for the scene and not for a chain"""

    bl_label = "Scene"
    bl_parent_id = "VIEW3D_PT_planar_ik"
    bl_options: Any = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """Live and overlay."""
        scene = scene_settings(scene_of(context))
        layout: Any = self.layout
        layout.prop(scene, "live")
        layout.prop(scene, "show_overlay")
        if not scene.live:
            layout.operator("pose.planar_ik_solve", text="Solve Once")


CLASSES = (
    VIEW3D_PT_planar_ik,
    VIEW3D_PT_planar_ik_angles,
    VIEW3D_PT_planar_ik_chains,
    VIEW3D_PT_planar_ik_scene,
    BONE_PT_planar_ik,
    BONE_PT_planar_ik_angles,
)
