"""Chains from a description in JSON or TOML."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import bpy
from bpy.types import Context, Object, PoseBone

from ..rig.access import scene_of, view_layer_of
from ..rig.settings import PlanarIKChain
from ..rig.setup import IN_PLANE, Refused, add_chain, check_limb, check_target, new_empty, pole_place, posture
from ..rig.targets import Target
from .codes import Code, Stop

NAMES = ("object", "bone", "target", "subtarget", "pole_target", "pole_subtarget")
SETTINGS = (
    "plane", "bend", "influence", "softness", "stretch", "stretch_max", "stretch_volume", "min_angle", "max_angle"
)  # fmt: skip

LARGE = 1e38
"""A setting whose largest value is larger has no largest value."""


def read_description(path: Path) -> list[dict[str, Any]]:
    """The chains that a file describes."""
    chains = _parsed(path)
    for number, chain in enumerate(chains, 1):
        mistake = _mistake(chain)
        if mistake:
            raise Stop(Code.BAD_INPUT, f"{path}: chain {number} {mistake}")
    return chains


def _parsed(path: Path) -> list[dict[str, Any]]:
    kind, parse = ("TOML", tomllib.loads) if path.suffix.lower() == ".toml" else ("JSON", json.loads)
    try:
        parsed = parse(path.read_text(encoding="utf-8-sig"))  # Windows' editors begin a file with a mark.
    except FileNotFoundError as error:
        raise Stop(Code.BAD_INPUT, f"{path} does not exist") from error
    except OSError as error:
        raise Stop(Code.BAD_INPUT, f"{path} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise Stop(Code.BAD_INPUT, f"{path} is not {kind}: {error}") from error
    chains = parsed.get("chains") if isinstance(parsed, dict) else None
    if not isinstance(chains, list) or not chains or not all(isinstance(chain, dict) for chain in chains):
        raise Stop(Code.BAD_INPUT, f"{path} holds no list 'chains'")
    return chains


def _mistake(chain: dict[str, Any]) -> str:
    """What is wrong with a description, to be put after its number; empty if nothing is."""
    for name in NAMES[:2]:
        if name not in chain:
            return f"has no '{name}'"
    for name, value in chain.items():
        if name in NAMES:
            wrong = "" if isinstance(value, str) else "a name in quotes"
        elif name in SETTINGS:
            wrong = _wanted(PlanarIKChain.bl_rna.properties[name], value)
        else:
            return f"has '{name}', which is no setting"
        if wrong:
            return f"has {name} = {value!r}: it has to be {wrong}"
    return ""


def _wanted(setting: Any, value: Any) -> str:
    """What a setting takes, if it does not take this value: Blender itself would put the nearest that it takes."""
    if setting.type == "ENUM":
        return "" if value in list(setting.enum_items.keys()) else f"one of {', '.join(setting.enum_items.keys())}"
    least, most = setting.hard_min, setting.hard_max
    if isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most:
        return ""
    ends = f"from {least:g} on" if most > LARGE else f"from {least:g} to {most:g}"
    return f"a number {ends}{', in radians' if setting.subtype == 'ANGLE' else ''}"


def add_described(context: Context, chain: dict[str, Any]) -> PoseBone:
    """Add one chain and give its lower bone. Raises `Refused`."""
    lower = _lower(context, chain)
    ob = lower.id_data
    check_limb(lower)
    target, pole = _goal(chain, "target", "subtarget"), _goal(chain, "pole_target", "pole_subtarget")
    for goal in (target, pole):
        if goal:
            check_target(ob, lower, goal)
    posed = posture(context, ob, lower)
    if chain.get("plane") == "REST" and target is None and posed.height > IN_PLANE:
        raise Refused(f"'{lower.name}' is posed out of its rest plane: choose POLE, or clear its pose first")
    size = 0.15 * (posed.tip - posed.root).length or 0.1
    target = target or Target(new_empty(context, f"target_{lower.name}", posed.tip, size), "")
    plane = chain.get("plane") or ("POLE" if pole or posed.height > IN_PLANE else "REST")
    if plane == "POLE" and pole is None:
        pole = Target(new_empty(context, f"pole_{lower.name}", pole_place(posed), size), "")
    settings: dict[str, Any] = {"plane": plane, "bend": 1.0 if plane == "POLE" else posed.bend}
    settings |= {name: chain[name] for name in SETTINGS if name in chain}
    settings |= {"target": target.object, "subtarget": target.bone}
    if pole:
        settings |= {"pole_target": pole.object, "pole_subtarget": pole.bone}
    add_chain(ob, lower, settings)
    return lower


def _lower(context: Context, chain: dict[str, Any]) -> PoseBone:
    """The bone to put a chain on, of an object that is saved with the file and posed in its scene."""
    ob = _object(chain["object"])
    if ob.library:
        raise Refused(f"'{ob.name}' is linked from another file: make a library override of it, or add to that file")
    if view_layer_of(context).objects.get(ob.name) != ob:
        raise Refused(f"'{ob.name}' is not in the scene '{scene_of(context).name}', or is excluded from its view layer")
    lower = ob.pose.bones.get(chain["bone"]) if ob.pose else None
    if lower is None:
        raise Refused(f"'{ob.name}' has no bone '{chain['bone']}'")
    return lower


def _goal(chain: dict[str, Any], name: str, bone: str) -> Target | None:
    wanted = chain.get(bone, "")
    if not chain.get(name):
        if wanted:
            raise Refused(f"'{bone}' is '{wanted}', and there is no '{name}' that it is a bone of")
        return None
    ob = _object(chain[name])
    if wanted and not (ob.pose and wanted in ob.pose.bones):
        raise Refused(f"'{ob.name}' has no bone '{wanted}'")
    return Target.read(ob, wanted)


def _object(name: str) -> Object:
    ob = bpy.data.objects.get(name)
    if ob is None:
        raise Refused(f"There is no object '{name}'")
    return ob
