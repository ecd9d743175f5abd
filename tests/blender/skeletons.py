"""Skeletons as strangers bring them: names, where bones begin and end; and the arms and legs that a person points at.
Facts of kinds of rigs only, nobody's files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
from mathutils import Quaternion, Vector

from tests.blender import rigs

Bones = dict[str, tuple[Any, Any, str]]


def mirrored(bones: Bones, left: str = ".L", right: str = ".R") -> Bones:
    """Bones with those of the left side on the right as well."""
    swap = lambda name: name.replace(left, right)  # noqa: E731
    flip = lambda place: (-place[0], *place[1:])  # noqa: E731
    return bones | {swap(n): (flip(a), flip(b), swap(p)) for n, (a, b, p) in bones.items() if left in n}


def both(*segments: list[str], left: str = ".L", right: str = ".R") -> dict[str, list[list[str]]]:
    """A limb on both sides, by its last bone."""
    sides = [[[name.replace(left, side) for name in each] for each in segments] for side in (left, right)]
    return {each[-1][-1]: each for each in sides}


def mmd(*, twist: bool) -> Any:
    """As MMD Tools brings a model: arms in an A-pose, knees bent a little, twist bones in line, and the bones of IK
    beside them, sleeves, a skirt and hair."""
    shoulder, elbow, wrist = Vector((1.4, 0.1, 16.0)), Vector((3.6, 0.2, 14.2)), Vector((5.6, 0.1, 12.6))
    bones: Bones = {
        "全ての親": ((0, 0, 0), (0, 0, 1), ""), "センター": ((0, 0, 8), (0, 0, 9), "全ての親"),
        "グルーブ": ((0, 0, 8.2), (0, 0, 9), "センター"), "腰": ((0, 0.2, 12), (0, 0.2, 13), "グルーブ"),
        "下半身": ((0, 0, 12.6), (0, 0.1, 11), "腰"), "上半身": ((0, 0, 12.6), (0, 0, 14), "腰"),
        "上半身2": ((0, 0, 14), (0, 0, 16.4), "上半身"), "首": ((0, 0.2, 16.4), (0, 0.1, 17.2), "上半身2"),
        "頭": ((0, 0.1, 17.2), (0, 0.1, 19), "首"), "両目": ((0, 0, 21), (0, 0, 21.5), "頭"),
        "目.L": ((0.4, -0.6, 18), (0.4, -1, 18), "頭"),
        "肩P.L": ((0.2, 0.1, 16.1), (0.2, 0.1, 16.9), "上半身2"), "肩.L": ((0.2, 0.1, 16.1), shoulder, "肩P.L"),
        "肩C.L": (shoulder, shoulder + Vector((0, 0, 0.8)), "肩.L"), "腕.L": (shoulder, elbow, "肩C.L"),
        "ひじ.L": (elbow, wrist, "腕.L"), "手首.L": (wrist, wrist + Vector((0.5, 0, -0.4)), "ひじ.L"),
        "親指０.L": ((5.8, -0.3, 12.5), (6.0, -0.6, 12.3), "手首.L"),
        "親指１.L": ((6.0, -0.6, 12.3), (6.2, -0.8, 12.1), "親指０.L"),
        "人指１.L": ((6.3, 0, 12.1), (6.5, 0, 11.9), "手首.L"),
        "人指２.L": ((6.5, 0, 11.9), (6.7, 0, 11.7), "人指１.L"),
        "中指１.L": ((6.3, 0.2, 12.1), (6.5, 0.2, 11.9), "手首.L"),
        "中指２.L": ((6.5, 0.2, 11.9), (6.7, 0.2, 11.7), "中指１.L"),
        "足.L": ((0.9, 0, 11), (0.95, -0.1, 6.3), "下半身"), "ひざ.L": ((0.95, -0.1, 6.3), (0.95, 0.4, 1.3), "足.L"),
        "足首.L": ((0.95, 0.4, 1.3), (0.95, -0.9, 0.1), "ひざ.L"),
        "つま先.L": ((0.95, -0.9, 0.1), (0.95, -1.4, 0), "足首.L"),
        "足IK親.L": ((0.95, 0.4, 0), (0.95, 0.4, 1.3), "全ての親"),
        "足ＩＫ.L": ((0.95, 0.4, 1.3), (0.95, 1.7, 1.3), "足IK親.L"),
        "つま先ＩＫ.L": ((0.95, -0.9, 0.1), (0.95, -0.9, -1.2), "足ＩＫ.L"),
        "前髪１": ((0, -0.7, 19.5), (0, -1, 18.7), "頭"), "前髪２": ((0, -1, 18.7), (0, -1.1, 18), "前髪１"),
    }  # fmt: skip
    for k in range(4):  # twin tails and a skirt, longer than the arms
        bones[f"ツインテ{k}.L"] = (
            (1.2 + 0.2 * k, 0.4, 19 - 2 * k),
            (1.4 + 0.2 * k, 0.4, 17 - 2 * k),
            f"ツインテ{k - 1}.L" if k else "頭",
        )
    for k in range(3):
        bones[f"スカート_{k}_L.L"] = (
            (1 + 0.3 * k, -0.8, 12 - 1.5 * k),
            (1.3 + 0.3 * k, -0.8, 10.5 - 1.5 * k),
            f"スカート_{k - 1}_L.L" if k else "下半身",
        )
    if twist:
        for name, above, below, a, b in (
            ("腕捩.L", "腕.L", "ひじ.L", shoulder, elbow),
            ("手捩.L", "ひじ.L", "手首.L", elbow, wrist),
        ):
            bones[name] = (a.lerp(b, 0.6), a.lerp(b, 0.75), above)
            bones[below] = (*bones[below][:2], name)
            for k in (1, 2):  # what deforms in between
                bones[f"{name[:-2]}{k}.L"] = (a.lerp(b, 0.25 * k), a.lerp(b, 0.25 * k + 0.1), above)
    arm = [["腕.L", "腕捩.L"], ["ひじ.L", "手捩.L"]] if twist else [["腕.L"], ["ひじ.L"]]
    return sorted_rig(mirrored(bones)), both(*arm) | both(["足.L"], ["ひざ.L"])


def sorted_rig(bones: Bones) -> Any:
    """A rig whose bones are made parents first."""
    ordered: Bones = {}
    while len(ordered) < len(bones):
        ordered |= {n: b for n, b in bones.items() if n not in ordered and (not b[2] or b[2] in ordered)}
    return rigs.rig(ordered)


CESIUM = """
Skeleton_torso_joint_1 - 0 .005 .679 -.0268 -.0267 -.7066 -.7066
Skeleton_torso_joint_2 Skeleton_torso_joint_1 0 0 .1454 -.6573 -.0002 -.0001 -.7537
torso_joint_3 Skeleton_torso_joint_2 0 .2505 0 .6226 0 0 -.7825
Skeleton_neck_joint_1 torso_joint_3 0 0 .0648 -.6606 .0001 .0001 -.7507
Skeleton_neck_joint_2 Skeleton_neck_joint_1 0 .052 0 0 .9997 -.0249 0
Skeleton_arm_joint_L__4_ torso_joint_3 .091 0 0 .6797 .6897 -.227 -.1038
Skeleton_arm_joint_L__3_ Skeleton_arm_joint_L__4_ 0 .242 0 -.014 -.1294 -.2522 -.9589
Skeleton_arm_joint_L__2_ Skeleton_arm_joint_L__3_ 0 .1878 0 .0061 -.0423 -.0788 -.996
Skeleton_arm_joint_R torso_joint_3 -.091 0 0 .2964 .0315 -.6523 -.6969
Skeleton_arm_joint_R__2_ Skeleton_arm_joint_R 0 .242 0 -.1888 .9157 -.1678 -.3125
Skeleton_arm_joint_R__3_ Skeleton_arm_joint_R__2_ 0 .1878 0 -.0586 .2638 .0523 -.9614
leg_joint_L_1 Skeleton_torso_joint_1 .068 -.0285 -.063 .2476 -.5776 .7479 -.2139
leg_joint_L_2 leg_joint_L_1 0 .2661 0 .209 -.3299 -.0556 -.9189
leg_joint_L_3 leg_joint_L_2 0 .2758 0 .8477 -.0043 -.0095 -.5303
leg_joint_L_5 leg_joint_L_3 -.0023 -.0662 .0279 .0266 -.3201 .9445 .0681
leg_joint_R_1 Skeleton_torso_joint_1 -.068 -.0286 -.0629 -.0664 -.6115 .785 .0734
leg_joint_R_2 leg_joint_R_1 0 .2661 0 .2163 .1243 .0016 -.9684
leg_joint_R_3 leg_joint_R_2 0 .2758 0 .8473 -.0296 -.0209 -.5299
leg_joint_R_5 leg_joint_R_3 -.0015 -.0662 .0279 -.0373 -.3193 .9461 -.0404
"""
"""Khronos' walking man: name, parent, place and turn (x, y, z, w) in that, of each joint."""


