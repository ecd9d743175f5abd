"""What is trunk on a rig, and which branches of that are its arms and legs: by where bones are and how they branch, by
names, and by twins on the other side. Sizes are measured between where bones begin: importers leave tails anywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations, pairwise
from math import remainder, tau
from typing import Any

from bpy.types import Bone, PoseBone
from mathutils import Vector

from ..blender.types import ArmatureObject, Refused, bones_of, children_of
from ..limb import names, tips, tolerances
from ..limb.rest_geometry import rest_geometry
from ..limb.settings import BonesPerSegment
from . import checking, loops

ALIKE, BENT = 0.45, 0.35
"""How short the shortest of three bones may be next to the longest, and how much they bend at rest at least, in
radians, for a leg to have a hock."""

TWINS = 0.2
"""By what part of its length a limb may differ from the one on the other side."""

MIRRORED_ACROSS = 0.9
"""The least cosine between the lines from joint to joint of two such limbs."""

LEAST = 0.2
"""How long a limb is at least, as a part of the longest one of its rig: horns and fingers are shorter."""

AT_TIP = 0.1
"""How far from the tip of a limb its control begins at most, as a part of that limb's length."""

END = 0.7
"""How long a foot or hand without a name is at most, as a part of the shorter bone of its limb."""

UNLIKE = 0.4
"""Two bones are no limb where nothing but their lengths says so and the shorter is so much shorter."""


class BranchLimb:
    """A limb that a branch of a skeleton could be, by names: the segments of the branch's ``chain`` from ``first`` to
    ``last``; its ``joints`` and ``lengths``."""

    def __init__(self, skeleton: Skeleton, chain: list[list[str]], first: int, last: int) -> None:
        self._skeleton, self.chain, self._first, self._last = skeleton, chain, first, last
        heads = [skeleton.heads[segment[0]] for segment in chain]
        self.joints = heads[first : last + 2]
        self.lengths = [(after - before).length for before, after in pairwise(self.joints)]
        if len(self.lengths) < last + 1 - first:
            self.lengths.append(skeleton.length(chain[-1][-1]))
        own, foot = [name for segment in chain[first : last + 1] for name in segment], chain[last + 1 : last + 2]
        self.is_named = any(map(names.is_limb_like, own)) or any(
            names.has_word(segment[0], names.FEET) for segment in foot
        )
        self.is_other = any(map(names.is_other, own))
        self.is_other |= not self.is_named and names.has_word(skeleton.above(chain[0][0]), names.HEAD)
        self._is_called_so = names.tell_apart(chain[first][0], chain[last][0], foot[0][0] if foot else "")
        self.is_twin = False

    @property
    def has_end(self) -> bool:
        """Whether something shorter than its bones is at its end, as a foot or a hand, or several rows of fingers: what
        only hangs goes on as it is."""
        below = self.chain[self._last + 1 :]
        if not below:
            return False
        heads = [self._skeleton.heads[segment[0]] for segment in below[:2]]
        length = (heads[1] - heads[0]).length if len(heads) > 1 else self._skeleton.length(below[0][-1])
        return length <= END * min(self.lengths) or self._skeleton.is_spread(below[0][-1])

    @property
    def is_evident(self) -> bool:
        """Whether it counts as an arm or leg when all of the rig is selected: by its name, or as it exists on both
        sides."""
        return self.is_named or self.is_twin

    @property
    def is_clear(self) -> bool:
        """Whether it counts as an arm or leg whichever of its bones is clicked: it exists on both sides, or all its
        names say so."""
        return self.is_twin or self._is_called_so

    @cached_property
    def hock(self) -> int | None:
        """The segment that is the metatarsal of a leg of three, or None."""
        return _hock(self._skeleton, self.chain, self._last)

    @property
    def start(self) -> int:
        """Where the limb starts in its line."""
        return self._first if self.hock is None else self.hock - 2

    @property
    def end(self) -> int:
        """Its last segment there."""
        return self._last if self.hock is None else self.hock

    @property
    def above(self) -> set[str]:
        """The bones above it that carry nothing else."""
        return {name for segment in self.chain[: self.start] for name in segment}

    @property
    def own(self) -> set[str]:
        """Its own bones."""
        return {name for segment in self.chain[self.start : self.end + 1] for name in segment}

    @property
    def below(self) -> set[str]:
        """Its foot and toes; of a hand with fingers, that alone."""
        below = self.chain[self.end + 1 :]
        spread = next((i for i, segment in enumerate(below) if self._skeleton.is_spread(segment[-1])), len(below))
        toes = [name for segment in below[: spread + 1] for name in segment]
        return {*toes, *(toe for name in toes[:1] for toe in self._skeleton.singles_below(name))}

    def suggestion(self, count: int = 0) -> Suggestion:
        """The limb; of two bones if ``count`` is that, where it would have three."""
        bones = bones_of(self._skeleton.ob)
        segments = self.chain[self.start : self.end + (0 if count == 2 and self.hock is not None else 1)]
        limb = segment_of(bones[segments[-1][0]])
        return limb[-1], (*map(len, segments[:-1]), len(limb))


