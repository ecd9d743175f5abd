"""Way 1: where things are over the frames from their F-curves alone, without evaluating a scene."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from bpy.types import Context, Object, PoseBone

from ..rig.animation import curves_of
from ..rig.channels import SIZES
from ..rig.targets import Carrier
from .gathering import Chain, Places, carriers_of, gather
from .rotations import matrices, quaternions
from .samples import rotation_channel
from .scenery import bone_path


def places_from_curves(context: Context, chains: list[Chain], frames: np.ndarray) -> list[Places] | None:
    """Where the chains' roots, targets and poles are, or None if something besides plain F-curves moves them."""
    render = context.scene.render
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
    has_delta = any((*ob.delta_location, *ob.delta_rotation_euler, *(size - 1.0 for size in ob.delta_scale)))
    has_delta = has_delta or tuple(ob.delta_rotation_quaternion) != (1.0, 0.0, 0.0, 0.0)
    is_held = ob.constraints or ob.rigid_body or (ob.parent and ob.parent_type != "OBJECT")
    return not (is_moved or is_held or has_delta or _has_animated_delta(ob))


def _is_plain_bone(ob: Object, bone: PoseBone) -> bool:
    armature = ob.data
    rest = bone.bone
    inherits = rest.use_inherit_rotation and rest.inherit_scale == "FULL" and rest.use_local_location
    is_at_rest = armature.pose_position == "REST" or armature.animation_data
    return not (is_at_rest or any(other.constraints for other in ob.pose.bones)) and (inherits or bone.parent is None)


def _is_layered(action: Any) -> bool:
    return bool(action and hasattr(action, "layers") and len(action.layers) > 1)


def _has_animated_delta(ob: Object) -> bool:
    data = ob.animation_data
    odd = ("delta_", "rotation_mode", "parent", "matrix_")
    return bool(data) and any(
        curve.data_path.startswith(odd) or curve.data_path.endswith(".rotation_mode")
        for curve in curves_of(data.action, getattr(data, "action_slot", None))
    )


class _Curves:
    """Transforms over frames, each worked out once."""

    def __init__(self, frames: np.ndarray) -> None:
        self._frames = frames.tolist()
        self.world = cache(self._world)
        self.pose = cache(self._pose)
        self._curves = cache(_live_curves)

    def _world(self, ob: Object) -> np.ndarray:
        local = self._transform(ob, "", ob)
        if ob.parent is None:
            return local
        return self.world(ob.parent) @ np.array(ob.matrix_parent_inverse) @ local

    def _pose(self, ob: Object, name: str) -> np.ndarray:
        bone = ob.pose.bones[name]
        basis = self._transform(ob, f"{bone_path(name)}.", bone)
        rest = bone.bone.matrix_local
        if bone.parent is None:
            return np.array(rest) @ basis
        if bone.bone.use_connect:
            basis[:, :3, 3] = 0.0
        offset = bone.parent.bone.matrix_local.inverted() @ rest
        return self.pose(ob, bone.parent.name) @ np.array(offset) @ basis

    def _transform(self, ob: Object, prefix: str, owner: Any) -> np.ndarray:
        mode = owner.rotation_mode
        rotation = quaternions(mode, self._channel(ob, prefix, owner, rotation_channel(mode)))
        return matrices(
            self._channel(ob, prefix, owner, "location"), rotation, self._channel(ob, prefix, owner, "scale")
        )

    def _channel(self, ob: Object, prefix: str, owner: Any, name: str) -> np.ndarray:
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
