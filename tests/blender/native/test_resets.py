"""Whoever resets the pose of all bones, as exporters, scripts and people do, changes nothing of what a limb on the rig
does, with the extension switched off: each mechanism has all that it needs in rest poses, constraints and drivers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from scripts import installed
from tests.blender.natives import make_portable
from tests.blender.rigs import (
    IN_ITS_AXES,
    LEG,
    activate,
    frame_of,
    joints,
    length,
    make_chain,
    make_empty,
    make_rig,
    put,
    update,
)

SAME = 1e-6
"""How far joints may be off, in lengths of the limb: a bone's matrix loses that much where it is read and set."""

BEHAVIOURS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "hinge": ({"plane": "REST"}, ()),
    "free": ({"plane": "SWING", "bend": -1.0}, ()),
    "pole": ({"plane": "POLE", "influence": 0.6}, ()),
    "knee between": ({"plane": "REST", "bend": 0.3}, ("bend",)),
    "free knee between": ({"plane": "SWING", "bend": -0.4}, ("bend",)),
    "turning hinge": ({"plane": "REST", "hinge_angle": 2.9, "lower_twist": 2.5}, ("hinge_angle", "lower_twist")),
    "turning all": ({"plane": "POLE", "hinge_angle": 0.7, "bend": 0.5}, ("hinge_angle", "bend", "lower_twist")),
    "turning free": ({"plane": "SWING", "hinge_angle": -2.4}, ("hinge_angle",)),
    "stretched": ({"plane": "SWING", "stretch": 0.8, "stretch_volume": "VOLUME", "softness": 0.1}, ()),
}
"""What a limb does: its settings, and those of them that are animated."""


def carried(ob: Any) -> None:
    """A limb under a bone that is turned and scaled."""
    ob.pose.bones["hip"].matrix_basis = Matrix.LocRotScale((0.1, 0, 0.2), Euler((0.2, 0.4, 0.1)), (1.3, 1.3, 1.3))


def mirrored(ob: Any) -> None:
    """A limb whose lower bone is not turned with the upper one, which is mirrored."""
    ob.data.bones["shin"].use_inherit_rotation = False
    ob.pose.bones["hip"].scale = (-1.0, 1.0, 1.0)


def without_shear(ob: Any) -> None:
    """A limb whose lower bone takes scale over by its own axes, of a parent that is scaled."""
    ob.data.bones["shin"].inherit_scale = "FIX_SHEAR"
    ob.pose.bones["hip"].scale = (1.2, 1.2, 1.2)


def mechanism(ob: Any) -> list[Any]:
    return [bone for bone in ob.pose.bones if bone.name not in ("hip", "thigh", "shin")]


def cleared(ob: Any) -> None:
    """As people clear bones that they can see and select."""
    for collection in ob.data.collections_all:
        collection.is_visible = True
    for bone in mechanism(ob):
        bone.bone.hide = bone.bone.hide_select = False
        for lock in ("lock_location", "lock_rotation", "lock_scale"):
            setattr(bone, lock, (False, False, False))
        bone.lock_rotation_w = bone.lock_rotations_4d = False
    activate(ob)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        (bone.bone if bpy.app.version < (5, 0) else bone).select = bone.name.startswith("MCH-")
    assert bpy.ops.pose.transforms_clear() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")


def made_identity(ob: Any) -> None:
    """As Blender's glTF exporter does."""
    for bone in mechanism(ob):
        bone.matrix_basis = Matrix()


def set_again(ob: Any) -> None:
    """As Blender's FBX exporter does."""
    found = [bone.matrix_basis.copy() for bone in mechanism(ob)]
    for bone, matrix in zip(mechanism(ob), found, strict=True):
        bone.matrix_basis = matrix


def switched_off() -> None:
    bpy.ops.preferences.addon_disable(module=installed.MODULE)


def played(ob: Any, target: Any, places: list[Any], act: Callable[[Any], None] | None = None) -> list[np.ndarray]:
    """The joints with the target at some places, at each of which a reset may happen first."""
    found = []
    for place in places:
        put(target, location=place)
        if act:
            act(ob)
            update()
        found.append(np.array(joints(ob)))
    return found


def leg_on_rig(does: str, bones: Any, carry: Callable[[Any], None]) -> tuple[Any, Any, list[Any]]:
    """A leg that runs on the rig, its target, and places for that."""
    ob = make_rig(bones)
    carry(ob)
    update()
    target = make_empty()
    frame = frame_of(ob)
    places = [frame.target(share, angle, 0.1) for share, angle in ((0.4, 0.4), (0.7, 2.9), (0.9, -2.0), (1.3, 0.2))]
    settings, animated = BEHAVIOURS[does]
    make_chain(ob, target, pole_target=make_empty("pole", (1, 5, 0)), **settings)
    for name in animated:
        ob.pose.bones["shin"].keyframe_insert(f"planar_ik_{name}", frame=1)
    make_portable(ob)
    return ob, target, places


@pytest.mark.parametrize("act", [cleared, made_identity, set_again])
@pytest.mark.parametrize("carry", [carried, mirrored, without_shear])
@pytest.mark.parametrize("bones", [LEG, IN_ITS_AXES], ids=["askew", "in its axes"])
@pytest.mark.parametrize("does", BEHAVIOURS)
def test_a_reset_of_all_bones_changes_nothing(does: str, bones: Any, carry: Any, act: Any) -> None:
    ob, target, places = leg_on_rig(does, bones, carry)
    assert ob.pose.bones["shin"].planar_ik.runs_on == "RIG"
    switched_off()
    wanted = played(ob, target, places)
    for again in (played(ob, target, places, act), played(ob, target, places)):
        assert np.abs(np.array(again) - wanted).max() < SAME * length(ob)
    installed.enable()
    assert ob.pose.bones["shin"].planar_ik.reach != "INVALID"


@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION", "AXIS_ANGLE"])
@pytest.mark.parametrize("carry", [carried, mirrored])
@pytest.mark.parametrize("does", BEHAVIOURS)
def test_one_rotation_mode_for_all_bones_changes_nothing(does: str, carry: Any, mode: Any) -> None:
    """As scripts set it; the extension gives the mechanism its own again as soon as Blender evaluates that."""
    ob, target, places = leg_on_rig(does, LEG, carry)
    chain = ob.pose.bones["shin"].planar_ik
    before = played(ob, target, places)
    said = (chain.reach, chain.message)
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    update()
    update()  # what the extension set is evaluated
    assert np.abs(np.array(played(ob, target, places)) - before).max() < SAME * length(ob)
    assert (chain.reach, chain.message) == said
    assert {bone.rotation_mode for bone in ob.pose.bones if not bone.name.startswith("MCH-")} == {mode}
