"""What the guides show, set up and photographed: ``python3 -m scripts.pictures``. No test plays these."""

from __future__ import annotations

import math

import bpy
from hand import Hand
from mathutils import Euler, Vector
from overlay_scenarios import shows_the_geometry
from scenarios import in_view, open_limb

SOFTNESS = 0.12
REACHES = (0.95, 0.97, 0.99, 1.01, 1.03)
"""How far the targets are that show what softness does, in lengths of the limb."""

ROOT = Vector((0, 0, 1.8))
LENGTH = 2 * Vector((0, 0.3, 0.8)).length


def shows_the_overlay(hand: Hand):
    """The states of the overlay."""
    draw_finely()
    return (yield from shows_the_geometry(hand))


def shows_menu_panel_and_pie(hand: Hand):
    """The menu to add a limb from, the limb that was added, its panel, and the pie menu."""
    draw_finely()
    yield from open_limb(hand)
    yield from hand.click(hand.limb_on_screen())
    yield from hand.move((hand.mouse[0] + 90, hand.mouse[1] + 230))
    with bpy.context.temp_override(**in_view(hand)):
        bpy.ops.wm.call_menu(name="VIEW3D_MT_pose_ik")
    x, y = hand.mouse
    yield from hand.move((x, y - 49))  # from the first entry to Add Planar IK
    yield from settle()
    hand.picture("menu", (x - 330, y - 420, 760, 560))
    yield from hand.key("ESC")
    with bpy.context.temp_override(**in_view(hand)):
        bpy.ops.pose.planar_ik_add("INVOKE_DEFAULT")
    yield from settle()
    hand.picture("added", hand.place_of_view())
    bpy.ops.pose.planar_ik_select(part="LIMB")
    yield from hand.open_sidebar()
    yield from settle()
    sidebar = hand.sidebar()[1]
    hand.picture("panel", (sidebar.x, sidebar.y, sidebar.width, sidebar.height))
    hand.view()[0].spaces.active.show_region_ui = False
    yield from hand.to_the_middle()
    x, y = hand.mouse
    with bpy.context.temp_override(**in_view(hand)):
        bpy.ops.wm.call_menu_pie(name="VIEW3D_MT_planar_ik_pie")
    yield from settle()
    hand.picture("pie", (x - 400, y - 220, 800, 440))
    yield from hand.key("ESC")
    return {}


def shows_sides_and_softness(hand: Hand):
    """The sides that a knee bends to; limbs on their way to full extension, beside those of Blender's constraint."""
    draw_finely()
    yield from open_limb(hand)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.scene.planar_ik.show_overlay = False
    model = bpy.data.objects["limb"]
    for column, bend in enumerate((1.0, 0.0, -1.0)):
        chain = add_limb(f"Bend Side {bend:g}", 1.3 * column, 0.8)
        chain.plane, chain.bend = "SWING", bend
    bpy.context.scene.collection.objects.unlink(model)
    yield from show_all(hand, Euler((math.radians(75), 0, math.radians(55))))
    hand.picture("sides", hand.place_of_view())
    for ob in list(bpy.context.scene.collection.objects):
        bpy.data.objects.remove(ob)
    for column, reach in enumerate(REACHES):
        add_limb(f"{reach:.0%}", 0.55 * column, reach, is_constraint=True)
        add_limb(f"{reach:.0%} ", 0.55 * (column + len(REACHES) + 1), reach).softness = SOFTNESS
    yield from show_all(hand, Euler((math.radians(90), 0, math.radians(90))))
    hand.picture("softness", hand.place_of_view())
    return {}


def add_limb(name: str, place: float, reach: float, is_constraint: bool = False):
    """A copy of the limb beside it, whose target is below its root, so many of its lengths away; give its chain."""
    ob = bpy.data.objects["limb"].copy()
    target = bpy.data.objects.new(name, None)
    for each in (ob, target):
        bpy.context.scene.collection.objects.link(each)
        each.select_set(each == target)
    ob.location.y = place
    target.location = ROOT + Vector((0, place, -reach * LENGTH))
    target.empty_display_size, target.show_name = 0.1, True
    lower = ob.pose.bones["lower"]
    if is_constraint:
        constraint = lower.constraints.new("IK")
        constraint.target, constraint.chain_count = target, 2
    else:
        lower.planar_ik.target, lower.planar_ik.enabled = target, True
    return lower.planar_ik


def show_all(hand: Hand, direction: Euler):
    """Look at everything from one side."""
    hand.view()[0].spaces.active.region_3d.view_rotation = direction.to_quaternion()
    yield from hand.to_the_middle()
    yield from hand.key("HOME")
    yield from settle()


def draw_finely() -> None:
    """Smooth edges, in one pass, and nothing in front of what is shown."""
    bpy.context.preferences.view.show_tooltips = False
    system = bpy.context.preferences.system
    system.viewport_aa, system.use_overlay_smooth_wire = "FXAA", True


def settle():
    """Wait until all is drawn."""
    yield
    yield
