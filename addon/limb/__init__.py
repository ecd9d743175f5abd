"""What a limb is: a muted IK constraint, the custom properties that animate it, its shape, its solution and its
status."""
