"""What is posed and has no key, in a window: Blender sets it to the animation whenever the window goes to a frame."""

from __future__ import annotations

import bpy
from hand import Hand
from mathutils import Quaternion, Vector
from redo_scenarios import adjust
from scenarios import in_view, open_limb, rig, select

AWAY = 0.5
"""Where the witness, keyed at 0, is put without a key."""

ANGLE = 0.5
"""How far, in radians, the upper bone is turned without a key."""


def soften() -> None:
    lower().planar_ik.softness = 0.1


def take_a_pole() -> None:
    lower().planar_ik.plane = "POLE"


def convert() -> None:
    goal = bpy.data.objects.new("goal", None)
    bpy.context.scene.collection.objects.link(goal)
    goal.location = (0.0, 0.0, 0.5)
    constraint = lower().constraints.new("IK")
    constraint.target, constraint.chain_count = goal, 2
    bpy.ops.pose.planar_ik_convert()


def fail() -> None:
    """Have the drivers fail, which the extension mends with the next edit of the armature."""
    for curve in rig().animation_data.drivers:
        curve.driver.is_valid = False
    bpy.ops.object.mode_set(mode="EDIT")
    rig().data.edit_bones["lower"].tail.z += 0.1
    bpy.ops.object.mode_set(mode="POSE")


ACTS = {
    "add": ("", bpy.ops.pose.planar_ik_add),
    "add with bones": ("", lambda: bpy.ops.pose.planar_ik_add(controls="BONE")),
    "add with a pole": ("", lambda: bpy.ops.pose.planar_ik_add(plane="POLE")),
    "add, keeping rotation": ("", lambda: bpy.ops.pose.planar_ik_add(keep_rotation=True)),
    "add, live": ("", lambda: bpy.ops.pose.planar_ik_add(runs_on="EXTENSION")),
    "convert": ("", convert),
    "on the rig": ("EXTENSION", bpy.ops.pose.planar_ik_make_portable),
    "live": ("RIG", bpy.ops.pose.planar_ik_make_live),
    "rebuild": ("RIG", bpy.ops.pose.planar_ik_rebuild),
    "remove": ("RIG", bpy.ops.pose.planar_ik_remove),
    "pole": ("RIG", bpy.ops.pose.planar_ik_pole),
    "flip": ("RIG", bpy.ops.pose.planar_ik_flip),
    "snap target": ("RIG", bpy.ops.pose.planar_ik_snap_target),
    "soften": ("RIG", soften),
    "plane": ("RIG", take_a_pole),
    "mend drivers": ("RIG", fail),
}
"""What is done, to a limb that runs on this."""


def acts_beside_what_has_no_key(hand: Hand):
    """Do each, and say where the witness is, how the upper bone is turned, and whether the window went to a frame."""
    found = {}
    yield from open_limb(hand)
    path = bpy.data.filepath
    for name, (runs_on, act) in ACTS.items():
        bpy.ops.wm.open_mainfile(filepath=path)
        yield
        add_foot()
        select("lower")
        if runs_on:
            bpy.ops.pose.planar_ik_add(runs_on=runs_on, keep_rotation=True)
        yield
        pose_without_keys()
        yield
        frames = []
        bpy.app.handlers.frame_change_post.append(lambda *_: frames.append(bpy.context.scene.frame_current))  # noqa: B023
        act()
        yield
        yield
        found[name] = {"witness": witness().location.x, "turn": upper().rotation_quaternion.angle, "frames": frames}
    return found


def add_foot() -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig().data.edit_bones
    foot = bones.new("foot")
    foot.head, foot.tail = bones["lower"].tail, bones["lower"].tail + Vector((0.0, -0.2, 0.0))
    foot.parent = bones["lower"]
    bpy.ops.object.mode_set(mode="POSE")


