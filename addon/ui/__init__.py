"""What an animator sees: operators, menu entries and panels."""

import bpy

from . import baking, fk_ik, menus, operators, overlay, panels

CLASSES = (*operators.CLASSES, *fk_ik.CLASSES, *baking.CLASSES, *panels.CLASSES)


def register() -> None:
    """Register every class in order, then the menu entries that use them."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    menus.register()
    overlay.register()


def unregister() -> None:
    """Undo `register` in reverse."""
    overlay.unregister()
    menus.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
