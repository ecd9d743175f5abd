"""The command line of the program: what it takes, and its exit codes."""

from __future__ import annotations

import argparse
import os
from math import isfinite
from pathlib import Path
from typing import NoReturn

from ..tasks.contact_markers import HEIGHT, SPEED
from ..tasks.holding import MOST_EASE
from ..tasks.limbs import PLANES

DONE, FAILED, WRONG_CALL, FOUND = 0, 1, 2, 3

EPILOG = """\
patterns: * any letters, ? any one, [LR] one of these, [!LR] none of these
exit codes: 0 done (also where nothing was to be done), 1 a file failed, 2 the call is wrong,
            3 --strict found something, 128 + the signal that interrupted it
Each limb gets a line of JSON on standard output, and so does a file without one. A file is written whole or not at
all."""

EXAMPLES = {
    "bake": "planar_ik bake shots/*.blend -o baked/\n  planar_ik bake walk.blend --in-place --for game",
    "report": "planar_ik report shots/*.blend --strict",
    "contacts": "planar_ik contacts captures/*.blend\n  planar_ik contacts walk.blend --in-place --bone 'shin.*'",
    "hold": "planar_ik hold captures/*.blend -o held/\n  planar_ik hold walk.blend --in-place --bone 'shin.*' --ease 5",
    "plant": "planar_ik plant captures/*.blend -o planted/\n  planar_ik plant walk.blend --in-place --bone '*LeftLeg'",
    "add": """planar_ik add rig.blend --in-place --limb "shin.*" --limb "forearm.*"
  planar_ik add rig.blend -o ik.blend --limb "shin.*:foot_ik.*:knee_ik.*"
    (the bone, its target and its pole; a * stands for the same letters in all three)""",
    "convert": "planar_ik convert characters/*.blend --in-place\n  planar_ik convert a.blend -o b.blend --bone '*.L'",
    "to-rig": "planar_ik to-rig characters/*.blend --in-place",
    "rebuild": "planar_ik rebuild characters/*.blend --in-place",
}

DOES = {
    "bake": "turn what limbs do into keys",
    "report": "say of each limb which frames reach their target; change nothing",
    "contacts": "find when the tips of limbs are in contact, and how far they slide there; mark that on the timeline "
    "with --in-place or -o, for hold",
    "hold": "plant the tips of limbs where they are in contact: as the file's markers say, else as their paths show",
    "plant": "put IK with Foot Roll on legs that have none, find when their feet stand, mark that, and hold them there",
    "add": "make limbs of bones, on the rig unless --live",
    "convert": "solve the IK constraints of two to four bones exactly, on the rig unless --live",
    "to-rig": "let the rig's own bones and constraints pose live limbs, without the extension",
    "rebuild": "make the mechanisms of limbs anew whose bones or settings were changed",
}


class Parser(argparse.ArgumentParser):
    """One that complains in one line, as everything here does."""

    def error(self, message: str) -> NoReturn:
        """End the program for something wrong on the command line."""
        self.exit(WRONG_CALL, f"{self.prog}: {message} ({self.prog} --help says what it takes)\n")


