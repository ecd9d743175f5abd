"""The command line of the program."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ..bake import Refused, Span, frames_between
from ..rig.data.fcurves import LAST_FRAME
from .codes import Code
from .help import ADD_EXAMPLE, BAKE_EXAMPLES, DESCRIPTION, EPILOG, LIVE_EXAMPLE, PORTABLE_EXAMPLES, REPORT_EXAMPLE
from .version import VERSION

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction["Parser"]

SHORTEST_STEP = 0.01


class Parser(argparse.ArgumentParser):
    """One that complains in one line, as everything here does."""

    def error(self, message: str) -> NoReturn:
        """End the program for something wrong on the command line."""
        self.exit(Code.BAD_INPUT, f"{self.prog}: {message} ({self.prog} --help says what it takes)\n")


def parse(words: list[str]) -> argparse.Namespace:
    """Read the command line; complaints and help end in `SystemExit`, as is argparse's way. Paths come out whole."""
    parser = Parser("planar_ik", description="Planar IK without a window.", epilog=EPILOG)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(dest="command", required=True, metavar="bake | report | add | portable | live")
    _add_bake(commands)
    _add_report(commands)
    _add_add(commands)
    does = "let the rig's own bones, constraints and drivers pose the limbs of live chains, without the extension"
    _add_conversion(commands, "portable", does, PORTABLE_EXAMPLES)
    does = "let the extension pose the limbs of chains on the rig, and take away what posed them there"
    _add_conversion(commands, "live", does, LIVE_EXAMPLE)
    arguments = parser.parse_args(words)
    chosen = commands.choices[arguments.command]
    _check_inputs(chosen, arguments)
    _check_frames(chosen, arguments)
    _check_outputs(chosen, arguments)
    return arguments


def span_of(arguments: argparse.Namespace) -> Span:
    """The range that was asked for."""
    if arguments.frames:
        start, end = arguments.frames
        return Span("GIVEN", start, end, arguments.step)
    return Span(arguments.range.upper(), step=arguments.step)


def names_file(output: str) -> bool:
    """Whether an output is a file to be written, and not a folder to write into."""
    return output.lower().endswith(".blend") and not os.path.isdir(output)


def _add_bake(commands: Commands) -> None:
    bake = _command(commands, "bake", "turn what chains do into keys", BAKE_EXAMPLES)
    _inputs(bake)
    _reach(bake)
    _frames(bake)
    _outputs(bake)
    _below(bake)
    bake.add_argument(
        "--action",
        choices=("current", "new"),
        default="current",
        help="where keys go: the rig's action, or a copy of it",
    )
    bake.add_argument(
        "--for",
        dest="purpose",
        choices=("game",),
        help="for a game engine: limbs, deforming bones and what these hang on are keyed in full, on every frame and "
        "at scale 1, and lose their constraints, drivers and chains",
    )
    bake.add_argument("--keep", action="store_true", help="leave the chains on; their stretch is then not keyed")
    bake.add_argument(
        "--tolerance",
        type=_at_least(0.0),
        default=0.0,
        metavar="DISTANCE",
        help="fewer keys, with knee and tip at most this far off, in scene units; 0: a key on every frame",
    )
    bake.add_argument(
        "--skip-existing",
        action="store_true",
        help="skip what an earlier run with this option has done, told by the content of the files, of which it keeps "
        "a note in a hidden file beside the output",
    )
    _allow_no_chains(bake)


def _add_report(commands: Commands) -> None:
    does = "say for each chain which frames reach their target; change nothing"
    report = _command(commands, "report", does, REPORT_EXAMPLE)
    _inputs(report)
    _reach(report)
    _frames(report)
    report.add_argument("--json", action="store_true", help="lines of JSON, which is what it always writes")


def _add_add(commands: Commands) -> None:
    add = _command(commands, "add", "put chains on limbs, from a description", ADD_EXAMPLE)
    add.add_argument("inputs", nargs=1, type=_whole, metavar="IN.blend")
    add.add_argument("description", type=_whole, metavar="CHAINS.json|.toml", help=DESCRIPTION)
    _scripts(add)
    _outputs(add)
    add.set_defaults(relative_to=None, frames=None)


def _add_conversion(commands: Commands, name: str, does: str, example: str) -> None:
    conversion = _command(commands, name, does, example)
    _inputs(conversion)
    conversion.add_argument(
        "--strict",
        action="store_true",
        help="what is missing, left out or not evaluated is an error: exit codes 5, 6 and 7",
    )
    _outputs(conversion)
    _below(conversion)
    _allow_no_chains(conversion)
    conversion.set_defaults(frames=None)


