"""The limb as Blender's own bones, constraints and drivers, without the extension and without scripts."""