def parse(words: list[str]) -> argparse.Namespace:
    """Read the command line; complaints and help end in `SystemExit`, as is argparse's way. Paths come out whole."""
    parser = Parser("planar_ik", description="Planar IK without a window.", epilog=EPILOG)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True, metavar=" | ".join(DOES))
    for name, does in DOES.items():
        command = commands.add_parser(
            name,
            help=does,
            description=f"{does[0].upper()}{does[1:]}.",
            epilog=f"examples:\n  {EXAMPLES[name]}\n\n{EPILOG}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        _add_common(command)
        if name in ("bake", "report", "contacts", "hold", "plant"):
            _add_frames(command)
        if name in ("bake", "report"):
            _add_step(command)
        if name == "bake":
            _add_bake(command)
        if name in ("contacts", "plant"):
            _add_contacts(command)
        if name in ("hold", "plant"):
            _add_hold(command)
        if name == "add":
            _add_add(command)
        if name == "convert":
            _add_convert(command)
        if name != "report":
            _add_output(command, is_required=name != "contacts")
    arguments = parser.parse_args(words)
    _check_arguments(commands.choices[arguments.command], arguments)
    return arguments


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument("inputs", nargs="+", type=_path, metavar="IN.blend")
    command.add_argument("--scene", metavar="NAME", help="the scene of this name (default: the one saved open)")
    command.add_argument("--object", metavar="PATTERN", default="*", help="only rigs whose names match, as in 'hero*'")
    command.add_argument(
        "--bone", metavar="PATTERN", default="*", help="only limbs whose last bone matches, as in '*.L'"
    )
    command.add_argument(
        "--strict",
        action="store_true",
        help="end with 3 where something is wrong with a limb, or a pattern matches nothing",
    )
    command.add_argument(
        "--allow-scripts", action="store_true", help="run the Python in the files; only if you trust them"
    )


def _add_frames(command: argparse.ArgumentParser) -> None:
    command.add_argument("--frames", type=_frames, metavar="START:END", help="default: the scene's frames")


def _add_step(command: argparse.ArgumentParser) -> None:
    command.add_argument("--step", type=_positive, default=1.0, help="frames from one to the next (1)")
    command.add_argument(
        "--max-miss",
        type=_positive,
        metavar="DISTANCE",
        help="a frame counts as reached with the tip no farther than this from its target, in scene units",
    )


def _add_bake(command: argparse.ArgumentParser) -> None:
    command.add_argument("--tolerance", type=_positive, default=0.0, help="fewer keys, joints at most this far off")
    command.add_argument("--for", dest="purpose", choices=("game",), help="leave a clean rig with keys for an engine")
    command.add_argument("--remove", action="store_true", help="remove the limbs once they are keys")
    command.add_argument("--new-action", action="store_true", help="put keys into a copy of the rig's action")
    command.add_argument("--make-local", action="store_true", help="make what is linked a part of the file first")
    command.add_argument(
        "--skip-existing", action="store_true", help="leave out files whose output is there: go on where a run stopped"
    )


def _add_contacts(command: argparse.ArgumentParser) -> None:
    command.set_defaults(step=1.0)
    command.add_argument(
        "--height",
        type=_positive,
        default=HEIGHT,
        metavar="SHARE",
        help=f"how high above their floor heel and toe still stand, as a share of the limb's length ({HEIGHT})",
    )
    command.add_argument(
        "--speed",
        type=_positive,
        default=SPEED,
        metavar="SHARE",
        help=f"how fast they may slide there, as a share of the fastest that they go in a step ({SPEED})",
    )


def _add_hold(command: argparse.ArgumentParser) -> None:
    command.set_defaults(step=1.0)
    command.add_argument(
        "--ease", type=int, choices=range(MOST_EASE + 1), default=3, help="frames that lead there and back (3)"
    )


def _add_add(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--limb",
        action="append",
        required=True,
        metavar="BONE[:TARGET[:POLE]]",
        help="the last bone of the limb, and bones of the rig or objects to follow; may be repeated",
    )
    command.add_argument("--plane", choices=PLANES, help="default: what suits the rig")
    command.add_argument("--bones", type=int, choices=(2, 3, 4), default=0, help="of each limb (default: as it looks)")
    command.add_argument("--live", action="store_true", help="let the extension pose them")


def _add_convert(command: argparse.ArgumentParser) -> None:
    command.add_argument("--live", action="store_true", help="let the extension pose them")
    command.add_argument(
        "--tolerance",
        type=_positive,
        metavar="SHARE",
        help="leave limbs that would move in some frame by more than this share of their length (0.002)",
    )
    command.add_argument("--all-actions", action="store_true", help="keep limbs where they are in all actions of a rig")


def _add_output(command: argparse.ArgumentParser, is_required: bool) -> None:
    where = command.add_mutually_exclusive_group(required=is_required)
    where.add_argument("-o", "--output", metavar="OUT", help="the file to write, or the folder to write into")
    where.add_argument("--in-place", action="store_true", help="write over the input")


def _check_arguments(command: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    if getattr(arguments, "output", None) is None:
        if getattr(arguments, "skip_existing", False):
            command.error("--skip-existing needs -o: with --in-place every output is there")
        return
    if _names_folder(arguments.output) and Path(arguments.output).is_file():
        command.error(f"{arguments.output} is a file, not a folder: leave the slash out, or give another -o")
    outputs = [output_of(source, arguments) for source in arguments.inputs]
    if len({output.resolve() for output in outputs}) < len(outputs):
        command.error("several files would be written to one: give -o a folder, and files of different names")
    for source, output in zip(arguments.inputs, outputs, strict=True):
        if source.resolve() == output.resolve():
            command.error(f"{source} would be written over: give another -o, or --in-place")


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


def _positive(text: str) -> float:
    value = float(text)
    if not (isfinite(value) and value >= 0.0):
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0 on")
    return value


def _frames(text: str) -> tuple[float, float]:
    start, separator, end = text.partition(":")
    try:
        first, last = float(start), float(end if separator else start)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not START:END, as in 1:250") from None
    if not (abs(first) <= 1048574 and abs(last) <= 1048574 and first <= last):
        raise argparse.ArgumentTypeError(f"'{text}' is not a range of frames, as in 1:250")
    return first, last
