"""Bones that let an animator go on turning the upper bone of a limb without a pole, as in Rigify, to swing its knee.

Blender's constraint starts from the bones' own pose, so that to turn the upper bone turns the plane that the limb bends
in. A chain's bones hide their own pose. So the chain gets an upper bone of its own; it hangs on a bone that is posed
as the animator's is, and the animator's copies what becomes of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bpy.types import Context, PoseBone

from ..data import fcurves
from ..data.access import ArmatureObject, bones_of, path_to_bone, takes_bones, upper_of
from ..data.editing import edit_mode
from ..data.rotation import rotation_channel
from ..data.unkeyed import frame_held
from .converting import Solvers

TURN, LIMB = "MCH-turn-", "MCH-limb-"
"""What the names of the bones begin with, before that of the animator's: of the one that is turned, of the limb's."""

COPY = "Copy Limb"
"""The constraint by which the animator's bone is where the limb's is."""

SAME_AT_REST = ("head", "tail", "roll", "parent", "use_connect", "inherit_scale", "use_inherit_rotation")
SAME_IN_IK = ("ik_stretch", *(f"{kind}_{axis}" for kind in ("lock_ik", "ik_stiffness") for axis in "xyz"))


class TurnedLimb(NamedTuple):
    """A limb of an animator's upper bone, by names: edits move bones in memory."""

    object: ArmatureObject
    upper: str
    lower: str


def is_turned_by_hand(solvers: Solvers) -> bool:
    """Whether an animator may turn the upper bone of a limb to swing its knee: its pole can be switched off, and its
    rotation is not locked. A linked rig gets no bones."""
    ob, upper = solvers.lower.id_data, solvers.lower.parent
    if upper is None or len(solvers.all) < 2 or not takes_bones(ob):
        return False
    return not all(upper.lock_rotation)


def insert(context: Context, lower: PoseBone) -> TurnedLimb:
    """Give a limb an upper bone of its own, which moves nothing."""
    ob, upper = lower.id_data, upper_of(lower)
    limb = TurnedLimb(ob, upper.name, lower.name)
    with edit_mode(context, ob):
        bones = ob.data.edit_bones
        above = bones[limb.upper]
        turn, own = bones.new(TURN + limb.upper), bones.new(LIMB + limb.upper)
        for made in (turn, own):
            for name in SAME_AT_REST:
                setattr(made, name, getattr(above, name))
            made.use_deform = False
            for collection in bones[limb.lower].collections:
                collection.assign(made)
        own.parent, own.use_connect = turn, False
        own.inherit_scale, own.use_inherit_rotation = "FULL", True
        bones[limb.lower].parent = own
    with frame_held():
        _pose(limb)
    return limb


def take_out(context: Context, limb: TurnedLimb) -> None:
    """Take the bones and constraints away again that `insert` made."""
    ob = limb.object
    upper = ob.pose.bones[limb.upper]
    upper.constraints.remove(upper.constraints[COPY])
    for channel in (_channel(upper), "location", "scale"):
        ob.pose.bones[TURN + limb.upper].driver_remove(channel)
    with edit_mode(context, ob):
        bones = ob.data.edit_bones
        bones[limb.lower].parent = bones[limb.upper]
        for start in (LIMB, TURN):
            bones.remove(bones[start + limb.upper])


def _pose(limb: TurnedLimb) -> None:
    """Move one of the new bones as the animator's, give the other what its IK needs, and let the animator's copy it."""
    bones = bones_of(limb.object)
    upper, turn, own = (bones[start + limb.upper] for start in ("", TURN, LIMB))
    turn.rotation_mode, turn.location, turn.scale = upper.rotation_mode, upper.location, upper.scale
    setattr(turn, _channel(upper), getattr(upper, _channel(upper)))
    is_euler = _channel(upper) == "rotation_euler"
    for index in range(3 if is_euler else 4):
        if not (is_euler and upper.lock_rotation[index]):
            _drive(limb, _channel(upper), index)
    for channel, locks in (("location", upper.lock_location), ("scale", upper.lock_scale)):
        for index in range(3):
            if not locks[index]:
                _drive(limb, channel, index)
    for name in SAME_IN_IK:
        setattr(own, name, getattr(upper, name))
    own.lock_rotation = turn.lock_rotation = (True, True, True)
    copy: Any = upper.constraints.new("COPY_TRANSFORMS")
    copy.name, copy.target, copy.subtarget = COPY, limb.object, own.name


def _drive(limb: TurnedLimb, channel: str, index: int) -> None:
    """Have a channel be what the animator sets it to: read as a property, which hangs on nothing that it moves."""
    curve: Any = bones_of(limb.object)[TURN + limb.upper].driver_add(channel, index)
    fcurves.clear(curve)
    curve.driver.type = "SUM"
    source = curve.driver.variables.new().targets[0]
    source.id, source.data_path = limb.object, f"{path_to_bone(limb.upper)}.{channel}[{index}]"


def _channel(bone: PoseBone) -> str:
    return rotation_channel(bone.rotation_mode)
