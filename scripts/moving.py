"""The moving picture of the README: a scout, and a bird on three bones, each with Blender's IK and with Planar IK.

Played in Blender's real window by scripts/pictures.py, one picture for each frame. All legs are asked for the same: to
squat, then to lift the left foot. What is written below each is measured in the pose that Blender evaluates.
"""

from __future__ import annotations

from math import cos, pi, sin
from typing import TYPE_CHECKING, Any, NamedTuple

from . import sample, studio

if TYPE_CHECKING:
    from tests.window.hand import Hand

SQUAT, STEP = 18, 22
"""Frames of a squat, and then of a step."""

TURN = -0.95
"""From where all are seen, in radians: from their right, somewhat from ahead."""

EXACT, BACK = 1e-3, 1e-2
"""Metres: how far off its target a foot is said to be off, and how far behind the line from hip to ankle a knee is said
to be bent back."""

GREEN, AMBER, RED = (0.10, 0.85, 0.16), (1.0, 0.60, 0.02), (1.0, 0.10, 0.06)
SIZE = 900, 590
"""What is taken of a view of about 960 x 610: software draws it in seconds a frame."""


class Player(NamedTuple):
    """One of the four: its rig, the bone of its hips, its foot controls with the last bones that are to be on them
    (the left one first), and the words below it."""

    rig: Any
    hips: str
    feet: dict[str, str]
    words: Any


def shows_legs(hand: Hand) -> Any:
    """Played inside Blender: every frame, and in which of them feet were off and knees bent back."""
    import bpy

    yield from studio.empty(hand)
    players = []
    for make, place, other in ((scout, -1.76, -0.77), (bird, 0.38, 1.65)):
        ours = make("Planar IK", other)
        players += [make("Blender's IK", place, ours), ours]
    for player in players:
        player.rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    space = studio.tidy(hand)
    bpy.context.scene.eevee.taa_samples = 4
    x, y, _ = studio.across(TURN, 0.22)
    studio.look_from(space, TURN, 0.12, (x, y, 0.91), 5.9)
    yield from studio.settle(45.0)  # Until all that shines is compiled, on a busy machine too.
    said = []
    for i in range(SQUAT + STEP):
        said.append([perform(player, i) for player in players])
        for _ in range(6):
            yield
        hand.picture(f"{i:02}", studio.middle(hand, *SIZE))
    return {"said": said}


def perform(player: Player, frame: int) -> str:
    """Put a player in a frame, and have said what became of its feet."""
    import bpy

    down = 0.11 * (1.0 - cos(2.0 * pi * frame / SQUAT)) if frame < SQUAT else 0.0
    share = sin(pi * max(0, frame - SQUAT) / STEP)
    studio.move(player.rig, player.hips, (0.0, 0.0, -down))
    ahead = player.rig.matrix_world.to_3x3().inverted().col[1] * (-0.32 * share * share)
    lifted = next(iter(player.feet))
    studio.move(player.rig, lifted, (ahead.x, ahead.y, 0.27 * share))
    bpy.context.view_layer.update()
    now = player.rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    worst, is_back = 0.0, False
    for control, last in player.feet.items():
        shin, foot = now.pose.bones[last], now.pose.bones[control]
        missed = (shin.tail - foot.head).length
        worst = max(worst, missed)
        show(player.rig.pose.bones[control], GREEN if missed < EXACT else RED)
        line = now.pose.bones[last.replace("shin", "thigh")].head.lerp(shin.tail, 0.5)
        is_back = is_back or (last.startswith("shin") and shin.head.y > line.y + BACK)
    words, colour = ("on target", GREEN)
    if worst >= EXACT:
        words, colour = f"{100.0 * worst:.0f} cm off", RED
    elif is_back:
        words, colour = "knee bends back", AMBER
    player.words.data.body = words
    light(player.words, colour)
    return words


def show(control: Any, colour: tuple[float, float, float]) -> None:
    """Colour a control."""
    control.color.palette = "CUSTOM"
    for state in ("normal", "select", "active"):
        setattr(control.color.custom, state, colour)


