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

from ..blender.types import scene_of, view_layer_of
from ..blender.words import Refused
from ..tasks import modes
from ..tasks.contact_markers import mark_contacts
from ..tasks.limbs import description_of, frames_counted, limbs_of
from ..tasks.modes import mechanism_problem
from .arguments import DONE, FAILED, FOUND, output_of
from .holding import contact_lines, find_contacts_of, hold_limbs_of_file, plant_feet
from .interrupting import Interrupted, check_not_interrupted, exit_code, interruptible
from .making import bones_to_convert, convert_limbs, legs_of, limbs_converted, make_limbs
from .patterns import is_match, matches_of
from .reporting import bake_limbs, report_limbs
from .shots import is_linked, limbs_asked_for, make_local, open_shot, rigs_of, save, say

log = logging.getLogger("planar_ik")

Line = dict[str, Any]


def run(arguments: Namespace) -> int:
    """Process every input; a file that fails does not keep the next one from being processed."""
    try:
        with interruptible():
            codes = [_guarded(arguments, source) for source in arguments.inputs]
    except Interrupted:
        return exit_code()
    return FAILED if FAILED in codes else FOUND if FOUND in codes else DONE


def _guarded(arguments: Namespace, source: Path) -> int:
    """Run a command on one file, and say what went wrong."""
    if getattr(arguments, "skip_existing", False) and (output := output_of(source, arguments)).exists():
        _print(arguments, source, {"output": str(output), "skipped": True})
        return DONE
    try:
        warnings = open_shot(source, arguments)
        warnings += unmatched(arguments)
        for warning in warnings:
            say(f"{source}: {warning}")
        lines = COMMANDS[arguments.command](arguments, source)
        check_not_interrupted()
    except Refused as why:
        return _failed(arguments, source, str(why))
    except Interrupted:
        _failed(arguments, source, "interrupted, nothing was written")
        raise
    except Exception as error:  # the next file is to be processed whatever became of this one
        at = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error} ({Path(at.filename).name}:{at.lineno})"
        log.debug("%s", source, exc_info=error)
        return _failed(arguments, source, f"a fault of this program, nothing was written: {what}")
    for line in lines:
        _print(arguments, source, line)
    if arguments.strict and (warnings or any(_wrong(arguments, line) for line in lines)):
        say(f"{source}: --strict found something: {_wrong_limbs(arguments, lines) or warnings[0]}")
        return FOUND
    return DONE


def _failed(arguments: Namespace, source: Path, why: str) -> int:
    sentence = " ".join(why.split())
    say(f"{source}: {sentence}")
    _print(arguments, source, {"error": sentence})
    return FAILED


def _print(arguments: Namespace, source: Path, line: Line) -> None:
    print(json.dumps({"command": arguments.command, "file": str(source), **line}), flush=True)


def _wrong(arguments: Namespace, line: Line) -> str:
    """What is wrong with a limb: it has a problem, misses, or, in a report, stands still without the extension."""
    if line.get("problem"):
        return str(line["problem"])
    if line.get("unreached"):
        return f"off its target in {frames_counted(line['unreached'])}"
    return "live" if arguments.command == "report" and line.get("mode") == "LIVE" else ""


def _wrong_limbs(arguments: Namespace, lines: list[Line]) -> str:
    wrong = [(line, why) for line in lines if (why := _wrong(arguments, line))]
    return ", ".join(f"{line['object']}:{line['limb']} ({why})" for line, why in wrong)


def unmatched(arguments: Namespace) -> list[str]:
    """A sentence for each pattern or name that matches nothing in the open file."""
    rigs = rigs_of(arguments)
    if not rigs:
        return [f"no rig matches '{arguments.object}'"] if arguments.object != "*" else []
    if arguments.command == "add":
        patterns = [description.split(":")[0] for description in arguments.limb]
        names = [bone.name for ob in rigs for bone in ob.pose.bones]
        return [f"no bone matches '{pattern}'" for pattern in patterns if not matches_of(pattern, names)]
    if arguments.command == "plant":
        there, new = legs_of(arguments)
        limbs = [*there, *(request.limb for request in new)]
    elif arguments.command == "convert":
        limbs = [*bones_to_convert(arguments), *limbs_converted(arguments)]
    else:
        limbs = [limb for ob in rigs for limb in limbs_of(ob) if is_match(limb.name, arguments.bone)]
    return [f"no limb matches '{arguments.bone}'"] if arguments.bone != "*" and not limbs else []


def report_on_file(arguments: Namespace, source: Path) -> list[Line]:
    """Say what the limbs of the open file do, as Blender evaluates them."""
    limbs = limbs_asked_for(arguments, editable=False)
    return report_limbs(limbs, arguments) if limbs else [_nothing(source)]


def bake_in_file(arguments: Namespace, source: Path) -> list[Line]:
    """Bake the limbs of the open file, and write it."""
    if arguments.make_local:
        make_local(arguments)
    limbs = limbs_asked_for(arguments)
    linked = [limb.id_data.name for limb in limbs_asked_for(arguments, editable=False) if is_linked(limb.id_data)]
    if linked and (arguments.purpose == "game" or arguments.remove or not limbs):
        raise Refused("'{rig}' is linked: --make-local makes it a part of the file first", rig=linked[0])
    return _saved(arguments, source, bake_limbs(limbs, arguments) if limbs else [], len(limbs))


