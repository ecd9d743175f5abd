"""``add``: limbs of bones that are named or match a pattern."""

from __future__ import annotations

from argparse import Namespace
from fnmatch import translate
from re import compile as pattern_of
from typing import Any

import bpy
from bpy.types import Object, PoseBone

from ..blender.types import ArmatureObject, view_layer_of
from ..limb.storage import is_limb
from ..limb.words import Refused
from ..tasks.adding import Request, add
from ..tasks.finding import limb_at
from .shots import rigs_of, say


def make_limbs(arguments: Namespace) -> list[PoseBone]:
    """Make the limbs that are asked for and are not there; give their last bones."""
    made: list[tuple[Any, str]] = []
    for ob in rigs_of(arguments):
        if ob.library is None:
            made += [(ob, name) for name in _make_on(ob, arguments)]
    return [ob.pose.bones[name] for ob, name in made]


def _make_on(ob: ArmatureObject, arguments: Namespace) -> list[str]:
    requests = []
    for wish in arguments.limb:  # a * stands for the same letters in all its names
        pattern, *follows = [*wish.split(":"), "", ""][:3]
        for bone in ob.pose.bones:
            stars = matched(pattern, bone.name)
            if stars is None or is_limb(bone):
                continue
            last, links = limb_at(bone, arguments.bones)
            target, pole = (_named(ob, filled(name, stars)) for name in follows)
            requests.append(Request(last, links, target, pole, arguments.plane or "AUTO"))
    if not requests:
        return []
    view_layer_of(bpy.context).objects.active = ob
    added = add(
        bpy.context,
        requests,
        controls="EMPTIES" if arguments.empties else "BONES",
        mode="LIVE" if arguments.live else "RIG",
    )
    for warning in added.warnings:
        say(f"{ob.name}: {warning}")
    return [last.name for last in added.lasts]


def matched(pattern: str, name: str) -> list[str] | None:
    """What the stars of a pattern stand for in a name, or None where it does not match."""
    if "*" not in pattern:
        return [] if name == pattern else None
    found = pattern_of(translate(pattern).replace(".*", "(.*)")).match(name)
    return list(found.groups()) if found else None


def filled(name: str, stars: list[str]) -> str:
    """A name with what the stars stand for in their places."""
    for star in stars:
        name = name.replace("*", star, 1)
    return name


def _named(ob: ArmatureObject, name: str) -> tuple[Object, str] | None:
    """The bone of the rig, else the object, of a name; None without one."""
    if not name:
        return None
    if name in ob.pose.bones:
        return ob, name
    found = bpy.data.objects.get(name)
    if found is None:
        raise Refused("there is neither a bone of '{rig}' nor an object '{name}'", rig=ob.name, name=name)
    return found, ""
