"""Way 1: where things are over the frames from their F-curves alone, without evaluating a scene."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from bpy.types import Context, Object, PoseBone
from numpy.typing import NDArray

from ..rig.access import bones_of, path_to_bone, scene_of
from ..rig.animation import curves_of
from ..rig.chain import Chain
from ..rig.channels import SIZES
from ..rig.rotation import ARRAYS, to_quaternion
from ..rig.targets import Carrier
from .gathering import Places, carriers_of, gather
from .samples import rotation_channel
from .transforms import matrices


def places_from_curves(context: Context, chains: list[Chain], frames: NDArray[Any]) -> list[Places] | None:
    """Where the chains' roots, targets and poles are, or None if something besides plain F-curves moves them."""
    render = scene_of(context).render
    is_plain = render.frame_map_old == render.frame_map_new and all(map(_is_plain, carriers_of(chains)))
    if not is_plain:
        return None
    curves = _Curves(frames)
    return gather(chains, curves.world, curves.pose)


def _is_plain(carrier: Carrier) -> bool:
    ob, name = carrier
    if name and ob.pose and name in ob.pose.bones:
        return _is_plain_bone(ob, ob.pose.bones[name])
    data = ob.animation_data
    is_moved = data and (data.drivers or data.nla_tracks or _is_layered(data.action))
    moved: Any = ob  # the stubs don't know that vectors iterate
    has_delta = any((*moved.delta_location, *moved.delta_rotation_euler, *(size - 1.0 for size in moved.delta_scale)))
    has_delta = has_delta or tuple(moved.delta_rotation_quaternion) != (1.0, 0.0, 0.0, 0.0)
    is_held = ob.constraints or ob.rigid_body or (ob.parent and ob.parent_type != "OBJECT")
    return not (is_moved or is_held or has_delta or _has_animated_delta(ob))


def _is_plain_bone(ob: Object, bone: PoseBone) -> bool:
    armature: Any = ob.data
    rest = bone.bone
    inherits = rest.use_inherit_rotation and rest.inherit_scale == "FULL" and rest.use_local_location
    is_at_rest = armature.pose_position == "REST" or armature.animation_data
    return not (is_at_rest or any(other.constraints for other in bones_of(ob))) and (inherits or bone.parent is None)


def _is_layered(action: Any) -> bool:
    return bool(action and hasattr(action, "layers") and len(action.layers) > 1)


def _has_animated_delta(ob: Object) -> bool:
    data = ob.animation_data
    odd = ("delta_", "rotation_mode", "parent", "matrix_")
    return data is not None and any(
        curve.data_path.startswith(odd) or curve.data_path.endswith(".rotation_mode")
        for curve in curves_of(data.action, getattr(data, "action_slot", None))
    )


class _Curves:
    """Transforms over frames, each worked out once."""

    def __init__(self, frames: NDArray[Any]) -> None:
        self._frames = frames.tolist()
        self.world = cache(self._world)
        self.pose = cache(self._pose)
        self._curves = cache(_live_curves)

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

    def _transform(self, ob: Object, prefix: str, owner: Any) -> NDArray[Any]:
        mode = owner.rotation_mode
        rotation = to_quaternion(mode, [*self._channel(ob, prefix, owner, rotation_channel(mode)).T], ARRAYS)
        return matrices(
            self._channel(ob, prefix, owner, "location"), rotation, self._channel(ob, prefix, owner, "scale")
        )

    def _channel(self, ob: Object, prefix: str, owner: Any, name: str) -> NDArray[Any]:
        values = np.tile(np.array(getattr(owner, name), float), (len(self._frames), 1))
        for index in range(SIZES[name]):
            curve = self._curves(ob).get((prefix + name, index))
            if curve:
                values[:, index] = [curve.evaluate(frame) for frame in self._frames]
        return values


def _live_curves(ob: Object) -> dict[tuple[str, int], Any]:
    data = ob.animation_data
    if data is None:
        return {}
    curves = curves_of(data.action, getattr(data, "action_slot", None))
    return {
        (curve.data_path, curve.array_index): curve
        for curve in curves
        if not curve.mute and not (curve.group and curve.group.mute)
    }
