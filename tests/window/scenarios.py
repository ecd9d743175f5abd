"""What a person does in the window, one function each. They run inside Blender and return what a test can judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import bpy
from hand import Hand
from mathutils import Vector

from scripts import installed
from tests.blender import rigs

LEG = {
    "root": ((0, 0, 0), (0, 0.3, 0), ""),
    "hips": ((0, 0, 1), (0, 0, 1.2), "root"),
    "thigh.L": ((0.1, 0, 1), (0.1, -0.12, 0.55), "hips"),
    "shin.L": ((0.1, -0.12, 0.55), (0.1, 0.02, 0.1), "thigh.L"),
    "foot.L": ((0.1, 0.02, 0.1), (0.1, -0.14, 0.02), "shin.L"),
}


def adds_and_drags(hand: Hand) -> Iterator[Any]:
    """Click a shin, add IK from the menu, drag its target with G, undo and redo it all, flip it from the search."""
    yield from open_leg(hand)
    yield from hand.click(on_bone(hand, "shin.L"))
    found: dict[str, Any] = {"clicked": bpy.context.active_pose_bone.name, "before": joints()}
    with bpy.context.temp_override(**in_view(hand)):
        bpy.ops.wm.call_menu(name="VIEW3D_MT_pose_ik")
    yield
    hand.picture("menu")
    yield from hand.keys("HOME", "DOWN_ARROW", "DOWN_ARROW", "RET")  # after Blender's two entries comes Add Planar IK
    found |= {"added": joints(), "mode": bpy.context.mode, "selected": selected(), "message": limb().message}
    yield from hand.move(on_bone(hand, "target_shin.L"))
    misses = []
    x, y = hand.mouse
    yield from hand.key("G")
    for step in range(1, 9):
        yield from hand.move((x - 12 * step, y + 9 * step))
        misses.append(missed())
    hand.picture("dragged")
    yield from hand.key("LEFTMOUSE")
    found |= {"misses": misses, "dragged": joints()}
    yield from hand.key("Z", ctrl=True)
    found["undone"] = joints()
    yield from hand.key("Z", ctrl=True)
    found |= {"removed": joints(), "bones": sorted(rig().pose.bones.keys())}
    for _ in range(2):
        yield from hand.key("Z", ctrl=True, shift=True)
    found["redone"] = joints()
    yield from hand.to_the_middle()
    yield from hand.choose("Flip Knee")
    found["flipped"] = joints()
    return found


def adjusts_the_last_operation(hand: Hand) -> Iterator[Any]:
    """Add, and change the settings that are shown bottom left: to the other side, to empties, and live."""
    yield from open_leg(hand)
    yield from hand.click(on_bone(hand, "shin.L"))
    yield from hand.choose("Add Planar IK")
    found = {}
    for name, value in (("flip", True), ("controls", "EMPTIES"), ("mode", "LIVE")):
        setattr(bpy.context.window_manager.operators[-1].properties, name, value)
        with bpy.context.temp_override(**in_view(hand)):
            bpy.ops.ed.undo_redo("EXEC_DEFAULT", True)
        yield
        of = limb()
        found[name] = [of.flip, of.target.type, of.mode, of.reach, bpy.context.mode]
    yield from hand.to_the_middle()
    yield from hand.key("Z", ctrl=True)
    found["undone"] = sorted(rig().pose.bones.keys())
    return found


def keeps_an_unkeyed_pose(hand: Hand) -> Iterator[Any]:
    """A leg with keys is posed without a key: adding, changing the mode and removing leave that as it is."""
    yield from open_leg(hand)
    thigh = rig().pose.bones["thigh.L"]
    thigh.keyframe_insert("rotation_quaternion", frame=1)
    thigh.rotation_quaternion = (0.97, 0.24, 0.0, 0.0)
    bpy.ops.ed.undo_push(message="Pose")
    yield from hand.click(on_bone(hand, "shin.L"))
    found = {"before": joints()}
    for name in ("Add Planar IK", "Make Live", "Put on the Rig", "Rebuild", "Remove Planar IK"):
        yield from hand.to_the_middle()
        yield from hand.choose(name)
        yield
        found[name] = joints()
    return found


def drags_the_sliders(hand: Hand, mode: str) -> Iterator[Any]:
    """Drag every slider in the panel; then I over Influence, a drag with Auto Keying on another frame, and undo."""
    yield from open_limb(hand, mode, features=True)
    yield from hand.open_sidebar()
    found: dict[str, Any] = {}
    for name, by in (("IK Influence", -40), ("IK Swivel", 40), ("IK Softness", 40)):
        before = value(name), joints()
        yield from hand.hover(name)
        yield from hand.drag(by)
        yield
        found[name] = {"values": [before[0], value(name)], "moved": away(before[1], joints())}
        yield from hand.key("Z", ctrl=True)
        yield
        found[name] |= {"undone": value(name), "back": away(before[1], joints())}
    yield from hand.hover("IK Influence")
    yield from hand.key("I")
    found["keyed"] = keys("IK Influence")
    hand.picture("keyed")
    bpy.context.scene.frame_set(20)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    yield from hand.hover("IK Influence")
    yield from hand.drag(-40)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    found["autokeyed"] = keys("IK Influence")
    bpy.context.scene.frame_set(1)
    found["at_1"] = value("IK Influence")
    bpy.context.scene.frame_set(20)
    yield from hand.hover("IK Influence")
    yield from hand.key("C", shift=True, ctrl=True, alt=True)
    found["path"] = bpy.context.window_manager.clipboard
    return found


def drags_sliders_of_the_rig(hand: Hand) -> Iterator[Any]:
    """With a mechanism."""
    return drags_the_sliders(hand, "RIG")


def drags_sliders_of_live(hand: Hand) -> Iterator[Any]:
    """Without one."""
    return drags_the_sliders(hand, "LIVE")


def tells_while_dragging(hand: Hand) -> Iterator[Any]:
    """Drag a target out of reach and back with the sidebar open and the mouse in the view: what the panel says."""
    found: dict[str, Any] = {}
    panel, said = installed.addon("ui.panel"), []
    given = panel.draw_state

    def draw_state(layout: Any, context: Any, last: Any, status: Any) -> None:
        said.append(status.reach.name)
        given(layout, context, last, status)

    panel.draw_state = draw_state
    try:
        for mode in ("RIG", "LIVE"):
            yield from open_limb(hand, mode)
            yield from hand.open_sidebar()
            select(limb().subtarget)
            yield from hand.move(on_bone(hand, limb().subtarget))
            x, y = hand.mouse
            yield from hand.key("G")
            states = found[mode] = []
            for by in (-10, -450, -20):
                said.clear()
                yield from hand.move((x + by, y))
                yield
                states.append([said[-1] if said else "", limb().reach])
            hand.picture(mode)
            yield from hand.key("ESC")
    finally:
        panel.draw_state = given
    return found


def renames_and_symmetrizes(hand: Hand) -> Iterator[Any]:
    """Rename the target, and symmetrize the leg with all that is on it; then move both targets."""
    yield from open_limb(hand, "RIG", plane="POLE")
    found: dict[str, Any] = {"before": joints()}
    rig().data.bones[limb().subtarget].name = "IK foot.L"
    rig().data.bones[limb().pole_subtarget].name = "IK knee.L"
    bpy.context.view_layer.update()
    found |= {"renamed": [limb().subtarget, limb().pole_subtarget, limb().reach], "after": joints()}
    rigs.activate(rig(), "EDIT")
    bpy.ops.armature.select_all(action="SELECT")
    bpy.ops.armature.symmetrize()
    rigs.activate(rig())
    bpy.ops.ed.undo_push(message="Symmetrize")
    yield
    other = limb("shin.R")
    found["other"] = [other.enabled, other.subtarget, other.pole_subtarget, other.mode, other.reach]
    select("shin.R")
    yield from hand.open_sidebar()
    hand.picture("symmetrized")
    if other.reach == "INVALID":
        yield from hand.hover_button("bpy.ops.pose.planar_ik_mend(way='REBUILD')", 0.5)
        yield from hand.key("LEFTMOUSE")
        yield
    for name in ("IK foot", "IK knee"):
        one, other = (rig().pose.bones[f"{name}.{side}"] for side in "LR")
        one.location.y += 0.05
        other.location = one.location * Vector((-1, 1, 1))
    bpy.context.view_layer.update()
    yield
    found["reach"] = [limb(name).reach for name in ("shin.L", "shin.R")]
    now = rigs.evaluated(rig()).pose.bones
    found["mirrored"] = (now["shin.L"].head - Vector((-1, 1, 1)) * now["shin.R"].head).length
    return found


def edits_bones_and_rebuilds(hand: Hand) -> Iterator[Any]:
    """Move the knee in Edit Mode, and press what the panel offers."""
    yield from open_limb(hand, "RIG")
    yield from hand.open_sidebar()
    found: dict[str, Any] = {}
    yield from hand.to_the_middle()
    yield from hand.key("TAB")
    rig().data.edit_bones["shin.L"].head.y -= 0.1
    yield from hand.key("TAB")
    rigs.activate(rig())
    select("shin.L")
    bpy.ops.ed.undo_push(message="Edit")
    yield
    found["edited"] = [limb().reach, limb().message]
    hand.picture("edited")
    yield from hand.hover_button("bpy.ops.pose.planar_ik_mend(way='REBUILD')", 0.5)
    yield from hand.key("LEFTMOUSE")
    yield
    found["rebuilt"] = [limb().reach, missed()]
    yield from hand.key("Z", ctrl=True)
    found["undone"] = limb().reach
    return found


def picks_by_the_search(hand: Hand) -> Iterator[Any]:
    """Take the target away, press Make a Target in the panel; then pick an object in the search."""
    yield from open_limb(hand, "RIG")
    yield from hand.open_sidebar()
    other = bpy.data.objects.new("somewhere", None)
    other.location = (0.1, -0.1, 0.25)
    bpy.context.scene.collection.objects.link(other)
    before = joints()
    limb().target = None
    bpy.ops.ed.undo_push(message="Unset the target")
    select("shin.L")
    yield
    hand.picture("no-target")
    found: dict[str, Any] = {"without": limb().reach}
    yield from hand.hover_button("bpy.ops.pose.planar_ik_mend(way='TARGET')", 0.5)
    yield from hand.key("LEFTMOUSE")
    yield
    found["made"] = [limb().reach, limb().subtarget]
    select("shin.L")
    limb().target = None
    bpy.ops.ed.undo_push(message="Unset the target")
    yield
    yield from hand.hover_button("bpy.ops.pose.planar_ik_pick(part='TARGET')", 0.5)
    yield from hand.key("LEFTMOUSE")
    yield from hand.write("somew")
    yield
    hand.picture("search")
    yield from hand.key("RET")
    yield
    yield
    found["picked"] = [limb().reach, limb().target.name if limb().target else "", missed()]
    yield from hand.key("Z", ctrl=True)
    found["undone"] = limb().target is None
    found["moved"] = away(before, joints())
    return found


def switches_with_keys(hand: Hand) -> Iterator[Any]:
    """Switch to FK from the search with Auto Keying on a later frame, and undo it."""
    yield from open_limb(hand, "RIG")
    bpy.context.scene.frame_set(10)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    yield from hand.to_the_middle()
    before = joints()
    yield from hand.choose("Switch FK/IK")
    yield
    found: dict[str, Any] = {
        "moved": away(before, joints()),
        "influence": value("IK Influence"),
        "selected": selected(),
    }
    for frame in (9, 10, 30):
        bpy.context.scene.frame_set(frame)
        found[str(frame)] = [value("IK Influence"), away(before, joints())]
    bpy.context.scene.frame_set(10)
    yield from hand.key("Z", ctrl=True)
    yield
    found["undone"] = [value("IK Influence"), away(before, joints())]
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    return found


def lives_without_the_extension(hand: Hand) -> Iterator[Any]:
    """Save a leg on the rig, open it without the extension, key IK Influence there, save; open it with it again."""
    yield from open_limb(hand, "RIG")
    path = str(hand.pictures / "leg.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    before = joints()
    yield from without_extension()
    found: dict[str, Any] = {}
    try:
        yield from open_file(hand, path)
        found["without"] = away(before, joints())
        rig().pose.bones["shin.L"].keyframe_insert('["IK Influence"]', frame=1)
        rig().pose.bones["shin.L"]["IK Influence"] = 0.0
        rig().pose.bones["shin.L"].keyframe_insert('["IK Influence"]', frame=11)
        bpy.context.scene.frame_set(11)
        fk = joints()
        target = rig().pose.bones["target_shin.L"]
        bpy.context.scene.frame_set(1)
        target.location.y += 0.05
        bpy.context.view_layer.update()
        found |= {"fk": away(before, fk), "dragged": away(before, joints())}
        bpy.ops.wm.save_as_mainfile(filepath=path)
    finally:
        with_extension()
        yield
    yield from open_file(hand, path)
    found["back"] = [limb().reach, missed()]
    return found


def enables_the_extension_again(hand: Hand) -> Iterator[Any]:
    """Switch the extension off and on again while a live limb is bent; how far its tip is from the target each time."""
    yield from open_limb(hand, "LIVE")
    target = rigs.evaluated(rig()).pose.bones["target_shin.L"].head.copy()
    misses = []
    for step in (lambda: None, without_extension, with_extension):
        done = step()
        yield from done or ()
        for _ in range(3):
            yield
        misses.append((rigs.evaluated(rig()).pose.bones["foot.L"].head - target).length)
    return {"misses": misses}


def bakes_from_the_dialog(hand: Hand) -> Iterator[Any]:
    """Bake from the search and the dialog that opens; undo and redo."""
    yield from open_limb(hand, "RIG")
    animate()
    bpy.context.scene.frame_end = 40
    bpy.ops.ed.undo_push(message="Animate")
    before, had = motion(), sorted(keyed())
    yield from hand.to_the_middle()
    yield from hand.choose("Bake Planar IK")
    yield
    hand.picture("dialog")
    found: dict[str, Any] = {"asking": sorted(keyed()) == had}
    yield from hand.key("RET")
    yield from until(lambda: value("IK Influence") == 0.0)
    yield
    hand.picture("baked")
    found |= {"moved": max(map(away, before, motion())), "keyed": keyed()}
    yield from hand.key("Z", ctrl=True)
    yield
    found |= {"undone": sorted(keyed()) == had, "influence": value("IK Influence")}
    yield from hand.key("Z", ctrl=True, shift=True)
    yield
    found["redone"] = max(map(away, before, motion()))
    return found


def cancels_a_bake(hand: Hand) -> Iterator[Any]:
    """Press Esc in the dialog; then bake so much that it takes long, and press Esc in the middle of it."""
    yield from open_limb(hand, "LIVE")
    animate()
    bpy.context.scene.frame_end = 200_000
    bpy.context.scene.frame_set(7)
    bpy.ops.ed.undo_push(message="Animate")
    before = everything()
    yield from hand.to_the_middle()
    yield from hand.choose("Bake Planar IK")
    yield from hand.key("ESC")
    found: dict[str, Any] = {"after_the_dialog": everything() == before}
    yield from hand.to_the_middle()
    yield from hand.choose("Bake Planar IK")
    yield from hand.key("RET")
    for _ in range(6):
        yield
    hand.picture("progress")
    found["ran"] = is_baking(hand)
    yield from hand.key("ESC")
    yield from until(lambda: not is_baking(hand))
    yield
    found["after"] = everything() == before
    return found


def shows_the_panel_last(hand: Hand) -> Iterator[Any]:
    """With a rig that Rigify generated: nothing on its bones; on a plain rig the panel, on the limb's bones only."""
    bpy.ops.preferences.addon_enable(module="rigify")
    yield from open_leg(hand)
    yield from hand.open_sidebar()
    shown = bpy.types.VIEW3D_PT_planar_ik.poll
    found: dict[str, Any] = {}
    for name in ("root", "hips", "thigh.L", "shin.L", "foot.L"):
        select(name)
        found[name] = shown(bpy.context)
    select("shin.L")
    yield
    hand.picture("plain")
    bpy.ops.pose.planar_ik_add()
    select("shin.L")
    yield from hand.move((hand.sidebar()[1].x + 50, hand.sidebar()[1].y + 50))
    yield from hand.keys(*8 * ["WHEELDOWNMOUSE"])
    yield
    hand.picture("added")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.armature_basic_human_metarig_add()
    bpy.ops.pose.rigify_generate()
    generated = bpy.context.object
    rigs.activate(generated)
    found["generated"] = []
    for bone in generated.pose.bones:
        generated.data.bones.active = bone.bone
        found["generated"] += [bone.name] if shown(bpy.context) else []
    yield
    hand.picture("generated")
    return found


