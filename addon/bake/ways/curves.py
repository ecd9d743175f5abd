"""Way 1: where things are over the frames from their F-curves alone, without evaluating a scene."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from bpy.types import Context, Object, PoseBone
from numpy.typing import NDArray

from ...live.channels import SIZES
from ...rig.access import bones_of, path_to_bone, scene_of, setting_path
from ...rig.animation import curves_of
from ...rig.rotation import ARRAYS, rotation_channel, to_quaternion
from ...rig.settings import PREFIX, SWITCH
from ..scope import curve_times
from .gathering import Course, gather
from .sampling import Sampler
from .steady import Steady, carriers_of
from .transforms import matrices


def courses_from_curves(context: Context, chains: list[Steady], frames: NDArray[Any]) -> list[Course] | None:
    """The chains over the frames, or None if something besides plain F-curves moves what they depend on."""
    is_held = cache(_holds_bones)
    if not all(_is_plain(*each, is_held) for each in carriers_of(chains)):
        return None
    with Sampler(curve_times(scene_of(context), frames)) as sampler:
        return gather(chains, _Curves(sampler))


def _is_plain(ob: Object, name: str, is_held: Any) -> bool:
    if name and ob.pose and name in ob.pose.bones:
        return not is_held(ob) and _is_plain_bone(ob.pose.bones[name])
    data = ob.animation_data
    if data and (data.drivers or data.nla_tracks):
        return False
    if ob.constraints or ob.rigid_body or (ob.parent and not _is_plain_parent(ob)):
        return False
    moved: Any = ob  # the stubs don't know that vectors iterate
    has_delta = any((*moved.delta_location, *moved.delta_rotation_euler, *(size - 1.0 for size in moved.delta_scale)))
    has_delta = has_delta or tuple(moved.delta_rotation_quaternion) != (1.0, 0.0, 0.0, 0.0)
    return not (has_delta or _has_animated_delta(ob))


def _is_plain_parent(ob: Object) -> bool:
    parent: Any = ob.parent
    is_path = parent.type == "CURVE" and parent.data.use_path  # along which it carries its children
    return ob.parent_type == "OBJECT" and not is_path


def _holds_bones(ob: Object) -> bool:
    """Whether more than their channels poses an armature's bones."""
    armature: Any = ob.data
    is_at_rest = armature.pose_position == "REST" or armature.animation_data
    return bool(is_at_rest or any(bone.constraints for bone in bones_of(ob)))


def _is_plain_bone(bone: PoseBone) -> bool:
    rest = bone.bone
    inherits = rest.use_inherit_rotation and rest.inherit_scale == "FULL" and rest.use_local_location
    return inherits or bone.parent is None


def _has_animated_delta(ob: Object) -> bool:
    data = ob.animation_data
    odd = ("delta_", "rotation_mode", "parent", "matrix_")
    return data is not None and any(
        curve.data_path.startswith(odd) or curve.data_path.endswith(".rotation_mode")
        for curve in curves_of(data.action, getattr(data, "action_slot", None))
    )


class _Curves:
    """A `Source` that works everything out from F-curves, once."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self._count = len(sampler.frames)
        self.world = cache(self._world)
        self.pose = cache(self._pose)

    def _world(self, ob: Object) -> NDArray[Any]:
        local = self._transform(ob, "", ob)
        if ob.parent is None:
            return local
        world: NDArray[Any] = self.world(ob.parent) @ np.array(ob.matrix_parent_inverse) @ local
        return world

    def _pose(self, ob: Object, name: str) -> NDArray[Any]:
        bone = bones_of(ob)[name]
        basis = self._transform(ob, f"{path_to_bone(name)}.", bone)
        rest = bone.bone.matrix_local
        pose: NDArray[Any]
        if bone.parent is None:
            pose = np.array(rest) @ basis
            return pose
        if bone.bone.use_connect:
            basis[:, :3, 3] = 0.0
        offset = bone.parent.bone.matrix_local.inverted() @ rest
        pose = self.pose(ob, bone.parent.name) @ np.array(offset) @ basis
        return pose

    def origin(self, ob: Object) -> NDArray[Any]:
        """Without a parent, the location as it is animated."""
        return self.world(ob)[:, :3, 3] if ob.parent else self._channel(ob, "", ob, "location")

    def setting(self, ob: Object, lower: str, name: str) -> NDArray[Any]:
        """As Blender sets it: within its limits, in single precision, a switch on from 1."""
        values: Any = self._sampler.sample(ob, setting_path(lower, name), 0)
        if name == SWITCH:
            on: NDArray[Any] = values > 1.0 - np.finfo(np.float32).eps
            return on
        limits: Any = bones_of(ob)[lower].bl_rna.properties[PREFIX + name]
        within: NDArray[Any] = np.clip(values, limits.hard_min, limits.hard_max)
        return within

    def rotation(self, ob: Object, bone: str) -> NDArray[Any]:
        """The channel of the bone's rotation mode."""
        owner = bones_of(ob)[bone]
        return self._channel(ob, f"{path_to_bone(bone)}.", owner, rotation_channel(owner.rotation_mode))

    def _transform(self, ob: Object, prefix: str, owner: Any) -> NDArray[Any]:
        mode = owner.rotation_mode
        rotation = to_quaternion(mode, [*self._channel(ob, prefix, owner, rotation_channel(mode)).T], ARRAYS)
        return matrices(
            self._channel(ob, prefix, owner, "location"), rotation, self._channel(ob, prefix, owner, "scale")
        )

    def _channel(self, ob: Object, prefix: str, owner: Any, name: str) -> NDArray[Any]:
        values = np.tile(np.array(getattr(owner, name), float), (self._count, 1))
        for index in range(SIZES[name]):
            sampled = self._sampler.sample(ob, prefix + name, index)
            if sampled is not None:
                values[:, index] = sampled
        return values
