"""How fast, beside what Blender has: ``make bench``, or ``make bench ARGS="live rig"`` for some of its parts.

It prints what both sides take in one run, in turns; *added* is what a frame takes beyond that of the rig without IK.
Limbs are bent by 20 degrees at rest, where Blender's constraint is at its fastest, or by 2, where it is at its slowest.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from math import inf
from statistics import median
from typing import Any

from . import installed

USER = installed.fresh_user_folder() if __name__ == "__main__" else None

import bpy  # noqa: E402

from . import bench_passes  # noqa: E402
from .bench_scenes import (  # noqa: E402
    WALK,
    Step,
    constraint,
    folder,
    human,
    imported,
    in_mode,
    kept,
    led,
    limbs,
    live,
    new_file,
    new_limbs,
    new_object,
    on_rig,
    opened,
    select_limbs,
    walk,
)
from .bench_sketch import sketch  # noqa: E402

FRAMES = range(1, 101, 5)
PLANES = ("HINGE", "FREE", "POLE")
FEATURES: dict[str, dict[str, Any]] = {plane: {"plane": plane} for plane in PLANES} | {
    "everything": {"plane": "POLE", "influence": 0.5, "swivel": 0.3, "softness": 0.1, "stretch": 0.5, "max_angle": 3}
}
"""What limbs do; the last two are compared with the constraint with a pole."""

say = partial(print, file=os.fdopen(os.dup(1), "w"), flush=True)


def seconds(work: Step) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def frame_times(make: Step, sides: dict[str, Step], rounds: int = 7) -> dict[str, float]:
    """Whole frames of a scene that each side poses, in ms."""
    return frames_of_files({name: kept(make, pose) for name, pose in sides.items()}, rounds)


def frames_of_files(files: dict[str, str], rounds: int = 7) -> dict[str, float]:
    """Whole frames of files, in ms: the best of each frame in so many rounds, in turns."""
    best = {name: dict.fromkeys(FRAMES, inf) for name in files}
    for _ in range(rounds):
        for name, path in files.items():
            opened(path)
            bpy.context.scene.frame_set(50)
            for frame in FRAMES:
                best[name][frame] = min(best[name][frame], seconds(partial(bpy.context.scene.frame_set, frame)))
    return {name: 1e3 * sum(times.values()) / len(FRAMES) for name, times in best.items()}


def print_frames(title: str, make: Step, ours: dict[str, Step]) -> None:
    """A row of whole frames, and what ours add beside the constraint."""
    theirs: dict[str, Step] = {"nothing": lambda: None, "constraint": constraint}
    if {"POLE", "everything"} & {*ours}:
        theirs["with pole"] = partial(constraint, pole=True)
    took = frame_times(make, theirs | ours)
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
    ours = {name: partial(on_rig, **settings) for name, settings in FEATURES.items()}
    for bend in (20, 2):
        for count in (50, 200):
            print_frames(f"{count} limbs bent by {bend}°", partial(new_limbs, count, bend), ours)
    print_frames("4 among 300 other bones", partial(new_limbs, 4, others=300), {"rig": on_rig})
    print_frames("50 of three bones by 60°", partial(new_limbs, 50, 60.0, bones=3), ours)
    print_frames("200 rigs of two limbs", partial(new_limbs, 2, rigs=200), {"rig": on_rig})


def bench_twist() -> None:
    """Limbs of which both bones are turned about their own lines, beside limbs without: what both add, and the share"""
    for title, pose in (("on the rig", on_rig), ("live", live)):
        for count in (50, 200):
            sides: dict[str, Step] = {"nothing": lambda: None, "without": partial(pose, plane="FREE")}
            sides["with"] = partial(pose, plane="FREE", twist=(0.4, -0.3))
            took = frame_times(partial(new_limbs, count), sides)
            added = {name: 1e3 * (time - took["nothing"]) / count for name, time in took.items()}
            share = added["with"] / added["without"]
            say(
                f"{count} limbs {title}: {added['without']:.1f} us a limb, with twist {added['with']:.1f} = {share:.2f}"
            )


def bench_sketch() -> None:
    """Limbs on the rig beside the yardstick, bench_sketch.py: what both add to a frame in us a limb, and the share"""
    for count in (50, 200):
        for bones, bend in ((2, 20), (2, 60), (3, 60)):
            make = partial(new_limbs, count, bend, bones=bones)
            sides: dict[str, Step] = {"nothing": lambda: None}
            sides |= {f"sketch {plane}": partial(sketch, plane) for plane in PLANES}
            sides |= {name: partial(on_rig, **settings) for name, settings in FEATURES.items()}
            took = frame_times(make, sides, 12)
            added = {name: 1e3 * (time - took["nothing"]) / count for name, time in took.items()}
            cells = [f"{plane} {added[plane]:.1f} of {added[f'sketch {plane}']:.1f} = " for plane in PLANES]
            cells = [
                cell + f"{added[plane] / added[f'sketch {plane}']:.2f}"
                for cell, plane in zip(cells, PLANES, strict=True)
            ]
            cells.append(f"everything {added['everything']:.1f} = {added['everything'] / added['POLE']:.2f} of POLE")
            say(f"{count} of {bones} bones by {bend}°: {', '.join(cells)}")


def bench_walk() -> None:
    """A captured walk, knees and tips followed by four limbs: the same"""
    if WALK.exists():
        for pose in (live, on_rig):
            print_frames(pose.__name__, walk, {"POLE": partial(pose, plane="POLE")})
    else:
        say(f"Left out: there is no {WALK}")


def bench_bake() -> None:
    """Bakes beside nla.bake with visual keying of the same 250 frames; 20 limbs, Rigify's human 4: seconds, medians"""
    plain = partial(new_limbs, 20)
    for title, make, pose in (
        ("plain", plain, live), ("imported keys", imported, live), ("muted keys", partial(imported, mute=True), live),
        ("targets under constraints", led, live), ("on the rig", plain, on_rig),
        ("Rigify's human", human, live), ("Rigify's human, on the rig", human, on_rig),
    ):  # fmt: skip
        theirs, ours = bakes((partial(make, frames=250), constraint), (partial(make, frames=250), pose))
        say(f"{title:28}nla.bake {theirs:.3f}, ours {ours:.3f}: {theirs / ours:.1f} times as fast")
    short, long = bakes(*((partial(new_limbs, 4, frames=frames), live) for frames in (16_000, 64_000)))
    say(f"16,000 frames of 4 limbs {short:.2f}, 64,000 frames {long:.2f}: {long / short:.2f} times as long")


