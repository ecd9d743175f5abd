"""Chains from a description in JSON or TOML."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import bpy
from bpy.types import Context, Object, PoseBone

from ..rig.data.access import scene_of, view_layer_of
from ..rig.kinds import Refused
from ..rig.properties import PlanarIKChain
from ..rig.settings import SHAPING
from ..rig.targets import GOALS
from ..rig.tasks.setup import add_fitting, fit_chain, named_target
from .codes import Code, Stop
from .interrupt import waiting

NAMES = ("object", "bone", *GOALS[0], *GOALS[1])
LARGE = 1e38
"""A setting whose limits are larger has none."""


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
        with waiting():
            text = path.read_text(encoding="utf-8-sig")  # Windows' editors begin a file with a mark.
        parsed = parse(text)
    except FileNotFoundError as error:
        raise Stop(Code.BAD_INPUT, f"{path} does not exist") from error
    except OSError as error:
        raise Stop(Code.BAD_INPUT, f"{path} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise Stop(Code.BAD_INPUT, f"{path} is not {kind}: {error}") from error
    except RecursionError as error:
        raise Stop(Code.BAD_INPUT, f"{path} is nested too deeply to be read") from error
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
            wrong = "" if _is_name(value) else "a name in quotes"
        elif name in SHAPING:
            wrong = _wanted(PlanarIKChain.bl_rna.properties[name], value)
        else:
            return f"has '{name}', which is no setting"
        if wrong:
            return f"has {name} = {value!r}: it has to be {wrong}"
    return ""


def _is_name(value: Any) -> bool:
    """Whether Blender can have a name like this: JSON also holds halves of characters, and text with an end in it."""
    return isinstance(value, str) and not any(each == "\0" or "\ud800" <= each <= "\udfff" for each in value)


def _wanted(setting: Any, value: Any) -> str:
    """What a setting takes, if it does not take this value: Blender itself would put the nearest that it takes."""
    if setting.type == "ENUM":
        return "" if value in list(setting.enum_items.keys()) else f"one of {', '.join(setting.enum_items.keys())}"
    least, most = setting.hard_min, setting.hard_max
    if isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most:
        return ""
    ends = f" from {least:g}" if least > -LARGE else ""
    ends += f" to {most:g}" if most < LARGE else " on" if ends else ""
    return f"a number{ends}{', in radians' if setting.subtype == 'ANGLE' else ''}"


def add_described(context: Context, chain: dict[str, Any]) -> PoseBone:
    """Add one chain and give its lower bone. Raises `Refused`."""
    lower = _lower(context, chain)
    target, pole = (named_target(chain.get(goal, ""), chain.get(bone, "")) for goal, bone in GOALS)
    fitting = fit_chain(context, lower, target, pole, chain.get("plane", ""))
    add_fitting(context, fitting, {name: chain[name] for name in SHAPING if name in chain})
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


def _object(name: str) -> Object:
    ob = bpy.data.objects.get(name)
    if ob is None:
        raise Refused(f"There is no object '{name}'")
    return ob