class BranchLimbs:
    """The limbs that a rig could have by its branches: those that are ``evident``, which is all where none is; of
    these, those that are ``clear``; and the ``shared_parents``, the bones from which several of them hang."""

    def __init__(self, ob: ArmatureObject) -> None:
        skeleton = Skeleton(ob)
        chains = [*_chains_off_trunk(skeleton)]
        by_names = [_limb_of_branch(skeleton, chain) for chain in chains]
        limbs = by_names if any(by_names) else [_limb_of_branch(skeleton, chain, called=False) for chain in chains]
        branches = [limb for limb in limbs if limb and not limb.is_other]
        twins = [limb for limb in _paired(branches) if limb.is_named or not _is_control(limb, branches)]
        for limb in [limb for limb in twins if limb.is_named or limb.has_end] or twins:
            limb.is_twin = True
        evident = [limb for limb in branches if limb.is_evident]
        longest = max((sum(limb.lengths) for limb in evident), default=0.0)
        self.evident = [limb for limb in evident if sum(limb.lengths) >= LEAST * longest] or branches
        self.clear = [limb for limb in self.evident if limb.is_clear]
        bones = bones_of(ob)
        carrying = Counter(bone.name for limb in self.evident for bone in bones[limb.chain[0][0]].parent_recursive)
        self.shared_parents = skeleton.carrying | {name for name, count in carrying.items() if count > 1}

    def at(self, bone: PoseBone) -> BranchLimb | None:
        """The arm or leg that a bone is clearly a part of, maybe as its shoulder, its foot or its toe."""
        return next((limb for limb in self.clear if bone.name in limb.above | limb.own | limb.below), None)


def _is_control(limb: BranchLimb, limbs: Sequence[BranchLimb]) -> bool:
    """Whether what could be a limb begins at the tip of another: it is what that is to follow."""
    tips = [(other.joints[-1], sum(other.lengths)) for other in limbs if other is not limb]
    return any((limb.joints[0] - tip).length <= AT_TIP * length for tip, length in tips)


def _chains_off_trunk(skeleton: Skeleton) -> Iterable[list[list[str]]]:
    """The branches that hang on the trunk, each as its segments along its main line, with the offset groups between
    them; one at its root is a segment of its own."""
    bones = bones_of(skeleton.ob)
    for start in skeleton.starts:
        chain: list[list[str]] = []
        bone: PoseBone | None = bones[start]
        while bone is not None and bone.name in skeleton.heads and bone.name not in skeleton.trunk:
            inner = bone_of_offset_group(bone.bone)
            segment = segment_of(bone) if inner is None else [bone]
            groups, bone = segment_below(segment) if inner is None else ([], bones[inner.name])
            chain.append([member.name for member in (*segment, *groups)])
        yield chain


def _limb_of_branch(skeleton: Skeleton, chain: list[list[str]], called: bool = True) -> BranchLimb | None:
    """The limb that a branch has, by what its bones are ``called`` or by their lengths alone; or None."""
    ends = (_by_names([segment[0] for segment in chain]) if called else None) or _by_lengths(skeleton, chain)
    return None if ends is None or ends == NO_SEGMENTS else BranchLimb(skeleton, chain, *ends)


NO_SEGMENTS = (-1, -1)
"""The ends of a limb where names say that there is none."""


