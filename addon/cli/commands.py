"""What the program does with each file."""

from __future__ import annotations

import sys
import tomllib
import traceback
from argparse import Namespace
from collections.abc import Callable, Generator
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import bpy
import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from .. import bake as baking
from ..bake import Refused, Report, Request
from ..bake.samples import OFF, Sampled
from ..rig.access import chain_settings, scene_of
from ..solver import Reach
from .arguments import span_of
from .codes import Code, Stop, worst
from .describe import add_described, read_description
from .files import Note, check_blend, digest, locked, open_blend, output_of, save_blend
from .interrupt import heed
from .output import Progress, Write

MANIFEST = Path(__file__).parents[2] / "blender_manifest.toml"
"""Where the version stands, in the tree and in the installed extension."""

Line = dict[str, Any]
Result = TypeVar("Result")


def run(arguments: Namespace, write: Write) -> Code:
    """Process every input; a file that fails does not keep the next one from being processed."""
    command: Callable[[Namespace, Path, Write], None] = {"bake": bake, "report": report, "add": add}[arguments.command]
    return worst([_guarded(command, arguments, source, write) for source in arguments.inputs])


def bake(arguments: Namespace, source: Path, write: Write) -> None:
    """Bake one file."""
    output = _output(arguments, source)
    check_blend(source)
    with locked(output):
        note = Note(source, output, _options(arguments))
        done = note.lines() if arguments.skip_existing else None
        if done is not None:
            for line in done:
                write({**line, "skipped": True})
            return
        source_digest = digest(source)
        open_blend(source)
        chains = _chains(source, arguments.chain)
        frames = baking.frames_of(bpy.context, span_of(arguments), chains)
        request = Request(chains, frames, arguments.action == "new", arguments.keep, arguments.tolerance)
        baked = _finished(source, baking.bake(bpy.context, request))
        _check_baked(source, baked)
        done = _lines(source, output, baked)
        _check_unreached(done, arguments.max_unreached)
        save_blend(output)
        if arguments.skip_existing:
            note.keep(source_digest, done)
    for line in done:
        write(line)


def report(arguments: Namespace, source: Path, write: Write) -> None:
    """Say what the chains of one file do."""
    began = perf_counter()
    open_blend(source)
    chains = _chains(source, arguments.chain)
    frames = baking.frames_of(bpy.context, span_of(arguments), chains)
    for chain in _finished(source, baking.sample_chains(bpy.context, chains, frames)):
        write({**_line(source, chain, len(frames)), "reach": _runs(chain, frames), "seconds": _since(began)})


def add(arguments: Namespace, source: Path, write: Write) -> None:
    """Put the described chains on one file's limbs."""
    chains = read_description(arguments.description)
    output = _output(arguments, source)
    check_blend(source)
    with locked(output):
        open_blend(source)
        added = [add_described(bpy.context, chain) for chain in chains]
        save_blend(output)
    for lower in added:
        target = chain_settings(lower).target.name
        write(
            {
                "file": str(source),
                "output": str(output),
                "object": lower.id_data.name,
                "chain": lower.name,
                "target": target,
            }
        )


def _guarded(command: Callable[..., None], arguments: Namespace, source: Path, write: Write) -> Code:
    """Run a command on one file, and say what went wrong."""
    heed()
    try:
        command(arguments, source, write)
    except Stop as stop:
        _say(str(stop))
        return stop.code
    except Refused as why:
        _say(f"{source}: {why}")
        return Code.BAD_INPUT
    except Exception:  # noqa: BLE001 - the next file is to be processed whatever became of this one
        _say(f"{source}: failed, which is a fault of this program\n{traceback.format_exc()}")
        return Code.FAILED
    return Code.DONE


def _say(sentence: str) -> None:
    sys.stderr.write(f"planar_ik: {sentence}\n")
    sys.stderr.flush()