def bakes(*sides: tuple[Step, Step]) -> list[float]:
    """The median of three bakes of each side, in turns."""
    files = [kept(make, pose) for make, pose in sides]
    return [median(times) for times in zip(*([baked(path) for path in files] for _ in range(3)), strict=True)]


def baked(path: str) -> float:
    opened(path)
    select_limbs()
    if limbs()[0][0].planar_ik.enabled:
        return seconds(bpy.ops.pose.planar_ik_bake)
    return seconds(partial(
        bpy.ops.nla.bake, frame_start=1, frame_end=bpy.context.scene.frame_end, visual_keying=True, only_selected=True,
        clear_constraints=True, bake_types={"POSE"}, channel_types={"ROTATION"},
    ))  # fmt: skip


def bench_passes_of() -> None:
    """Tasks over frames, four limbs of a rig of 20 bones: in passes, each the time to step through the frames once"""
    for count in (200, 3000):
        for name, (taken, once) in bench_passes.measured(count).items():
            say(f"{count:5} frames  {name:30}{taken / once:6.1f} passes  {taken:6.2f} s")


def bench_memory() -> None:
    """The same tasks: bytes that each needs more for each frame more, by number that is read of a frame"""
    for name, size in bench_passes.memory().items():
        say(f"{name:30}{size:6.0f} bytes")


