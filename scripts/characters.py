"""A sheet of characters as people bring them, each with its controls from one press of Add.

Played in Blender's real window by scripts/pictures.py, with the characters that tests/window/test_brought.py tries.
"""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Any

from . import sample, studio

if TYPE_CHECKING:
    from tests.window.hand import Hand

CLOSER = {"human": 0.92, "Mixamo": 0.92, "wolf": 0.66, "horse": 0.7, "puppet": 0.92, "insect": 0.98}
"""The characters, in the order of the sheet, and how much closer to look than Blender's *Frame All* does."""

LABELS = {
    "human": "Rigify's human",
    "Mixamo": "bones as of Mixamo",
    "wolf": "Rigify's wolf",
    "horse": "Rigify's horse",
    "puppet": "a flat puppet",
    "insect": "an insect",
}
"""What is written on each."""

SIZE = 600, 560


FACES = (
    "face",
    "jaw",
    "lip",
    "brow",
    "lid",
    "eye",
    "nose",
    "ear",
    "teeth",
    "tongue",
    "cheek",
    "temple",
    "chin",
    "forehead",
)
"""What the words of bones begin with that are too small for a body."""


def parts_of(ob: Any) -> list[sample.Part]:
    """A body for a rig: a box along each of its bones."""
    longest = max(bone.length for bone in ob.data.bones)
    parts = []
    for bone in ob.data.bones:
        if bone.length > 0.08 * longest and bone.parent and not bone.name.lower().startswith(FACES):
            wide = 0.07 * bone.length + 0.02 * longest
            x, y, z = bone.tail_local
            ends = (tuple(bone.head_local), (x + 1e-3 * longest, y, z))  # a box along Y has no depth
            parts.append(sample.Part(bone.name, "", *ends, wide, 0.7 * wide, 2))  # type: ignore[arg-type]
    return parts


def shows_characters(hand: Hand) -> Any:
    """Played inside Blender: each of them at rest, with nothing selected."""
    import bpy
    from mathutils import Euler

    from tests.blender import characters

    findings = {}
    for name, closer in CLOSER.items():
        yield from studio.empty(hand, 1.5)
        ob = characters.CHARACTERS[name].make()
        parts = parts_of(ob)
        ob.data.display_type, ob.show_in_front = "STICK", True
        space = studio.tidy(hand, "SOLID")
        view = space.region_3d
        turn = 0.0 if name == "puppet" else 0.85
        view.view_rotation = Euler((pi / 2.0 - 0.2, 0.0, turn)).to_quaternion()
        view.view_perspective = "ORTHO"
        yield from hand.to_the_middle()
        yield from hand.keys("A", "HOME")
        studio.add_everywhere(ob)
        bpy.context.collection.objects.link(sample.skin(ob, parts, name == "puppet"))
        findings[name] = sorted(bone.planar_ik.message for bone in ob.pose.bones if bone.planar_ik.enabled)
        bpy.ops.pose.select_all(action="DESELECT")
        ob.data.bones.active = None
        view.view_distance *= closer
        yield from studio.settle(1.0)
        hand.picture(name, studio.middle(hand, *SIZE))
    return findings
