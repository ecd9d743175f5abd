"""The settings under the hand: whether keys, drivers and what else Blender offers over a field work on them."""

from __future__ import annotations

import bpy
from hand import Hand
from mathutils import Vector
from scenarios import curves, open_armature, rig, select

PATHS = {
    "live": 'pose.bones["lower_live"].planar_ik_influence',
    "rig": 'pose.bones["lower_rig"]["planar_ik.influence"]',
}


def behave_like_blenders(hand: Hand):
    """Over the slider of Influence, of a live limb and of one on the rig: keys, colours, menu, drivers, data path."""
    yield from open_limbs(hand)
    found = {}
    for name in PATHS:
        found[name] = yield from try_slider(hand, name)
    return found


def try_slider(hand: Hand, name: str):
    """What the keys and clicks over one slider do."""
    select(f"lower_{name}")
    bpy.context.scene.frame_set(1)
    yield
    yield from hand.hover("influence")
    slider, found = hand.mouse, {}
    yield from hand.key("I")
    found["after_i"] = keys(name)
    hand.picture(f"{name}-keyed")
    found["on_a_key"] = hand.colour(slider)
    bpy.context.scene.frame_set(20)
    yield from hand.move((slider[0], slider[1] - 1))
    found["on_no_key"] = hand.colour(slider)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    yield from hand.drag(-40)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    found["after_drag"], found["influence"] = keys(name), chain(name).influence
    yield from hand.key("Z", ctrl=True)
    found["undone"] = keys(name)
    bpy.context.scene.frame_set(30)
    yield
    yield from hand.click_right(slider)
    hand.picture(f"{name}-menu")
    yield from hand.key("HOME")
    yield from hand.key("RET")
    found["after_menu"] = keys(name)
    yield from hand.move(slider)
    yield from hand.key("I", alt=True, shift=True)
    found["cleared"] = keys(name)
    yield from hand.key("C", shift=True, ctrl=True, alt=True)
    found["path"] = bpy.context.window_manager.clipboard
    yield from hand.key("D", ctrl=True)
    found["drivers"] = drivers(name)
    hand.picture(f"{name}-driven")
    yield from hand.key("ESC")
    yield from hand.move(slider)
    yield from hand.key("D", ctrl=True, alt=True)
    found["drivers_removed"] = drivers(name)
    return found


def drag_the_bend(hand: Hand):
    """Over the slider of Bend Side: twice to the left, and undo once."""
    yield from open_limbs(hand)
    found = {}
    for name in PATHS:
        select(f"lower_{name}")
        yield
        states = found[name] = [bent(name)]
        for _ in range(2):
            yield from hand.hover("bend")
            yield from hand.drag(-40)
            states.append(bent(name))
        hand.picture(f"{name}-bent")
        yield from hand.key("Z", ctrl=True)
        states.append(bent(name))
    return found


def drag_what_was_keyed(hand: Hand):
    """Over a slider of the limb on the rig whose setting is no custom property yet: key it, while playback runs too, or
    add a driver and take it away; then drag, drag again and press Esc, and undo twice."""
    found = {}
    for way in ("keyed", "driven", "playing"):
        yield from open_limbs(hand)
        select("lower_rig")
        yield
        yield from hand.hover("planar_ik_softness")
        states = found[way] = [softness()]
        if way == "playing":
            bpy.ops.screen.animation_play()
            yield
        yield from hand.key("D" if way == "driven" else "I", ctrl=way == "driven")
        states.append(softness())
        if way == "playing":
            bpy.ops.screen.animation_play()
            for _ in range(5):  # longer than it takes to be noticed
                yield
        if way == "driven":
            yield from hand.key("ESC")  # which closes what shows the driver
            yield from hand.hover("softness")
            yield from hand.key("D", ctrl=True, alt=True)
        yield from hand.drag(60)
        states.append(softness())
        hand.picture(way)
        yield from hand.drag(30, last="ESC")
        states.append(softness())
        for _ in range(2):
            yield from hand.key("Z", ctrl=True)
            states.append(softness())
    return found


def softness() -> dict:
    """How soft the limb on the rig is, whether that is a custom property, and what is said of it."""
    is_exposed = "planar_ik.softness" in rig().pose.bones["lower_rig"].keys()  # noqa: SIM118
    return {"value": chain("rig").softness, "is_exposed": is_exposed, "message": chain("rig").message}


