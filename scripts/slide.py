"""The picture in the guide to captures, docs/slide.svg: a foot's path from above, before and after it is held.

``python -m scripts.slide``, in an environment that has Blender as a module. The capture is our own: see `capture`."""

from __future__ import annotations

from typing import Any

from . import capture, installed
from .package import ROOT

SCALE = 560.0
"""Pixels of a metre."""

MARGIN, ROW = 30, 180
COLOURS = {"before": "#c0392b", "after": "#1e8449", "swing": "#9aa0a6"}
NOISE = 0.002
SIDE = ".L"


def paths() -> tuple[Any, Any, list[Any], float]:
    """Where the foot is in each frame before and after, its contacts, and how far it slides in these afterwards."""
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    installed.enable()
    rig = capture.build()
    capture.spoil(rig, noise=NOISE)
    capture.add_legs(rig)
    before = path(rig)
    bpy.ops.pose.planar_ik_find_contacts()
    bpy.ops.pose.planar_ik_hold(range="CONTACTS")
    marked = installed.addon("tasks.contact_markers").marked_contacts
    contacts = marked(bpy.context.scene, rig.pose.bones[f"shin{SIDE}"])
    spans = [span for contact in contacts for span in contact.spans_on("sole")]
    bpy.ops.pose.planar_ik_bake(which="ALL", range="SCENE", remove=True)
    after = path(rig)
    slides = [max((place - after[a - 1]).length for place in after[a - 1 : b]) for a, b in spans]
    return before, after, spans, max(slides)


def path(rig: Any) -> list[Any]:
    """Where the foot begins in the world in each frame."""
    import bpy

    places = []
    for frame in range(1, capture.FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        now = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        places.append(now.matrix_world @ now.pose.bones[f"foot{SIDE}"].head)
    return places


def drawn(places: list[Any], spans: list[Any], name: str, top: float) -> list[str]:
    """One path, the walk going to the right, a dot for each frame: those of contacts in colour."""
    middle = (min(place.x for place in places) + max(place.x for place in places)) / 2.0
    points = [(MARGIN - place.y * SCALE, top + (place.x - middle) * SCALE) for place in places]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    parts = [f'<polyline points="{line}" fill="none" stroke="{COLOURS["swing"]}" stroke-width="1"/>']
    for frame, (x, y) in enumerate(points, 1):
        stands = any(first <= frame <= last for first, last in spans)
        colour, size = (COLOURS[name], 3.5) if stands else (COLOURS["swing"], 1.6)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{colour}"/>')
    text = f'<text x="{MARGIN}" y="{top - ROW / 2.0 + 14:.0f}" font-family="sans-serif" font-size="14" fill="#202124">'
    return [*parts, f"{text}{name.capitalize()}</text>"]


def main() -> int:
    installed.install()
    before, after, spans, slide = paths()
    width = 2 * MARGIN + SCALE * (max(-place.y for place in before) + 0.05)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{2 * ROW + 20}">']
    lines.append('<rect width="100%" height="100%" fill="#ffffff"/>')
    for row, (places, name) in enumerate(((before, "before"), (after, "after"))):
        lines += drawn(places, spans, name, 10 + ROW * (row + 0.5))
    (ROOT / "docs" / "slide.svg").write_text("\n".join([*lines, "</svg>", ""]), encoding="utf-8")
    print(f"docs/slide.svg: {len(spans)} contacts, in which the foot slides by {1000.0 * slide:.4f} mm")
    return 0


if __name__ == "__main__":
    installed.run(main)
