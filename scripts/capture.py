"""What Plant Feet does for a capture that anyone can fetch: the figures in README and docs/capture.md.

``python -m scripts.capture [FILE.bvh]``, in an environment that has Blender as a module. Without a file, it fetches the
capture that the figures are of; it stays under build, and nothing of it is part of this repository. With ``--strip``,
it writes build/window/planting.mvg instead, which ImageMagick draws as docs/planting.png."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from . import installed
from .package import BUILD
from .window import PICTURES

ADDRESS = (
    "https://raw.githubusercontent.com/OlafHaag/bvh-toolbox/b7858e904d5ffffecc4a68b479a5dc79d3237112"
    "/tests/example_files/source/walk01.bvh"
)
"""A person walking, 101 frames at 24 a second. MIT licence, (c) 2018 Olaf Haag."""

METRES = 0.01
"""Of one unit of the file."""

SIDE, SHOWN = "Right", (39, 41, 44, 47, 51)
"""The foot of docs/planting.png, and the frames of one contact: it comes down on its heel, and rolls off on its toe."""

CELL, SCALE, FLOOR = (180, 130), 600.0, 118
"""The size of one picture of the strip, pixels in a metre, and where the floor is in it, from above."""


def fetched() -> Path:
    """The file that is named, else the capture from where it is published."""
    named = [word for word in sys.argv[1:] if not word.startswith("--")]
    if named:
        return Path(named[0])
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
    planting, making = installed.addon("tasks.holding"), installed.addon("tasks.adding")
    scene, selection = bpy.context.scene, installed.addon("finding.choosing").limbs_to_add(bpy.context)
    limbs = [limb for limb in selection.limbs if installed.addon("tasks.status").is_leg(*limb)]
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


def strip(path: Path) -> list[str]:
    """What ImageMagick draws: a foot in some frames, as it came in the upper row and planted in the lower one; lines
    show where its heel and its toe then stand."""
    import bpy

    rig = imported(path)
    before = _posed(rig)
    bpy.ops.pose.planar_ik_plant()
    after = _posed(rig)
    points = installed.addon("feet.soles").sole_lying(rig.pose.bones[f"{SIDE}Leg"], None)
    heel, toe = points[0].place, points[-1].place
    stand = after[SHOWN[1]][1] @ heel, after[SHOWN[-1]][1] @ toe
    ahead, floor = 0.5 * (stand[0].y + stand[1].y), min(end.z for end in stand)

    def at(place: Any) -> str:
        return f"{CELL[0] / 2 - SCALE * (place.y - ahead):.1f},{FLOOR - SCALE * (place.z - floor):.1f}"

    lines = ["line {0},40 {0},126".format(at(end).partition(",")[0]) for end in stand]
    drawn = ["stroke-linejoin round stroke-linecap round fill none"]
    for row, (word, poses, colour) in enumerate((("before", before, "#ff8a5c"), ("after", after, "#6fd08c"))):
        for column, (frame, (shin, foot)) in enumerate(poses.items()):
            ankle = foot.translation
            outline = [ankle, foot @ heel, foot @ toe, ankle, ankle.lerp(shin.translation, 0.2)]
            drawn += [f"push graphic-context translate {column * CELL[0]},{row * CELL[1]}", "stroke #c9ced6", *lines]
            drawn.append(f"stroke {colour} stroke-width 4 polyline {' '.join(map(at, outline))}")
            drawn.append(f"stroke none fill white text 8,18 '{word}, {frame}' pop graphic-context")
    return drawn


def _posed(rig: Any) -> dict[int, tuple[Any, Any]]:
    """The matrices of the shin and the foot in the world, in the frames that are shown."""
    import bpy

    posed = {}
    for frame in SHOWN:
        bpy.context.scene.frame_set(frame)
        shin, foot = (rig.matrix_world @ rig.pose.bones[f"{SIDE}{name}"].matrix for name in ("Leg", "Foot"))
        posed[frame] = shin, foot
    return posed


def main() -> int:
    path = fetched()
    installed.install()
    if "--strip" in sys.argv:
        PICTURES.mkdir(parents=True, exist_ok=True)
        (PICTURES / "planting.mvg").write_text("\n".join(strip(path)), encoding="utf-8")
        return 0
    for name, figure in figures(path).items():
        print(f"{name}: {figure:.1f}")
    return 0


if __name__ == "__main__":
    installed.run(main)