def contacts_in_file(arguments: Namespace, source: Path) -> list[Line]:
    """Say when limbs of the open file are in contact, and write it with markers for that if it is to be written.
    Markers are the scene's: limbs of linked rigs may have some."""
    limbs = limbs_asked_for(arguments, editable=False)
    listed = find_contacts_of(limbs, arguments)
    lines = contact_lines(limbs, listed)
    if lines and not any(of_limb.contacts for of_limb in listed):
        say(f"{source}: {NOT_LOW}")
    if arguments.in_place or arguments.output:
        return _saved(arguments, source, lines, mark_contacts(scene_of(bpy.context), listed))
    return lines or [_nothing(source)]


def hold_in_file(arguments: Namespace, source: Path) -> list[Line]:
    """Plant the tips of limbs of the open file where they are in contact, and write it."""
    limbs = limbs_asked_for(arguments)
    lines = hold_limbs_of_file(limbs, arguments) if limbs else []
    nothing = NOT_STANDING if limbs else NO_SUCH_LIMB
    return _saved(arguments, source, lines, len(lines), nothing)


def plant_in_file(arguments: Namespace, source: Path) -> list[Line]:
    """Plant the feet of legs of the open file, and write it."""
    lines = plant_feet(arguments)
    return _saved(arguments, source, lines, len(lines), NOT_STANDING)


def add_in_file(arguments: Namespace, source: Path) -> list[Line]:
    """Make limbs of bones, and write the file."""
    limbs, new = make_limbs(arguments)
    if limbs and not new:
        say(f"{source}: {PRESENT}")
    return _saved(arguments, source, [_limb_fields(limb) for limb in limbs], new)


def convert_in_file(arguments: Namespace, source: Path) -> list[Line]:
    """Make limbs of IK constraints, and write the file."""
    limbs, new, refused = convert_limbs(arguments)
    if limbs and not new:
        say(f"{source}: {PRESENT}")
    for _, why in refused:
        say(f"{source}: {why}")
    lines = [{"object": owner.id_data.name, "limb": owner.name, "problem": why} for owner, why in refused]
    return _saved(arguments, source, [*(_limb_fields(limb) for limb in limbs), *lines], new)


def to_rig_in_file(arguments: Namespace, source: Path) -> list[Line]:
    """Put live limbs on their rigs, and write the file."""
    limbs = _limbs_of_mode(arguments, "LIVE")
    modes.to_rig(bpy.context, limbs)
    return _saved(arguments, source, [_limb_fields(limb) for limb in limbs], len(limbs))


def rebuild_in_file(arguments: Namespace, source: Path) -> list[Line]:
    """Rebuild the mechanisms that no longer fit their limbs, and write the file."""
    view_layer_of(bpy.context).update()
    limbs = [limb for limb in _limbs_of_mode(arguments, "RIG") if mechanism_problem(limb)]
    modes.rebuild(bpy.context, limbs)
    return _saved(arguments, source, [_limb_fields(limb) for limb in limbs], len(limbs))


COMMANDS: dict[str, Callable[[Namespace, Path], list[Line]]] = {
    "bake": bake_in_file,
    "report": report_on_file,
    "contacts": contacts_in_file,
    "hold": hold_in_file,
    "plant": plant_in_file,
    "add": add_in_file,
    "convert": convert_in_file,
    "to-rig": to_rig_in_file,
    "rebuild": rebuild_in_file,
}


def _limbs_of_mode(arguments: Namespace, mode: str) -> list[PoseBone]:
    return [limb for limb in limbs_asked_for(arguments) if description_of(limb).mode == mode]


def _limb_fields(limb: PoseBone) -> Line:
    ref = description_of(limb)
    target, subtarget = ref.followed[0] or (None, "")
    return {
        "object": limb.id_data.name,
        "limb": limb.name,
        "mode": ref.mode,
        "plane": ref.choices["plane"],
        "target": subtarget or (target.name if target else None),
    }


NO_SUCH_LIMB = "nothing to do: there is no such limb"
NOT_STANDING = "nothing to do: no foot comes to stand in these frames, as far as markers or its path say"
NOT_LOW = "no foot is low and slow in any frame: give --height or --speed more"
PRESENT = "nothing to do: these limbs are there already"


def _nothing(source: Path, why: str = NO_SUCH_LIMB) -> Line:
    """The line for a file without a limb to work on; printed too."""
    say(f"{source}: {why}")
    return {"error": why}


def _saved(
    arguments: Namespace, source: Path, lines: list[Line], changed: int, nothing: str = NO_SUCH_LIMB
) -> list[Line]:
    """Write the open file, unless it would overwrite its source without any change; returns its lines with the output's
    name, or one that says why nothing was written."""
    output = output_of(source, arguments)
    if changed or output != source:
        save(output)
    return [{**line, "output": str(output)} for line in lines or [_nothing(source, nothing)]]