def pose_without_keys() -> None:
    """Key the upper bone and an object that has nothing to do with it, and then put both elsewhere."""
    ob = bpy.data.objects.new("witness", None)
    bpy.context.scene.collection.objects.link(ob)
    ob.keyframe_insert("location", frame=1)
    upper().keyframe_insert("rotation_quaternion", frame=1)
    ob.location.x = AWAY
    upper().rotation_quaternion = Quaternion((1, 0, 0), ANGLE)


def adds_from_the_menu(hand: Hand):
    """Add a limb from the menu, which ends in Object Mode, by a pose without keys; undo it, redo it and adjust it."""
    yield from open_limb(hand)
    yield from hand.click(hand.limb_on_screen())
    upper().keyframe_insert("rotation_quaternion", frame=1)
    upper().rotation_quaternion = Quaternion((1, 0, 0), ANGLE)
    bpy.ops.ed.undo_push(message="Turn the bone")
    yield
    found = [shown()]
    yield from hand.choose("Add Planar IK")
    found.append(shown())
    yield from hand.key("Z", ctrl=True)
    found.append(shown())
    yield from hand.key("Z", ctrl=True, shift=True)
    found.append(shown())
    yield from hand.key("Z", ctrl=True)
    yield from hand.choose("Add Planar IK")
    adjust(hand, "runs_on", "EXTENSION")
    yield
    found.append(shown())
    return found


def adjusts_switch(hand: Hand):
    """Switch to IK from a pose that the knee's limits keep the limb from, and have it be to FK instead; and to FK at
    once."""
    yield from open_limb(hand)
    yield from hand.click(hand.limb_on_screen())
    bpy.ops.pose.planar_ik_add()
    lower().planar_ik.max_angle = 2.0
    lower().planar_ik.target.location.z += 0.3
    lower().planar_ik.influence = 0.0
    bpy.ops.ed.undo_push(message="Straighten")
    yield
    yield from hand.choose("Switch FK/IK")
    found = [shown()]
    adjust(hand, "to", "FK")
    yield
    found.append(shown())
    yield from hand.to_the_middle()
    yield from hand.key("Z", ctrl=True)
    with bpy.context.temp_override(**in_view(hand)):
        bpy.ops.pose.planar_ik_switch("EXEC_DEFAULT", True, to="FK")
    yield
    found.append(shown())
    return found


def shown() -> dict:
    """Where the joints are, how the upper bone is turned, and what became of the chain."""
    posed = rig().evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["lower"]
    chain = lower().planar_ik
    return {"joints": [*posed.head, *posed.tail], "turn": upper().rotation_quaternion.angle,
            "chain": [chain.enabled, chain.influence, chain.message]}  # fmt: skip


def undoes_over_frames(hand: Hand):
    """Go to another frame of a keyed bone, rebuild, turn the bone without a key, and rebuild; undo all of it and
    redo it."""
    yield from open_limb(hand)
    yield from hand.click(hand.limb_on_screen())
    bpy.ops.pose.planar_ik_add()
    for frame, angle in ((1, 0.0), (2, 1.0)):
        upper().rotation_quaternion = Quaternion((1, 0, 0), angle)
        upper().keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_set(1)
    bpy.ops.ed.undo_push(message="Animate the bone")
    yield
    yield from hand.key("RIGHT_ARROW")
    done = [turned()]
    yield from hand.choose("Rebuild on the Rig")
    done.append(turned())
    upper().rotation_quaternion = Quaternion((1, 0, 0), ANGLE)
    bpy.ops.ed.undo_push(message="Turn the bone")
    yield
    done.append(turned())
    yield from hand.choose("Rebuild on the Rig")
    done.append(turned())
    found = {"done": done, "undone": [], "redone": []}
    for way, held in (("undone", {}), ("redone", {"shift": True})):
        for _ in done[1:]:
            yield from hand.key("Z", ctrl=True, **held)
            found[way].append(turned())
    return found


def turned() -> list[float]:
    """The frame, and by which angle the upper bone is turned."""
    return [bpy.context.scene.frame_current, upper().rotation_quaternion.angle]


def witness():
    return bpy.data.objects["witness"]


def lower():
    return rig().pose.bones["lower"]


def upper():
    return lower().parent