def cesium_man() -> Any:
    """As Blender's importer leaves it: in the middle of a step, bones along their own Y."""
    worlds, bones = {"-": (Quaternion(), Vector())}, Bones()
    for line in CESIUM.strip().splitlines():
        name, parent, *numbers = line.split()
        x, y, z, i, j, k, w = map(float, numbers)
        turn, place = worlds[parent]
        worlds[name] = turn @ Quaternion((w, i, j, k)).normalized(), place + turn @ Vector((x, y, z))
        length = 0.1 if name.endswith(("_5", "L__2_", "R__3_", "neck_joint_2")) else 0.2
        head, ahead = worlds[name][1], worlds[name][0] @ Vector((0, length, 0))
        bones[name] = (head, head + ahead, "" if parent == "-" else parent)
    limbs = both(["leg_joint_L_1"], ["leg_joint_L_2"], left="_L_", right="_R_")
    arms = {
        f"Skeleton_arm_joint_{b}": [[f"Skeleton_arm_joint_{a}"], [f"Skeleton_arm_joint_{b}"]]
        for a, b in (("L__4_", "L__3_"), ("R", "R__2_"))
    }
    return rigs.rig(bones), limbs | arms


def body(
    names: dict[str, str] | None = None, between: Bones | None = None, more: Bones | None = None, y: float = 0.03
) -> Any:
    """A body with arms in an A-pose; its bones under other names, twist bones between, more on it."""
    bones: Bones = {
        "hips": ((0, 0, 1), (0, 0, 1.15), ""), "spine": ((0, 0, 1.15), (0, 0, 1.45), "hips"),
        "head": ((0, 0, 1.5), (0, 0, 1.75), "spine"),
        "thigh.L": ((0.1, 0, 1), (0.1, -y, 0.55), "hips"), "shin.L": ((0.1, -y, 0.55), (0.1, 0, 0.1), "thigh.L"),
        "foot.L": ((0.1, 0, 0.1), (0.1, -0.13, 0.02), "shin.L"),
        "toe.L": ((0.1, -0.13, 0.02), (0.1, -0.2, 0.02), "foot.L"),
        "upper.L": ((0.18, 0, 1.42), (0.38, y, 1.22), "spine"), "fore.L": ((0.38, y, 1.22), (0.56, 0, 1.04), "upper.L"),
        "hand.L": ((0.56, 0, 1.04), (0.63, 0, 0.97), "fore.L"),
    }  # fmt: skip
    for name, (head, tail, parent) in (between or {}).items():
        below = next(each for each, bone in bones.items() if bone[2] == parent and bone[0] == bones[parent][1])
        bones[name], bones[below] = (head, tail, parent), (*bones[below][:2], name)
    called = lambda name: (names or {}).get(name, name)  # noqa: E731
    bones = {called(n): (a, b, called(p)) for n, (a, b, p) in (mirrored(bones | (more or {}))).items()}
    return sorted_rig(bones)


