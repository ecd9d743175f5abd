"""How fast, beside what Blender has: ``make bench``, or ``make bench ARGS="live rig"`` for some of its parts.

It prints what both sides take in one run, in turns; *added* is what a frame takes beyond that of the rig without IK.
Limbs are bent by 20 degrees at rest, where Blender's constraint is at its fastest, or by 2, where it is at its slowest.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from math import cos, inf, pi, radians, sin
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from . import installed

USER = installed.fresh_user_folder() if __name__ == "__main__" else None

import bpy  # noqa: E402
from mathutils import Vector  # noqa: E402

FRAMES = range(1, 101, 5)
WAYS: dict[str, dict[str, Any]] = {plane: {"plane": plane} for plane in ("HINGE", "FREE", "POLE")}
WAYS["everything"] = {"plane": "POLE", "influence": 0.5, "swivel": 0.3, "softness": 0.1, "stretch": 0.5, "max_angle": 3}
"""What limbs do; the last two are compared with the constraint with a pole."""
WALK = Path(__file__).parents[2] / "shared" / "mocap" / "walk01.bvh"
WALKING = ("RightLeg", "LeftLeg", "RightForeArm", "LeftForeArm")
RIGIFY = ("shin_fk.L", "shin_fk.R", "forearm_fk.L", "forearm_fk.R")
"""The last bones of the limbs of a captured walk, and of Rigify's human."""

Step = Callable[[], Any]
say = partial(print, file=os.fdopen(os.dup(1), "w"), flush=True)
folder = TemporaryDirectory(prefix="planar-ik-bench-")


def limbs() -> list[tuple[Any, Any, Any]]:
    """Last bone, target and pole of each limb in the file: "to RIG|BONE", and "pole RIG|BONE" or "pole"."""
    objects = bpy.data.objects
    names = [ob.name[3:] for ob in objects if ob.name.startswith("to ")]
    poles = [objects.get(f"pole {name}", objects.get("pole")) for name in names]
    bones = [objects[rig].pose.bones[bone] for rig, bone in (name.split("|") for name in names)]
    return [(bone, objects[f"to {name}"], pole) for bone, name, pole in zip(bones, names, poles, strict=True)]


