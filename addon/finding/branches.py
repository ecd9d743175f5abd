"""Which limb a clicked bone is part of or could be: found by where bones are and how they branch, with names as a
help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations, pairwise
from math import remainder, tau

from bpy.types import PoseBone
from mathutils import Vector

from ..blender.types import ArmatureObject, bones_of, children_of
from ..limb import names
from ..limb.rest_geometry import rest_geometry
from ..limb.storage import chain_bones, check_parents, is_limb, is_part, limbs_of, segments_of
from ..limb.tips import foot_below, foot_of
from ..limb.words import Refused
from .checking import check_planar
from .skeleton import Skeleton, skeleton_of

Suggestion = tuple[PoseBone, tuple[int, ...]]
"""A limb that IK could be put on: its last bone and its segments."""

ALIKE, BENT = 0.5, 0.35
"""How short the shortest of three bones may be next to the longest, and how much they bend at rest at least, in
radians, for a leg to have a hock."""

TWINS = 0.2
"""By what part of its length a limb may differ from the one on the other side."""

ACROSS = 0.9
"""The least cosine between the lines from joint to joint of two such limbs."""

LEAST = 0.2
"""How long a limb is at least, as a part of the longest one of its rig: horns and fingers are shorter."""

UNLIKE = 0.4
"""Two bones are no limb where nothing but their lengths says so and the shorter is so much shorter."""


def limb_at(bone: PoseBone, count: int = 0) -> Suggestion:
    """The last bone and the segments of the limb that a bone is part of, maybe as its shoulder, its foot or its toe, or
    else that it would be the last bone of; raises `Refused` with the bone to click instead.

    ``count`` says how many bones the limb is to have: of three or four the clicked one is the last. By itself a limb
    has two, or three where an animal's leg has a hock.
    """
    there = existing_at(bone)
    if there is not None:
        return there, segments_of(there)
    if count > 2:
        return _up_from(bone, count)
    skeleton = skeleton_of(bone.id_data)
    for limb in _limbs(skeleton):
        if limb.is_evident and bone.name in limb.above | limb.own | limb.below:
            return limb.suggestion(bone.id_data, count)
    return _suggestion_by_click(bone, skeleton)


def existing_at(bone: PoseBone) -> PoseBone | None:
    """The last bone of the limb that is there and that a bone is part of, or its foot or toe."""
    lasts = limbs_of(bone.id_data)
    for last in lasts:
        if bone in chain_bones(last):
            return last
    for last in lasts:
        foot = foot_of(last)
        if foot is not None and bone.bone in (foot.bone, *(toe for toe in foot.bone.children if not toe.children)):
            return last
    return None


def limb_suggested(bone: PoseBone | None, count: int = 0) -> Suggestion | None:
    """The limb that a bone is clearly a part of and that has no IK yet, as of an arm or a leg; of a rig that Rigify
    generated, which brings IK with it, none."""
    return next(iter(limbs_suggested([bone], count)), None) if bone is not None else None


def limbs_suggested(bones: Sequence[PoseBone], count: int = 0) -> list[Suggestion]:
    """The limbs that bones are parts of or whose feet they are, each once, of those that have no IK yet."""
    suggestions: dict[Suggestion, None] = {}
    for ob in dict.fromkeys(bone.id_data for bone in bones if "rig_id" not in bone.id_data.data):
        chosen = {bone.name for bone in bones if bone.id_data == ob and not is_part(bone.bone)}
        for limb in _limbs(skeleton_of(ob)):
            if chosen & (limb.own | limb.below):
                suggestions[limb.suggestion(ob, count)] = None
    taken = {
        bone for ob in {last.id_data for last, _ in suggestions} for last in limbs_of(ob) for bone in chain_bones(last)
    }
    return [
        suggestion
        for suggestion in suggestions
        if not is_limb(suggestion[0]) and not taken & {*chain_bones(*suggestion)}
    ]


def is_limb_bone(bone: PoseBone) -> bool:
    """Whether a bone is clearly a part of an arm or a leg, with IK or without."""
    return any(bone.name in limb.own | limb.below for limb in _limbs(skeleton_of(bone.id_data)) if limb.is_evident)


# what hangs on the trunk


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
        self.is_other = any(map(names.is_other, own))
        self.is_named = any(map(names.is_limb_like, own)) or any(names.says(segment[0], names.FEET) for segment in foot)
        self.is_other |= not self.is_named and names.says(skeleton.above(chain[0][0]), names.HEAD)
        self.is_evident = self.is_named and not self.is_other

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
        """The bones that carry it and nothing else."""
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

    def suggestion(self, ob: ArmatureObject, count: int = 0) -> Suggestion:
        """The limb, of ``count`` bones if that is not 0."""
        bones = bones_of(ob)
        if count > 2:
            return _up_from(bones[self.chain[self.end][-1]], count)
        is_short = self.hock is not None and count == 2
        segments = self.chain[self.start : self.end + (0 if is_short else 1)]
        return bones[segments[-1][-1]], tuple(map(len, segments))


def _limbs(skeleton: Skeleton) -> list[BranchLimb]:
    """The limbs of a skeleton: those that are called so and those that are there twice; if there are none, whatever
    branch could be one."""
    branches = [
        branch
        for branch in (_limb_of_branch(skeleton, chain) for chain in _chains_off_trunk(skeleton))
        if branch and not branch.is_other
    ]
    for limb in _paired(branches):
        limb.is_evident = True
    evident = [limb for limb in branches if limb.is_evident]
    longest = max((sum(limb.lengths) for limb in evident), default=0.0)
    return [limb for limb in evident if sum(limb.lengths) >= LEAST * longest] or branches


def _chains_off_trunk(skeleton: Skeleton) -> Iterable[list[list[str]]]:
    """The branches that hang on the trunk, each as its segments along its main line."""
    bones = bones_of(skeleton.ob)
    for start in skeleton.starts:
        chain: list[list[str]] = []
        bone = skeleton.ob.data.bones.get(start)
        while bone is not None and bone.name not in skeleton.trunk:
            segment = _segment_of(bones[bone.name])
            chain.append([bone.name for bone in segment])
            bone = foot_below(segment[-1].bone)
        yield chain


def _limb_of_branch(skeleton: Skeleton, chain: list[list[str]]) -> BranchLimb | None:
    """The limb that a branch has, or None."""
    ends = _by_names([segment[0] for segment in chain]) or _by_lengths(skeleton, chain)
    return None if ends is None or ends == NO_LIMB else BranchLimb(skeleton, chain, *ends)


NO_LIMB = (-1, -1)
"""The ends of a limb where names say that there is none."""


def _by_names(called: list[str]) -> tuple[int, int] | None:
    """The indices of the first and the last segment of a limb by what a branch's segments are called: above the foot or
    hand, or the lowest that is called after an arm or a leg; `NO_LIMB` where names say that there is none, and None
    where they say nothing."""
    foot = next((i for i, name in enumerate(called) if names.says(name, names.FEET)), None)
    if foot is None and (lowest := [i for i, name in enumerate(called) if names.is_limb_like(name)]):
        foot = lowest[-1] + 1 if lowest[-1] else None
    if foot is None:
        foot = next((i for i, name in enumerate(called) if i > 1 and names.says(name, names.TOES)), None)
    if foot is None:
        return None
    if foot < 2:
        return NO_LIMB
    first = called[foot - 2]
    is_carrier = names.is_girdle(first) and not names.is_limb_like(first)
    is_by_joint = names.says(called[foot - 1], names.BY_JOINT)
    return NO_LIMB if is_carrier and not is_by_joint else (foot - 2, foot - 1)


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
        if any(names.says(name, names.NO_HOCK) for name in called) or names.is_girdle(called[0]):
            continue
        heads = [skeleton.heads[segment[0]] for segment in chain[lowest - 2 : lowest + 2]]
        lengths = [(after - before).length for before, after in pairwise(heads)]
        if min(lengths) <= ALIKE * max(lengths):
            continue
        if _bends_to_and_fro(bones_of(skeleton.ob)[segments[-1][-1]], tuple(map(len, segments))):
            return lowest
    return None


def _bends_to_and_fro(last: PoseBone, segments: tuple[int, ...]) -> bool:
    """Whether bones in one plane clearly bend to one side and the other in turn."""
    try:
        geometry = rest_geometry(last, segments)
        check_planar(geometry)
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
    agreeing = [
        {
            limb
            for one, other, across in pairs
            if abs(across.dot(main)) >= ACROSS or not across.length
            for limb in (one, other)
        }
        for _, _, main in pairs
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
    is_same = all(offset.dot(farthest) >= ACROSS * offset.length * farthest.length for offset in offsets)
    return farthest.normalized() if is_same else None


# by a click on anything else


def _suggestion_by_click(bone: PoseBone, skeleton: Skeleton) -> Suggestion:
    """The limb of two segments that ends with a bone; where what is above it is no part of one, that which begins with
    it."""
    if bone.name in skeleton.trunk:
        raise Refused("'{bone}' carries limbs: click the last bone of an arm or a leg", bone=bone.name)
    segment = _segment_of(bone)
    above = segment[0].parent
    if above is not None and not _is_above(above, segment[0], skeleton):
        return segment[-1], (len(_segment_of(above)), len(segment))
    if len(segment) > 1:  # what looked like a twist bone is the limb
        return bone, (1, 1)
    below = foot_below(segment[-1].bone)
    if below is None:
        raise Refused("'{bone}' has no parent to bend against: click the shin or the forearm", bone=bone.name)
    lower = _segment_of(bones_of(bone.id_data)[below.name])
    return lower[-1], (len(segment), len(lower))


def _is_above(above: PoseBone, bone: PoseBone, skeleton: Skeleton) -> bool:
    """Whether the bone above another is no part of the same limb: trunk, shoulder, or the foot of another limb."""
    if above.name in skeleton.trunk or (
        names.is_girdle(above.name) and not names.is_limb_like(above.name) and not names.says(bone.name, names.BY_JOINT)
    ):
        return True
    feet = {foot.name for last in limbs_of(above.id_data) if (foot := foot_of(last))}
    for limb in _limbs(skeleton):
        feet |= limb.below if limb.is_evident else set()
    return above.name in feet


def _up_from(last: PoseBone, count: int) -> Suggestion:
    """The limb of ``count`` segments whose last is the one that a bone is in."""
    segment = _segment_of(last)
    segments, first = [len(segment)], segment[0]
    while len(segments) < count:
        check_parents(first, 2)
        above = _segment_of(first.parent)  # type: ignore[arg-type]
        segments.insert(0, len(above))
        first = above[0]
    return segment[-1], tuple(segments)


def _segment_of(bone: PoseBone) -> list[PoseBone]:
    """A bone with the twist bones that go on from it in line, or those from which it goes on."""
    segment = [bone]
    while _is_twist(segment[0]):
        segment.insert(0, segment[0].parent)  # type: ignore[arg-type]
    while (after := next(filter(_is_twist, children_of(segment[-1])), None)) is not None:
        segment.append(after)
    return segment


IN_LINE = 0.02
"""How far off the line between two joints a twist bone may begin, as a part of that."""


def _is_twist(bone: PoseBone) -> bool:
    """Whether a bone is a twist bone: in line with its parent and the joint below, and named so or as another piece of
    its parent, as ``thigh.001`` between ``thigh`` and ``shin``."""
    parent, below = bone.parent, foot_below(bone.bone)
    if parent is None or below is None:
        return False
    says_so = names.says_twist(bone.name) and not names.says_twist(names.stem_of(parent.name))
    if not (names.is_piece(bone.name, parent.name) or says_so):
        return False
    if names.stem_of(below.name) == names.stem_of(parent.name):
        return False
    start, joint = parent.bone.head_local, below.head_local
    along = joint - start
    off = (bone.bone.head_local - start).cross(along).length
    return bool(off <= IN_LINE * along.length_squared) and (bone.bone.head_local - start).dot(along) > 0.0
