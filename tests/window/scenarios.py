"""What a person does in the window, one function each. They run inside Blender and return what a test can judge."""

from __future__ import annotations

import bpy
from hand import Hand
from mathutils import Quaternion, Vector

from scripts import installed


def opens_in_pose_mode(hand: Hand):
    """The extension is enabled, and a limb stands in the middle of the view."""
    yield from open_limb(hand)
    hand.picture("limb")
    return {
        "enabled": installed.MODULE in bpy.context.preferences.addons,
        "mode": bpy.context.object.mode,
        "lower_bone_at": hand.limb_on_screen(),
        "window": (hand.window.width, hand.window.height),
    }


def click_add_and_drag(hand: Hand):
    """Click a lower bone, add a chain from the menu, drag its target with G, then undo and redo all of it."""
    yield from open_limb(hand)
    yield from hand.click(hand.limb_on_screen())
    found = {"clicked": bpy.context.active_pose_bone.name, "tip_at_rest": tip()[:]}
    with bpy.context.temp_override(**in_view(hand)):
        bpy.ops.wm.call_menu(name="VIEW3D_MT_pose_ik")
    yield
    hand.picture("menu")
    yield from hand.keys("HOME", "DOWN_ARROW", "DOWN_ARROW", "RET")  # after Blender's two entries comes Add Planar IK
    hand.picture("added")
    found["added"], found["tip_after_adding"] = has_chain(), tip()[:]

    target = bpy.data.objects["limb"].pose.bones["lower"].planar_ik.target
    found["selected"] = bpy.context.object == target
    found["misses"] = yield from drag_and_measure(hand, target.name)
    found["target_after_drag"], found["tip_after_drag"] = location(target.name)[:], tip()[:]

    yield from hand.key("Z", ctrl=True)
    found["tip_after_undo"] = tip()[:]
    yield from hand.key("Z", ctrl=True)  # the chain
    hand.picture("undone")
    found["chain_after_undo"], found["empties_after_undo"] = has_chain(), empties()
    for _ in range(2):
        yield from hand.key("Z", ctrl=True, shift=True)
    found["chain_after_redo"], found["tip_after_redo"] = has_chain(), tip()[:]
    yield from hand.to_the_middle()
    yield from hand.choose("Flip Planar IK")
    found["mode_of_the_search"] = bpy.context.mode
    found["bend_after_search"] = bpy.data.objects["limb"].pose.bones["lower"].planar_ik.bend
    return found


def plays_with_the_panel_open(hand: Hand):
    """Add a chain with the sidebar open on its tab, play keys of its target and influence, and watch the tip."""
    yield from open_limb(hand)
    area, _region = hand.view()
    area.spaces.active.show_region_ui = True
    yield from hand.click(hand.limb_on_screen())
    yield from hand.choose("Add Planar IK")
    sidebar = next(region for region in area.regions if region.type == "UI")
    sidebar.active_panel_category = "Item"
    target = bpy.data.objects["limb"].pose.bones["lower"].planar_ik.target
    for frame, offset in ((1, (0, 0, 0)), (8, (0, 0.4, 0.5)), (15, (0, -0.5, 0.7))):
        target.location = Vector((0, 0, 0.2)) + Vector(offset)
        target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = 15
    bpy.context.scene.frame_set(1)
    yield
    misses, frames = [], set()
    yield from hand.key("SPACE")
    while len(frames) < 6:
        yield
        frames.add(bpy.context.scene.frame_current)
        misses.append((tip() - location(target.name)).length)
    yield from hand.key("SPACE")
    hand.picture("panel")
    chain = bpy.data.objects["limb"].pose.bones["lower"].planar_ik
    return {"misses": misses, "frames": sorted(frames), "reach": chain.reach}


def goes_through_frames(hand: Hand):
    """Go to other frames by the arrow keys and back by undo, with a live limb whose own bones have keys."""
    yield from open_limb(hand)
    yield from hand.click(hand.limb_on_screen())
    bpy.ops.pose.planar_ik_add(runs_on="EXTENSION")
    chain = rig().pose.bones["lower"].planar_ik
    chain.target.location += Vector((0, 0.1, 0.3))
    upper = rig().pose.bones["upper"]
    for frame, turn in ((1, 0.0), (20, 1.0)):
        upper.rotation_quaternion = Quaternion((1, 0, 0), turn)
        upper.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_set(1)
    bpy.ops.ed.undo_push(message="Animate the bone")
    yield from hand.to_the_middle()
    seen = []
    for key, held in (("RIGHT_ARROW", {}), ("RIGHT_ARROW", {}), ("LEFT_ARROW", {}), ("Z", {"ctrl": True})):
        yield from hand.key(key, **held)
        yield
        chain = rig().pose.bones["lower"].planar_ik
        miss = (tip() - location(chain.target.name)).length
        seen.append([bpy.context.scene.frame_current, miss, chain.reach])
    return seen


