"""How fast and how exact, beside what Blender has: ``make bench``, or ``make bench ARGS="live idle"`` for some.

Nothing here passes or fails: it prints ratios measured in one run, where both sides meet the same machine.
"""

from __future__ import annotations

import sys
import traceback
from importlib import import_module

from . import installed

PARTS = {
    "live": "Live chains against Blender's IK constraint",
    "native": "Chains on the rig against live ones and Blender's IK constraint",
    "idle": "What an event costs",
    "surroundings": "Limbs among many other objects and rigs",
    "solver": "The solver on arrays",
    "faults": "Where Blender's IK constraint fails",
    "softness": "The knee near full reach",
    "bake": "Baking",
}
"""The parts, each in a module ``bench_NAME`` with a function ``main``, and their headings."""


def main() -> int:
    import bpy

    installed.install()
    print(f"Blender {bpy.app.version_string}, Python {sys.version.split()[0]}")
    names = sys.argv[1:]
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"There is no part '{unknown[0]}'; there are {', '.join(PARTS)}")
        return 2
    failed = [name for name in names or PARTS if not run(name)]
    if failed:
        print(f"\nBroke off: {', '.join(failed)}")
    return len(failed)


def run(name: str) -> bool:
    """Run one part; say whether it came to its end."""
    print(f"\n== {PARTS[name]} ({name})", flush=True)
    try:
        import_module(f"{__package__}.bench_{name}").main()
    except Exception:  # noqa: BLE001 (the other parts are still worth running)
        traceback.print_exc()
        return False
    return True


if __name__ == "__main__":
    installed.run(main)
