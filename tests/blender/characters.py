"""Characters as people bring them, each to be given IK with one press of Add, and which way their knees belong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, pi, sin
from typing import Any, NamedTuple

import bpy
from mathutils import Vector

from tests.blender import another, rigs

FORWARD, BACK, UP = Vector((0, -1, 0)), Vector((0, 1, 0)), Vector((0, 0, 1))


class Character(NamedTuple):
    """How to make one, and which way the knee of each limb, by its last bone, has to go as its target comes nearer."""

    make: Callable[[], Any]
    knees: dict[str, Vector]


def both(knees: dict[str, Vector]) -> dict[str, Vector]:
    """The same for the left and the right side."""
    return {f"{name}.{side}": way for name, way in knees.items() for side in "LR"}


def person(arm: Vector, size: float = 1.0, prefix: str = "") -> Any:
    """Straight legs, straight arms along ``arm``, default rolls."""
    bones: dict[str, Any] = {
        "root": ((0, 0, 0), (0, 0.3, 0), ""),
        "hips": ((0, 0, 1), (0, 0, 1.1), "root"),
        "spine": ((0, 0, 1.1), (0, 0, 1.5), "hips"),
        "head": ((0, 0, 1.55), (0, 0, 1.8), "spine"),
    }
    for side, x in ((".L", 1), (".R", -1)):
        shoulder = Vector((0.18 * x, 0, 1.45))
        way = Vector((arm.x * x, arm.y, arm.z)).normalized()
        elbow, wrist, end = (shoulder + way * along for along in (0.28, 0.54, 0.64))
        bones |= {
            f"thigh{side}": ((0.1 * x, 0, 1), (0.1 * x, 0, 0.55), "hips"),
            f"shin{side}": ((0.1 * x, 0, 0.55), (0.1 * x, 0, 0.1), f"thigh{side}"),
            f"foot{side}": ((0.1 * x, 0, 0.1), (0.1 * x, -0.14, 0.02), f"shin{side}"),
            f"toe{side}": ((0.1 * x, -0.14, 0.02), (0.1 * x, -0.22, 0.02), f"foot{side}"),
            f"shoulder{side}": ((0.03 * x, 0, 1.45), shoulder[:], "spine"),
            f"upper_arm{side}": (shoulder[:], elbow[:], f"shoulder{side}"),
            f"forearm{side}": (elbow[:], wrist[:], f"upper_arm{side}"),
            f"hand{side}": (wrist[:], end[:], f"forearm{side}"),
        }
    return rigs.rig(bones)


MIXAMO = {
    "Hips": ((0, 0, 100), ""), "Spine": ((0, 1, 112), "Hips"), "Spine1": ((0, 1, 124), "Spine"),
    "Neck": ((0, 1, 150), "Spine1"), "Head": ((0, 0, 158), "Neck"), "HeadTop_End": ((0, -1, 178), "Head"),
    "LeftShoulder": ((4, 1, 146), "Spine1"), "LeftArm": ((18, 2, 145), "LeftShoulder"),
    "LeftForeArm": ((45, 2, 145), "LeftArm"), "LeftHand": ((71, 2, 145), "LeftForeArm"),
    "LeftHandIndex1": ((80, 0, 145), "LeftHand"), "LeftHandIndex2": ((83, 0, 145), "LeftHandIndex1"),
    "LeftHandIndex3": ((86, 0, 145), "LeftHandIndex2"), "LeftHandThumb1": ((74, -2, 144), "LeftHand"),
    "LeftHandThumb2": ((77, -4, 143), "LeftHandThumb1"),
    "LeftUpLeg": ((9, 0, 95), "Hips"), "LeftLeg": ((9, 0, 52), "LeftUpLeg"), "LeftFoot": ((9, 2, 10), "LeftLeg"),
    "LeftToeBase": ((9, -11, 2), "LeftFoot"), "LeftToe_End": ((9, -20, 2), "LeftToeBase"),
}  # fmt: skip


def mixamo() -> Any:
    """As the FBX importer leaves it: a hundred times too large and scaled down, lying and turned up, in a T-pose."""
    joints = MIXAMO | {
        name.replace("Left", "Right"): ((-place[0], *place[1:]), parent.replace("Left", "Right"))
        for name, (place, parent) in MIXAMO.items()
        if name.startswith("Left")
    }
    bones: dict[str, Any] = {}
    for name, ((x, y, z), parent) in joints.items():
        ahead = [place for place, of in joints.values() if of == name]
        x2, y2, z2 = ahead[0] if ahead else (x, y - 3, z)
        bones[f"mixamorig:{name}"] = ((x, z, -y), (x2, z2, -y2), f"mixamorig:{parent}" if parent else "")
    ob = rigs.rig(bones)
    ob.scale, ob.rotation_euler = (0.01,) * 3, (pi / 2, 0.0, 0.0)
    return ob


def puppet() -> Any:
    """Flat in the XZ plane, looking to +X, with straight legs and arms, and one of each behind the other."""
    bones: dict[str, Any] = {"root": ((0, 0, 0), (0.2, 0, 0), ""), "body": ((0, 0, 0.9), (0, 0, 1.4), "root"),
                             "head": ((0, 0, 1.45), (0.03, 0, 1.7), "body")}  # fmt: skip
    for side in "LR":
        bones |= {
            f"thigh.{side}": ((0, 0, 0.9), (0, 0, 0.5), "body"),
            f"shin.{side}": ((0, 0, 0.5), (0, 0, 0.08), f"thigh.{side}"),
            f"foot.{side}": ((0, 0, 0.08), (0.18, 0, 0.02), f"shin.{side}"),
            f"upper_arm.{side}": ((0, 0, 1.35), (0, 0, 1.1), "body"),
            f"forearm.{side}": ((0, 0, 1.1), (0, 0, 0.86), f"upper_arm.{side}"),
            f"hand.{side}": ((0, 0, 0.86), (0, 0, 0.76), f"forearm.{side}"),
        }
    return rigs.rig(bones)


def insect() -> Any:
    """Six legs of hip, thigh and shin around a body, with the knees up; the last bone ends on the ground."""
    bones: dict[str, Any] = {
        "root": ((0, 0, 0), (0, 0.3, 0), ""),
        "body": ((0, 0.3, 0.4), (0, -0.3, 0.4), "root"),
        "head": ((0, -0.3, 0.4), (0, -0.5, 0.38), "body"),
    }
    for side, x in (("L", 1), ("R", -1)):
        for i, angle in enumerate((-0.8, 0.0, 0.8)):
            way = Vector((x * cos(angle), sin(angle), 0))
            start = Vector((0.08 * x, 0.2 * (i - 1), 0.4))
            places = [start, start + 0.1 * way, start + 0.35 * way + 0.25 * UP, start + 0.7 * way - 0.4 * UP]
            parent = "body"
            for name, a, b in zip(("coxa", "femur", "tibia"), places, places[1:], strict=False):
                bones[f"{name}.{i + 1}.{side}"] = (a[:], b[:], parent)
                parent = f"{name}.{i + 1}.{side}"
    return rigs.rig(bones)


def metarig(name: str) -> Any:
    """One of Rigify's."""
    import addon_utils

    addon_utils.enable("rigify", default_set=True)
    if bpy.context.object and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    getattr(bpy.ops.object, f"armature_{name}_metarig_add")()
    ob = bpy.context.object
    rigs.activate(ob)
    return ob


