"""How far a rig's tips are from their targets in a Blender that has neither the extension nor leave to run scripts.

``python -m scripts.demo.alone FILE TOLERANCE BONE=OBJECT...``: exits with 1 if a bone's tail is farther than the
tolerance, in metres, from its object in any frame of the scene.
"""

from __future__ import annotations

import sys

from .. import installed


def main() -> int:
    """Play the file, and compare."""
    import bpy

    path, tolerance, limbs = sys.argv[1], float(sys.argv[2]), [limb.split("=") for limb in sys.argv[3:]]

    bpy.ops.wm.open_mainfile(filepath=path, use_scripts=False)
    assert not hasattr(bpy.types.PoseBone, "planar_ik"), "the extension is there"
    scene, rig = bpy.context.scene, bpy.data.objects["Beetle"]
    worst = (0.0, "")
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        evaluated = rig.evaluated_get(depsgraph)
        for bone, target in limbs:
            place = bpy.data.objects[target].evaluated_get(depsgraph).matrix_world.translation
            off = (evaluated.matrix_world @ evaluated.pose.bones[bone].tail - place).length
            worst = max(worst, (off, f"{bone} in frame {frame}"))
    print(f"Without the extension, farthest of all tips from its target: {worst[0]:.1e} m ({worst[1]})")
    if worst[0] > tolerance:
        print(f"FAILED: a tip must be within {tolerance:.0e} m of its target in every frame")
        return 1
    return 0


if __name__ == "__main__":
    installed.run(main)
