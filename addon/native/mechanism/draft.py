"""A mechanism as it is written down: bones with names and rolls of their own, constraints, drivers of formulas."""

from __future__ import annotations

from typing import Any

from bpy.types import PoseBone
from mathutils import Matrix

from ...rig.data.access import upper_of
from ...rig.settings import ON_RIG
from ...solver.record import Node
from . import formulas
from .expressions import cut, text, variables_of
from .parts import FULLY, Bone, Constraint, Driver, Inherit, Variable
from .rest import roll_for
from .surroundings import Surroundings, free_name


class Draft:
    """Takes down the parts of one mechanism, whatever they are for."""

    def __init__(self, lower: PoseBone, surroundings: Surroundings) -> None:
        self.lower, self.upper = lower, upper_of(lower)
        self.surroundings, self.host = surroundings, surroundings.host
        self.bones: list[Bone] = []
        self.constraints: list[Constraint] = []
        self.drivers: list[Driver] = []
        self.sources: dict[str, tuple[str, str]] = {}
        """Which bone, and which of its channels or properties, each letter of a formula stands for."""
        self.letters = iter("acghijlo")
        """For pieces of formulas that are too long for one driver."""

    def piece(self, letter: str, formula: Any) -> Node:
        """Work out a part of a formula once, in a custom property of the bone that measures the target."""
        holder, path = self.name("target"), f'["{ON_RIG}{letter}"]'
        self.sources[letter] = (holder, path)
        self.drive(holder, path, -1, formula)
        return Node("input", letter)

    def add(self, role: str, matrix: Matrix, parent: str = "", inherit: Inherit = FULLY, **more: Any) -> str:
        """Add a bone under a name of its own."""
        name = free_name(role, f"-{self.lower.name}", self.surroundings.taken)
        length = 0.3 * self.upper.bone.length
        roll = roll_for(matrix, self.rest_of(parent), length)
        self.bones.append(Bone(role, name, matrix, length, parent, inherit, **more, roll=roll))
        return name

    def rest_of(self, name: str) -> Matrix:
        """A bone's rest pose in the armature's space, whether the rig has it or the mechanism; without a name, that."""
        made = next((bone.matrix for bone in self.bones if bone.name == name), None)
        return made or (self.lower.id_data.data.bones[name].matrix_local if name else Matrix())

    def name(self, role: str) -> str:
        """The name of a bone by its role."""
        return next(bone.name for bone in self.bones if bone.role == role)

    def constrain(self, bone: str, name: str, kind: str, settings: dict[str, Any]) -> None:
        """Add a constraint."""
        self.constraints.append(Constraint(bone, name, kind, settings))

    def drive(self, bone: str, path: str, channel: int, formula: Any) -> None:
        """Drive a property by a formula of what is measured."""
        formula, pieces = cut(formula, self.letters)
        for letter, piece in pieces:
            self.piece(letter, formulas.guarded(piece))
        variables = tuple(Variable(letter, *self.sources[letter]) for letter in variables_of(formula))
        self.drivers.append(Driver(bone, path, channel, text(formula), variables))
