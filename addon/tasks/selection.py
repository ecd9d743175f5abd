"""Which limbs bones and objects belong to, what belongs to a limb, and which frames are meant: for whoever lets people
choose, by what is selected or, for scripts and the command line, by names. Nothing is changed."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

import bpy
from bpy.types import Context, Object, PoseBone

from ..blender import animation, dependencies, stepping
from ..blender.dependencies import BoneRef
from ..blender.types import (
    ArmatureObject,
    Refused,
    bones_of,
    children_of,
    has_bone,
    is_armature,
    is_evaluated,
    scene_of,
    split_path,
    view_layer_of,
)
from ..feet.contacts import FrameRange
from ..finding.branches import Suggestion
from ..finding.choosing import LimbsToAdd, existing_at, limbs_offered, limbs_to_add, limbs_to_make, limbs_without_ik
from ..finding.constraints import candidates, last_bone_of
from ..limb import follow, storage, tips
from ..limb.follow import Follow, follow_of, follow_of_constraint, is_gone
from ..limb.names import FEET, has_word, other_side, side_sign
from ..limb.storage import bones_of_limb, chain_bones, is_orphaned, limbs_of
from ..limb.tips import foot_of
from .adding import LimbRequest
from .contact_markers import frame_range, marker_names, names_marked

__all__ = [
    "LimbsToAdd",
    "candidates",
    "limbs_offered",
    "limbs_to_add",
    "limbs_without_ik",
]

Around = Callable[[PoseBone], frozenset[str]]


def bones_beside(limb: PoseBone) -> frozenset[str]:
    """The names of further bones that belong to a limb of a rig with its own FK/IK slider."""
    return bones_around(limb, control_of(limb))


def limbs_of_bones(context: Context, bones: Sequence[PoseBone], around: Around = bones_beside) -> list[PoseBone]:
    """The limbs that bones are part of; else those that follow them or their children, or whose feet they are.
    ``around`` gives the names of further bones of a limb."""
    rigs = dict.fromkeys(bone.id_data for bone in bones)
    limbs = [limb for rig in rigs for limb in limbs_of(rig)]
    own = {bone: limb for limb in limbs for bone in chain_bones(limb)}
    selected = [own[bone] for bone in bones if bone in own]
    selected = selected or followers(context, [(bone.id_data, bone.name) for bone in bones])
    selected = selected or [limb for limb in limbs if {*bones} & _parents_of_target(limb, follow_of(limb))]
    selected = selected or [limb for limb in limbs if {bone.name for bone in bones} & around(limb)]
    near: set[PoseBone | None] = {*bones, *(bone.parent for bone in bones)} - {None}
    selected = selected or [limb for limb in limbs if {foot_of(limb), limb} & near]
    return list(dict.fromkeys(selected))


def _parents_of_target(limb: PoseBone, follow: Follow) -> set[PoseBone]:
    """The bones that a limb's target hangs on and the limb does not: the control of a foot, on a rig of Rigify's."""
    target, name = follow.pairs[0]
    if target is None or not has_bone(target, name):
        return set()
    return {*bones_of(target)[name].parent_recursive} - {*limb.parent_recursive}


HELPERS = ("MCH-", "ORG-", "DEF-")
"""What the names of bones that people do not see begin with, on rigs that have such."""


def control_of(limb: PoseBone) -> tuple[Object | None, str]:
    """The object or bone that people move to move a limb's target. Of the target and the bones above it that people
    see, the topmost one that is called a foot or hand, else the first."""
    target, name = follow_of(limb).pairs[0]
    if target is None or not has_bone(target, name):
        return target, name
    bone = bones_of(target)[name]
    names = [bone.name, *(above.name for above in bone.parent_recursive if above not in limb.parent_recursive)]
    shown = [control for control in names if not control.startswith(HELPERS)]
    feet = [control for control in shown if has_word(control, FEET)]
    return target, next(iter([*feet[-1:], *shown]), name)


def refs_of_role(limb: PoseBone, role: str, is_generated: bool) -> list[BoneRef]:
    """The objects or bones of a limb's ``TARGET``, ``POLE`` or ``LIMB`` (its bones), the one to be active last. The
    target as people move it; in place of bones the FK bones of a rig that ``is_generated``."""
    if role == "LIMB":
        own = [bone.name for bone in bones_of_limb(limb)]
        return [(limb.id_data, name) for name in (fk_bones(limb) if is_generated else own)]
    ob, bone = control_of(limb) if role == "TARGET" else follow_of(limb).pairs[1]
    return [] if ob is None or is_gone(ob, bone) else [(ob, bone)]


def orphaned_limbs(bones: Sequence[PoseBone]) -> list[PoseBone]:
    """The bones whose limb lost its IK constraint, if one of ``bones`` was part of it or its foot."""
    rigs = dict.fromkeys(bone.id_data for bone in bones)
    without_constraint = [limb for rig in rigs for limb in rig.pose.bones if is_orphaned(limb)]
    return [limb for limb in without_constraint if {*bones} & {*chain_bones(limb), foot_of(limb)}]


def convertible(bones: Sequence[PoseBone]) -> list[PoseBone]:
    """The bones with IK constraints, of the selected ones, that could be solved exactly. Of these bones or their
    children, else those whose target or pole one of them is, else those whose targets hang on them."""
    near, rigs = {*bones, *(child for bone in bones for child in children_of(bone))}, {bone.id_data for bone in bones}
    owners = [owner for rig in rigs for owner in candidates(rig)]
    follows = {
        owner: [follow_of_constraint(constraint) for constraint in owner.constraints if constraint.type == "IK"]
        for owner in owners
    }
    named = {(bone.id_data, bone.name) for bone in bones}
    followed = [owner for owner in owners if any(named & {*follow.pairs} for follow in follows[owner])]
    hanging = [
        owner for owner in owners if any({*bones} & _parents_of_target(owner, follow) for follow in follows[owner])
    ]
    return [owner for owner in owners if {owner, last_bone_of(owner)} & near] or followed or hanging


def followers(context: Context, things: Sequence[BoneRef]) -> list[PoseBone]:
    """The limbs in the view layer that follow things."""
    followed = {*things}
    if not followed:
        return []
    return [limb for limb in limbs_in_view(context) if followed & set(follow_of(limb).pairs)]


def limbs_in_view(context: Context) -> list[PoseBone]:
    """All limbs of the view layer."""
    layer: Any = view_layer_of(context)
    return [limb for ob in layer.objects if is_armature(ob) and is_in_view(context, ob) for limb in limbs_of(ob)]


def is_in_view(context: Context, ob: Object) -> bool:
    """Whether the view layer evaluates an object, hidden or not: of others, the bones may not be looked at."""
    return is_evaluated(ob, view_layer_of(context).depsgraph or context.evaluated_depsgraph_get())


def limbs_matched(
    ob: ArmatureObject, pattern: str, count: int = 0
) -> tuple[list[PoseBone], list[tuple[Suggestion, list[str]]]]:
    """The limbs that a pattern of bones' names matches: those that are there, and those to be made, of ``count`` bones
    (0: as Add finds them), each with what the wildcards stand for in its last bone's name, or in the first that
    matches. Bones are taken as if they were selected in the window, but none is a target: that is named."""
    letters = {ob.pose.bones[name]: letters for name, letters in matches_of(pattern, ob.pose.bones.keys()).items()}
    existing = {bone: existing_at(bone) for bone in letters}
    there = [*dict.fromkeys(filter(None, existing.values()))]
    new = [bone for bone in letters if existing[bone] is None]
    try:
        limbs = limbs_to_make(new, count) if new else {}
    except Refused:
        if not there:
            raise
        limbs = {}
    return there, [(limb, letters[limb[0] if limb[0] in of else of[0]]) for limb, of in limbs.items()]


def followed_by_name(ob: ArmatureObject, name: str) -> BoneRef | None:
    """The bone of the rig, else the object, of a name; None without one."""
    if not name:
        return None
    if name in ob.pose.bones:
        return ob, name
    target = bpy.data.objects.get(name)
    if target is None:
        raise Refused("There is neither a bone of '{rig}' nor an object '{name}'", rig=ob.name, name=name)
    return target, ""


def requests_by_name(context: Context, limbs: str, followed: tuple[str, str], count: int = 0) -> list[LimbRequest]:
    """The limbs to make that ``limbs`` names, by bones or patterns with spaces between. Of the active rig or the
    only one that has these; target and pole of each as ``followed`` names them for that, or for the first one: of
    the others, those of their own side. Raises `Refused`."""
    ob = _rig_with(context, limbs)
    found = list[tuple[Suggestion, list[str]]]()
    for pattern in _words(ob, limbs):
        there, new = limbs_matched(ob, pattern, count)
        if there:
            raise Refused("'{bone}' has IK already", bone=there[0].name)
        found += new
    requests = []
    for (limb, segments), letters in found:
        names = [fill_wildcards(name, letters) for name in followed]
        if side_sign(limb.name) * side_sign(found[0][0][0].name) < 0 and names == [*followed]:
            names = [other_side(name) for name in names]
        target, pole = (followed_by_name(ob, name) for name in names)
        requests.append(LimbRequest(limb, segments, target, pole))
    return requests


def _rig_with(context: Context, limbs: str) -> Any:
    """The active rig, if it has these bones, or else the only one of the view layer that has them; without such,
    refuse."""
    layer: Any = view_layer_of(context)
    rigs = [ob for ob in layer.objects if is_armature(ob) and _has_all(ob, limbs)]
    if layer.objects.active in rigs:
        return layer.objects.active
    if len(rigs) != 1:
        template = "Several rigs have {bones}: make one of them active" if rigs else "No rig here has {bones}"
        raise Refused(template, bones=limbs)
    return rigs[0]


def _has_all(ob: Object, limbs: str) -> bool:
    names = ob.pose.bones.keys()  # type: ignore[union-attr]
    return all(matches_of(pattern, names) for pattern in _words(ob, limbs))


def _words(ob: Object, limbs: str) -> list[str]:
    """The names and patterns in a text: one of a bone with spaces in it, alone or in quotes, is one."""
    try:
        return [limbs] if limbs in ob.pose.bones else shlex.split(limbs)  # type: ignore[union-attr]
    except ValueError:
        raise Refused("{bones} has a quote that does not end", bones=limbs) from None


WILDCARD = re.compile(r"\*|\?|\[!?\]?[^\]]*\]", re.DOTALL)
"""What stands for other letters: ``*``, ``?`` and a set such as ``[LR]``."""


def is_match(name: str, pattern: str) -> bool:
    """Whether a name matches a pattern, or is the same."""
    return name == pattern or fnmatchcase(name, pattern)


def matches_of(pattern: str, names: Iterable[str]) -> dict[str, list[str]]:
    """The names that a pattern matches, each with what its wildcards stand for, each star for as little as it can. A
    name that is the pattern itself, as one with a bracket in it may be, is the only one."""
    names = [*names]
    if pattern in names:
        return {pattern: []}
    plain, wild = WILDCARD.split(pattern), WILDCARD.findall(pattern)
    groups = [{"*": "(.*?)", "?": "(.)"}.get(one) or f"({_set(one[1:-1])})" for one in wild]
    text = "".join(part for pair in zip(map(re.escape, plain), [*groups, ""], strict=True) for part in pair)
    found = {name: re.fullmatch(text, name, re.DOTALL) for name in names}
    return {name: [*match.groups()] for name, match in found.items() if match}


def _set(letters: str) -> str:
    is_not = letters.startswith("!")
    inside = re.sub(r"([\\\[\]^&~|])", r"\\\1", letters[is_not:])
    return f"[{'^' * is_not}{inside}]"


def fill_wildcards(name: str, letters: list[str]) -> str:
    """A name with letters in place of its wildcards, one after the other, as far as there are letters."""
    remaining = iter(letters)
    return WILDCARD.sub(lambda wildcard: next(remaining, wildcard[0]), name)


def bones_around(limb: PoseBone, control: tuple[Object | None, str]) -> frozenset[str]:
    """The names of the bones that belong to a limb of a rig with its own FK/IK slider; none on other rigs. The bone
    with the slider, the limb's ``control`` and its children, bones that are copied where the limb is, and those in
    collections that have all these and nothing of another limb."""
    slider, rig = follow.rig_slider(limb), limb.id_data
    if slider is None or control[0] not in (None, rig):
        return frozenset()
    own = {bone.name for bone in storage.bones_of_limb(limb)}
    copying = {bone.name for bone in _copying(limb)}
    around = _with_below(rig, {slider.bone, control[1], *fk_bones(limb)}) | _with_below(rig, copying) - copying
    return frozenset((around | _beside(rig, around)) - own)


def fk_bones(limb: PoseBone) -> list[str]:
    """The FK bones of a limb on a generated rig: the bones, besides its own, that are copied by those that copy the
    limb."""
    own = {bone.name for bone in storage.bones_of_limb(limb)}
    copied = dict.fromkeys(name for bone in _copying(limb) for name in _copied_by(bone))
    return [name for name in copied if name not in own]


def _copying(limb: PoseBone) -> list[PoseBone]:
    """The bones that copy those of a limb."""
    own = {bone.name for bone in storage.bones_of_limb(limb)}
    return [bone for bone in limb.id_data.pose.bones if own & {*_copied_by(bone)}]


def _copied_by(bone: PoseBone) -> list[str]:
    """The bones of its own rig that a bone copies."""
    constraints: Any = [constraint for constraint in bone.constraints if constraint.type == "COPY_TRANSFORMS"]
    return [constraint.subtarget for constraint in constraints if constraint.target == bone.id_data]


def _with_below(rig: Object, names: Iterable[str]) -> set[str]:
    """Bones and what hangs on them."""
    bones = [rig.pose.bones[name] for name in names if name in rig.pose.bones]  # type: ignore[union-attr]
    return {name for bone in bones for name in (bone.name, *(below.name for below in bone.children_recursive))}


def _beside(rig: Object, names: set[str]) -> set[str]:
    """The bones in those collections, shown or not, most of whose bones are among these."""
    counts: Counter[str] = Counter()
    collections = rig.data.collections_all  # type: ignore[union-attr]
    for collection in collections:
        bones = {bone.name for bone in collection.bones}
        if 2 * len(bones & names) > len(bones):
            counts.update(bones)
    return {*counts}


def range_to_hold(context: Context, limbs: Sequence[PoseBone], source: str) -> FrameRange:
    """The ``PREVIEW`` range, the range of selected ``KEYS``, or from the ``CURRENT`` frame to the last one played.
    Raises `Refused`."""
    scene = scene_of(context)
    if source == "PREVIEW" and not scene.use_preview_range:
        raise Refused("The scene has no preview range: set one in the timeline, or choose Scene")
    if source == "PREVIEW":
        return FrameRange(scene.frame_preview_start, scene.frame_preview_end)
    if source == "KEYS":
        selected, _ = selected_frames(_animated_refs(limbs))
        if len(selected) < 2:
            raise Refused("Select keys of the limbs or their controls at both ends of the range")
        return FrameRange(min(selected), max(selected))
    current, last = scene.frame_current, frame_range(scene)[-1]
    if current >= last:
        raise Refused("No frames are played after frame {frame}: go to where the hold begins", frame=current)
    return FrameRange(current, last)


def range_animated(context: Context, bones: Sequence[PoseBone]) -> FrameRange:
    """The preview range if it is on; else from the first to the last key of what bones and limbs move by. Of the
    rigs of bones and of what limbs among them follow, where nothing but keys moves these; else the scene's range."""
    scene, frames = scene_of(context), frame_range(scene_of(context))
    things: set[Any] = {bone.id_data for bone in bones}
    things |= {ob for limb in filter(storage.is_limb, bones) for ob, _ in follow.follow_of(limb).pairs if ob}
    curves = [curve for ob in things for curve in animation.curves_of(ob)]
    is_plain = all(curve.keyframe_points and not curve.modifiers for curve in curves)
    has_strips = any(True for ob in things for _ in animation.strips_of(ob))
    if scene.use_preview_range or not curves or not is_plain or has_strips:
        return FrameRange(frames[0], frames[-1])
    stretched = float(stepping.times_of(scene, [1.0])[0])
    ends = [round(curve.keyframe_points[i].co.x / stretched) for curve in curves for i in (0, -1)]
    return FrameRange(min(ends), max(ends)) if min(ends) < max(ends) else FrameRange(frames[0], frames[-1])


