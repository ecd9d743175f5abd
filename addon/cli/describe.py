"""Chains from a description in JSON or TOML."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import bpy
from bpy.types import Context, Object, PoseBone

from ..rig.setup import Refused, add_chain, check_limb, check_target, new_empty, pole_place, posture
from ..rig.targets import Target
from .codes import Code, Stop

NAMES = ("object", "bone", "target", "subtarget", "pole_target", "pole_subtarget")
SETTINGS = (
    "plane", "bend", "influence", "softness", "stretch", "stretch_max", "stretch_volume", "min_angle", "max_angle"
)  # fmt: skip


def read_description(path: Path) -> list[dict[str, Any]]:
    """The chains that a file describes."""
    try:
        text = path.read_text(encoding="utf-8")
        parsed = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except FileNotFoundError as error:
        raise Stop(Code.BAD_INPUT, f"{path} does not exist") from error
    except (OSError, ValueError) as error:
        raise Stop(Code.BAD_INPUT, f"{path} can't be read: {error}") from error
    chains = parsed.get("chains") if isinstance(parsed, dict) else None
    if not isinstance(chains, list) or not chains or not all(isinstance(chain, dict) for chain in chains):
        raise Stop(Code.BAD_INPUT, f"{path} holds no list 'chains'")
    for chain in chains:
        unknown = sorted(set(chain) - {*NAMES, *SETTINGS})
        missing = [name for name in NAMES[:2] if name not in chain]
        if unknown or missing:
            wrong = f"'{unknown[0]}', which is no setting" if unknown else f"no '{missing[0]}'"
            raise Stop(Code.BAD_INPUT, f"{path}: a chain has {wrong}")
        not_text = [name for name in NAMES if not isinstance(chain.get(name, ""), str)]
        if not_text:
            raise Stop(Code.BAD_INPUT, f"{path}: '{not_text[0]}' is not a name in quotes")
    return chains


def add_described(context: Context, chain: dict[str, Any]) -> PoseBone:
    """Add one chain and give its lower bone. Raises `Refused`."""
    ob = _object(chain["object"])
    lower = ob.pose.bones.get(chain["bone"]) if ob.pose else None
    if lower is None:
        raise Refused(f"'{ob.name}' has no bone '{chain['bone']}'")
    check_limb(lower)
    target, pole = _goal(chain, "target", "subtarget"), _goal(chain, "pole_target", "pole_subtarget")
    for goal in (target, pole):
        if goal:
            check_target(ob, lower, goal)
    posed = posture(context, ob, lower)
    size = 0.15 * (posed.tip - posed.root).length or 0.1
    target = target or Target(new_empty(context, f"target_{lower.name}", posed.tip, size), "")
    settings: dict[str, Any] = {"plane": "POLE" if pole else "REST", "bend": 1.0 if pole else posed.bend}
    settings |= {name: chain[name] for name in SETTINGS if name in chain}
    if settings["plane"] == "POLE" and pole is None:
        pole = Target(new_empty(context, f"pole_{lower.name}", pole_place(posed), size), "")
    settings |= {"target": target.object, "subtarget": target.bone}
    if pole:
        settings |= {"pole_target": pole.object, "pole_subtarget": pole.bone}
    try:
        add_chain(ob, lower, settings)
    except (TypeError, ValueError) as error:
        raise Refused(f"'{lower.name}': {error}") from error
    return lower


def _goal(chain: dict[str, Any], name: str, bone: str) -> Target | None:
    return Target.read(_object(chain[name]), chain.get(bone, "")) if chain.get(name) else None


def _object(name: str) -> Object:
    ob = bpy.data.objects.get(name)
    if ob is None:
        raise Refused(f"There is no object '{name}'")
    return ob
