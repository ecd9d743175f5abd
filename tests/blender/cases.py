"""Limbs of every kind: one strategy, seeded, in which each pair of features occurs together somewhere."""

from __future__ import annotations

import random
from itertools import combinations
from math import pi
from typing import Any

import bpy
from mathutils import Matrix, Vector

from scripts import installed
from tests.blender import oracle, rigs

FRAMES = (1, 2, 3, 4, 5)

CHOICES: dict[str, tuple[Any, ...]] = {
    "parents": ("PLAIN", "SCALED", "MIRRORED", "SHEARED"),
    "inherit": ("FULL", "NO ROTATION", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"),
    "bones": (2, 3, 4),
    "bends": ("TO AND FRO", "ANYHOW"),
    "ankle": (None, 0.4, "KEYED"),
    "order": ("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE"),
    "is_straight": (False, True),
    "has_twist": (False, True),
    "plane": ("HINGE", "FREE", "POLE", "SLIDE"),
    "flip": (False, True, "KEYED"),
    "swivel": (0.0, 2.5, -9.0, "KEYED"),
    "twist": (None, (0.7, -1.2, 2.0, 0.4), "KEYED"),
    "softness": (None, 0.1, 0.0),
    "stretch": (None, "LENGTH", "UNIFORM", "VOLUME"),
    "limits": ((0.0, pi), (0.6, 2.4)),
    "root_limits": (None, (-0.6, 0.9), (0.2, 2.5)),
    "influence": (1.0, 0.4, 0.0, "KEYED"),
    "target": ("EMPTY", "OWN BONE", "OTHER BONE"),
    "is_posed": (False, True),
    "is_moved": (False, True),
}

Case = dict[str, Any]


def pairs(choices: dict[str, tuple[Any, ...]] = CHOICES, seed: int = 1) -> list[Case]:
    """Few cases in which any two features occur together, in each of what they may be."""
    rng = random.Random(seed)
    names = [*choices]
    left = {(a, x, b, y) for a, b in combinations(names, 2) for x in choices[a] for y in choices[b]}
    # sorted, as the order of a set is another in each run
    left -= {pair for pair in sorted(left, key=repr) if pair not in _pairs(_case(choices, rng, pair), names)}
    found: list[Case] = []
    while left:
        tries = [_case(choices, rng, rng.choice(sorted(left, key=repr))) for _ in range(30)]
        best = max(tries, key=lambda case: len(left & _pairs(case, names)))
        left -= _pairs(best, names)
        found.append(best)
    return found


def _case(choices: dict[str, tuple[Any, ...]], rng: random.Random, pair: Any) -> Case:
    case = {name: rng.choice(given) for name, given in choices.items()}
    a, x, b, y = pair
    case |= {a: x, b: y}
    if case["root_limits"]:
        case |= {"plane": "HINGE", "bones": 2, "softness": None, "stretch": None}
    if case["plane"] == "SLIDE":
        case |= {"bones": 2, "softness": None, "stretch": None, "limits": (0.0, pi), "inherit": "FULL"}
    if case["bones"] == 2:
        case |= {"ankle": None, "bends": "TO AND FRO"}
    else:
        case |= {"has_twist": False, "limits": (0.0, pi)}
    if case["is_straight"]:
        case["bends"] = "TO AND FRO"
    if case["is_moved"]:
        case["inherit"] = "FULL"
    rare = RARE if case["parents"] == "SHEARED" else {}
    return {**case, **rare, **({"stretch": None} if case["root_limits"] or case["plane"] == "SLIDE" else {})}


RARE = {"inherit": "FULL", "stretch": "UNIFORM"}
"""What limbs below uneven scale are here: whoever is aligned there, or lengthens unevenly, hangs on no one frame."""


def _pairs(case: Case, names: list[str]) -> set[Any]:
    return {(a, case[a], b, case[b]) for a, b in combinations(names, 2)}


def crowd(cases: list[Case]) -> list[Any]:
    """A file with a rig of one limb for each case; their last bones. While one is made, no other one is shown, and so
    none is evaluated."""
    scene = bpy.context.scene
    scene.planar_ik.live, made = False, []
    for i, case in enumerate(cases):
        made.append(limb(case, random.Random(i), f"rig {i}"))
        rigs.activate(made[-1].id_data, "OBJECT")
        bpy.context.view_layer.objects.active = None
        for ob in scene.objects:
            ob.hide_viewport = True
    for ob in scene.objects:
        ob.hide_viewport = False
    scene.planar_ik.live = True
    rigs.activate(made[0].id_data, "OBJECT")
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    scene.frame_set(FRAMES[0])
    return made


def limb(case: Case, rng: random.Random, name: str = "rig") -> Any:
    """A rig with a limb of this kind, made by a script: its last bone."""
    ob = rigs.random_limb(
        rng, case["is_straight"], case["parents"], case["has_twist"], case["bones"], anyhow=case["bends"] == "ANYHOW"
    )
    ob.name = name
    _with_controls(ob, rng, case)
    first, last = ob.pose.bones["upper"], ob.pose.bones["lower"]
    first.bone.use_inherit_rotation = case["inherit"] != "NO ROTATION"
    first.bone.inherit_scale = case["inherit"] if first.bone.use_inherit_rotation else "FULL"
    line = [first, *(bone for bone in ob.pose.bones if bone.name.startswith("middle")), last]
    for bone in (*line, ob.pose.bones["foot"]):
        bone.rotation_quaternion = rigs.turn(rng)
        bone.rotation_mode = case["order"]
    reference_rotations = [[*bone.matrix_basis.to_quaternion()] for bone in line]
    if len(line) > 2:  # in one plane
        reference_rotations[1:] = [[1.0, 0.0, 0.0, 0.0]] * (len(line) - 1)
    _make(last, case)
    _follow(ob, last, case, rng)
    if case["is_posed"]:
        oracle.keep(last, reference_rotations=[number for still in reference_rotations for number in still])
    for bone in line:
        bone.rotation_quaternion = rigs.turn(rng, 2.0) if case["order"] == "QUATERNION" else (1, 0, 0, 0)
    if case["is_moved"]:
        for frame in FRAMES:
            first.location = [rng.uniform(-0.3, 0.3) for _ in range(3)]
            first.keyframe_insert("location", frame=frame)
    return last


def _with_controls(ob: Any, rng: random.Random, case: Case) -> None:
    rigs.activate(ob, "EDIT")
    for name in ("target", "pole"):
        bone = ob.data.edit_bones.new(name)
        bone.head, bone.tail = [Vector([rng.uniform(-1, 1) for _ in range(3)]) for _ in range(2)]
        bone.parent = ob.data.edit_bones["root"]
    bpy.ops.object.mode_set(mode="OBJECT")


KEYED = {"influence": (0.0, 1.0), "flip": (False, True), "swivel": (-3.0, 8.0), "ankle": (-0.6, 0.9)}
KEYED["twist"] = (-1.0, 0.5, 2.0, 0.0), (2.0, -3.0, 0.0, 1.0)
"""What sliders are keyed with at the first and last frame."""


def _make(last: Any, case: Case) -> None:
    """Make a limb as a script does, and set and key what the case says."""
    limb = last.planar_ik
    limb.enabled = True
    if case["bones"] > 2:
        limb.chain_count = case["bones"]
    if case["has_twist"]:
        installed.addon("limb.storage").make_limb(last, (2, 1))
    limb.plane = case["plane"]
    limb.min_angle, limb.max_angle = case["limits"]
    if case["root_limits"]:
        limb.root_min_angle, limb.root_max_angle = case["root_limits"]
    if case["softness"] is not None:
        limb.softness = case["softness"]
    if case["stretch"]:
        limb.stretch_volume, limb.stretch_max, limb.stretch = case["stretch"], 1.5, 1.0
    _slide(last, case)


def _slide(last: Any, case: Case) -> None:
    """Set and key what animates."""
    for name, ends in KEYED.items():
        if case[name] is None:
            continue
        given: Any = ends if case[name] == "KEYED" else (case[name],)
        for frame, value in zip((FRAMES[0], FRAMES[-1]), given, strict=False):
            setattr(last.planar_ik, name, value[: case["bones"]] if name == "twist" else value)
            if case[name] == "KEYED":
                last.keyframe_insert(f'["IK {name.title()}"]', frame=frame)


def _follow(ob: Any, last: Any, case: Case, rng: random.Random) -> None:
    """Keyed targets around the limb, from near to far; and a pole, in one plane of which the limb has the other two."""
    names = ("target", "pole")[: 1 + (case["plane"] == "POLE")]
    holder = ob
    if case["target"] == "OTHER BONE":
        holder = rigs.rig(dict.fromkeys(names, ((0, 0, 0), (0, 0, 0.3), "")), name=f"holder of {ob.name}")
        holder.matrix_world = Matrix.LocRotScale(Vector((0.3, -0.2, 0.4)), rigs.turn(rng), Vector((1.2, 0.9, 1.1)))
    bpy.context.view_layer.update()
    root = ob.matrix_world @ ob.pose.bones["upper"].head
    length = sum((ob.matrix_world.to_3x3() @ ob.pose.bones[name].vector).length for name in ("upper", "lower"))
    for name in names:
        if case["target"] == "EMPTY":
            followed = bpy.data.objects.new(f"{name} of {ob.name}", None)
            bpy.context.collection.objects.link(followed)
            owner, bone = followed, ""
        else:
            followed, bone = holder, name
            owner = holder.pose.bones[name]
        setattr(last.planar_ik, "target" if name == "target" else "pole_target", followed)
        setattr(last.planar_ik, "subtarget" if name == "target" else "pole_subtarget", bone)
        for i, frame in enumerate(FRAMES):
            way = rigs.turn(rng, pi) @ Vector((0, 0, 1))
            rigs.put(owner, root + way * length * (0.1, 0.5, 0.85, 1.05, 1.6)[i])
            owner.keyframe_insert("location", frame=frame)
