"""What Plant Feet does for a capture that anyone can fetch: the figures in README and docs/capture.md.

``python -m scripts.capture [FILE.bvh]``, in an environment that has Blender as a module. Without a file, it fetches the
capture that the figures are of; it stays under build, and nothing of it is part of this repository."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from . import installed
from .package import BUILD

ADDRESS = (
    "https://raw.githubusercontent.com/OlafHaag/bvh-toolbox/b7858e904d5ffffecc4a68b479a5dc79d3237112"
    "/tests/example_files/source/walk01.bvh"
)
"""A person walking, 101 frames at 24 a second. MIT licence, (c) 2018 Olaf Haag."""

METRES = 0.01
"""Of one unit of the file."""


def fetched() -> Path:
    """The file that is named, else the capture from where it is published."""
    if sys.argv[1:]:
        return Path(sys.argv[1])
    path = BUILD / ADDRESS.rpartition("/")[2]
    if not path.exists():
        BUILD.mkdir(exist_ok=True)
        try:
            with urlopen(ADDRESS, timeout=30) as answer:
                path.write_bytes(answer.read())
        except (URLError, TimeoutError) as why:
            raise SystemExit(f"It can't be fetched ({why}): get {ADDRESS}, and name the file") from None
    return path


def imported(path: Path) -> Any:
    """The rig of a capture in a scene of its own, in Pose Mode with all bones selected, as a person would go on."""
    import addon_utils
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    installed.enable()
    addon_utils.enable("io_anim_bvh")
    options = {"update_scene_fps": True, "update_scene_duration": True, "global_scale": METRES}
    bpy.ops.import_anim.bvh(filepath=str(path), **options)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    return bpy.context.object


def figures(path: Path) -> dict[str, float]:
    """How far soles slide in how many contacts, in millimetres, and how far ankles and knees are moved: as the button
    reports it."""
    import bpy

    imported(path)
    planting, making = installed.addon("tasks.planting"), installed.addon("tasks.adding")
    scene, selection = bpy.context.scene, installed.addon("finding.choosing").limbs_to_add(bpy.context)
    limbs = [limb for limb in selection.limbs if installed.addon("tasks.limbs").is_leg(*limb)]
    frames = range(scene.frame_start, scene.frame_end + 1)
    requests = [making.LimbRequest(*limb) for limb in limbs]
    planted = planting.plant(bpy.context, requests, [], frames, planting.PlantOptions())
    report = planted.report
    return {
        "contacts": float(report.ranges),
        "slid, in the median": 1000.0 * report.before.median,
        "slides, in the median": 1000.0 * report.now.median,
        "slid, at most": 1000.0 * report.before.most,
        "slides, at most": 1000.0 * report.now.most,
        "ankle moved, at most": 1000.0 * report.tips,
        "knee moved, at most": 1000.0 * report.knees,
        "frames out of reach": float(len({frame for frames in report.missed.values() for frame in frames})),
    }


def main() -> int:
    path = fetched()
    installed.install()
    for name, figure in figures(path).items():
        print(f"{name}: {figure:.1f}")
    return 0


if __name__ == "__main__":
    installed.run(main)
