"""The steps of README's first limb as a person does them: a bone is clicked, the menu opened, a control dragged.

Played in Blender's real window by scripts/pictures.py, on nothing but the installed zip and a character without IK.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import studio

if TYPE_CHECKING:
    from tests.window.hand import Hand

TURN = -0.62
TO_ADD = ("HOME", *["DOWN_ARROW"] * 12, "RIGHT_ARROW", *["DOWN_ARROW"] * 2, "RIGHT_ARROW")
"""The way through the Pose menu of Blender 5.2: Inverse Kinematics, then, after Blender's own two, Planar IK."""


def shows_steps(hand: Hand) -> Any:
    """Click the shin, choose Add in the menu, see what it made, press G and move the mouse."""
    import bpy

    from .demo import scout

    yield from studio.empty(hand)
    rig = scout.build("Scout", bpy.context.scene.collection)
    rig.show_in_front, rig.data.display_type = True, "STICK"
    bpy.ops.object.mode_set(mode="POSE")
    studio.hide(rig, "root")
    space = studio.tidy(hand)
    space.show_region_header = True
    studio.look_from(space, TURN, 0.16, (0.28, 0.0, 0.99), 3.85)
    yield from studio.settle()
    yield from hand.click(hand.on_screen(rig.pose.bones["shin.L"].center))
    findings: dict[str, Any] = {"clicked": bpy.context.active_pose_bone.name}
    yield from shot(hand, "1")
    x, y, _, height = hand.place_of_view()
    yield from hand.move((x + 40, y + height - 40))
    area, region = hand.view()
    with bpy.context.temp_override(window=hand.window, area=area, region=region):
        bpy.ops.wm.call_menu(name="VIEW3D_MT_pose")
    yield
    yield from hand.keys(*TO_ADD)
    yield from shot(hand, "2")
    yield from hand.key("RET")
    findings["added"] = [bone.name for bone in rig.pose.bones if bone.planar_ik.enabled]
    yield from shot(hand, "3")
    findings["selected"] = [bone.name for bone in bpy.context.selected_pose_bones]
    yield from hand.move(hand.on_screen(rig.pose.bones["foot_ik.L"].head))
    x, y = hand.mouse
    yield from hand.key("G")
    for step in range(1, 9):
        yield from hand.move((x + 6 * step, y + 9 * step))
    yield from shot(hand, "4")
    yield from hand.key("LEFTMOUSE")
    findings["message"] = rig.pose.bones["shin.L"].planar_ik.message
    return findings


def shot(hand: Hand, name: str) -> Any:
    """Wait until all is drawn, and take the view with what is over it."""
    yield from studio.settle(3.0)
    x, y, width, height = hand.place_of_view()
    hand.picture(name, (x, y, width, height + 30))
