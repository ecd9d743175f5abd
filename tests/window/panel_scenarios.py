"""The panels as a person meets them: on the limb, on the target, on what is wrong, and in the list."""

from __future__ import annotations

import math
from pathlib import Path

import bpy
from hand import Hand
from mathutils import Vector
from scenarios import empties, has_chain, knee, open_limb, tip

ITEM = "Item"

PRESETS, NEW_PRESET = (("insect", 103), ("machine", 77), ("leg", 129)), 40
"""Some buttons of the presets, and the field for the name of a new one, by how far they are above their icon."""

OTHER_WAY = (138, -74)
"""The box of Bend Other Way among the settings that F9 opens, off where the mouse was."""


def ends_bones_at_joints(hand: Hand):
    """Shorten a limb as importers do where twist bones are, click it, and mend it through the search under F3."""
    yield from open_limb(hand)
    rig = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    joints = bones["lower"].head.copy(), bones["lower"].tail.copy()
    foot = bones.new("foot")
    foot.head, foot.parent = joints[1], bones["lower"]
    foot.tail = joints[1] + Vector((0.0, -0.2, 0.0))
    for name in ("upper", "lower"):
        bones["lower"].use_connect = False
        bones[name].length *= 0.5
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.ed.undo_push(message="Shorten")
    yield
    yield from hand.click(hand.limb_on_screen())
    yield from hand.choose("End Bones at Joints")
    ends = [rig.data.bones[name].tail_local for name in ("upper", "lower")]
    return {"off": [(end - joint).length for end, joint in zip(ends, joints, strict=True)]}


def adjusts_what_was_added(hand: Hand):
    """Add to a limb, which leaves Pose Mode for the target, and press F9: turn its knee, then undo it all."""
    yield from open_limb(hand)
    yield from hand.click(hand.limb_on_screen())
    yield from hand.choose("Add Planar IK")
    found = {"mode": bpy.context.mode, "selected": bpy.context.object.name, "bend": bend(), "knee": knee()[:]}
    yield from hand.to_the_middle()
    x, y = hand.mouse
    yield from hand.key("F9")
    yield from look(hand, "settings")
    yield from hand.click((x + OTHER_WAY[0], y + OTHER_WAY[1]))
    yield from look(hand, "turned")
    found |= {"bend_turned": bend(), "knee_turned": knee()[:], "tip_turned": tip()[:]}
    found |= {"mode_turned": bpy.context.mode, "selected_turned": bpy.context.object.name}
    yield from hand.key("ESC")
    yield from hand.to_the_middle()
    yield from hand.key("Z", ctrl=True)
    found["undone"] = (bpy.context.mode, has_chain(), empties())
    return found


def bend() -> float:
    """The side that the limb's knee is on."""
    return bpy.data.objects["limb"].pose.bones["lower"].planar_ik.bend


def finds_the_panel_everywhere(hand: Hand):
    """Photograph the panel on the limb, in Object Mode on the target, in the list, and where something is wrong."""
    yield from open_limb(hand)
    area, _ = hand.view()
    area.spaces.active.show_region_ui = True
    yield from hand.click(hand.limb_on_screen())
    sidebar = next(region for region in area.regions if region.type == "UI")
    sidebar.active_panel_category = ITEM
    yield from look(hand, "empty")
    yield from hand.choose("Add Planar IK")
    chain = bpy.data.objects["limb"].pose.bones["lower"].planar_ik
    target = chain.target
    yield from look(hand, "target")
    found = {"mode": bpy.context.mode, "active": bpy.context.object.name}
    yield from hand.move(hand.on_screen(target.matrix_world.translation))
    yield from hand.key("G")
    x, y = hand.mouse
    yield from hand.move((x + 200, y - 80))
    yield from look(hand, "dragged-out-of-reach")
    found["reach_while_dragged"] = chain.reach
    yield from hand.key("ESC")
    found["reach_after_esc"] = chain.reach
    bpy.ops.pose.planar_ik_select(part="LIMB")
    yield from look(hand, "limb")
    bpy.ops.wm.call_menu_pie(name="VIEW3D_MT_planar_ik_pie")
    yield from look(hand, "pie")
    yield from hand.key("ESC")
    return found


def mends_by_clicks(hand: Hand):
    """Take the target away, and press what the panel offers: make one, then pick one from the search."""
    yield from open_limb(hand)
    yield from hand.open_sidebar()
    yield from hand.click(hand.limb_on_screen())
    yield from hand.choose("Add Planar IK")
    chain = bpy.data.objects["limb"].pose.bones["lower"].planar_ik
    bpy.ops.pose.planar_ik_select(part="LIMB")
    found = {"before": tip()[:]}
    yield from take_target_away(hand, chain)
    yield from look(hand, "no-target")
    found["message"] = chain.message
    yield from hand.hover_button("bpy.ops.pose.planar_ik_mend(way='TARGET')")
    yield from hand.key("LEFTMOUSE")
    found["made"], found["tip"], found["target"] = chain.reach, tip()[:], chain.target.name
    other = bpy.data.objects.new("somewhere", None)
    other.location = (0, 0.3, 0.6)
    bpy.context.scene.collection.objects.link(other)
    yield from take_target_away(hand, chain)
    yield from hand.hover_button("bpy.ops.pose.planar_ik_pick(part='TARGET')")
    yield from hand.key("LEFTMOUSE")
    yield from hand.write("somew")
    yield from look(hand, "search")
    yield from hand.key("RET")
    yield
    found["picked"], found["reach"], found["tip_on_picked"] = chain.target.name, chain.reach, tip()[:]
    yield from hand.key("Z", ctrl=True)
    found["undone"] = bpy.data.objects["limb"].pose.bones["lower"].planar_ik.target is None
    return found


