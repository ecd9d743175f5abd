"""Build, check and film the walking creature: ``make demo``; with ``ARGS=--docs`` the README's picture as well."""

from __future__ import annotations

import argparse
import logging
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .. import installed
from ..package import BUILD, ROOT

if TYPE_CHECKING:
    from .gait import Walk

FRAMES = range(1, 61)
HERO = 50
"""The frame for the README."""

EXACT = 1e-5
"""Metres that the tip of a foot may be from the point of the ground where it stands."""

SECONDS = 140.0
"""For rendering all frames, so that the whole of it stays under three minutes."""


def main(arguments: argparse.Namespace) -> int:
    installed.install()
    start = time.monotonic()
    blend = BUILD / "demo.blend"
    walk = build(blend)
    status = check(blend, walk) or check_on_rig(blend, BUILD / "demo-native.blend")
    if status or arguments.no_pictures:
        return status
    open_file(blend)
    draw()
    if arguments.docs:
        draw_hero(ROOT / "docs" / "demo.png")
    print(f"Done in {time.monotonic() - start:.0f} s")
    return 0


def build(path: Path) -> Walk:
    """Build the scene in an empty file, and save it."""
    import bpy

    from . import creature, stage
    from .gait import Walk
    from .garden import Garden

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    installed.enable()
    scene = bpy.context.scene
    collections = [bpy.data.collections.new(name) for name in ("Garden", "Beetle", "Stage")]
    for collection in collections:
        scene.collection.children.link(collection)
    garden, beetle, around = collections
    walk = Walk([limb.leg for limb in creature.limbs()], Garden(garden).height)
    rig = creature.build(beetle)
    targets = creature.add_chains(rig, beetle)
    creature.animate(rig, targets, walk, FRAMES)
    stage.light(scene, around)
    stage.film(scene, around, walk, FRAMES)
    stage.set_up(scene, FRAMES)
    scene.frame_set(FRAMES[0])
    path.unlink(missing_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)
    print(f"{_shown(path)}: {len(targets)} live chains, {len(bpy.data.objects)} objects, {len(FRAMES)} frames")
    return walk


def check(path: Path, walk: Walk) -> int:
    """Open the saved file, play it, and see in every frame how far the feet are from where they stand."""
    import bpy
    from mathutils import Vector

    open_file(path)
    scene, rig = bpy.context.scene, bpy.data.objects["Beetle"]
    worst, stands, missed = (0.0, ""), 0, set()
    for frame in FRAMES:
        scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for leg in walk.legs:
            tibia = evaluated.pose.bones[f"tibia_{leg.name}"]
            foot = walk.foot(leg, frame)
            off = (evaluated.matrix_world @ tibia.tail - Vector(foot.place)).length
            worst = max(worst, (off, f"{leg.name} in frame {frame}"))
            stands += foot.is_planted
            if rig.pose.bones[tibia.name].planar_ik.reach != "REACHED":
                missed.add(f"{leg.name} in frame {frame}: {rig.pose.bones[tibia.name].planar_ik.reach}")
    print(f"Feet planted {stands} times; farthest of all tips from its place: {worst[0]:.1e} m ({worst[1]})")
    for line in sorted(missed):
        print(f"Out of reach: {line}")
    if worst[0] > EXACT or missed:
        print(f"FAILED: a tip must be within {EXACT:.0e} m of its place in every frame")
        return 1
    return 0


def check_on_rig(path: Path, native: Path) -> int:
    """Save the creature with its legs on the rig itself, and see where its feet are without the extension."""
    import bpy

    from . import creature

    open_file(path)
    creature.make_portable(bpy.data.objects["Beetle"])
    native.unlink(missing_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(native), compress=True)
    limbs = [f"tibia_{limb.leg.name}=Foot {limb.leg.name}" for limb in creature.limbs()]
    print(f"{_shown(native)}: {len(limbs)} legs on the rig itself", flush=True)
    alone = [sys.executable, "-m", "scripts.demo.alone", str(native), str(EXACT), *limbs]
    return subprocess.run(alone, cwd=ROOT, timeout=300).returncode


def open_file(path: Path) -> None:
    """Open a file that was saved."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(path))


def draw() -> None:
    """Render the open file: frames, film and sheet."""
    import bpy

    from . import pictures

    paths = pictures.render(bpy.context.scene, FRAMES, BUILD / "demo", SECONDS)
    film, sheet = BUILD / "demo.mp4", BUILD / "demo-sheet.png"
    pictures.film(paths, film)
    pictures.sheet(paths, sheet)
    for path in (film, sheet):
        print(f"{_shown(path)}: {path.stat().st_size / 1000:.0f} kB")


def draw_hero(path: Path) -> None:
    """Render one frame with care."""
    import bpy

    from . import pictures

    path.parent.mkdir(exist_ok=True)
    scene = bpy.context.scene
    scene.cycles.samples, scene.cycles.time_limit = 96, 0.0
    scene.render.image_settings.color_mode, scene.render.image_settings.compression = "RGB", 100
    pictures.still(scene, HERO, path)
    print(f"{_shown(path)}: {path.stat().st_size / 1000:.0f} kB")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--no-pictures", action="store_true", help="build and check only")
    parser.add_argument("--docs", action="store_true", help="render docs/demo.png as well")
    return parser.parse_args()


def _shown(path: Path) -> Path:
    return path.relative_to(ROOT)


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    wanted = _arguments()
    installed.run(lambda: main(wanted))