def numbered() -> Any:
    """Legs and arms that are lines of one name with numbers, and a foot among them."""
    lines = {
        "thigh": "leg_1",
        "shin": "leg_2",
        "foot": "leg_3",
        "toe": "leg_4",
        "upper": "arm_1",
        "fore": "arm_2",
        "hand": "arm_3",
    }
    names = {f"{old}.{side}": f"{new}.{side}" for old, new in lines.items() for side in "LR"}
    return body(names), both(["leg_1.L"], ["leg_2.L"]) | both(["arm_1.L"], ["arm_2.L"])


def twisted() -> Any:
    """Twist bones in line, under names that say nothing."""
    between: Bones = {
        "bone_a.L": (Vector((0.18, 0, 1.42)).lerp(Vector((0.38, 0.03, 1.22)), 0.5), (0.38, 0.03, 1.22), "upper.L"),
        "bone_b.L": (Vector((0.38, 0.03, 1.22)).lerp(Vector((0.56, 0, 1.04)), 0.5), (0.56, 0, 1.04), "fore.L"),
    }
    return body(between=between), both(["upper.L", "bone_a.L"], ["fore.L", "bone_b.L"]) | both(["thigh.L"], ["shin.L"])


def captured() -> Any:
    """As Blender imports the captures of CMU: a hand has no length, fingers and thumb begin where it does."""
    wrist, knuckles = (0.56, 0, 1.04), (0.6, 0, 1.0)
    more: Bones = {
        "hand.L": (wrist, (0.56, 0, 1.046), "fore.L"), "fingerbase.L": (wrist, knuckles, "hand.L"),
        "HandIndex.L": (knuckles, (0.63, 0, 0.97), "fingerbase.L"), "thumb.L": (wrist, (0.59, -0.03, 1.04), "hand.L"),
    }  # fmt: skip
    names = {"upper.L": "leftarm.L", "upper.R": "rightarm.R", "fore.L": "leftforearm.L", "fore.R": "rightforearm.R"}
    arms = {names[f"fore.{side}"]: [[names[f"upper.{side}"]], [names[f"fore.{side}"]]] for side in "LR"}
    return body(names, more=more), arms | both(["thigh.L"], ["shin.L"])