def enables_the_extension_again(hand: Hand):
    """Switch the extension off and on again while a live limb is bent; say how far its tip is from the target."""
    yield from open_limb(hand)
    yield from hand.click(hand.limb_on_screen())
    bpy.ops.pose.planar_ik_add(runs_on="EXTENSION")
    target = rig().pose.bones["lower"].planar_ik.target
    target.location += Vector((0, 0.1, 0.3))
    yield
    misses = []
    for switch in (lambda **_: None, bpy.ops.preferences.addon_disable, bpy.ops.preferences.addon_enable):
        switch(module=installed.MODULE)
        for _ in range(3):
            yield
        misses.append((tip() - location(target.name)).length)
    return misses


def shows_another_view_layer(hand: Hand):
    """Have the window show view layers and scenes that it did not show before; say how far the tip of a live limb is
    from its target in each."""
    yield from open_limb(hand)
    yield from hand.click(hand.limb_on_screen())
    bpy.ops.pose.planar_ik_add(runs_on="EXTENSION")
    target = rig().pose.bones["lower"].planar_ik.target
    target.location += Vector((0, 0.1, 0.3))
    yield
    misses = []
    scene = hand.window.scene
    other = bpy.data.scenes.new("Other")
    for ob in (rig(), target):
        other.collection.objects.link(ob)
    for name, shown in (("view_layer", scene.view_layers.new("Other")), ("scene", other), ("scene", scene)):
        setattr(hand.window, name, shown)
        for _ in range(3):
            yield
        misses.append((tip() - location(target.name)).length)
    return misses


def bakes_from_the_dialog(hand: Hand):
    """Bake from the menu and the dialog that opens, bake again as if its settings were adjusted, undo and redo."""
    yield from open_moving_chain(hand, frames=40)
    before = yield from motion(40)
    found = {"before": state()}
    yield from hand.choose("Bake Planar IK")
    hand.picture("dialog")
    found["with_the_dialog_open"] = state()
    yield from hand.key("RET")
    yield from until(lambda: not has_chain())
    hand.picture("baked")
    found["baked"] = state()
    after = yield from motion(40)
    found["moved"] = max((a - b).length for a, b in zip(after, before, strict=True))
    with bpy.context.temp_override(**in_view(hand)):
        bpy.ops.ed.undo_redo("EXEC_DEFAULT", True)  # as the panel Adjust Last Operation does
    found["adjusted"], found["runs_on"] = state(), is_baking(hand)
    yield from hand.key("Z", ctrl=True)
    found["undone"] = state()
    yield from hand.key("Z", ctrl=True, shift=True)
    found["redone"] = state()
    return found


def cancels_a_bake(hand: Hand):
    """Press Esc in the dialog, then bake again and press Esc in the middle of it."""
    yield from open_moving_chain(hand, frames=1_000_000, is_stepped=True)
    bpy.context.scene.frame_set(7)
    yield
    found = {"before": state()}
    yield from hand.choose("Bake Planar IK")
    yield from hand.key("ESC")
    found["after_the_dialog"], found["bakes_after_the_dialog"] = state(), is_baking(hand)
    yield from hand.choose("Bake Planar IK")
    yield from hand.key("RET")
    for _ in range(8):
        yield
    hand.picture("progress")
    found["baked_for_long"], found["during"] = is_baking(hand), state()
    yield from hand.key("ESC")
    yield from until(lambda: not is_baking(hand))
    hand.picture("cancelled")
    found["after"] = state()
    return found


def open_moving_chain(hand: Hand, frames: int, is_stepped: bool = False):
    """Open a limb with a chain whose target moves, if wanted so that a bake has to step every frame of the scene."""
    yield from open_limb(hand)
    yield from hand.click(hand.limb_on_screen())
    yield from hand.choose("Add Planar IK")
    bpy.ops.pose.planar_ik_select(part="LIMB")
    target = bpy.data.objects["limb"].pose.bones["lower"].planar_ik.target
    for frame, offset in ((1, (0, 0, 0)), (20, (0, 0.4, 0.5)), (40, (0, -0.5, 0.7))):
        target.location = Vector((0, 0, 0.2)) + Vector(offset)
        target.keyframe_insert("location", frame=frame)
    if is_stepped:
        carrier = bpy.data.objects.new("carrier", bpy.data.lattices.new("carrier"))
        bpy.context.scene.collection.objects.link(carrier)
        target.parent = carrier
        target.constraints.new("LIMIT_LOCATION")
    bpy.context.scene.frame_end = frames
    bpy.ops.ed.undo_push(message="Animate the target")
    yield


