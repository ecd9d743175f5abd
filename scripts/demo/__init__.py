"""The demonstration: a six-legged robot beetle walks through a garden on legs that Planar IK poses."""
