"""Softness: the limb slows before it is straight, so that the knee does not pop."""

from __future__ import annotations

from typing import Any

from .feature import Feature, Slider


def _settings(settings: Any, sliders: dict[str, Any], batch: Any) -> Any:
    """Limits of the knee go the same way, without softness."""
    if not (batch.is_limited or sliders["softness"].any()):
        return settings
    return settings._replace(softness=sliders["softness"].clip(0.0, 1.0))


FEATURE = Feature(
    "softness",
    (
        Slider(
            "softness",
            "IK Softness",
            0.0,
            (0.0, 1.0),
            "FACTOR",
            "How early the limb slows before it is straight, as a share of its length (no knee pop)",
        ),
    ),
    label="Softness",
    description="Slow limbs before they are straight, or take that away with its keys",
    is_offered=True,
    settings=_settings,
)
