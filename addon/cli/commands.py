"""What the program does with each file."""

from __future__ import annotations

import traceback
from argparse import Namespace
from collections.abc import Callable, Generator
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import bpy

from .. import bake as baking
from ..bake import NotPosed, Refused, Request
from ..native.convert import make_live, make_portable
from ..rig.data.access import chain_settings, view_layer_of
from .arguments import span_of
from .codes import Code, Stop, worst
from .describe import add_described, read_description
from .files import check_blend, locked, open_blend, output_of, save_blend
from .interrupt import heed
from .lines import Line, Told, without_chains
from .notes import Note, digest
from .opening import Opened, links, open_shot
from .output import Progress, Write, say
from .scenes import shown
from .version import MADE_BY

Result = TypeVar("Result")


def run(arguments: Namespace, write: Write) -> Code:
    """Process every input; a file that fails does not keep the next one from being processed."""
    commands = {"bake": bake, "report": report, "add": add, "portable": convert, "live": convert}
    command: Callable[[Namespace, Path, Write], None] = commands[arguments.command]
    return worst([_guarded(command, arguments, source, write) for source in arguments.inputs])


def bake(arguments: Namespace, source: Path, write: Write) -> None:
    """Bake one file."""
    output = _output(arguments, source)
    check_blend(source)
    with locked(output):
        note = Note(source, output, _options(arguments))
        done = note.lines() if arguments.skip_existing else None
        if done is None:
            made_from = digest(source) if arguments.skip_existing else ""
            opened = open_shot(arguments, source)
            done = _baked(arguments, source, output, opened)
            if opened.chains or not arguments.in_place:
                save_blend(output)
            if arguments.skip_existing:
                found = links()
                note.keep(made_from, found.there, found.missing, done)
        else:
            done = [{**line, "file": str(source), "output": str(output), "skipped": True} for line in done]
            for warning in dict.fromkeys(warning for line in done for warning in line.get("warnings", ())):
                say(warning)
    for line in done:
        write(line)


def report(arguments: Namespace, source: Path, write: Write) -> None:
    """Say what the chains of one file do."""
    opened = open_shot(arguments, source)
    lines = []
    for scene, lowers in opened.chains.items():
        began = perf_counter()
        with shown(scene):
            frames = baking.frames_of(bpy.context, span_of(arguments), lowers)
            chains = _finished(source, baking.sample_chains(bpy.context, lowers, frames))
        told = Told("report", source, scene, frames, perf_counter() - began, opened.warnings, arguments.max_miss)
        lines += [told.chain(chain) for chain in chains]
    for line in lines:
        write(line)
    if arguments.strict:
        _check_posed(lines)
    _check_unreached(arguments, lines)


def add(arguments: Namespace, source: Path, write: Write) -> None:
    """Put the described chains on one file's limbs."""
    chains = read_description(arguments.description)
    output = _output(arguments, source)
    check_blend(source)
    with locked(output):
        open_blend(source, arguments.enable_autoexec)
        added = [add_described(bpy.context, chain) for chain in chains]
        save_blend(output)
    for lower in added:
        target = chain_settings(lower).target.name
        line = {"command": "add", "file": str(source), "output": str(output)}
        write({**line, "object": lower.id_data.name, "chain": lower.name, "target": target})


def convert(arguments: Namespace, source: Path, write: Write) -> None:
    """Put one file's chains on the rig, or bring them back."""
    output = _output(arguments, source)
    check_blend(source)
    with locked(output):
        opened = open_shot(arguments, source)
        try:
            converted = _convert(arguments.command, opened)
        except Refused as why:
            raise Stop(Code.LEFT_OUT, f"{source}: {why}") from why
        if converted or not arguments.in_place:
            save_blend(output)
    told = {"warnings": opened.warnings} if opened.warnings else {}
    for line in converted or [{"chain": None}]:
        write({"command": arguments.command, "file": str(source), "output": str(output), **line, **told})


def _convert(command: str, opened: Opened) -> list[Line]:
    """Put chains on the rig, or bring them back, scene by scene; what is told of each. Raises `Refused`."""
    # By name: what is edited moves in memory, and with it the bones of all objects of the same armature.
    named = {scene: [(lower.id_data, lower.name) for lower in lowers] for scene, lowers in opened.chains.items()}
    for scene, chains in named.items():
        heed()
        with shown(scene):
            view_layer_of(bpy.context).update()
            lowers = [ob.pose.bones[name] for ob, name in chains]
            (make_portable if command == "portable" else make_live)(bpy.context, lowers)
    return [
        {"scene": scene.name, "object": ob.name, "chain": name} for scene, each in named.items() for ob, name in each
    ]


