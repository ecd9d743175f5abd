"""``planar_ik`` where the extension is not installed: the same program, run from the tree.

    python scripts/bake.py bake IN.blend -o OUT.blend        (a Python that has Blender as a module: pip install bpy)
    blender -b --python-exit-code 1 --python scripts/bake.py -- bake IN.blend -o OUT.blend

``--help`` says the rest.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

received: list[int] = []
"""The signals that are to end this program: what is raised while Blender starts would not come through."""


def main() -> int:
    if "bpy" in sys.modules:  # Blender runs this file.
        return run(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else [])
    if find_spec("bpy") is None:
        raise SystemExit("planar_ik: this Python has no Blender in it: pip install bpy, or have Blender run this file")
    for number in (signal.SIGINT, signal.SIGTERM):  # By themselves they would leave the folder where it is.
        signal.signal(number, lambda number, frame: received.append(number))
    with tempfile.TemporaryDirectory(prefix="planar-ik-user-") as folder:
        os.environ["BLENDER_USER_RESOURCES"] = folder  # Somebody's preferences must not change what comes out.
        return run(sys.argv[1:])


def run(words: list[str]) -> int:
    """The command line of this tree, registered unless the extension is there already."""
    import bpy

    try:
        if hasattr(bpy.types.PoseBone, "planar_ik"):
            program = sys.modules[next(name for name in sys.modules if name.endswith(".planar_ik.addon.cli"))]
        else:
            sys.path.insert(0, str(ROOT))
            import_module("addon").register()
            program = import_module("addon.cli")
        return 128 + received[0] if received else int(program.main(words))
    finally:
        shutil.rmtree(bpy.app.tempdir, ignore_errors=True)  # Blender's own for this session: see below.


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # bpy now and then waits for ever in a destructor after Python has finished.
