"""Blender's real window as a photographer's studio: a quiet background, a character, a press of Add, a view of it.

What is here runs inside Blender, from the scenarios of scripts/pictures.py.
"""

from __future__ import annotations

from math import cos, sin
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.window.hand import Hand, Rectangle

Place = tuple[float, float, float]

BACKGROUND = (0.42, 0.45, 0.50)
"""Light enough for the dark blue and red of controls, dark enough for the white of words."""


def empty(hand: Hand, scale: float = 1.0) -> Any:
    """A file with nothing in it, and everything of the interface so much larger."""
    import bpy

    bpy.context.preferences.view.ui_scale = scale
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    hand.window = bpy.context.window_manager.windows[0]
    yield
    area, region = hand.view()
    with bpy.context.temp_override(window=hand.window, area=area, region=region):
        bpy.ops.screen.screen_full_area()
    yield
    yield


def tidy(hand: Hand, shading: str = "MATERIAL") -> Any:
    """Hide all of the view that is not of the scene; give its space."""
    import bpy

    space = hand.view()[0].spaces.active
    space.shading.type, space.shading.color_type = shading, "MATERIAL"
    bpy.context.preferences.themes[0].view_3d.space.gradients.high_gradient = BACKGROUND
    bpy.context.scene.view_settings.view_transform = "Khronos PBR Neutral"
    bpy.context.scene.eevee.taa_samples = 8
    space.show_gizmo = space.show_region_header = space.show_region_toolbar = space.show_region_ui = False
    space.show_region_tool_header = False
    overlay = space.overlay
    overlay.show_text = overlay.show_cursor = overlay.show_outline_selected = overlay.show_object_origins = False
    overlay.show_floor = overlay.show_axis_x = overlay.show_axis_y = overlay.show_relationship_lines = False
    return space


def look_from(space: Any, turn: float, down: float, at: Place, distance: float) -> None:
    """Look at a place, from so far round it (radians from -Y to +X) and so far above it."""
    from math import pi

    from mathutils import Euler

    view = space.region_3d
    view.view_perspective, space.lens = "PERSP", 70.0
    view.view_rotation = Euler((pi / 2 - down, 0.0, turn)).to_quaternion()
    view.view_location, view.view_distance = at, distance


def across(turn: float, by: float) -> Place:
    """So far to the right, as one looks who is so far round."""
    return by * cos(turn), by * sin(turn), 0.0


def add_everywhere(rig: Any, **settings: Any) -> None:
    """One press of Add with all bones of a rig selected."""
    import bpy

    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.pose.planar_ik_add(**settings)


def hide(rig: Any, *names: str) -> None:
    """Hide bones of a rig that is in Pose Mode."""
    for name in names:
        bone = rig.pose.bones[name]
        (bone if hasattr(bone, "hide") else bone.bone).hide = True  # The former from 5.0 on.


def move(rig: Any, name: str, by: Place, turned_by: Place = (0.0, 0.0, 0.0)) -> None:
    """Move a bone from where it rests, and turn it there, both along the axes of its armature."""
    import bpy
    from mathutils import Euler, Matrix

    rest = rig.data.bones[name].matrix_local
    to_place = Matrix.Translation(rest.translation)
    turning = to_place @ Euler(turned_by).to_matrix().to_4x4() @ to_place.inverted()
    rig.pose.bones[name].matrix = Matrix.Translation(by) @ turning @ rest
    bpy.context.view_layer.update()


def turn(rig: Any, name: str, by: Place) -> None:
    """Turn a bone from where it rests, about the axes of its armature, and leave it to its parent otherwise."""
    from mathutils import Euler

    rest = rig.data.bones[name].matrix_local.to_3x3()
    bone = rig.pose.bones[name]
    bone.rotation_quaternion = (rest.inverted() @ Euler(by).to_matrix() @ rest).to_quaternion()


def settle(seconds: float = 12.0) -> Any:
    """Wait until Blender has drawn all of its samples."""
    from time import monotonic

    until, draws = monotonic() + seconds, 0
    while draws < 13 or monotonic() < until:
        draws += 1
        yield


def middle(hand: Hand, width: int, height: int) -> Rectangle:
    """A part of the view, about its middle."""
    x, y, wide, high = hand.place_of_view()
    return x + (wide - width) // 2, y + (high - height) // 2, width, height


def close_panel(hand: Hand) -> Any:
    """Close the topmost panel of the sidebar, as the key A does over its header."""
    import bpy

    region = hand.sidebar()[1]
    scale = bpy.context.preferences.view.ui_scale
    yield from hand.move((region.x + int(40 * scale), region.y + region.height - int(16 * scale)))
    yield
    yield from hand.key("A")
    yield


def write(words: str, seen_from: float, place: Place, height: float, size: float) -> Any:
    """Words in the scene, upright and facing who looks from there; give their object."""
    from math import pi

    import bpy

    from .demo.clay import paint

    text: Any = bpy.data.curves.new(words, "FONT")
    text.body, text.align_x, text.size = words, "CENTER", size
    text.materials.append(paint("Words", (0.95, 0.95, 0.95), glow=1.0))
    ob = bpy.data.objects.new(words, text)
    ob.location, ob.rotation_euler = (place[0], place[1], height), (pi / 2.0, 0.0, seen_from)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def put_stand(place: Place, radius: float = 0.42) -> None:
    """A round plate to stand on, a little below the soles that are drawn on the floor."""
    import bpy

    from .demo.clay import CREAM, Clay, paint

    clay = Clay()
    clay.band((0.0, 0.0, -0.02), (0.0, 0.0, 1.0), (radius, 0.015), paint(*CREAM))
    stand = bpy.data.objects.new("Stand", clay.mesh("Stand"))
    stand.location = place
    bpy.context.scene.collection.objects.link(stand)