def _baked(arguments: Namespace, source: Path, output: Path, opened: Opened) -> list[Line]:
    """Bake the chains of the file that is open, and what is told of them."""
    lines: list[Line] = []
    for scene, lowers in opened.chains.items():
        with shown(scene):
            frames = baking.frames_of(bpy.context, span_of(arguments), lowers)
            request = Request(lowers, frames, arguments.action == "new", arguments.keep, arguments.tolerance)
            steps = baking.bake_for_game if arguments.purpose == "game" else baking.bake
            baked = _finished(source, steps(bpy.context, request))
        for warning in baked.warnings:
            say(f"{source}: {warning}")
        warnings = [*opened.warnings, *baked.warnings]
        told = Told("bake", source, scene, frames, baked.seconds, warnings, arguments.max_miss)
        lines += told.baked(baked, output)
    _check_posed(lines)
    _check_unreached(arguments, lines)
    return lines or [without_chains(source, output, opened.warnings)]


def _guarded(command: Callable[..., None], arguments: Namespace, source: Path, write: Write) -> Code:
    """Run a command on one file, and say what went wrong."""
    heed()
    try:
        command(arguments, source, write)
    except Stop as stop:
        say(str(stop))
        return stop.code
    except Refused as why:
        say(f"{source}: {why}")
        return Code.LEFT_OUT if isinstance(why, NotPosed) else Code.BAD_INPUT
    except MemoryError:
        say(f"{source}: so many frames of so many chains do not fit into memory: take fewer at a time")
        return Code.BAD_INPUT
    except Exception:  # noqa: BLE001 - the next file is to be processed whatever became of this one
        say(f"{source}: failed, which is a fault of this program\n{traceback.format_exc()}")
        return Code.FAILED
    return Code.DONE


def _output(arguments: Namespace, source: Path) -> Path:
    """The file to write for an input. Stops if it is the input itself or the file to write for another input."""
    given = arguments.output, arguments.relative_to
    output = output_of(source, *given)
    if arguments.output is not None:
        if output == output_of(source, None, None):
            raise Stop(Code.BAD_INPUT, f"{source} would be written over: give another -o, or --in-place")
        clashes = _sources(tuple(arguments.inputs), *given).get(output, [])
        if len(clashes) > 1:
            raise Stop(Code.BAD_INPUT, f"{clashes[0]} and {clashes[1]} would be written to the same file: {output}")
    return output


@lru_cache(maxsize=1)
def _sources(inputs: tuple[Path, ...], output: str, below: Path | None) -> dict[Path, list[Path]]:
    """The inputs by the files to write for them."""
    found: dict[Path, list[Path]] = {}
    for source in inputs:
        found.setdefault(output_of(source, output, below), []).append(source)
    return found


def _options(arguments: Namespace) -> Line:
    """What the content of an output, or whether there is one, depends on besides the input."""
    others = {"command", "inputs", "output", "in_place", "relative_to", "skip_existing"}
    options = {name: value for name, value in vars(arguments).items() if name not in others}
    return {**options, "frames": list(arguments.frames) if arguments.frames else None, **MADE_BY}


def _finished(source: Path, steps: Generator[float, None, Result]) -> Result:
    """Run something to its end and show how far it is; Ctrl-C ends it in between."""
    progress = Progress(source.name)
    try:
        while True:
            heed()
            progress.show(next(steps))
    except StopIteration as end:
        result: Result = end.value
        return result
    finally:
        progress.clear()


def _check_posed(lines: list[Line]) -> None:
    """Stop if a chain could not be posed in any frame, for a reason."""
    for line in lines:
        if line["max_error"] is None and "problem" in line:
            raise Stop(
                Code.LEFT_OUT,
                f"{line['file']}: chain '{line['object']}:{line['chain']}' can't be posed: {line['problem']}. Mend it, "
                "switch it off, or name the others by --chain",
            )


def _check_unreached(arguments: Namespace, lines: list[Line]) -> None:
    """Stop if a chain does not reach its target in more frames than may be."""
    allowed = 0 if arguments.strict and arguments.max_unreached is None else arguments.max_unreached
    does_not = f"does not come to within {arguments.max_miss:g} of" if arguments.max_miss else "does not reach"
    for line in lines:
        if allowed is not None and line["unreached"] > allowed:
            raise Stop(
                Code.UNREACHED,
                f"{line['file']}: chain '{line['object']}:{line['chain']}' {does_not} its target in "
                f"{line['unreached']} of {line['frames']} frames, and {allowed} are allowed "
                "(--max-unreached, --max-miss)",
            )
