"""What an animator sees: operators, menus, the panel and the overlay."""

from functools import partial

import bpy

from ..blender.types import run_or_undo
from . import fields, finding, overlay, panel, preferences, state, translations
from .operators import adding, baking, converting, holding, repairing, setting, switching

ROOMS = (
    translations,
    finding,
    state,
    adding,
    setting,
    switching,
    holding,
    repairing,
    converting,
    baking,
    fields,
    overlay,
    panel,
    preferences,
)
"""What there is to register, each after what it uses."""

CLASSES = tuple(cls for room in ROOMS for cls in getattr(room, "CLASSES", ()))
LISTENING = [room for room in ROOMS if hasattr(room, "register")]
"""What has more to register than classes."""


def register() -> None:
    """Register every class in order, then what uses them."""
    classes = [(partial(bpy.utils.register_class, cls), partial(bpy.utils.unregister_class, cls)) for cls in CLASSES]
    run_or_undo([*classes, *((room.register, room.unregister) for room in LISTENING)])


def unregister() -> None:
    """Undo `register` in reverse."""
    for room in reversed(LISTENING):
        room.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
