"""When feet stand, and where they are planted for that."""