LEGS = both({"shin": FORWARD})
ARMS = both({"forearm": BACK})
CHARACTERS = {
    "T-pose": Character(lambda: person(Vector((1, 0, 0))), LEGS | ARMS),
    "A-pose": Character(lambda: person(Vector((1, 0, -1))), LEGS | ARMS),
    "human": Character(lambda: metarig("human"), LEGS | ARMS),
    "cat": Character(lambda: metarig("cat"), both({"forearm": BACK, "foot": FORWARD})),
    "wolf": Character(lambda: metarig("wolf"), both({"front_shin": BACK, "foot": FORWARD})),
    "horse": Character(lambda: metarig("horse"), both({"forearm": BACK, "hind_foot": FORWARD})),
    "Mixamo": Character(
        mixamo,
        {f"mixamorig:{side}{name}": way for name, way in (("Leg", FORWARD), ("ForeArm", BACK))
         for side in ("Left", "Right")},
    ),
    "puppet": Character(puppet, both({"shin": Vector((1, 0, 0)), "forearm": Vector((-1, 0, 0))})),
    "insect": Character(insect, both({f"tibia.{i}": UP for i in (1, 2, 3)})),
}  # fmt: skip


def select_all(ob: Any) -> None:
    """As A in the 3D view."""
    for bone in ob.pose.bones:
        rigs.select(bone)


# where names say little, or the wrong thing


def renamed(ob: Any, names: dict[str, str]) -> Any:
    """A rig with other names."""
    for old, new in names.items():
        ob.data.bones[old].name = new
    return ob


def torso() -> Any:
    """A person whose torso is called as many call the whole of it, with arms that hang right on that."""
    return renamed(person(Vector((1, 0, -1))), {"spine": "body", "shoulder.L": "plate.L", "shoulder.R": "plate.R"})