def bench_crowd() -> None:
    """10, 200 rigs of 19 bones, four limbs with poles on each: the file, opening it and a frame; as shares of theirs"""
    for count, first in ((10, 10), (200, 25)):
        make = partial(new_limbs, 4, rigs=first, others=10)
        sides: dict[str, Step] = {"constraint": partial(constraint, pole=True)}
        sides |= {"on the rig": partial(on_rig, plane="POLE"), "live": partial(live, plane="POLE")}
        doublings = [doubled] * (count // first).bit_length()
        files = {name: kept(make, pose, *doublings[1:]) for name, pose in sides.items()}
        opening = {name: min(seconds(partial(opened, path)) for _ in range(3)) for name, path in files.items()}
        frames = frames_of_files(files, rounds=3)
        theirs = os.path.getsize(files["constraint"])
        for name, path in files.items():
            size, opens, frame = os.path.getsize(path), opening[name], frames[name]
            shares = (size / theirs, opens / opening["constraint"], frame / frames["constraint"])
            cells = f"{size / 1e6:.2f} MB {shares[0]:.1f}, opened in {opens:.3f} s {shares[1]:.1f}"
            say(f"{count:3} rigs, {name:12}{cells}, a frame {frame:.2f} ms {shares[2]:.1f}")
    opened(files["on the rig"])
    rig = bpy.data.objects["Rig"]
    constraints = sum(len(bone.constraints) for bone in rig.pose.bones)
    say(f"a rig: {len(rig.pose.bones)} bones, {len(rig.animation_data.drivers)} drivers, {constraints} constraints")


def doubled() -> None:
    """All rigs once more, with what they follow."""
    if bpy.context.object:
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.duplicate()


def bench_add() -> None:
    """Add of four limbs, beside eight bones and four IK constraints made by hand, with 4 and 40 rigs: ms, the best"""
    for count in (4, 40):
        took: dict[str, list[float]] = {"by hand": [], "Add": []}
        for _ in range(12):
            for name, work in (("by hand", by_hand), ("Add", add_by_operator)):
                to_be_added(count)
                start = time.process_time()  # other processes do not count
                work()
                took[name].append(1e3 * (time.process_time() - start))
        theirs, ours = min(took["by hand"]), min(took["Add"])
        say(f"{count:2} rigs: by hand {theirs:.2f}, Add {ours:.2f}: {ours / theirs:.1f} times as long")


def to_be_added(count: int) -> None:
    """Rigs of four limbs, of which those of the first are selected."""
    rig = new_limbs(4, rigs=count)
    rig.select_set(True)
    in_mode("POSE", rig)
    for bone in rig.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name.startswith("lower")
    bpy.context.view_layer.update()


def add_by_operator() -> None:
    bpy.ops.pose.planar_ik_add(mode="RIG", plane="POLE")


def by_hand() -> None:
    """Bones for four limbs to follow, and IK constraints that do so."""
    rig: Any = bpy.context.object
    limbs = [bone.name for bone in rig.pose.bones if bone.name.startswith("lower")]
    in_mode("EDIT", rig)
    for name in limbs:
        tail = rig.data.edit_bones[name].tail
        for kind, ahead in (("target", 0.0), ("pole", 0.5)):
            bone = rig.data.edit_bones.new(f"{kind} {name}")
            bone.head = tail.x, tail.y + ahead, tail.z
            bone.tail = tail.x, tail.y + ahead + 0.1, tail.z
    in_mode("POSE", rig)
    for name in limbs:
        ik = rig.pose.bones[name].constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count = rig, f"target {name}", 2
        ik.pole_target, ik.pole_subtarget = rig, f"pole {name}"
    bpy.context.view_layer.update()


def bench_overrides() -> None:
    """Six library overrides of a rig of 300 bones without limbs, with the extension and without it: seconds, medians"""
    library = kept(partial(new_limbs, 0, others=299))
    with_it, without = zip(*((overridden(library, True), overridden(library, False)) for _ in range(5)), strict=True)
    for i, step in enumerate(("made", "saved", "opened")):
        ours, theirs = (median(seconds_of_both[i] for seconds_of_both in rounds) for rounds in (with_it, without))
        say(f"{step:8}with {ours:.3f}, without {theirs:.3f}: {ours / theirs:.2f} times as long")


def overridden(library: str, has_extension: bool) -> list[float]:
    new_file(1)
    if not has_extension:
        bpy.ops.preferences.addon_disable(module=installed.MODULE)
    path = f"{folder.name}/overrides.blend"
    with bpy.data.libraries.load(library, link=True) as (_, names):
        names.objects = ["Rig"]
    bpy.context.scene.collection.objects.link(names.objects[0])  # from 5.3 on, only what is shown is overridden
    make = partial(names.objects[0].override_hierarchy_create, bpy.context.scene, bpy.context.view_layer)
    took = [seconds(lambda: [make() for _ in range(6)]), seconds(partial(bpy.ops.wm.save_as_mainfile, filepath=path))]
    return [*took, seconds(partial(opened, path))]


def bench_edits() -> None:
    """Edits until Blender has evaluated them: ms, medians; adding 200 limbs"""
    for pose in (constraint, live):
        opened(kept(partial(new_limbs, 50), pose))
        base, empty = limbs()[0][0].id_data.pose.bones["base"], new_object("empty")
        for name, thing in (("the bone that carries 50 limbs", base), ("an empty beside 50 limbs", empty)):
            took = median(edited(thing, "location", (0.001 * i, 0.0, 0.0)) for i in range(30))
            say(f"moving {name}, {pose.__name__}: {took:.3f}")
    for pose in (live, on_rig):
        new_limbs(200)
        took, ik = seconds(pose), limbs()[0][0].planar_ik
        first, *more = (edited(ik, "softness", 0.01 * i) for i in range(1, 10))
        say(f"200 limbs, {pose.__name__}: added in {took:.2f} s; softness of one {first:.1f}, then {median(more):.2f}")


def edited(thing: Any, name: str, value: object) -> float:
    return 1e3 * seconds(lambda: (setattr(thing, name, value), bpy.context.view_layer.update()))


PARTS: dict[str, Step] = {
    name[6:]: work for name, work in globals().items() if name.startswith("bench_") and callable(work)
}


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
