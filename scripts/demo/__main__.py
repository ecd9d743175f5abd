"""Build, check and film the walking creatures: ``make demo``.

build/demo.blend has live legs, build/demo-rig.blend has them on the rig, so that it needs no extension. Both are opened
again and played: it fails if a foot is off its target in any frame. Then build/demo.mp4 and build/demo-sheet.png are
rendered of the latter; the second half shows targets and bend planes. ``ARGS=--no-pictures`` leaves them out,
``ARGS=--docs`` renders the picture of the README instead.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .. import installed
from ..package import BUILD, ROOT

FRAMES = range(1, 121)


def main() -> int:
    from . import feet, film

    installed.install()
    live, rig = BUILD / "demo.blend", BUILD / "demo-rig.blend"
    build(live)
    failed = feet.check(live)
    put_on_rig(rig)
    alone = [sys.executable, "-m", "scripts.demo.feet", str(rig)]  # A process that never had the extension.
    if failed or subprocess.run(alone, cwd=ROOT, timeout=300).returncode:
        return 1
    if "--docs" in sys.argv:
        film.hero(36, ROOT / "docs" / "demo.png")
    elif "--no-pictures" not in sys.argv:
        print(f"Rendering {len(FRAMES)} frames, a second each or two", flush=True)
        film.draw(FRAMES, BUILD / "demo", BUILD / "demo.mp4", BUILD / "demo-sheet.png")
        print(f"The film: {BUILD / 'demo.mp4'}\nThe file, to play with: {live}")
    return 0


def build(path: Path) -> None:
    """Build the scene in an empty file, and save it."""
    import bpy

    from . import creature, film
    from .beetle import BEETLE
    from .bird import BIRD
    from .gait import BESIDE, Walk
    from .garden import Garden

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    installed.enable()
    scene = bpy.context.scene
    collections = [bpy.data.collections.new(name) for name in ("Garden", "Creatures", "Stage")]
    for collection in collections:
        scene.collection.children.link(collection)
    ground = Garden(collections[0]).height
    for kind, ahead, aside in ((BEETLE, 0.0, 0.0), (BIRD, *BESIDE)):
        walk = Walk([leg for leg, _ in kind.legs], ground, kind.ride, ahead, aside)
        creature.animate(kind, creature.build(kind, collections[1]), walk, FRAMES)
    film.set_up(collections[2], ground, FRAMES)
    save(path)


def put_on_rig(path: Path) -> None:
    """Save the open creatures with their legs on their rigs."""
    import bpy

    for name in ("Beetle", "Bird"):
        bpy.context.view_layer.objects.active = bpy.data.objects[name]
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="SELECT")
        bpy.ops.pose.planar_ik_set(mode="RIG")
        bpy.ops.object.mode_set(mode="OBJECT")
    save(path)


def save(path: Path) -> None:
    import bpy

    bpy.context.scene.frame_set(FRAMES[0])
    path.unlink(missing_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)


if __name__ == "__main__":
    installed.run(main)
