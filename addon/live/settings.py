"""What is set for a whole scene: whether limbs are posed live."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, PointerProperty
from bpy.types import Context, PropertyGroup, Scene

from .plan import tag_rigs

SCENE: Any = Scene


def _on_live(settings: Any, _context: Context) -> None:
    tag_rigs()


class PlanarIKScene(PropertyGroup):
    """Planar IK: settings of a scene"""

    live: BoolProperty(
        name="Live",
        description="Pose live limbs by IK; switched off, they show their FK pose",
        default=True,
        update=_on_live,
        override={"LIBRARY_OVERRIDABLE"},
    )


def register() -> None:
    """Give scenes these settings."""
    bpy.utils.register_class(PlanarIKScene)
    SCENE.planar_ik = PointerProperty(type=PlanarIKScene)


def unregister() -> None:
    """Take them away."""
    del SCENE.planar_ik
    bpy.utils.unregister_class(PlanarIKScene)