def unnamed(ob: Any) -> Any:
    """A rig whose bones are called as Blender calls new ones."""
    return renamed(ob, {name: f"Bone.{i:03}" for i, name in enumerate(sorted(ob.data.bones.keys()))})


def long_fingers() -> Any:
    """A person with fingers as long as forearms."""
    bones: dict[str, Any] = {}
    for side, x in ((".L", 1), (".R", -1)):
        for i, name in enumerate(("index", "middle")):
            places = [(x * (0.75 + 0.08 * k), 0.03 * i, 1.45) for k in range(4)]
            for k in range(3):
                above = f"{name}.{k}{side}" if k else f"hand{side}"
                bones[f"{name}.{k + 1}{side}"] = (places[k], places[k + 1], above)
    return grown(rigs.biped(), bones)


def grown(ob: Any, bones: dict[str, Any]) -> Any:
    """A rig with more bones: head, tail and parent by name."""
    rigs.activate(ob, "EDIT")
    for name, (head, tail, parent) in bones.items():
        made = ob.data.edit_bones.new(name)
        made.head, made.tail = head, tail
        made.parent = ob.data.edit_bones[parent] if parent else None
    rigs.activate(ob)
    return ob


def with_tails(ob: Any, length: float) -> Any:
    """A rig whose tails are so far from where bones begin, with the bones pointing as they do."""
    rigs.activate(ob, "EDIT")
    for bone in ob.data.edit_bones:
        bone.use_connect = False
    for bone in ob.data.edit_bones:
        bone.length = length
    rigs.activate(ob)
    return ob


def exported(joints: dict[str, tuple[Any, str]], size: float = 100.0) -> Any:
    """A rig as it comes from a game: mirrored to the other side, tails anywhere, scaled up."""
    both_sides = dict(joints)
    for name, ((x, y, z), parent) in joints.items():
        if name.endswith(".L"):
            both_sides[f"{name[:-2]}.R"] = ((-x, y, z), f"{parent[:-2]}.R" if parent.endswith(".L") else parent)
    bones = {
        name: (tuple(each / size for each in head), (head[0] / size, head[1] / size, (head[2] + 0.001) / size), parent)
        for name, (head, parent) in both_sides.items()
    }
    ob = rigs.rig(bones)  # type: ignore[arg-type]
    ob.scale = (size,) * 3
    return ob


def spider() -> Any:
    """Eight legs on a body whose last bones end anywhere; the feet are controls of their own."""
    joints: dict[str, Any] = {"Root": ((0, 0, 0), ""), "Body": ((0, 0.01, 0.19), "Root"),
                              "Abdomen": ((0, 0.11, 0.11), "Body"), "Thorax": ((0, 0.08, 0.1), "Body"),
                              "Head": ((0, 0.03, 0.12), "Thorax")}  # fmt: skip
    for i, angle in enumerate((-0.8, -0.3, 0.2, 0.7)):
        out = Vector((cos(angle), sin(angle), 0))
        places = [0.08 * out + 0.09 * UP, 0.2 * out + 0.2 * UP, 0.33 * out + 0.12 * UP, 0.4 * out]
        for k, parent in enumerate(("Body", f"Leg{i}.L", f"Leg{i}b.L")):
            joints[f"Leg{i}{('', 'b', 'c')[k]}.L"] = (places[k][:], parent)
        joints[f"Foot{i}.L"] = (places[3][:], "Root")
    return exported(joints)


def robot() -> Any:
    """Shins that nothing hangs on: the feet are controls, as are the poles; three palms on each forearm."""
    joints: dict[str, Any] = {
        "Bone": ((0, 0.03, 0), ""), "Body": ((0, -0.02, 0.23), "Bone"), "Hips": ((0, 0, 0.21), "Body"),
        "Abdomen": ((0, 0.01, 0.26), "Hips"), "Torso": ((0, 0.01, 0.34), "Abdomen"),
        "Head": ((0, 0, 0.48), "Torso"), "Shoulder.L": ((0.09, 0, 0.39), "Torso"),
        "UpperArm.L": ((0.11, 0, 0.39), "Shoulder.L"), "LowerArm.L": ((0.21, -0.01, 0.39), "UpperArm.L"),
        "UpperLeg.L": ((0.1, 0.01, 0.24), "Body"), "LowerLeg.L": ((0.1, -0.01, 0.15), "UpperLeg.L"),
        "Foot.L": ((0.1, 0.02, 0), "Bone"), "PoleTarget.L": ((0.1, -0.24, 0.17), "Bone"),
    }  # fmt: skip
    for k in range(3):
        joints[f"Palm{k}.L"] = ((0.43, 0.01 * k, 0.39), "LowerArm.L")
        joints[f"Palm{k}b.L"] = ((0.49, 0.01 * k, 0.39), f"Palm{k}.L")
    return exported(joints)