def motion(frames: int):
    """Where the tip is on every frame."""
    places, now = [], bpy.context.scene.frame_current
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
        places.append(tip())
    bpy.context.scene.frame_set(now)
    yield
    return places


def state() -> dict:
    """Everything that a bake could change."""
    ob = bpy.data.objects["limb"]
    curves = bpy.data.actions[0].layers[0].strips[0].channelbags
    return {
        "scenes": [(scene.name, scene.frame_current, scene.planar_ik.live) for scene in bpy.data.scenes],
        "actions": [action.name for action in bpy.data.actions],
        "keys": sum(len(curve.keyframe_points) for bag in curves for curve in bag.fcurves),
        "limb_action": ob.animation_data.action.name if ob.animation_data and ob.animation_data.action else None,
        "chain": has_chain(),
        "selected": [ob.name for ob in bpy.context.selected_objects],
        "selected_bones": [bone.name for bone in bpy.context.selected_pose_bones or ()],
        "active": (bpy.context.object.name, bpy.context.object.mode),
        "tip": tip()[:],
    }


def is_baking(hand: Hand) -> bool:
    """Whether the bake is going on."""
    return any(operator.bl_idname == "POSE_OT_planar_ik_bake" for operator in hand.window.modal_operators)


def in_view(hand: Hand) -> dict:
    """The context that an operator has under the mouse."""
    area, region = hand.view()
    return {"window": hand.window, "area": area, "region": region}


def until(condition):
    """Wait for something to become true; the test's own time limit ends a wait in vain."""
    while not condition():
        yield


def drag_and_measure(hand: Hand, target: str):
    """Drag what is selected up and to the left; give how far the tip was from the target after each step."""
    misses = []
    x, y = hand.mouse
    yield from hand.key("G")
    for step in range(1, 9):
        yield from hand.move((x - 12 * step, y + 9 * step))
        misses.append((tip() - location(target)).length)
    hand.picture("dragged")
    yield from hand.key("LEFTMOUSE")
    return misses


def open_limb(hand: Hand):
    """Open a file with a limb of two bones, bent to the left as seen from the right, in pose mode."""
    yield from open_armature(hand, {"": [Vector((0, 0, 1.8)), Vector((0, -0.3, 1)), Vector((0, 0, 0.2))]})


def open_armature(hand: Hand, limbs: dict[str, list[Vector]]):
    """Open a file with an armature of limbs, seen from the right in pose mode; each by its root, knee and tip, and by
    what the names of its bones, upper and lower, end in."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    yield
    data = bpy.data.armatures.new("limb")
    ob = bpy.data.objects.new("limb", data)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for name, joints in limbs.items():
        upper, lower = (data.edit_bones.new(f"{role}_{name}" if name else role) for role in ("upper", "lower"))
        for bone, head, tail in zip((upper, lower), joints, joints[1:], strict=False):
            bone.head, bone.tail = head, tail
        lower.parent, lower.use_connect = upper, True
    bpy.ops.object.mode_set(mode="POSE")
    path = str(hand.pictures / "limb.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    hand.window = bpy.context.window_manager.windows[0]
    yield
    yield from hand.to_the_middle()
    yield from hand.key("NUMPAD_3")
    yield from hand.key("HOME")
    yield


def rig():
    """The armature of `open_armature`."""
    return bpy.data.objects["limb"]


def select(*names: str) -> None:
    """Select these bones only; the first becomes the active one."""
    for bone in rig().pose.bones:
        bone.select = bone.name in names
    rig().data.bones.active = rig().data.bones[names[0]]


def curves() -> list:
    """The F-curves of the armature."""
    data = rig().animation_data
    if not (data and data.action):
        return []
    return list(data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves)


def has_chain() -> bool:
    """Whether the limb's lower bone has a chain."""
    return bpy.data.objects["limb"].pose.bones["lower"].planar_ik.enabled


def empties() -> list[str]:
    """The names of all empties in the file."""
    return [ob.name for ob in bpy.data.objects if ob.type == "EMPTY"]


def location(name: str) -> Vector:
    """Where an object is in the world."""
    return bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation


def tip() -> Vector:
    """Where the limb's tip is in the world."""
    ob = bpy.data.objects["limb"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    return ob.matrix_world @ ob.pose.bones["lower"].tail


def knee() -> Vector:
    """Where the limb's knee is in the world."""
    ob = bpy.data.objects["limb"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    return ob.matrix_world @ ob.pose.bones["lower"].head
