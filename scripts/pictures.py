"""Pictures of the interface for the guides, taken in Blender's real window: ``make pictures``."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from .package import ROOT
from .tasks import APPLICATION
from .window import PICTURES, Window

if TYPE_CHECKING:
    from tests.window.hand import Hand

SHOWN = {"overlay": "700x640+320+240", "first": "700x640+320+240", "panel": "290x700+0+0"}
"""The pictures in docs/, and what part of what was taken they show."""


def shows_limb(hand: Hand) -> Any:
    """Played inside Blender: a character, a limb between FK and IK with its overlay, its panel."""
    import bpy
    from mathutils import Euler, Matrix

    from . import sample

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    hand.window = bpy.context.window_manager.windows[0]
    yield
    rig = sample.build("Biped", sample.BIPED, (0.0, 0.0, 0.0), False)
    bpy.ops.object.mode_set(mode="POSE")
    shin = rig.pose.bones["shin.L"]
    ik = shin.planar_ik
    target = rig.pose.bones[ik.subtarget]
    sample.select(rig, target.name)
    target.matrix = Matrix.Translation((0.0, -0.25, 0.3)) @ target.matrix
    space = hand.view()[0].spaces.active
    space.shading.color_type, space.overlay.show_text, space.overlay.show_cursor = "MATERIAL", False, False
    view = space.region_3d
    view.view_rotation, view.view_location, view.view_distance = Euler((1.4, 0, 0.7)).to_quaternion(), (0, 0, 0.85), 4.6
    yield from hand.to_the_middle()
    yield
    hand.picture("first")
    sample.select(rig, shin.name)
    ik.softness, ik.influence = 0.06, 0.4
    view.view_location, view.view_distance = (0.05, -0.1, 0.5), 2.7
    yield
    yield
    hand.picture("overlay")
    ik.influence = 1.0
    yield from hand.open_sidebar()
    for _ in range(10):
        yield
    region = hand.sidebar()[1]
    hand.picture("panel", (region.x, region.y, region.width, region.height))
    return {}


def main() -> int:
    if not APPLICATION.exists():
        print(f"Left out: {APPLICATION} is missing, the Blender whose window is photographed")
        return 1
    os.environ.setdefault("BLENDER_SCREEN", "1600x1100x24")  # High enough for the whole panel.
    window = Window()
    try:
        window.play("scripts.pictures.shows_limb")
        window.play("scripts.moving.shows_legs")
    finally:
        window.close()
    for name, region in SHOWN.items():
        taken, shown = PICTURES / f"shows_limb-{name}.png", ROOT / "docs" / f"{name}.png"
        words = ["convert", str(taken), "-crop", region, "+repage", "+dither", "-colors", "96", f"PNG8:{shown}"]
        subprocess.run([str(APPLICATION), "--exec", *words], check=True)  # Its system has ImageMagick.
    film = sorted(str(path) for path in PICTURES.glob("shows_legs-*.png"))
    words = ["-resize", "640x", "+dither", "-colors", "64", "-layers", "optimize", str(ROOT / "docs" / "legs.gif")]
    subprocess.run([str(APPLICATION), "--exec", "convert", "-delay", "7", "-loop", "0", *film, *words], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
