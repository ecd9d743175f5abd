"""The bird, with two legs of three bones: a zigzag of thigh, shin and metatarsal, in a plane that swings with the foot.

Its toes are turned as the target is, so that they lie on the ground, and roll on their ball as a foot pushes off.
"""

from __future__ import annotations

from math import pi, sin
from typing import Any

from bpy.types import Armature, Object
from mathutils import Matrix, Vector

from .clay import BRASS, CREAM, DARK, LAMP, PUPIL, RUBBER, SPARK, WHITE, Clay, along, paint
from .creature import Creature, add_bone
from .gait import Leg

RIDE = 0.96
LEG = (0.0, 0.0), (0.20, -0.22), (-0.15, -0.59), (0.02, -0.96), (0.22, -0.96)
"""The height of the hips, and the joints of a leg at rest, ahead and up: the tip is below the hip."""

TOES = (0.22, 0.0), (0.18, 0.11), (0.18, -0.11), (-0.11, 0.0)
NECK = Vector((0.30, 0.0, 0.20)), Vector((0.40, 0.0, 0.50)), Vector((0.44, 0.0, 0.66))
TEAL = "Teal", (0.015, 0.27, 0.33), 0.3, 0.0, 0.8


def legs() -> list[tuple[Leg, list[Vector]]]:
    """Both legs."""
    both = (Leg("L", LEG[3][0], 0.19, 0.75), Leg("R", LEG[3][0], -0.19, 0.25))
    return [(leg, [Vector((x, leg.y, z)) for x, z in LEG]) for leg in both]


def _attach(rig: Object, name: str, target: Object) -> None:
    """Let a leg follow its target, and its toes turn with it and roll."""
    ik = rig.pose.bones[f"metatarsal_{name}"].planar_ik
    target.rotation_euler.z = -pi / 2.0  # its Y axis ahead, as that of the toes
    ik.chain_count, ik.target, ik.plane = 3, target, "FREE"
    ik.roll = 0.0


def _fidget(rig: Object, frame: int) -> None:
    """Let the neck thrust at each step, and the head look ahead all the same."""
    step, bones = 4.0 * pi * frame / 22.0, rig.pose.bones
    nod, gaze = 0.10 * sin(step + 0.8), 0.30 * sin(0.06 * frame + 0.6)
    bones["neck"].rotation_euler = (nod, 0.0, 0.0)
    bones["head"].rotation_euler = (-nod, 0.0, gaze - 0.25)
    bones["tail"].rotation_euler = (0.08 * sin(step), 0.0, 0.10 * sin(step / 2.0))


def _bones(armature: Armature) -> Any:
    up = Vector((0.0, 0.0, RIDE))
    body = add_bone(armature, "body", up + Vector((-0.3, 0.0, 0.0)), up + Vector((0.3, 0.0, 0.0)))
    add_bone(armature, "tail", up + Vector((-0.25, 0.0, 0.14)), up + Vector((-0.7, 0.0, 0.26)), body)
    neck = add_bone(armature, "neck", up + NECK[0], up + NECK[2], body)
    add_bone(armature, "head", up + NECK[2], up + NECK[2] + Vector((0.3, 0.0, 0.0)), neck)
    return body


def _make_skin() -> Clay:
    clay, teal, cream, dark = Clay(), paint(*TEAL), paint(*CREAM), paint(*DARK)
    tilt = Matrix.Rotation(-0.22, 4, "Y")
    clay.ball((0.0, 0.0, 0.12), (0.42, 0.245, 0.25), teal, "body", tilt)
    clay.ball((0.05, 0.0, 0.06), (0.38, 0.225, 0.22), cream, "body", tilt)
    for aside in (-0.08, 0.0, 0.08):
        clay.limb((-0.28, 0.7 * aside, 0.16), (-0.7, 1.7 * aside, 0.28 - abs(aside)), (0.07, 0.045), teal, "tail")
    clay.limb(NECK[0], NECK[1], (0.085, 0.055), dark, "neck")
    clay.limb(NECK[1], NECK[2], (0.055, 0.05), dark, "neck")
    for share, radius in ((0.3, 0.088), (0.6, 0.08), (0.9, 0.072)):
        clay.band(NECK[0].lerp(NECK[1], share), NECK[1] - NECK[0], (radius, 0.018), paint(*BRASS), "neck")
    _shape_head(clay)
    for leg, joints in legs():
        _shape_leg(clay, leg.name, *joints[:4])
    return clay


def _shape_head(clay: Clay) -> None:
    middle = NECK[2] + Vector((0.06, 0.0, 0.08))
    clay.ball(middle, (0.19, 0.165, 0.16), paint(*TEAL), "head")
    beak = middle + Vector((0.15, 0.0, -0.03)), middle + Vector((0.42, 0.0, -0.09))
    clay.limb(*beak, (0.062, 0.014), paint(*LAMP), "head")
    for sign in (1.0, -1.0):
        eye = middle + Vector((0.085, 0.095 * sign, 0.06))
        gaze = Vector((0.8, 0.52 * sign, 0.1)).normalized()
        clay.ball(eye, (0.092, 0.092, 0.097), paint(*WHITE), "head")
        clay.ball(eye + 0.064 * gaze, (0.056, 0.056, 0.036), paint(*PUPIL), "head", along((0.0, 0.0, 0.0), gaze))
        clay.ball(eye + 0.092 * gaze + Vector((0.0, -0.02, 0.026)), (0.014, 0.014, 0.014), paint(*SPARK), "head")
    for i in range(3):
        start = middle + Vector((-0.03 - 0.05 * i, 0.0, 0.13 - 0.02 * i))
        clay.limb(start, start + Vector((-0.07 - 0.05 * i, 0.0, 0.17 - 0.05 * i)), (0.02, 0.03), paint(*LAMP), "head")


def _shape_leg(clay: Clay, name: str, hip: Vector, knee: Vector, hock: Vector, tip: Vector) -> None:
    teal, cream, dark, brass = paint(*TEAL), paint(*CREAM), paint(*DARK), paint(*BRASS)
    thigh, shin, meta = f"thigh_{name}", f"shin_{name}", f"metatarsal_{name}"
    clay.ball(hip, (0.12, 0.07, 0.12), dark, thigh)
    clay.limb(hip, knee, (0.115, 0.062), teal, thigh)
    clay.limb(knee, hock, (0.04, 0.035), dark, shin)
    clay.limb(knee.lerp(hock, 0.14), knee.lerp(hock, 0.68), (0.068, 0.046), cream, shin)
    clay.limb(hock, tip.lerp(hock, 0.11), (0.035, 0.032), dark, meta)
    clay.limb(hock.lerp(tip, 0.2), hock.lerp(tip, 0.7), (0.046, 0.04), teal, meta)
    for joint, size, bone in ((knee, 0.070, thigh), (hock, 0.055, shin)):
        clay.band(joint, (0.0, 1.0, 0.0), (size, size * 0.9), dark, bone)
        clay.band(joint, (0.0, 1.0, 0.0), (size * 0.6, size * 1.1), brass, bone)
    root = tip + Vector((0.0, 0.0, 0.04))
    clay.ball(root, (0.05, 0.05, 0.042), brass, f"toes_{name}")
    for ahead, aside in TOES:
        clay.limb(root, tip + Vector((ahead, aside, 0.028)), (0.034, 0.028), paint(*RUBBER), f"toes_{name}")


BIRD = Creature(
    name="Bird",
    ride=RIDE,
    parts=("thigh", "shin", "metatarsal", "toes"),
    legs=legs(),
    bones=_bones,
    make_skin=_make_skin,
    attach=_attach,
    fidget=_fidget,
)