def _output(arguments: Namespace, source: Path) -> Path:
    """The file to write for an input. Stops if it is the input itself or the file to write for another input."""
    given = arguments.output, arguments.relative_to
    output = output_of(source, *given)
    if arguments.output is not None:
        if output == source.resolve():
            raise Stop(Code.BAD_INPUT, f"{source} would be written over: give another -o, or --in-place")
        clashes = [other for other in arguments.inputs if output_of(other, *given) == output]
        if len(clashes) > 1:
            raise Stop(Code.BAD_INPUT, f"{clashes[0]} and {clashes[1]} would be written to the same file: {output}")
    return output


def _options(arguments: Namespace) -> Line:
    """What the content of an output depends on, besides the input."""
    names = ("range", "frames", "step", "chain", "action", "keep", "tolerance", "max_unreached")
    options = {name: getattr(arguments, name) for name in names}
    frames = options["frames"]
    made_by = {"blender": bpy.app.version_string, "planar_ik": tomllib.loads(MANIFEST.read_text())["version"]}
    return {**options, "frames": list(frames) if frames else None, **made_by}


def _chains(source: Path, wanted: list[str] | None) -> list[PoseBone]:
    chains = baking.chains_of_scene(bpy.context)
    if not chains:
        raise Stop(Code.BAD_INPUT, f"{source} has no chain in its scene '{scene_of(bpy.context).name}'")
    if not wanted:
        return chains
    named = {f"{lower.id_data.name}:{lower.name}": lower for lower in chains}
    for name in wanted:
        if name not in named:
            raise Stop(Code.BAD_INPUT, f"{source} has no chain '{name}': it has {', '.join(named)}")
    return [named[name] for name in wanted]


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


def _check_baked(source: Path, report: Report) -> None:
    for chain in report.skipped:
        if chain.problem:
            name = f"{chain.object.name}:{chain.lower}"
            raise Stop(
                Code.BAD_INPUT,
                f"{source}: chain '{name}' can't be baked, so nothing was written: {chain.problem}. "
                "Mend it, switch it off, or name the others by --chain",
            )


def _check_unreached(lines: list[Line], allowed: int | None) -> None:
    for line in lines:
        if allowed is not None and line["unreached"] > allowed:
            raise Stop(
                Code.UNREACHED,
                f"{line['file']}: chain '{line['object']}:{line['chain']}' does not reach its target in "
                f"{line['unreached']} of {line['frames']} frames, and {allowed} are allowed; nothing was written",
            )


def _lines(source: Path, output: Path, report: Report) -> list[Line]:
    lines = [
        {
            **_line(source, chain, report.frames),
            "max_error": played.residual,
            "key_error": played.error,
            "keys": played.keys,
            "output": str(output),
            "seconds": round(report.seconds, 4),
        }
        for chain, played in zip(report.chains, report.played, strict=True)
    ]
    return lines + [{**_line(source, chain, report.frames), "output": str(output)} for chain in report.skipped]


def _line(source: Path, chain: Sampled, frames: int) -> Line:
    line = {
        "file": str(source),
        "object": chain.object.name,
        "chain": chain.lower,
        "frames": frames,
        "way": chain.way,
        "unreached": chain.unreached,
        "max_error": chain.worst_residual() if chain.is_posed else None,
    }
    return {**line, "problem": chain.problem} if chain.problem else line


def _runs(chain: Sampled, frames: NDArray[Any]) -> list[Line]:
    """The reach on every frame, as runs of frames of the same."""
    starts = np.flatnonzero(np.diff(chain.reach, prepend=chain.reach[0] + 1))
    ends = np.append(starts[1:], len(frames)) - 1
    names = {OFF: "OFF", **{reach.value: reach.name for reach in Reach}}
    return [
        {"from": float(frames[a]), "to": float(frames[b]), "is": names[int(chain.reach[a])]}
        for a, b in zip(starts, ends, strict=True)
    ]


def _since(began: float) -> float:
    return round(perf_counter() - began, 4)
