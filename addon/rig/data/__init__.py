"""Blender's data, read and changed: what any add-on for rigs could need, and nothing of chains."""
