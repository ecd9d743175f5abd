"""The scout, a small robot of the pictures: two arms and two legs, straight at rest, as many characters come.

It looks to -Y, and its left is +X, as Blender has it; its bones have the names that riggers give. Nothing poses it yet.
"""

from __future__ import annotations

from itertools import pairwise
from math import atan2

from bpy.types import Armature, Collection, Object
from mathutils import Matrix, Vector

from .clay import BRASS, CREAM, DARK, LAMP, PUPIL, RUBBER, SPARK, WHITE, Clay, along, paint
from .creature import add_bone, dress, new_rig

HONEY = "Honey", (0.93, 0.50, 0.035), 0.3, 0.0, 0.8
PACK = "Pack", (0.02, 0.30, 0.30), 0.4, 0.0, 0.4
BLUSH = "Scout's Blush", (0.90, 0.22, 0.10), 0.6

LEG = (0.125, 0.0, 0.83), (0.125, 0.0, 0.47), (0.125, 0.0, 0.11), (0.143, -0.13, 0.04), (0.158, -0.24, 0.04)
"""Hip, knee, ankle, ball and tip of the left foot."""

ARM = (0.26, 0.0, 1.25), (0.43, 0.0, 1.08), (0.60, 0.0, 0.91), (0.70, 0.0, 0.81)
"""Shoulder, elbow, wrist and finger tips of the left arm."""

LEGS, ARMS = ("thigh", "shin", "foot", "toe"), ("upper_arm", "forearm", "hand")
FACE = Vector((0.0, 0.0, 1.56)), Vector((0.27, 0.235, 0.225))
"""The middle and the half axes of the head."""


def build(name: str, collection: Collection) -> Object:
    """The armature with the scout's mesh on it, standing at the origin."""
    rig = new_rig(name, collection, _bones)
    dress(rig, _skin())
    return rig


def joints(letter: str) -> tuple[list[Vector], list[Vector]]:
    """Those of the leg and of the arm on the side L or R."""
    side = Vector((1.0 if letter == "L" else -1.0, 1.0, 1.0))
    return [Vector(place) * side for place in LEG], [Vector(place) * side for place in ARM]


def _bones(armature: Armature) -> None:
    root = add_bone(armature, "root", Vector(), Vector((0.0, 0.35, 0.0)))
    hips = add_bone(armature, "hips", Vector((0.0, 0.0, 0.84)), Vector((0.0, 0.0, 1.0)), root)
    chest = add_bone(armature, "chest", Vector((0.0, 0.0, 1.0)), Vector((0.0, 0.0, 1.34)), hips)
    add_bone(armature, "head", Vector((0.0, 0.0, 1.36)), Vector((0.0, 0.0, 1.78)), chest)
    for letter in "LR":
        for names, places, above in zip((LEGS, ARMS), joints(letter), (hips, chest), strict=True):
            bone = above
            for i, name in enumerate(names):
                bone = add_bone(armature, f"{name}.{letter}", places[i], places[i + 1], bone)
                bone.use_connect = i > 0
    for bone in armature.edit_bones:
        bone.align_roll((0.0, -1.0, 0.0) if abs(bone.y_axis.z) > 0.5 else (0.0, 0.0, 1.0))


def _skin() -> Clay:
    clay = Clay()
    _shape_body(clay)
    _shape_head(clay)
    for letter in "LR":
        leg, arm = joints(letter)
        _shape_leg(clay, letter, leg)
        _shape_arm(clay, letter, arm)
    return clay


def _shape_body(clay: Clay) -> None:
    honey, cream, dark, brass = paint(*HONEY), paint(*CREAM), paint(*DARK), paint(*BRASS)
    clay.ball((0.0, 0.0, 0.88), (0.185, 0.145, 0.11), dark, "hips")
    clay.band((0.0, 0.0, 0.945), (0.0, 0.0, 1.0), (0.175, 0.022), brass, "hips")
    middle, radii = Vector((0.0, 0.0, 1.15)), Vector((0.245, 0.20, 0.235))
    clay.ball(middle, radii, honey, "chest")
    clay.ball(middle + Vector((0.0, -0.045, -0.015)), (0.19, 0.172, 0.185), cream, "chest")
    clay.band(middle + Vector((0.0, -0.205, 0.03)), (0.0, -1.0, 0.12), (0.045, 0.014), brass, "chest")
    clay.ball(middle + Vector((0.0, -0.213, 0.031)), (0.032, 0.02, 0.032), paint(*LAMP), "chest")
    clay.ball((0.0, 0.20, 1.16), (0.155, 0.11, 0.17), paint(*PACK), "chest")
    clay.limb((-0.16, 0.22, 1.33), (0.16, 0.22, 1.33), (0.05, 0.05), cream, "chest")
    clay.limb((0.0, 0.0, 1.33), (0.0, 0.0, 1.40), (0.085, 0.085), dark, "chest")
    clay.band((0.0, 0.0, 1.375), (0.0, 0.0, 1.0), (0.10, 0.016), brass, "chest")


