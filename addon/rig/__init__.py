"""The only code that reads and writes poses, actions and settings in Blender."""