def range_source(context: Context, limbs: Sequence[PoseBone]) -> str:
    """What sets a range to hold: ``PREVIEW`` range, selected ``KEYS``, or marked ``CONTACTS``; "" if nothing does.
    Keys do not if all are selected, as after an import."""
    if scene_of(context).use_preview_range:
        return "PREVIEW"
    selected, is_all = selected_frames(_animated_refs(limbs))
    if len(selected) > 1 and not is_all:
        return "KEYS"
    names = {name for limb in limbs for name in marker_names(limb).values()}
    return "CONTACTS" if any(name in names for _, name in names_marked(scene_of(context))) else ""


def selected_frames(refs: Iterable[dependencies.BoneRef]) -> tuple[set[int], bool]:
    """The frames, rounded, of selected keys of objects and bones, and whether all of their keys are selected."""
    names: dict[object, set[str]] = {}
    for ob, bone in refs:
        names.setdefault(ob, set()).add(bone)
    keys = [
        key
        for ob, of_object in names.items()
        for curve in animation.curves_of(ob)
        if split_path(curve.data_path)[0] in of_object
        for key in curve.keyframe_points
    ]
    selected = [key for key in keys if key.select_control_point]
    stretched = float(stepping.times_of(scene_of(bpy.context), [1.0])[0])
    return {round(key.co.x / stretched) for key in selected}, len(selected) == len(keys)


def _animated_refs(limbs: Sequence[PoseBone]) -> list[dependencies.BoneRef]:
    """What of limbs may have keys: their bones, feet, targets and poles."""
    refs: list[dependencies.BoneRef] = []
    for limb in limbs:
        bones = [*storage.chain_bones(limb), *filter(None, [tips.foot_of(limb)])]
        refs += [(limb.id_data, bone.name) for bone in bones]
        refs += [(ob, bone) for ob, bone in follow.follow_of(limb).pairs if ob is not None]
    return refs
