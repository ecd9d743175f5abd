"""The command line of the program: what it takes, read from the operators' own properties, and its exit codes."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import bpy

from ..blender.types import allowed_range

DONE, FAILED, WRONG_CALL, FOUND = 0, 1, 2, 3

EPILOG = """\
patterns: * any letters, ? any one, [LR] one of these, [!LR] none of these
exit codes: 0 done (also where nothing was to be done), 1 a file failed, 2 the call is wrong,
            3 --strict found something, 128 + the signal that interrupted it
Each limb gets a line of JSON on standard output, and so does a file without one. A file is written whole or not at
all."""


class Verb(NamedTuple):
    """A command: the operator that it is on files, an example of its use, whether it takes frames, and what it does
    where no operator says."""

    operator: str
    example: str
    has_frames: bool = False
    does: str = ""


VERBS = {
    "report": Verb("", "shots/*.blend --strict", True, "Say which frames reach their target; change nothing"),
    "bake": Verb("bake", "shots/*.blend -o baked/", True),
    "plant": Verb("plant", "captures/*.blend -o planted/", True),
    "hold": Verb("hold", "captures/*.blend -o held/ --bone 'shin.*'", True),
    "contacts": Verb("find_contacts", "walk.blend --in-place --bone 'shin.*'", True),
    "convert": Verb("convert", "characters/*.blend --in-place"),
    "add": Verb("add", "rig.blend --in-place --limb 'shin.*:foot_ik.*:knee_ik.*'"),
    "rebuild": Verb("rebuild", "characters/*.blend --in-place"),
    "set": Verb("set", "characters/*.blend --in-place --mode RIG"),
}

BY_HAND = ("rna_type", "which", "range", "frame_start", "frame_end", "ends_at", "limbs", "target", "pole")
"""Properties of operators that patterns and --frames stand for."""


class Parser(argparse.ArgumentParser):
    """One that complains in one line, as everything here does."""

    def error(self, message: str) -> NoReturn:
        """End the program for something wrong on the command line."""
        self.exit(WRONG_CALL, f"{self.prog}: {message} ({self.prog} --help says what it takes)\n")


def properties_of(verb: str) -> list[Any]:
    """The properties of a verb's operator that are its options."""
    if not VERBS[verb].operator:
        return []
    kind: Any = getattr(bpy.ops.pose, f"planar_ik_{VERBS[verb].operator}").get_rna_type()
    return [each for each in kind.properties if each.identifier not in BY_HAND and not each.is_hidden]


