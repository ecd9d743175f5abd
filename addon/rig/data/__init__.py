"""Blender's data, read and changed: bones by their types, animation, Edit Mode, rotations, what hangs on what."""
