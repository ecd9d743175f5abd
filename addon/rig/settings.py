"""What an animator sets on a chain, and what the chain answers: the properties of the contract.

Blender reads the annotations of these classes, so that this module can't postpone their evaluation.
"""

import math
from collections.abc import Callable
from typing import Any, Literal

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Context, PropertyGroup

from ..solver import Reach
from . import status

OVERRIDABLE: set[Literal["LIBRARY_OVERRIDABLE"]] = {"LIBRARY_OVERRIDABLE"}

on_change: list[Callable[[Any, bool], None]] = []
"""Called with a chain's settings after one of them was set, and whether that one points to an object."""


def _changed(settings: Any, _context: Context) -> None:
    for listener in on_change:
        listener(settings, False)


def _pointed(settings: Any, _context: Context) -> None:
    for listener in on_change:
        listener(settings, True)


def _object_property(name: str, description: str) -> Any:
    return PointerProperty(
        type=bpy.types.Object, name=name, description=description, update=_pointed, override=OVERRIDABLE
    )


def _bone_property(name: str, description: str) -> Any:
    return StringProperty(name=name, description=description, update=_changed, override=OVERRIDABLE)


def _factor_property(name: str, description: str, default: float, minimum: float = 0.0) -> Any:
    return FloatProperty(
        name=name,
        description=description,
        default=default,
        min=minimum,
        max=1.0,
        subtype="FACTOR",
        update=_changed,
        override=OVERRIDABLE,
    )


def _angle_property(name: str, description: str, default: float) -> Any:
    return FloatProperty(
        name=name,
        description=description,
        default=default,
        min=0.0,
        max=math.pi,
        subtype="ANGLE",
        update=_changed,
        override=OVERRIDABLE,
    )


def _turn_property(name: str, description: str) -> Any:
    return FloatProperty(name=name, description=description, subtype="ANGLE", update=_changed, override=OVERRIDABLE)


def _kept_property(default: tuple[float, ...]) -> Any:
    """A few numbers that the extension itself keeps with the file, and so with every undo step.

    What is at its default is not stored: Blender copies what a bone stores whenever it evaluates the pose.
    """
    return FloatVectorProperty(size=len(default), default=default, options={"HIDDEN"}, override=OVERRIDABLE)