def _command(commands: Commands, name: str, does: str, examples: str) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=does,
        description=does[0].upper() + does[1:] + ".",
        epilog=f"{examples}\n{EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="+", type=_whole, metavar="IN.blend")
    parser.add_argument(
        "--scene", metavar="NAME|all", help="the scene of this name, or all scenes (default: the one that is active)"
    )
    parser.add_argument(
        "--chain",
        action="append",
        metavar="OBJECT:BONE",
        help="only this chain, named by its lower bone; may be repeated",
    )
    _scripts(parser)


def _reach(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--strict",
        action="store_true",
        help="what is missing, left out or not evaluated is an error: exit codes 5, 6 and 7; and so are unreached "
        "frames, unless --max-unreached says how many may be",
    )
    parser.add_argument(
        "--max-unreached",
        type=_count,
        metavar="FRAMES",
        help="end with code 3, and write nothing, if a chain has more unreached frames than this",
    )
    parser.add_argument(
        "--max-miss",
        type=_at_least(0.0),
        default=0.0,
        metavar="DISTANCE",
        help="a frame counts as reached with the tip no farther than this from its target, in scene units, as softness "
        "and influences between 0 and 1 leave it",
    )


def _scripts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--enable-autoexec",
        action="store_true",
        help="run the Python of the files: their drivers and registered texts. Only for files that you trust",
    )


def _frames(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--range",
        choices=("scene", "preview", "action"),
        default="scene",
        help="which frames: the scene's, its preview range, or from first to last key of rig and targets (scene)",
    )
    group.add_argument(
        "--frames",
        type=_ends,
        metavar="START:END",
        help="these frames; if the first is negative, with =, as in --frames=-9:20",
    )
    parser.add_argument(
        "--step",
        type=_at_least(SHORTEST_STEP),
        default=1.0,
        help="frames from one to the next; 0.5 takes half frames too",
    )


def _outputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=lambda text: f"{_whole(text)}{os.sep if text.endswith(os.sep) else ''}",
        help="the .blend file to write, or the folder to write into; folders that are not there are made",
    )
    parser.add_argument("--in-place", action="store_true", help="write over the input")


def _below(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--relative-to",
        type=_whole,
        metavar="FOLDER",
        help="this folder holds the inputs; OUT gets the same folders, so that shots of the same name stay apart",
    )


def _allow_no_chains(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allow-no-chains",
        action="store_true",
        help="a file without a chain of that kind is a success; the output is then the file as it is",
    )


def _check_inputs(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    seen: set[str] = set()
    for given in arguments.inputs:
        real = os.path.realpath(given)
        if real in seen:
            parser.error(f"{given} is given twice")
        seen.add(real)


def _check_frames(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    if arguments.frames:
        try:
            start, end = arguments.frames
            frames_between(start, end, arguments.step)
        except Refused as why:
            parser.error(str(why))


def _check_outputs(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    if arguments.command == "report":
        return
    if arguments.in_place == (arguments.output is not None):
        parser.error("give either -o OUT or --in-place")
    below = arguments.relative_to
    if below and arguments.in_place:
        parser.error("--relative-to goes with -o: --in-place writes no other files")
    for source in arguments.inputs if below else ():
        if not source.is_relative_to(below):
            parser.error(f"{source} is not in {below}")
    needs_folder = below or len(arguments.inputs) > 1
    if needs_folder and arguments.output and names_file(arguments.output):
        parser.error(f"-o has to be a folder here, and {arguments.output} names a file")


def _whole(text: str) -> Path:
    """A path from the root on: Blender takes others from $PWD, which a process keeps when it is started elsewhere."""
    if not text:
        raise argparse.ArgumentTypeError("a name is empty, as of a variable that is not set")
    try:
        simple, given = os.path.abspath(text), os.path.join(os.getcwd(), text)
    except FileNotFoundError as error:
        raise argparse.ArgumentTypeError(f"'{text}': the folder that this was started in is gone") from error
    folder, name = os.path.split(given)
    real = os.path.join(os.path.realpath(folder), name)
    return Path(simple if os.path.realpath(simple) == os.path.realpath(real) else real)  # '..' out of a linked folder


def _at_least(least: float) -> Callable[[str], float]:
    def number(text: str) -> float:
        value = float(text)
        if not least <= value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text} is not a number from {least:g} on")
        return value

    return number


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is not a number of frames")
    return int(text)


def _ends(text: str) -> tuple[float, float]:
    start, separator, end = text.partition(":")
    try:
        ends = float(start), float(end if separator else start)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not START:END, as in 1:250") from error
    if not all(abs(frame) <= LAST_FRAME for frame in ends):
        raise argparse.ArgumentTypeError(f"Blender's frames go from -{LAST_FRAME} to {LAST_FRAME}")
    return ends
