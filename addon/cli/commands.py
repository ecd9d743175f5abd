"""What the program does with each file."""

from __future__ import annotations

import json
import logging
import traceback
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
from bpy.types import PoseBone

from ..blender.types import view_layer_of
from ..limb.follow import follow_of
from ..limb.storage import choices_of, mode_of
from ..limb.words import Refused
from ..mechanism.checking import problem_of
from ..tasks import modes
from .arguments import DONE, FAILED, FOUND, output_of
from .holding import hold_limbs
from .making import make_limbs
from .reporting import bake_limbs, report_limbs
from .shots import limbs_chosen, open_shot, save, say

log = logging.getLogger("planar_ik")

Line = dict[str, Any]


def run(arguments: Namespace) -> int:
    """Process every input; a file that fails does not keep the next one from being processed."""
    codes = [_guarded(arguments, source) for source in arguments.inputs]
    return FAILED if FAILED in codes else FOUND if FOUND in codes else DONE


def _guarded(arguments: Namespace, source: Path) -> int:
    """Run a command on one file, and say what went wrong."""
    try:
        warnings = open_shot(source, arguments)
        for warning in warnings:
            say(f"{source}: {warning}")
        lines = COMMANDS[arguments.command](arguments, source)
    except Refused as why:
        say(f"{source}: {why}")
        return FAILED
    except Exception as error:  # the next file is to be processed whatever became of this one
        at = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error} ({Path(at.filename).name}:{at.lineno})"
        say(f"{source}: a fault of this program, nothing was written: {what}")
        log.debug("%s", source, exc_info=error)
        return FAILED
    for line in lines:
        print(json.dumps({"command": arguments.command, "file": str(source), **line}), flush=True)
    if arguments.strict and (warnings or any(_is_wrong(line) for line in lines)):
        say(f"{source}: --strict found something: {_told(lines, warnings)}")
        return FOUND
    return DONE


def _is_wrong(line: Line) -> bool:
    return bool(line.get("unreached") or line.get("problem"))


def _told(lines: list[Line], warnings: list[str]) -> str:
    wrong = [f"{line['object']}:{line['limb']}" for line in lines if _is_wrong(line)]
    return ", ".join(wrong) or warnings[0]


def report(arguments: Namespace, source: Path) -> list[Line]:
    """Say what the limbs of the open file do, as Blender evaluates them."""
    lasts = _some(source, limbs_chosen(arguments, editable=False))
    return report_limbs(lasts, arguments) if lasts else []


def bake(arguments: Namespace, source: Path) -> list[Line]:
    """Bake the limbs of the open file, and write it."""
    lasts = _some(source, limbs_chosen(arguments))
    return _saved(arguments, source, bake_limbs(lasts, arguments) if lasts else [])


def hold(arguments: Namespace, source: Path) -> list[Line]:
    """Plant the tips of limbs of the open file where they are in contact, and write it."""
    lasts = _some(source, limbs_chosen(arguments))
    lines = hold_limbs(lasts, arguments) if lasts else []
    if lasts and not lines:
        say(f"{source}: nothing to do: no foot stands in these frames, as far as markers or its path say")
    return _saved(arguments, source, lines)


def add(arguments: Namespace, source: Path) -> list[Line]:
    """Make limbs of bones, and write the file."""
    lasts = make_limbs(arguments)
    if not lasts:
        say(f"{source}: nothing to do: these bones have limbs already, or there are none of these names")
    return _saved(arguments, source, [_named(last) for last in lasts])


def to_rig(arguments: Namespace, source: Path) -> list[Line]:
    """Put live limbs on their rigs, and write the file."""
    lasts = _some(source, _in_mode(arguments, "LIVE"))
    modes.to_rig(bpy.context, lasts)
    return _saved(arguments, source, [_named(last) for last in lasts])


def rebuild(arguments: Namespace, source: Path) -> list[Line]:
    """Make the mechanisms anew that do not fit their limbs any more, and write the file."""
    view_layer_of(bpy.context).update()
    lasts = _some(source, [last for last in _in_mode(arguments, "RIG") if problem_of(last)])
    modes.rebuild(bpy.context, lasts)
    return _saved(arguments, source, [_named(last) for last in lasts])


COMMANDS: dict[str, Callable[[Namespace, Path], list[Line]]] = {
    "bake": bake,
    "report": report,
    "hold": hold,
    "add": add,
    "to-rig": to_rig,
    "rebuild": rebuild,
}


def _some(source: Path, lasts: list[PoseBone]) -> list[PoseBone]:
    """These limbs; said if there are none."""
    if not lasts:
        say(f"{source}: nothing to do: there is no such limb")
    return lasts


def _in_mode(arguments: Namespace, mode: str) -> list[PoseBone]:
    return [last for last in limbs_chosen(arguments) if mode_of(last) == mode]


def _named(last: PoseBone) -> Line:
    target, subtarget = follow_of(last).pairs[0]
    return {
        "object": last.id_data.name,
        "limb": last.name,
        "mode": mode_of(last),
        "plane": choices_of(last)["plane"],
        "target": subtarget or (target.name if target else None),
    }


def _saved(arguments: Namespace, source: Path, lines: list[Line]) -> list[Line]:
    """Write the file that is open, unless nothing was done to it where it lies; what is told with the output's name."""
    output = output_of(source, arguments)
    if lines or output != source:
        save(output)
    return [{**line, "output": str(output)} for line in lines]
