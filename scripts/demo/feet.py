"""How far the feet of saved creatures are from their targets, in a Blender with or without the extension.

``python -m scripts.demo.feet FILE``: without it, and without leave to run scripts; exits with 1 if a foot is off.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from .. import installed

EXACT = 1e-5
"""Metres that a tip may be from its target."""


def check(path: Path) -> bool:
    """Open the file, play it, and say whether a foot is off its target in any frame."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(path), use_scripts=False)
    has_extension = hasattr(bpy.types.PoseBone, "planar_ik")
    scene, feet = bpy.context.scene, []
    for rig in (bpy.data.objects["Beetle"], bpy.data.objects["Bird"]):
        ends = [bone for bone in rig.pose.bones if bone.name.startswith(("tibia_", "metatarsal_"))]
        feet += [(rig, bone.name, *followed_by(rig, bone.name.split("_")[1])) for bone in ends]
    off: dict[str, float] = {}
    missed = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for rig, name, target, rolled in feet:
            evaluated = rig.evaluated_get(depsgraph)
            tip = evaluated.matrix_world @ evaluated.pose.bones[name].tail
            target_now = target.evaluated_get(depsgraph)
            tip -= (
                target_now.matrix_world @ target_now.pose.bones[rolled].head
                if rolled
                else target_now.matrix_world.translation
            )
            off[f"{name} in frame {frame}"] = tip.length
            if has_extension and rig.pose.bones[name].planar_ik.reach != "REACHED":
                missed.append(f"{name} in frame {frame}: {rig.pose.bones[name].planar_ik.message}")
    worst = max(off, key=lambda name: off[name])
    print(f"{path.name}, {'with' if has_extension else 'without'} the extension, {len(off)} feet")
    print("\n".join([f"Farthest of all from its target: {off[worst]:.1e} m ({worst})", *missed]), flush=True)
    is_fine = len(feet) == 8 and not missed and off[worst] <= EXACT
    print(
        "" if is_fine else f"FAILED: every foot must be within {EXACT:.0e} m of its target in every frame", flush=True
    )
    return not is_fine


def followed_by(rig: Any, leg: str) -> tuple[Any, str]:
    """What the tip of a leg is to be at: its target, or the bone of its rig that rolls between that and the foot."""
    import bpy

    foot = rig.pose.bones.get(f"toes_{leg}")
    copying = foot.constraints.get("Planar IK Foot") if foot else None
    return (rig, copying.subtarget) if copying else (bpy.data.objects[f"Foot {leg}"], "")


if __name__ == "__main__":
    installed.run(lambda: int(check(Path(sys.argv[1]))))