def _by_names(called: list[str]) -> tuple[int, int] | None:
    """The indices of the first and the last segment of a limb by what a branch's segments are called: above the foot or
    hand, or the lowest that is called after an arm or a leg; `NO_SEGMENTS` where names say that there is none, and None
    where they say nothing."""
    foot = next((i for i, name in enumerate(called) if names.has_word(name, names.FEET)), None)
    if foot is None and (lowest := [i for i, name in enumerate(called) if names.is_limb_like(name)]):
        if len(lowest) > 2 and len({names.words(called[i]) for i in lowest}) == 1:  # numbers alone tell them apart
            return None
        foot = lowest[-1] + 1 if lowest[-1] else None
    if foot is None:
        foot = next((i for i, name in enumerate(called) if i > 1 and names.has_word(name, names.TOES)), None)
    if foot is None:
        return None
    if foot < 2:
        return NO_SEGMENTS
    first = called[foot - 2]
    is_carrier = names.is_girdle(first) and not names.is_limb_like(first)
    is_by_joint = names.has_word(called[foot - 1], names.BY_JOINT)
    return NO_SEGMENTS if is_carrier and not is_by_joint else (foot - 2, foot - 1)


def _by_lengths(skeleton: Skeleton, chain: list[list[str]]) -> tuple[int, int] | None:
    """The indices of the first and the last segment of a limb by the lengths of a branch's segments: the two longest
    that are alike, with a foot below them if there is one. None where no two are."""
    heads = [skeleton.heads[segment[0]] for segment in chain]
    lengths = [(after - before).length for before, after in pairwise(heads)]
    pairs = [
        (sum(pair), -i)
        for i, pair in enumerate(pairwise(lengths))
        if min(pair) >= UNLIKE * max(pair) and max(pair) > 0.0
    ]
    if pairs:
        first = -max(pairs)[1]
        return first, first + 1
    return (len(chain) - 2, len(chain) - 1) if len(chain) > 1 and lengths[-1] > 0.0 else None


def _hock(skeleton: Skeleton, chain: list[list[str]], last: int) -> int | None:
    """The segment that is the metatarsal of a leg of three, alike in length and clearly bent to and fro, above a
    foot."""
    for lowest in range(2, min(last + 2, len(chain) - 1)):
        segments = chain[lowest - 2 : lowest + 1]
        called = [name for segment in segments for name in segment]
        if any(names.has_word(name, names.NO_HOCK) for name in called) or names.is_girdle(called[0]):
            continue
        heads = [skeleton.heads[segment[0]] for segment in chain[lowest - 2 : lowest + 2]]
        lengths = [(after - before).length for before, after in pairwise(heads)]
        if min(lengths) <= ALIKE * max(lengths):
            continue
        if _bends_in_zigzag(bones_of(skeleton.ob)[segments[-1][-1]], tuple(map(len, segments))):
            return lowest
    return None


def _bends_in_zigzag(limb: PoseBone, segments: BonesPerSegment) -> bool:
    """Whether bones in one plane clearly bend to one side and the other in turn."""
    try:
        geometry = rest_geometry(limb, segments)
        checking.check_planar(geometry)
    except Refused:
        return False
    turns = [abs(remainder(after - before, tau)) for before, after in pairwise(geometry.angles)]
    return geometry.is_zigzag and min(turns) > BENT


def _paired(limbs: Sequence[BranchLimb]) -> set[BranchLimb]:
    """Those of these limbs that are there twice, one the mirror image of the other: across the plane across which most
    of a rig's are."""
    pairs = [
        (one, other, across)
        for one, other in combinations(limbs, 2)
        if (across := _mirror_direction(one, other)) is not None
    ]
    mains = {main.to_tuple(2): main for _, _, main in pairs}  # of many legs, few differ
    agreeing = [
        {
            limb
            for one, other, across in pairs
            if abs(across.dot(main)) >= MIRRORED_ACROSS or not across.length
            for limb in (one, other)
        }
        for main in mains.values()
    ]
    return max(agreeing, key=len, default=set())


def _mirror_direction(one: BranchLimb, other: BranchLimb) -> Vector | None:
    """The direction in which one limb is the mirror image of another: in all joints the same; 0 where they are at one
    place. None where they are not alike."""
    if len(one.joints) != len(other.joints):
        return None
    if any(abs(mine - its) > TWINS * max(mine, its) for mine, its in zip(one.lengths, other.lengths, strict=True)):
        return None
    offsets = [mine - its for mine, its in zip(one.joints, other.joints, strict=True)]
    farthest = max(offsets, key=lambda offset: offset.length)
    is_same = all(offset.dot(farthest) >= MIRRORED_ACROSS * offset.length * farthest.length for offset in offsets)
    return farthest.normalized() if is_same else None


LARGE = 0.12
"""A branch is large if it reaches so far, as a part of how far the whole rig reaches from its root; fingers don't."""


