"""What a person does with a live limb, looked at as it is drawn: nothing here has Blender evaluate anything itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
from hand import Hand
from leg import animate, limb, on_bone, open_limb, rig, select, until

from scripts import installed


def drawn(layer: Any = None) -> float:
    """How far the tip of the limb is from its target, in the pose that a window draws."""
    now = rig().evaluated_get((layer or bpy.context.view_layer).depsgraph).pose.bones
    return float((now["foot.L"].head - now[limb().subtarget].head).length)


def own() -> list[Any]:
    """The channels of the limb's bones, as they stand in the file."""
    return [[*rig().pose.bones[name].rotation_quaternion] for name in ("thigh.L", "shin.L")]


def plays_and_drags(hand: Hand) -> Iterator[Any]:
    """Go through frames by keys, play, jump to the end, drag target and hips with G and R, confirm, cancel and undo."""
    yield from open_limb(hand, "LIVE")
    animate()
    for name in ("thigh.L", "shin.L"):
        bone = rig().pose.bones[name]
        for frame, turn in ((1, (1, 0, 0, 0)), (40, (0.9, 0.3, 0.2, 0.1))):
            bone.rotation_quaternion = turn
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_end = 40
    yield
    found: dict[str, Any] = {"start": own(), "misses": []}
    yield from hand.to_the_middle()
    for key in ("RIGHT_ARROW", "RIGHT_ARROW", "UP_ARROW", "LEFT_ARROW"):
        yield from hand.key(key)
        yield
        found["misses"].append(drawn())
    yield from hand.key("SPACE")
    for _ in range(6):
        frame = bpy.context.scene.frame_current
        yield from until(lambda frame=frame: bpy.context.scene.frame_current != frame)
        found["misses"].append(drawn())
    yield from hand.key("ESC")
    yield from hand.key("LEFT_ARROW", shift=True)
    yield
    found |= {"frame": bpy.context.scene.frame_current, "again": own()}
    for bone, how, end in (
        (limb().subtarget, "G", "ESC"),
        ("hips", "R", "LEFTMOUSE"),
        (limb().subtarget, "G", "LEFTMOUSE"),
    ):
        select(bone)
        yield from hand.move(on_bone(hand, bone))
        x, y = hand.mouse
        yield from hand.key(how)
        for step in (1, 2, 3):
            yield from hand.move((x - 9 * step, y + 7 * step))
            yield
            found["misses"].append(drawn())
        yield from hand.key(end)
        yield
        found["misses"].append(drawn())
    for _ in range(2):
        yield from hand.key("Z", ctrl=True)
        yield
        found["misses"].append(drawn())
    found["end"] = own()
    return found


def shows_two_view_layers(hand: Hand) -> Iterator[Any]:
    """A second window with another view layer: how often limbs are posed until all is quiet."""
    yield from open_limb(hand, "LIVE")
    posing, posed = installed.addon("live.handlers"), []
    given = posing.pose

    def pose(*args: Any) -> None:
        posed.append(1)
        given(*args)

    posing.pose = pose
    try:
        scene = bpy.context.scene
        layer = scene.view_layers.new("other")
        bpy.ops.wm.window_new_main()
        second = bpy.context.window_manager.windows[-1]
        second.view_layer = layer
        for _ in range(5):
            yield
        found = {"shown": [drawn(scene.view_layers[0]), drawn(layer)]}
        posed.clear()
        target = rig().pose.bones[limb().subtarget]
        target.location.x += 0.05
        for _ in range(20):
            yield
        found |= {"moved": [drawn(scene.view_layers[0]), drawn(layer)], "times": len(posed)}
    finally:
        posing.pose = given
    with bpy.context.temp_override(window=second):
        bpy.ops.wm.window_close()
    yield
    return found
