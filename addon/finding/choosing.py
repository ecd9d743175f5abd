"""Which limbs are meant by what is selected, and what they are to follow.

Two to four bones in line are a limb, whatever they are called and however long. One bone is of the arm or leg that it
is clearly part of, or else the last of two. Where more is selected, the arms and legs among it are meant. What is
selected besides a single limb is its target and its pole.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from bpy.types import Context, Object, PoseBone
from mathutils import Vector

from ..blender.dependencies import BoneRef, Dependencies
from ..blender.types import Message, Refused, bones_of, is_hidden
from ..limb import follow, names, tips
from ..limb.storage import chain_bones, is_limb, is_mechanism_bone, limbs_of, segments_of
from . import branches, checking, constraints, loops
from .loops import Loop, loops_meant


class LimbsToAdd(NamedTuple):
    """What *Add* makes of the selection."""

    limbs: list[branches.Suggestion]
    followed: list[BoneRef]  # target and pole of a single limb, as far as they are selected
    skipped: list[tuple[str, Message]]  # the last bones of limbs that are left out, by name, with why
    loops: dict[str, Loop]  # those of a machine that limbs are to close, by their last bones


def limbs_to_add(context: Context, count: int = 0, ends_at: int = 0) -> LimbsToAdd:
    """The limbs that are selected, and the target and pole that are selected with a single one; raises `Refused`.

    ``count`` says how many bones each is to have, counted from its last one upwards, if it is not 0; ``ends_at``, by
    how many bones it is to end further down its line, or up if it is below 0.
    """
    bones = _selected(context)
    if not bones:
        raise Refused("Select the bones of a limb, or its last one: cylinders are left alone")
    if loops := _loops(bones, count or ends_at):
        return _without_refused(_limbs_of(bones[0].id_data, loops))._replace(loops={loop.limb: loop for loop in loops})
    limbs, others = _limbs_and_others(bones, context.active_pose_bone, count)
    if ends_at:
        limbs = [
            branches.moved_along_line(limb, ends_at, branches.BranchLimbs(limb[0].id_data).shared_parents)
            for limb in limbs
        ]
    if len(limbs) > 1:
        return _without_refused(limbs)
    return LimbsToAdd(limbs, _followed(context, limbs[0], others), [], {})


def limbs_offered(context: Context) -> tuple[list[branches.Suggestion], Message | None]:
    """The limbs that *Add* would make of the selection, or a message that says why there are none. None is offered
    for one bone that is part of no arm or leg of a rig that has some, and hangs on no limb; nor on a rig that Rigify
    generated, which comes with IK."""
    bones = _selected(context)
    if not bones or "rig_id" in bones[0].id_data.data:
        return [], None
    ob, first = bones[0].id_data, bones[0]
    arms_and_legs, hangs = branches.BranchLimbs(ob), {*first.parent_recursive} & {*limbs_of(ob)}
    try:
        if loops := _loops(bones):
            return _limbs_of(ob, loops), None
        if len(bones) == 1 and arms_and_legs.clear and not arms_and_legs.at(first) and not hangs:
            raise Refused(
                "'{bone}' is of no arm or leg: click one, or select two to four bones in line", bone=first.name
            )
        limbs, _ = _limbs_and_others(bones, context.active_pose_bone)
    except Refused as why:
        return [], why.message
    followed = {ref for limb in limbs_of(ob) for ref in follow.follow_of(limb).pairs}
    return [limb for limb in limbs if not is_limb(limb[0]) and (ob, limb[0].name) not in followed], None


def _loops(bones: Sequence[PoseBone], other_bones: int = 0) -> list[Loop]:
    """The loops of a machine that bones are of; none of a body with arms and legs, or where ``other_bones`` are to be
    had."""
    ob = bones[0].id_data
    is_body = any(limb.is_twin and limb.is_named for limb in branches.BranchLimbs(ob).clear)
    if is_body or other_bones not in (0, 2):
        return []
    own = {bone for bone in bones if not is_mechanism_bone(bone.bone)}
    return loops_meant(bones, _is_all(own | {ob.pose.bones[name] for name in loops.bones_of_cylinders(ob)}))


def _limbs_of(ob: Object, loops: Sequence[Loop]) -> list[branches.Suggestion]:
    return [(bones_of(ob)[loop.limb], (1, 1)) for loop in loops]


def limbs_without_ik(bones: Sequence[PoseBone]) -> list[branches.Suggestion]:
    """The arms and legs that bones are part of and that have no IK yet."""
    limbs = branches.BranchLimbs(bones[0].id_data)
    evident = {limb.suggestion() for limb in limbs.evident if limb.is_evident}
    return [limb for limb in _found(bones, 0, limbs) if limb in evident]


def _selected(context: Context) -> list[PoseBone]:
    """The bones that are selected, but those of cylinders."""
    bones = [*(context.selected_pose_bones or ())]
    apart = {ob: loops.bones_of_cylinders(ob) for ob in {bone.id_data for bone in bones}}
    return [bone for bone in bones if bone.name not in apart[bone.id_data]]


def limbs_to_make(bones: Sequence[PoseBone], count: int = 0) -> dict[branches.Suggestion, list[PoseBone]]:
    """The limbs that selected bones of one rig mean, each with those of the bones that say so. None of these is a
    target or a pole. Raises `Refused` where there is none."""
    groups = _groups(bones, bones[0], count)
    clear = [group for group in groups if group.limbs and group.is_clear] if len(groups) > 1 else []
    limbs: dict[branches.Suggestion, list[PoseBone]] = {}
    for group in clear or groups:
        for limb in group.limbs:
            limbs.setdefault(limb, []).extend(group.bones)
    if not limbs:
        raise next(group.refusal for group in groups if group.refusal)
    return limbs


# what hangs together


LONGEST_LINE = 4
"""How many bones a line has that is a limb."""


class BoneGroup(NamedTuple):
    """Selected bones that hang on each other, and the limbs that they are part of; or why there are none."""

    bones: list[PoseBone]
    limbs: list[branches.Suggestion]
    refusal: Refused | None
    is_line: bool  # two to four, each the child of the one before
    is_clear: bool  # of arms or legs
    is_jointed: bool  # each begins at the tail of the one before, and a single one at that of its parent


def _groups(bones: Sequence[PoseBone], active: PoseBone | None, count: int) -> list[BoneGroup]:
    """Bones by what hangs together."""
    own_bones = dict.fromkeys(bone for bone in bones if not is_mechanism_bone(bone.bone))
    under: dict[PoseBone, list[PoseBone]] = {}
    for bone in bones:
        if bone in own_bones and bone.parent in own_bones:
            under.setdefault(bone.parent, []).append(bone)
    limbs = {ob: branches.BranchLimbs(ob) for ob in dict.fromkeys(bone.id_data for bone in bones)}
    tops = [bone for bone in bones if bone not in own_bones or bone.parent not in own_bones]
    groups = [[*own_bones]] if len(tops) > 1 and _is_all({*own_bones}) else [_all_under(top, under) for top in tops]
    return [_group(group, active, count, limbs[group[0].id_data]) for group in groups]


def _is_all(bones: set[PoseBone]) -> bool:
    """Whether these are all bones of a rig that can be selected, as after A."""
    rigs = {bone.id_data for bone in bones}
    everything = {
        bone for ob in rigs for bone in ob.pose.bones if not is_mechanism_bone(bone.bone) and not is_hidden(bone)
    }
    return len(rigs) == 1 and everything <= bones


def _all_under(top: PoseBone, under: dict[PoseBone, list[PoseBone]]) -> list[PoseBone]:
    """A bone and all that hang on it, those that hang on others after them."""
    group = [top]
    for bone in group:
        group += under.get(bone, ())
    return group


def _group(bones: list[PoseBone], active: PoseBone | None, count: int, limbs: branches.BranchLimbs) -> BoneGroup:
    """The limbs of bones that hang together."""
    is_straight = all(bone.parent == before for before, bone in pairwise(bones))
    line = _line(bones, limbs) if is_straight and len(bones) <= LONGEST_LINE else []
    suggested: list[branches.Suggestion] = []
    refusal = None
    try:
        if len(line) > 1:
            suggested = [branches.limb_up_from(line[-1], count, limbs.shared_parents) if count else _of_line(line)]
        elif line:
            suggested = [limb_at(line[0], count, limbs)]
        elif is_straight and not any(map(limbs.at, bones)):
            template = "A limb has two to four bones, and '{first}' to '{last}' are {count}: select those of one limb"
            raise Refused(template, first=bones[0].name, last=bones[-1].name, count=len(bones))
        else:
            suggested = _found(bones, count, limbs) or [_in_place(bones, active, count, limbs)]
    except Refused as why:
        refusal = why
    is_clear = any(map(limbs.at, line or bones))
    is_jointed = bool(line) and all(tips.begins_at_tail(bone.bone) for bone in (line[1:] or line))
    return BoneGroup(
        bones=bones, limbs=suggested, refusal=refusal, is_line=len(line) > 1, is_clear=is_clear, is_jointed=is_jointed
    )


def _in_place(
    bones: Sequence[PoseBone], active: PoseBone | None, count: int, limbs: branches.BranchLimbs
) -> branches.Suggestion:
    """The limb of the active one of bones that are of no arm or leg without IK."""
    if limbs_of(bones[0].id_data) and limbs.clear:
        raise Refused("All arms and legs that are selected have IK already")
    return limb_at(active if active and active in bones else bones[0], count, limbs)


def _line(bones: list[PoseBone], limbs: branches.BranchLimbs) -> list[PoseBone]:
    """A line of bones without the offset groups at its beginning, and without the foot at its end."""
    while len(bones) > 1 and branches.bone_of_offset_group(bones[0].bone) == bones[1].bone:
        bones = bones[1:]
    limb = next(filter(None, map(limbs.at, bones)), None)
    while len(bones) > 2 and names.has_word(bones[-1].name, names.AT_END) and not (limb and bones[-1].name in limb.own):
        bones = bones[:-1]
        if limb is None:  # nothing says that what is above it is not the limb's
            break
    return bones


def _of_line(line: list[PoseBone]) -> branches.Suggestion:
    """The limb that a line of bones is, with twist bones in it or below, and with each other bone as a segment."""
    segments: list[list[PoseBone]] = []
    for bone in line:
        if segments and (branches.is_twist(bone) or branches.bone_of_offset_group(bone.bone) is not None):
            segments[-1].append(bone)
        else:
            segments.append([bone])
    if len(segments) < 2:
        return line[-1], (1,) * len(line)
    rest = branches.segment_of(line[-1])
    twists = rest[rest.index(line[-1]) + 1 :]
    return rest[-1], (*map(len, segments[:-1]), len(segments[-1]) + len(twists))


def _found(bones: Sequence[PoseBone], count: int, limbs: branches.BranchLimbs) -> list[branches.Suggestion]:
    """The arms and legs that bones are parts of, each once, of those that have no IK yet."""
    ob = bones[0].id_data
    if "rig_id" in ob.data:
        return []
    selected = {bone.name for bone in bones if not is_mechanism_bone(bone.bone)}
    taken = {bone.name for limb in limbs_of(ob) for bone in chain_bones(limb)}
    matching = [line for line in limbs.evident if selected & (line.own | line.below) and not taken & line.own]
    as_found = [line.suggestion(count) for line in matching]
    return [branches.limb_up_from(limb, count, limbs.shared_parents) for limb, _ in as_found] if count > 2 else as_found


# several of them, or one with its target and pole


def _limbs_and_others(
    bones: Sequence[PoseBone], active: PoseBone | None, count: int = 0
) -> tuple[list[branches.Suggestion], list[PoseBone]]:
    """The limbs that bones are meant for, and of a single one what else is selected; raises `Refused`."""
    groups = _groups(bones, active, count)
    lines = [group.limbs[0][0] for group in groups if group.is_line and group.limbs]
    groups = [group._replace(is_clear=group.is_clear and not _is_pin(group, lines)) for group in groups]
    any_clear = any(group.is_clear for group in groups)
    certain = [
        group
        for group in groups
        if group.limbs and (group.is_clear or (group.is_line and (group.is_jointed or not any_clear)))
    ]

    def claim(group: BoneGroup) -> tuple[bool, ...]:
        has_active, is_certain = active in group.bones, group in certain
        return (
            bool(group.limbs),
            is_certain and has_active,
            is_certain and group.is_line,
            group.is_jointed and has_active,
            group.is_clear,
            has_active,
        )

    main = max(groups, key=claim)
    if not main.limbs and main.refusal:
        raise main.refusal
    if main in certain and len(certain) > 1 and (main.is_clear or len(certain) == len(groups)):
        limbs = [*dict.fromkeys(limb for group in certain for limb in group.limbs)]
        others = [bone for group in groups if group not in certain for bone in group.bones]
        return limbs, others if len(limbs) == 1 else _refused(others, limbs)
    return main.limbs, [bone for group in groups if group is not main for bone in group.bones]


def _refused(others: Sequence[PoseBone], limbs: Sequence[branches.Suggestion]) -> list[PoseBone]:
    """Nothing, where what is selected besides several limbs carries them or hangs on them; raises `Refused`."""
    for bone in others:
        if not any(bone in limb.parent_recursive or limb in bone.parent_recursive for limb, _ in limbs):
            template = "'{bone}' is of none of these limbs: add one limb at a time to have it follow a control"
            raise Refused(template, bone=bone.name)
    return []


def _is_pin(group: BoneGroup, limbs: Sequence[PoseBone]) -> bool:
    """Whether bones are a single one that begins where one of these limbs ends, which is to be held there: no limb's,
    though there may be another such machine on the other side."""
    return len(group.bones) == 1 and any(_begins_at_tip(group.bones[0], limb) for limb in limbs)


def _begins_at_tip(bone: PoseBone, limb: PoseBone) -> bool:
    """Whether a bone begins where a limb that it is no part of ends."""
    off = (bone.bone.head_local - limb.bone.tail_local).length
    return bone.id_data == limb.id_data and bone.parent != limb and off <= branches.AT_TIP * limb.bone.length


def _without_refused(limbs: Sequence[branches.Suggestion]) -> LimbsToAdd:
    """Those of several limbs that IK can be put on; raises `Refused` if that is none."""
    taken: dict[PoseBone, PoseBone] = {}
    to_add = LimbsToAdd([], [], [], {})
    refusal: Refused | None = None
    dependencies = Dependencies()
    for limb, segments in limbs:
        try:
            checking.check_addable(limb, segments, dependencies)
            chain = chain_bones(limb, segments)
            if shared := next((bone for bone in chain if bone in taken), None):
                raise Refused("It shares bones with {last}", last=taken[shared].name)
        except Refused as why:
            to_add.skipped.append((limb.name, why.message))
            refusal = refusal or why
            continue
        taken |= dict.fromkeys(chain, limb)
        to_add.limbs.append((limb, segments))
    if not to_add.limbs and refusal:
        raise refusal
    return to_add


def _followed(context: Context, suggestion: branches.Suggestion, others: Sequence[PoseBone]) -> list[BoneRef]:
    """What is selected besides a limb and its foot and toes: the nearest to its tip comes first. Raises `Refused` where
    it can't be target and pole."""
    limb, segments = suggestion
    own = [bone.name for bone in chain_bones(limb, segments)]
    whole = branches.BranchLimbs(limb.id_data).at(limb)
    bones = [bone for bone in others if whole is None or bone.id_data != limb.id_data or bone.name not in whole.below]
    for bone in bones:
        if bone in limb.parent_recursive and bone.name not in own:
            raise Refused("'{bone}' carries the limb: select a control, or nothing besides", bone=bone.name)
        checking.check_followed(limb, segments, (bone.id_data, bone.name))
        other = branches.BranchLimbs(bone.id_data).at(bone)
        if other and other.is_twin and not _begins_at_tip(bone, limb):
            template = "'{bone}' is of an arm or a leg, which no other limb follows: select a control, or nothing"
            raise Refused(template, bone=bone.name)
    followed: list[BoneRef] = [(bone.id_data, bone.name) for bone in bones]
    followed += [(ob, "") for ob in _selected_targets(context, limb.id_data)]
    if len(followed) > 2:
        raise Refused("Besides the limb, select a target and a pole at most")
    return sorted(followed, key=lambda ref: _distance_from_tip(context, limb, ref))


