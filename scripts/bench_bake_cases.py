"""The rigs that the benchmark bakes, each with its limbs' lower bones, their targets and poles."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from math import pi, sin
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

import bpy
from mathutils import Vector

from . import installed
from .bench_rigs import Limbs, empty_file, new_object

CAPTURE = Path(__file__).parents[2] / "shared" / "mocap" / "walk01.bvh"
CAPTURED = ("RightLeg", "LeftLeg", "RightForeArm", "LeftForeArm")
FOLLOWED = ("shin_fk.L", "shin_fk.R", "forearm_fk.L", "forearm_fk.R")
"""The lower bones of limbs of a captured walk, and of a rig that Rigify makes."""


class Rigged(NamedTuple):
    """A rig with limbs to be posed by chains or by Blender's IK constraint."""

    rig: Any
    lowers: list[Any]
    targets: list[Any]
    poles: list[Any]

    def pose_by_chains(self) -> None:
        """By live chains."""
        for lower, target, pole in zip(self.lowers, self.targets, self.poles, strict=True):
            chain = lower.planar_ik
            chain.target, chain.pole_target, chain.plane = target, pole, "POLE" if pole else "REST"
            chain.enabled = True
        bpy.context.view_layer.update()

    def pose_on_rig(self) -> None:
        """By chains on the rig."""
        self.pose_by_chains()
        installed.addon("addon.native.convert").make_portable(bpy.context, self.lowers)
        bpy.context.view_layer.update()

    def pose_by_constraints(self) -> None:
        """By Blender's IK constraint."""
        for lower, target, pole in zip(self.lowers, self.targets, self.poles, strict=True):
            constraint = lower.constraints.new("IK")
            constraint.target, constraint.pole_target, constraint.chain_count = target, pole, 2
        bpy.context.view_layer.update()


def plain(count: int, frames: int) -> Rigged:
    """Limbs side by side, bent, whose targets go up and down."""
    limbs = Limbs([(Vector((i, 0, 0)), Vector((i, -0.3, -1)), Vector((i, 0, -1.9))) for i in range(count)])
    for i, target in enumerate(limbs.targets):
        wave(target, frames, Vector((i, 0, 0)), i)
    return Rigged(limbs.rig, limbs.lowers(), limbs.targets, [None] * count)


def wave(target: Any, frames: int, place: Vector, phase: float) -> None:
    """Key a target twice a second."""
    for key in range(0, frames + 12, 12):
        x, y, z = 0.2 * sin(key + phase), 0.3 * sin(key / 7), -1.5 + 0.3 * sin(key / 5 + phase * pi / 7)
        target.location = place + Vector((x, y, z))
        target.keyframe_insert("location", frame=1 + key)


def skinned(count: int, frames: int) -> Rigged:
    """With a mesh that all bones deform: a grid, smoothly subdivided once to 22,000 vertices."""
    rigged = plain(count, frames)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=74, y_subdivisions=74, size=4.0)
    mesh = bpy.context.object
    for i, bone in enumerate(rigged.rig.data.bones):
        group = mesh.vertex_groups.new(name=bone.name)
        group.add(list(range(i, len(mesh.data.vertices), 7)), 0.5, "REPLACE")
    mesh.modifiers.new("Armature", "ARMATURE").object = rigged.rig
    mesh.modifiers.new("Subdivision", "SUBSURF").levels = 1
    bpy.context.view_layer.objects.active = rigged.rig
    return rigged


def muted_strips(count: int, frames: int) -> Rigged:
    """With a muted NLA track of everything's action, as pushing it down and muting it leaves."""
    rigged = plain(count, frames)
    key_limbs(rigged, frames, ("rotation_quaternion",))
    for ob in (rigged.rig, *rigged.targets):
        data = ob.animation_data
        track = data.nla_tracks.new()
        track.strips.new("take", 1, data.action)
        track.mute = True
    return rigged


def imported(count: int, frames: int) -> Rigged:
    """With constant curves of location and scale on all bones, as glTF import leaves them."""
    rigged = plain(count, frames)
    key_limbs(rigged, frames, ("location", "rotation_quaternion", "scale"))
    return rigged


