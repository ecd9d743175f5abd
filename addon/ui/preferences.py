"""What a person sets once: how Add begins, how strong the overlay is, and a key for the pie menu; and the guide in the
package that *Online Manual* opens on our buttons and sliders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import rna_keymap_ui
from bpy.props import EnumProperty, FloatProperty
from bpy.types import AddonPreferences, Context

FOLDER = (Path(__file__).parents[2] / "guide").as_uri() + "/"
"""The pages are opened by the browser, and need no network."""

GUIDE = f"{FOLDER}animator.html"

PAGES = (
    ("bpy.ops.pose.planar_ik_bake*", "animator.html#keys"),
    ("bpy.ops.pose.planar_ik_switch*", "animator.html#keys"),
    ("bpy.ops.pose.planar_ik_rebuild*", "animator.html#after-you-edit-bones"),
    ("bpy.ops.pose.planar_ik_convert*", "animator.html#from-blenders-own-ik-and-back"),
    ("bpy.ops.pose.planar_ik_unconvert*", "animator.html#from-blenders-own-ik-and-back"),
    ("bpy.ops.pose.planar_ik_hold*", "capture.html#feet-that-slide"),
    ("bpy.ops.pose.planar_ik_find_contacts*", "capture.html#feet-that-slide"),
    ("bpy.ops.pose.planar_ik_plant*", "capture.html#feet-that-slide"),
    ("bpy.ops.pose.planar_ik_cylinder*", "machines.html#cylinders"),
    ("bpy.ops.pose.planar_ik*", "animator.html"),
    ("bpy.types.planarik*", "animator.html"),
)
"""Operators and settings, as Blender names them in small letters, and their pages; the first that fits."""

ON_PROPERTIES = ("bpy.types.bpy_struct", "animator.html#the-panel")
"""What Blender calls each custom property, ours too."""

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


def guide() -> tuple[str, tuple[tuple[str, str], ...]]:
    """The beginning of all addresses, and the rest of each; that of sliders if the mouse is over one of a limb."""
    under_mouse: Any = bpy.context.property
    is_ours = bool(under_mouse) and under_mouse[1].rpartition('["')[2].startswith("IK ")
    return FOLDER, (*PAGES, ON_PROPERTIES) if is_ours else PAGES


def register() -> None:
    """Have the pie menu among Blender's keys, without one, and have Blender ask here for the manual too."""
    bpy.utils.register_manual_map(guide)
    keys: Any = bpy.context.window_manager.keyconfigs.addon  # type: ignore[union-attr]
    if keys:
        keymap = keys.keymaps.new(name="Pose")
        item = keymap.keymap_items.new(PIE, "NONE", "PRESS")
        _keys.append((keymap, item))


def unregister() -> None:
    """Take both away."""
    bpy.utils.unregister_manual_map(guide)
    while _keys:
        keymap, item = _keys.pop()
        keymap.keymap_items.remove(item)


CLASSES = (PlanarIKPreferences,)