def new_limbs(count: int, bend: float = 20.0, rigs: int = 1, others: int = 0, frames: int = 101) -> Any:
    """Rigs of limbs that point up, whose targets go round in front of them, in their plane and in reach."""
    new_file(frames)
    armature = bpy.data.armatures.new("Rig")
    first = new_object("Rig", armature)
    in_mode("EDIT", first)
    base = armature.edit_bones.new("base")
    base.tail = (0.0, 0.0, 0.3)
    knee = Vector((0.0, sin(radians(bend / 2)), cos(radians(bend / 2))))
    places = [Vector((0.1 * (i % 25) - 1.2, 0.05 * (i // 25), 0.0)) for i in range(count)]
    for i, place in enumerate(places):
        upper, lower = armature.edit_bones.new(f"upper{i}"), armature.edit_bones.new(f"lower{i}")
        upper.head, upper.tail, upper.parent = place, place + knee, base
        lower.head, lower.tail, lower.parent = upper.tail, place + Vector((0.0, 0.0, 2.0 * knee.z)), upper
        lower.use_connect = True
    for i in range(others):
        bone = armature.edit_bones.new(f"other{i}")
        bone.head, bone.tail = (i, 1.0, 0.0), (i, 1.0, 1.0)
    in_mode("OBJECT", first)
    for rig in (first, *(new_object(f"Rig{i}", armature.copy()) for i in range(1, rigs))):
        rig.location.x = float(rig.name[3:] or 0)
        for i, place in enumerate(places):
            key_round(new_object(f"to {rig.name}|lower{i}"), rig.location + place, frames, phase=0.1 * i)
    new_object("pole").location = (0.0, 5.0, 1.0)
    bpy.context.view_layer.update()  # Which gives the other rigs their poses.
    return first


def key_round(target: Any, root: Vector, frames: int, size: float = 1.0, phase: float = 0.0) -> None:
    step = max(5, frames // 2000)
    for frame in range(1, frames + step, step):
        angle = 2.0 * pi * frame / 101 + phase
        target.location = root + size * Vector((0.0, 0.2 + 0.9 * cos(angle), 0.9 + 0.7 * sin(angle)))
        target.keyframe_insert("location", frame=frame)


def imported(frames: int, mute: bool = False) -> None:
    """With keys of everything on all bones in every frame, as importers leave them; perhaps muted."""
    rig = new_limbs(20, frames=frames)
    for bone in rig.pose.bones:
        for name in ("location", "rotation_quaternion", "scale"):
            bone.keyframe_insert(name, frame=1)
    action = rig.animation_data.action
    curves = action.fcurves if hasattr(action, "fcurves") else action.layers[0].strips[0].channelbags[0].fcurves
    for curve in curves:
        value, curve.mute = curve.keyframe_points[0].co.y, mute
        curve.keyframe_points.add(frames - 1)
        curve.keyframe_points.foreach_set("co", [part for frame in range(frames) for part in (frame + 1.0, value)])
        curve.update()


def led(frames: int) -> None:
    """With targets that constraints put where others are."""
    new_limbs(20, frames=frames)
    for _, target, _ in limbs():
        name, target.name = target.name, f"led {target.name}"
        new_object(name).constraints.new("COPY_LOCATION").target = target


def human(frames: int) -> None:
    """Rigify's human, its FK limbs posed by targets that hang on nothing, and a torso that turns."""
    new_file(frames)
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_basic_human_metarig_add()
    bpy.ops.pose.rigify_generate()
    rig: Any = bpy.context.view_layer.objects.active
    rig.name = "Human"
    for bone in (bone for bone in rig.pose.bones if "IK_FK" in bone):
        bone["IK_FK"] = 1.0
    for frame in range(1, frames, 50):
        rig.pose.bones["torso"].rotation_quaternion.z = 0.1 * sin(frame)
        rig.pose.bones["torso"].keyframe_insert("rotation_quaternion", frame=frame)
    for i, name in enumerate(RIGIFY):
        key_round(new_object(f"to Human|{name}"), rig.data.bones[name].tail_local, frames, 0.1, i)


def walk() -> None:
    """A captured walk: its own tips as targets, its own knees as poles."""
    new_file(101)
    bpy.ops.preferences.addon_enable(module="io_anim_bvh")
    bpy.ops.import_anim.bvh(filepath=str(WALK))
    rig: Any = bpy.context.view_layer.objects.active
    rig.name = "Walk"
    ends = [(role, name, end) for role, end in (("to", "tail"), ("pole", "head")) for name in WALKING]
    empties = [new_object(f"{role} Walk|{name}") for role, name, _ in ends]
    for frame in range(1, 102):
        bpy.context.scene.frame_set(frame)
        for empty, (_, name, end) in zip(empties, ends, strict=True):
            empty.location = rig.matrix_world @ getattr(rig.pose.bones[name], end)
            empty.keyframe_insert("location", frame=frame)


def new_file(frames: int) -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    installed.enable()
    bpy.context.scene.frame_end = frames


def new_object(name: str, data: Any = None) -> Any:
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def in_mode(mode: str, ob: Any) -> None:
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode=mode)


def constraint(pole: bool = False) -> None:
    for bone, target, its_pole in limbs():
        made = bone.constraints.new("IK")
        made.target, made.chain_count, made.pole_target = target, 2, its_pole if pole else None


def live(plane: str = "FREE", **settings: object) -> None:
    for bone, target, pole in limbs():
        ik = bone.planar_ik
        ik.target, ik.pole_target, ik.plane = target, pole if plane == "POLE" else None, plane
        for name, value in settings.items():
            setattr(ik, name, value)
    bpy.context.view_layer.update()


def on_rig(**settings: Any) -> None:
    live(**settings)
    select_limbs()
    bpy.ops.pose.planar_ik_to_rig()


def select_limbs() -> None:
    for bone, _, _ in limbs():
        bone.id_data.select_set(True)
    in_mode("POSE", limbs()[0][0].id_data)
    bpy.ops.pose.select_all(action="DESELECT")
    for lower, _, _ in limbs():
        lower.id_data.data.bones.active = lower.bone
        for bone in (lower, lower.parent):
            (bone if hasattr(bone, "select") else bone.bone).select = True  # The former from 5.0 on.


def kept(*steps: Step) -> str:
    """The path of a file that these steps make."""
    for step in steps:
        step()
    if bpy.context.object:
        bpy.ops.object.mode_set(mode="OBJECT")
    path = f"{folder.name}/{len(list(Path(folder.name).iterdir()))}.blend"
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return path


def opened(path: str) -> None:
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.context.view_layer.update()


def seconds(work: Step) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def print_frames(title: str, make: Step, ours: dict[str, Step]) -> None:
    """A row of whole frames, the best of each in seven rounds, and what ours add beside the constraint."""
    theirs: dict[str, Step] = {"nothing": lambda: None, "constraint": constraint}
    if {"POLE", "everything"} & {*ours}:
        theirs["with pole"] = partial(constraint, pole=True)
    files = {name: kept(make, way) for name, way in (theirs | ours).items()}
    best = {name: dict.fromkeys(FRAMES, inf) for name in files}
    for _ in range(7):
        for name, path in files.items():
            opened(path)
            bpy.context.scene.frame_set(50)
            for frame in FRAMES:
                best[name][frame] = min(best[name][frame], seconds(partial(bpy.context.scene.frame_set, frame)))
    took = {name: 1e3 * sum(each.values()) / len(FRAMES) for name, each in best.items()}
    cells = [f"{name} {took[name]:.3f}" for name in theirs]
    for name in ours:
        beside = took["with pole" if name in ("POLE", "everything") else "constraint"]
        cells.append(f"{name} {took[name]:.3f} added {(took[name] - took['nothing']) / (beside - took['nothing']):.2f}")
    say(f"{title:25}{', '.join(cells)}")


def bench_live() -> None:
    """Live limbs: whole frames in ms, and what is added as a share of what the constraint adds"""
    for bend in (20, 2):
        for count in (4, 50, 200):
            print_frames(f"{count} limbs bent by {bend}°", partial(new_limbs, count, bend), {"live": live})
    print_frames("4 among 300 other bones", partial(new_limbs, 4, others=300), {"live": live})


def bench_rig() -> None:
    """Limbs on the rig: the same"""
    ways = {name: partial(on_rig, **settings) for name, settings in WAYS.items()}
    for bend in (20, 2):
        for count in (50, 200):
            print_frames(f"{count} limbs bent by {bend}°", partial(new_limbs, count, bend), ways)
    print_frames("4 among 300 other bones", partial(new_limbs, 4, others=300), {"rig": on_rig})
    print_frames("200 rigs of two limbs", partial(new_limbs, 2, rigs=200), {"rig": on_rig})


def bench_walk() -> None:
    """A captured walk, knees and tips followed by four limbs: the same"""
    if WALK.exists():
        for way in (live, on_rig):
            print_frames(way.__name__, walk, {"POLE": partial(way, plane="POLE")})
    else:
        say(f"Left out: there is no {WALK}")


def bench_bake() -> None:
    """Bakes beside nla.bake with visual keying of the same 250 frames; 20 limbs, Rigify's human 4: seconds, medians"""
    plain = partial(new_limbs, 20)
    for title, make, way in (
        ("plain", plain, live), ("imported keys", imported, live), ("muted keys", partial(imported, mute=True), live),
        ("targets under constraints", led, live), ("on the rig", plain, on_rig),
        ("Rigify's human", human, live), ("Rigify's human, on the rig", human, on_rig),
    ):  # fmt: skip
        theirs, ours = bakes((partial(make, frames=250), constraint), (partial(make, frames=250), way))
        say(f"{title:28}nla.bake {theirs:.3f}, ours {ours:.3f}: {theirs / ours:.1f} times as fast")
    short, long = bakes(*((partial(new_limbs, 4, frames=frames), live) for frames in (16_000, 64_000)))
    say(f"16,000 frames of 4 limbs {short:.2f}, 64,000 frames {long:.2f}: {long / short:.2f} times as long")


def bakes(*sides: tuple[Step, Step]) -> list[float]:
    """The median of three bakes of each side, in turns."""
    files = [kept(make, way) for make, way in sides]
    return [median(each) for each in zip(*([baked(path) for path in files] for _ in range(3)), strict=True)]


def baked(path: str) -> float:
    opened(path)
    select_limbs()
    if limbs()[0][0].planar_ik.enabled:
        return seconds(bpy.ops.pose.planar_ik_bake)
    return seconds(partial(
        bpy.ops.nla.bake, frame_start=1, frame_end=bpy.context.scene.frame_end, visual_keying=True, only_selected=True,
        clear_constraints=True, bake_types={"POSE"}, channel_types={"ROTATION"},
    ))  # fmt: skip


def bench_overrides() -> None:
    """Six library overrides of a rig of 300 bones without limbs, with the extension and without it: seconds, medians"""
    library = kept(partial(new_limbs, 0, others=299))
    with_it, without = zip(*((overridden(library, True), overridden(library, False)) for _ in range(5)), strict=True)
    for i, step in enumerate(("made", "saved", "opened")):
        ours, theirs = (median(each[i] for each in rounds) for rounds in (with_it, without))
        say(f"{step:8}with {ours:.3f}, without {theirs:.3f}: {ours / theirs:.2f} times as long")


def overridden(library: str, has_extension: bool) -> list[float]:
    new_file(1)
    if not has_extension:
        bpy.ops.preferences.addon_disable(module=installed.MODULE)
    path = f"{folder.name}/overrides.blend"
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.objects = ["Rig"]
    make = partial(wanted.objects[0].override_hierarchy_create, bpy.context.scene, bpy.context.view_layer)
    took = [seconds(lambda: [make() for _ in range(6)]), seconds(partial(bpy.ops.wm.save_as_mainfile, filepath=path))]
    return [*took, seconds(partial(opened, path))]


def bench_edits() -> None:
    """Edits until Blender has evaluated them: ms, medians; adding 200 limbs"""
    for way in (constraint, live):
        opened(kept(partial(new_limbs, 50), way))
        base, empty = limbs()[0][0].id_data.pose.bones["base"], new_object("empty")
        for name, thing in (("the bone that carries 50 limbs", base), ("an empty beside 50 limbs", empty)):
            took = median(edited(thing, "location", (0.001 * i, 0.0, 0.0)) for i in range(30))
            say(f"moving {name}, {way.__name__}: {took:.3f}")
    for way in (live, on_rig):
        new_limbs(200)
        took, ik = seconds(way), limbs()[0][0].planar_ik
        first, *more = (edited(ik, "softness", 0.01 * i) for i in range(1, 10))
        say(f"200 limbs, {way.__name__}: added in {took:.2f} s; softness of one {first:.1f}, then {median(more):.2f}")


def edited(thing: Any, name: str, value: object) -> float:
    return 1e3 * seconds(lambda: (setattr(thing, name, value), bpy.context.view_layer.update()))


PARTS: dict[str, Step] = {name[6:]: work for name, work in globals().items() if name.startswith("bench_")}


def main() -> int:
    installed.install()
    sys.stdout = os.fdopen(os.dup2(os.open(os.devnull, os.O_WRONLY), 1), "w")  # Blender tells of each file.
    say(f"Blender {bpy.app.version_string}, Python {sys.version.split()[0]}")
    unknown = {*sys.argv[1:]} - {*PARTS}
    if unknown:
        raise SystemExit(f"There is no {', '.join(unknown)}; there are {', '.join(PARTS)}")
    for name in sys.argv[1:] or PARTS:
        say(f"\n== {PARTS[name].__doc__} ({name})")
        PARTS[name]()
    folder.cleanup()
    return 0


if __name__ == "__main__":
    installed.run(main, USER)