def key_limbs(rigged: Rigged, frames: int, names: tuple[str, ...]) -> None:
    for bone in rigged.rig.pose.bones:
        for name in names:
            for frame in (1, frames):
                bone.keyframe_insert(name, frame=frame)


def constrained(count: int, frames: int) -> Rigged:
    """With targets that constraints put where others are."""
    rigged = plain(count, frames)
    followers = []
    for target in rigged.targets:
        follower = new_object(f"{target.name} follower")
        follower.constraints.new("COPY_LOCATION").target = target
        followers.append(follower)
    return rigged._replace(targets=followers)


def dependent(count: int, frames: int) -> Rigged:
    """In pairs, of which one limb hangs on the end of the other."""
    rigged = plain(count, frames)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rigged.rig.data.edit_bones
    for i in range(1, count, 2):
        bones[f"upper{i}"].parent = bones[f"lower{i - 1}"]
    bpy.ops.object.mode_set(mode="OBJECT")
    return rigged._replace(lowers=[rigged.rig.pose.bones[f"lower{i}"] for i in range(count)])


def on_shape(count: int, frames: int) -> Rigged:
    """With targets that stick to a surface."""
    rigged = constrained(count, frames)
    bpy.ops.mesh.primitive_plane_add(size=300.0, location=(0, 0, -1.6))
    surface = bpy.context.object
    bpy.context.view_layer.objects.active = rigged.rig
    for target in rigged.targets:
        target.constraints.new("SHRINKWRAP").target = surface
    return rigged


def by_python(count: int, frames: int) -> Rigged:
    """With targets that Python moves, which may read anything, so that the scene is evaluated with its chains live."""
    rigged = plain(count, frames)
    for target in rigged.targets:
        driver = target.driver_add("delta_location", 0).driver
        driver.use_self, driver.expression = True, "0.1 * sin(frame / 9) + 0.0 * self.location[0]"
    return rigged


def by_function(count: int, frames: int) -> Rigged:
    """With targets that a function moves which a text of the file registers, as rigs have them."""
    rigged = plain(count, frames)
    text = bpy.data.texts.new("wiggle.py")
    text.write("from math import sin\ndef wiggle(frame, seed):\n    return 0.1 * sin(frame / 9 + seed)\n")
    bpy.app.driver_namespace["wiggle"] = text.as_module().wiggle
    for i, target in enumerate(rigged.targets):
        target.driver_add("delta_location", 0).driver.expression = f"wiggle(frame, {i})"
    return rigged


def hindered(count: int, frames: int) -> Rigged:
    """With constraints that might act in some frame, of which only a driver tells."""
    rigged = plain(count, frames)
    for lower in rigged.lowers:
        constraint = lower.parent.constraints.new("LIMIT_ROTATION")
        constraint.driver_add("influence").driver.expression = "frame < 0"
    return rigged


def handled(count: int, frames: int) -> Rigged:
    """With somebody's handler, which might move anything, so that the scene is stepped, and what the chains do is read.

    It is gone with the file.
    """
    rigged = plain(count, frames)
    bpy.app.handlers.frame_change_pre.append(lambda *_: None)
    return rigged


def moved_by_a_handler(count: int, frames: int) -> Rigged:
    """With somebody's handler that moves the targets."""
    rigged = plain(count, frames)
    names = [target.name for target in rigged.targets]

    def move(scene: Any, *_args: Any) -> None:
        for name in names:
            bpy.data.objects[name].delta_location.x = 0.1 * sin(scene.frame_current / 9)

    bpy.app.handlers.frame_change_pre.append(move)
    return rigged


def captured(count: int, frames: int) -> Rigged:
    """A captured walk, over and over, whose wrists and ankles are followed; some limb is straight at times."""
    empty_file()
    bpy.ops.preferences.addon_enable(module="io_anim_bvh")
    with NamedTemporaryFile("w", suffix=".bvh") as file:
        file.write(repeated(CAPTURE.read_text(), frames))
        file.flush()
        bpy.ops.import_anim.bvh(filepath=file.name, update_scene_duration=True)
    rig: Any = bpy.context.view_layer.objects.active
    lowers = [rig.pose.bones[name] for name in CAPTURED[:count]]
    return Rigged(rig, lowers, *followers_of(rig, lowers, frames))


