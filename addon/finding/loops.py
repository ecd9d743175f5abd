"""Loops of a machine: two bones in line, of which the second ends exactly on a bone that hangs elsewhere. What that
place hangs on drives the two.

What ends there may be drawn (a pin: a bone that begins there), or is made: a control on the bone that ends there. Of a
rig that lies along a plane, places are where they are seen from along the axis, in layers of any depth.

A cylinder is two bones that aim at each other's foot, as a housing and its rod do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Bone, Context, PoseBone
from mathutils import Vector

from ..blender.animation import animated_paths
from ..blender.types import ArmatureObject, Refused, split_path, view_layer_of
from ..limb import rest_geometry, storage, tips
from ..limb.names import says_drive
from ..solver.matrices import Matrix

ALIKE = 1e-3
"""By what part two lengths differ at least for one to be the longer."""


class Loop(NamedTuple):
    """Two bones of a rig, by the name of the second, which ends where the ``pin`` begins, a bone that hangs on its
    ``carrier``; without a pin, one is made there. ``bones`` are all that the loop goes through; the first of the two
    ``slides`` or turns."""

    limb: str
    first: str
    carrier: str
    pin: str
    bones: tuple[str, ...]
    slides: bool


def loops_meant(bones: Sequence[PoseBone], is_all: bool) -> list[Loop]:
    """The loops of a machine that selected bones of one rig are part of, in order from what drives them. All loops
    if ``is_all``; none where something else is meant. Raises `Refused` where two bones at a time can't close them,
    or bones end on others where no loop is."""
    ob, selected = bones[0].id_data, {bone.name for bone in bones}
    if "rig_id" in ob.data or any(bone.id_data != ob for bone in bones):
        return []
    machine = _Machine(ob)
    loops = machine.loops()
    own = [loop for loop in loops if selected & {loop.first, loop.limb, loop.pin}]
    meant = loops if is_all else own or [loop for loop in loops if selected & {*loop.bones}]
    if meant and not is_all and not selected <= {name for loop in meant for name in loop.bones}:
        return []
    machine.check(meant, loops)
    if machine.normal is not None:
        machine.check_ends(machine.bones.keys() if is_all else selected, loops)
    taken = {bone.name for limb in storage.limbs_of(ob) for bone in storage.chain_bones(limb)}
    return [loop for loop in meant if not taken & {loop.first, loop.limb}]


class _Machine:
    """The bones of a rig, and where they begin and end, (n, 3) each."""

    def __init__(self, ob: ArmatureObject) -> None:
        self.ob = ob
        self.bones: dict[str, Bone] = {bone.name: bone for bone in ob.data.bones if not tips.looks_like_mechanism(bone)}
        self.names = [*self.bones]
        self.rows = {name: row for row, name in enumerate(self.names)}
        self.normal = rest_geometry.normal_of_rig(ob)
        seen = np.eye(3) if self.normal is None else np.eye(3) - np.outer(self.normal, self.normal)
        heads, tails = ([getattr(bone, end) for bone in self.bones.values()] for end in rest_geometry.ENDS)
        self.heads, self.tails = (np.array(ends, float).reshape(-1, 3) @ seen for ends in (heads, tails))
        self.lengths = np.linalg.norm(self.tails - self.heads, axis=1)
        self.above = {name: [above.name for above in bone.parent_recursive] for name, bone in self.bones.items()}
        self.cylinders = bones_of_cylinders(ob)
        paths = animated_paths(ob) if ob.animation_data else set()
        self.keyed = {name for name, path in map(split_path, paths) if path.startswith("rotation")}

    def _at(self, places: Matrix, name: str, ends: Matrix) -> list[str]:
        """The bones of which a place of theirs is where a bone has its own."""
        row = self.rows[name]
        near = np.flatnonzero(np.linalg.norm(places - ends[row], axis=1) <= tips.AT_TAIL * self.lengths[row])
        return [self.names[other] for other in near.tolist() if other != row]

    def _parent(self, name: str) -> str:
        return next(iter(self.above[name]), "")

    def _pairs(self) -> Iterator[tuple[str, str]]:
        """Two bones in line that a loop may have, from the root down."""
        for first in self.bones:
            for limb in self._at(self.heads, first, self.tails):
                if self._parent(limb) == first and not {limb, first} & self.cylinders:
                    yield first, limb

    def _ways(self, first: str, limb: str) -> Iterator[tuple[str, str, list[str]]]:
        """What moves the place where two bones end; the pin that begins there, if it is drawn; and the bones that the
        loop goes through besides the two."""
        ends = [(name, "") for name in self._at(self.tails, limb, self.tails)]
        ends += [(self._parent(name), name) for name in self._at(self.heads, limb, self.tails)]
        for carrier, pin in ends:
            name = pin or carrier
            if first in (name, *self.above[name]) or name in self.above[first]:
                continue
            path = [one for one in (name, *self.above[name]) if one not in self.above[first] and one in self.bones]
            is_goal = path == [pin]  # which nothing moves but itself
            if is_goal and (self.bones[pin].children or self.bones[pin].use_connect):
                continue
            if not is_goal and any({first, limb} & {*self._at(self.heads, one, self.heads)} for one in path):
                continue  # the same bones once more, as FK and deform bones are, and the arms of a puppet
            yield carrier, pin, path

    def loops(self) -> list[Loop]:
        """All loops, each after those that move it as far as that can be."""
        found = {pair: [*self._ways(*pair)] for pair in self._pairs()}
        found = {pair: ways for pair, ways in found.items() if ways and not self._drives(*pair, ways)}
        own = {name for pair in found for name in pair}
        loops = []
        for (first, limb), ways in found.items():
            carrier, pin, path = min(ways, key=lambda way: ((way[1] or way[0]) in own, not way[1]))
            loop = Loop(
                limb=limb,
                first=first,
                carrier=carrier,
                pin="" if pin in own else pin,
                bones=(first, limb, *path),
                slides=all(self.ob.pose.bones[first].lock_rotation),
            )
            loops.append(loop)
        return self._in_order(loops)

    def _drives(self, first: str, limb: str, ways: Sequence[tuple[str, str, list[str]]]) -> bool:
        """Whether two bones drive: they have keys, and nothing else of the loop does."""
        return bool(self.keyed & {first, limb}) and not any(self.keyed & {*path} for _, _, path in ways)

    def _needs(self, loop: Loop, loops: Sequence[Loop]) -> list[Loop]:
        """Those of other loops that move one."""
        movers = {loop.carrier, *self.above.get(loop.carrier, ()), *self.above[loop.first]}
        return [other for other in loops if other is not loop and movers & {other.first, other.limb}]

    def _in_order(self, loops: list[Loop]) -> list[Loop]:
        ordered: list[Loop] = []
        while rest := [loop for loop in loops if loop not in ordered]:
            ordered += [loop for loop in rest if not self._needs(loop, rest)] or rest
        return ordered

    # what two bones at a time can't close

    def check(self, meant: Sequence[Loop], loops: Sequence[Loop]) -> None:
        """Raise `Refused` where one of the loops ``meant`` can't be closed by two bones at a time beside all ``loops``
        of the rig, or where a rod that is meant ends at nothing; it says what to draw."""
        for loop in meant:
            self._check_drive(loop, loops)
        for one, other in combinations(loops, 2):
            if not {one, other} & {*meant}:
                continue
            if shared := {one.first, one.limb} & {other.first, other.limb}:
                template = "'{bone}' is one of two bones in two loops, '{one}' and '{other}', which only one can have"
                raise Refused(template, bone=min(shared), one=one.limb, other=other.limb)
            if other in self._moving(one, loops) and one in self._moving(other, loops):
                template = "The loops of '{one}' and '{other}' hang on each other: no two bones close either"
                raise Refused(template, one=one.limb, other=other.limb)

    def _moving(self, loop: Loop, loops: Sequence[Loop]) -> list[Loop]:
        """All loops that move one."""
        moving = self._needs(loop, loops)
        for other in moving:
            moving += [needed for needed in self._needs(other, loops) if needed not in moving]
        return moving

    def _check_drive(self, loop: Loop, loops: Sequence[Loop]) -> None:
        """Refuse four bars whose crank is the first of the two bones: that is what drives, and what it is to turn has
        no rod."""
        rocker, ground = loop.carrier, self._parent(loop.first)
        own = {name for other in loops for name in (other.first, other.limb)}
        if loop.pin or loop.slides or self._parent(rocker) != ground or rocker in own | self.keyed:
            return
        one, two, three = (self.rows[name] for name in (loop.first, loop.limb, rocker))
        crank, rod, far = (float(self.lengths[row]) for row in (one, two, three))
        base = float(np.linalg.norm(self.heads[one] - self.heads[three]))
        sides = sorted((rod, far, base))
        goes_round = crank < (1.0 - ALIKE) * sides[0] and crank + sides[2] <= sides[0] + sides[1]
        is_other = far < (1.0 - ALIKE) * min(crank, rod, base)
        says_so = says_drive(loop.first) and not says_drive(rocker)
        if loop.first in self.keyed or goes_round or (says_so and not is_other):
            template = "'{rod}' hangs on '{crank}', which drives it: draw it on '{rocker}' instead, up to '{crank}'"
            raise Refused(template, rod=loop.limb, crank=loop.first, rocker=rocker)

    def check_ends(self, names: Set[str], loops: Sequence[Loop]) -> None:
        """Refuse bones that end on others where no loop is; the message says what to draw."""
        closed = {name for loop in loops for name in (loop.limb, *self._at(self.tails, loop.limb, self.tails))}
        for one in sorted(names & self.bones.keys() - closed - self.cylinders):
            ends = [other for other in self._at(self.tails, one, self.tails) if other not in self.cylinders]
            starts = [other for other in self._at(self.tails, one, self.heads) if other not in self.above[one]]
            apart = [other for other in ends if one not in self.above[other] and other not in self.above[one]]
            if starts and self._parent(one) in ends:
                template = "'{bone}' ends where '{above}' does, which it hangs on: switch its direction in Edit Mode"
                raise Refused(template, bone=one, above=self._parent(one))
            if starts and apart and not {*starts} & {*apart}:
                template = "'{bone}' joins '{one}' and '{other}' and hangs on neither: parent it to '{one}'"
                raise Refused(template, bone=one, one=starts[0], other=apart[0])
            round_ = [other for other in self._at(self.heads, one, self.tails) if other in self.above[one][2:]]
            if round_:
                template = "'{bone}' ends where '{above}' begins, which carries it: draw it there, from its other end"
                raise Refused(template, bone=one, above=round_[0])
            for other in apart:
                if self._parent(one) != self._parent(other):
                    template = "'{one}' and '{other}' end at one place, which no two bones in line close: draw them so"
                    raise Refused(template, one=one, other=other)


NEAR = 1e-3
"""How far from a foot it may be that a bone aims at, as a part of the bone's length."""

