"""The overlay, as a person sees it: what is drawn in which state, on dark and on light, and what drawing costs."""

from __future__ import annotations

import math
from statistics import median
from time import perf_counter

import bpy
from hand import Hand
from mathutils import Vector
from scenarios import open_limb, tip

from scripts import installed

LIGHT = (0.86, 0.86, 0.86)
"""The background of a light theme."""


def shows_the_geometry(hand: Hand):
    """Photograph a limb in every state that the overlay shows, then on a light background and switched off."""
    yield from open_limb(hand)
    yield from hand.click(hand.limb_on_screen())
    yield from hand.choose("Add Planar IK")
    bpy.ops.pose.planar_ik_select(part="LIMB")
    chain = bpy.data.objects["limb"].pose.bones["lower"].planar_ik
    target, found = chain.target, {}
    yield from zoom_out(hand)
    found["alone"] = yield from seen(hand, "reached")
    target.location += Vector((0, 0.5, 0.4))
    chain.softness, chain.min_angle, chain.max_angle = 0.06, math.radians(60), math.radians(160)
    found["limits"] = yield from seen(hand, "limits")
    target.location += Vector((0, 0.9, -0.9))
    found["missed"] = yield from seen(hand, "missed")
    chain.min_angle, chain.max_angle, chain.softness = 0, math.pi, 0
    target.location = tip() + Vector((0, 0.1, 0.5))
    chain.influence = 0.5
    found["blended"] = yield from seen(hand, "blended")
    chain.influence = 1.0
    pole = bpy.data.objects.new("pole", None)
    bpy.context.scene.collection.objects.link(pole)
    pole.location, pole.empty_display_size = (0, -1.3, 1.1), 0.1
    chain.pole_target, chain.plane = pole, "POLE"
    found["pole"] = yield from seen(hand, "pole")
    background = bpy.context.preferences.themes[0].view_3d.space.gradients
    dark = background.high_gradient[:]
    background.high_gradient = LIGHT
    chain.min_angle, chain.softness = math.radians(60), 0.06
    target.location += Vector((0, 0.4, -0.7))
    found["light"] = yield from seen(hand, "light")
    background.high_gradient = dark
    bpy.context.scene.planar_ik.show_overlay = False
    found["off"] = yield from seen(hand, "off")
    return found


def costs_little(hand: Hand):
    """Count and time what the overlay of 50 selected limbs makes anew: standing still, while one moves, and off."""
    yield from open_limb(hand)
    yield from hand.make_room()
    crowd(50)
    yield
    hand.picture("fifty")
    drawing = installed.addon("addon.ui.overlay.drawing")
    made: list[int] = []
    make, draw = drawing._make, drawing.draw
    times: list[float] = []

    def counted(context):
        made.append(1)
        return make(context)

    def timed() -> None:
        start = perf_counter()
        draw()
        times.append(perf_counter() - start)

    drawing.unregister()
    drawing._make, drawing.draw = counted, timed
    drawing.register()
    found = {}
    for name in ("still", "moving", "off"):
        bpy.context.scene.planar_ik.show_overlay = name != "off"
        redraw()
        made.clear()
        times.clear()
        for _ in range(6):
            if name == "moving":
                bpy.data.objects["goal0"].location.z += 0.01
                bpy.context.view_layer.update()
            redraw()
        found[name] = {"made": len(made), "kept": drawing._kept is not None, "ms": median(times) * 1e3}
        yield
    drawing.unregister()
    drawing._make, drawing.draw = make, draw
    drawing.register()
    return found


def redraw() -> None:
    """Draw the window now."""
    bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)


def crowd(count: int):
    """An armature of this many limbs, all with a chain and selected."""
    bpy.ops.object.mode_set(mode="OBJECT")
    data = bpy.data.armatures.new("crowd")
    ob = bpy.data.objects.new("crowd", data)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for i in range(count):
        x, y = 0.6 * (i % 10), 2.0 * (i // 10)
        joints = [Vector((x, y, 1.8)), Vector((x, y - 0.3, 1)), Vector((x, y, 0.2))]
        for name, head, tail in zip((f"upper{i}", f"lower{i}"), joints, joints[1:], strict=False):
            bone = data.edit_bones.new(name)
            bone.head, bone.tail = head, tail
            if name.startswith("lower"):
                bone.parent, bone.use_connect = data.edit_bones[f"upper{i}"], True
    bpy.ops.object.mode_set(mode="POSE")
    for i in range(count):
        target = bpy.data.objects.new(f"goal{i}", None)
        bpy.context.scene.collection.objects.link(target)
        target.location = data.bones[f"lower{i}"].tail_local + Vector((0, 0.2, 0.3))
        chain = ob.pose.bones[f"lower{i}"].planar_ik
        chain.target, chain.enabled = target, True
    bpy.ops.pose.select_all(action="SELECT")
    bpy.context.view_layer.update()
    return ob


def zoom_out(hand: Hand):
    """Give the rings room."""
    area, _ = hand.view()
    area.spaces.active.region_3d.view_distance *= 2.4
    yield


def seen(hand: Hand, name: str):
    """Draw, photograph, and give how many limbs the overlay shows and how much of the picture it makes."""
    bpy.context.view_layer.update()
    area, _ = hand.view()
    area.tag_redraw()
    yield
    hand.picture(name, hand.place_of_view())
    cast, _ = installed.addon("addon.ui.overlay.gathering").limbs_drawn(bpy.context)
    return {"limbs": len(cast.shown) if cast else 0}
