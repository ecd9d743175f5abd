"""From how limbs stand, now and over frames, to the settings and keys that show it."""