def unnamed() -> Any:
    """Called as Blender calls new bones; the forearm happens to be called as an arm is, and the first one root."""
    old = [
        "hips",
        "spine",
        "head",
        *(f"{n}.{s}" for n in ("thigh", "shin", "foot", "toe", "upper", "fore", "hand") for s in "LR"),
    ]
    names = {name: f"Bone.{k:03}" if k else "Bone" for k, name in enumerate(old)} | {"hips": "root"}
    lasts = {"shin.L": "thigh.L", "shin.R": "thigh.R", "fore.L": "upper.L", "fore.R": "upper.R"}
    return body(names), {names[last]: [[names[first]], [names[last]]] for last, first in lasts.items()}


def dressed(names: dict[str, str] | None = None) -> Any:
    """A body with hair, ties, a skirt, a tail and trinkets, longer than its arms and as often in pairs."""
    more = Bones()
    for k in range(4):
        more[f"strand_{k}.L"] = (
            (0.12, 0.1, 1.7 - 0.25 * k),
            (0.12, 0.1, 1.45 - 0.25 * k),
            f"strand_{k - 1}.L" if k else "head",
        )
        more[f"flap_{k}.L"] = (
            (0.15 + 0.05 * k, -0.1, 1 - 0.2 * k),
            (0.2 + 0.05 * k, -0.1, 0.8 - 0.2 * k),
            f"flap_{k - 1}.L" if k else "hips",
        )
        more[f"ribbon_{k}"] = ((0, 0.15, 1.2 - 0.2 * k), (0, 0.15, 1 - 0.2 * k), f"ribbon_{k - 1}" if k else "spine")
    more["charm.L"] = ((0.63, 0, 0.97), (0.63, 0, 0.9), "hand.L")
    new = {name: f"b_{name[0]}{k}" for k, name in enumerate(("hips", "spine", "head"))} if names is None else names
    limbs = both(["thigh.L"], ["shin.L"]) | both(["upper.L"], ["fore.L"])
    called = lambda name: new.get(name, name)  # noqa: E731
    return body(new, more=more), {
        called(last): [[called(n) for n in s] for s in segments] for last, segments in limbs.items()
    }


def blocky(depth: float | None, turns: str = "") -> Any:
    """A character drawn flat from the front, of blocks so deep for each bone, or without any; its legs are keyed in
    that plane or ``out`` of it."""
    bones: Bones = {"body": ((0, 0, 1), (0, 0, 1.5), ""), "head": ((0, 0, 1.5), (0, 0, 1.8), "body")}
    for name, parent, x, top, end in (("arm", "body", 0.3, 1.45, 1.1), ("forearm", "arm.L", 0.3, 1.1, 0.75),
                                      ("leg", "body", 0.12, 1, 0.5), ("shin", "leg.L", 0.12, 0.5, 0)):  # fmt: skip
        bones[f"{name}.L"] = ((x, 0, top), (x, 0, end), parent)
    ob = rigs.rig(mirrored(bones))
    for bone in ob.data.bones if depth is not None else ():
        middle, length = (bone.head_local + bone.tail_local) / 2, bone.length / 2
        mesh = bpy.data.meshes.new(bone.name)
        corners = [(x, y, z) for x in (-0.1, 0.1) for y in (-depth, depth) for z in (-length, length)]
        mesh.from_pydata([(middle + Vector(corner))[:] for corner in corners], [], [])
        block = bpy.data.objects.new(bone.name, mesh)
        bpy.context.collection.objects.link(block)
        block.parent, block.modifiers.new("Armature", "ARMATURE").object = ob, ob
        block.vertex_groups.new(name=bone.name).add(range(8), 1.0, "REPLACE")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 12
    for frame, angle in ((1, -0.5), (12, 0.5)) if turns else ():
        for name in ("leg.L", "leg.R"):
            ob.pose.bones[name].rotation_mode = "XYZ"
            ob.pose.bones[name].rotation_euler = (angle, 0, 0) if turns == "out" else (0, 0, angle)
            ob.pose.bones[name].keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)
    return ob


SKELETONS: dict[str, Callable[[], tuple[Any, dict[str, list[list[str]]]]]] = {
    "MMD with twist bones": lambda: mmd(twist=True),
    "MMD": lambda: mmd(twist=False),
    "CesiumMan": cesium_man,
    "names with numbers": numbered,
    "twist under any name": twisted,
    "captured": captured,
    "unnamed": unnamed,
    "hair and skirt": dressed,
    "hair and skirt on an unnamed body": lambda: dressed(
        {
            f"{name}.{side}": f"x{k}.{side}"
            for k, name in enumerate(("thigh", "shin", "foot", "toe", "upper", "fore", "hand"))
            for side in "LR"
        }
        | {"hips": "x10", "spine": "x11", "head": "x12"}
    ),
}
