"""Moving what limbs follow, as by hand: through its own channels, of which those that need not change keep their
numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign
from typing import Any, NamedTuple

from bpy.types import Context, Object, PoseBone
from mathutils import Matrix, Quaternion, Vector

from ..blender.animation import driver_of, drivers_of
from ..blender.changes import Change
from ..blender.dependencies import Dependencies, driver_targets
from ..blender.rotation import rotation_channel, set_turn, to_quaternion
from ..blender.types import bones_of, path_to_custom, split_path, view_layer_of
from .follow import place_of
from .home import bones_of_limb, limbs_of
from .settings import SLIDER
from .words import Refused

AWAY = 1e-5
"""How far what was moved may be from where it was put, next to how far that is from the world's origin."""


class Move(NamedTuple):
    """Where in the world an object or a bone is to be put, and as what it is to be turned there, if it is turned."""

    object: Object
    bone: str
    position: Vector
    turned: Quaternion | None = None

    @property
    def owner(self) -> Any:
        """The bone or the object."""
        return bones_of(self.object)[self.bone] if self.bone else self.object


def move(context: Context, moves: Sequence[Move]) -> list[Change]:
    """Put objects and bones where they are to be; one that hangs on another is put there again after that."""
    changes = [Change.of(each.object, each.bone, "location") for each in moves]
    for each in moves:
        if each.turned:
            channel = rotation_channel(each.owner.rotation_mode)
            changes.append(Change.of(each.object, each.bone, channel))
    left = [*moves]
    for _ in moves:
        for each in left:
            _put(each)
        view_layer_of(context).update()
        left = [each for each in moves if _is_away(context, each)]
        if not left:
            break
    return changes


def _is_away(context: Context, each: Move) -> bool:
    now = place_of(each.object, each.bone, context.evaluated_depsgraph_get())
    return now is None or (now - each.position).length > AWAY * (1.0 + each.position.length)


def _put(each: Move) -> None:
    owner = each.owner
    name, to_own = ("matrix", each.object.matrix_world.inverted_safe()) if each.bone else ("matrix_world", Matrix())
    channel = rotation_channel(owner.rotation_mode)
    rotation, scale = getattr(owner, channel)[:], owner.scale[:]
    moved = getattr(owner, name).copy()
    if each.turned:
        turn = (to_own @ each.turned.to_matrix().to_4x4()).to_quaternion()
        moved = Matrix.LocRotScale(None, turn, moved.to_scale())
    moved.translation = to_own @ each.position
    setattr(owner, name, moved)
    made: Any = Quaternion(to_quaternion(owner.rotation_mode, getattr(owner, channel)[:]))
    signs = [copysign(1.0, was) * copysign(1.0, now) for was, now in zip(scale, owner.scale, strict=True)]
    setattr(owner, channel, rotation)
    owner.scale = scale
    if each.turned:  # Blender mirrors in all axes what is mirrored in any
        set_turn(owner, (made @ Matrix.Diagonal(signs).to_quaternion())[:])


def check_movable(last: PoseBone, ob: Object, bone: str) -> None:
    """Refuse to move what a limb follows where something else does, or where the limb goes along."""
    name, among = bone or ob.name, Dependencies()
    if not ob.is_editable:
        raise Refused("'{name}' is of another file: make a library override of it, then snap", name=name)
    first = bones_of_limb(last)[0]
    if (ob, bone) in among.carriers((last.id_data, first.parent.name if first.parent else "")):
        raise Refused("'{name}' carries this limb: have the limb follow something else, then snap", name=name)
    if bone:
        posed = [each.name for limb in limbs_of(ob) for each in bones_of_limb(limb)]  # type: ignore[arg-type]
        movers: list[Any] = [*among.movers(bones_of(ob)[bone]), *(each for each in posed if each == bone)]
    else:
        movers = [each for each in ob.constraints if not each.mute and each.influence > 0.0]
        movers += [
            each for each in drivers_of(ob) if each.data_path in ("location", "delta_location") and not each.mute
        ]
    if movers:
        raise Refused("Something else moves '{name}': mute its constraints and drivers, then snap", name=name)


def check_undriven(last: PoseBone, *names: str) -> None:
    """Refuse to set sliders of a limb that drivers set."""
    for name in names:
        curve = driver_of(last.id_data, path_to_custom(last.name, SLIDER[name].key))
        if curve is not None and not curve.mute:
            source = next(driver_targets(curve), None)
            raise Refused(
                "{slider} of '{bone}' is driven by '{source}': set that",
                slider=SLIDER[name].key,
                bone=last.name,
                source=(source[1] or source[0].name) if source else "a formula",
            )


def rig_slider(last: PoseBone) -> tuple[str, str] | None:
    """The bone and the name of the slider by which the rig itself switches a limb between FK and IK, as Rigify's do:
    other bones copy the limb as far as that says."""
    rig = last.id_data
    driven = {curve.data_path: curve for curve in drivers_of(rig) if curve.data_path.endswith(".influence")}
    copies = [
        each
        for bone in rig.pose.bones
        for each in bone.constraints
        if getattr(each, "target", None) == rig and getattr(each, "subtarget", "") == last.name
    ]
    for each in copies:
        curve = driven.get(each.path_from_id("influence"))
        for variable in curve.driver.variables if curve else ():
            bone, path = split_path(variable.targets[0].data_path)
            if path.startswith("[") and path != f'["{SLIDER["influence"].key}"]':
                return bone, path.strip("[]\"'")
    return None