def raptor() -> Any:
    """Short arms and long legs, each on a bone of its own that carries it; a long tail."""
    joints: dict[str, Any] = {
        "root": ((0, 0, 0), ""), "Body": ((0, -0.1, 0.42), "root"), "Neck": ((0, -0.3, 0.43), "Body"),
        "Head": ((0, -0.35, 0.48), "Neck"), "FrontLeg.L": ((0.02, -0.2, 0.3), "Body"),
        "FrontUpLeg.L": ((0.06, -0.2, 0.3), "FrontLeg.L"), "FrontLowLeg.L": ((0.07, -0.22, 0.25), "FrontUpLeg.L"),
        "FrontFoot.L": ((0.05, -0.29, 0.22), "FrontLowLeg.L"), "BackLeg.L": ((0.02, -0.01, 0.29), "Body"),
        "BackUpLeg.L": ((0.11, -0.01, 0.29), "BackLeg.L"), "BackLowLeg.L": ((0.09, 0.04, 0.1), "BackUpLeg.L"),
        "BackFoot.L": ((0.09, 0.03, 0.01), "root"),
    }  # fmt: skip
    for k in range(5):
        joints[f"Tail{k}"] = ((0, 0.1 * k, 0.3 + 0.02 * k), f"Tail{k - 1}" if k else "Body")
    return exported(joints)


def by_joint() -> Any:
    """Called after the joints at which bones begin, as motion capture has it: a hip is a thigh."""
    names = {"shoulder": "Collar", "upper_arm": "Shoulder", "forearm": "Elbow", "hand": "Wrist", "thigh": "Hip",
             "shin": "Knee", "foot": "Ankle"}  # fmt: skip
    new = {f"{old}.{side[0]}": f"{side}{name}" for old, name in names.items() for side in ("Left", "Right")}
    return renamed(person(Vector((0, 0, -1))), new)


def round_trip(obs: Sequence[Any], folder: Any) -> list[Any]:
    """Rigs as Blender's glTF importer brings them back, which are all that is in the file then."""
    for number, ob in enumerate(obs):
        ob.name = f"rig {number}"
        rigs.activate(ob, "OBJECT")
        skin = bpy.data.objects.new(f"skin {number}", bpy.data.meshes.new("skin"))
        skin.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
        bpy.context.collection.objects.link(skin)
        skin.parent = ob
        skin.modifiers.new("Armature", "ARMATURE").object = ob
        skin.vertex_groups.new(name=ob.data.bones[0].name).add(range(3), 1.0, "REPLACE")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "rig.blend"))
    another.export(
        "io_scene_gltf2", "export_scene.gltf", folder / "rig.blend", folder / "rig.glb", folder / "after.blend"
    )
    another.bring("io_scene_gltf2", "import_scene.gltf", folder / "rig.glb", folder / "brought.blend")
    bpy.ops.wm.open_mainfile(filepath=str(folder / "brought.blend"))
    return [bpy.data.objects[f"rig {number}"] for number in range(len(obs))]


def sided(*names: str) -> set[str]:
    """Names on both sides."""
    return {f"{name}.{side}" for name in names for side in "LR"}


LIMBS: dict[str, tuple[Callable[[], Any], set[str]]] = {
    "person": (lambda: person(Vector((1, 0, -1))), sided("shin", "forearm")),
    "torso": (torso, sided("shin", "forearm")),
    "unnamed": (
        lambda: unnamed(rigs.biped()),
        {"Bone.002", "Bone.003", "Bone.008", "Bone.009"},
    ),
    "long fingers": (long_fingers, sided("shin", "forearm")),
    "tails far away": (lambda: with_tails(mixamo(), 4300.0), {
        f"mixamorig:{side}{name}" for name in ("Leg", "ForeArm") for side in ("Left", "Right")
    }),
    "spider": (spider, sided("Leg0c", "Leg1c", "Leg2c", "Leg3c")),
    "robot": (robot, sided("LowerArm", "LowerLeg")),
    "raptor": (raptor, sided("FrontLowLeg", "BackLowLeg")),
    "by joint": (by_joint, {f"{side}{name}" for name in ("Knee", "Elbow") for side in ("Left", "Right")}),
    "puppet": (rigs.puppet, {"shin"}),
}  # fmt: skip
"""Rigs, and the last bones of all their arms and legs: a table made by eye."""

METARIGS = {
    "human": sided("shin", "forearm"),
    "wolf": sided("front_shin", "foot"),
    "horse": sided("forearm", "hind_foot"),
    "cat": sided("forearm", "foot"),
    "bird": sided("shin"),
}
"""The same of Rigify's."""
