"""Planar IK: exact two-bone limbs in their bend plane."""


def register() -> None:
    """Make the properties, operators and handlers known to Blender."""
    from . import cli, live, native, ui
    from .rig import legacy, properties
    from .rig.tasks import ends

    properties.register()
    legacy.register()
    ends.register()
    ui.register()
    live.register()
    native.register()
    cli.register()


def unregister() -> None:
    """Take them away again, in reverse order."""
    from . import cli, live, native, ui
    from .rig import legacy, properties
    from .rig.tasks import ends

    cli.unregister()
    native.unregister()
    live.unregister()
    ui.unregister()
    ends.unregister()
    legacy.unregister()
    properties.unregister()
