"""The command line of the program."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..bake import Span

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

LAST_FRAME = 1048574
"""Blender's frames end here, and begin at the negative of it."""

SHORTEST_STEP = 0.01

EPILOG = """\
Standard output gets one line of JSON for each file and chain, all else goes to standard error. Blender itself may print
lines before the first of them; they do not begin with a brace. In a line, "unreached" is a number of frames, and
"max_error" the largest distance of tip and target, in scene units; "problem" says why a chain could not be posed.

exit codes:
  0  done, or nothing to do
  1  failure: something unforeseen, its traceback is on standard error
  2  bad input: a wrong argument, a file that is missing, not a .blend, from a newer Blender, or without a chain, a
     chain that can't be baked; nothing was written for that file
  3  a chain has more unreached frames than --max-unreached; nothing was written for that file
  4  the output can't be written: no permission, disk full, or another run is writing it
  130  interrupted with Ctrl-C or SIGTERM

A file that fails does not keep the next one from being processed. The output is written beside its name and renamed
when it is whole, so that a run may be killed at any moment."""

BAKE_EXAMPLES = """\
examples:
  blender --command planar_ik bake shot.blend -o baked.blend
  blender --command planar_ik bake sq1/*.blend sq2/*.blend -o baked --relative-to . --skip-existing
"""

REPORT_EXAMPLE = """\
example:
  blender --command planar_ik report shot.blend --frames 1:100
"""

ADD_EXAMPLE = """\
example:
  blender --command planar_ik add rig.blend chains.toml -o rigged.blend

  where chains.toml holds, for each chain:
    [[chains]]
    object = "Rig"
    bone = "shin.L"
    target = "Foot.L"
    softness = 0.05
"""

DESCRIPTION = (
    'a list "chains", each with object, bone (the lower one), and if wanted target, subtarget, pole_target, '
    "pole_subtarget (names; an empty is made for a target or pole that is not named) and any of the chain's settings: "
    "plane, bend, influence, softness, stretch, stretch_max, stretch_volume, min_angle, max_angle (radians)"
)


def parse(words: list[str]) -> argparse.Namespace:
    """Read the command line; complaints and help end in `SystemExit`, as is argparse's way."""
    parser = argparse.ArgumentParser("planar_ik", description="Planar IK without a window.", epilog=EPILOG)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True, metavar="bake | report | add")
    _add_bake(commands)
    does = "say for each chain which frames reach their target; change nothing"
    report = _command(commands, "report", does, REPORT_EXAMPLE)
    _inputs(report)
    _frames(report)
    add = _command(commands, "add", "put chains on limbs, from a description", ADD_EXAMPLE)
    add.add_argument("inputs", nargs=1, type=Path, metavar="IN.blend")
    add.add_argument("description", type=Path, metavar="CHAINS.json|.toml", help=DESCRIPTION)
    _outputs(add)
    add.set_defaults(relative_to=None)
    arguments = parser.parse_args(words)
    if arguments.command != "report":
        _check_outputs(commands.choices[arguments.command], arguments)
    return arguments


def span_of(arguments: argparse.Namespace) -> Span:
    """The range that was asked for."""
    if arguments.frames:
        start, end = arguments.frames
        return Span("GIVEN", start, end, arguments.step)
    return Span(arguments.range.upper(), step=arguments.step)


def _add_bake(commands: Commands) -> None:
    bake = _command(commands, "bake", "turn what chains do into keys", BAKE_EXAMPLES)
    _inputs(bake)
    _frames(bake)
    _outputs(bake)
    bake.add_argument(
        "--relative-to",
        type=Path,
        metavar="FOLDER",
        help="this folder holds the inputs; OUT gets the same folders, so that shots of the same name stay apart",
    )
    bake.add_argument(
        "--action",
        choices=("current", "new"),
        default="current",
        help="where keys go: the rig's action, or a copy of it",
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
        "--max-unreached",
        type=_count,
        metavar="FRAMES",
        help="end with code 3, and write nothing, if a chain has more unreached frames than this",
    )
    bake.add_argument(
        "--skip-existing",
        action="store_true",
        help="skip what an earlier run with this option has done, told by the content of the files, of which it keeps "
        "a note in a hidden file beside the output",
    )


def _command(commands: Commands, name: str, does: str, examples: str) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=does,
        description=does[0].upper() + does[1:] + ".",
        epilog=f"{examples}\n{EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="+", type=Path, metavar="IN.blend")
    parser.add_argument(
        "--chain",
        action="append",
        metavar="OBJECT:BONE",
        help="only this chain, named by its lower bone; may be repeated",
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
        help="the .blend file to write, or the folder to write into",
    )
    parser.add_argument("--in-place", action="store_true", help="write over the input")


def _check_outputs(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    if arguments.in_place == (arguments.output is not None):
        parser.error("give either -o OUT or --in-place")
    below = arguments.relative_to
    if below and arguments.in_place:
        parser.error("--relative-to goes with -o: --in-place writes no other files")
    for source in arguments.inputs if below else ():
        if not Path(os.path.abspath(source)).is_relative_to(os.path.abspath(below)):
            parser.error(f"{source} is not in {below}")
    needs_folder = below or len(arguments.inputs) > 1
    if needs_folder and arguments.output and names_file(arguments.output):
        parser.error(f"-o has to be a folder here, and {arguments.output} names a file")


def names_file(output: str) -> bool:
    """Whether an output is a file to be written, and not a folder to write into."""
    return output.lower().endswith(".blend") and not Path(output).is_dir()


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