def shows_the_overlay(hand: Hand) -> Iterator[Any]:
    """What the picture shows with the overlay and without it, on target and out of reach."""
    yield from open_limb(hand, "RIG")
    select("target_shin.L")
    found = {}
    for name, by in (("near", 0.0), ("far", 0.9)):
        rig().pose.bones["target_shin.L"].location.y += by
        bpy.context.view_layer.update()
        pictures = []
        for is_on in (True, False):
            bpy.context.scene.planar_ik.show_overlay = is_on
            hand.view()[0].tag_redraw()
            yield
            yield
            pictures.append(pixels(str(hand.picture(f"{name}-{is_on}", hand.place_of_view()))))
        found[name] = sum(1 for a, b in zip(*pictures, strict=True) if abs(a - b) > 0.05)
    bpy.context.scene.planar_ik.show_overlay = True
    return found


def opens_the_pie(hand: Hand) -> Iterator[Any]:
    """The pie menu, and Switch from it."""
    yield from open_limb(hand, "RIG")
    yield from hand.to_the_middle()
    bpy.ops.wm.call_menu_pie(name="VIEW3D_MT_planar_ik_pie")
    yield
    yield
    hand.picture("pie")
    yield from hand.key("ESC")
    return {}


def open_leg(hand: Hand) -> Iterator[None]:
    """Open a file with a leg without IK, seen from the right in Pose Mode."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    yield
    rigs.rig(LEG)
    path = str(hand.pictures / "leg.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    yield from open_file(hand, path)


def open_file(hand: Hand, path: str) -> Iterator[None]:
    """Open a file, and look at it from the right."""
    bpy.ops.wm.open_mainfile(filepath=path)
    hand.window = bpy.context.window_manager.windows[0]
    yield
    yield from hand.to_the_middle()
    yield from hand.key("NUMPAD_3")
    yield from hand.key("HOME")
    yield


def open_limb(hand: Hand, mode: str, plane: str = "AUTO", features: bool = False) -> Iterator[None]:
    """The same with IK on it, a target that was moved, and maybe softness and stretch; its shin is selected."""
    yield from open_leg(hand)
    select("shin.L")
    bpy.ops.pose.planar_ik_add(mode=mode, plane=plane)
    target = rig().pose.bones[limb().subtarget]
    target.location = target.location + target.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, -0.1, 0.15))
    if features:
        for name in ("SOFTNESS", "STRETCH"):
            bpy.ops.pose.planar_ik_set(what=f"ADD_{name}")
        limb().softness = 0.0
    select("shin.L")
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="Add")
    yield


def without_extension() -> Iterator[None]:
    """Switch the extension off."""
    if installed.SOURCE:
        installed.addon().unregister()
    else:
        bpy.ops.preferences.addon_disable(module=installed.MODULE)
    yield


def with_extension() -> None:
    """Switch it on again."""
    if installed.SOURCE:
        installed.addon().register()
    else:
        bpy.ops.preferences.addon_enable(module=installed.MODULE)


def animate() -> None:
    """Move the target over frames 1 to 40."""
    target = rig().pose.bones["target_shin.L"]
    start = target.location.copy()
    for frame, y in ((1, 0.0), (20, 0.1), (40, -0.05)):
        target.location = start + Vector((0.0, y, y))
        target.keyframe_insert("location", frame=frame)


def motion() -> list[Any]:
    """The joints in every frame."""
    now, found = bpy.context.scene.frame_current, []
    for frame in range(1, 41):
        bpy.context.scene.frame_set(frame)
        found.append(joints())
    bpy.context.scene.frame_set(now)
    return found


def everything() -> Any:
    """What a bake could change."""
    return rigs.snapshot(), keyed(), bpy.context.scene.frame_current, bpy.context.scene.planar_ik.live


def is_baking(hand: Hand) -> bool:
    """Whether the bake is going on."""
    return any(operator.bl_idname == "POSE_OT_planar_ik_bake" for operator in hand.window.modal_operators)


def until(condition: Callable[[], bool]) -> Iterator[None]:
    """Wait for something to become true; the test's own time limit ends a wait in vain."""
    while not condition():
        yield