class Skeleton:
    """How the bones of a rig branch, leaving out mechanisms, by name: where they begin (``heads``), the ``trunk`` (what
    carries several large branches, and all above that), and the bones where branches ``start``."""

    def __init__(self, ob: ArmatureObject) -> None:
        self.ob = ob
        apart = loops.bones_of_cylinders(ob)
        self._bones: dict[str, Bone] = {
            bone.name: bone for bone in ob.data.bones if not tips.looks_like_mechanism(bone) and bone.name not in apart
        }
        self.heads: dict[str, Vector] = {name: bone.head_local for name, bone in self._bones.items()}
        self._below = {name: [child.name for child in bone.children] for name, bone in self._bones.items()}
        self._below = {name: [child for child in below if child in self._bones] for name, below in self._below.items()}
        self._reach: dict[str, float] = {}
        self._depth: dict[str, int] = {}
        for name in reversed(self._bones):  # Blender lists a bone before its children
            self._measure(name)
        self.trunk = self._trunk()
        self.starts = [
            name
            for name, bone in self._bones.items()
            if name not in self.trunk and (bone.parent is None or bone.parent.name in self.trunk or self._is_out(bone))
        ]

    def length(self, name: str) -> float:
        """The length at rest of a bone, in the armature's unit, as its tail says: for one that nothing hangs on."""
        return tips.length_of(self._bones[name])

    def above(self, name: str) -> str:
        """What a bone hangs on; nothing if on none."""
        parent = self._bones[name].parent
        return parent.name if parent else ""

    def singles_below(self, name: str) -> list[str]:
        """The bones without any below them that hang on a bone, as heels do."""
        return [child for child in self._below[name] if not self._below[child]]

    def is_spread(self, name: str) -> bool:
        """Whether several rows of bones hang on a bone, as fingers do."""
        return sum(self._depth[child] > 1 for child in self._below[name]) > 1

    def _is_out(self, bone: Bone) -> bool:
        return bone.parent is not None and bone.parent.name not in self._bones

    def _measure(self, name: str) -> None:
        below = self._below[name]
        reaches = [(self.heads[child] - self.heads[name]).length + self._reach[child] for child in below]
        self._reach[name] = max(reaches, default=0.0) if below else self.length(name)
        self._depth[name] = 1 + max((self._depth[child] for child in below), default=0)

    def _trunk(self) -> set[str]:
        whole = max(self._reach.values(), default=0.0)
        trunk: set[str] = set()
        self.carrying: set[str] = set()
        for name, below in self._below.items():
            large = [child for child in below if self._depth[child] > 1 and self._reach[child] >= LARGE * whole]
            carries = len(large) > 1 and _carries(name, large)
            if carries:
                self.carrying.add(name)
            if carries or (below and names.is_trunk(name)):
                bone: Any = self._bones[name]
                while bone is not None and bone.name not in trunk:
                    trunk.add(bone.name)
                    bone = bone.parent
        return trunk


def _carries(name: str, large: list[str]) -> bool:
    """Whether names leave it to a bone with several large branches to be trunk: a hand with long fingers is called as
    one, or as on one side with all that hangs on it."""
    sides = {names.side_of(branch) for branch in large} - {""}
    if len(sides) > 1:
        return True
    return not (names.side_of(name) or names.is_limb_like(name) or names.has_word(name, names.FEET))


Suggestion = tuple[PoseBone, BonesPerSegment]
"""A limb that IK could be put on: its last bone, and how many bones each of its segments has."""

IN_LINE = 0.02
"""How far off the line between two joints a twist bone may begin, as a part of that."""


def segment_of(bone: PoseBone) -> list[PoseBone]:
    """A bone with all twist bones of its segment, above and below it in line, from the root down."""
    segment = [bone]
    while is_twist(segment[0]):
        segment.insert(0, segment[0].parent)  # type: ignore[arg-type]
    while (after := next(filter(is_twist, children_of(segment[-1])), None)) is not None:
        segment.append(after)
    return segment