def _distance_from_tip(context: Context, limb: PoseBone, followed: BoneRef) -> float:
    """How far from the tip of a limb something is in the world."""
    depsgraph = context.evaluated_depsgraph_get()
    tip = follow.matrix_of(limb.id_data, limb.name, depsgraph) @ Vector(tips.tip_of(limb).tolist())
    return float((follow.matrix_of(followed[0], followed[1], depsgraph).translation - tip).length)


def _selected_targets(context: Context, rig: Object) -> list[Object]:
    """The selected objects that can be targets; none if a part of the character is among them: importers leave all
    that they made selected, and nobody means those."""
    objects = [ob for ob in context.selected_objects if ob.mode != "POSE"]
    return [] if any(_is_skin(ob, rig) for ob in objects) else objects


def _is_skin(ob: Object, rig: Object) -> bool:
    """Whether an object may be what a rig deforms: its parent, or a mesh below it or with any Armature modifier."""
    return rig.parent == ob or (
        ob.type == "MESH" and (ob.parent == rig or any(modifier.type == "ARMATURE" for modifier in ob.modifiers))
    )


def limb_at(bone: PoseBone, count: int = 0, limbs: branches.BranchLimbs | None = None) -> branches.Suggestion:
    """The limb that a clicked bone is part of: one that exists, or an arm or leg, or the two bones that end with it.
    It may be clicked by its shoulder, foot or toe. Raises `Refused`. ``count`` says how many bones it is to have:
    with three or four, the clicked one is the last. Else it has two, or three if an animal's leg has a hock. Who knows
    the ``limbs`` of the rig saves the time to find them."""
    limbs = limbs or branches.BranchLimbs(bone.id_data)
    if is_mechanism_bone(bone.bone):
        raise Refused("'{bone}' was made for a limb: select the bones of one", bone=bone.name)
    there = existing_at(bone)
    if there is not None:
        return there, segments_of(there)
    if (inner := branches.bone_of_offset_group(bone.bone)) is not None:
        bone = bones_of(bone.id_data)[inner.name]
    if count > 2:
        return branches.limb_up_from(bone, count, limbs.shared_parents)
    limb = limbs.at(bone)
    if limb and is_limb(limb.suggestion()[0]):  # it hangs on that
        limb = None
    return limb.suggestion(count) if limb else _last_of_two(bone, limbs)


