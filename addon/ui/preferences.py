"""What a person sets once: how Add begins, how strong the overlay is, and a key for the pie menu; the guide in the
package that *Online Manual* opens on our buttons and sliders; and the menus: in Pose ▸ Inverse Kinematics, where the
search under F3 finds the entries too, in the Object menu of what limbs follow, and as a pie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import rna_keymap_ui
from bpy.props import EnumProperty, FloatProperty
from bpy.types import AddonPreferences, Context, Event, Menu, Operator

from ..blender.types import is_armature
from ..tasks import selection, status
from .finding import selected_limbs

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


def entries(context: Context) -> list[tuple[str, dict[str, Any]]]:
    """What applies to the selection: the names of operators, and what is given to them."""
    limbs, ob = selected_limbs(context), context.object
    described = [status.description_of(limb) for limb in limbs]
    modes, flips = {limb.mode for limb in described}, [limb.sliders["flip"] for limb in described]
    plain = ("switch", "snap_target", "snap_fk", "mirror", "hold", "find_contacts")
    choices: list[tuple[bool, list[tuple[str, dict[str, Any]]]]] = [
        (bool(limbs), [(name, {}) for name in plain]),
        (bool(limbs), [("set", {"flip": flips[:1] != [True]}), ("remove", {})]),
        (context.mode == "POSE" and (not limbs or bool(selection.limbs_offered(context)[0])), [("add", {})]),
        (not limbs and len(context.selected_pose_bones or ()) == 2, [("cylinder", {})]),
        (context.mode == "POSE", [("plant", {})]),
        ("LIVE" in modes, [("set", {"mode": "RIG"})]),
        ("RIG" in modes, [("set", {"mode": "LIVE"}), ("rebuild", {})]),
        (is_armature(ob) and bool(selection.candidates(ob)), [("convert", {})]),
        (any(limb.converted_from for limb in described), [("unconvert", {})]),
        (bool(selection.limbs_in_view(context)), [("bake", {})]),
    ]
    return [entry for applies, found in choices if applies for entry in found]


SETS = {"flip": "Flip Knee", "RIG": "Put on the Rig", "LIVE": "Make Live"}
"""What entries say that set something."""

LABELS = {"bake": "Bake Planar IK…"}
"""What others say that is not their name."""


class VIEW3D_MT_planar_ik_pie(Menu):
    """What an animator does with a limb all day"""

    bl_label = "Planar IK"

    def draw(self, _context: Context) -> None:
        """Eight ways, from the left around."""
        layout: Any = self.layout
        pie = layout.menu_pie()
        pie.operator("pose.planar_ik_snap_target", icon="SNAP_ON")
        pie.operator("pose.planar_ik_snap_fk", icon="SNAP_OFF")
        pie.operator("pose.planar_ik_switch", icon="ARROW_LEFTRIGHT")
        pie.operator("pose.planar_ik_select", text="Select Target", icon="EMPTY_AXIS").role = "TARGET"
        pie.operator("pose.planar_ik_select", text="Select FK Bones", icon="BONE_DATA").role = "LIMB"
        pie.operator("pose.planar_ik_select", text="Select Pole", icon="SPHERE").role = "POLE"
        pie.operator("pose.planar_ik_mirror", text="Mirror", icon="MOD_MIRROR")
        pie.operator("pose.planar_ik_hold", icon="PINNED")


class POSE_OT_planar_ik_pie(Operator):
    """Open the pie menu of Planar IK"""

    bl_idname = "pose.planar_ik_pie"
    bl_label = "Planar IK Pie Menu"
    bl_options: Any = {"INTERNAL"}  # Blender wants a set

    def invoke(self, _context: Context, _event: Event) -> Any:
        """Under the mouse. Blender's own operator, with a key, would have its entries found twice by the search."""
        return bpy.ops.wm.call_menu_pie("INVOKE_DEFAULT", name=VIEW3D_MT_planar_ik_pie.__name__)


class VIEW3D_MT_planar_ik(Menu):
    """What can be done with the limbs that are selected"""

    bl_label = "Planar IK"

    def draw(self, context: Context) -> None:
        """What applies."""
        layout: Any = self.layout
        layout.operator_context = "INVOKE_DEFAULT"  # another one where a key opens the menu
        for name, given in entries(context):
            text = SETS[given.get("mode", "flip")] if name == "set" else LABELS.get(name)
            button = layout.operator(f"pose.planar_ik_{name}", **({"text": text} if text else {}))
            for setting, value in given.items():
                setattr(button, setting, value)


def _draw(menu: Any, context: Context) -> None:
    if context.mode == "POSE" or selected_limbs(context):
        menu.layout.separator()
        menu.layout.menu(VIEW3D_MT_planar_ik.__name__, icon="CON_KINEMATIC")


CLASSES = (PlanarIKPreferences, VIEW3D_MT_planar_ik_pie, POSE_OT_planar_ik_pie, VIEW3D_MT_planar_ik)


def register() -> None:
    """Append the entries, have the pie menu among Blender's keys, without one, and have Blender ask here for the
    manual too."""
    bpy.types.VIEW3D_MT_pose_ik.append(_draw)
    bpy.types.VIEW3D_MT_object.append(_draw)
    bpy.utils.register_manual_map(guide)
    keys: Any = bpy.context.window_manager.keyconfigs.addon  # type: ignore[union-attr]
    if keys:
        keymap = keys.keymaps.new(name="Pose")
        item = keymap.keymap_items.new(PIE, "NONE", "PRESS")
        _keys.append((keymap, item))


def unregister() -> None:
    """Take all of it away."""
    bpy.utils.unregister_manual_map(guide)
    while _keys:
        keymap, item = _keys.pop()
        keymap.keymap_items.remove(item)
    bpy.types.VIEW3D_MT_object.remove(_draw)
    bpy.types.VIEW3D_MT_pose_ik.remove(_draw)
