"""Softness and stretch of a limb that has neither yet: sliders at 0, which make the feature as they are moved."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import Any

import bpy
from bpy.props import FloatProperty, PointerProperty
from bpy.types import PoseBone, PropertyGroup, Scene

from ..blender.words import Refused
from ..tasks.limbs import FEATURES, description_of, field_of
from ..tasks.setting import set_slider
from .finding import active_limb
from .remembering import Name, name_of

OFFERED = {feature.name: feature.label for feature in FEATURES if feature.is_offered}
"""The features whose sliders, which are called as they are, are always shown; and what people call them."""

PAUSE = 1.0
"""Seconds since a slider was moved during which it may still be dragged: Blender lets go of a field that it no longer
draws."""

_moved: dict[tuple[Name, str], float] = {}


def _property(name: str) -> Any:
    def read(_features: Any) -> float:
        limb = active_limb(bpy.context)
        return float(description_of(limb).sliders.get(name, 0.0)) if limb else 0.0

    def write(_features: Any, value: float) -> None:
        limb = active_limb(bpy.context)
        if limb is None or (value <= 0.0 and name not in description_of(limb).sliders):
            return
        key = name_of(limb), name
        with suppress(Refused):  # on a rig that takes no bones, where the panel shows it disabled
            set_slider(limb, name, value)
            _moved[key] = monotonic()

    return FloatProperty(
        name=OFFERED[name],
        description=field_of(name).description,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        get=read,
        set=write,
    )


class PlanarIKFeatures(PropertyGroup):
    """Planar IK: what the limb that is meant could have"""


PlanarIKFeatures.__annotations__ |= {name: _property(name) for name in OFFERED}


def is_slider_there(limb: PoseBone, name: str) -> bool:
    """Whether a limb has a feature, and nobody is still dragging the slider that added it."""
    return name in description_of(limb).sliders and monotonic() - _moved.get((name_of(limb), name), -PAUSE) >= PAUSE


SCENE: Any = Scene


def register() -> None:
    """Give scenes, whose settings Blender undoes, the sliders."""
    SCENE.planar_ik_features = PointerProperty(type=PlanarIKFeatures)


def unregister() -> None:
    """Take them away."""
    del SCENE.planar_ik_features
    _moved.clear()


CLASSES = (PlanarIKFeatures,)