Cylinder = tuple[PoseBone, PoseBone]
"""Its two bones, in the order of their rig."""


def cylinders_of(ob: ArmatureObject) -> list[Cylinder]:
    """The cylinders of a rig, whoever made them."""
    aimed = [(bone, at) for bone in ob.pose.bones if (at := _aimed_at(bone)) is not None]
    return [
        (one, other)
        for i, (one, at) in enumerate(aimed)
        for other, its_at in aimed[i + 1 :]
        if _is_at(at, other) and _is_at(its_at, one)
    ]


def bones_of_cylinders(ob: ArmatureObject) -> set[str]:
    """The names of all bones that are half of a cylinder."""
    return {bone.name for cylinder in cylinders_of(ob) for bone in cylinder}


def cylinder_at(bone: PoseBone) -> Cylinder | None:
    """The cylinder that a bone is half of."""
    return next((cylinder for cylinder in cylinders_of(bone.id_data) if bone in cylinder), None)


def stroke_of(context: Context, cylinder: Cylinder) -> tuple[float, float]:
    """How far the feet of a cylinder are apart now, and by how much more than at rest, in the armature's unit."""
    one, other = cylinder
    rig: Any = one.id_data.evaluated_get(view_layer_of(context).depsgraph or context.evaluated_depsgraph_get())
    now = (rig.pose.bones[one.name].head - rig.pose.bones[other.name].head).length
    return now, now - (one.bone.head_local - other.bone.head_local).length


def _aimed_at(bone: PoseBone) -> Vector | None:
    """Where what a bone aims at is at rest: a place on a bone of its own rig."""
    constraints: Any = bone.constraints
    for constraint in constraints:
        is_aim = constraint.type == "DAMPED_TRACK" and not constraint.mute and constraint.target == bone.id_data
        at = bone.id_data.data.bones.get(constraint.subtarget) if is_aim else None
        if at is not None:
            place: Vector = at.head_local.lerp(at.tail_local, constraint.head_tail)
            return place
    return None


def _is_at(place: Vector, bone: PoseBone) -> bool:
    return bool((place - bone.bone.head_local).length <= NEAR * bone.bone.length)
