"""``blender --command planar_ik``: bake, report, plant, add, convert and repair limbs where there is no window.

Standard output gets a line of JSON for each limb, or for a file without one; sentences for people go to standard
error.
"""

from __future__ import annotations

from typing import Any

import bpy

from .arguments import DONE, WRONG_CALL, parse
from .commands import run

_commands: list[Any] = []


def main(words: list[str]) -> int:
    """Run the program with these arguments and give its exit code, as `arguments` explains it."""
    try:
        arguments = parse(words)
    except SystemExit as leaving:  # how argparse ends after --help, and after a complaint
        return WRONG_CALL if leaving.code else DONE
    return run(arguments)


def register() -> None:
    """Add the command to Blender's command line."""
    handle = bpy.utils.register_cli_command("planar_ik", main)  # type: ignore[func-returns-value]  # it gives a handle
    _commands.append(handle)


def unregister() -> None:
    """Take it away again."""
    while _commands:
        bpy.utils.unregister_cli_command(_commands.pop())