def options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The properties of the operator, by name, as given or as they usually are; of ``set``, those that are given."""
    given, verb = vars(arguments), arguments.command
    usual = {} if verb == "set" else {each.identifier: each.default for each in properties_of(verb)}
    return usual | {each.identifier: given[each.identifier] for each in properties_of(verb) if each.identifier in given}


def parse(words: list[str]) -> argparse.Namespace:
    """Read the command line; complaints and help end in `SystemExit`, as is argparse's way. Paths come out whole."""
    parser = Parser("planar_ik", description="Planar IK without a window.", epilog=EPILOG)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True, metavar=" | ".join(VERBS))
    for name, verb in VERBS.items():
        kind: Any = verb.operator and getattr(bpy.ops.pose, f"planar_ik_{verb.operator}").get_rna_type()
        does = verb.does or f"{kind.name}: {kind.description.split('. ')[0]}"
        command = commands.add_parser(
            name,
            help=does,
            description=f"{does}.",
            epilog=f"example:\n  planar_ik {name} {verb.example}\n\n{EPILOG}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        _add_by_hand(command.add_argument, name, verb)
        for each in properties_of(name):
            _add_property(command, each, is_usual=name != "set")
        if name != "report":
            where = command.add_mutually_exclusive_group(required=name != "contacts")
            where.add_argument("-o", "--output", metavar="OUT", help="the file to write, or the folder to write into")
            where.add_argument("--in-place", action="store_true", help="write over the input")
            command.add_argument("--skip-existing", action="store_true", help="leave out files whose output is there")
    arguments = parser.parse_args(words)
    _check_arguments(commands.choices[arguments.command], arguments)
    return arguments


def _add_by_hand(add: Callable[..., Any], name: str, verb: Verb) -> None:
    """What is of files, and of no operator."""
    add("inputs", nargs="+", type=_path, metavar="IN.blend")
    add("--scene", metavar="NAME", help="the scene of this name (default: the one saved open)")
    add("--object", metavar="PATTERN", default="*", help="only rigs whose names match, as in 'hero*'")
    add("--bone", metavar="PATTERN", default="*", help="only limbs whose last bone matches, as in '*.L'")
    add(
        "--strict",
        action="store_true",
        help="write nothing and end with 3 where a limb has a problem, or a pattern matches nothing",
    )
    add("--allow-scripts", action="store_true", help="run the Python in the files; only if you trust them")
    if verb.has_frames:
        add("--frames", type=_frames, metavar="START:END", help="default: the scene's frames")
    if name == "report":
        add("--step", type=_number(0.01), default=1.0, help="frames from one to the next (1)")
    if name in ("report", "bake"):
        add(
            "--max-miss",
            type=_number(0.0),
            metavar="DISTANCE",
            help="a frame counts as reached with the tip no farther than this from its target, in scene units",
        )
    if name == "bake":
        add("--make-local", action="store_true", help="make what is linked a part of the file first")
    if name == "add":
        add(
            "--limb",
            action="append",
            required=True,
            metavar="BONE[:TARGET[:POLE]]",
            help="the last bone of the limb, and bones of the rig or objects to follow; may be repeated; a * stands "
            "for the same letters in all three",
        )


def _add_property(command: argparse.ArgumentParser, of: Any, is_usual: bool) -> None:
    """An option of the operator's name, range, words and tooltip."""
    usual = f" ({of.default:g})" if of.type in ("INT", "FLOAT") else f" ({of.default})" if of.default != "" else ""
    meaning = (of.description + (usual if is_usual else "")).replace("%", "%%")
    takes: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
    if of.type == "ENUM":
        takes = {"type": str.upper, "choices": [item.identifier for item in of.enum_items]}
    elif of.type == "STRING":
        takes = {"metavar": "NAME"}
    elif of.type != "BOOLEAN":
        takes = {"type": _number(*allowed_range(of), of.type == "INT"), "metavar": "NUMBER"}
    name = f"--{of.identifier.replace('_', '-')}"
    command.add_argument(name, dest=of.identifier, default=argparse.SUPPRESS, help=meaning, **takes)


def _check_arguments(command: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    if arguments.command == "set" and not options_of(arguments):
        command.error("say what is to be set")
    if getattr(arguments, "output", None) is None:
        if getattr(arguments, "skip_existing", False):
            command.error("--skip-existing needs -o: with --in-place every output is there")
        return
    if _names_folder(arguments.output) and Path(arguments.output).is_file():
        command.error(f"{arguments.output} is a file, not a folder: leave the slash out, or give another -o")
    outputs = [output_of(source, arguments) for source in arguments.inputs]
    if len({output.resolve() for output in outputs}) < len(outputs):
        command.error("several files would be written to one: give -o a folder, and files of different names")
    if over := [
        source for source, output in zip(arguments.inputs, outputs, strict=True) if source.resolve() == output.resolve()
    ]:
        command.error(f"{over[0]} would be written over: give another -o, or --in-place")


def output_of(source: Path, arguments: argparse.Namespace) -> Path:
    """The file to write for an input."""
    if arguments.in_place:
        return source
    out = Path(os.path.abspath(arguments.output))
    is_file = out.suffix.lower() == ".blend" and not out.is_dir() and not _names_folder(arguments.output)
    return out if is_file else out / source.name


def _names_folder(text: str) -> bool:
    return text.endswith(("/", os.sep))


def _path(text: str) -> Path:
    return Path(os.path.abspath(text))


def _number(low: float, high: float = float("inf"), is_whole: bool = False) -> Callable[[str], float]:
    def number(text: str) -> float:
        value = int(text) if is_whole else float(text)
        if not (isfinite(value) and low <= value <= high):
            raise argparse.ArgumentTypeError(f"{text} is not a number from {low:g} to {high:g}")
        return value

    return number


def _frames(text: str) -> tuple[float, float]:
    start, separator, end = text.partition(":")
    try:
        first, last = float(start), float(end if separator else start)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not START:END, as in 1:250") from None
    if not (abs(first) <= 1048574 and abs(last) <= 1048574 and first <= last):
        raise argparse.ArgumentTypeError(f"'{text}' is not a range of frames, as in 1:250")
    return first, last
