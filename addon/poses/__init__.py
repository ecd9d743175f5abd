"""From the poses of limbs, now and over frames, to the settings and keys that show them."""