def repeated(capture: str, frames: int) -> str:
    """The text of a BVH file with so many frames, which begin anew after its last."""
    head, time, motion = re.split(r"^Frames:.*\n(Frame Time:.*\n)", capture, flags=re.MULTILINE)
    lines = motion.splitlines()
    return f"{head}Frames: {frames}\n{time}" + "".join(f"{lines[i % len(lines)]}\n" for i in range(frames))


def rigified(count: int, frames: int) -> Rigged:
    """Rigify's human, its FK limbs posed by targets that are parented to nothing, and a spine that turns."""
    empty_file()
    bpy.ops.preferences.addon_enable(module="rigify")
    new_object("metarig", bpy.data.armatures.new("metarig"))
    bpy.context.view_layer.objects.active = bpy.data.objects["metarig"]
    bpy.ops.object.mode_set(mode="EDIT")
    import_module("rigify.metarigs.Basic.basic_human").create(bpy.context.object)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.pose.rigify_generate()
    rig: Any = bpy.context.view_layer.objects.active
    for name, turn in (("torso", 0.3), ("chest", -0.4)):
        for frame, angle in ((1, 0.0), (frames // 2, turn), (frames, 0.0)):
            bone = rig.pose.bones[name]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = (0.3 * angle, angle, 0.0)
            bone.keyframe_insert("rotation_euler", frame=frame)
    for name in rig.pose.bones.keys():  # noqa: SIM118 - a collection of Blender's
        if "IK_FK" in rig.pose.bones[name]:
            rig.pose.bones[name]["IK_FK"] = 1.0
    targets = []
    lowers = [rig.pose.bones[name] for name in FOLLOWED[:count]]
    for i, lower in enumerate(lowers):
        target = new_object(f"to {lower.name}")
        for frame in range(1, frames + 12, 12):
            off = Vector((0.03 * sin(frame + i), 0.1 * sin(frame / 9 + i), 0.15 + 0.1 * sin(frame / 7)))
            target.location = lower.bone.tail_local + off
            target.keyframe_insert("location", frame=frame)
        targets.append(target)
    return Rigged(rig, lowers, targets, [None] * len(lowers))


def followers_of(rig: Any, lowers: list[Any], frames: int) -> tuple[list[Any], list[Any]]:
    """Empties that go with the tips of limbs, and with their knees."""
    found: dict[str, list[Any]] = {"tail": [], "head": []}
    for name, empties in found.items():
        empties.extend(new_object(f"{lower.name} {name}") for lower in lowers)
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
        for name, empties in found.items():
            for empty, lower in zip(empties, lowers, strict=True):
                empty.location = rig.matrix_world @ getattr(lower, name)
                empty.keyframe_insert("location", frame=frame)
    return found["tail"], found["head"]


class Case(NamedTuple):
    """What is baked, chains and frames of it, and how many times as fast as Blender's own bake that should be."""

    make: Callable[[int, int], Rigged]
    chains: int
    frames: int
    bar: float


CASES = {
    "plain": Case(plain, 20, 250, 8.0),
    "skinned": Case(skinned, 20, 250, 8.0),
    "100 chains": Case(plain, 100, 250, 8.0),
    "muted strips": Case(muted_strips, 20, 250, 8.0),
    "imported": Case(imported, 20, 250, 8.0),
    "constraints": Case(constrained, 20, 250, 6.0),
    "Rigify": Case(rigified, 4, 250, 5.0),
    "captured": Case(captured, 4, 101, 8.0),
    "captured long": Case(captured, 4, 1010, 8.0),
    "dependent": Case(dependent, 20, 250, 3.0),
    "on a shape": Case(on_shape, 20, 250, 3.0),
    "by Python": Case(by_python, 20, 250, 1.5),
    "by a function": Case(by_function, 20, 250, 3.0),
    "hindered": Case(hindered, 20, 250, 3.0),
    "by a handler": Case(handled, 20, 250, 1.5),
    "moved by one": Case(moved_by_a_handler, 20, 250, 1.5),
}
