"""What any add-on could use of Blender: animation, keys, Edit Mode, rotations, what hangs on what."""
