"""``blender --command planar_ik``: the operators, on files, where there is no window. What fails stops no other file;
what is written is whole.

Standard output gets a line of JSON for each limb, or for a file without one; sentences for people go to standard
error.
"""

from __future__ import annotations

import json
import logging
import traceback
from argparse import Namespace
from pathlib import Path
from typing import Any

import bpy

from ..blender.types import Refused
from ..tasks.status import frames_counted
from . import shots, verbs
from .arguments import DONE, FAILED, FOUND, WRONG_CALL, output_of, parse

log = logging.getLogger("planar_ik")

_commands: list[Any] = []


def main(words: list[str]) -> int:
    """Process every input of a call, whatever becomes of the others, and give the exit code. `arguments` explains
    it."""
    try:
        arguments = parse(words)
    except SystemExit as leaving:  # how argparse ends after --help, and after a complaint
        return WRONG_CALL if leaving.code else DONE
    try:
        with shots.interruptible():
            codes = [_guarded(arguments, source) for source in arguments.inputs]
    except shots.Interrupted:
        return 128 + shots.received[0] if shots.received else 130
    return FAILED if FAILED in codes else FOUND if FOUND in codes else DONE


def _guarded(arguments: Namespace, source: Path) -> int:
    """Run a command on one file, say what went wrong, and give the exit code; only `Interrupted` passes through."""
    if getattr(arguments, "skip_existing", False) and (output := output_of(source, arguments)).exists():
        _print(arguments, source, {"output": str(output), "skipped": True})
        return DONE
    try:
        warnings = shots.open_shot(source, arguments)
        warnings += verbs.unmatched(arguments)
        for warning in warnings:
            shots.say(f"{source}: {warning}")
        answer = verbs.RUN[arguments.command](arguments)
        if not answer.lines:
            verbs.refuse_linked(arguments)
        wrong = _wrong_limbs(arguments, answer.lines) or "; ".join(warnings) if arguments.strict else ""
        lines = answer.lines or [{"nothing": answer.nothing}]
        lines = lines if wrong else _saved(arguments, source, lines, answer.changed)
        shots.heed_signals()
    except Refused as why:
        return _failed(arguments, source, str(why))
    except shots.Interrupted:
        _failed(arguments, source, "interrupted, nothing was written")
        raise
    except Exception as error:  # the next file is to be processed whatever became of this one
        at = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error} ({Path(at.filename).name}:{at.lineno})"
        log.debug("%s", source, exc_info=error)
        return _failed(arguments, source, f"a fault of this program, nothing was written: {what}")
    for line in lines:
        _print(arguments, source, line)
    if not answer.lines:
        shots.say(f"{source}: {answer.nothing}")
    if wrong:
        unwritten = "" if arguments.command == "report" else ", nothing was written"
        shots.say(f"{source}: --strict found something{unwritten}: {wrong}")
        return FOUND
    return DONE


def _failed(arguments: Namespace, source: Path, why: str) -> int:
    sentence = " ".join(why.split())
    shots.say(f"{source}: {sentence}")
    _print(arguments, source, {"error": sentence})
    return FAILED


def _print(arguments: Namespace, source: Path, line: verbs.Line) -> None:
    print(json.dumps({"command": arguments.command, "file": str(source), **line}), flush=True)


def _wrong(arguments: Namespace, line: verbs.Line) -> str:
    """What is wrong with a limb: it has a problem, misses, or, in a report, stands still without the extension."""
    if line.get("problem"):
        return str(line["problem"])
    if line.get("unreached"):
        return f"off its target in {frames_counted(line['unreached'])}"
    return "live" if arguments.command == "report" and line.get("mode") == "LIVE" else ""


def _wrong_limbs(arguments: Namespace, lines: list[verbs.Line]) -> str:
    wrong = [(line, why) for line in lines if (why := _wrong(arguments, line))]
    return ", ".join(f"{line['object']}:{line['limb']} ({why})" for line, why in wrong)


def _saved(arguments: Namespace, source: Path, lines: list[verbs.Line], changed: int) -> list[verbs.Line]:
    """Write the open file if a command has an output, but not over its source if nothing ``changed``; give its lines,
    with the output's name if that was written."""
    if arguments.command == "report" or not (arguments.in_place or arguments.output):
        return lines
    output = output_of(source, arguments)
    if not changed and output == source:
        return lines
    shots.save(output)
    return [{**line, "output": str(output)} for line in lines]


def register() -> None:
    """Add the command to Blender's command line."""
    handle = bpy.utils.register_cli_command("planar_ik", main)  # type: ignore[func-returns-value]  # it gives a handle
    _commands.append(handle)


def unregister() -> None:
    """Take it away again."""
    while _commands:
        bpy.utils.unregister_cli_command(_commands.pop())
