"""Moving what limbs follow, as by hand: through its own channels, of which those that need not change keep their
numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, inf, remainder, tau
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, Depsgraph, Object, PoseBone
from mathutils import Matrix, Quaternion, Vector

from ..blender.animation import driver_of, drivers_of
from ..blender.announcing import announce
from ..blender.changes import Change
from ..blender.dependencies import Dependencies, driver_targets
from ..blender.rotation import rotation_channel, set_turn, to_quaternion
from ..blender.types import bones_of, parent_matrices, path_to_custom, split_path, view_layer_of
from ..blender.words import Refused
from .follow import matrix_of
from .settings import SLIDER
from .storage import bones_of_limb, limbs_of
from .tolerances import NO_TURN, ROUNDING, UNSEEN

ROUNDS = 30
"""How often what constraints hold is put elsewhere, until it is seen where it is to be."""

FIXING = {"COPY_LOCATION", "COPY_TRANSFORMS", "FOLLOW_PATH", "CLAMP_TO", "SHRINKWRAP", "FOLLOW_TRACK", "OBJECT_SOLVER"}
"""The constraints that leave nothing to what they hold, at full influence."""


class Move(NamedTuple):
    """Where in the world an object, or a bone of it if one is named, is to be seen."""

    object: Object
    bone: str
    position: Vector
    rotation: Quaternion | None = None  # None where it is not to be turned
    size: float = 1.0  # the length of its limb in the world

    @property
    def owner(self) -> Any:
        """The bone or the object."""
        return bones_of(self.object)[self.bone] if self.bone else self.object

    @property
    def paths(self) -> list[str]:
        """The channels that it is moved by, as paths from its owner."""
        return ["location", *([rotation_channel(self.owner.rotation_mode)] if self.rotation else ())]


def changes_of(moves: Sequence[Move]) -> list[Change]:
    """The channels that moves are going to write, with what they are now."""
    return [Change.of_property(move.object, move.bone, path) for move in moves for path in move.paths]


def change_of(limb: PoseBone, slider: str) -> Change:
    """A slider of a limb that is going to be set, with what it is now."""
    return Change.of_property(limb.id_data, limb.name, f'["{SLIDER[slider].key}"]')


def move(context: Context, moves: Sequence[Move]) -> list[Change]:
    """Put objects and bones where they are to be seen, whatever their constraints make of that; one that hangs on
    another is put there again after that. Raises `Refused` for what can't be seen there."""
    announce(*(one.object for one in moves))
    changes = changes_of(moves)
    placings = [MoveInProgress(move) for move in moves]
    for _ in range(ROUNDS):
        for placing in placings:
            placing.put()
        view_layer_of(context).update()
        depsgraph = context.evaluated_depsgraph_get()
        if not [placing for placing in placings if not placing.is_done(depsgraph)]:
            break
    for placing in placings:
        placing.check()
    return changes


class MoveInProgress:
    """A move under way: where the owner is put by its channels, for its constraints to take it where it is to be seen.

    Without constraints these are the same place. With them, where it is seen depends on where it is put by a slope:
    that of a rigid constraint (Child Of, Armature) at first, corrected by each look (Broyden's method), so that what is
    held half is found in a few rounds as well."""

    def __init__(self, move: Move) -> None:
        self.move = move
        self.is_held = any(not constraint.mute and constraint.influence > 0.0 for constraint in move.owner.constraints)
        self.place = np.array(move.position, float)  # where it is put
        self.turn = move.rotation
        self.off, self.off_turn = inf, 0.0
        self._slope: Any = None
        self._before: Any = None  # where it was put and seen the round before

    def put(self) -> None:
        """Set the channels."""
        _put(self.move._replace(position=Vector(self.place.tolist()), rotation=self.turn))

    def is_done(self, depsgraph: Depsgraph) -> bool:
        """Whether the owner is seen where it is to be. If not, and constraints hold it, `put` will put it elsewhere."""
        evaluated = matrix_of(self.move.object, self.move.bone, depsgraph)
        place = np.array(evaluated.translation, float)
        missed = np.array(self.move.position, float) - place
        self.off = float(np.linalg.norm(missed))
        if self.is_held and self.turn and self.move.rotation:
            now = evaluated.to_quaternion()
            self.off_turn = abs(remainder(now.rotation_difference(self.move.rotation).angle, tau))
            if self.off_turn > NO_TURN:
                self.turn = self.turn @ now.inverted() @ self.move.rotation
        if self.off > self._slack(ROUNDING) and self.is_held:
            self._correct(evaluated, place, missed)
        return self.off <= self._slack(ROUNDING) and self.off_turn <= NO_TURN

    def _correct(self, evaluated: Matrix, place: Any, missed: Any) -> None:
        if self._slope is None:
            self._slope = _slope_by_constraints(evaluated, self.move)
        else:
            step, went = self.place - self._before[0], place - self._before[1]
            if step @ step > 0.0:
                self._slope += np.outer(went - self._slope @ step, step) / (step @ step)
        self._before = (self.place, place)
        self.place = self.place + np.linalg.lstsq(self._slope, missed, rcond=1e-6)[0]

    def _slack(self, share: float) -> float:
        return share * self.move.size + 0.5 * ROUNDING * float(np.abs(np.array(self.move.position)).max())

    def check(self) -> None:
        """Refuse what is not seen where it is to be."""
        name = self.move.bone or self.move.object.name
        if not (self.off <= self._slack(UNSEEN) and self.off_turn <= 100.0 * NO_TURN):
            holding = [
                constraint.name
                for constraint in self.move.owner.constraints
                if not constraint.mute and constraint.influence > 0.0
            ]
            if holding:
                raise Refused(
                    "'{constraint}' keeps '{name}' from where it has to be: mute it, then snap",
                    constraint=holding[-1],
                    name=name,
                )
            raise Refused("'{name}' can't be moved to where it has to be: have limbs follow a thing each", name=name)


