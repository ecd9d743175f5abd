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

SHOWN = {"overlay": "700x640+320+240", "panel": "290x700+0+0"}
"""The pictures in docs/, and what part of what was taken they show."""

JOINTS = ((0.0, 0.0, 1.8), (0.0, -0.3, 1.0), (0.0, 0.0, 0.2), (0.08, -0.35, 0.05))
"""Hip, knee, ankle and toes."""


def shows_limb(hand: Hand) -> Any:
    """Played inside Blender: a limb between FK and IK with its overlay, and its panel."""
    import bpy
    from mathutils import Euler, Matrix

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    hand.window = bpy.context.window_manager.windows[0]
    yield
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for name, head, tail in zip(("thigh", "shin", "foot"), JOINTS, JOINTS[1:], strict=False):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent, bone.use_connect = head, tail, parent, parent is not None
        parent = bone
    bpy.ops.object.mode_set(mode="POSE")
    data.bones.active = data.bones["shin"]
    bpy.ops.pose.planar_ik_add()
    ik = rig.pose.bones["shin"].planar_ik
    ik.softness, ik.influence = 0.06, 0.4
    target = rig.pose.bones[ik.subtarget]
    target.matrix = Matrix.Translation((0.1, -0.4, 0.3)) @ target.matrix
    bpy.ops.pose.planar_ik_select(part="LIMB")
    view = hand.view()[0].spaces.active.region_3d
    view.view_rotation, view.view_location, view.view_distance = Euler((1.4, 0.0, 1.0)).to_quaternion(), (0, 0, 1), 4.0
    yield from hand.to_the_middle()
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
        print(window.play("scripts.moving.shows_legs"))
    finally:
        window.close()
    for name, part in SHOWN.items():
        taken, shown = PICTURES / f"shows_limb-{name}.png", ROOT / "docs" / f"{name}.png"
        words = ["convert", str(taken), "-crop", part, "+repage", "+dither", "-colors", "96", f"PNG8:{shown}"]
        subprocess.run([str(APPLICATION), "--exec", *words], check=True)  # Its system has ImageMagick.
    film = sorted(str(path) for path in PICTURES.glob("shows_legs-*.png"))
    words = ["-resize", "640x", "+dither", "-colors", "64", "-layers", "optimize", str(ROOT / "docs" / "legs.gif")]
    subprocess.run([str(APPLICATION), "--exec", "convert", "-delay", "7", "-loop", "0", *film, *words], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