def rig() -> Any:
    """The armature."""
    return bpy.data.objects["rig"]


def limb(name: str = "shin.L") -> Any:
    """The limb of a bone."""
    return rig().pose.bones[name].planar_ik


def value(name: str) -> Any:
    """A custom property of the shin."""
    return rig().pose.bones["shin.L"][name]


def joints() -> list[list[float]]:
    """Where the leg's joints are evaluated."""
    now = rigs.evaluated(rig()).pose.bones
    return [[*now[name].head] for name in ("thigh.L", "shin.L", "foot.L")]


def away(one: Any, other: Any) -> float:
    """How far joints are from where they were, at most."""
    return max((Vector(a) - Vector(b)).length for a, b in zip(one, other, strict=True))


def missed() -> float:
    """How far the foot is from the target."""
    of, now = limb(), rigs.evaluated(rig())
    target = of.target.evaluated_get(bpy.context.evaluated_depsgraph_get())
    place = target.matrix_world @ (target.pose.bones[of.subtarget].head if of.subtarget else Vector())
    return (now.matrix_world @ now.pose.bones["foot.L"].head - place).length


def select(*names: str) -> None:
    """Select these bones only; the first becomes the active one."""
    for bone in rig().pose.bones:
        bone.select = bone.name in names
    rig().data.bones.active = rig().data.bones[names[0]]


