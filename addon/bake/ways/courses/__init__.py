"""Where things that chains hang on are over the frames, followed without stepping the whole scene."""
