"""The built zip, installed in the Blender that this Python has as a module, as a person would install it."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import NoReturn

from . import package

MODULE = "bl_ext.user_default.planar_ik"
"""What Blender calls the extension once it is in the user's own repository."""

ZIP = "PLANAR_IK_ZIP"
"""The variable that names the zip to install; without it, one is built from the tree."""

SOURCE = bool(os.environ.get("PLANAR_IK_SOURCE"))
"""Whether the tree itself is registered, without a zip: while the extension is being written."""


def fresh_user_folder() -> TemporaryDirectory[str]:
    """Give Blender an empty folder for preferences, extensions and the pose that it copies.

    To be called before bpy is first imported: what is copied lies in one file for all Blenders that share a ``TMPDIR``.
    """
    if "bpy" in sys.modules:
        raise RuntimeError("bpy was imported before its user folder was set: it has read somebody's preferences")
    folder = TemporaryDirectory(prefix="planar-ik-user-")
    os.environ["BLENDER_USER_RESOURCES"] = os.environ["TMPDIR"] = folder.name
    return folder


def install() -> None:
    """Install and enable the zip, or register the tree."""
    import bpy

    if SOURCE:
        _register_tree()
        return
    named = os.environ.get(ZIP)
    path = Path(named) if named else package.build(Path(sys.executable))
    bpy.ops.extensions.package_install_files(filepath=str(path), repo="user_default", enable_on_install=True)
    if MODULE not in bpy.context.preferences.addons:
        raise RuntimeError(f"Blender could not enable the extension in {path}: its own words are above")


def _register_tree() -> None:
    import_module("addon").register()


def enable() -> None:
    """Enable the extension where it is installed but not enabled, as after a test that disabled it."""
    import bpy

    if SOURCE:
        if not hasattr(bpy.types.PoseBone, "planar_ik"):
            _register_tree()
    elif MODULE not in bpy.context.preferences.addons:
        bpy.ops.preferences.addon_enable(module=MODULE)


def disable() -> None:
    """Disable the extension, as a person would."""
    import bpy

    if SOURCE:
        import_module("addon").unregister()
    else:
        bpy.ops.preferences.addon_disable(module=MODULE)


def addon(name: str = "addon") -> ModuleType:
    """A module of the extension: ``addon``, or with a name that of a room or file in it, as
    ``limb.storage``."""
    inside = name if name.split(".", maxsplit=1)[0] == "addon" else f"addon.{name}"
    return import_module(inside if SOURCE else f"{MODULE}.{inside}")


def run(work: Callable[[], int], folder: TemporaryDirectory[str] | None = None) -> NoReturn:
    """Do something in Blender with a fresh user folder, and end this process with the status that it gives."""
    user = folder or fresh_user_folder()
    status = 1
    try:
        status = work()
    except BaseException:  # noqa: BLE001 (whatever happened, leave by the one way that cannot hang)
        traceback.print_exc()
    leave(status, user)


def leave(status: int, folder: TemporaryDirectory[str]) -> NoReturn:
    """End this process at once: bpy now and then waits for ever in a destructor after Python has finished."""
    import bpy

    folder.cleanup()
    with suppress(OSError):  # Blender's own folder for this session, empty unless something crashed
        Path(bpy.app.tempdir).rmdir()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
