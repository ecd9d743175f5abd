"""What an animator sees: operators, menu entries and panels."""

import bpy

from . import overlay, translations
from .operators import baking, chains, converting, fk_ik, mending, picking, portable, presets, selecting, switching
from .panels import menus, panels, redrawing

ROOMS_WITH_CLASSES = (
    chains,
    converting,
    fk_ik,
    switching,
    mending,
    picking,
    selecting,
    portable,
    baking,
    menus,
    presets,
    panels,
)
CLASSES = tuple(cls for room in ROOMS_WITH_CLASSES for cls in room.CLASSES)
REGISTERED = (translations, selecting, menus, overlay, redrawing)
"""What there is to register beside classes."""


def register() -> None:
    """Register every class in order, then what uses them."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    for room in REGISTERED:
        room.register()


def unregister() -> None:
    """Undo `register` in reverse."""
    for room in reversed(REGISTERED):
        room.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