def _shape_head(clay: Clay) -> None:
    honey, cream, dark, brass = paint(*HONEY), paint(*CREAM), paint(*DARK), paint(*BRASS)
    middle, radii = FACE
    clay.ball(middle, radii, honey, "head")
    clay.ball(middle + Vector((0.0, -0.045, -0.01)), (0.225, 0.205, 0.175), cream, "head")
    for sign in (1.0, -1.0):
        eye = middle + Vector((0.098 * sign, -0.175, 0.035))
        gaze = Vector((0.05 * sign, -1.0, -0.02)).normalized()
        clay.ball(eye, (0.088, 0.075, 0.095), paint(*WHITE), "head")
        clay.ball(eye + 0.050 * gaze, (0.054, 0.054, 0.034), paint(*PUPIL), "head", along((0.0, 0.0, 0.0), gaze))
        clay.ball(eye + 0.082 * gaze + Vector((0.022, 0.0, 0.026)), (0.015, 0.01, 0.015), paint(*SPARK), "head")
        clay.ball(middle + Vector((0.158 * sign, -0.178, -0.062)), (0.036, 0.02, 0.026), paint(*BLUSH), "head")
        clay.band(middle + Vector((0.262 * sign, 0.01, 0.0)), (1.0, 0.0, 0.0), (0.075, 0.035), dark, "head")
        clay.band(middle + Vector((0.275 * sign, 0.01, 0.0)), (1.0, 0.0, 0.0), (0.045, 0.04), brass, "head")
    smile = [_on_face(0.075 * t, 0.03 * t * t - 0.105) for t in (-1.0, -0.6, -0.2, 0.2, 0.6, 1.0)]
    for start, end in pairwise(smile):
        clay.limb(start, end, (0.011, 0.011), dark, "head")
    top = middle + Vector((0.0, 0.02, radii.z - 0.01))
    clay.band(top, (0.0, 0.0, 1.0), (0.045, 0.018), brass, "head")
    clay.limb(top, top + Vector((0.0, 0.015, 0.11)), (0.014, 0.010), dark, "head")
    clay.ball(top + Vector((0.0, 0.018, 0.14)), (0.042, 0.042, 0.042), paint(*LAMP), "head")


def _on_face(aside: float, up: float) -> Vector:
    """A place on the face's plate."""
    middle, half = FACE[0] + Vector((0.0, -0.045, -0.01)), Vector((0.225, 0.205, 0.175))
    ahead = (1.0 - (aside / half.x) ** 2 - (up / half.z) ** 2) ** 0.5
    return middle + Vector((aside, -ahead * half.y, up))


def _shape_leg(clay: Clay, letter: str, places: list[Vector]) -> None:
    honey, cream, dark, brass = paint(*HONEY), paint(*CREAM), paint(*DARK), paint(*BRASS)
    hip, knee, ankle, ball, tip = places
    thigh, shin, foot, toe = (f"{name}.{letter}" for name in LEGS)
    across = Vector((1.0, 0.0, 0.0))
    clay.ball(hip, (0.088, 0.088, 0.088), dark, thigh)
    clay.limb(hip, knee, (0.045, 0.045), dark, thigh)
    clay.limb(hip.lerp(knee, 0.30), hip.lerp(knee, 0.76), (0.086, 0.068), honey, thigh)
    clay.band(knee, across, (0.068, 0.062), dark, thigh)
    clay.band(knee, across, (0.040, 0.073), brass, thigh)
    clay.limb(knee, ankle, (0.042, 0.042), dark, shin)
    clay.limb(knee.lerp(ankle, 0.28), knee.lerp(ankle, 0.72), (0.068, 0.058), cream, shin)
    clay.band(knee.lerp(ankle, 0.90), across.cross(Vector((0.0, 1.0, 0.0))), (0.066, 0.02), brass, shin)
    rubber = paint(*RUBBER)
    clay.limb(ankle, ankle + Vector((0.0, 0.0, -0.03)), (0.058, 0.062), rubber, foot)
    direction = (tip - ball).normalized()
    heel = Vector((ankle.x, 0.0, 0.055)) - 0.03 * direction
    clay.limb(heel, Vector((ball.x, ball.y, 0.058)) - 0.01 * direction, (0.055, 0.058), rubber, foot)
    turn = Matrix.Rotation(atan2(direction.x, -direction.y), 4, "Z")
    clay.ball(Vector((ball.x, ball.y, 0.053)) + 0.055 * direction, (0.074, 0.085, 0.053), honey, toe, turn)
    clay.ball(Vector((ball.x, ball.y, 0.026)) + 0.045 * direction, (0.082, 0.095, 0.026), rubber, toe, turn)


def _shape_arm(clay: Clay, letter: str, places: list[Vector]) -> None:
    honey, cream, dark, brass = paint(*HONEY), paint(*CREAM), paint(*DARK), paint(*BRASS)
    shoulder, elbow, wrist, tip = places
    upper, lower, hand = (f"{name}.{letter}" for name in ARMS)
    ahead = Vector((0.0, 1.0, 0.0))
    clay.ball(shoulder, (0.082, 0.082, 0.082), dark, upper)
    clay.limb(shoulder, elbow, (0.036, 0.036), dark, upper)
    clay.limb(shoulder.lerp(elbow, 0.36), shoulder.lerp(elbow, 0.72), (0.064, 0.054), honey, upper)
    clay.band(elbow, ahead, (0.052, 0.05), dark, upper)
    clay.band(elbow, ahead, (0.030, 0.058), brass, upper)
    clay.limb(elbow, wrist, (0.034, 0.034), dark, lower)
    clay.limb(elbow.lerp(wrist, 0.32), elbow.lerp(wrist, 0.68), (0.052, 0.056), cream, lower)
    clay.band(elbow.lerp(wrist, 0.90), wrist - elbow, (0.056, 0.018), brass, lower)
    direction = (tip - wrist).normalized()
    turn = along((0.0, 0.0, 0.0), direction)
    clay.ball(wrist + 0.055 * direction, (0.05, 0.062, 0.062), dark, hand, turn)
    for aside in (-0.034, 0.0, 0.034):
        start = wrist + 0.085 * direction + aside * ahead
        clay.limb(start, start + 0.045 * direction, (0.021, 0.019), honey, hand)
    thumb = wrist + 0.04 * direction - 0.05 * ahead
    clay.limb(thumb, thumb + 0.03 * direction - 0.035 * ahead, (0.021, 0.018), honey, hand)