def _last_of_two(bone: PoseBone, limbs: branches.BranchLimbs) -> branches.Suggestion:
    """The limb of two segments that ends with a bone; where what is above it is no part of one, that which begins with
    it."""
    if bone.name in limbs.shared_parents:
        raise _nothing_at(bone)
    segment = branches.segment_of(bone)
    upper = branches.segment_above(segment)
    if upper and not _is_apart(upper[0], segment[0], limbs):
        return segment[-1], (len(upper), len(segment))
    if len(segment) > 1:  # what looked like a twist bone is the limb
        return segment[-1], (1,) * len(segment)
    groups, lower = branches.segment_below(segment)
    if lower is None:
        raise Refused("'{bone}' has no parent to bend against: click the shin or the forearm", bone=bone.name)
    if not tips.begins_at_tail(lower.bone) and len(segment[-1].children) > 1:
        raise _nothing_at(bone)
    limb = branches.segment_of(lower)
    return limb[-1], (len(segment) + len(groups), len(limb))


def _is_apart(upper: PoseBone, bone: PoseBone, limbs: branches.BranchLimbs) -> bool:
    """Whether a bone above another is no part of the same limb: it carries several, or is of another one, or it is a
    root, from which the other stands off."""
    of = limbs.at(upper)
    is_below = of is not None and upper.name in of.below and is_limb(of.suggestion()[0])
    if upper.name in limbs.shared_parents or (of and not is_below) or existing_at(upper):
        return True
    return upper.parent is None and (names.moves_all(upper.name) or not tips.begins_at_tail(bone.bone))


def _nothing_at(bone: PoseBone) -> Refused:
    """Why a bone is of no limb."""
    if constraints.candidates(bone.id_data):
        return Refused("Limbs of '{rig}' have IK constraints: press Solve Exactly (Convert)", rig=bone.id_data.name)
    return Refused("'{bone}' carries limbs: click the last bone of an arm or a leg", bone=bone.name)


def existing_at(bone: PoseBone) -> PoseBone | None:
    """The last bone of the limb that is there and that a bone is part of, or its foot or toe."""
    limbs = limbs_of(bone.id_data)
    for limb in limbs:
        if bone in chain_bones(limb):
            return limb
    for limb in limbs:
        foot = tips.foot_of(limb)
        if foot is not None and bone.bone in (foot.bone, *(toe for toe in foot.bone.children if not toe.children)):
            return limb
    return None