def chooses_and_saves_presets(hand: Hand):
    """Open the presets in the panel's header, click some, and save one's own under a name."""
    yield from open_limb(hand)
    yield from hand.click(hand.limb_on_screen())
    yield from hand.choose("Add Planar IK")
    bpy.ops.pose.planar_ik_select(part="LIMB")
    chain = bpy.data.objects["limb"].pose.bones["lower"].planar_ik
    yield from hand.open_sidebar()
    yield from hand.hover("planar_ik_enabled", across=0.13)
    region, y = hand.sidebar()[1], hand.mouse[1]
    icon, found = region.x + region.width - 70, {}
    for name, above in PRESETS:
        yield from hand.click((icon, y))
        yield from look(hand, name)
        yield from hand.click((icon, y + above))
        yield from hand.key("ESC")
        found[name] = [chain.plane, chain.softness, math.degrees(chain.min_angle)]
    yield from hand.click((icon, y))
    yield from hand.click((icon, y + NEW_PRESET))
    yield from hand.key("A", ctrl=True)
    yield from hand.write("my leg")
    yield from hand.key("RET")
    yield from hand.click((icon + 95, y + NEW_PRESET))
    yield from look(hand, "saved")
    yield from hand.key("ESC")
    found["saved"] = [
        path.name for folder in bpy.utils.preset_paths("planar_ik/chain") for path in Path(folder).iterdir()
    ]
    return found


def speaks_chinese(hand: Hand):
    """The panel and a refusal in Chinese, with sentences that are composed in rooms that know no language."""
    yield from open_limb(hand)
    view = bpy.context.preferences.view
    view.language = "zh_HANS"
    view.use_translate_interface = view.use_translate_reports = view.use_translate_tooltips = True
    yield from hand.open_sidebar()
    yield from hand.click(hand.limb_on_screen())
    bpy.ops.pose.planar_ik_add()
    bpy.context.active_pose_bone.planar_ik.target = None
    yield from look(hand, "no-target")
    found = {"label": bpy.app.translations.pgettext_iface("Bend Side")}
    try:
        bpy.ops.pose.planar_ik_mirror()
    except RuntimeError as why:
        found["refusal"] = str(why)
    view.language = "en_US"
    view.use_translate_interface = view.use_translate_reports = view.use_translate_tooltips = False
    yield
    return found


def take_target_away(hand: Hand, chain):
    """Unset it, as the cross beside it does."""
    chain.target = None
    bpy.ops.ed.undo_push(message="Unset the target")
    yield
    yield


def look(hand: Hand, name: str):
    """Photograph what has become of the last event, without touching the panel."""
    yield
    yield
    hand.picture(name)


def switches_with_keys(hand: Hand):
    """Switch to FK from the search with Auto Keying, and undo it."""
    yield from open_limb(hand)
    yield from hand.click(hand.limb_on_screen())
    yield from hand.choose("Add Planar IK")
    chain = bpy.data.objects["limb"].pose.bones["lower"].planar_ik
    bpy.ops.pose.planar_ik_select(part="LIMB")
    chain.target.location += Vector((0, 0.3, 0.4))
    bpy.context.scene.frame_set(10)
    bpy.ops.ed.undo_push(message="Move the target")
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    yield
    found = {"before": tip()[:]}
    yield from hand.choose("Switch FK/IK")
    found["switched"], found["influence"] = tip()[:], influence()
    bpy.context.scene.frame_set(9)
    yield
    found["frame_before"], found["influence_before"] = tip()[:], influence()
    bpy.context.scene.frame_set(10)
    yield from hand.key("Z", ctrl=True)
    found["undone"], found["influence_undone"] = tip()[:], influence()
    return found


def influence() -> float:
    """Of the limb's chain."""
    return bpy.data.objects["limb"].pose.bones["lower"].planar_ik.influence


def opens_two_view_layers(hand: Hand):
    """Open a file whose two windows show two view layers of one scene, each with a limb that the other leaves out and
    that was saved where nothing posed it."""
    yield from open_limb(hand)
    first, scene, place = bpy.context.object, bpy.context.scene, Vector((0, 0.3, 0.6))
    second = first.copy()
    scene.collection.objects.unlink(first)
    layers = {first: bpy.context.view_layer, second: scene.view_layers.new("second")}
    listening = bpy.app.handlers.depsgraph_update_post[:]
    bpy.app.handlers.depsgraph_update_post.clear()
    for ob in layers:
        collection = bpy.data.collections.new(ob.name)
        scene.collection.children.link(collection)
        collection.objects.link(ob)
        settings = ob.pose.bones["lower"].planar_ik
        settings.target = bpy.data.objects.new(f"target of {ob.name}", None)
        settings.target.location = place
        settings.enabled = True
        collection.objects.link(settings.target)
        for other, layer in layers.items():
            layer.layer_collection.children[collection.name].exclude = other != ob
    bpy.ops.wm.window_new_main()
    yield
    hand.window.view_layer, bpy.context.window_manager.windows[-1].view_layer = layers.values()
    yield
    path = str(hand.pictures / "layers.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.app.handlers.depsgraph_update_post[:] = listening
    bpy.ops.wm.open_mainfile(filepath=path)
    hand.window = bpy.context.window_manager.windows[0]
    found = {}
    for window in bpy.context.window_manager.windows:
        layer = window.view_layer
        posed = [ob.evaluated_get(layer.depsgraph) for ob in layer.objects if ob.type == "ARMATURE"]
        found[layer.name] = [(ob.pose.bones["lower"].tail - place).length for ob in posed]
    yield
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[-1]):
        bpy.ops.wm.window_close()
    yield
    return found