def light(words: Any, colour: tuple[float, float, float]) -> None:
    """Colour what is written."""
    from .demo.clay import paint

    words.data.materials.clear()
    words.data.materials.append(paint(f"Words {colour}", colour, glow=1.0))


def scout(label: str, place: float, drawn_as: Player | None = None) -> Player:
    """A scout whose legs are on Planar IK; or on Blender's constraint, with controls as another player has them."""
    import bpy

    from .demo import scout as kind

    rig = kind.build(label, bpy.context.scene.collection)
    rig.location = studio.across(TURN, place)
    bpy.context.view_layer.objects.active = rig
    feet = {"foot_ik.L": "shin.L", "foot_ik.R": "shin.R"}
    if drawn_as:
        give_constraints(rig, feet, drawn_as.rig, 2)
    else:
        bpy.ops.object.mode_set(mode="POSE")
        sample.select(rig, *feet.values())
        bpy.ops.pose.planar_ik_add(plane="FREE")
    for name, sign in (("upper_arm.L", 1.0), ("upper_arm.R", -1.0)):
        studio.turn(rig, name, (0.0, 0.42 * sign, 0.0))
    studio.turn(rig, "head", (0.0, 0.0, -0.45))
    return Player(rig, "hips", feet, finish(rig, label, place, feet))


def bird(label: str, place: float, drawn_as: Player | None = None) -> Player:
    """The bird of the demo, likewise."""
    import bpy

    from .demo import bird as kind
    from .demo import creature

    rig = creature.build(kind.BIRD, bpy.context.scene.collection)
    rig.location, rig.rotation_euler.z = studio.across(TURN, place), -pi / 2.0
    bpy.context.view_layer.update()
    if drawn_as:
        feet = drawn_as.feet
        bpy.context.view_layer.objects.active = rig
        give_constraints(rig, feet, drawn_as.rig, 3)
    else:
        studio.add_everywhere(rig, plane="FREE")
        limbs = {bone.planar_ik.subtarget: bone.name for bone in rig.pose.bones if bone.planar_ik.enabled}
        feet = dict(sorted(limbs.items()))
        assert len(feet) == 2, feet
    return Player(rig, "body", feet, finish(rig, label, place, feet))


def give_constraints(rig: Any, feet: dict[str, str], drawn_as: Any, bones: int) -> None:
    """Blender's constraint as one adds it: so many bones, no pole, and a foot that turns with its control."""
    import bpy

    bpy.ops.object.mode_set(mode="EDIT")
    for control in feet:
        bone, other = rig.data.edit_bones.new(control), drawn_as.data.bones[control]
        bone.tail, bone.matrix = (0.0, other.length, 0.0), other.matrix_local
    bpy.ops.object.mode_set(mode="POSE")
    sample.select(rig, *feet)  # As Add leaves them: they look alike.
    for control, last in feet.items():
        ik: Any = rig.pose.bones[last].constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count, ik.use_stretch = rig, control, bones, False
        for foot in rig.pose.bones[last].children:
            foot.bone.use_inherit_rotation = False  # The controls do not turn here.
        bone, other = rig.pose.bones[control], drawn_as.pose.bones[control]
        for name in ("", "_scale_xyz", "_translation", "_rotation_euler"):
            setattr(bone, f"custom_shape{name}", getattr(other, f"custom_shape{name}"))
        bone.use_custom_shape_bone_size = other.use_custom_shape_bone_size


def finish(rig: Any, label: str, place: float, feet: dict[str, str]) -> Any:
    """Leave no bone to be seen but the controls of feet, put a stand below, and write what it is; give what else is
    written there."""
    import bpy

    studio.hide(rig, *(bone.name for bone in rig.pose.bones if bone.name not in feet))
    for name in feet:
        rig.pose.bones[name].custom_shape_wire_width = 4.0
    bpy.ops.object.mode_set(mode="OBJECT")
    studio.put_stand(rig.location)
    studio.write(label, TURN, studio.across(TURN, place), 2.17, 0.16)
    return studio.write("on target", TURN, studio.across(TURN, place), -0.45, 0.15)
