"""The preferences: what the buttons for adding IK make, unless somebody says otherwise."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import EnumProperty
from bpy.types import AddonPreferences, Context

PACKAGE = __package__.rpartition(".addon")[0] if ".addon" in __package__ else "addon"
"""What Blender calls the extension; the tree itself is registered as ``addon``."""

CONTROLS: Any = {
    "name": "Controls",
    "description": "What is made for the limb to follow, unless a target is selected",
    "items": [
        ("BONES", "Bones", "Control bones of the rig"),
        ("EMPTIES", "Empties", "Empties in the active collection"),
    ],
}
MODE: Any = {
    "name": "Mode",
    "description": "What poses the limb",
    "items": [
        (
            "RIG",
            "Rig",
            "Bones, constraints and drivers of the rig: works without the add-on, and leaves the limb's FK pose free",
        ),
        ("LIVE", "Live", "The add-on: nothing is added to the rig"),
    ],
}


class PlanarIKPreferences(AddonPreferences):
    """What new limbs are like"""

    bl_idname = PACKAGE

    controls: EnumProperty(**CONTROLS)
    mode: EnumProperty(**MODE)

    def draw(self, _context: Context) -> None:
        """Two choices."""
        layout: Any = self.layout
        layout.use_property_split = True
        layout.prop(self, "controls")
        layout.prop(self, "mode")


def preferred(context: Context) -> Any:
    """The preferences, or None where the tree runs without being installed."""
    found = context.preferences.addons.get(PACKAGE) if context.preferences else None
    return found.preferences if found else None


def register() -> None:
    """Make them known."""
    bpy.utils.register_class(PlanarIKPreferences)


def unregister() -> None:
    """Take them away."""
    bpy.utils.unregister_class(PlanarIKPreferences)
