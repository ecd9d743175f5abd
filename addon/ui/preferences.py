"""What a person sets once: how Add begins, how strong the overlay is, and a key for the pie menu."""

from __future__ import annotations

from typing import Any

import bpy
import rna_keymap_ui
from bpy.props import EnumProperty, FloatProperty
from bpy.types import AddonPreferences, Context

from .manual import GUIDE

ID = (__package__ or "").rpartition("addon.ui")[0].rstrip(".") or "planar_ik"
PIE = "pose.planar_ik_pie"

PLANE: Any = [
    ("AUTO", "Automatic", "Hinge on a flat rig, else Pole"),
    ("FREE", "Free", "The knee swings along with the target; Swivel turns it"),
    ("POLE", "Pole", "The knee points at a pole, which is made if none is selected"),
    ("HINGE", "Hinge", "The knee bends in one plane, which turns with the bone above the limb"),
    ("SLIDE", "Slide", "The first of two bones slides along its own line; the second is a rod to the target"),
]
KNEE: Any = {"name": "Knee", "description": "What decides where the knee points", "items": PLANE}

_keys: list[Any] = []


class PlanarIKPreferences(AddonPreferences):
    """Planar IK: preferences"""

    bl_idname = ID

    plane: EnumProperty(**KNEE)
    overlay: FloatProperty(
        name="Opacity",
        description="How opaque the lines of the overlay are",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )

    def draw(self, context: Context) -> None:
        """All of it under headings, the key, and the way to the guide."""
        layout: Any = self.layout
        layout.use_property_split = True
        for heading, name in (("What Add Begins With", "plane"), ("Overlay", "overlay")):
            layout.label(text=heading)
            layout.prop(self, name)
        layout.operator("wm.url_open", text="Guide", icon="HELP").url = GUIDE
        keys: Any = context.window_manager.keyconfigs.user  # type: ignore[union-attr]
        for item in keys.keymaps["Pose"].keymap_items:
            if item.idname == PIE:
                layout.label(text="Pie Menu Key")
                rna_keymap_ui.draw_kmi([], keys, keys.keymaps["Pose"], item, layout, 0)


def preference(context: Context, name: str, default: Any) -> Any:
    """What a person prefers."""
    addon = context.preferences.addons.get(ID)  # type: ignore[union-attr]
    return getattr(addon.preferences, name, default) if addon else default


def register() -> None:
    """Have the pie menu among Blender's keys, without one."""
    keys: Any = bpy.context.window_manager.keyconfigs.addon  # type: ignore[union-attr]
    if keys:
        keymap = keys.keymaps.new(name="Pose")
        item = keymap.keymap_items.new(PIE, "NONE", "PRESS")
        _keys.append((keymap, item))


def unregister() -> None:
    """Take it away."""
    while _keys:
        keymap, item = _keys.pop()
        keymap.keymap_items.remove(item)


CLASSES = (PlanarIKPreferences,)
