"""Limbs to be added, and what they are to follow, by names: for scripts and the command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

import bpy
from bpy.types import Context, Object, PoseBone

from ..blender.dependencies import BoneRef
from ..blender.types import ArmatureObject, is_armature, view_layer_of
from ..blender.words import Refused
from ..finding.choosing import existing_at, limbs_to_make
from ..finding.segments import Suggestion
from ..limb.names import other_side, side_sign
from .adding import LimbRequest


def limbs_matched(
    ob: ArmatureObject, pattern: str, count: int = 0
) -> tuple[list[PoseBone], list[tuple[Suggestion, list[str]]]]:
    """The limbs that are there already, and those to be made, each with what the pattern's wildcards stand for, in the
    last bone's name if that is matched too. The bones that a pattern matches are taken as where they are selected in
    the window, but none is a target: what they are to follow is named."""
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
    """The limbs that ``limbs`` names, by bones or patterns with spaces between, of the active rig or the only one that
    has these; target and pole of each as ``followed`` names them for that, or for the first one: of the others, those
    of their own side. Raises `Refused`."""
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
    """The active rig, if it has these bones, or else the only one of the view layer that has them."""
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
