"""What an animator sees: operators, menus, the panel and the overlay."""

from functools import partial

import bpy

from ..blender.handlers import run_or_undo
from . import (
    dots,
    edited,
    features,
    manual,
    menus,
    overlay,
    panel,
    preferences,
    remembering,
    sections,
    translations,
)
from .operators import (
    adding,
    baking,
    converting,
    cylinders,
    holding,
    planting,
    repairing,
    selecting,
    setting,
    switching,
)

WITH_CLASSES = (
    adding,
    selecting,
    setting,
    switching,
    holding,
    planting,
    repairing,
    converting,
    cylinders,
    baking,
    menus,
    features,
    overlay,
    panel,
    sections,
    preferences,
)
CLASSES = tuple(cls for room in WITH_CLASSES for cls in room.CLASSES)
ROOMS = (translations, manual, remembering, dots, features, menus, preferences, overlay, edited)
"""What there is to register beside classes."""


def register() -> None:
    """Register every class in order, then what uses them."""
    classes = [(partial(bpy.utils.register_class, cls), partial(bpy.utils.unregister_class, cls)) for cls in CLASSES]
    run_or_undo([*classes, *((room.register, room.unregister) for room in ROOMS)])


def unregister() -> None:
    """Undo `register` in reverse."""
    for room in reversed(ROOMS):
        room.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