def is_twist(bone: PoseBone) -> bool:
    """Whether a bone is a twist bone: it begins in line between two joints. These are where its parent begins and
    where the next bone does. In a straight limb so does a forearm: where names don't say which is which, the line
    has to bend at both joints, and twice."""
    below = tips.foot_below(bone.bone)
    if bone.parent is None or below is None or not _is_between(bone.parent.bone, bone.bone, below):
        return False
    stems = [names.stem_of(name) for name in (bone.parent.name, below.name)]
    if names.says_twist(bone.name) and not names.says_twist(stems[0]):
        return stems[0] != stems[1]
    if names.is_piece(bone.name, bone.parent.name):
        return stems[0] != stems[1]
    if names.is_called(bone.name) or stems[0] == names.stem_of(bone.name):
        return False
    if names.is_called(bone.parent.name):
        return names.is_limb_like(bone.parent.name) or not names.is_girdle(bone.parent.name)
    inner = tips.foot_below(below)
    end = tips.foot_below(inner) if inner else None
    if inner is None or end is None:
        return False
    return _is_between(below, inner, end) and not _is_between(bone.parent.bone, below, inner)


def _is_between(start: Bone, bone: Bone, end: Bone) -> bool:
    """Whether a bone begins between where two others do, in line."""
    along, off = end.head_local - start.head_local, bone.head_local - start.head_local
    share = off.dot(along) / (along.length_squared or 1.0)
    return bool(IN_LINE < share < 1.0 - IN_LINE and (off - along * share).length <= IN_LINE * along.length)


def bone_of_offset_group(bone: Bone) -> Bone | None:
    """The bone that begins where an offset group does, or None if this bone is no offset group. Exporters add such
    groups above joints. None also if only helper bones begin there, or if it is a hand without a length, as in
    captures."""
    if tips.foot_below(bone) is not None:
        return None
    near = tolerances.UNSEEN * bone.length
    children = [child for child in bone.children if child.children and not tips.looks_like_mechanism(child)]
    inner = next((child for child in children if (child.head_local - bone.head_local).length <= near), None)
    is_end = names.has_word(bone.name, names.FEET) and inner and not names.has_word(inner.name, names.FEET)
    return None if is_end else inner


def segment_above(segment: list[PoseBone]) -> list[PoseBone]:
    """The segment above another, with the offset groups that hold that; nothing above the first."""
    groups: list[PoseBone] = []
    parent = segment[0].parent
    while parent is not None and bone_of_offset_group(parent.bone) is not None:
        groups.insert(0, parent)
        parent = parent.parent
    return [*segment_of(parent), *groups] if parent is not None else groups


def segment_below(segment: list[PoseBone]) -> tuple[list[PoseBone], PoseBone | None]:
    """What goes on from a segment, which may be its foot: the offset groups that hold it, and the bone."""
    bones = bones_of(segment[0].id_data)
    groups: list[PoseBone] = []
    bone = tips.foot_below(segment[-1].bone)
    while bone is not None and (inner := bone_of_offset_group(bone)) is not None:
        groups.append(bones[bone.name])
        bone = inner
    return groups, bones[bone.name] if bone is not None else None


def limb_up_from(limb: PoseBone, count: int, shared_parents: set[str]) -> Suggestion:
    """The limb of ``count`` segments whose last segment has this bone. Raises `Refused` if it would contain one of
    the ``shared_parents``, bones from which several limbs hang."""
    line = [segment_of(limb)]
    while len(line) < count:
        segment = segment_above(line[0])
        if not segment and len(line) > 1:
            template = "'{bone}' ends a line of {found} bones, not of {count}: choose fewer"
            raise Refused(template, bone=limb.name, found=len(line), count=count)
        if not segment:
            raise Refused("'{bone}' has no parent to bend against: click the shin or the forearm", bone=line[0][0].name)
        if too_high := next((bone for bone in segment if bone.name in shared_parents), None):
            template = "'{bone}' carries several limbs, so '{last}' ends no limb of {count} bones: choose fewer"
            raise Refused(template, bone=too_high.name, last=limb.name, count=count)
        line.insert(0, segment)
    return line[-1][-1], tuple(map(len, line))


def moved_along_line(suggestion: Suggestion, by: int, shared_parents: set[str]) -> Suggestion:
    """A limb that ends ``by`` segments further down its line of bones, or up if negative. ``shared_parents`` are the
    bones from which several limbs hang."""
    limb, segments = suggestion
    for _ in range(abs(by)):
        segment = segment_of(limb)
        new_last_bone = segment_below(segment)[1] if by > 0 else next(iter(segment_above(segment)), None)
        if new_last_bone is None:
            raise Refused("'{bone}' is where its line of bones ends", bone=limb.name)
        limb = segment_of(new_last_bone)[-1]
    return limb_up_from(limb, len(segments), shared_parents)
