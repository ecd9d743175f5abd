"""The demonstration: a robot beetle and a robot bird walk through a garden on legs that Planar IK poses."""
