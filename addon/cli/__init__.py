"""``blender --command planar_ik``: bake, report on, add and convert chains where there is no window.

Standard output holds JSON, a line for each file and chain; all else goes to standard error.
"""

from __future__ import annotations

from typing import Any

import bpy

from .arguments import parse
from .codes import Code
from .commands import run
from .interrupt import interrupts_noted
from .output import only_json, say, unlogged

_commands: list[Any] = []


def main(words: list[str]) -> int:
    """Run the program with these arguments and give its exit code, one of `Code`."""
    with interrupts_noted():
        try:
            arguments = parse(words)
        except SystemExit as leaving:  # how argparse ends after --help, and after a complaint
            return Code.BAD_INPUT if leaving.code else Code.DONE
        with only_json() as write, unlogged():
            try:
                return run(arguments, write)
            except KeyboardInterrupt:
                say("Interrupted: files that are done are whole, the others are as they were")
                return Code.INTERRUPTED


def register() -> None:
    """Add the command to Blender's command line."""
    handle = bpy.utils.register_cli_command("planar_ik", main)  # type: ignore[func-returns-value]  # it gives a handle
    _commands.append(handle)


def unregister() -> None:
    """Take it away again."""
    while _commands:
        bpy.utils.unregister_cli_command(_commands.pop())
