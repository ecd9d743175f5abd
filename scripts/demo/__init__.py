"""The demonstration: a six-legged robot beetle walks through a garden, every leg a live chain of the extension.

``make demo`` builds it, saves build/demo.blend, opens that file again, measures in every frame how far each planted
foot is from its place on the ground, and renders build/demo.mp4 and build/demo-sheet.png. It fails if a foot slips.
"""
