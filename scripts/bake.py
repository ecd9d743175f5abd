"""``planar_ik`` where the extension is not installed: the same program, run from the tree.

    blender -b --python-exit-code 1 --python scripts/bake.py -- bake IN.blend -o OUT.blend
    python scripts/bake.py bake IN.blend -o OUT.blend        (where bpy is a module of that Python)

``-- --help`` says the rest.
"""

from __future__ import annotations

import signal

if hasattr(signal, "pthread_sigmask"):  # A signal that comes while Blender starts waits for the program to heed it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})

import os
import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent

NO_BLENDER = """\
planar_ik: this Python has no Blender in it. Let Blender run the program:
    blender -b --python-exit-code 1 --python scripts/bake.py -- bake IN.blend -o OUT.blend
or a Python that has Blender as a module (pip install bpy)"""


def main() -> int:
    if "bpy" in sys.modules:  # Blender runs this file
        words = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
        return program().main(words)
    keep_streams_open()
    if find_spec("bpy") is None:
        raise SystemExit(NO_BLENDER)
    with tempfile.TemporaryDirectory(prefix="planar-ik-user-") as folder:
        os.environ["BLENDER_USER_RESOURCES"] = folder  # Somebody's preferences must not change what comes out.
        sys.stdout = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # What Blender prints, from its import on, is no part of the program's output.
        return program().main(sys.argv[1:])


def keep_streams_open() -> None:
    """Stand in for standard streams that are closed, or the next file that is opened gets what is printed."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


def program() -> ModuleType:
    """The command line of the extension: the one that is enabled, or that of this tree."""
    import bpy

    if not hasattr(bpy.types.PoseBone, "planar_ik"):
        sys.path.insert(0, str(ROOT))
        import_module("addon").register()
        return import_module("addon.cli")
    enabled = next(name for name in sys.modules if name.endswith(".planar_ik.addon.cli"))
    return sys.modules[enabled]


if __name__ == "__main__":
    status = main()
    with suppress(OSError):  # The help, when nobody reads on.
        sys.stdout.flush()
        sys.stderr.flush()
    with suppress(OSError):  # Blender's folder for this session, which is empty; it would remove it as it exits.
        Path(import_module("bpy").app.tempdir).rmdir()
    os._exit(status)  # bpy now and then waits for ever in a destructor after Python has finished.