class PlanarIKChain(PropertyGroup):
    """Two-bone chain whose lower bone this is"""

    enabled: BoolProperty(
        name="Enabled",
        description="Pose this bone and its parent so that this bone's tail goes to the target",
        default=False,
        update=_changed,
        override=OVERRIDABLE,
    )
    target: _object_property("Target", "Object that the tip goes to; an armature's bone is named below")
    subtarget: _bone_property("Bone", "Bone of the target armature that the tip goes to")
    plane: EnumProperty(
        name="Plane",
        description="The plane that the limb bends in",
        items=[
            (
                "REST",
                "Hinge",
                "The plane of the limb at rest, carried by its parent; the target is projected onto it",
                0,
            ),
            ("SWING", "Free", "The plane of the limb at rest, swung the shortest way to where the target is", 2),
            ("POLE", "Pole", "The plane through root, target and pole", 1),
        ],
        update=_changed,
        override=OVERRIDABLE,
    )
    pole_target: _object_property("Pole Target", "Object that the knee points to")
    pole_subtarget: _bone_property("Bone", "Bone of the pole's armature that the knee points to")
    bend: _factor_property(
        "Bend",
        "Side of the line from root to target on which the knee lies: 1 as at rest or towards the pole, -1 the mirror "
        "image; between them the knee swings round the line",
        1.0,
        -1.0,
    )
    hinge_angle: _turn_property("Hinge Angle", "Turn of the axis that the limb bends about, round the upper bone")
    lower_twist: _turn_property("Lower Twist", "Turn of the lower bone about its own length")
    influence: _factor_property("Influence", "Share of the solution in the pose; the rest is the bones' own pose", 1.0)
    softness: _factor_property("Softness", "Part of the limb's length over which it eases into full extension", 0.0)
    stretch: _factor_property("Stretch", "How far the bones lengthen past reach", 0.0)
    stretch_max: FloatProperty(
        name="Stretch Limit",
        description="Largest factor by which the bones lengthen",
        default=2.0,
        min=1.0,
        soft_max=4.0,
        update=_changed,
        override=OVERRIDABLE,
    )
    stretch_volume: EnumProperty(
        name="Stretch Volume",
        description="What becomes of the bones' width while they lengthen",
        items=[
            ("LENGTH", "Length", "Only the length changes"),
            ("UNIFORM", "Uniform", "The width changes with the length"),
            ("VOLUME", "Volume", "The bones get thinner and keep their volume"),
        ],
        update=_changed,
        override=OVERRIDABLE,
    )
    min_angle: _angle_property("Smallest Angle", "Smallest inner angle of the knee", 0.0)
    max_angle: _angle_property("Largest Angle", "Largest inner angle of the knee", math.pi)

    reach: EnumProperty(
        name="Reach",
        description="Whether the tip came to the target",
        items=[
            ("REACHED", "Reached", "The tip is on the target", int(Reach.REACHED)),
            ("TOO_FAR", "Too Far", "The target is farther than the limb is long", int(Reach.TOO_FAR)),
            ("TOO_NEAR", "Too Near", "The target is nearer than the limb folds", int(Reach.TOO_NEAR)),
            ("OFF_PLANE", "Off Plane", "The target is beside the plane that the hinge bends in", int(Reach.OFF_PLANE)),
            (
                "LIMITED",
                "Limited",
                "A limit of the knee's angle or the influence keeps the tip away",
                int(Reach.LIMITED),
            ),
            ("INVALID", "Invalid", "The chain can't be posed; its message says why", int(Reach.INVALID)),
        ],
        get=lambda self: status.reach(self).value,
        options={"HIDDEN"},
    )
    message: StringProperty(
        name="Message",
        description="Why the chain can't be posed",
        get=status.message,
        options={"HIDDEN"},
    )
    residual: FloatProperty(
        name="Residual",
        description="Distance from tip to target",
        get=status.residual,
        subtype="DISTANCE",
        options={"HIDDEN"},
    )

    is_posed: BoolProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    own_upper: _kept_property((1.0, 0.0, 0.0, 0.0))
    own_lower: _kept_property((1.0, 0.0, 0.0, 0.0))
    own_upper_scale: _kept_property((1.0, 1.0, 1.0))
    own_lower_scale: _kept_property((1.0, 1.0, 1.0))
    own_inherit_scale: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)


def _live_changed(scene_settings: Any, _context: Context) -> None:
    for ob in scene_settings.id_data.objects:
        if ob.type == "ARMATURE":
            ob.update_tag()


class PlanarIKScene(PropertyGroup):
    """Planar IK in this scene"""

    live: BoolProperty(
        name="Live",
        description="Pose all chains whenever the frame changes or something is edited",
        default=True,
        update=_live_changed,
    )
    show_overlay: BoolProperty(
        name="Show Limb Geometry",
        description=(
            "Draw bend plane, reach, limits and the other solution of selected chains, and of chains whose target is "
            "selected"
        ),
        default=True,
    )


CLASSES = (PlanarIKChain, PlanarIKScene)

# The stubs don't know what extensions add; `access` does.
POSE_BONE: Any = bpy.types.PoseBone
SCENE: Any = bpy.types.Scene


def register() -> None:
    """Give every pose bone and every scene its settings."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    POSE_BONE.planar_ik = PointerProperty(type=PlanarIKChain, override=OVERRIDABLE)
    SCENE.planar_ik = PointerProperty(type=PlanarIKScene)


def unregister() -> None:
    """Take them away; what is stored in files stays there."""
    del SCENE.planar_ik
    del POSE_BONE.planar_ik
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
