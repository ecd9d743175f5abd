"""The contract's properties as Blender holds them: on the pose bone, in its group ``planar_ik``, and on the scene.

Blender reads the annotations of these classes, so that this module can't postpone their evaluation.
"""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, PointerProperty, StringProperty
from bpy.types import Context, PoseBone, PropertyGroup

from ..solver import Reach
from . import status
from .chain_settings import ChainSettings, on_live, tell_changed, was_set
from .data.access import bone_of, runs_on_rig
from .data.carrying import revive
from .legacy import notice, stored
from .settings import OVERRIDABLE, PREFIX, SETTINGS, Setting


def _aimed(group: Any, _context: Context) -> None:
    tell_changed(bone_of(group), is_aim=True)


def _object_property(name: str, description: str) -> Any:
    return PointerProperty(
        type=bpy.types.Object, name=name, description=description, update=_aimed, override=OVERRIDABLE
    )


def _bone_property(name: str, description: str) -> Any:
    return StringProperty(name=name, description=description, update=_aimed, override=OVERRIDABLE)


def _kept_property(default: tuple[float, ...]) -> Any:
    """A few numbers that the extension itself keeps with the file, and so with every undo step.

    What is at its default is not stored: Blender copies what a bone stores whenever it evaluates the pose.
    """
    return FloatVectorProperty(size=len(default), default=default, options={"HIDDEN"}, override=OVERRIDABLE)


KEPT = {
    f"{of}_{role}{kind}": default
    for of in ("own", "written")
    for role in ("upper", "lower")
    for kind, default in (("", (1.0, 0.0, 0.0, 0.0)), ("_scale", (1.0, 1.0, 1.0)))
}
"""What is kept of a limb whose solution stands in its channels: the animator's numbers, and what was written over
them."""


class PlanarIKChain(PropertyGroup):
    """Two-bone chain whose lower bone this is"""

    target: _object_property("Target", "Object that the tip goes to; an armature's bone is named below")
    subtarget: _bone_property("Bone", "Bone of the target armature that the tip goes to")
    pole_target: _object_property("Pole Target", "Object that the knee points to")
    pole_subtarget: _bone_property("Bone", "Bone of the pole's armature that the knee points to")

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
                "A limit of the knee, the influence or rounding keeps the tip away",
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

    runs_on: EnumProperty(
        name="Runs On",
        description="What poses the chain",
        items=[
            ("EXTENSION", "Extension", "The extension poses the chain whenever something moves"),
            ("RIG", "Rig", "The rig's own bones, constraints and drivers pose the chain, extension or not"),
        ],
        get=lambda self: int(runs_on_rig(bone_of(self))),
        options={"HIDDEN"},
    )

    is_posed: BoolProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    own_modes: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    own_inherit_scale: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)


def _reached_by_path(group: Any) -> PoseBone:
    """The bone of a group; who asks the group of an evaluated bone may be an animation."""
    bone = bone_of(group)
    if bone.id_data.is_evaluated:
        notice(bone)
    return bone


def _shared(setting: Setting) -> Any:
    """The property of a bone's group that reads and sets what the bone itself has."""

    def get(group: Any) -> Any:
        before = stored(group)
        if setting.name in before:  # a library override that was saved before is being read
            return before[setting.name]
        return setting.number_of(getattr(ChainSettings(_reached_by_path(group)), setting.name))

    def put(group: Any, number: Any) -> None:
        stored(group).pop(setting.name, None)
        setattr(ChainSettings(_reached_by_path(group)), setting.name, setting.value_of(number))

    return setting.elsewhere(get, put)


PlanarIKChain.__annotations__ |= {setting.name: _shared(setting) for setting in SETTINGS}
PlanarIKChain.__annotations__ |= {name: _kept_property(default) for name, default in KEPT.items()}


def _live_changed(scene_settings: Any, _context: Context) -> None:
    for listener in on_live:
        listener(scene_settings.id_data)
    for ob in scene_settings.id_data.objects:
        if ob.type == "ARMATURE":
            ob.update_tag(refresh={"DATA"})


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
    for setting in SETTINGS:
        setattr(POSE_BONE, PREFIX + setting.name, setting.on_bone(was_set))
    POSE_BONE.planar_ik = PointerProperty(type=PlanarIKChain, override=OVERRIDABLE)
    SCENE.planar_ik = PointerProperty(type=PlanarIKScene)
    if hasattr(bpy.data, "objects"):  # not as Blender starts; drivers that read settings failed while there were none
        revive(ob for ob in bpy.data.objects if ob.type == "ARMATURE")


def unregister() -> None:
    """Take them away; what is stored in files stays there."""
    del SCENE.planar_ik
    del POSE_BONE.planar_ik
    for setting in reversed(SETTINGS):
        delattr(POSE_BONE, PREFIX + setting.name)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
