"""The still pictures of the guides and of the extension's page: a character on one press of Add, in Blender's window.

Played by scripts/pictures.py; the moving one is in scripts/moving.py, the steps of README in scripts/first_limb.py.
"""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Any

from . import sample, studio

if TYPE_CHECKING:
    from tests.window.hand import Hand

TURN = -0.5
"""From where the scout is seen, in radians: from ahead, somewhat from its right."""


def shows_first(hand: Hand) -> Any:
    """All limbs by one press of Add, the left foot lifted by its control, which is selected."""
    yield from studio.empty(hand, 2.0)
    rig, space = pose(hand)
    studio.look_from(space, TURN, 0.14, (-0.03, 0.0, 0.93), 4.0)
    yield from studio.settle()
    hand.picture("picture", studio.middle(hand, 1600, 1280))
    return {name: rig.pose.bones[name].planar_ik.message for name in ("shin.L", "shin.R", "forearm.L", "forearm.R")}


def shows_overlay(hand: Hand) -> Any:
    """The left leg between FK and IK with its overlay; then its panel."""
    yield from studio.empty(hand, 2.0)
    rig, space = pose(hand)
    sample.select(rig, "shin.L")
    ik = rig.pose.bones["shin.L"].planar_ik
    ik.softness, ik.influence = 0.06, 0.4
    studio.look_from(space, TURN - 0.4, 0.28, (0.12, -0.25, 0.56), 2.55)
    yield from studio.settle()
    hand.picture("picture", studio.middle(hand, 1600, 1280))
    space.shading.type, ik.influence = "SOLID", 1.0
    yield from hand.open_sidebar()
    yield from studio.close_panel(hand)
    yield from studio.settle()
    region = hand.sidebar()[1]
    hand.picture("panel", (region.x, region.y, region.width, region.height))
    return {}


def shows_still(hand: Hand) -> Any:
    """For the extension's page: the scout and the bird of the demo with all their controls, and the name."""
    import bpy

    from .demo import bird, creature

    yield from studio.empty(hand, 4.0)
    rig, space = pose(hand)
    bpy.ops.object.mode_set(mode="OBJECT")
    other = creature.build(bird.BIRD, bpy.context.scene.collection)
    other.location, other.rotation_euler.z = studio.across(TURN, 1.3), -pi / 2.0
    bpy.context.view_layer.update()
    studio.add_everywhere(other)
    studio.move(other, "body", (0.0, 0.0, -0.06))
    studio.move(other, "toes_ik_L", (0.20, 0.04, 0.22), (0.0, 0.35, 0.0))
    studio.hide(other, "head", "toes_L", "toes_R")
    other.data.display_type = "STICK"
    bpy.ops.object.mode_set(mode="OBJECT")
    for one in (other, rig):
        studio.put_stand(one.location, 0.5)
        one.select_set(True)
        bpy.context.view_layer.objects.active = one
    bpy.ops.object.mode_set(mode="POSE")
    sample.select(rig, "foot_ik.L")
    studio.write("Planar IK", TURN, studio.across(TURN, -1.5), 1.14, 0.36)
    studio.write("Exact IK for legs and arms", TURN, studio.across(TURN, -1.5), 0.92, 0.125)
    x, y, _ = studio.across(TURN, -0.06)
    studio.look_from(space, TURN, 0.14, (x, y, 0.96), 4.8)
    yield from studio.settle()
    hand.picture("picture", studio.middle(hand, 3840, 2160))
    return {}


def pose(hand: Hand) -> tuple[Any, Any]:
    """The scout with its limbs, a foot lifted and a hand that waves; give its rig and the view's space."""
    import bpy

    from .demo import scout

    rig = scout.build("Scout", bpy.context.scene.collection)
    studio.add_everywhere(rig)
    studio.hide(rig, "root", "hand.L", "hand.R")
    rig.data.display_type = "STICK"
    studio.move(rig, "hips", (0.0, 0.0, -0.035))
    studio.move(rig, "foot_ik.L", (0.02, -0.30, 0.26), (-0.25, 0.0, 0.0))
    studio.move(rig, "hand_ik.R", (0.03, -0.14, 0.55), (0.0, 0.66 * pi, 0.0))
    studio.move(rig, "hand_ik.L", (0.02, -0.10, 0.05))
    studio.turn(rig, "head", (0.0, 0.0, -0.22))
    sample.select(rig, "foot_ik.L")
    return rig, studio.tidy(hand)
