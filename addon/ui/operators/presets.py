"""Presets of a chain's settings: some that come with the extension, and those that people save, as Blender saves."""

from __future__ import annotations

from math import pi, radians
from typing import Any, NamedTuple

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel
from bpy.props import EnumProperty
from bpy.types import Context, Menu, Operator, Panel

from ... import live
from ...rig.data.access import chain_settings
from ...rig.tasks.setup import told_beside
from ..finding import selected_chains
from ..translations import told
from .chains import ChainOperator


class Preset(NamedTuple):
    """What a kind of limb wants; all else is as it comes. Angles are the knee's inner ones."""

    label: str
    description: str
    plane: str = "SWING"
    softness: float = 0.0
    min_angle: float = 0.0
    max_angle: float = pi

    def settings(self) -> dict[str, Any]:
        """By the names of the chain's settings."""
        return {name: getattr(self, name) for name in SET_BY_PRESETS}


SET_BY_PRESETS = ("plane", "softness", "min_angle", "max_angle")

FOLDED_ARM, STRAIGHT_ARM = radians(25), radians(175)

PRESETS = {
    "ARM": Preset(
        "Arm", "Free, soft near full reach; stops short of straight", "SWING", 0.02, FOLDED_ARM, STRAIGHT_ARM
    ),
    "LEG": Preset("Leg", "Free, soft near full reach; folds as far as a calf lets it", "SWING", 0.04, radians(30), pi),
    "INSECT": Preset(
        "Insect Leg",
        "Hinge, for legs whose coxa turns to the target; hardly soft, always well bent",
        "REST",
        0.01,
        radians(20),
        radians(150),
    ),
    "MACHINE": Preset("Machine", "Hinge, without softness or limits: goes where it is told", "REST"),
}

FOLDER = "planar_ik/chain"

PRESET_BASE: Any = AddPresetBase  # whose methods the stubs know by other signatures than an operator's


class POSE_OT_planar_ik_preset(ChainOperator):
    """Set plane, softness and knee limits of the selected chains as this kind of limb wants them"""

    bl_idname = "pose.planar_ik_preset"
    bl_label = "Planar IK Preset"

    preset: EnumProperty(
        name="Preset",
        description="The kind of limb",
        items=[(name, preset.label, preset.description) for name, preset in PRESETS.items()],
    )

    def act(self, context: Context) -> None:
        """Set them, and warn of targets that a hinge can't reach."""
        lowers = selected_chains(context, or_off=True)
        for lower in lowers:
            settings = chain_settings(lower)
            for name, value in PRESETS[self.preset].settings().items():
                setattr(settings, name, value)
        live.refresh(context)
        for warning in filter(None, (told_beside(context, lower) for lower in lowers)):
            self.report({"WARNING"}, told(warning))


class PLANARIK_MT_presets(Menu):
    """Presets that were saved"""

    bl_label = "Planar IK Presets"
    preset_subdir = FOLDER
    preset_operator = "script.execute_preset"
    draw = Menu.draw_preset  # type: ignore[assignment]


class PLANARIK_OT_preset_save(PRESET_BASE, Operator):  # type: ignore[misc]
    """Save the settings of the active chain as a preset, or remove one"""

    bl_idname = "pose.planar_ik_preset_save"
    bl_label = "Save Planar IK Preset"
    preset_menu = "PLANARIK_MT_presets"
    preset_subdir = FOLDER
    preset_defines = ("from bpy import context", "chain = context.window_manager.planar_ik_chain")
    preset_values = tuple(f"chain.{name}" for name in SET_BY_PRESETS)


class PLANARIK_PT_presets(PresetPanel, Panel):
    """The presets' place in the panel's header"""

    bl_label = "Planar IK Presets"
    preset_subdir = FOLDER
    preset_operator = "script.execute_preset"
    preset_add_operator = PLANARIK_OT_preset_save.bl_idname

    def draw(self, context: Context) -> None:
        """Draw the presets that come with the extension, then those that were saved."""
        layout: Any = self.layout
        layout.emboss = "PULLDOWN_MENU"  # as Blender draws those that were saved
        for name, preset in PRESETS.items():
            layout.operator("pose.planar_ik_preset", text=preset.label).preset = name
        layout.separator()
        if bpy.utils.preset_paths(FOLDER):
            super().draw(context)
            return
        manager: Any = context.window_manager  # Blender's own drawing would say that a path is missing
        layout.operator_context = "EXEC_DEFAULT"  # as Blender does, or a dialog would ask for the name once more
        row = layout.row(align=True)
        row.prop(manager, "preset_name", text="")
        row.operator(self.preset_add_operator, text="", icon="ADD").name = manager.preset_name


CLASSES = (POSE_OT_planar_ik_preset, PLANARIK_MT_presets, PLANARIK_OT_preset_save, PLANARIK_PT_presets)
