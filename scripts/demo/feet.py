"""How far the feet of a saved creature are from their targets, in a Blender with or without the extension.

``python -m scripts.demo.feet FILE``: without it, and without leave to run scripts; exits with 1 if a foot is off.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .. import installed

EXACT = 1e-5
"""Metres that a tip may be from its target."""


def check(path: Path) -> bool:
    """Open the file, play it, and say whether a foot is off its target in any frame."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(path), use_scripts=False)
    has_extension = hasattr(bpy.types.PoseBone, "planar_ik")
    scene, rig = bpy.context.scene, bpy.data.objects["Beetle"]
    shins = [name for name in rig.pose.bones.keys() if name.startswith("tibia_")]  # noqa: SIM118 - not a dictionary
    off: dict[str, float] = {}
    missed = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        evaluated = rig.evaluated_get(depsgraph)
        for name in shins:
            target = bpy.data.objects[f"Foot {name[6:]}"].evaluated_get(depsgraph)
            tip = evaluated.matrix_world @ evaluated.pose.bones[name].tail
            off[f"{name} in frame {frame}"] = (tip - target.matrix_world.translation).length
            if has_extension and rig.pose.bones[name].planar_ik.reach != "REACHED":
                missed.append(f"{name} in frame {frame}: {rig.pose.bones[name].planar_ik.message}")
    worst = max(off, key=lambda name: off[name])
    print(f"{path.name}, {'with' if has_extension else 'without'} the extension, {len(off)} feet")
    print("\n".join([f"Farthest of all from its target: {off[worst]:.1e} m ({worst})", *missed]), flush=True)
    is_fine = len(shins) == 6 and not missed and off[worst] <= EXACT
    print(
        "" if is_fine else f"FAILED: every foot must be within {EXACT:.0e} m of its target in every frame", flush=True
    )
    return not is_fine


if __name__ == "__main__":
    installed.run(lambda: int(check(Path(sys.argv[1]))))