def bent(name: str) -> dict:
    """How a limb is bent, and what is said of it."""
    return {"bend": chain(name).bend, "reach": chain(name).reach, "message": chain(name).message, **where(name)}


def change_what_they_run_on(hand: Hand):
    """Click what is not on beside Runs On twice, and undo once, for each limb."""
    yield from open_limbs(hand)
    chain("live").influence = chain("rig").influence = 0.7
    found = {}
    for name in PATHS:
        select(f"lower_{name}")
        bpy.ops.ed.undo_push(message="Select")
        yield
        states = found[name] = [where(name)]
        for _ in range(2):
            other = "portable" if states[-1]["runs_on"] == "EXTENSION" else "live"
            across = 0.55 if other == "portable" else 0.85
            yield from hand.hover_button(f"bpy.ops.pose.planar_ik_make_{other}()", across)
            yield from hand.key("LEFTMOUSE")
            states.append(where(name))
        yield from hand.key("Z", ctrl=True)
        states.append(where(name))
    return found


def slide_in_the_list(hand: Hand):
    """Slide the influence of each limb in the list of chains, with keys on what is on the rig, and click its eye."""
    yield from open_limbs(hand)
    limb = rig().pose.bones["lower_rig"]
    for frame, influence in ((1, 0.4), (20, 0.9)):
        limb["planar_ik.influence"] = influence
        limb.keyframe_insert('["planar_ik.influence"]', frame=frame)
    bpy.context.scene.frame_set(1)
    found = {}
    _, region = hand.sidebar()
    yield from hand.move((region.x + region.width // 2, region.y + region.height // 2))
    yield from hand.keys(*10 * ["WHEELDOWNMOUSE"])
    yield from hand.hover_button("bpy.ops.pose.planar_ik_remove()")
    panel = hand.mouse[1]
    for name, setting in (("live", "planar_ik_influence"), ("rig", "planar_ik.influence")):
        yield from hand.move((region.x, region.y))
        yield from hand.hover(setting, across=0.7)
        is_in_list, states = hand.mouse[1] < panel, [chain(name).influence]
        yield from hand.drag(-20)
        states.append(chain(name).influence)
        hand.picture(name)
        yield from hand.hover("planar_ik_enabled", across=0.8)
        yield from hand.key("LEFTMOUSE")
        states.append(chain(name).enabled)
        found[name] = {"is_in_list": is_in_list, "states": states}
    return found


def where(name: str) -> dict:
    """What a limb runs on, and its joints."""
    posed = rig().evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    tails = [posed[f"{role}_{name}"].tail for role in ("upper", "lower")]
    return {"runs_on": chain(name).runs_on, "joints": [number for tail in tails for number in tail]}


def open_limbs(hand: Hand):
    """Open a file with a live limb and one on the rig, with the sidebar open."""
    joints = (Vector((0, 0, 1.8)), Vector((0, -0.2, 1)), Vector((0, 0, 0.2)))
    bones = {name: [joint + Vector((0, 0.8 * i, 0)) for joint in joints] for i, name in enumerate(PATHS)}
    yield from open_armature(hand, bones)
    for name in PATHS:
        target = bpy.data.objects.new(f"goal_{name}", None)
        bpy.context.scene.collection.objects.link(target)
        target.location = bones[name][2] + Vector((0, 0.2, 0.3))
        chain(name).target, chain(name).enabled = target, True
    bpy.context.view_layer.update()
    select("lower_rig")
    bpy.ops.pose.planar_ik_make_portable()
    bpy.ops.ed.undo_push(message="Add chains")
    yield from hand.open_sidebar()


def chain(name: str):
    return rig().pose.bones[f"lower_{name}"].planar_ik


def keys(name: str) -> list[tuple[float, float]]:
    """Frame and value of each key of a limb's influence."""
    return [key.co[:] for curve in curves() if curve.data_path == PATHS[name] for key in curve.keyframe_points]


def drivers(name: str) -> list[str]:
    """The paths of what is driven, of one limb's influence, besides what runs on the rig."""
    data = rig().animation_data
    return [curve.data_path for curve in (data.drivers if data else ()) if curve.data_path == PATHS[name]]