def _slope_by_constraints(evaluated: Matrix, move: Move) -> Any:
    """How the constraints of what was put somewhere turn and scale what it is put by."""
    owner, world = move.owner, move.object.matrix_world
    if move.bone:
        put = world @ owner.bone.convert_local_to_pose(
            owner.matrix_basis, owner.bone.matrix_local, **parent_matrices(owner)
        )
    else:
        put = owner.matrix_world if not owner.parent else owner.parent.matrix_world @ owner.matrix_parent_inverse
        put = put @ owner.matrix_basis if owner.parent else owner.matrix_basis
    return np.array((evaluated.to_3x3() @ put.to_3x3().inverted_safe()), float)


def _put(move: Move) -> None:
    owner = move.owner
    name, to_own = ("matrix", move.object.matrix_world.inverted_safe()) if move.bone else ("matrix_world", Matrix())
    channel = rotation_channel(owner.rotation_mode)
    rotation, scale = getattr(owner, channel)[:], owner.scale[:]
    moved = getattr(owner, name).copy()
    if move.rotation:
        turn = (to_own @ move.rotation.to_matrix().to_4x4()).to_quaternion()
        moved = Matrix.LocRotScale(None, turn, moved.to_scale())
    moved.translation = to_own @ move.position
    setattr(owner, name, moved)
    turn_set: Any = Quaternion(to_quaternion(owner.rotation_mode, getattr(owner, channel)[:]))
    signs = [copysign(1.0, was) * copysign(1.0, now) for was, now in zip(scale, owner.scale, strict=True)]
    setattr(owner, channel, rotation)
    owner.scale = scale
    if move.rotation:  # Blender mirrors in all axes what is mirrored in any
        set_turn(owner, (turn_set @ Matrix.Diagonal(signs).to_quaternion())[:])


def check_movable(limb: PoseBone, ob: Object, bone: str) -> None:
    """Refuse to move what a limb follows where drivers, constraints or a limb pose it, where it comes from another
    file, or where it carries the limb itself."""
    name, dependencies = bone or ob.name, Dependencies()
    if not ob.is_editable:
        raise Refused("'{name}' is of another file: make a library override of it, then snap", name=name)
    check_apart(limb, ob, bone)
    owner: Any = bones_of(ob)[bone] if bone else ob
    if bone:
        own = [*owner.constraints]
        movers: list[Any] = [mover for mover in dependencies.constraints_and_drivers(owner) if mover not in own]
        movers += [other for other in limbs_of(ob) if owner in bones_of_limb(other)]  # type: ignore[arg-type]
    else:
        movers = [
            curve for curve in drivers_of(ob) if curve.data_path in ("location", "delta_location") and not curve.mute
        ]
    fixing = [
        constraint
        for constraint in owner.constraints
        if not constraint.mute and constraint.influence >= 1.0 and constraint.type in FIXING
    ]
    if movers or fixing:
        raise Refused("Something else moves '{name}': mute its constraints and drivers, then snap", name=name)


def check_apart(limb: PoseBone, ob: Object, bone: str) -> None:
    """Refuse to move what carries a limb."""
    first = bones_of_limb(limb)[0]
    if (ob, bone) in Dependencies().dependencies_of((limb.id_data, first.parent.name if first.parent else "")):
        raise Refused(
            "'{name}' carries this limb: have the limb follow something else, then snap", name=bone or ob.name
        )


def check_undriven(limb: PoseBone, *names: str) -> None:
    """Refuse to set sliders of a limb that drivers set."""
    for name in names:
        curve = driver_of(limb.id_data, path_to_custom(limb.name, SLIDER[name].key))
        if curve is not None and not curve.mute:
            source = next(driver_targets(curve), None)
            raise Refused(
                "{slider} of '{bone}' is driven by '{source}': set that",
                slider=SLIDER[name].key,
                bone=limb.name,
                source=(source[1] or source[0].name) if source else "a formula",
            )


class RigSlider(NamedTuple):
    """The slider by which a rig itself switches a limb between FK and IK."""

    bone: str  # that has the slider
    name: str  # of its custom property
    copying: str  # the bone that copies the limb as far as the slider says
    constraint: str  # the name of the one by which it does


def rig_slider(limb: PoseBone) -> RigSlider | None:
    """The slider by which the rig itself switches a limb between FK and IK, as Rigify's do."""
    rig = limb.id_data
    driven = {curve.data_path: curve for curve in drivers_of(rig) if curve.data_path.endswith(".influence")}
    if not driven:
        return None
    copies = [
        (bone, constraint)
        for bone in rig.pose.bones
        for constraint in bone.constraints
        if getattr(constraint, "target", None) == rig and getattr(constraint, "subtarget", "") == limb.name
    ]
    for copying, constraint in copies:
        curve = driven.get(constraint.path_from_id("influence"))
        for variable in curve.driver.variables if curve else ():
            bone, path = split_path(variable.targets[0].data_path)
            if path.startswith("[") and path != f'["{SLIDER["influence"].key}"]':
                return RigSlider(bone, path.strip("[]\"'"), copying.name, constraint.name)
    return None