def selected() -> list[str]:
    """The names of the selected bones."""
    return sorted(bone.name for bone in bpy.context.selected_pose_bones or ())


def curves() -> list[Any]:
    """The F-curves of the armature."""
    data = rig().animation_data
    if not (data and data.action):
        return []
    return list(data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves)


def keyed() -> dict[str, int]:
    """How many keys each path has."""
    return {f"{curve.data_path} {curve.array_index}": len(curve.keyframe_points) for curve in curves()}


def keys(name: str) -> list[tuple[float, float]]:
    """Frame and value of each key of a slider."""
    return [key.co[:] for curve in curves() if curve.data_path.endswith(f'["{name}"]') for key in curve.keyframe_points]


def on_bone(hand: Hand, name: str) -> tuple[int, int]:
    """Where the view shows the middle of a bone."""
    return hand.on_screen(rig().matrix_world @ rigs.evaluated(rig()).pose.bones[name].center)


def in_view(hand: Hand) -> dict[str, Any]:
    """The context that an operator has under the mouse."""
    area, region = hand.view()
    return {"window": hand.window, "area": area, "region": region}


def pixels(path: str) -> list[float]:
    """The red, green and blue of a picture."""
    image = bpy.data.images.load(path)
    found = list(image.pixels)
    bpy.data.images.remove(image)
    return found
