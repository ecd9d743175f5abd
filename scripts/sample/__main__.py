"""Write the sample file, build/planar_ik_sample.blend: ``make sample``, or with a path where it should go."""

from __future__ import annotations

import sys
from pathlib import Path

from .. import installed
from ..package import BUILD


def write(path: Path) -> None:
    """Build both characters in an empty file and save it; needs the extension enabled."""
    import bpy

    from .building import FRAMES, build, show
    from .figures import FIGURES

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    for figure in FIGURES:
        build(figure)
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    scene.frame_set(FRAMES[0])
    show(FIGURES)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)


def main() -> int:
    installed.install()
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else BUILD / "planar_ik_sample.blend"
    path.parent.mkdir(exist_ok=True)
    write(path.resolve())
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    installed.run(main)
