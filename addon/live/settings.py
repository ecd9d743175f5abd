"""What is set for a whole scene: whether limbs are posed live, and whether the overlay is shown."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, PointerProperty
from bpy.types import Context, PropertyGroup, Scene

SCENE: Any = Scene


def _on_live(settings: Any, _context: Context) -> None:
    from .handlers import tag_rigs  # which asks for the settings

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
    show_overlay: BoolProperty(
        name="Limbs", description="Show limbs, their targets and how far these are out of reach", default=True
    )
    show_reach: BoolProperty(name="Reach", description="Show all of how far the limb goes, stretched too")


def is_live(scene: Scene) -> bool:
    """Whether limbs of a scene are to be posed."""
    return bool(scene.planar_ik.live)  # type: ignore[attr-defined]


def register() -> None:
    """Give scenes these settings."""
    bpy.utils.register_class(PlanarIKScene)
    SCENE.planar_ik = PointerProperty(type=PlanarIKScene)


def unregister() -> None:
    """Take them away."""
    del SCENE.planar_ik
    bpy.utils.unregister_class(PlanarIKScene)
