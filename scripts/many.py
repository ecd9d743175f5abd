"""How exact hundreds of random limbs on the rig are, in the Blender that this Python has as a module.

``PLANAR_IK_SOURCE=1 python -m scripts.many 400``, and ``near_y`` for limbs of which half of all directions are near -Y.
"""

from __future__ import annotations

import sys

from . import installed


def main(count: int, near_y: bool) -> None:
    """Measure so many of them, and print the worst."""
    folder = installed.fresh_user_folder()
    installed.install()
    import bpy

    from tests.blender.rigging.many import measured

    results = []
    for seed in range(count):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        installed.enable()
        results.append(measured(installed.addon, seed, near_y))
    print(f"{bpy.app.version_string}: {count} limbs, moved {max(result.moved for result in results):.1e},", end=" ")
    print(
        f"tips {max(result.tips for result in results):.1e}, invalid {sum(bool(result.invalid) for result in results)}"
    )
    print("not well:", [seed for seed, result in enumerate(results) if not result.is_well])
    installed.leave(0, folder)


if __name__ == "__main__":
    main(int(sys.argv[1]), "near_y" in sys.argv)
