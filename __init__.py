"""Planar IK: exact limbs of two to four bones for Blender. Everything that runs is in ``addon``."""


def register() -> None:
    """Add the extension to Blender."""
    # Imported here: Blender wants this file beside the manifest, and pytest reads it where there may be no bpy.
    from . import addon

    addon.register()


def unregister() -> None:
    """Take everything that ``register`` added away again."""
    from . import addon

    addon.unregister()
