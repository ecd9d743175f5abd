"""The leg that scenarios are about: opened, looked at, and what can be read of it. It runs inside Blender."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import bpy
import numpy as np
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


def new_file(hand: Hand) -> Iterator[None]:
    """An empty file."""
    bpy.ops.wm.read_homefile(use_empty=True)
    hand.window = bpy.context.window_manager.windows[0]
    yield


def open_leg(hand: Hand) -> Iterator[None]:
    """Open a file with a leg without IK, seen from the right in Pose Mode."""
    yield from new_file(hand)
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


def open_limb(hand: Hand, mode: str, plane: str = "POLE", features: bool = False) -> Iterator[None]:
    """The same with IK on it, a target that was moved, and maybe softness and stretch; its shin is selected."""
    yield from open_leg(hand)
    select("shin.L")
    bpy.ops.pose.planar_ik_add(mode=mode, plane=plane)
    target = rig().pose.bones[limb().subtarget]
    target.location = target.location + target.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, -0.1, 0.15))
    if features:
        limb().softness = limb().stretch = 0.0
    select("shin.L")
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="Add")
    yield


def animate() -> None:
    """Move the target over frames 1 to 40."""
    target = rig().pose.bones["foot_ik.L"]
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


def goes_on(hand: Hand, operator: str) -> bool:
    """Whether an operator of ours goes on."""
    return any(modal.bl_idname == f"POSE_OT_planar_ik_{operator}" for modal in hand.window.modal_operators)


def done(hand: Hand) -> Iterator[None]:
    """Wait for what goes on in the background, with its progress below the view."""
    yield
    yield from until(lambda: not any("planar_ik" in each.bl_idname for each in hand.window.modal_operators))
    yield


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


def pixels(path: str) -> Any:
    """The red, green and blue of a picture."""
    image = bpy.data.images.load(path)
    found = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(found)
    bpy.data.images.remove(image)
    return found


def open_panels() -> None:
    """Have Tools, Setup and All Limbs be open where they are drawn for the first time."""
    for cls in installed.addon("ui.panel").CLASSES[:3]:
        bpy.utils.unregister_class(cls)
        cls.bl_options = set()
        bpy.utils.register_class(cls)


def pictured(hand: Hand, name: str) -> Iterator[None]:
    """A picture of what there is once all is drawn."""
    hand.sidebar()[1].tag_redraw()
    yield
    yield
    hand.picture(name)


def scroll(hand: Hand) -> Iterator[None]:
    """Have the sidebar show its end."""
    region = hand.sidebar()[1]
    yield from hand.move((region.x + 50, region.y + 50))
    yield from hand.keys(*20 * ["WHEELDOWNMOUSE"])
    yield


def save_and_open(hand: Hand, name: str) -> Iterator[None]:
    """Have a file of what was made, with an undo step of its own, seen from the right."""
    path = str(hand.pictures / f"{name}.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    yield from open_file(hand, path)


def misses(ob: Any) -> dict[str, float]:
    """How far the tips of a rig's limbs are from their targets."""
    now, rows = rigs.evaluated(ob).pose.bones, {}
    for last in [bone for bone in ob.pose.bones if bone.planar_ik.enabled]:
        end = installed.addon("limb.tips").foot_of(last)
        tip = now[end.name].head if end else now[last.name].tail
        rows[last.name] = (tip - now[last.planar_ik.subtarget].head).length
    return rows


def limbs() -> list[str]:
    """The last bones of the rig's limbs."""
    return sorted(bone.name for bone in rig().pose.bones if bone.planar_ik.enabled)
